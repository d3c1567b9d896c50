"""Entries as Python code: one line for each operation, so that a block takes no dispatch.

Control flow is that of Python. What does not depend on the block is computed once for a launch.
The line of an error tells its operation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from types import TracebackType
from typing import IO, Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from ....dialects.cuda_tile import control_ops, memory_ops, module_ops, reduce_ops, view_ops
from ....dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, SameElementsAttr
from ....passmanager.errors import PasslineError
from ....passmanager.ir.location import place_of
from .device_memory import POINTER_ACCESS, DeviceMemory
from .race_check import RaceChecker
from .tile_arithmetic import ELEMENTWISE, unsigned_bits
from .tile_products import FOLDS, PRODUCTS
from .tile_shaping import SHAPING
from .tile_values import Array, Compute, Maker, Unary, constant_array, element_of_value, tile_dtype
from .tile_views import VIEWS

__all__ = ["TileProgram", "TileProgramError"]

PURE: Mapping[type[Operation], Maker] = {**ELEMENTWISE, **SHAPING, **PRODUCTS}
"""The semantics of operations without effects."""


class TileProgramError(PasslineError, InterpretationError):
    """The error of a launch: an operation that cannot be computed, or findings of the check."""


# Operations on the launch itself


@dataclass
class Launch:
    """What operations need to know about the run."""

    memory: DeviceMemory
    output: IO[str] | None


def assume(op: module_ops.AssumeOp, launch: Launch) -> Unary:
    """Return the assumption, which is checked with the accesses."""
    predicate = op.predicate

    def check(value: Array) -> Array:
        if not holds(predicate, np.asarray(value)):
            raise InterpretationError(f"the assumption {predicate} does not hold")
        return value

    return (lambda value: value) if launch.memory.checker is None else check


def holds(predicate: object, array: Array) -> bool:
    """Return whether the elements of a tile are as a predicate says."""
    match predicate:
        case BoundedAttr():
            low, high = getattr(predicate.lb, "data", None), getattr(predicate.ub, "data", None)
            below = low is not None and bool((array < low).any())
            return not below and not (high is not None and bool((array > high).any()))
        case DivByAttr():
            divisor = predicate.divisor.data
            every = getattr(predicate.every, "data", None)
            if every is None:
                return not np.any(unsigned_bits(array) % divisor)
            rows = np.moveaxis(array, getattr(predicate.along, "data", 0), -1)
            size = min(int(every), array.shape[getattr(predicate.along, "data", 0)])
            groups = rows.reshape(-1, size)
            follow = np.all(np.equal(groups - groups[:, :1], np.arange(size)))
            return bool(follow) and not np.any(unsigned_bits(groups[:, 0].copy()) % divisor)
        case SameElementsAttr():
            sizes = predicate.values.get_values()
            groups = array.reshape([n for pair in split(array.shape, sizes) for n in pair])
            firsts = groups[tuple(i for _ in sizes for i in (slice(None), slice(0, 1)))]
            return bool((groups == firsts).all())
        case _:
            return True


def split(shape: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the number of groups in each dimension, and their size."""
    for n, size in zip(shape, sizes, strict=True):
        yield n // min(n, size), min(n, size)


def require(op: module_ops.AssertOp, launch: Launch) -> Compute:
    """Return the assertion."""
    message = op.message.data

    def check(condition: Array) -> None:
        if not np.all(condition):
            raise InterpretationError(f"assertion failed: {message}")

    return check


DIRECTIVE = re.compile(r"%([-+ #0-9.]*)(?:hh|h|ll|l|j|z|t|L)?([a-zA-Z%])")


def print_tiles(op: module_ops.PrintTkoOp, launch: Launch) -> Compute:
    """Return the print of tiles in the format of C: of a tile, of each element."""
    format = op.str.data

    def text(match: re.Match[str], values: Iterator[Array]) -> str:
        flags, kind = match.groups()
        if kind == "%":
            return "%"
        one, array = f"%{flags}{'d' if kind in 'iu' else kind}", np.asarray(next(values))
        return np.array2string(array, formatter={"all": lambda value: one % value}, separator=", ")

    def compute(values: Sequence[Array], token: int | None) -> int:
        rest = iter(values)
        if launch.output is not None:
            launch.output.write(DIRECTIVE.sub(lambda match: text(match, rest), format))
        return token or 0

    return compute


