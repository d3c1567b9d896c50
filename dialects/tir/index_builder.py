"""Building index arithmetic: constants, folding of known indices, and reuse of pure results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from ctypes import c_float
from functools import lru_cache
from itertools import count
from typing import NoReturn, TypeAlias

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
from ..size_values import SizeValues
from ..sizes import Size, Symbol, TooComplex
from .extents import Extent, SymbolicExtent, UnknownExtent
from .functions import PrimFuncOp
from .loops import ForOp, LikelyOp

__all__ = ["Index", "IndexBuilder"]

Index: TypeAlias = SSAValue | Extent
"""An SSA value of type index, a number that is known at compile time, or an expression of sizes."""

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


def unknown(symbol: Symbol) -> NoReturn:
    """Raise UnknownExtent for a size of which nothing is known."""
    raise UnknownExtent("a size that is no dimension of a parameter")


class IndexBuilder:
    """A builder of scalar operations that appends to the body of a function.

    Arithmetic on known indices is folded at once: `add(i, 0)` is `i`. A pure operation that was
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
        block = self.func.body.block
        if self._last_constant is not None:
            block.insert_op_after(op, self._last_constant)
        elif block.first_op is not None:
            block.insert_op_before(op, block.first_op)
        else:
            block.add_op(op)
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
        if not isinstance(value, int):
            return value
        if (known := self._indices.get(value)) is None:
            known = self._indices[value] = self.number(value, _INDEX)
        return known

    def known(self, value: Index) -> Index:
        """Return the int that `value` stands for if this builder made it as a constant;
        otherwise `value`."""
        return self._known.get(value, value) if isinstance(value, SSAValue) else value

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
        block = self.func.body.block
        after = self._last_size or self._last_constant
        if after is not None:
            block.insert_op_after(op, after)
        elif block.first_op is not None:
            block.insert_op_before(op, block.first_op)
        else:
            block.add_op(op)
        self._last_size = op
        return op.results[0]

    def _folded(self, function: Callable[[Extent, Extent], Extent], *of: Index) -> Index | None:
        """Return `function` of two extents; None if one of them is computed in loops, or the
        expression is too large."""
        lhs, rhs = of
        if isinstance(lhs, SSAValue) or isinstance(rhs, SSAValue):
            return None
        try:
            return function(lhs, rhs)
        except (TooComplex, UnknownExtent):
            return None

    # Index arithmetic

    def add(self, lhs: Index, rhs: Index) -> Index:
        """Return `lhs + rhs`."""
        lhs, rhs = self.known(lhs), self.known(rhs)
        if (folded := self._folded(lambda a, b: a + b, lhs, rhs)) is not None:
            return folded
        if lhs == 0 or rhs == 0:
            return rhs if lhs == 0 else lhs
        return self.pure(arith.AddiOp, self.index(lhs), self.index(rhs))

    def sub(self, lhs: Index, rhs: Index) -> Index:
        """Return `lhs - rhs`."""
        lhs, rhs = self.known(lhs), self.known(rhs)
        if (folded := self._folded(lambda a, b: a - b, lhs, rhs)) is not None:
            return folded
        if rhs == 0:
            return lhs
        return self.pure(arith.SubiOp, self.index(lhs), self.index(rhs))

    def mul(self, lhs: Index, rhs: Index) -> Index:
        """Return `lhs * rhs`."""
        lhs, rhs = self.known(lhs), self.known(rhs)
        if (folded := self._folded(lambda a, b: a * b, lhs, rhs)) is not None:
            return folded
        if lhs == 0 or rhs == 0:
            return 0
        if lhs == 1 or rhs == 1:
            return rhs if lhs == 1 else lhs
        return self.pure(arith.MuliOp, self.index(lhs), self.index(rhs))

    def floordiv(self, lhs: Index, rhs: Index) -> Index:
        """Return the quotient of `lhs`, which must not be negative, by a positive number."""
        # LLVM turns unsigned division by a power of 2 into one shift; signed division needs more.
        lhs, rhs = self.known(lhs), self.known(rhs)
        if rhs == 1:
            return lhs
        if (folded := self._folded(lambda a, b: a // b, lhs, rhs)) is not None:
            return folded
        if (parts := self._divided(lhs, rhs)) is not None:
            return parts[0]
        return self.pure(arith.DivUIOp, self.index(lhs), self.index(rhs))

    def mod(self, lhs: Index, rhs: Index) -> Index:
        """Return the remainder of `lhs`, which must not be negative, by a positive number."""
        lhs, rhs = self.known(lhs), self.known(rhs)
        if rhs == 1:
            return 0
        if (folded := self._folded(lambda a, b: a % b, lhs, rhs)) is not None:
            return folded
        if (parts := self._divided(lhs, rhs)) is not None:
            return parts[1]
        return self.pure(arith.RemUIOp, self.index(lhs), self.index(rhs))

    def _divided(self, value: Index, by: Index) -> tuple[Index, Index] | None:
        """Return quotient and remainder of a sum of multiples of `by` and at most one variable of a
        loop that is less than that; None of others. With a loop over 0, ..., 3:

            (8 * i + 4 * j + k) / 4 = 2 * i + j    (8 * i + 4 * j + k) % 4 = k
        """
        if not isinstance(by, int) or not isinstance(value, SSAValue):
            return None
        quotient: Index = 0
        remainder: Index = 0
        pending: list[SSAValue] = [value]
        while pending:
            if (term := pending.pop()) in self._replaced:
                return None
            match term.owner:
                case arith.AddiOp(lhs=lhs, rhs=rhs):
                    pending += (rhs, lhs)
                    continue
                case arith.MuliOp(lhs=lhs, rhs=rhs) if isinstance(n := self.known(rhs), int):
                    if n % by == 0:
                        quotient = self.add(quotient, self.mul(lhs, n // by))
                        continue
                case Block() if remainder == 0 and self._is_below(term, by):
                    remainder = term
                    continue
                case _ if isinstance(n := self.known(term), int) and n % by == 0:
                    quotient = self.add(quotient, n // by)
                    continue
                case _:
                    pass
            return None
        return quotient, remainder

    def _is_below(self, variable: SSAValue, bound: int) -> bool:
        """Return whether `variable` is that of a loop over 0, ... that ends before `bound`."""
        loop = variable.owner.parent_op() if isinstance(variable.owner, Block) else None
        if not isinstance(loop, ForOp) or self.known(loop.min) != 0:
            return False
        return isinstance(n := self.known(loop.extent), int) and n <= bound

    def ceildiv(self, extent: Index, by: Index) -> Index:
        """Return `extent / by`, rounded up."""
        return self.floordiv(self.add(extent, self.sub(by, 1)), by)

    def min(self, lhs: Index, rhs: Index) -> Index:
        """Return the smaller of two signed indices."""
        lhs, rhs = self.known(lhs), self.known(rhs)
        if (folded := self._folded(min, lhs, rhs)) is not None:
            return folded
        return self.pure(arith.MinSIOp, self.index(lhs), self.index(rhs))

    def max(self, lhs: Index, rhs: Index) -> Index:
        """Return the larger of two signed indices."""
        lhs, rhs = self.known(lhs), self.known(rhs)
        if (folded := self._folded(max, lhs, rhs)) is not None:
            return folded
        return self.pure(arith.MaxSIOp, self.index(lhs), self.index(rhs))

    def smaller(self, lhs: Extent, rhs: Extent) -> Extent:
        """Return the smaller of two extents, which is computed at the start of the function if it
        is not known."""
        if (folded := self._folded(min, lhs, rhs)) is not None:
            assert not isinstance(folded, SSAValue)
            return folded
        return self.symbol(self.at_start(arith.MinSIOp(self.index(lhs), self.index(rhs))))

    def larger(self, lhs: Extent, rhs: Extent) -> Extent:
        """Return the larger of two extents, as `smaller`."""
        if (folded := self._folded(max, lhs, rhs)) is not None:
            assert not isinstance(folded, SSAValue)
            return folded
        return self.symbol(self.at_start(arith.MaxSIOp(self.index(lhs), self.index(rhs))))

    def quotient(self, lhs: Extent, rhs: Extent) -> Extent:
        """Return `lhs / rhs`, rounded down, of extents that are not negative and not 0, as
        `smaller`."""
        if (folded := self._folded(lambda a, b: a // b, lhs, rhs)) is not None:
            assert not isinstance(folded, SSAValue)
            return folded
        return self.symbol(self.at_start(arith.DivUIOp(self.index(lhs), self.index(rhs))))

    def flat(self, indices: Sequence[Index], shape: Sequence[Index]) -> Index:
        """Return the row-major position of the element at `indices` of a buffer of `shape`."""
        position: Index = 0
        for index, size in zip(indices, shape, strict=True):
            position = self.add(self.mul(position, size), index)
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
        index = self.known(index)
        conditions: list[SSAValue] = []
        if not self._holds(lambda a, b: a <= b, low, index):
            conditions.append(self.pure(arith.CmpiOp, self.index(low), self.index(index), arg=SLE))
        if not self._holds(lambda a, b: a < b, index, high):
            conditions.append(self.less(index, high))
        return conditions

    def _holds(self, compare: Callable[[Extent, Extent], bool], lhs: Index, rhs: Index) -> bool:
        """Return whether a comparison is known to hold."""
        if isinstance(lhs, SSAValue) or isinstance(rhs, SSAValue):
            return False
        try:
            return compare(lhs, rhs)
        except (TooComplex, UnknownExtent):
            return False

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
