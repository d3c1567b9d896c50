# pyright: reportPrivateUsage=false
# How xDSL's interpreter runs an operation, and what implements it, has no public name.
"""xDSL's interpreter, which prepares functions on numbers and buffers before they run.

Loops run an operation thousands of times. What does not change between two times is computed once:
the numbers of its operands in the frame of the function, its semantics, and the conversion of its
result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from xdsl.dialects import func, scf
from xdsl.interpreter import Interpreter, PythonValues, Successor
from xdsl.ir import Block, Operation, Region, SSAValue

from ..dialects.tir.ops import PrimFuncOp, YieldOp
from ..passmanager.ir.walk import walk
from ..passmanager.registration.extensions import dialect_of
from .tir.table import Compute, compute_of, converter

__all__ = ["PreparedInterpreter"]

CONTROL_FLOW = frozenset({"cf", "func", "scf", "tir"})
"""The dialects whose other operations hand on their operands, and capture no values."""

RETURNS = frozenset({func.ReturnOp, scf.YieldOp, YieldOp})
"""The terminators that return their operands."""

Slots: TypeAlias = dict[SSAValue, int]
"""The place in a frame of each value of a function."""


class Step(NamedTuple):
    """An operation in a block."""

    op: Operation
    operands: tuple[int, ...]
    results: tuple[int, ...]
    compute: Compute | None
    """Its semantics if it is an arithmetic operation or an access to memory with one result or
    none, which is computed without asking xDSL."""
    convert: Callable[[object], object] | None
    """The conversion of its only result."""


class Steps(NamedTuple):
    """The operations of a block."""

    arguments: tuple[int, ...]
    steps: tuple[Step, ...]
    returned: tuple[Operation, tuple[int, ...]] | None
    """The terminator and its operands if it returns them; it is not one of the steps."""


class PreparedInterpreter(Interpreter):
    """An interpreter that prepares a function when it is called first.

    Its first listener is not notified of the operations with a `compute`, unless they fail.
    """

    _slots: dict[int, Slots | None]
    _steps: dict[int, Steps]
    _frame: list[object]

    def __post_init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget the functions that were prepared, as they may have changed."""
        # By identity: the module keeps the regions and blocks alive.
        self._slots, self._steps, self._frame = {}, {}, []

    def run_ssacfg_region(
        self, region: Region, args: PythonValues, name: str = "unknown"
    ) -> PythonValues:
        """Run a region: one of a function that has been prepared in the frame of its call."""
        key = id(region)
        if key not in self._slots:
            self._prepare(region)
        if (slots := self._slots[key]) is None:
            return super().run_ssacfg_region(region, args, name)
        if not isinstance(region.parent, func.FuncOp | PrimFuncOp):
            return self._run(region, slots, args)
        caller, self._frame = self._frame, [None] * len(slots)
        try:
            with np.errstate(all="ignore"):
                return self._run(region, slots, args)
        finally:
            self._frame = caller

    def _prepare(self, region: Region) -> None:
        """Number the values of the function around a region if all of its operations are
        arithmetic, accesses to memory and control flow."""
        owner = region.parent
        while owner is not None and not isinstance(owner, func.FuncOp | PrimFuncOp):
            owner = owner.parent_op()
        slots: Slots | None = None
        if owner is not None and all(op is owner or self._is_known(op) for op in walk(owner)):
            slots = {value: index for index, value in enumerate(values_in(owner))}
        for op in [] if owner is None else walk(owner):
            for inner in op.regions:
                self._slots[id(inner)] = slots
        self._slots.setdefault(id(region), None)

    def _is_known(self, op: Operation) -> bool:
        return dialect_of(type(op)) in CONTROL_FLOW or self._compute_of(op) is not None

    def _compute_of(self, op: Operation) -> Compute | None:
        """Return the semantics of an operation out of the tables of tir."""
        entry = self._impls._impl_dict.get(type(op))
        return None if entry is None else compute_of(entry[1])

    def _steps_of(self, block: Block, slots: Slots) -> Steps:
        """Return the operations of a block."""
        steps: list[Step] = []
        returned = None
        for op in block.ops:
            operands = tuple(slots[value] for value in op.operands)
            if type(op) in RETURNS:
                returned = op, operands
                break
            compute = self._compute_of(op) if len(op.results) <= 1 else None
            results = tuple(slots[value] for value in op.results)
            convert = converter(op.results[0].type) if compute and results else None
            steps.append(Step(op, operands, results, compute, convert))
        return Steps(tuple(slots[arg] for arg in block.args), tuple(steps), returned)

    def _run(self, region: Region, slots: Slots, args: PythonValues) -> PythonValues:
        """Run the blocks of a region from the first one on; return the values that it returns."""
        frame = self._frame
        first, *others = self.listeners
        block = region.blocks.first
        while block is not None:
            if (plan := self._steps.get(id(block))) is None:
                plan = self._steps[id(block)] = self._steps_of(block, slots)
            for slot, value in zip(plan.arguments, args):
                frame[slot] = value
            block = None
            for op, operands, results, compute, convert in plan.steps:
                inputs = tuple([frame[slot] for slot in operands])
                if compute is None:
                    done = self._run_op(op, inputs)
                    for slot, value in zip(results, done.values):
                        frame[slot] = value
                    if (end := done.terminator_value) is None:
                        continue
                    if not isinstance(end, Successor):
                        return end.values
                    block, args = end
                    break
                for listener in others:
                    listener.will_interpret_op(op, inputs)
                try:
                    value = compute(op, *inputs)
                    values = () if convert is None else (convert(value),)
                except Exception:
                    first.will_interpret_op(op, inputs)
                    values = self._impls.run(self, op, inputs).values  # raises xDSL's error
                for slot, value in zip(results, values):
                    frame[slot] = value
                for listener in others:
                    listener.did_interpret_op(op, values)
            if plan.returned is not None and block is None:
                op, operands = plan.returned
                values = tuple([frame[slot] for slot in operands])
                for listener in others:
                    listener.will_interpret_op(op, values)
                    listener.did_interpret_op(op, ())
                return values
        return ()


def values_in(op: Operation) -> Iterator[SSAValue]:
    """Yield the values that are defined in the regions of an operation."""
    for inner in walk(op):
        if inner is not op:
            yield from inner.results
        for region in inner.regions:
            for block in region.blocks:
                yield from block.args
