"""The translation of entries to Python code: a line for each operation, which calls its semantics.

Control flow is that of Python. What does not depend on the block is computed once for a launch.
The line of an error tells its operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure
from xdsl.utils.exceptions import InterpretationError

from ....dialects.cuda_tile import control_ops, module_ops, reduce_ops
from ....passmanager.errors import PasslineError
from ....passmanager.ir.location import place_of
from .block_axis import agreed
from .device_memory import POINTER_ACCESS
from .launch_ops import OF_LAUNCH, Launch
from .tile_arithmetic import ELEMENTWISE, unsigned_bits
from .tile_products import FOLDS, PRODUCTS
from .tile_shaping import SHAPING
from .tile_values import Array, Compute, Maker, element_of_value, tile_dtype
from .tile_views import VIEWS

__all__ = ["PURE", "TileProgramError", "Translation"]

PURE: Mapping[type[Operation], Maker] = {**ELEMENTWISE, **SHAPING, **PRODUCTS}
"""The semantics of operations without effects."""


class TileProgramError(PasslineError, InterpretationError):
    """The error of a launch: an operation that cannot be computed, or findings of the check."""


@dataclass
class Translation:
    """The Python code of an entry."""

    launch: Launch
    lines: list[str] = field(default_factory=list[str])
    ops: list[Operation | None] = field(default_factory=list[Operation | None])
    """The operation of each line."""
    scope: dict[str, object] = field(default_factory=dict[str, object])
    """The global names: the semantics of operations, and constants."""
    names: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])

    def entry(self, op: module_ops.EntryOp) -> None:
        """Translate an entry to a function of the grid and the arguments that returns a function
        of the block."""
        block = op.body.block
        once = set[SSAValue](block.args)
        self.emit(0, f"def launch(grid_x, grid_y, grid_z, {self.define(block.args)}):")
        early, late = list[Operation](), list[Operation]()
        for inner in block.ops:
            is_early = depends_on_operands(inner) and once.issuperset(inner.operands)
            (early if is_early else late).append(inner)
            once.update(inner.results if is_early else ())
        self.operations(1, early)
        self.emit(1, "def block(block_x, block_y, block_z):")
        self.operations(2, late)
        self.emit(1, "return block")

    def emit(self, depth: int, text: str, op: Operation | None = None) -> None:
        """Add a line."""
        self.lines.append(f"{' ' * depth}{text}")
        self.ops.append(op)

    def define(self, values: Sequence[SSAValue]) -> str:
        """Name values; return their names with commas."""
        for value in values:
            self.names[value] = f"v{len(self.names)}"
        return self.listed(values)

    def listed(self, values: Sequence[SSAValue]) -> str:
        """Return the names of values with commas."""
        return "".join(f"{self.names[value]}, " for value in values)

    def constant(self, value: object) -> str:
        """Return the global name of a Python value."""
        self.scope[name := f"f{len(self.scope)}"] = value
        return name

    def operations(self, depth: int, ops: Sequence[Operation]) -> None:
        """Translate operations; there may be none."""
        self.emit(depth, "pass")
        for op in ops:
            self.operation(depth, op)

    def operation(self, depth: int, op: Operation) -> None:
        """Translate an operation."""
        match op:
            case control_ops.ForOp() | control_ops.LoopOp():
                self.loop(depth, op)
            case control_ops.IfOp():
                self.condition(depth, op)
            case control_ops.YieldOp() | control_ops.BreakOp() | control_ops.ContinueOp():
                self.end(depth, op)
            case control_ops.ReturnOp():
                self.emit(depth, "return")
            case reduce_ops.ReduceOp() | reduce_ops.ScanOp():
                self.fold(depth, op)
            case module_ops.GetTileBlockIdOp():
                self.emit(depth, f"{self.define(op.results)} = block_x, block_y, block_z")
            case module_ops.GetNumTileBlocksOp():
                self.emit(depth, f"{self.define(op.results)} = grid_x, grid_y, grid_z")
            case _:
                self.call(depth, op)

    def call(self, depth: int, op: Operation) -> None:
        """Translate an operation to a call of its semantics, a constant to a global name."""
        compute = self.semantics(op)
        if type(op) in PURE and not op.operands:
            with np.errstate(all="ignore"):
                self.names[op.results[0]] = self.constant(compute())
            return
        call = f"{self.constant(compute)}({self.arguments(op)})"
        targets = self.define(op.results)
        if len(op.results) == 1:
            targets = targets.removesuffix(", ")
        self.emit(depth, f"{targets} = {call}" if op.results else call, op)

    def semantics(self, op: Operation) -> Compute:
        """Return the semantics of an operation, as a function of its operands."""
        cls = type(op)
        if (pure := PURE.get(cls)) is not None:
            return pure(op)
        if (other := OF_LAUNCH.get(cls)) is not None:
            return other(op, self.launch)
        if (access := POINTER_ACCESS.get(cls) or VIEWS.get(cls)) is not None:
            return access(op, self.launch.memory)
        raise TileProgramError(f"'{op.name}'{place_of(op)} has no semantics in an entry")

    def arguments(self, op: Any) -> str:
        """Return the operands of each definition, with commas."""
        values = (getattr(op, name) for name, _ in op.get_irdl_definition().operands)
        return "".join(f"{self.argument(value)}, " for value in values)

    def argument(self, value: SSAValue | Sequence[SSAValue] | None) -> str:
        """Return the operand of a definition, None if it is absent, a tuple if it is variadic."""
        if value is None or isinstance(value, SSAValue):
            return "None" if value is None else self.names[value]
        return f"({self.listed(value)})"

    def assign(
        self, depth: int, targets: Sequence[SSAValue], values: Sequence[SSAValue], op: Operation
    ) -> None:
        """Assign values to the named targets, all at once."""
        if targets:
            self.emit(depth, f"{self.listed(targets)} = {self.listed(values)}", op)

    def loop(self, depth: int, op: control_ops.ForOp | control_ops.LoopOp) -> None:
        """Translate a loop. The arguments of its block hold the values between iterations."""
        args, head = op.region.block.args, "while True:"
        self.define(args)
        carried = args[-len(op.initValues) :] if op.initValues else ()
        if isinstance(op, control_ops.ForOp):
            bounds = self.listed((op.lowerBound, op.upperBound, op.step))
            head = f"for {self.names[args[0]]} in {self.constant(steps(op))}({bounds}):"
        self.define(op.results)
        self.assign(depth, carried, op.initValues, op)
        self.emit(depth, head, op)
        self.operations(depth + 1, [*op.region.block.ops])
        if isinstance(op, control_ops.ForOp):
            self.assign(depth, op.results, carried, op)

    def condition(self, depth: int, op: control_ops.IfOp) -> None:
        """Translate a condition."""
        self.define(op.results)
        self.emit(depth, f"if {self.constant(agreed)}({self.names[op.condition]})[0]:", op)
        self.operations(depth + 1, [*op.thenRegion.block.ops])
        if op.elseRegion.blocks:
            self.emit(depth, "else:")
            self.operations(depth + 1, [*op.elseRegion.block.ops])

    def end(self, depth: int, op: Operation) -> None:
        """Translate the end of a block of a condition or a loop."""
        owner = op.parent_op()
        if isinstance(op, control_ops.YieldOp):
            assert owner is not None
            if not isinstance(owner, control_ops.IfOp):
                self.emit(depth, f"return ({self.listed(op.operands)})", op)
                return
            self.assign(depth, owner.results, op.operands, op)
            return
        while isinstance(owner, control_ops.IfOp):
            owner = owner.parent_op()
        assert isinstance(owner, control_ops.ForOp | control_ops.LoopOp)
        if isinstance(op, control_ops.BreakOp):
            self.assign(depth, owner.results, op.operands, op)
            self.emit(depth, "break")
            return
        args = owner.region.block.args
        self.assign(depth, args[len(args) - len(op.operands) :], op.operands, op)
        self.emit(depth, "continue")

    def fold(self, depth: int, op: reduce_ops.ReduceOp | reduce_ops.ScanOp) -> None:
        """Translate a reduction or scan: its body is a function, of whole tiles if it can be."""
        body = op.body.block
        name = f"body{len(self.lines)}"
        self.emit(depth, f"def {name}({self.define(body.args)}):")
        self.operations(depth + 1, [*body.ops])
        if not works_on_tiles(body):
            self.emit(depth, f"{name} = {self.constant(one_by_one(op))}({name})")
        compute = self.constant(FOLDS[type(op)](op))
        call = f"{compute}(({self.listed(op.operands)}), {name})"
        self.emit(depth, f"{self.define(op.results)} = {call}", op)


def depends_on_operands(op: Operation) -> bool:
    """Return whether an operation on the same operands has the same results in all blocks."""
    if isinstance(op, module_ops.GetTileBlockIdOp):
        return False
    return isinstance(op, module_ops.AssumeOp) or op.has_trait(Pure, value_if_unregistered=False)


def works_on_tiles(body: Block) -> bool:
    """Return whether operations on scalars are those on tiles of any shape."""
    return all(type(op) in ELEMENTWISE or not op.operands or op.next_op is None for op in body.ops)


def one_by_one(op: Operation) -> Compute:
    """Return the function that makes a function of scalars one of arrays."""
    types = [tile_dtype(element_of_value(result)) for result in op.results]

    def make(function: Compute) -> Compute:
        def scalars(*values: Any) -> Any:
            results = function(*values)
            return results if len(results) > 1 else results[0]

        def compute(*values: Any) -> tuple[Array, ...]:
            results = np.vectorize(scalars, otypes=types)(*values)
            return results if len(types) > 1 else (results,)

        return compute

    return make


def steps(op: control_ops.ForOp) -> Compute:
    """Return the values of the variable of a loop."""
    dtype = tile_dtype(element_of_value(op.lowerBound))

    def compute(lower: Array, upper: Array, step: Array) -> Iterator[Any]:
        lower, upper, step = agreed(lower, upper, step)
        if op.unsignedCmp is not None:
            lower, upper, step = map(unsigned_bits, (lower, upper, step))
        if step <= 0:
            raise InterpretationError(f"the step of a loop is positive, not {step}")
        for number in range(int(lower), int(upper), int(step)):
            yield np.asarray(number).astype(dtype)[()]

    return compute
