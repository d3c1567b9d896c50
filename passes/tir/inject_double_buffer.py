"""Fill a buffer for the next iteration of a loop while this one reads what was filled before."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from ...analysis.memory.buffers import (
    DOUBLE_BUFFER,
    Allocation,
    Buffer,
    buffer_type,
    constant_of,
    mixed_shape,
)
from ...analysis.memory.double_buffers import DoubleBuffered, candidates
from ...analysis.memory.live_ranges import step_of
from ...dialects.tir.ops import ForOp, PrimFuncOp, YieldOp
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk
from .base import PrimFuncPass

__all__ = ["InjectDoubleBuffer", "inject_double_buffer"]

Number: TypeAlias = SSAValue | int
"""An index, as an integer if it is known."""

OpT = TypeVar("OpT", bound=Operation)

INDEX = IndexType()


def inject_double_buffer(loop: ForOp, buffers: Sequence[DoubleBuffered], split: int) -> None:
    """Make two of each of the buffers in the body of a loop: iteration `i` fills the one that
    iteration `i + 1` reads.

    What fills them for the first iteration goes before the loop. With `split` 0 a condition keeps
    the last iteration from filling; else, `split` being 1 or even, the loop runs as many iterations
    at once, and those that are left come after it.
    """
    body = _Body(loop, buffers)
    code = _Code(InsertPoint.before(loop))
    first, extent = _number(loop.min), _number(loop.extent)
    with code.when(0, extent) as once:
        if once is not None:
            body.fill(once, first, 0)
    if split == 0:
        with code.loop(loop, first, extent) as (inside, variable):
            step = inside.subtract(variable, first)
            after = inside.add(step, 1)
            with inside.when(after, extent) as then:
                if then is not None:
                    body.fill(then, then.add(variable, 1), then.remainder(after))
            body.rest(inside, variable, inside.remainder(step))
    elif split == 1:
        most = code.subtract(extent, 1)
        with code.loop(loop, first, most) as (inside, variable):
            step = inside.subtract(variable, first)
            next_half = inside.remainder(inside.add(step, 1))
            body.fill(inside, inside.add(variable, 1), next_half)
            body.rest(inside, variable, inside.remainder(step))
        with code.when(0, extent) as last:
            if last is not None:
                body.rest(last, last.add(first, most), last.remainder(most))
    else:
        most = code.subtract(extent, 1)
        rounds = code.at_least_0(code.divide(most, split))
        with code.loop(loop, 0, rounds) as (inside, variable):
            base = inside.add(first, inside.multiply(variable, split))
            for part in range(split):
                iteration = inside.add(base, part)
                body.fill(inside, inside.add(iteration, 1), (part + 1) % 2)
                body.rest(inside, iteration, part % 2)
        done = code.multiply(rounds, split)
        for part in range(split):
            step = code.add(done, part)
            with code.when(step, extent) as then:
                if then is None:
                    break
                iteration = then.add(first, step)
                if part + 1 < split:
                    after = then.add(step, 1)
                    with then.when(after, extent) as filling:
                        if filling is not None:
                            body.fill(filling, filling.add(first, after), (part + 1) % 2)
                body.rest(then, iteration, part % 2)
    Rewriter.erase_op(loop)


class _Body:
    """What an iteration does: operations to be copied."""

    def __init__(self, loop: ForOp, buffers: Sequence[DoubleBuffered]) -> None:
        self._loop = loop
        block = loop.body.block
        # Values that nothing computes: which of the two, in the parts that read and that write.
        self._reading, self._writing = Block(arg_types=[INDEX, INDEX]).args
        self._views: list[Operation] = []
        """Views of the halves that are filled."""
        for buffer in buffers:
            self._double(buffer)
        fills = {buffer.fill for buffer in buffers}
        filling = fills.union(self._views, *(buffer.needed for buffer in buffers))
        only_filling = set(fills)
        for op in reversed(list(block.ops)):
            users = [step_of(use.operation, block) for r in op.results for use in r.uses]
            if op in filling and all(user in only_filling for user in users):
                only_filling.add(op)
        ops = [op for op in block.ops if op is not block.last_op]
        self._filling = [op for op in ops if op in filling]
        self._rest = [op for op in ops if op not in only_filling]

    def fill(self, code: _Code, iteration: Number, half: Number) -> None:
        """Fill one half of each buffer for an iteration."""
        self._copy(self._filling, code, iteration, self._writing, half)

    def rest(self, code: _Code, iteration: Number, half: Number) -> None:
        """Do what else an iteration does, with that half of each buffer."""
        self._copy(self._rest, code, iteration, self._reading, half)

    def _copy(
        self,
        ops: Iterable[Operation],
        code: _Code,
        iteration: Number,
        place: SSAValue,
        half: Number,
    ) -> None:
        values = {self._loop.variable: code.value(iteration), place: code.value(half)}
        for op in ops:
            code.insert(op.clone(values))

    def _double(self, buffer: DoubleBuffered) -> None:
        """Make an allocation of two before the loop, and let the body use a half of it."""
        old, type = buffer.allocation, buffer_type(buffer.allocation.memref)
        new = old.build(
            operands=[list(old.dynamic_sizes), []],
            result_types=[
                MemRefType(
                    type.element_type, [2, *type.get_shape()], memory_space=type.memory_space
                )
            ],
            properties={"alignment": old.alignment},
            attributes={
                name: value for name, value in old.attributes.items() if name != DOUBLE_BUFFER
            },
        )
        new.location = old.location
        new.results[0].name_hint = old.memref.name_hint
        Rewriter.insert_op(new, InsertPoint.before(self._loop))
        shape = mixed_shape(type, old.dynamic_sizes)
        for use in list(old.memref.uses):
            op, at = use.operation, use.index
            filling = step_of(op, self._loop.body.block) is buffer.fill
            half = self._writing if filling else self._reading
            if isinstance(op, memref.CopyOp):
                view = half_of(new.results[0], half, shape, type)
                Rewriter.insert_op(view, InsertPoint.before(op))
                op.operands[at] = view.result
                if filling:
                    self._views.append(view)
            else:
                op.operands = [*op.operands[:at], new.results[0], half, *op.operands[at + 1 :]]
        Rewriter.erase_op(old)


def half_of(
    both: SSAValue, half: SSAValue, shape: Sequence[Number], type: Buffer
) -> memref.SubviewOp:
    """One of two buffers of a shape, as a view."""
    strides: list[int | None] = [1]
    for size in reversed(type.get_shape()[1:]):
        last = strides[-1]
        strides.append(None if size == DYNAMIC_INDEX or last is None else last * size)
    layout = StridedLayoutAttr(strides[::-1] if shape else [], None)
    ones, zeros = [1] * len(shape), [0] * len(shape)
    result = MemRefType(type.element_type, type.shape, layout, type.memory_space)
    return memref.SubviewOp.get(both, [half, *zeros], [1, *shape], [1, *ones], result)


def _number(value: SSAValue) -> Number:
    known = constant_of(value)
    return value if known is None else known


class _Code:
    """Makes operations at a place; what is known is computed."""

    def __init__(self, at: InsertPoint) -> None:
        self._at = at
        self._constants: dict[int, SSAValue] = {}

    def insert(self, op: OpT) -> OpT:
        """Insert an operation."""
        Rewriter.insert_op(op, self._at)
        return op

    def value(self, number: Number) -> SSAValue:
        """The number as a value."""
        if isinstance(number, SSAValue):
            return number
        if number not in self._constants:
            constant = arith.ConstantOp(IntegerAttr.from_index_int_value(number))
            self._constants[number] = self.insert(constant).result
        return self._constants[number]

    def add(self, a: Number, b: Number) -> Number:
        """The sum."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0 or b == 0:
            return b if a == 0 else a
        return self.insert(arith.AddiOp(self.value(a), self.value(b))).result

    def subtract(self, a: Number, b: Number) -> Number:
        """The difference."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self.insert(arith.SubiOp(self.value(a), self.value(b))).result

    def multiply(self, a: Number, b: int) -> Number:
        """The product."""
        return a * b if isinstance(a, int) else self.insert(arith.MuliOp(a, self.value(b))).result

    def divide(self, a: Number, b: int) -> Number:
        """The quotient, rounded down."""
        if isinstance(a, int):
            return a // b
        return self.insert(arith.FloorDivSIOp(a, self.value(b))).result

    def remainder(self, a: Number) -> Number:
        """What is left of a number that is not negative, divided by 2."""
        return a % 2 if isinstance(a, int) else self.insert(arith.RemSIOp(a, self.value(2))).result

    def at_least_0(self, a: Number) -> Number:
        """The number, 0 if it is negative."""
        if isinstance(a, int):
            return max(a, 0)
        return self.insert(arith.MaxSIOp(a, self.value(0))).result

    @contextmanager
    def when(self, a: Number, b: Number) -> Generator[_Code | None]:
        """Where to make what is done if `a < b`; None if that is known not to be."""
        if isinstance(a, int) and isinstance(b, int):
            yield self if a < b else None
            return
        condition = self.insert(arith.CmpiOp(self.value(a), self.value(b), "slt"))
        then = Block()
        self.insert(scf.IfOp(condition, [], Region(then)))
        yield _Code(InsertPoint.at_end(then))
        then.add_op(scf.YieldOp())

    @contextmanager
    def loop(self, like: ForOp, first: Number, extent: Number) -> Generator[tuple[_Code, SSAValue]]:
        """Where to make the body of a loop, and its variable; one that never runs is not made."""
        body = Block(arg_types=[INDEX])
        body.args[0].name_hint = like.variable.name_hint
        yield _Code(InsertPoint.at_end(body)), body.args[0]
        body.add_op(YieldOp())
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


@dataclass(frozen=True)
class InjectDoubleBuffer(PrimFuncPass):
    """Make two of each allocation with the attribute `double_buffer_scope` in a loop, and fill one
    while the other is read; source: `tir.InjectDoubleBuffer`.
    """

    name = "tir-inject-double-buffer"

    split_loop: int = 1
    """How many iterations the loop runs at once: 1, or an even number; 0 to keep a condition in
    the loop instead of the iterations after it."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if self.split_loop < 0 or (self.split_loop > 1 and self.split_loop % 2):
            raise PassFailedException(
                f"split-loop is {self.split_loop}: expected 0, 1 or an even number"
            )
        loops: set[Operation] = set()
        ops = list(walk(func))
        for op in ops:
            if isinstance(op, Allocation) and DOUBLE_BUFFER in op.attributes:
                if isinstance(loop := op.parent_op(), ForOp):
                    loops.add(loop)
                else:
                    ctx.diagnostics.warning(op, f"{DOUBLE_BUFFER}: it is not in the body of a loop")
        # Inner loops first: the outer ones are made of copies of them.
        warnings: list[tuple[Operation, str]] = []
        for loop in reversed([op for op in ops if isinstance(op, ForOp) and op in loops]):
            found, refused = candidates(loop)
            warnings += reversed(refused.items())
            if found:
                inject_double_buffer(loop, found, self.split_loop)
                ctx.count("doubled", len(found))
        for op, reason in reversed(warnings):
            ctx.diagnostics.warning(op, f"{DOUBLE_BUFFER}: {reason}")