def global_pointer(op: module_ops.GetGlobalOp, launch: Launch) -> Compute:
    """Return the pointer to a variable, which is a buffer of the launch."""
    variable = SymbolTable.lookup_symbol(op, op.global_name)
    if not isinstance(variable, module_ops.GlobalOp):
        raise InterpretationError(f"{op.global_name} is not a global of the module")
    value: DenseIntOrFPElementsAttr = variable.value
    name, element = f"@{variable.sym_name.data}", value.get_element_type()
    data = np.array(np.broadcast_to(constant_array(value), value.get_shape())).reshape(-1)

    def compute() -> np.int64:
        for buffer in launch.memory.buffers:
            if buffer.name == name:
                return np.int64(buffer.base)
        return launch.memory.add(name, element, data)

    return compute


def steps(op: control_ops.ForOp) -> Compute:
    """Return the values of the variable of a loop."""
    dtype = tile_dtype(element_of_value(op.lowerBound))

    def compute(lower: Array, upper: Array, step: Array) -> Iterator[Any]:
        if op.unsignedCmp is not None:
            lower, upper, step = map(unsigned_bits, (lower, upper, step))
        if step <= 0:
            raise InterpretationError(f"the step of a loop is positive, not {step}")
        for number in range(int(lower), int(upper), int(step)):
            yield np.asarray(number).astype(dtype)[()]

    return compute


OTHERS: Mapping[type[Operation], Callable[[Any, Launch], Compute]] = {
    module_ops.AssertOp: require,
    module_ops.AssumeOp: assume,
    module_ops.GetGlobalOp: global_pointer,
    module_ops.PrintTkoOp: print_tiles,
}

ONCE = frozenset(
    {
        *PURE,
        memory_ops.MakeTokenOp,
        module_ops.AssumeOp,
        module_ops.GetGlobalOp,
        module_ops.GetNumTileBlocksOp,
        view_ops.GetIndexSpaceShapeOp,
        view_ops.GetTensorShapeOp,
        view_ops.MakeGatherScatterViewOp,
        view_ops.MakePartitionViewOp,
        view_ops.MakeStridedViewOp,
        view_ops.MakeTensorViewOp,
    }
)
"""The operations that are computed once for a launch if their operands are."""


# The translation


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
            is_early = type(inner) in ONCE and once.issuperset(inner.operands)
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
        if (other := OTHERS.get(cls)) is not None:
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
        self.emit(depth, f"if {self.names[op.condition]}:", op)
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


# The run


@dataclass
class TileProgram:
    """An entry that is ready to run; it does not see later changes of the operation."""

    entry: module_ops.EntryOp
    check: bool = False
    output: IO[str] | None = None
    memory: DeviceMemory = field(default_factory=DeviceMemory)

    def __post_init__(self) -> None:
        self.memory.checker = RaceChecker() if self.check else None
        translation = Translation(Launch(self.memory, self.output))
        translation.entry(self.entry)
        self._file, self._ops = f"<cuda_tile entry @{self.name}>", translation.ops
        exec(compile("\n".join(translation.lines), self._file, "exec"), translation.scope)
        self._launch: Compute = translation.scope["launch"]  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def name(self) -> str:
        """The name of the entry."""
        return self.entry.sym_name.data

    def run(
        self, grid: tuple[int, int, int], arguments: Sequence[Any], order: Random | None
    ) -> None:
        """Run the blocks of a grid, in a shuffled order if there is a generator for it. The
        arguments are scalars of numpy, and addresses in the memory."""
        blocks = [(x, y, z) for z, y, x in product(*map(range, reversed(grid)))]
        if order is not None:
            order.shuffle(blocks)
        place, checker = "", self.memory.checker
        try:
            with np.errstate(all="ignore"):
                run_block = self._launch(*map(np.int32, grid), *arguments)
                kept = len(self.memory.buffers)
                for block in blocks:
                    place = f" in block {block}"
                    if checker is not None:
                        checker.enter(block)
                    run_block(*map(np.int32, block))
                    del self.memory.buffers[kept:]
        except Exception as error:
            raise self._error(error, place) from error

    def _error(self, error: Exception, place: str) -> TileProgramError:
        """Return the error that names the operation, the entry and the block."""
        op = self._operation(error.__traceback__)
        where = f"'{op.name}'{place_of(op)} " if op is not None else ""
        known = isinstance(error, InterpretationError | PasslineError)
        text = str(error) if known else f"{type(error).__name__}: {error}"
        return TileProgramError(f"{where}of @{self.name}{place} cannot be computed: {text}")

    def _operation(self, trace: TracebackType | None) -> Operation | None:
        """Return the operation of the innermost line of the program in a traceback."""
        found = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self._file:
                found = self._ops[trace.tb_lineno - 1] or found
            trace = trace.tb_next
        return found
