"""Building functions on buffers: allocations, accesses, loops and branches."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import cf, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from ..extensions.lists import REDUCTIONS
from .functions import Extent, PrimFuncOp, Shape, UnknownExtent, YieldOp, volume
from .index_builder import Index, IndexBuilder
from .loops import ForKind, ForOp

__all__ = ["Index", "TirBuilder", "dimensions"]

_ALIGNMENT = IntegerAttr(64, IntegerType(64))
"""Bytes: one cache line."""

SHORT_VECTOR = 4
"""The lanes of the vectors of a dimension of unknown extent that do not fill longer ones."""


@dataclass(frozen=True)
class VectorLoop:
    """A loop over vectors of adjacent elements."""

    lanes: int
    count: Index
    """The number of vectors."""
    begin: Index
    """The first element."""
    last: Index | None = None
    """The maximum first element of a vector, if the last vector overlaps the one before it."""


def halves_of(lanes: int) -> list[int]:
    """Return the numbers of lanes to choose from at run time: `lanes`, half of them and so on, as
    long as vectors are not too short; then 1. The largest that is not above the number of elements
    is taken."""
    shorter = [lanes >> i for i in range(1, lanes.bit_length()) if lanes >> i >= SHORT_VECTOR]
    return [lanes, *shorter, 1] if lanes > 1 else [1]


class TirBuilder(IndexBuilder):
    """A builder of loops and buffer accesses that appends to the body of a function."""

    def __init__(self, func: PrimFuncOp):
        super().__init__(func)
        self.shapes: dict[SSAValue, Shape] = {}
        """The shapes of buffers whose types do not say all of it."""

    # Buffers

    def alloc(
        self, shape: Sequence[Extent], element: Attribute, scope: str | None = None
    ) -> SSAValue:
        """Allocate a buffer that lives until the end of the block.

        It is a `memref.alloc`, or in a storage scope such as "local" a `memref.alloca`, which has
        to have a static shape.
        """
        space = NoneAttr() if scope is None else StringAttr(scope)
        type = MemRefType(element, dimensions(shape), NoneAttr(), space)
        if scope is None:
            sizes = [self.index(extent) for extent in shape if not isinstance(extent, int)]
            op = self.insert(memref.AllocOp(sizes, [], type, _ALIGNMENT))
            return self._of_shape(op.results[0], shape)
        if DYNAMIC_INDEX in type.get_shape():
            raise UnknownExtent(f"a buffer in {scope} memory of a size that is not known")
        op = memref.AllocaOp.build(
            operands=[[], []], result_types=[type], properties={"alignment": _ALIGNMENT}
        )
        return self.insert(op).results[0]

    def variable(self, value: SSAValue | Index) -> SSAValue:
        """Allocate a buffer of one element that holds `value`; LLVM keeps it in a register."""
        if not isinstance(value, SSAValue):
            value = self.index(value)
        variable = self.alloc((1,), value.type, "local")
        self.store(value, variable, [0])
        return variable

    def view(self, buffer: SSAValue, shape: Sequence[Extent]) -> SSAValue:
        """Return a view of `buffer`, which is contiguous, with another shape and the same number
        of elements."""
        type = buffer.type
        assert isa(type, MemRefType) and isinstance(type.layout, NoneAttr)
        if tuple(shape) == self.shapes.get(buffer, type.get_shape()):
            return buffer
        strides = [volume(shape[axis + 1 :]) for axis in range(len(shape))]
        result = MemRefType(type.element_type, dimensions(shape), NoneAttr(), type.memory_space)
        sizes, steps = ([self._operand(n) for n in row] for row in (shape, strides))
        op = memref.ReinterpretCastOp.from_dynamic(buffer, [0], sizes, steps, result)
        return self._of_shape(self.insert(op).results[0], shape)

    def _operand(self, extent: Extent) -> SSAValue | int:
        """Return an extent as an operand that may be a number."""
        return extent if isinstance(extent, int) else self.index(extent)

    def _of_shape(self, buffer: SSAValue, shape: Sequence[Extent]) -> SSAValue:
        self.shapes[buffer] = tuple(shape)
        return buffer

    def load(self, buffer: SSAValue, indices: Sequence[Index]) -> SSAValue:
        """Load the element of `buffer` at `indices`."""
        assert isinstance(type := buffer.type, MemRefType)
        op = memref.LoadOp.create(
            operands=[buffer, *map(self.index, indices)],
            result_types=[cast(MemRefType[Attribute], type).element_type],
        )
        return self.insert(op).results[0]

    def combine_atomically(
        self, kind: str, value: SSAValue, buffer: SSAValue, indices: Sequence[Index]
    ) -> None:
        """Combine an element of `buffer` with a value, by a kind of MLIR such as "addi"."""
        operands = [value, buffer, *map(self.index, indices)]
        number = IntegerAttr(REDUCTIONS.index(kind), i64)
        self.insert(
            memref.AtomicRMWOp.create(
                operands=operands, result_types=[value.type], properties={"kind": number}
            )
        )

    def load_index(self, buffer: SSAValue, indices: Sequence[Index]) -> Index:
        """Load an element of a buffer of indices."""
        return self.index_of(self.load(buffer, indices))

    def store(self, value: SSAValue | Index, buffer: SSAValue, indices: Sequence[Index]) -> None:
        """Store `value` as the element of `buffer` at `indices`."""
        if not isinstance(value, SSAValue):
            value = self.index(value)
        self.insert(memref.StoreOp.create(operands=[value, buffer, *map(self.index, indices)]))

    # Loops

    @contextmanager
    def loop(
        self, extent: Index, kind: ForKind = ForKind.SERIAL, *, min: Index = 0
    ) -> Generator[Index]:
        """Build the body of a loop over `min`, ..., `min + extent - 1`, and yield its variable.

        For an extent of 1 only the body is built, and `min` is yielded.
        """
        if extent == 1:
            yield min
            return
        op = self.loop_op(min, extent, kind)
        with self.into(op.body.block):
            yield self.index_of(op.variable)
        op.body.block.add_op(YieldOp.create())

    @contextmanager
    def loops(
        self, extents: Sequence[Index], kind: ForKind = ForKind.SERIAL
    ) -> Generator[list[Index]]:
        """Build the body of a nest of loops of one kind, outermost first; yield the variables."""
        with self.nest(extents, [kind] * len(extents)) as index:
            yield index

    @contextmanager
    def nest(self, extents: Sequence[Index], kinds: Sequence[ForKind]) -> Generator[list[Index]]:
        """Build the body of a nest of loops, each of its own kind, and yield the variables."""
        if not extents:
            yield []
            return
        with self.loop(extents[0], kinds[0]) as index, self.nest(extents[1:], kinds[1:]) as rest:
            yield [index, *rest]

    @contextmanager
    def elements(self, extents: Sequence[Index], lanes: int = 1) -> Generator[list[Index]]:
        """Build the body of loops over all elements of a tensor of shape `extents`.

        The last dimension is computed `lanes` elements at a time, in a vectorized loop. A condition
        excludes the lanes beyond its extent; if this is not known, the body is built again for the
        elements that do not fill a vector (`vectors_and_rest`).
        """
        if not extents or lanes == 1:
            with self.loops(extents) as index:
                yield index
            return
        *outer, last = extents
        if not isinstance(last, int):
            with self.loops(outer) as index, self.vectors_and_rest(last, lanes) as position:
                yield [*index, position]
            return
        with (
            self.loops([*outer, -(-last // lanes)]) as (*index, chunk),
            self.loop(lanes, ForKind.VECTORIZED) as lane,
        ):
            position = chunk * lanes + lane
            conditions = [] if last % lanes == 0 else [self.likely(self.less(position, last))]
            with self.when(conditions):
                yield [*index, position]

    @contextmanager
    def vectors_and_rest(
        self, extent: Index, lanes: int, shorter: int = SHORT_VECTOR
    ) -> Generator[Index]:
        """Build the body of loops over vectors of `extent` elements, which is not known: whole
        vectors of `lanes` lanes, then of `shorter`, then the rest one by one.

        The body is built for each of the three; it runs once for an element.
        """
        loops: list[VectorLoop] = []
        begin: Index = 0
        for width in (lanes, *(n for n in (shorter, 1) if n < lanes)):
            count = (extent - begin) // width
            loops.append(VectorLoop(width, count, begin))
            begin = begin + count * width
        first, *others = [loop for loop in loops if loop.count != 0]
        body, start = self._vector_loop(first)
        with self.into(body.body.block):
            yield start + self.index_of(body.variable)
        body.body.block.add_op(YieldOp())
        for other in others:
            self._copy_vector_loop(other, body, start)

    @contextmanager
    def overlapping_vectors(self, extent: Index, lanes: int) -> Generator[Index]:
        """Build the body of a loop over vectors of `extent` elements, which is not known: of
        `lanes` lanes, or of fewer if there are fewer elements. The last vector overlaps the one
        before it.

        The body is built for each width, and has to give the same results when it runs twice for an
        element. With vectors of 16 or 4 lanes, 7 elements are 0 to 3 and 3 to 6.
        """
        first, *others = [
            VectorLoop(n, self.ceildiv(extent, n), 0, extent - n) for n in halves_of(lanes)
        ]
        then, otherwise = self._branch(self.less(first.lanes - 1, extent))
        with self.into(then):
            body, start = self._vector_loop(first)
            with self.into(body.body.block):
                yield start + self.index_of(body.variable)
            body.body.block.add_op(YieldOp())
        with self.into(otherwise):
            self._copy_fitting(others, extent, body, start)
        for block in (then, otherwise):
            block.add_op(scf.YieldOp())

    def _copy_fitting(
        self, loops: Sequence[VectorLoop], extent: Index, body: ForOp, start: Index
    ) -> None:
        """Write a branch for each of `loops`, with a copy of `body`: the first one is taken whose
        vectors have no more lanes than there are elements."""
        if not loops:
            return
        first, *others = loops
        then, otherwise = self._branch(self.less(first.lanes - 1, extent))
        with self.into(then):
            self._copy_vector_loop(first, body, start)
        with self.into(otherwise):
            self._copy_fitting(others, extent, body, start)
        for block in (then, otherwise):
            block.add_op(scf.YieldOp())

    def _branch(self, condition: SSAValue) -> tuple[Block, Block]:
        """Append an `scf.if` with empty branches, and return these."""
        then, otherwise = Block(), Block()
        self.insert(scf.IfOp(condition, [], Region(then), Region(otherwise)))
        return then, otherwise

    def _vector_loop(self, loop: VectorLoop) -> tuple[ForOp, Index]:
        """Append a loop over vectors, and in it one over lanes with an empty body; return the
        latter, and the first element of the vector."""
        outer = self.loop_op(0, loop.count, ForKind.SERIAL)
        with self.into(outer.body.block):
            start = loop.begin + self.index_of(outer.variable) * loop.lanes
            if loop.last is not None:
                start = self.min(start, loop.last)
            kind = ForKind.VECTORIZED if loop.lanes > 1 else ForKind.SERIAL
            lanes = self.loop_op(0, loop.lanes, kind)
        outer.body.block.add_op(YieldOp())
        self._replaced |= {self.index(start), lanes.variable}
        return lanes, start

    def _copy_vector_loop(self, loop: VectorLoop, body: ForOp, start: Index) -> None:
        """Append a loop over vectors with the operations of `body`, a loop over the lanes of the
        vector that begins at `start`."""
        lanes, place = self._vector_loop(loop)
        mapper = {self.index(start): self.index(place), body.variable: lanes.variable}
        lanes.body.block.add_ops(op.clone(mapper) for op in body.body.block.ops)

    def loop_op(self, start: Index, extent: Index, kind: ForKind) -> ForOp:
        """Append a loop with an empty body."""
        op = ForOp(self.index(start), self.index(extent), kind=kind)
        self.insert(op)
        return op

    @contextmanager
    def chunks(self, extent: Extent, lanes: int) -> Generator[Index]:
        """Build the body of vectorized loops over `extent` elements that all have as many lanes:
        the last one overlaps the one before it if `extent` is not a multiple.

        There are `lanes` lanes, fewer if `extent` is smaller, and a power of two. The body has to
        give the same results when it runs twice for an element: 7 elements are lanes 0 to 3 and 3
        to 6. For an extent that is not known, the body is built for several widths of vectors.
        """
        if not isinstance(extent, int):
            with self.overlapping_vectors(extent, lanes) as position:
                yield position
            return
        lanes = min(lanes, 1 << max(0, extent.bit_length() - 1))
        with (
            self.loop(-(-extent // lanes)) as chunk,
            self.loop(lanes, ForKind.VECTORIZED) as lane,
        ):
            yield self.chunk_start(chunk, lanes, extent) + lane

    def chunk_start(self, chunk: Index, size: int, extent: Extent) -> Index:
        """Return the first of the `size` elements of a chunk of `extent` elements; the last chunk
        overlaps the one before it if they are not a multiple of `size`."""
        start = chunk * size
        return start if extent % size == 0 else self.min(start, extent - size)

    def accumulate(
        self,
        extents: Sequence[Index],
        start: SSAValue,
        combine: Callable[[SSAValue, list[Index]], SSAValue],
    ) -> SSAValue:
        """Reduce over `extents`: return `combine(... combine(start, [0]) ..., [n - 1])`."""
        accumulator = self.variable(start)
        with self.loops(extents) as index:
            self.store(combine(self.load(accumulator, [0]), index), accumulator, [0])
        return self.load(accumulator, [0])

    # Branches

    @contextmanager
    def when(self, conditions: Sequence[SSAValue]) -> Generator[None]:
        """Build a branch that is taken if all `conditions` hold; without conditions, build no
        branch."""
        if not conditions:
            yield
            return
        block = Block()
        self.insert(scf.IfOp(self.all(conditions), [], Region(block)))
        with self.into(block):
            yield
        block.add_op(scf.YieldOp())

    def choose(
        self,
        conditions: Sequence[SSAValue],
        then: Callable[[], SSAValue],
        otherwise: Callable[[], SSAValue],
    ) -> SSAValue:
        """Return the value of `then` if all `conditions` hold, else that of `otherwise`.

        Each is built in a branch of an `scf.if`, so only one of them is computed.
        """
        if not conditions:
            return then()
        condition = self.all(conditions)
        blocks: list[Block] = []
        types: list[Attribute] = []
        for branch in (then, otherwise):
            blocks.append(Block())
            with self.into(blocks[-1]):
                value = branch()
            blocks[-1].add_op(scf.YieldOp(value))
            types.append(value.type)
        then_region, else_region = map(Region, blocks)
        return self.insert(scf.IfOp(condition, types[:1], then_region, else_region)).results[0]

    def require(self, condition: SSAValue, message: str, op: Operation) -> None:
        """Assert that `condition` holds, with the location of `op`: if it does not, the function
        fails with `message`, and accesses no more memory."""
        self.insert(cf.AssertOp(condition, message)).location = op.location

    def finish(self) -> PrimFuncOp:
        """End the body of the function, and return the function."""
        self.func.body.block.add_op(YieldOp())
        return self.func


def dimensions(shape: Sequence[Extent]) -> list[int]:
    """Return the dimensions of a type, DYNAMIC_INDEX for those that are not known."""
    return [extent if isinstance(extent, int) else DYNAMIC_INDEX for extent in shape]
