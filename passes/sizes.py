"""The sizes of a function as SSA values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TypeAlias

from xdsl.dialects import arith, memref
from xdsl.dialects.arith import AddiOp, MuliOp
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from ..compiler.analysis.constant_evaluator import integer_constant
from ..compiler.analysis.region_flow import flows
from ..compiler.analysis.symbolic_shapes import SymbolicShapes
from ..dialects.relax.closures import InvokeOp
from ..dialects.relax.closures import YieldOp as LambdaYieldOp
from ..dialects.relax.graph import MatchCastOp, OutputOp
from ..dialects.relax.interfaces import InfersType
from ..dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ..dialects.relax.types import is_ranked, is_tensor, refine, shape_of, static_shape, with_shape
from ..dialects.sizes import Quotient, Size, Symbol, TooComplex
from ..passmanager.fast.edit import erase, insert_before
from ..passmanager.ir.walk import is_skipped, walk
from ..passmanager.releases.memref import dim_op
from .generic.arith_families import family
from .generic.call_graph import CallGraph

# The unknown sizes of a function on buffers: symbolic expressions, and the values with them.
#
# Sizes are compared as expressions (`dialects/sizes.py`). Symbols are the dimensions of parameters,
# and all other values that are not computed from these by sums, products and quotients. A size that
# depends on parameters alone is computed at the start of the function, before the arena is
# allocated.


SPECULATABLE = family(
    "addi andi cmpi constant extsi extui index_cast maxsi maxui minsi minui muli ori select subi "
    "trunci xori"
)
"""Operations that may be computed earlier, even if their block would not be executed."""

DIVISIONS = (arith.CeilDivSIOp, arith.CeilDivUIOp, arith.DivSIOp, arith.DivUIOp, arith.FloorDivSIOp)
"""Operations that may also be computed earlier if the divisor is a positive constant."""


def index_constant(value: int) -> arith.ConstantOp:
    """Return a constant of type index."""
    return arith.ConstantOp(IntegerAttr(value, IndexType()))


Where: TypeAlias = "Operation | Block | None"
"""The place of new operations: before an operation, at the end of a block, or at the start of the
function."""


class FunctionSizes:
    """The sizes of a function. Those that depend on parameters alone are *early*: their values are
    inserted before the operation `start`, in the first block."""

    def __init__(self, start: Operation) -> None:
        self.start = start
        self._sizes: dict[SSAValue, Size] = {}
        """The expressions of values."""
        self._values: dict[Size, SSAValue] = {}
        """The early values of expressions."""
        self._symbols: dict[str, SSAValue] = {}
        """The values of symbols."""
        self._late: set[str] = set()
        """The symbols that are not early."""
        self._signed: set[str] = set()
        """The symbols that may be negative."""
        self._early: set[SSAValue] = set()
        """Values that are available at the start."""

    # Symbols

    def add_parameters(self, parameters: Iterable[SSAValue]) -> None:
        """Let operations on `parameters` be early."""
        self._early.update(parameters)

    def dimension(self, buffer: SSAValue, axis: int, name: str | None, where: Where) -> Size:
        """Return a size for the dimension `axis` of `buffer`, as the symbol `name` if it is
        given."""
        value = self.dim(buffer, axis, where)
        return self.symbol(value, name, early=where is None)

    def dim(self, buffer: SSAValue, axis: int, where: Where) -> SSAValue:
        """Return the value of a dimension."""
        return self._insert(dim_op(buffer, self._constant(axis)), where)

    def symbol(
        self, value: SSAValue, name: str | None = None, *, early: bool, signed: bool = False
    ) -> Size:
        """Return a symbol for `value`, which is at least 0 unless it is `signed`."""
        name = f"?{len(self._symbols)}" if name is None else name
        self._symbols[name] = value
        self._sizes[value] = size = Size.symbol(name)
        if early:
            self._early.add(value)
            self._values[size] = value
        else:
            self._late.add(name)
        if signed:
            self._signed.add(name)
        return size

    def set_nonnegative(self, symbol: Symbol) -> None:
        """Record that a symbol is at least 0 at all uses of its value from now on."""
        self._signed.discard(symbol.name)

    # Queries

    def is_early(self, *sizes: Size) -> bool:
        """Return whether the sizes depend on parameters alone."""
        return all(s.name not in self._late for size in sizes for s in size.symbols())

    def is_nonnegative(self, size: Size) -> bool:
        """Return whether `size` is at least 0, as far as is known."""
        if any(symbol.name in self._signed for symbol in size.symbols()):
            return False
        return (low := size.low) is not None and low >= 0

    def covers(self, large: Size, small: Size) -> bool:
        """Return whether `small` is at most `large`, and differs from it by terms of lower degree
        only: then `small` may be stored in the place of `large` without much waste."""
        # 4 * n + 8 covers 4 * n, and n * n + n covers n * n; 8 * n does not cover 4 * n, as half
        # would be wasted for every n.
        try:
            rest = large - small
        except TooComplex:
            return False
        return self.is_nonnegative(rest) and degree(rest) < degree(small)

    # From values to sizes

    def size_of(self, value: SSAValue) -> Size:
        """Return the size that is `value`."""
        if (size := self._sizes.get(value)) is None:
            if (known := integer_constant(value)) is not None:
                self._sizes[value] = size = Size.of(known)
            else:
                size = self.symbol(value, early=value in self._early, signed=True)
        return size

    def hoist(self, op: Operation) -> bool:
        """Insert `op` at the start of the function if it can be computed there; return whether it
        was inserted."""
        if type(op) not in SPECULATABLE and not is_safe_division(op):
            return False
        if not self._early.issuperset(op.operands):
            return False
        insert_before(self.start, op)
        self._early.update(op.results)
        return True

    def follow(self, op: Operation) -> None:
        """Set the size of the result of `op` if it is a sum, a product or a quotient of sizes."""
        if len(op.results) != 1 or not isinstance(op.results[0].type, IndexType):
            return
        try:
            size = self._followed(op)
        except TooComplex:
            return
        if size is not None:
            self._sizes[op.results[0]] = size

    def _followed(self, op: Operation) -> Size | None:
        of = self.size_of
        match op:
            case arith.AddiOp():
                return of(op.lhs) + of(op.rhs)
            case arith.SubiOp():
                return of(op.lhs) - of(op.rhs)
            case arith.MuliOp():
                return of(op.lhs) * of(op.rhs)
            # max(n + 3, 3) is n + 3. If neither is larger for all values of the symbols, it is a
            # symbol itself.
            case arith.MaxSIOp():
                pairs = (of(op.lhs), of(op.rhs)), (of(op.rhs), of(op.lhs))
                return next((a for a, b in pairs if self.is_nonnegative(a - b)), None)
            case arith.FloorDivSIOp() if is_safe_division(op):
                return of(op.lhs) // self._divisor(op)
            case arith.CeilDivSIOp() if is_safe_division(op):
                divisor = self._divisor(op)
                # The quotients of `Size` are rounded down: ceil(n / 4) is floor((n + 3) / 4).
                return (of(op.lhs) + Size.of(divisor - 1)) // divisor
            case arith.DivSIOp() | arith.DivUIOp() if is_safe_division(op):
                # `divsi` rounds toward 0 and `divui` reads -1 as 2^64 - 1: both are the floor only
                # from 0 on.
                return of(op.lhs) // self._divisor(op) if self.is_nonnegative(of(op.lhs)) else None
            case _:
                return None

    def _divisor(self, op: Operation) -> int:
        return integer_constant(op.operands[1]) or 1

    # From sizes to values

    def value(self, size: Size, where: Where) -> SSAValue:
        """Return the value of `size`: an early one from the start of the function, others from
        operations that are inserted at `where`."""
        if not self.is_early(size):
            return self._computed(size, where)
        if (value := self._values.get(size)) is None:
            self._values[size] = value = self._computed(size, None)
            self._sizes[value] = size
        return value

    def product(self, factors: Sequence[Size], where: Where) -> Size:
        """Return the product of sizes; a new symbol if the expression would be too complex."""
        try:
            return reduce(Size.__mul__, factors, Size.of(1))
        except TooComplex:
            early = self.is_early(*factors)
            values = [self.value(factor, where) for factor in factors]
            total = reduce(lambda a, b: self.times(a, b, None if early else where), values)
            return self.symbol(total, early=early)

    def at_least_zero(self, size: Size) -> Size:
        """Return `size`, which is early, or 0 if it is negative, as an early size."""
        # This symbol is a key of the table only: expressions contain the symbol that is returned.
        key = Size.symbol(f"?max {size.key}")
        if (value := self._values.get(key)) is None:
            bound = arith.MaxSIOp(self.value(size, None), self._constant(0))
            self._values[key] = value = self._insert(bound, None)
            return self.symbol(value, early=True)
        return self._sizes[value]

    def times(self, left: SSAValue, right: SSAValue, where: Where) -> SSAValue:
        """Return the product of two values."""
        if integer_constant(left) == 0 or integer_constant(right) == 1:
            return left
        if integer_constant(left) == 1 or integer_constant(right) == 0:
            return right
        return self._insert(MuliOp(left, right), where)

    def plus(self, left: SSAValue, right: SSAValue, where: Where) -> SSAValue:
        """Return the sum of two values."""
        if integer_constant(left) == 0:
            return right
        return left if integer_constant(right) == 0 else self._insert(AddiOp(left, right), where)

    def erase_unused(self) -> None:
        """Erase the early operations that nothing uses."""
        # Backwards: the users of an operation are visited, and erased, before it.
        op = self.start.prev_op
        while op is not None:
            before = op.prev_op
            is_pure = isinstance(op, (*SPECULATABLE, *DIVISIONS, memref.DimOp))
            if is_pure and all(result.first_use is None for result in op.results):
                erase(op)
            op = before

    def insert(self, ops: Sequence[Operation], where: Where) -> None:
        """Insert operations at `where`."""
        if isinstance(where, Block):
            where.add_ops(ops)
        else:
            insert_before(self.start if where is None else where, *ops)

    def _insert(self, op: Operation, where: Where) -> SSAValue:
        self.insert([op], where)
        return op.results[0]

    def _constant(self, value: int) -> SSAValue:
        size = Size.of(value)
        if (found := self._values.get(size)) is None:
            self._values[size] = found = self._insert(index_constant(value), None)
            self._early.add(found)
        return found

    def _computed(self, size: Size, where: Where) -> SSAValue:
        """Insert the operations that compute `size`: MLIR has no negation, so positive terms come
        first."""
        total = self._constant(0)
        for product, factor in sorted(size.terms, key=lambda term: term[1] < 0):
            # 4 * n - 2 * m is 0 + 1 * n * 4 - 1 * m * 2, and `plus` and `times` leave out the 0 and
            # the 1.
            factors = [self._atom(atom, where) for atom in product]
            term = reduce(lambda a, b: self.times(a, b, where), factors, self._constant(1))
            term = self.times(term, self._constant(abs(factor)), where)
            if factor < 0:
                total = self._insert(arith.SubiOp(total, term), where)
            else:
                total = self.plus(total, term, where)
        return total

    def _atom(self, atom: Symbol | Quotient, where: Where) -> SSAValue:
        if isinstance(atom, Symbol):
            return self._symbols[atom.name]
        dividend, divisor = self.value(atom.dividend, where), self._constant(atom.divisor)
        # `divsi` gives the same value in one instruction; `floordivsi` is lowered to a division and
        # selects.
        kind = arith.DivSIOp if self.is_nonnegative(atom.dividend) else arith.FloorDivSIOp
        return self._insert(kind(dividend, divisor), where)


def is_safe_division(op: Operation) -> bool:
    """Return whether `op` divides by a positive constant."""
    return isinstance(op, DIVISIONS) and (integer_constant(op.operands[1]) or 0) > 0


def degree(size: Size) -> int:
    """Return the most factors of a term."""
    return max((len(product) for product, _ in size.terms), default=0)


# Casts after values were retyped: for users that need the declared types, and at regions.


def cast_at_regions(holders: Iterable[Operation]) -> None:
    """Cast the values that flow into or out of the regions of `holders` to exactly the types that
    the regions declare, where these are less precise."""
    for holder in holders:
        for user, first, types in flows(holder):
            for index, (value, type) in enumerate(zip(user.operands[first:], types), first):
                # xDSL's verifier wants exactly the declared types here, where `infer-type` has more
                # precise ones.
                if value.type != type and refine(value.type, type) is not None:
                    user.operands[index] = _cast(value, type, InsertPoint.before(user))


def cast_for_users(declared: Mapping[SSAValue, Attribute]) -> None:
    """Cast retyped values back to their `declared` types for users that cannot adapt."""
    for value, type in declared.items():
        # One cast for all these users, directly after the value, where it dominates them.
        if uses := [use for use in value.uses if not _adapts(use)]:
            cast = _cast(value, type, _after_definition(value))
            for use in uses:
                use.operation.operands[use.index] = cast


def _cast(value: SSAValue, type: Attribute, where: InsertPoint) -> SSAValue:
    owner = value.owner
    location = owner.location if isinstance(owner, Operation) else None
    # `tensor.cast` takes tensors only; tuples with tensors in them need the cast of relax.
    cast = CastOp if is_tensor(type) else MatchCastOp
    op = cast.create(operands=[value], result_types=[type], location=location)
    Rewriter.insert_op(op, where)
    return op.results[0]


def _after_definition(value: SSAValue) -> InsertPoint:
    owner = value.owner
    return InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)


def _adapts(use: Use) -> bool:
    """Return whether the user accepts a more precise type, or `cast_at_regions` handles it."""
    match use.operation:
        case InvokeOp():
            # The closure. The verifier wants the arguments in exactly the types that the closure
            # declares.
            return use.index == 0
        case YieldOp() as end:
            return isinstance(end.parent_op(), IfOp | ForOp | WhileOp)
        case user:
            return isinstance(user, _ADAPTING)


_ADAPTING = (
    CallTIRInplaceOp,
    CallTIROp,
    CastOp,
    ConditionOp,
    ForOp,
    InfersType,
    LambdaYieldOp,
    OutputOp,
    ReturnOp,
    WhileOp,
)


# Types with the sizes that a symbolic analysis found.


def functions_with_unknown_sizes(graph: CallGraph) -> list[FuncOp]:
    """Return the functions with a tensor of unknown size, callees first. Functions that are opaque
    or not to be optimized are left out."""
    return [
        op
        for op in graph.callees_first()
        if isinstance(op, FuncOp)
        and not is_skipped(op)
        and "relax.primitive" not in op.attributes
        and any(map(_is_dynamic, _types(op)))
    ]


def _types(function: FuncOp) -> Iterable[Attribute]:
    """Return the different types in a function."""
    seen = dict.fromkeys(function.function_type.inputs)
    for op in walk(function):
        for result in op.results:
            seen[result.type] = None
    return seen


def _is_dynamic(type: Attribute) -> bool:
    return is_tensor(type) and static_shape(type) is None


def retype_known_sizes(functions: Iterable[FuncOp], shapes: SymbolicShapes) -> bool:
    """Put sizes that are known into the types of results that operations infer themselves; return
    whether a type has changed. Other users get casts."""
    retyped: dict[SSAValue, Attribute] = {}
    for function in functions:
        for op in [op for op in walk(function) if isinstance(op, InfersType)]:
            for result in [*op.results]:
                if (type := _known_type(result, shapes)) is not None:
                    old = result.type
                    new = Rewriter.replace_value_with_new_type(result, type)
                    shapes.move(result, new)
                    retyped[new] = old
    cast_for_users(retyped)
    return bool(retyped)


def _known_type(value: SSAValue, shapes: SymbolicShapes) -> Attribute | None:
    """Return the more precise type of a value; None if nothing more is known."""
    type = value.type
    if not is_tensor(type) or (is_ranked(type) and static_shape(type) is not None):
        return None
    if (sizes := shapes.of(value)) is None:
        return None
    shape = tuple(
        DYNAMIC_INDEX if size.known is None or size.known < 0 else size.known for size in sizes
    )
    if shape == shape_of(type):
        return None
    better = refine(type, with_shape(type, shape))
    return None if better == type else better
