"""xDSL's interpreter, which prepares functions on numbers and buffers before they run.

Loops run an operation thousands of times. What does not change between two times is computed once:
the numbers of its operands in the frame of the function, its semantics, and the conversion of its
result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import numpy as np
from xdsl.dialects import arith, func
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, Successor
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.ir.walk import walk
from .codegens.calls import ExternalFunctions
from .cuda_tile.launches import LaunchFunctions
from .mlir import MlirFunctions
from .tir import TirFunctions
from .tir.arithmetic import bind
from .tir.memory import MemoryFunctions
from .tir.table import RETURNS, Compute, compute_of, converter
from .xdsl_interpreter import DirectInterpreter, Position

CONTROL_FLOW: frozenset[type[InterpreterFunctions]] = frozenset(
    {ExternalFunctions, LaunchFunctions, MlirFunctions, TirFunctions}
)
"""The semantics that read values only from their arguments and `get_values`, and run regions only
with `run_ssacfg_region`."""

FUNCTIONS = frozenset({func.FuncOp, PrimFuncOp})

Slots: TypeAlias = dict[SSAValue, int]
"""The place in a frame of each value of a function."""

Gather: TypeAlias = Callable[[list[object]], Sequence[object]]
"""A function that returns some values of a frame."""


class CallFrame(NamedTuple):
    """The values of a call of a prepared function; those that are not yet computed are None."""

    slots: Slots
    values: list[object]


class PreparedOp(NamedTuple):
    """An operation in a block."""

    op: Operation
    operands: Gather
    results: tuple[int, ...]
    compute: Compute | None
    """Its semantics, a function of its operands, if it is out of the tables of tir and has at most
    one result. It runs without xDSL's checks."""
    convert: Callable[[object], object] | None
    """The conversion of its only result."""


class PreparedBlock(NamedTuple):
    """The operations of a block."""

    arguments: tuple[int, ...]
    steps: tuple[PreparedOp, ...]
    returned: tuple[Operation, Gather] | None
    """The terminator and its operands if it returns them; it is not one of the steps."""


