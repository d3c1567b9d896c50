"""Types and attributes of builtin, relax and tir, all of which verify."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar, get_args

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AffineSetAttr,
    AnyDenseElement,
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    BytesAttr,
    CallSiteLoc,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FileLineColLoc,
    Float80Type,
    Float128Type,
    FloatAttr,
    FloatData,
    FunctionType,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NameLoc,
    NoneAttr,
    NoneType,
    OpaqueAttr,
    RankedStructure,
    Signedness,
    SignednessAttr,
    StridedLayoutAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    UnitAttr,
    UnknownLoc,
    UnrankedMemRefType,
    UnrankedTensorType,
    UnregisteredAttr,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.ir.affine import (
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineExpr,
    AffineMap,
    AffineSet,
)

from passline.dialects.relax.device import DEVICE_TYPES, DeviceAttr
from passline.dialects.tir.loops import ForKind, ForKindAttr
from passline.passmanager.fast.reading.builtin_types import defect_of_type
from passline.passmanager.registry import make_ir_context
from passline.passmanager.releases.floats import PACKS_BF16

__all__ = ["attributes", "context", "locations", "names", "types"]

Unregistered = TypeVar("Unregistered", bound=Attribute)
Packed: TypeAlias = IntegerType | IndexType | AnyFloat

context = make_ir_context(allow_unregistered=True)
"""The context in which the text of these types and attributes is to be parsed: it has the classes
of those that are not registered.
"""

names = st.one_of(
    st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_$.]{0,5}", fullmatch=True),
    st.sampled_from(
        ["dense", "loc", "i32", "x", "unit", "none", "true", "für", "", '"', "\\", "0"]
    ),
    st.text(max_size=4),
)
"""Names of symbols and keys of dictionaries: any text."""

integers = st.one_of(st.integers(), st.integers(-3, 3), st.sampled_from([2**63, -(2**63), 2**200]))

signedness = st.sampled_from([*Signedness])
integer_types = st.builds(
    IntegerType, st.sampled_from([1, 2, 4, 7, 8, 9, 16, 31, 32, 33, 64, 65, 128, 0]), signedness
)
packed_integer_types = integer_types.filter(lambda type: 0 < type.bitwidth <= 64)
packed_float_types: SearchStrategy[AnyFloat] = st.sampled_from(
    [
        cls()
        for cls in get_args(AnyFloat)
        if cls not in (Float80Type, Float128Type) and (PACKS_BF16 or cls is not BFloat16Type)
    ]
)
float_types: SearchStrategy[AnyFloat] = st.one_of(
    packed_float_types, st.sampled_from([Float80Type(), Float128Type()])
)
complex_types: SearchStrategy[TypeAttribute] = st.builds(
    ComplexType, st.one_of(integer_types, float_types)
)
scalar_types: SearchStrategy[TypeAttribute] = st.one_of(
    integer_types, float_types, st.just(IndexType()), complex_types
)
dense_element_types: SearchStrategy[Packed] = st.one_of(
    packed_integer_types, packed_float_types, st.just(IndexType())
)

dimensions = st.one_of(st.integers(0, 4), st.just(2**40))
shapes = st.lists(st.one_of(dimensions, st.just(DYNAMIC_INDEX)), max_size=3)


@st.composite
def affine_exprs(draw: DrawFn, dims: int, symbols: int, depth: int = 3) -> AffineExpr:
    """Affine expressions over `dims` dimensions and `symbols` symbols, not simplified."""
    leaves = [st.integers(-3, 3).map(AffineExpr.constant), st.just(AffineExpr.constant(2**62))]
    if dims:
        leaves.append(st.integers(0, dims - 1).map(AffineExpr.dimension))
    if symbols:
        leaves.append(st.integers(0, symbols - 1).map(AffineExpr.symbol))
    if depth == 0 or draw(st.booleans()):
        return draw(st.one_of(leaves))
    left, right = (draw(affine_exprs(dims, symbols, depth - 1)) for _ in range(2))
    kind = draw(st.sampled_from(["+", "-", "*", "neg", "floordiv", "ceildiv", "mod"]))
    match kind:
        case "+":
            return left + right
        case "-":
            return left - right
        case "neg":
            return -left
        case "*":
            return left * draw(st.integers(-3, 3))
        case "floordiv":
            return left // draw(st.integers(1, 4))
        case "ceildiv":
            return left.ceil_div(draw(st.integers(1, 4)))
        case _:
            return left % draw(st.integers(1, 4))


@st.composite
def affine_maps(draw: DrawFn) -> AffineMap:
    """Affine maps of up to two dimensions, symbols and results."""
    dims, symbols = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    results = draw(st.lists(affine_exprs(dims, symbols), max_size=2))
    return AffineMap(dims, symbols, tuple(results))


@st.composite
def affine_sets(draw: DrawFn) -> AffineSet:
    """Affine sets of one or two constraints."""
    dims, symbols = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    kinds = st.sampled_from([*AffineConstraintKind])
    sides = affine_exprs(dims, symbols)
    constraints = st.builds(AffineConstraintExpr, kinds, sides, sides)
    return AffineSet(dims, symbols, tuple(draw(st.lists(constraints, min_size=1, max_size=2))))


strides = st.lists(st.one_of(st.integers(-3, 5), st.none()), max_size=3)
layouts = st.one_of(
    st.builds(StridedLayoutAttr, strides, st.one_of(st.integers(-2, 5), st.none())),
    st.builds(AffineMapAttr, affine_maps()),
)

bodies = st.recursive(
    st.sampled_from(["", "1", "a b", '"x>"', "->", "3 : i32", '"\\22"', "%a, !b.c<d>", "é"]),
    lambda inner: st.one_of(
        inner.map(lambda text: f"<{text}>"),
        inner.map(lambda text: f"[{text}, ({text})]"),
        inner.map(lambda text: f"{{{text}}}"),
    ),
    max_leaves=3,
)


def unregistered_attribute(name: str, is_opaque: bool, body: str) -> Attribute:
    """Return an attribute of a dialect that nobody knows."""
    of_name = context.get_attr(name)
    assert issubclass(of_name, UnregisteredAttr)
    return of_name(name, False, is_opaque, body)


def unregistered_type(name: str, is_opaque: bool, body: str) -> TypeAttribute:
    """Return a type of a dialect that nobody knows."""
    of_name = context.get_type(name)
    assert issubclass(of_name, UnregisteredAttr)
    type = of_name(name, True, is_opaque, body)
    assert isinstance(type, TypeAttribute)
    return type


def unregistered(make: Callable[[str, bool, str], Unregistered]) -> SearchStrategy[Unregistered]:
    """Types or attributes of dialects that nobody knows."""

    # After `#nobody<x` a letter or a digit would be a part of the name.
    names = st.sampled_from(["nobody.x", "no_one.a.b"])
    delimited = bodies.filter(lambda body: body[:1] in "<[{")
    return st.one_of(
        st.builds(make, names, st.just(False), bodies),
        st.builds(make, names, st.just(True), delimited),
    )


def vector_type(element: TypeAttribute, dims: Sequence[tuple[int, bool]]) -> VectorType:
    """Return the type of vectors with these dimensions, each scalable or not."""
    scalable = ArrayAttr(IntegerAttr.from_bool(dim[1]) for dim in dims)
    return VectorType(element, [dim[0] for dim in dims], scalable)


def _composite_types(inner: SearchStrategy[TypeAttribute]) -> SearchStrategy[TypeAttribute]:
    lists = st.lists(inner, max_size=3)
    sizes = st.tuples(st.integers(1, 4), st.booleans())
    memory_spaces = st.one_of(st.just(NoneAttr()), _leaf_attributes)
    types = st.one_of(
        st.builds(FunctionType.from_lists, lists, lists),
        st.builds(FunctionType.from_lists, lists, inner.map(lambda output: [output])),
        st.builds(TupleType, lists.map(tuple)),
        st.builds(vector_type, scalar_types, st.lists(sizes, max_size=3)),
        st.builds(TensorType, inner, shapes, st.one_of(st.just(NoneAttr()), _leaf_attributes)),
        st.builds(UnrankedTensorType, inner),
        st.builds(
            MemRefType, inner, shapes, st.one_of(st.just(NoneAttr()), layouts), memory_spaces
        ),
        st.builds(UnrankedMemRefType, inner, memory_spaces),
    )
    return types.filter(lambda type: defect_of_type(type) is None)


@st.composite
def integer_attributes(draw: DrawFn) -> IntegerAttr:
    """Integers of any width and of index, often at the ends of their range."""
    type = draw(st.one_of(integer_types, st.just(IndexType())))
    if isinstance(type, IndexType):
        return IntegerAttr(draw(integers), type)
    low, high = type.value_range()
    if low >= high:  # the type has no value
        return IntegerAttr(draw(integers), IndexType())
    values = st.one_of(st.integers(low, high - 1), st.sampled_from([low, high - 1]))
    return IntegerAttr(draw(values), type)


@st.composite
def float_attributes(draw: DrawFn) -> FloatAttr:
    """Floats of any type: every bit pattern of those that have one in xDSL."""
    type = draw(float_types)
    if isinstance(type, Float80Type | Float128Type):
        return FloatAttr(draw(st.floats(allow_nan=False, allow_infinity=False)), type)
    size = type.compile_time_size
    return FloatAttr(type.unpack(draw(st.binary(min_size=size, max_size=size)), 1)[0], type)


@st.composite
def element_bytes(draw: DrawFn, type: Packed, count: int) -> bytes:
    """The bytes of `count` elements of a type that xDSL packs, each a value of the type."""
    if isinstance(type, IntegerType):
        low, high = type.value_range()
        one = st.integers(low, high - 1).map(lambda value: type.get_normalized_value(value))
        values = draw(st.lists(one, min_size=count, max_size=count))
        if draw(st.booleans()):
            values = values[:1] * count
        return type.pack(values)
    size = type.compile_time_size
    one = st.binary(min_size=size, max_size=size)
    if isinstance(type, AnyFloat):  # the bits that a value of the type has
        one = one.map(lambda data: type.pack(type.unpack(data, 1)))
    parts = draw(st.lists(one, min_size=count, max_size=count))
    if draw(st.booleans()):
        parts = parts[:1] * count
    return b"".join(parts)


@st.composite
def dense_attributes(draw: DrawFn) -> DenseIntOrFPElementsAttr:
    """Dense constants of all element types, empty ones, splats and long ones among them."""
    part = draw(dense_element_types)
    kind = draw(st.sampled_from(["tensor", "vector", "memref"]))
    smallest = 1 if kind == "vector" else 0
    shape = draw(st.lists(st.integers(smallest, 3), max_size=3))
    if draw(st.integers(0, 9)) == 0:
        shape = [101]  # xDSL prints these as one string
    element = part
    if not isinstance(part, IndexType) and draw(st.booleans()):
        element = ComplexType(part)
    count = math.prod(shape) * (2 if isinstance(element, ComplexType) else 1)
    data = draw(element_bytes(part, count))
    return DenseIntOrFPElementsAttr(_shaped(kind, element, shape), BytesAttr(data))


def _shaped(
    kind: str, element: Packed | ComplexType[IntegerType | AnyFloat], shape: Sequence[int]
) -> RankedStructure[AnyDenseElement]:
    match kind:
        case "tensor":
            return TensorType(element, shape)
        case "memref":
            return MemRefType(element, shape)
        case _:
            return VectorType(element, shape)


@st.composite
def array_constants(draw: DrawFn) -> DenseArrayBase:
    """Values of `array<...>`."""
    whole = packed_integer_types.filter(lambda type: type == i1 or type.width.data % 8 == 0)
    types = st.one_of(whole, packed_float_types)
    type = draw(types.filter(lambda type: type.size == type.compile_time_size))
    return DenseArrayBase(type, BytesAttr(draw(element_bytes(type, draw(st.integers(0, 3))))))


def _locations(inner: SearchStrategy[Attribute]) -> SearchStrategy[Attribute]:
    return st.one_of(
        st.builds(CallSiteLoc, inner, inner),
        st.builds(NameLoc, st.builds(StringAttr, names), st.one_of(inner, st.just(NoneAttr()))),
        st.builds(FusedLoc, st.lists(inner, max_size=3).map(tuple), st.just(NoneAttr())),
    )


places = st.builds(IntAttr, st.one_of(st.integers(0, 100), st.just(2**40)))
locations: SearchStrategy[Attribute] = st.recursive(
    st.one_of(
        st.just(UnknownLoc()), st.builds(FileLineColLoc, names.map(StringAttr), places, places)
    ),
    _locations,
    max_leaves=3,
)
"""Source locations."""


def _is_no_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


_leaf_attributes: SearchStrategy[Attribute] = st.one_of(
    integer_attributes(),
    float_attributes(),
    st.just(UnitAttr()),
    st.builds(StringAttr, st.text(max_size=5)),
    # Bytes that are text are printed as text.
    st.builds(BytesAttr, st.binary(max_size=4).filter(_is_no_text)),
    st.builds(SymbolRefAttr, names, st.lists(names, max_size=2)),
    st.builds(IntAttr, integers),
    st.builds(SignednessAttr, signedness),
    st.builds(FloatData, st.floats()),
    st.builds(DeviceAttr, st.sampled_from(["", *DEVICE_TYPES]), st.integers(0, 3), names),
    st.builds(ForKindAttr, st.sampled_from([*ForKind])),
    unregistered(unregistered_attribute),
)

_leaf_types: SearchStrategy[TypeAttribute] = st.one_of(
    scalar_types, st.just(NoneType()), unregistered(unregistered_type)
)
types: SearchStrategy[TypeAttribute] = st.recursive(
    _leaf_types,
    _composite_types,
    max_leaves=6,
)
"""All types of builtin, and types that nobody knows."""

_opaque = st.builds(OpaqueAttr.from_strings, st.text(max_size=3), st.text(max_size=3), types)


def _collections(inner: SearchStrategy[Attribute]) -> SearchStrategy[Attribute]:
    arrays: SearchStrategy[Attribute] = st.builds(ArrayAttr, st.lists(inner, max_size=3))
    return st.one_of(arrays, st.builds(DictionaryAttr, st.dictionaries(names, inner, max_size=3)))


attributes: SearchStrategy[Attribute] = st.recursive(
    st.one_of(
        _leaf_attributes,
        dense_attributes(),
        array_constants(),
        layouts,
        st.builds(AffineSetAttr, affine_sets()),
        _opaque,
        locations,
        types,
    ),
    _collections,
    max_leaves=4,
)
"""All attributes of builtin, relax and tir, and attributes that nobody knows."""
