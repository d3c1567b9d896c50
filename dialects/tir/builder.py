"""Writing functions on buffers: index arithmetic, numbers, loops."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import c_float
from math import prod
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    StringAttr,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from .ops import ForKind, ForOp, LikelyOp, PrimFuncOp, YieldOp

__all__ = ["Index", "TirBuilder"]

Index: TypeAlias = SSAValue | int
"""An index, or a number that is known."""

EQ, SLT, SLE = "eq", "slt", "sle"  # predicates of arith.cmpi


_ALIGNMENT = IntegerAttr(64, IntegerType(64))
"""In bytes: a line of a cache."""


class TirBuilder:
    """Writes operations into a function, after those that are there.

    What is known of indices is computed at once: `add(i, 0)` is `i`. Constants stand at the top of
    the function, once each.
    """

    def __init__(self, func: PrimFuncOp):
        self.func = func
        self._builder = Builder(InsertPoint.at_end(func.body.block))
        self._last_constant: Operation | None = None
        self._constants: dict[tuple[object, Attribute], SSAValue] = {}
        self._known: dict[SSAValue, int] = {}
        self._pure: list[dict[object, SSAValue]] = [{}]

    # Operations

    def insert(self, op: Operation) -> Operation:
        """Write an operation."""
        return self._builder.insert(op)

    def pure(
        self, cls: Callable[..., Operation], *operands: SSAValue, **arguments: object
    ) -> SSAValue:
        """The result of an operation without effects: of an equal one that has been written where
        it is seen from here, if there is one."""
        key = (cls, operands, *arguments.items())
        for scope in self._pure:
            if (found := scope.get(key)) is not None:
                return found
        result = self.insert(cls(*operands, **arguments)).results[0]
        self._pure[-1][key] = result
        return result

    @contextmanager
    def into(self, block: Block) -> Generator[None]:
        """Write at the end of a block."""
        outer = self._builder
        self._builder = Builder(InsertPoint.at_end(block))
        self._pure.append({})
        try:
            yield
        finally:
            self._pure.pop()
            self._builder = outer

    # Numbers

    def number(self, value: float | int | bool, type: Attribute) -> SSAValue:
        """A constant of that type, infinite if it is too great for f32; NotImplementedError for
        integers that arith does not have."""
        if isa(type, IntegerType) and type.signedness.data is not Signedness.SIGNLESS:
            raise NotImplementedError(f"a number of type {type}: arith has signless integers only")
        if isinstance(type, Float32Type):
            value = c_float(value).value
        key = (str(value), type)  # 0.0 is not -0.0
        if key not in self._constants:
            match type:
                case IndexType() | IntegerType():
                    attribute = IntegerAttr(int(value), type)
                case _:
                    attribute = FloatAttr(value, type)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]
            op = arith.ConstantOp(attribute)  # pyright: ignore[reportUnknownArgumentType]
            block = self.func.body.block
            if self._last_constant is not None:
                block.insert_op_after(op, self._last_constant)
            elif block.first_op is not None:
                block.insert_op_before(op, block.first_op)
            else:
                block.add_op(op)
            self._last_constant = op
            self._constants[key] = op.result
            if isinstance(type, IndexType):
                self._known[op.result] = int(value)
        return self._constants[key]

    def index(self, value: Index) -> SSAValue:
        """An index as an SSA value."""
        return self.number(value, IndexType()) if isinstance(value, int) else value

    def known(self, value: Index) -> Index:
        """The number, if it is known."""
        return value if isinstance(value, int) else self._known.get(value, value)

    # Index arithmetic

    def add(self, lhs: Index, rhs: Index) -> Index:
        lhs, rhs = self.known(lhs), self.known(rhs)
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs + rhs
        if lhs == 0 or rhs == 0:
            return rhs if lhs == 0 else lhs
        return self.pure(arith.AddiOp, self.index(lhs), self.index(rhs))

    def sub(self, lhs: Index, rhs: Index) -> Index:
        lhs, rhs = self.known(lhs), self.known(rhs)
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs - rhs
        if rhs == 0:
            return lhs
        return self.pure(arith.SubiOp, self.index(lhs), self.index(rhs))

    def mul(self, lhs: Index, rhs: Index) -> Index:
        lhs, rhs = self.known(lhs), self.known(rhs)
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs * rhs
        if lhs == 0 or rhs == 0:
            return 0
        if lhs == 1 or rhs == 1:
            return rhs if lhs == 1 else lhs
        return self.pure(arith.MuliOp, self.index(lhs), self.index(rhs))

    def floordiv(self, lhs: Index, rhs: int) -> Index:
        """The quotient of an index that is not negative."""
        lhs = self.known(lhs)
        if isinstance(lhs, int):
            return lhs // rhs
        return lhs if rhs == 1 else self.pure(arith.DivUIOp, lhs, self.index(rhs))

    def mod(self, lhs: Index, rhs: int) -> Index:
        """The remainder of an index that is not negative."""
        lhs = self.known(lhs)
        if isinstance(lhs, int):
            return lhs % rhs
        return 0 if rhs == 1 else self.pure(arith.RemUIOp, lhs, self.index(rhs))

    def min(self, lhs: Index, rhs: Index) -> Index:
        lhs, rhs = self.known(lhs), self.known(rhs)
        if isinstance(lhs, int) and isinstance(rhs, int):
            return min(lhs, rhs)
        return self.pure(arith.MinSIOp, self.index(lhs), self.index(rhs))

    def max(self, lhs: Index, rhs: Index) -> Index:
        lhs, rhs = self.known(lhs), self.known(rhs)
        if isinstance(lhs, int) and isinstance(rhs, int):
            return max(lhs, rhs)
        return self.pure(arith.MaxSIOp, self.index(lhs), self.index(rhs))

    def flat(self, indices: Sequence[Index], shape: Sequence[int]) -> Index:
        """The place of an element in row-major order."""
        place: Index = 0
        for index, size in zip(indices, shape, strict=True):
            place = self.add(self.mul(place, size), index)
        return place

    def unflat(self, place: Index, shape: Sequence[int]) -> list[Index]:
        """The indices of the element at a place in row-major order."""
        indices: list[Index] = []
        for axis in reversed(range(1, len(shape))):
            indices.append(self.mod(place, shape[axis]))
            place = self.floordiv(place, shape[axis])
        return [place, *reversed(indices)] if shape else []

    def less(self, lhs: Index, rhs: Index) -> SSAValue:
        """Whether an index is less than another."""
        return self.pure(arith.CmpiOp, self.index(lhs), self.index(rhs), arg=SLT)

    def equal(self, lhs: Index, rhs: Index) -> SSAValue:
        """Whether two indices are equal."""
        return self.pure(arith.CmpiOp, self.index(lhs), self.index(rhs), arg=EQ)

    def inside_bounds(self, index: Index, low: Index, high: Index) -> list[SSAValue]:
        """What must hold for `low <= index < high`; nothing that is known to."""
        index = self.known(index)
        conditions: list[SSAValue] = []
        if not (isinstance(index, int) and isinstance(low, int) and index >= low):
            conditions.append(self.pure(arith.CmpiOp, self.index(low), self.index(index), arg=SLE))
        if not (isinstance(index, int) and isinstance(high, int) and index < high):
            conditions.append(self.less(index, high))
        return conditions

    def all(self, conditions: Sequence[SSAValue]) -> SSAValue:
        """Whether all of them hold."""
        if not conditions:
            return self.number(True, i1)
        value, *rest = conditions
        for condition in rest:
            value = self.pure(arith.AndIOp, value, condition)
        return value

    def sum(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """The sum of two numbers."""
        is_integer = isinstance(lhs.type, IntegerType | IndexType)
        return self.pure(arith.AddiOp if is_integer else arith.AddfOp, lhs, rhs)

    def likely(self, condition: SSAValue) -> SSAValue:
        """A condition that holds most of the time."""
        return self.insert(LikelyOp(condition)).results[0]

    # Buffers

    def alloc(self, shape: Sequence[int], element: Attribute, scope: str | None = None) -> SSAValue:
        """A buffer that lives until the end of the block."""
        space = NoneAttr() if scope is None else StringAttr(scope)
        type = MemRefType(element, shape, NoneAttr(), space)
        if scope is None:
            return self.insert(memref.AllocOp([], [], type, _ALIGNMENT)).results[0]
        op = memref.AllocaOp.build(
            operands=[[], []], result_types=[type], properties={"alignment": _ALIGNMENT}
        )
        return self.insert(op).results[0]

    def view(self, buffer: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A buffer in row-major order in another shape."""
        type = buffer.type
        assert isa(type, MemRefType) and isinstance(type.layout, NoneAttr)
        if type.get_shape() == tuple(shape):
            return buffer
        strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
        result = MemRefType(type.element_type, shape, NoneAttr(), type.memory_space)
        op = memref.ReinterpretCastOp.from_dynamic(buffer, [0], shape, strides, result)
        return self.insert(op).results[0]

    def load(self, buffer: SSAValue, indices: Sequence[Index]) -> SSAValue:
        """An element of a buffer."""
        return self.insert(memref.LoadOp.get(buffer, [*map(self.index, indices)])).results[0]

    def store(self, value: SSAValue, buffer: SSAValue, indices: Sequence[Index]) -> None:
        """Write an element of a buffer."""
        self.insert(memref.StoreOp.get(value, buffer, [*map(self.index, indices)]))

    # Control flow

    @contextmanager
    def loop(
        self,
        extent: Index,
        kind: ForKind = ForKind.SERIAL,
        *,
        min: Index = 0,
        name: str | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Generator[Index]:
        """Write into a loop; of one iteration, only its body."""
        extent, min = self.known(extent), self.known(min)
        if extent == 1:
            yield min
            return
        op = ForOp(self.index(min), self.index(extent), kind=kind, attributes=attributes)
        op.variable.name_hint = name
        self.insert(op)
        with self.into(op.body.block):
            yield op.variable
        op.body.block.add_op(YieldOp())

    @contextmanager
    def loops(
        self, extents: Sequence[int], kind: ForKind = ForKind.SERIAL
    ) -> Generator[list[Index]]:
        """Write into as many loops, the first one the outermost."""
        with self.nest(extents, [kind] * len(extents)) as index:
            yield index

    @contextmanager
    def nest(self, extents: Sequence[int], kinds: Sequence[ForKind]) -> Generator[list[Index]]:
        """Write into as many loops, each of its kind."""
        if not extents:
            yield []
            return
        with self.loop(extents[0], kinds[0]) as index, self.nest(extents[1:], kinds[1:]) as rest:
            yield [index, *rest]

    @contextmanager
    def elements(self, extents: Sequence[int], lanes: int = 1) -> Generator[list[Index]]:
        """Write into loops over all elements, the last dimension `lanes` at a time in a vectorized
        loop; of what is left in the end, only the elements that are there."""
        if not extents or lanes == 1:
            with self.loops(extents) as index:
                yield index
            return
        *outer, last = extents
        with (
            self.loops([*outer, -(-last // lanes)]) as (*index, chunk),
            self.loop(lanes, ForKind.VECTORIZED) as lane,
        ):
            place = self.add(self.mul(chunk, lanes), lane)
            conditions = [] if last % lanes == 0 else [self.likely(self.less(place, last))]
            with self.when(conditions):
                yield [*index, place]

    def accumulate(
        self,
        extents: Sequence[int],
        start: SSAValue,
        combine: Callable[[SSAValue, list[Index]], SSAValue],
    ) -> SSAValue:
        """Write loops in which a number becomes what `combine` makes of it, for one index after
        the other; the last one."""
        number = self.alloc((1,), start.type, "local")
        self.store(start, number, [0])
        with self.loops(extents) as index:
            self.store(combine(self.load(number, [0]), index), number, [0])
        return self.load(number, [0])

    @contextmanager
    def when(self, conditions: Sequence[SSAValue]) -> Generator[None]:
        """Write what is done only if all conditions hold."""
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
        """What `then` gives if all conditions hold, else what `otherwise` does; only that is
        computed."""
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

    def finish(self) -> PrimFuncOp:
        """The function, complete."""
        self.func.body.block.add_op(YieldOp())
        return self.func
