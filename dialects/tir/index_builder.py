"""Building index arithmetic: constants, folding of known indices, and reuse of pure results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import c_float
from functools import lru_cache
from itertools import count
from typing import NoReturn, TypeAlias, TypeVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from ...passmanager.releases.memref import dim_op
from ..numbers import PYTHON, Function, Value, folded
from ..size_values import SizeValues
from ..sizes import Size, Symbol, TooComplex
from .functions import Extent, PrimFuncOp, SymbolicExtent, UnknownExtent
from .loops import ForOp, LikelyOp

__all__ = ["Index", "IndexBuilder", "IndexValue"]

T = TypeVar("T")


class IndexValue(Value["Index"]):
    """An SSA value of type index."""

    __slots__ = ()


Index: TypeAlias = IndexValue | Extent
"""An SSA value of type index, a number that is known at compile time, or an expression of sizes."""

IndexValue.partners = (int, SymbolicExtent, IndexValue)

OPERATIONS: Mapping[Function, type[arith.SignlessIntegerBinaryOperation]] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "mul": arith.MuliOp,
    # The dividend must not be negative: LLVM turns unsigned division by a power of 2 into one
    # shift; signed division needs more.
    "floordiv": arith.DivUIOp,
    "mod": arith.RemUIOp,
}

EQ, SLT, SLE = "eq", "slt", "sle"  # predicates of arith.cmpi


_INDEX = IndexType()
_WITH_FLAGS: dict[object, type[Operation]] = {
    op_class: op_class for op_class in (arith.AddiOp, arith.SubiOp, arith.MuliOp)
}
_NO_FLAGS = {"overflowFlags": arith.IntegerOverflowAttr("none")}


@lru_cache(maxsize=4096)
def _index_attribute(value: int) -> IntegerAttr[IndexType]:
    # Shared, as the verifier recognizes operations that it knows by the identity of attributes.
    return IntegerAttr(value, _INDEX)


def _create(
    cls: Callable[..., Operation], operands: tuple[SSAValue, ...], arguments: dict[str, object]
) -> Operation:
    # The most frequent ones without their constructor, which is slow.
    if not arguments and (op_class := _WITH_FLAGS.get(cls)) is not None:
        types = [operands[0].type]
        return op_class.create(operands=operands, result_types=types, properties=_NO_FLAGS.copy())
    return cls(*operands, **arguments)


def _of_extents(function: Callable[..., T], lhs: Index, rhs: Index) -> T | None:
    """Return a function of two extents; None if one of them is computed in loops, or the result is
    no expression of sizes, or one that is too large."""
    if isinstance(lhs, IndexValue) or isinstance(rhs, IndexValue):
        return None
    try:
        return function(lhs, rhs)
    except (TooComplex, UnknownExtent):
        return None


def unknown(symbol: Symbol) -> NoReturn:
    """Raise UnknownExtent for a size about which nothing is known."""
    raise UnknownExtent("a size that is no dimension of a parameter")


class IndexBuilder:
    """A builder of scalar operations that appends to the body of a function.

    Arithmetic on known indices is folded at once: `i + 0` is `i`. A pure operation that was
    already built where it dominates the insertion point is reused. Constants stand at the top of
    the function, each once.
    """

    def __init__(self, func: PrimFuncOp):
        self.func = func
        self._block = func.body.block
        self._last_constant: Operation | None = None
        self._constants: dict[tuple[object, Attribute], SSAValue] = {}
        self._indices: dict[int, SSAValue] = {}
        """The constants of type index."""
        self._known: dict[SSAValue, int] = {}
        self._pure: list[dict[object, SSAValue]] = [{}]
        """The pure results of each block from the function to the insertion point."""
        self._replaced: set[SSAValue] = set()
        """The places in loops whose bodies are copied with other values for them. An expression
        must not be taken apart into what they are computed from."""
        self._dimensions: dict[str, tuple[SSAValue, int]] = {}
        """The buffer and the dimension from which each symbol of a size is read."""
        self._sizes = SizeValues(self.at_start, self.index, self._dimension)
        self.unnamed: Callable[[Symbol], SSAValue] = unknown
        """Compute, at the start of the function, a symbol that is no dimension of a parameter."""
        self._numbers = count()
        self._last_size: Operation | None = None

    # Operations

    def insert(self, op: Operation) -> Operation:
        """Append `op` at the insertion point and return it."""
        self._block.add_op(op)
        return op

    def pure(
        self, cls: Callable[..., Operation], *operands: SSAValue, **arguments: object
    ) -> SSAValue:
        """Return the result of a pure operation `cls(*operands, **arguments)`.

        An equal operation that dominates the insertion point is reused.
        """
        key = (cls, operands, *arguments.items())
        for scope in self._pure:
            if (found := scope.get(key)) is not None:
                return found
        result = self.insert(_create(cls, operands, arguments)).results[0]
        self._pure[-1][key] = result
        return result

    @contextmanager
    def into(self, block: Block) -> Generator[None]:
        """Move the insertion point to the end of `block` within the `with` statement."""
        outer, self._block = self._block, block
        self._pure.append({})
        try:
            yield
        finally:
            self._pure.pop()
            self._block = outer

    # Constants

    def number(self, value: float | int | bool, type: Attribute) -> SSAValue:
        """Return a constant of scalar type `type`.

        A value beyond the range of f32 becomes infinite there. Raises NotImplementedError for a
        signed or unsigned integer type, which arith does not have.
        """
        if isa(type, IntegerType) and type.signedness.data is not Signedness.SIGNLESS:
            raise NotImplementedError(f"a number of type {type}: arith has signless integers only")
        if isinstance(type, Float32Type):
            value = c_float(value).value
        key = (str(value), type)  # as text, for 0.0 == -0.0
        if key not in self._constants:
            self._constants[key] = self._add_constant(value, type)
        return self._constants[key]

    def _add_constant(self, value: float | int | bool, type: Attribute) -> SSAValue:
        match type:
            case IndexType():
                attribute = _index_attribute(int(value))
            case IntegerType():
                attribute = IntegerAttr(int(value), type)
            case _:
                attribute = FloatAttr(value, type)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]
        op = arith.ConstantOp(attribute)  # pyright: ignore[reportUnknownArgumentType]
        self._insert_after(self._last_constant, op)
        self._last_constant = op
        if isinstance(type, IndexType):
            self._known[op.result] = int(value)
        return op.result

    def index(self, value: Index) -> SSAValue:
        """Return `value` as an SSA value: a known number becomes a constant, an expression of sizes
        a value that is computed once, at the start of the function.

        Raises UnknownExtent for an expression of symbols that are no dimensions of parameters.
        """
        if isinstance(value, SymbolicExtent):
            return self._sizes.of(value.size)
        if isinstance(value, IndexValue):
            return value.value
        if (known := self._indices.get(value)) is None:
            known = self._indices[value] = self.number(value, _INDEX)
        return known

    def index_of(self, value: SSAValue) -> Index:
        """Return a value of type index as an index, the int that it is if this builder made it as a
        constant."""
        known = self._known.get(value)
        return IndexValue(self, value) if known is None else known

    # Sizes that are known at run time

    def read_size(self, symbol: str, buffer: SSAValue, axis: int) -> None:
        """Let `symbol` be the size of dimension `axis` of a parameter, unless it is one already."""
        self._dimensions.setdefault(symbol, (buffer, axis))

    def symbol(self, value: SSAValue) -> SymbolicExtent:
        """Return `value`, which is computed at the start of the function, as an extent."""
        size = Size.symbol(f"?size{next(self._numbers)}")
        self._sizes.define(size, value)
        return SymbolicExtent(size)

    def _dimension(self, symbol: Symbol) -> SSAValue:
        if (place := self._dimensions.get(symbol.name)) is None:
            return self.unnamed(symbol)
        buffer, axis = place
        return self.at_start(dim_op(buffer, self.index(axis)))

    def at_start(self, op: Operation) -> SSAValue:
        """Insert `op` at the start of the function, and return its result."""
        self._insert_after(self._last_size or self._last_constant, op)
        self._last_size = op
        return op.results[0]

    def _insert_after(self, last: Operation | None, op: Operation) -> None:
        """Insert `op` after `last`; without it, at the start of the function."""
        block = self.func.body.block
        if last is not None:
            block.insert_op_after(op, last)
        elif block.first_op is not None:
            block.insert_op_before(op, block.first_op)
        else:
            block.add_op(op)

    # Index arithmetic

    def emit(self, function: Function, a: Index, b: Index) -> Index:
        """Return a function of two indices: of those that are known, or else of values.

        A dividend must not be negative, and a divisor must be positive.
        """
        found = folded(function, a, b)
        if found is None:
            found = _of_extents(PYTHON[function], a, b)
        if found is None and function in ("floordiv", "mod"):
            parts = self._divided(a, b)
            found = None if parts is None else parts[function == "mod"]
        if found is not None:
            return found
        return IndexValue(self, self.pure(OPERATIONS[function], self.index(a), self.index(b)))

    def floordiv(self, lhs: Index, rhs: Index) -> Index:
        """Return `lhs // rhs`, which is computed at run time for extents that do not divide; `lhs`
        must not be negative, and `rhs` is positive."""
        return self.emit("floordiv", lhs, rhs)

    def mod(self, lhs: Index, rhs: Index) -> Index:
        """Return `lhs % rhs`, which is computed at run time for extents that do not divide; `lhs`
        must not be negative, and `rhs` is positive."""
        return self.emit("mod", lhs, rhs)

    def _divided(self, value: Index, by: Index) -> tuple[Index, Index] | None:
        """Return quotient and remainder of a sum of multiples of `by` and at most one variable of a
        loop that is less than that; None of others. With a loop over 0, ..., 3:

            (8 * i + 4 * j + k) / 4 = 2 * i + j    (8 * i + 4 * j + k) % 4 = k
        """
        if not isinstance(by, int) or not isinstance(value, IndexValue):
            return None
        quotient: Index = 0
        remainder: Index = 0
        pending: list[SSAValue] = [value.value]
        while pending:
            if (term := pending.pop()) in self._replaced:
                return None
            match term.owner:
                case arith.AddiOp(lhs=lhs, rhs=rhs):
                    pending += (rhs, lhs)
                    continue
                case arith.MuliOp(lhs=lhs, rhs=rhs) if (n := self._known.get(rhs)) is not None:
                    if n % by == 0:
                        quotient = quotient + self.index_of(lhs) * (n // by)
                        continue
                case Block() if remainder == 0 and self._is_below(term, by):
                    remainder = self.index_of(term)
                    continue
                case _ if (n := self._known.get(term)) is not None and n % by == 0:
                    quotient = quotient + n // by
                    continue
                case _:
                    pass
            return None
        return quotient, remainder

    def _is_below(self, variable: SSAValue, bound: int) -> bool:
        """Return whether `variable` is that of a loop over 0, ... that ends before `bound`."""
        loop = variable.owner.parent_op() if isinstance(variable.owner, Block) else None
        if not isinstance(loop, ForOp) or self._known.get(loop.min) != 0:
            return False
        return (extent := self._known.get(loop.extent)) is not None and extent <= bound

    def ceildiv(self, extent: Index, by: Index) -> Index:
        """Return `extent / by`, rounded up."""
        return self.floordiv(extent + (by - 1), by)

    def min(self, lhs: Index, rhs: Index) -> Index:
        """Return the smaller of two signed indices."""
        return self._extremum(min, arith.MinSIOp, lhs, rhs)

    def max(self, lhs: Index, rhs: Index) -> Index:
        """Return the larger of two signed indices."""
        return self._extremum(max, arith.MaxSIOp, lhs, rhs)

    def _extremum(
        self, function: Callable[..., Extent], op: type[Operation], lhs: Index, rhs: Index
    ) -> Index:
        if (found := _of_extents(function, lhs, rhs)) is not None:
            return found
        return IndexValue(self, self.pure(op, self.index(lhs), self.index(rhs)))

    def select(self, condition: SSAValue, then: Index, otherwise: Index) -> Index:
        """Return one of two indices."""
        return self.index_of(
            self.pure(arith.SelectOp, condition, self.index(then), self.index(otherwise))
        )

    def smaller(self, lhs: Extent, rhs: Extent) -> Extent:
        """Return the smaller of two extents, which is computed at the start of the function if it
        is not known."""
        return self._of_sizes(min, arith.MinSIOp, lhs, rhs)

    def larger(self, lhs: Extent, rhs: Extent) -> Extent:
        """Return the larger of two extents, as `smaller`."""
        return self._of_sizes(max, arith.MaxSIOp, lhs, rhs)

    def quotient(self, lhs: Extent, rhs: Extent) -> Extent:
        """Return `lhs / rhs`, rounded down, of extents that are not negative and not 0, as
        `smaller`."""
        return self._of_sizes(PYTHON["floordiv"], arith.DivUIOp, lhs, rhs)

    def _of_sizes(
        self,
        function: Callable[..., Extent],
        op: Callable[..., Operation],
        lhs: Extent,
        rhs: Extent,
    ) -> Extent:
        if (found := _of_extents(function, lhs, rhs)) is not None:
            return found
        return self.symbol(self.at_start(op(self.index(lhs), self.index(rhs))))

    def flat(self, indices: Sequence[Index], shape: Sequence[Index]) -> Index:
        """Return the row-major position of the element at `indices` of a buffer of `shape`."""
        position: Index = 0
        for index, size in zip(indices, shape, strict=True):
            position = position * size + index
        return position

    def unflat(self, position: Index, shape: Sequence[Extent]) -> list[Index]:
        """Return the indices of the element at a row-major `position`: the inverse of `flat`."""
        indices: list[Index] = []
        for axis in reversed(range(1, len(shape))):
            indices.append(self.mod(position, shape[axis]))
            position = self.floordiv(position, shape[axis])
        return [position, *reversed(indices)] if shape else []

    # Conditions

    def less(self, lhs: Index, rhs: Index) -> SSAValue:
        """Return the condition `lhs < rhs`, signed."""
        return self.pure(arith.CmpiOp, self.index(lhs), self.index(rhs), arg=SLT)

    def equal(self, lhs: Index, rhs: Index) -> SSAValue:
        """Return the condition `lhs == rhs`."""
        return self.pure(arith.CmpiOp, self.index(lhs), self.index(rhs), arg=EQ)

    def inside_bounds(self, index: Index, low: Index, high: Index) -> list[SSAValue]:
        """Return the conditions for `low <= index < high`, without those known to hold."""
        conditions: list[SSAValue] = []
        if not _of_extents(operator.le, low, index):
            conditions.append(self.pure(arith.CmpiOp, self.index(low), self.index(index), arg=SLE))
        if not _of_extents(operator.lt, index, high):
            conditions.append(self.less(index, high))
        return conditions

    def all(self, conditions: Sequence[SSAValue]) -> SSAValue:
        """Return the conjunction of `conditions`; the empty one is true."""
        if not conditions:
            return self.number(True, i1)
        value, *rest = conditions
        for condition in rest:
            value = self.pure(arith.AndIOp, value, condition)
        return value

    def negation(self, condition: SSAValue) -> SSAValue:
        """Return whether `condition` does not hold."""
        return self.pure(arith.XOrIOp, condition, self.number(True, i1))

    def likely(self, condition: SSAValue) -> SSAValue:
        """Return `condition`, marked as true most of the time."""
        return self.insert(LikelyOp(condition)).results[0]

    def sum(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Return the sum of two numbers of one type, integer or float."""
        is_integer = isinstance(lhs.type, IntegerType | IndexType)
        return self.pure(arith.AddiOp if is_integer else arith.AddfOp, lhs, rhs)
