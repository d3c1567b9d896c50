"""Seeded arguments for functions: ordinary numbers, special values, extreme integers, and
several sizes for unknown dimensions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite
from typing import Literal, TypeAlias

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ContainerType,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    ShapedType,
    TupleType,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.traits import ConstantLike
from xdsl.utils.hints import isa
from xdsl.utils.type import get_element_type_or_self

from ....dialects.relax.constant import is_dense
from ....dialects.relax.types import Element, is_number
from ....passmanager.errors import PasslineError
from ....passmanager.ir.walk import walk
from ..arrays import Array, array_of, bounds, dtype_of, fit, float_limits
from ..signature import Function, Value, argument_names, input_types, is_buffer

# The sizes of unknown dimensions for which functions are checked.
#
# A transformation is wrong for some sizes and right for others where it tiles, vectorizes or
# splits: at the ends of the tiles, which are constants in the IR, and most often powers of two.


POWERS = (0, 1, 2, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65)
"""The sizes around powers of two."""
MAX_CONSTANT = 4096
"""The maximum of the constants around which sizes are chosen."""
MAX_SIZES = 24
"""The most sizes for the constants of one function, in ascending order."""


def sizes_for(func: Operation) -> Sequence[int]:
    """Return the sizes for a function: around powers of two, and around its constants."""
    return [*dict.fromkeys((*POWERS, *sizes_around_constants(func)))]


def sizes_around_constants(func: Operation) -> Sequence[int]:
    """Return the constants of a function with their neighbours: integers, also in attributes such
    as the sizes of tiles, and static dimensions."""
    constants: set[int] = set()
    for op in walk(func):
        for attribute in (*op.properties.values(), *op.attributes.values()):
            constants.update(_integers(attribute))
        for result in op.results:
            if isinstance(type := result.type, ShapedType):
                constants.update(type.get_shape())
    near = {n for c in constants if 1 < c <= MAX_CONSTANT for n in (c - 1, c, c + 1)}
    return sorted(near - {*POWERS})[:MAX_SIZES]


def _integers(attribute: Attribute) -> Iterator[int]:
    if isinstance(attribute, IntegerAttr):
        yield attribute.value.data
    elif isa(attribute, DenseArrayBase[IntegerType]):
        yield from attribute.get_values()


# The numbers among the constants of functions, and their neighbours: a function may compare its
# arguments with them.


Number: TypeAlias = int | float
INDEX = IndexType()
MAX_NUMBERS = 16
"""The most numbers of the constants of one function."""
MAX_ELEMENTS = 16
"""The most elements of a constant whose numbers are taken: a larger one is a weight."""


def numbers_in(ops: Iterable[Operation]) -> Sequence[Number]:
    """Return the numbers of constants and of properties in `ops`, except for -1, 0 and 1, and for
    the sizes that are chosen for unknown dimensions and indices anyway."""
    found = (n for op in ops for inner in walk(op) for n in _numbers_of(inner))
    different = dict.fromkeys(n for n in found if isfinite(n) and n not in (-1, 0, 1))
    return [*islice(different, MAX_NUMBERS)]


def _numbers_of(op: Operation) -> Iterable[Number]:
    if op.results and (constant := ConstantLike.get_constant_value(op.results[0])) is not None:
        return _numbers(constant)
    return [a.value.data for a in op.properties.values() if isinstance(a, FloatAttr)]


def _numbers(attribute: Attribute) -> Iterable[Number]:
    if isinstance(attribute, IntegerAttr | FloatAttr):
        number = attribute.value.data
        return () if number <= MAX_CONSTANT and INDEX in attribute.parameters else [number]
    if not is_dense(attribute) or len(attribute) > MAX_ELEMENTS:
        return ()
    if not is_number(element := attribute.get_element_type()):
        return ()  # sizes, for example
    convert = int if isinstance(element, IntegerType) else float
    return [convert(n) for n in array_of(attribute).ravel()]


def integers_around(element: IntegerType, numbers: Sequence[Number]) -> Array:
    """Return the integers among `numbers` with their neighbours, as far as the type has them."""
    low, high = map(int, bounds(element))
    whole = [int(n) for n in numbers if n == int(n)]
    near = dict.fromkeys(n + step for n in whole for step in (0, -1, 1))
    return np.array([n for n in near if low <= n <= high], dtype_of(element))


def floats_around(element: Element, numbers: Sequence[Number]) -> Array:
    """Return `numbers` with their neighbours, as far as the type has them."""
    limits = float_limits(element)
    near = [float(n) * (1 + step * limits.epsilon) for n in numbers for step in (0, -1, 1)]
    return fit(np.array([n for n in near if abs(n) <= limits.maximum], np.float64), element)


Numbers: TypeAlias = Literal["ordinary", "edge", "special", "large", "constant"]


@dataclass(frozen=True)
class Recipe:
    """A way to choose the arguments of a function.

    Floats are `ordinary` (mean 0, variance 1). Some of them may instead be `special` (NaN,
    infinities, -0.0, ...), at the `edge` of the range (denormals, the maximum), or `large`:
    products of large ones with the constants of the function are about the maximum. Integers are
    uniform from 0 to below `limit`; if `extreme`, the extreme ones of their type are among them. If
    `constant`, floats, integers and indices are among `constants` and their neighbours. An unknown
    dimension has the size `size`; if `distinct`, each is one greater than the one before. An
    `index` is a size or a position and may not overflow: it is `size`, or if `extreme`, any number
    below `limit`.
    """

    seed: int = 0
    numbers: Numbers = "ordinary"
    limit: int = 10
    extreme: bool = False
    size: int = 3
    distinct: bool = False
    turn: int = 0
    """A small array has no place for all special values: it gets others in each turn."""
    constants: tuple[Number, ...] = ()
    every_other: bool = False
    """Whether every other parameter has ordinary numbers, so that special values meet ordinary
    ones."""

    @property
    def text(self) -> str:
        """The recipe in words."""
        integers = "extreme integers" if self.extreme else f"integers below {self.limit}"
        if self.numbers == "constant":
            integers = "integers around constants"
        sizes = f"unknown sizes from {self.size}" if self.distinct else f"unknown sizes {self.size}"
        return f"seed {self.seed}: {self.numbers} floats, {integers}, {sizes}"


LIMITS = (10, 4, 2, 1)
SIZES = (3, 4, 1, 2, 8)
MAX_VARIATIONS = 8
"""The most inputs of one kind for one seed."""
MAX_AROUND_CONSTANTS = 48
"""The most inputs with numbers around constants for one seed."""


def probes(func: Function, seed: int) -> Iterator[Recipe]:
    """Yield recipes for ordinary arguments; the first one that `func` accepts is to be used.

    Integers may be indices, and unknown dimensions may have to be equal, or to differ.
    """
    types = [*leaves(input_types(func))]
    limits = LIMITS if any(map(has_integers, types)) else LIMITS[:1]
    sizes = SIZES if any(map(is_open, types)) else SIZES[:1]
    for distinct in (False, True) if sum(map(unknown_sizes, types)) > 1 else (False,):
        for size in sizes:
            for limit in limits:
                yield Recipe(seed, limit=limit, size=size, distinct=distinct)


def variations(func: Function, base: Recipe) -> Iterator[Recipe]:
    """Yield further recipes: special values, extreme integers, other sizes, the empty tensor.

    The smaller the arguments are, the more inputs of one kind there are, so that each special value
    occurs in each parameter.
    """
    types = [*leaves(input_types(func))]
    floats, integers = any(map(has_floats, types)), any(map(has_integers, types))
    sizes = [element_count(type, base) for type in types]
    smallest = min((size for size in sizes if size), default=1)
    count = min(MAX_VARIATIONS, -(-len(SPECIAL) // smallest))
    if floats:
        yield replace(base, numbers="edge")
        yield replace(base, numbers="special")
        yield replace(base, numbers="large")
    if integers:
        yield replace(base, extreme=True)
    if any(map(unknown_sizes, types)):
        for size in (0, 1):
            yield replace(base, size=size, distinct=False)
            yield replace(base, size=size, distinct=False, numbers="special")
        yield replace(base, distinct=not base.distinct)
    if any(map(is_open, types)):
        for size in sizes_for(func):
            if size not in (0, 1, base.size):
                yield replace(base, size=size, distinct=False)
    for turn in range(count):
        for every_other in (False, True) if turn else (True,):
            again = replace(base, turn=turn, every_other=every_other)
            if floats:
                yield replace(again, numbers="special")
                yield replace(again, numbers="edge")
                yield replace(again, numbers="large")
            if integers:
                yield replace(again, numbers="special" if floats else "ordinary", extreme=True)


def around_constants(func: Function, base: Recipe, numbers: Sequence[Number]) -> Iterator[Recipe]:
    """Yield recipes for numbers around constants, until each parameter has had each number."""
    types = [
        t
        for t in leaves(input_types(func))
        if is_number(get_element_type_or_self(t)) or is_index(t)
    ]
    sizes = [element_count(type, base) for type in types]
    smallest = min((size for size in sizes if size), default=0)
    count = -(-3 * len(numbers) // smallest) if smallest else 0
    for turn in range(min(MAX_AROUND_CONSTANTS, count)):
        yield replace(base, numbers="constant", constants=(*numbers,), turn=turn)


def elements_in(func: Function, recipe: Recipe) -> int:
    """Return the number of elements of the arguments."""
    return sum(element_count(type, recipe) for type in leaves(input_types(func)))


def generate(func: Function, recipe: Recipe) -> tuple[Value, ...]:
    """Return arguments for `func`; PasslineError if a parameter has a type that is not a number, or
    a tensor, buffer or tuple of numbers."""
    maker = _Maker(recipe, constants_of(func) if recipe.numbers == "large" else ())
    pairs = zip(argument_names(func), input_types(func), strict=True)
    return tuple(maker.value(name, type) for name, type in pairs)


class _Maker:
    """A builder of the arguments of one call, with the random numbers and sizes chosen so far."""

    def __init__(self, recipe: Recipe, constants: Sequence[float]) -> None:
        self._recipe = recipe
        self._constants = constants
        numbers = ("ordinary", "edge", "special", "large", "constant").index(recipe.numbers)
        kind = (recipe.seed, numbers, recipe.extreme, recipe.size, recipe.turn)
        self._rng = np.random.default_rng(kind)
        self._unknown = 0
        self._mixed = 0

    def value(self, name: str, type: Attribute) -> Value:
        if isinstance(type, TupleType):
            return tuple(self.value(f"{name}.{i}", t) for i, t in enumerate(type.types.data))
        shape = [self._size(d) for d in shape_of(type)]
        element = get_element_type_or_self(type)
        if isinstance(element, IndexType):
            return self._indices(shape)
        unranked = isinstance(type, ContainerType) and not isinstance(type, ShapedType)
        if not is_number(element) or unranked or not has_plain_layout(type):
            raise PasslineError(f"there are no values for parameter '{name}' of type {type}")
        if isinstance(element, IntegerType):
            return self._integers(element, shape)
        return self._floats(element, shape)

    def _size(self, size: int) -> int:
        if size != DYNAMIC_INDEX:
            return size
        self._unknown += 1
        return self._recipe.size + (self._unknown - 1 if self._recipe.distinct else 0)

    def _indices(self, shape: Sequence[int]) -> Array:
        """Return sizes and positions, all of them equal unless they are extreme."""
        recipe = self._recipe
        if recipe.extreme:
            return np.asarray(self._rng.integers(0, recipe.limit, shape))
        near = integers_around(i64, recipe.constants)
        near = near[near > MAX_CONSTANT]
        size = near[recipe.turn % len(near)] if near.size else recipe.size
        return np.full(shape, size, np.int64)

    def _integers(self, element: IntegerType, shape: Sequence[int]) -> Array:
        low, high = map(int, bounds(element))
        ordinary = self._rng.integers(0, min(self._recipe.limit - 1, high), shape, endpoint=True)
        dtype = dtype_of(element)
        if (near := integers_around(element, self._recipe.constants)).size:
            return self._mix(np.asarray(ordinary).astype(dtype), near)
        if not self._recipe.extreme:
            return fit(np.asarray(ordinary), element)
        specials = np.array([low, high, low + 1, high - 1, max(low, -1), 0, 1], dtype)
        return self._mix(np.asarray(ordinary).astype(dtype), specials)

    def _floats(self, element: Element, shape: Sequence[int]) -> Array:
        ordinary = fit(np.asarray(self._rng.standard_normal(shape)), element)
        if self._recipe.numbers == "ordinary":
            return ordinary
        if self._recipe.numbers == "constant":
            near = floats_around(element, self._recipe.constants)
            return self._mix(ordinary, near) if near.size else ordinary
        if self._recipe.numbers == "large":
            return self._mix(ordinary, fit(large_numbers(element, self._constants), element))
        specials = SPECIAL if self._recipe.numbers == "special" else edge_numbers(element)
        return self._mix(ordinary, fit(np.array(specials), element))

    def _mix(self, ordinary: Array, specials: Array) -> Array:
        """Replace about half of the elements, all of a small array, by special ones, each as often
        as the others."""
        self._mixed += 1
        if self._recipe.every_other and (self._mixed + self._recipe.turn) % 2:
            return ordinary
        # The same order in all turns, another one for each parameter.
        order = np.random.default_rng((self._recipe.seed, self._mixed)).permutation(specials)
        size, mixed = ordinary.size, ordinary.ravel()
        count = min(size, max(len(order), size // 2))
        places = self._rng.permutation(size)[:count]
        mixed[places] = order[(self._recipe.turn * size + np.arange(count)) % len(order)]
        return mixed.reshape(ordinary.shape)


SPECIAL = (0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, -1.0, 0.5)
"""Numbers for which operations have rules of their own."""


def edge_numbers(element: Element) -> Sequence[float]:
    """Return finite numbers at the edges of the range of an element type."""
    limits = float_limits(element)
    return [
        *(0.0, -0.0, limits.denormal, -limits.denormal),
        *(limits.normal / 2, -limits.normal, limits.maximum, -limits.maximum),
    ]


MAX_CONSTANTS = 3
"""The most constants of a function for which there are large numbers."""


def constants_of(func: Function) -> Sequence[float]:
    """Return the largest magnitudes above 1 of the constants of `func`, a few different ones."""
    found: set[float] = set()
    for op in walk(func):
        if attribute := ConstantLike.get_constant_value(op.results[0]) if op.results else None:
            found |= {_magnitude(attribute)}
    return sorted((c for c in found if c > 1), reverse=True)[:MAX_CONSTANTS]


def _magnitude(attribute: Attribute) -> float:
    """Return the maximum of the finite magnitudes in a constant of floats, or 0."""
    if isinstance(attribute, FloatAttr):
        numbers = np.abs(np.array([attribute.value.data]))
    elif is_dense(attribute) and not isinstance(attribute.get_element_type(), IntegerType):
        numbers = np.abs(array_of(attribute).astype(np.float64))
    else:
        return 0.0
    return float(numbers.max(initial=0, where=np.isfinite(numbers)))


def large_numbers(element: Element, constants: Sequence[float]) -> Array:
    """Return numbers whose products with constants are a little above the maximum of the type, and
    a quarter of the maximum; positive and negative ones."""
    maximum = float_limits(element).maximum
    numbers = np.array([*(maximum / c * 1.05 for c in constants if c > 1.05), maximum / 4])
    return np.concatenate([numbers, -numbers])


# Types


def leaves(types: Sequence[Attribute]) -> Iterator[Attribute]:
    """Yield the types of the values that tuples are made of."""
    for type in types:
        if isinstance(type, TupleType):
            yield from leaves(type.types.data)
        else:
            yield type


def shape_of(type: Attribute) -> tuple[int, ...]:
    """Return the sizes of a tensor or buffer, none for another type."""
    return tuple(type.get_shape()) if isinstance(type, ShapedType) else ()


def has_plain_layout(type: Attribute) -> bool:
    """Return whether the elements of a buffer are contiguous, in row-major order."""
    return not is_buffer(type) or isinstance(type.layout, NoneAttr)


def unknown_sizes(type: Attribute) -> int:
    """Return the number of unknown dimensions."""
    return shape_of(type).count(DYNAMIC_INDEX)


def is_open(type: Attribute) -> bool:
    """Return whether a value of `type` depends on `Recipe.size`."""
    return unknown_sizes(type) > 0 or is_index(type)


def is_index(type: Attribute) -> bool:
    """Return whether a value of `type` consists of indices."""
    return isinstance(get_element_type_or_self(type), IndexType)


def has_integers(type: Attribute) -> bool:
    """Return whether a value of `type` depends on `Recipe.limit`."""
    element = get_element_type_or_self(type)
    wide = isinstance(element, IntegerType) and element.bitwidth > 1
    return wide or isinstance(element, IndexType)


def has_floats(type: Attribute) -> bool:
    """Return whether values of `type` hold floats."""
    element = get_element_type_or_self(type)
    return is_number(element) and not isinstance(element, IntegerType)


def element_count(type: Attribute, recipe: Recipe) -> int:
    """Return the number of elements that a value of `type` has."""
    return math.prod(recipe.size if d == DYNAMIC_INDEX else d for d in shape_of(type))
