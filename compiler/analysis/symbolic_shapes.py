"""The shapes of values as expressions of the names at the parameters.

    shapes = SymbolicShapes(module)
    shapes.of(value)  # (batch, 2 * h, 64)
    shapes.elements_of(shape_value)  # the integers in a small vector, such as a shape

Each unknown dimension without a name is a symbol of its own. Names belong to one function. Equal
sizes are equal in all runs in which the parameters have the sizes that their names say, and no
operation fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import count
from operator import is_
from typing import Any, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    f64,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.scf import IfOp
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.numbers import (
    Computed,
    Insert,
    Number,
    Scalar,
    Symbolic,
    as_size,
    ceildiv,
    equal,
    less,
    maximum,
    select,
)
from ...dialects.relax.data.creation import ArangeOp
from ...dialects.relax.dimensions import Dimensions, Facts, dimensions_in, number_of, symbolic_type
from ...dialects.relax.dynamic.computation import DynamicOp
from ...dialects.relax.graph import GraphOp, MatchCastOp
from ...dialects.relax.interfaces import Elementwise, InfersType
from ...dialects.relax.shapes import SymbolicSize, broadcast, broadcast_sizes
from ...dialects.relax.types import (
    is_integer,
    is_tensor,
    make_tensor_type,
    shape_of,
    static_shape,
    tensor_type,
    with_shape,
)
from ...dialects.signature import dimension_names_in, with_dimension_names
from ...dialects.sizes import Size, Symbol, TooComplex, size_of_text
from ...passes.generic.call_graph import CallGraph
from ...passmanager.ir.ordering import in_order
from ...passmanager.ir.per_class import PerClass
from .region_flow import result_terminators
from .shape_values import Elements, computed_elements

# The size of a range whose bounds are operands.


def number_of_steps(op: ArangeOp, facts: Facts) -> Number:
    """Return the number of steps from `start` to `stop`, or 0 if it is not finite.

    The kernel asserts that it is finite.
    """
    element_type = tensor_type(op.start).element_type
    # Float bounds have no known elements: how they are rounded is only known at run time.
    if not is_integer(element_type):
        return Computed(_float_steps, tuple(map(Scalar, op.operands)))
    start, stop, step = (number_of(facts, value) for value in op.operands)
    if isinstance(step, int) and step > 0:
        return ceildiv(maximum(stop - start, 0), step)
    return _integer_steps(start, stop, step)


def _integer_steps(start: Number, stop: Number, step: Number) -> Number:
    """Return the number of integers start + i * step before `stop`; 0 for a step of 0."""
    is_zero = equal(step, 0)
    rounding = select(less(step, 0), 1, -1)
    distance = stop - start + step + rounding
    # The minimum integer divided by -1 is a trap of the processor.
    distance = maximum(distance, -(2**63) + 1)
    count = Computed("divsi", (distance, select(is_zero, 1, step)))
    return select(is_zero, 0, maximum(count, 0))


def _float_steps(insert: Insert, *numbers: SSAValue) -> SSAValue:
    """Return the number of floats start + i * step before `stop`; 0 if it is not finite.

    The quotient may be rounded to an integer, so the count is corrected by products, which are
    exact if the numbers are those of f32."""

    def of(cls: Callable[..., Operation], *operands: SSAValue) -> SSAValue:
        return insert(cls(*operands))

    def number(value: float) -> SSAValue:
        return insert(arith.ConstantOp(FloatAttr(value, f64)))

    def compare(lhs: SSAValue, predicate: str, rhs: SSAValue) -> SSAValue:
        return insert(arith.CmpfOp(lhs, rhs, predicate))

    start, stop, step = (x if x.type == f64 else insert(arith.ExtFOp(x, f64)) for x in numbers)
    distance, is_down = of(arith.SubfOp, stop, start), compare(step, "olt", number(0))
    distance = of(arith.SelectOp, is_down, of(arith.NegfOp, distance), distance)
    step = of(arith.SelectOp, is_down, of(arith.NegfOp, step), step)
    quotient = of(arith.DivfOp, distance, step)
    is_some = of(
        arith.AndIOp,
        *(
            compare(quotient, predicate, number(bound))
            for predicate, bound in (("ogt", 0.0), ("olt", 2.0**62))
        ),
    )
    quotient = of(arith.SelectOp, is_some, quotient, number(0))
    steps = insert(arith.FPToSIOp(quotient, i64))
    one, zero = (insert(arith.ConstantOp(IntegerAttr(n, i64))) for n in (1, 0))

    def reaches(steps: SSAValue) -> SSAValue:
        """Return whether `start` plus this many steps is at or beyond `stop`."""
        product = of(arith.MulfOp, insert(arith.SIToFPOp(steps, f64)), step)
        return compare(product, "oge", distance)

    more, fewer = of(arith.AddiOp, steps, one), of(arith.SubiOp, steps, one)
    steps = of(
        arith.SelectOp,
        reaches(steps),
        of(arith.SelectOp, reaches(fewer), fewer, steps),
        more,
    )
    steps = of(arith.SelectOp, is_some, steps, zero)
    return insert(arith.IndexCastOp(steps, IndexType()))


# Shape rules compute the dimensions of results from those of operands: as expressions of sizes, or
# as numbers that are computed at run time.
#
# An operation infers its result types from operand types whose unknown sizes have expressions
# (`SymbolicSize`). An unknown dimension is None.


def inferred_types(op: Operation, facts: Facts) -> Sequence[Attribute] | None:
    """Return the type of each result of `op`, which has no regions, in which unknown sizes may have
    expressions; None without a rule."""
    if (rule := _rule_of[type(op)]) is None:
        return None
    try:
        return rule(op, facts)
    except VerifyException:  # invalid properties, which the verifier reports
        return None


def computed_dimensions(op: Operation, facts: Facts) -> Sequence[Dimensions] | None:
    """Return the dimensions of each result of `op`, which has no regions; None without a rule."""
    types = inferred_types(op, facts)
    return None if types is None else [dimensions_in(type) for type in types]


def _infer(op: InfersType, facts: Facts) -> Sequence[Attribute]:
    args = Block(arg_types=[facts.type_of(value) for value in op.operands]).args
    copy = op.create(operands=args, properties=op.properties, attributes=op.attributes)
    return copy.infer_types()


def _elementwise(op: Elementwise, facts: Facts) -> Sequence[Attribute]:
    """Return the shape to which all operands broadcast."""
    operands = map(facts.type_of, op.operands)
    shapes = [shape_of(type) if is_tensor(type) else () for type in operands]
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or not known:
        return op.result_types
    shape = reduce(broadcast, known)
    return [with_shape(type, shape) if is_tensor(type) else type for type in op.result_types]


def _first(op: Operation, facts: Facts) -> Sequence[Attribute]:
    """Return the type of the operand."""
    return [facts.type_of(op.operands[0])]


def _dynamic(op: DynamicOp, facts: Facts) -> Sequence[Attribute]:
    return [*map(symbolic_type, op.result_types, op.infer_dimensions(facts))]


def _arange(op: ArangeOp, facts: Facts) -> Sequence[Attribute]:
    return [symbolic_type(op.result.type, [number_of_steps(op, facts)])]


Rule: TypeAlias = Callable[[Any, Facts], Sequence[Attribute]]

_RULES: Sequence[tuple[type[Operation] | tuple[type[Operation], ...], Rule]] = (
    (ArangeOp, _arange),
    ((CastOp, MatchCastOp), _first),
    (DynamicOp, _dynamic),
    (Elementwise, _elementwise),
    (InfersType, _infer),
)


def _find_rule(cls: type[Operation]) -> Rule | None:
    # Searched once for each class (`PerClass`). The first match counts: a class stands before its
    # bases.
    return next((rule for classes, rule in _RULES if issubclass(cls, classes)), None)


_rule_of = PerClass[Operation, "Rule | None"](_find_rule)


Sizes: TypeAlias = tuple[Size, ...]
KnownSizes: TypeAlias = "Sequence[Size | None] | None"


class SymbolicShapes:
    """The shapes of all tensors in a module, and the elements of small integer tensors."""

    def __init__(self, module: ModuleOp, graph: CallGraph | None = None) -> None:
        self._types: dict[SSAValue, Attribute] = {}
        """The types of tensors, with the expressions of their sizes."""
        self._shapes: dict[SSAValue, Sizes] = {}
        """The shapes in these types that were asked for."""
        self._elements: dict[SSAValue, Elements] = {}
        self._results: dict[FuncOp, Sequence[KnownSizes]] = {}
        """The shapes of the results of functions that have been visited."""
        self._numbers = count()
        self._parts: dict[Size, frozenset[Size]] = {}
        """The sizes that broadcast to a symbol."""
        self._broadcast: dict[frozenset[Size], Size] = {}
        """The symbols to which sizes broadcast."""
        self._unlimited: dict[Size, Size] = {}
        """A symbol that is the minimum of a size and a number above 1 -> that size."""
        graph = CallGraph(module) if graph is None else graph
        self._functions = {n: op for n, op in graph.symbols.items() if isinstance(op, FuncOp)}
        # A call substitutes in the results of its callee, which therefore has to be known. In a
        # recursion one function comes before its callee, and the results of that call get new
        # symbols.
        for op in graph.callees_first():
            if isinstance(op, FuncOp):
                self._visit(op)

    @staticmethod
    def of_function(function: FuncOp) -> SymbolicShapes:
        """Return the shapes in a function that calls no other."""
        shapes = SymbolicShapes(ModuleOp([]))
        shapes._visit(function)
        return shapes

    @staticmethod
    def of_operations(ops: Iterable[Operation], given: Mapping[SSAValue, Sizes]) -> SymbolicShapes:
        """Return the shapes of the results of `ops`, one after the other, if values from outside
        have the shapes `given`."""
        shapes = SymbolicShapes(ModuleOp([]))
        shapes._types = {v: symbolic_type(v.type, sizes) for v, sizes in given.items()}
        for op in ops:
            shapes._visit(op)
        return shapes

    # Queries

    def of(self, value: SSAValue) -> Sizes | None:
        """Return the shape of a tensor; None if its rank is unknown or it is not a tensor."""
        if (found := self._shapes.get(value)) is None:
            dimensions = dimensions_in(self.type_of(value))
            if dimensions is None:
                return None
            found = tuple([size for number in dimensions if (size := as_size(number)) is not None])
            if value in self._types:
                self._shapes[value] = found
        return found

    def type_of(self, value: SSAValue) -> Attribute:
        """Return the type of a value; unknown sizes of a tensor have expressions in it."""
        found = self._types.get(value)
        return self._declared(value, None) if found is None else found

    def elements_of(self, value: SSAValue) -> Elements | None:
        """Return the elements of a small integer vector or scalar, None for unknown ones; None if
        no element is known."""
        return self._elements.get(value)

    def results_of(self, function: FuncOp) -> Sequence[KnownSizes]:
        """Return the shapes of the results of `function`, None for what is unknown."""
        return self._results.get(function, [None] * len(function.function_type.outputs))

    def move(self, old: SSAValue, new: SSAValue) -> None:
        """Record that `new` takes the place of `old`."""
        if old in self._types:
            self._types[new] = self._types[old]
        if old in self._elements:
            self._elements[new] = self._elements[old]

    # The walk

    def _visit(self, root: Operation) -> None:
        """Visit the operations in `root` in order; nothing recurses."""
        pending: list[Iterator[Operation] | Operation] = [iter((root,))]
        while pending:
            item = pending.pop()
            if isinstance(item, Operation):
                self._leave(item)
                continue
            for op in item:
                if op.regions and not isinstance(op, ModuleOp):
                    # Regions first, then `op` once more (an Operation, not an iterator): its
                    # results are what the regions yield. Then the rest of the block.
                    pending += (item, op)
                    blocks = [block for region in op.regions for block in region.blocks]
                    self._enter(op, [arg for block in blocks for arg in block.args])
                    pending += map(in_order, reversed(blocks))
                    break
                self._infer(op)

    def _enter(self, op: Operation, arguments: Sequence[BlockArgument]) -> None:
        """Give the arguments of the regions of `op` the sizes of their types and names."""
        attributes = op.arg_attrs if isinstance(op, FuncOp) else None
        for arg in arguments:
            named: KnownSizes = None
            if attributes is not None and arg.owner is op.regions[0].first_block:
                named = _named(attributes.data[arg.index], arg.type)
            self._set(arg, symbolic_type(arg.type, named))

    def _leave(self, op: Operation) -> None:
        """Give the results of an operation with regions the shapes of what the regions yield."""
        if isinstance(op, FuncOp):
            self._results[op] = self._yielded(op, len(op.function_type.outputs))
        elif isinstance(op, IfOp | GraphOp):
            for result, dimensions in zip(op.results, self._yielded(op, len(op.results))):
                self._set(result, symbolic_type(result.type, dimensions))
        else:  # what a loop carries may have another size in each iteration
            for result in op.results:
                self._set(result, None)

    def _yielded(self, op: Operation, number: int) -> Sequence[KnownSizes]:
        """Return the dimensions that all terminators of `op` agree on."""
        ends = [[self.of(value) for value in end.operands] for end in result_terminators(op)]
        if not ends or any(len(end) != number for end in ends):
            return [None] * number
        return [_common(shapes) for shapes in zip(*ends, strict=True)]

    def _infer(self, op: Operation) -> None:
        """Give the results of an operation without regions their shapes and elements."""
        types: Sequence[Attribute] | None = None
        is_unknown = any(static_shape(result.type) is None for result in op.results)
        try:
            if is_unknown:
                types = self._call(op) if isinstance(op, CallOp) else inferred_types(op, self)
            elements = computed_elements(op, self)
        # Products of sums grow without limit, in deep models with many unknown sizes.
        except TooComplex:
            types = elements = None
        for i, result in enumerate(op.results):
            self._set(result, None if types is None else types[i])
        if elements is not None:
            self._elements[op.results[0]] = elements

    def _call(self, op: CallOp) -> Sequence[Attribute] | None:
        """Return the types of the results of a function for the shapes of the arguments; None
        while they are unknown, as in a recursion."""
        callee = self._functions.get(op.callee.string_value())
        if (
            callee is None
            or (results := self._results.get(callee)) is None
            or not callee.body.blocks
        ):
            return None
        found: dict[str, Size | None] = {}
        # `(batch, 2*h)` of the parameter gives `batch`; `2*h` is not solved for `h`, but `h` alone
        # is found elsewhere in the signature.
        for parameter, argument in zip(callee.args, op.operands, strict=False):
            for size, actual in zip(self.of(parameter) or (), self.of(argument) or ()):
                if (symbol := size.lone_symbol) is not None:
                    same = found.setdefault(symbol.name, actual) == actual
                    # Two actual sizes for one name: the call breaks the contract, or they are equal
                    # in a way that is not known. A name that is None stays so.
                    found[symbol.name] = actual if same else None
        known = {name: size for name, size in found.items() if size is not None}

        def in_caller(size: Size | None) -> Size | None:
            if size is None:
                return None
            values = {symbol: value_of(symbol) for symbol in size.symbols()}
            return None if None in values.values() else size.substitute(values.__getitem__)

        def value_of(symbol: Symbol) -> Size | None:
            if (value := known.get(symbol.name)) is not None:
                return value
            parts = [in_caller(part) for part in self._parts.get(Size.symbol(symbol.name), ())]
            sizes = [part for part in parts if part is not None]
            return reduce(self._joined, sizes) if sizes and len(sizes) == len(parts) else None

        rows = [None if row is None else [in_caller(size) for size in row] for row in results]
        return [*map(symbolic_type, op.result_types, rows)]

    def _set(self, value: SSAValue, inferred: Attribute | None) -> None:
        if is_tensor(value.type):
            self._types[value] = self._declared(value, inferred)

    def _declared(self, value: SSAValue, inferred: Attribute | None) -> Attribute:
        """Return the type of `value` with the known sizes of its declared type, with the inferred
        ones where these are unknown, and with new symbols for the rest."""
        type = value.type
        if not is_tensor(type) or static_shape(type) is not None:
            return type
        shape = shape_of(type)
        found = shape_of(inferred) if inferred is not None and is_tensor(inferred) else None
        if shape is None:
            if found is None:
                return type
            shape = (DYNAMIC_INDEX,) * len(found)
        if found is None or len(found) != len(shape):
            found = shape
        sizes = [self._size(*pair) for pair in zip(shape, found, strict=True)]
        if inferred is not None and all(map(is_, sizes, found)):
            return inferred
        return make_tensor_type(type.element_type, tuple(sizes))

    def _size(self, declared: int, inferred: int) -> int:
        if declared not in (DYNAMIC_INDEX, inferred):
            return declared
        is_sure = isinstance(inferred, SymbolicSize) and isinstance(inferred.number, Symbolic)
        if is_sure or inferred != DYNAMIC_INDEX:
            return inferred
        number = inferred.number if isinstance(inferred, SymbolicSize) else None
        if number is not None and (pair := broadcast_sizes(number)) is not None:
            return SymbolicSize(Symbolic(self._joined(*pair)))
        new = self._new()
        match number:
            case Computed("minsi", (Symbolic(size), int(limit))) if limit > 1:
                self._unlimited[new] = size
            case _:
                pass
        return SymbolicSize(Symbolic(new))

    def _new(self) -> Size:
        return Size.symbol(f"?{next(self._numbers)}")

    def _joined(self, a: Size, b: Size) -> Size:
        """Return the size to which two sizes broadcast. If several sizes broadcast, the result does
        not depend on their order, or on how often each of them occurs."""
        # A table of 512 rows, cut to a length, is added to data of this length. The length is at
        # most 512, or the addition fails.
        for size, other in ((a, b), (b, a)):
            if self._unlimited.get(size) == other:
                return other
        rows = [self._parts.get(size, frozenset((size,))) for size in (a, b)]
        parts = rows[0] | rows[1]
        if parts in rows:
            return (a, b)[rows.index(parts)]
        if (size := self._broadcast.get(parts)) is None:
            self._broadcast[parts] = size = self._new()
            self._parts[size] = parts
        return size


def _named(attributes: DictionaryAttr, type: Attribute) -> KnownSizes:
    """Return the sizes that the names of a parameter stand for."""
    if not is_tensor(type) or (shape := shape_of(type)) is None:
        return None
    names = dimension_names_in(attributes, len(shape))
    return [None if name is None else size_of_text(name) for name in names]


def _common(shapes: Sequence[Sizes | None]) -> KnownSizes:
    """Return the dimensions in which shapes agree."""
    first, *others = shapes
    if first is None or any(other is None or len(other) != len(first) for other in others):
        return None
    columns = zip(*(shape for shape in shapes if shape is not None), strict=True)
    return [size if all(other == size for other in rest) else None for size, *rest in columns]


def name_results(function: FuncOp, shapes: SymbolicShapes) -> None:
    """Give the results of `function` the sizes that were found as names. An unknown dimension
    keeps the name that it has."""
    types = function.function_type.outputs.data
    given = function.res_attrs or [DictionaryAttr({})] * len(types)
    attributes: list[DictionaryAttr] = []
    for type, old, found in zip(types, given, shapes.results_of(function), strict=True):
        shape = (shape_of(type) if is_tensor(type) else None) or ()
        sizes = found if found is not None and len(found) == len(shape) else [None] * len(shape)
        rows = zip(shape, dimension_names_in(old, len(shape)), sizes, strict=True)
        names = [_result_name(name, size) if d == DYNAMIC_INDEX else None for d, name, size in rows]
        attributes.append(with_dimension_names(old, names))
    function.res_attrs = ArrayAttr(attributes) if any(a.data for a in attributes) else None


def _result_name(name: str | None, size: Size | None) -> str | None:
    if size is None or (size.known is None and size.text is None):
        return name
    return size.text if size.known is None else None
