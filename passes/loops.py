"""Helpers of passes on loops: a builder, copies of operations, branches, chunks, constants."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias, TypeVar, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.arith import (
    AddiOp,
    CeilDivSIOp,
    ConstantOp,
    DivSIOp,
    FloorDivSIOp,
    MaxSIOp,
    MinSIOp,
    RemSIOp,
    SignlessIntegerBinaryOperation,
    SubiOp,
)
from xdsl.dialects.builtin import (
    ContainerType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import Commutative

from ..compiler.analysis.constant_evaluator import integer_attribute, integer_constant
from ..dialects.numbers import Function, folded
from ..dialects.tir.ops import ForOp, PrimFuncOp, YieldOp
from ..passmanager.fast.edit import erase, insert_before
from ..passmanager.releases.floats import key_of
from .generic.canonicalize.constants import truncated_integer

# A builder of loops, branches and index arithmetic at any point of a function.


Index: TypeAlias = "SSAValue | int"
"""An index, or an integer that is known."""

OpT = TypeVar("OpT", bound=Operation)

OPERATIONS: Mapping[Function, type[arith.SignlessIntegerBinaryOperation]] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "mul": arith.MuliOp,
    "floordiv": arith.FloorDivSIOp,
    "mod": arith.RemSIOp,
}


def known_index(value: SSAValue) -> Index:
    """Return the integer that `value` is, or `value` itself if it is not a constant."""
    known = integer_constant(value)
    return value if known is None else known


class LoopBuilder:
    """A builder at one insertion point; operations on known indices are folded.

    In contrast to `TirBuilder`, which builds a new function from start to end, it can insert into
    the middle of an existing one.
    """

    def __init__(self, at: InsertPoint) -> None:
        self._at = at
        self._constants: dict[int, SSAValue] = {}

    def insert(self, op: OpT) -> OpT:
        """Insert `op`, and return it."""
        Rewriter.insert_op(op, self._at)
        return op

    def value(self, index: Index) -> SSAValue:
        """Return `index` as an SSA value."""
        if isinstance(index, SSAValue):
            return index
        # One for each builder, not for each function: a constant in an inner block does not
        # dominate what is built after it.
        if index not in self._constants:
            constant = arith.ConstantOp(IntegerAttr.from_index_int_value(index))
            self._constants[index] = self.insert(constant).result
        return self._constants[index]

    # Arithmetic. There are no operators on values: their operations have to be inserted here.

    def emit(self, function: Function, a: Index, b: Index) -> Index:
        """Return a function of two indices, which is computed here unless it can be folded."""
        known = folded(function, a, b)
        if known is not None:
            return known
        return self.insert(OPERATIONS[function](self.value(a), self.value(b))).result

    def add(self, a: Index, b: Index) -> Index:
        """Return `a + b`."""
        return self.emit("add", a, b)

    def sub(self, a: Index, b: Index) -> Index:
        """Return `a - b`."""
        return self.emit("sub", a, b)

    def mul(self, a: Index, b: int) -> Index:
        """Return `a * b`."""
        return self.emit("mul", a, b)

    def parity(self, a: Index) -> Index:
        """Return `a mod 2`, for an `a` that is not negative."""
        return self.emit("mod", a, 2)

    def at_least_0(self, a: Index) -> Index:
        """Return `max(a, 0)`."""
        return (
            max(a, 0) if isinstance(a, int) else self.insert(arith.MaxSIOp(a, self.value(0))).result
        )

    # Control flow

    @contextmanager
    def when(self, a: Index, b: Index) -> Generator[LoopBuilder | None]:
        """Build a branch that is taken if `a < b`; yields its builder.

        Yields None if `a < b` is known to be false, and the same builder if it is known to be true.
        """
        if isinstance(a, int) and isinstance(b, int):
            # The code goes where the branch would be.
            yield self if a < b else None
            return
        condition = self.insert(arith.CmpiOp(self.value(a), self.value(b), "slt"))
        then = Block()
        self.insert(scf.IfOp(condition, [], Region(then)))
        yield LoopBuilder(InsertPoint.at_end(then))
        then.add_op(scf.YieldOp())

    @contextmanager
    def loop(
        self, like: ForOp, first: Index, extent: Index
    ) -> Generator[tuple[LoopBuilder, SSAValue]]:
        """Build a loop of the kind and attributes of `like`; yields its builder and variable.

        A loop whose extent is known to be 0 or less is dropped.
        """
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = like.variable.name_hint
        yield LoopBuilder(InsertPoint.at_end(body)), body.args[0]
        body.add_op(YieldOp())
        # After the body was built, as the caller's `with` block runs in any case.
        if isinstance(extent, int) and extent <= 0:
            return
        new = ForOp(
            self.value(first),
            self.value(extent),
            Region(body),
            like.for_kind,
            attributes=like.attributes,
        )
        new.location = like.location
        self.insert(new)


# Branches: an `scf.if` replaced by one of them, or exchanged with the loop around it.


def inline_branch(op: scf.IfOp, truth: bool) -> Operation | None:
    """Replace an `scf.if` by the operations of one branch; return the first of them, or None."""
    region = op.true_region if truth else op.false_region
    first: Operation | None = None
    values: Sequence[SSAValue] = ()
    if region.blocks:
        block = region.block
        end = block.last_op
        assert isinstance(end, scf.YieldOp)
        values = tuple(end.operands)
        erase(end)
        first = block.first_op
        Rewriter.inline_block(block, InsertPoint.before(op))
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    erase(op)
    return first


def exchange_loop_and_branch(
    loop: ForOp, branch: scf.IfOp, condition_ops: Sequence[Operation]
) -> list[ForOp]:
    """Move an `scf.if` without results out of `loop`; each nonempty branch then contains the loop.

    `condition_ops` are the operations in the loop that compute the condition, in order; they are
    moved before it. The rest of the body stays in each loop. Return the loops.
    """
    place = loop.next_op
    assert place is not None  # a block does not end with a loop
    for op in condition_ops:
        op.detach()
    insert_before(loop, *condition_ops)
    loop.detach()
    condition, attributes = branch.cond, branch.attributes
    then, otherwise = (_detach_body(region) for region in branch.regions)
    pairs = [(loop, branch)]
    # The loop is copied for the second branch; with one empty branch it is moved.
    if then is not None and otherwise is not None:
        pairs.append(_copy_loop(loop, branch, otherwise))
    bodies = [body for body in (then, otherwise) if body is not None]
    for (_, inner), body in zip(pairs, bodies, strict=True):
        _replace_by_body(inner, body)
    loops = [copy for copy, _ in pairs]
    blocks = [Block() if then is None else Block(loops[:1])]
    if otherwise is not None:
        blocks.append(Block(loops[-1:]))
    for block in blocks:
        block.add_op(scf.YieldOp())
    outer = scf.IfOp(condition, (), *([block] for block in blocks), attr_dict=attributes)
    outer.location = branch.location
    insert_before(place, outer)
    return loops


def _copy_loop(loop: ForOp, branch: scf.IfOp, body: Block) -> tuple[ForOp, scf.IfOp]:
    """Copy `loop`; let `body`, detached from a branch in it, use the values of the copy.

    Return the copies of the loop and of `branch` in it.
    """
    values: dict[SSAValue, SSAValue] = {}
    copy = loop.clone(values)
    for op in body.walk():
        # The detached body is not in the loop, so the copy of the loop did not rename its operands.
        op.operands = [values.get(operand, operand) for operand in op.operands]
    pairs = zip(loop.body.block.ops, copy.body.block.ops, strict=True)
    inner = next(new for old, new in pairs if old is branch)
    assert isinstance(inner, scf.IfOp)
    return copy, inner


def _detach_body(region: Region) -> Block | None:
    """Detach the block of a branch; None if it has no operations."""
    if not region.blocks or (block := region.blocks[0]).first_op is block.last_op:
        return None
    return region.detach_block(block)


def _replace_by_body(branch: scf.IfOp, body: Block) -> None:
    """Replace an `scf.if` by the operations of `body`, which are moved out of it."""
    end = body.last_op
    assert end is not None
    erase(end)
    Rewriter.inline_block(body, InsertPoint.before(branch))
    erase(branch)


# Chunks of the iterations of a loop, one for each thread.


def chunk_of(
    build: LoopBuilder, number: SSAValue, total: Index, chunks: int
) -> tuple[Index, Index]:
    """Return the first of the iterations of chunk `number`, and how many they are.

    The sizes of chunks differ by at most one: of 7 iterations in 3 chunks, they are 2, 2 and 3.
    """
    if isinstance(total, int) and total % chunks == 0:
        size = total // chunks
        return build.mul(number, size), size

    def start_of(chunk: SSAValue) -> SSAValue:
        # `number * total / chunks`: no chunk has to know the sizes of those before it. The product
        # does not overflow an i64 for any loop over memory.
        scaled = build.insert(arith.MuliOp(chunk, build.value(total))).result
        return build.insert(arith.DivUIOp(scaled, build.value(chunks))).result

    first = start_of(number)
    return first, build.sub(start_of(build.value(build.add(number, 1))), first)


# A pool of the constants of a function: each value once, at the start.


ConstantValue: TypeAlias = IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr | DenseResourceAttr


class ConstantPool:
    """The constants at the start of a function, where they dominate all uses."""

    def __init__(self, func: PrimFuncOp) -> None:
        self._block = func.body.block
        self._values: dict[object, SSAValue] = {}
        self._last: Operation | None = None
        op = self._block.first_op
        # Up to the first other operation: constants further down may not dominate all uses.
        while isinstance(op, ConstantOp):
            self._values.setdefault(key_of(op.value), op.result)
            self._last, op = op, op.next_op

    def get(self, value: ConstantValue) -> SSAValue:
        """Return the constant `value`; it is added to the function if it is new."""
        if (known := self._values.get(key := key_of(value))) is None:
            self._insert(op := ConstantOp(value))
            known = self._values[key] = op.result
        return known

    def index(self, value: int) -> SSAValue:
        """Return the constant `value` of type index."""
        return self.get(IntegerAttr.from_index_int_value(value))

    def erase_unused(self) -> None:
        """Erase the constants at the start of the function that have no uses."""
        op = self._block.first_op
        while isinstance(op, ConstantOp):
            following = op.next_op
            if not op.result.uses:
                self._values.pop(key_of(op.value), None)
                # New constants are put after the last one that is left.
                self._last = op.prev_op if op is self._last else self._last
                erase(op)
            op = following

    def _insert(self, op: ConstantOp) -> None:
        if self._last is not None:
            self._block.insert_op_after(op, self._last)
        elif (first := self._block.first_op) is not None:
            self._block.insert_op_before(op, first)
        else:
            self._block.add_op(op)
        self._last = op


# Clones of operations with some values replaced; arithmetic that becomes constant is folded.


BinaryOp: TypeAlias = type[SignlessIntegerBinaryOperation]
"""A class of integer operations on two operands, such as `arith.AddiOp`."""


# Folding


_DIVISIONS: dict[BinaryOp, Callable[[int, int], int]] = {
    CeilDivSIOp: lambda a, b: -(-a // b),
    DivSIOp: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    FloorDivSIOp: lambda a, b: a // b,
    RemSIOp: lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}
_MIN_MAX: dict[BinaryOp, Callable[[int, int], int]] = {MaxSIOp: max, MinSIOp: min}
"""Operations that xDSL does not fold."""


def fold_binary(
    kind: BinaryOp, lhs: SSAValue, rhs: SSAValue, constants: ConstantPool
) -> SSAValue | None:
    """Return the result of `kind(lhs, rhs)` if it is a constant or an operand, else None."""
    if kind is SubiOp and lhs is rhs and not isinstance(lhs.type, ContainerType):
        return constants.get(IntegerAttr(0, cast(IndexType, lhs.type)))
    a, b = integer_attribute(lhs), integer_attribute(rhs)
    if a is not None and b is not None and (value := _evaluate(kind, a, b)) is not None:
        return constants.get(truncated_integer(value, a.type))
    if a is not None and b is None and kind.has_trait(Commutative, value_if_unregistered=False):
        lhs, rhs, b = rhs, lhs, a
    if b is None:
        return None
    if kind.is_right_unit(b):
        return lhs
    return rhs if kind.is_right_zero(b) else None


def _evaluate(kind: BinaryOp, lhs: IntegerAttr, rhs: IntegerAttr) -> int | None:
    """Return the result of `kind` on two constants, or None if it is not known."""
    a, b = (truncated_integer(number.value.data, number.type).value.data for number in (lhs, rhs))
    if (value := kind.py_operation(a, b)) is not None:
        return value
    # The sign matters below. xDSL stores an iN as it was written: -1 : i8 may be 255.
    if not isinstance(lhs.type, IndexType):
        return None
    if kind in _DIVISIONS:
        return _DIVISIONS[kind](a, b) if b else None
    return _MIN_MAX[kind](a, b) if kind in _MIN_MAX else None


def create_or_fold(
    kind: BinaryOp,
    lhs: SSAValue,
    rhs: SSAValue,
    constants: ConstantPool,
    insert: Callable[[Operation], object],
) -> SSAValue:
    """Return the result of `kind(lhs, rhs)`, folded if possible (MLIR's `createOrFold`).

    A new operation is passed to `insert`.
    """
    if (folded := fold_binary(kind, lhs, rhs, constants)) is not None:
        return folded
    insert(op := kind(lhs, rhs))
    return op.result


# Cloning


def clone_ops(
    ops: Iterable[Operation], values: dict[SSAValue, SSAValue], constants: ConstantPool
) -> list[Operation]:
    """Return clones of `ops`, with the keys of `values` replaced by its values.

    The results of `ops` are added to `values`. Constants are taken from the pool, and integer
    arithmetic is folded; neither is among the clones.
    """
    clones: list[Operation] = []
    for op in ops:
        if (folded := _fold(op, values, constants)) is not None:
            values[op.results[0]] = folded
            continue
        clones.append(clone := op.clone_without_regions(values))
        for old, new in zip(op.regions, clone.regions, strict=True):
            _clone_region(old, new, values, constants)
    return clones


def _fold(
    op: Operation, values: dict[SSAValue, SSAValue], constants: ConstantPool
) -> SSAValue | None:
    """Return an existing value for the result of a clone of `op`, or None."""
    if isinstance(op, ConstantOp):
        return None if op.attributes else constants.get(op.value)
    if not isinstance(op, SignlessIntegerBinaryOperation):
        return None
    lhs, rhs = op.operands
    return fold_binary(type(op), values.get(lhs, lhs), values.get(rhs, rhs), constants)


def _clone_region(
    region: Region, new: Region, values: dict[SSAValue, SSAValue], constants: ConstantPool
) -> None:
    # `clone_ops` goes through one block in order; several are left to xDSL.
    if len(region.blocks) != 1:
        region.clone_into(new, None, values)
        return
    block = Block(arg_types=region.block.arg_types)
    for old, arg in zip(region.block.args, block.args, strict=True):
        values[old] = arg
        arg.name_hint = old.name_hint
    block.add_ops(clone_ops(region.block.ops, values, constants))
    new.add_block(block)


# Expansion of a loop into copies of its body.


def expand_loop(loop: ForOp, extent: int, constants: ConstantPool) -> None:
    """Replace `loop` by `extent` copies of its body, for the variable `min`, `min + 1`, ...

    Each copy has its own clone of an allocation in the body.
    """
    *body, _ = loop.body.block.ops
    for number in range(extent):
        copies: list[Operation] = []
        offset = constants.index(number)
        # A constant for constant bounds, with which the copies of the body fold further.
        variable = create_or_fold(AddiOp, loop.min, offset, constants, copies.append)
        copies += clone_ops(body, {loop.variable: variable}, constants)
        insert_before(loop, *copies)
    erase(loop)