@dataclass
class PreparedInterpreter(DirectInterpreter):
    """An interpreter that prepares a function when it is called first.

    `position` and the listeners are notified as by xDSL's interpreter.
    """

    position: Position = field(default_factory=Position)
    _slots: dict[int, Slots | None] = field(default_factory=dict[int, "Slots | None"])
    """Identity of a region, which the module keeps alive -> the slots of the function around it;
    None if that cannot be prepared."""
    _steps: dict[int, PreparedBlock] = field(default_factory=dict[int, PreparedBlock])
    """Identity of a block -> its steps."""
    _frame: CallFrame | None = None
    """The frame of the innermost call; None if its function is not prepared."""

    def __post_init__(self) -> None:
        base, others = Interpreter.Listener, self.listeners
        self.listeners = (self.position, *others)
        # In a loop, calls of methods that do nothing take time.
        self._before = [
            listener.will_interpret_op
            for listener in others
            if type(listener).will_interpret_op is not base.will_interpret_op
        ]
        self._after = [
            listener.did_interpret_op
            for listener in others
            if type(listener).did_interpret_op is not base.did_interpret_op
        ]

    def forget(self) -> None:
        """Forget the last run and what it wrote to globals: functions may have changed, and an
        error may have ended it."""
        self._slots, self._steps, self._frame = {}, {}, None
        self.drop_data(MemoryFunctions)
        self.drop_data(LaunchFunctions)
        self.position.calls.clear()

    def get_values(self, values: Iterable[SSAValue]) -> PythonValues:
        """Return the current values of the function that is running."""
        if (frame := self._frame) is None:
            return super().get_values(values)
        return tuple(frame.values[frame.slots[value]] for value in values)

    def run_ssacfg_region(
        self, region: Region, args: PythonValues, name: str = "unknown"
    ) -> PythonValues:
        """Run a region: one of a function that has been prepared in the frame of its call."""
        key = id(region)
        if key not in self._slots:
            self._prepare(region)
        slots = self._slots[key]
        if slots is not None and type(region.parent) not in FUNCTIONS:
            return self._run(region, args)
        caller = self._frame
        try:
            if slots is None:
                self._frame = None
                return super().run_ssacfg_region(region, args, name)
            self._frame = CallFrame(slots, [None] * len(slots))
            with np.errstate(all="ignore"):
                return self._run(region, args)
        finally:
            self._frame = caller

    def _prepare(self, region: Region) -> None:
        """Number the values of the function around a region, if all semantics of its operations
        work on a frame."""
        self._slots[id(region)] = None
        owner = region.parent
        while owner is not None and type(owner) not in FUNCTIONS:
            owner = owner.parent_op()
        if owner is None:
            return
        nested = [op for op in walk(owner) if op is not owner]
        slots: Slots | None = None
        if all(map(self._works_on_frame, nested)):
            slots = {value: slot for slot, value in enumerate(values_of(owner))}
        for op in (owner, *nested):
            for inner in op.regions:
                self._slots[id(inner)] = slots

    def _works_on_frame(self, op: Operation) -> bool:
        # An operation without semantics fails alike in a frame.
        entry = self.implemented().get(type(op))
        return entry is None or type(entry[0]) in CONTROL_FLOW

    def _steps_of(self, block: Block, slots: Slots) -> PreparedBlock:
        """Return the operations of a block, up to the first that ends it."""
        steps: list[PreparedOp] = []
        returned = None
        for op in block.ops:
            operands = gathering([slots[value] for value in op.operands])
            if type(op) in RETURNS:
                returned = op, operands
                break
            results = tuple(slots[value] for value in op.results)
            steps.append(PreparedOp(op, operands, results, *self._semantics_of(op)))
        return PreparedBlock(tuple(slots[arg] for arg in block.args), tuple(steps), returned)

    def _semantics_of(
        self, op: Operation
    ) -> tuple[Compute | None, Callable[[object], object] | None]:
        """Return the semantics of an operation and the conversion of its result (`PreparedOp`)."""
        entry = self.implemented().get(type(op))
        compute = None if entry is None else compute_of(entry[1])
        if compute is None or len(op.results) > 1:
            return None, None
        convert = converter(op.results[0].type) if op.results else None
        computed = bind(compute, op)
        return cache(computed) if type(op) is arith.ConstantOp else computed, convert

    def _run(self, region: Region, args: PythonValues) -> PythonValues:
        """Run the blocks of a region from the first one on; return the values that it returns."""
        frame = self._frame
        assert frame is not None
        slots, frame_values = frame
        position, before, after = self.position, self._before, self._after
        block = region.first_block
        while block is not None:
            if (plan := self._steps.get(id(block))) is None:
                plan = self._steps[id(block)] = self._steps_of(block, slots)
            for slot, value in zip(plan.arguments, args):
                frame_values[slot] = value
            block = None
            for op, operands, results, compute, convert in plan.steps:
                inputs = operands(frame_values)
                if compute is None:
                    done = self.perform(op, tuple(inputs))
                    for slot, value in zip(results, done.values):
                        frame_values[slot] = value
                    if (end := done.terminator_value) is None:
                        continue
                    if not isinstance(end, Successor):
                        return end.values
                    block, args = end
                    break
                position.op = op
                for notify in before:
                    notify(op, tuple(inputs))
                value = compute(*inputs)
                if convert is not None:
                    frame_values[results[0]] = value = convert(value)
                for notify in after:
                    notify(op, () if convert is None else (value,))
            else:
                if plan.returned is not None:
                    op, operands = plan.returned
                    values = tuple(operands(frame_values))
                    position.op = op
                    for notify in before:
                        notify(op, values)
                    for notify in after:
                        notify(op, ())
                    return values
        return ()


def gathering(slots: Sequence[int]) -> Gather:
    """Return the function that gets the values in `slots` out of a frame."""
    if len(slots) > 1:
        return itemgetter(*slots)
    first = slots[0] if slots else 0
    return itemgetter(slice(first, first + len(slots)))  # of one item, it would return the value


def values_of(op: Operation) -> Iterator[SSAValue]:
    """Yield the values that are defined in the regions of an operation."""
    for inner in walk(op):
        if inner is not op:
            yield from inner.results
        for region in inner.regions:
            for block in region.blocks:
                yield from block.args
