"""Tensors as numpy arrays: element types, rounding and wrapping, constants.

An element type is the numpy dtype of the same kind and width. bf16 and the floats of 4 and 8 bits
are float32, rounded after each operation; i1 is bool; an integer of another width is the next wider
dtype, wrapped after each operation. Integers wrap around, as in numpy and C; signless integers
other than i1 are signed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    BFloat16Type,
    BytesAttr,
    ContainerType,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    i1,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from ...dialects.relax.constant import Number
from ...dialects.relax.types import Element, SmallFloat, bounds, is_element, is_unsigned
from ...passmanager.context import PassContext
from ...passmanager.fast.creation import make_attribute
from ...passmanager.limits import too_many_elements

__all__ = [
    "Array",
    "FloatLimits",
    "NarrowFloat",
    "array_of",
    "bounds",
    "check_size",
    "codes_of",
    "dense_of",
    "dtype_of",
    "element_of",
    "fit",
    "float_limits",
    "is_bool",
    "largest_of",
    "mean_of",
    "number_of",
    "numbers_of",
    "round_bf16",
    "round_small",
    "scalar_of",
    "stored_dtype",
    "widen",
    "widen_bf16",
]


# Floats of 4 and 8 bits as f32, which holds them all: their numbers by code, and rounding to them.


Array: TypeAlias = NDArray[Any]
Numbers = NDArray[np.float32]
Codes = NDArray[np.uint8]


class Format(NamedTuple):
    """The numbers of a type."""

    decoded: Numbers
    """The number of each code."""
    magnitudes: NDArray[np.float64]
    """The finite numbers that are not negative, in the order of their codes."""
    middles: NDArray[np.float64]
    """The limits between a magnitude and the next; the last one is that of overflow."""
    overflow: float
    """The result for numbers beyond the largest magnitude: infinity, NaN, or that magnitude."""
    signed: bool
    negative_zero: bool


@cache
def format_of(element: SmallFloat) -> Format:
    """Return the numbers of a type, as xDSL decodes its codes."""
    count = 1 << element.bitwidth
    decoded = np.array(element.unpack(bytes(range(count)), count), np.float32)
    signed = bool((decoded < 0).any())
    half = decoded[: count // 2] if signed else decoded
    finite = half[np.isfinite(half)].astype(np.float64)
    following = np.append(finite[1:], 2 * finite[-1] - finite[-2])
    if not signed:  # powers of two
        following[-1] = 2 * finite[-1]
    overflow = float("inf") if np.isinf(half).any() else float("nan")
    if not np.isnan(decoded).any():
        overflow = float(finite[-1])
    zeros = np.signbit(decoded[decoded == 0])
    return Format(decoded, finite, (finite + following) / 2, overflow, signed, bool(zeros.any()))


def largest_of(element: SmallFloat) -> float:
    """Return the largest finite number of a type."""
    return float(format_of(element).magnitudes[-1])


NarrowFloat: TypeAlias = BFloat16Type | SmallFloat
"""The floats that numpy lacks."""


def numbers_of(codes: Array, element: NarrowFloat) -> Numbers:
    """Return the numbers with these codes, which are the bits in bf16."""
    if isinstance(element, BFloat16Type):
        return widen_bf16(codes)
    return format_of(element).decoded[codes]


def round_small(array: NDArray[np.generic], element: SmallFloat) -> Numbers:
    """Return numbers rounded to a type: to nearest, of a tie to the even code, or to the greater
    power of two.

    Beyond the largest number they become infinite, NaN in a type without infinities, and the
    largest number in one without NaN, where NaN becomes -0.
    """
    codes = codes_of(array, element)
    return format_of(element).decoded[codes]


def codes_of(array: Array, element: NarrowFloat) -> Array:
    """Return the codes of numbers, rounded as in `round_small`; of bf16 the bits of f32 rounded as
    in `round_bf16`."""
    if isinstance(element, BFloat16Type):
        return round_bf16(array)
    format_ = format_of(element)
    x = array.astype(np.float64)
    size = np.abs(x)
    index = np.searchsorted(format_.middles, size)  # of a tie the lower neighbor
    last = len(format_.magnitudes) - 1
    tie = (index <= last) & (size == format_.middles[np.minimum(index, last)])
    index = index + (tie & ((index % 2 == 1) | (not format_.signed)))
    beyond = index > last
    code = np.minimum(index, last).astype(np.int64)
    return _with_special(format_, code, x, beyond, element.bitwidth)


def _with_special(
    format_: Format,
    code: NDArray[np.int64],
    x: NDArray[np.float64],
    beyond: NDArray[np.bool_],
    width: int,
) -> Codes:
    """Return codes with their sign, and those of infinities and NaN."""
    lost = np.isnan(x) | (beyond & np.isnan(format_.overflow))
    if format_.signed:
        negative = np.signbit(x) & (format_.negative_zero | (code != 0))
        if np.isinf(format_.overflow):
            code = np.where(beyond, len(format_.magnitudes), code)
        code = code + (negative << (width - 1))
    else:
        lost = lost | (x < 0)
    nans = np.flatnonzero(np.isnan(format_.decoded))
    if nans.size:
        return np.where(lost, nans[0], code).astype(np.uint8)
    return np.where(np.isnan(x), 1 << (width - 1), code).astype(np.uint8)  # -0, as ml_dtypes


_UI1 = IntegerType(1, Signedness.UNSIGNED)


# Element types


def element_of(type: ContainerType[Attribute]) -> Element:
    """Return the element type of a tensor type; InterpretationError if numpy cannot hold it."""
    element = type.get_element_type()
    if not is_element(element):
        raise InterpretationError(f"element type {element} has no numpy semantics")
    return element


@cache
def dtype_of(element: Element) -> np.dtype[np.generic]:
    """Return the dtype of the arrays that hold elements of this type."""
    if is_bool(element):
        return np.dtype(np.bool_)
    return np.dtype(np.float32) if isinstance(element, NarrowFloat) else stored_dtype(element)


@cache
def stored_dtype(element: Element) -> np.dtype[np.generic]:
    """Return the dtype of the bytes of a constant: xDSL pads integers to 1, 2, 4 or 8 bytes."""
    if isinstance(element, SmallFloat):
        return np.dtype(np.uint8)
    match element:
        case IntegerType():
            kind = "u" if is_unsigned(element) else "i"
            return np.dtype(f"<{kind}{element.compile_time_size}")
        case BFloat16Type():
            return np.dtype("<u2")
        case Float16Type() | Float32Type() | Float64Type():
            return np.dtype(f"<f{element.compile_time_size}")


def is_bool(element: Element) -> bool:
    """Return whether the values are false and true: for i1 and ui1; si1 has the values 0 and -1."""
    return isinstance(element, IntegerType) and element in (i1, _UI1)


class FloatLimits(NamedTuple):
    """The limits of a type of floats."""

    denormal: float
    """The minimum of the positive numbers."""
    normal: float
    """The minimum of the positive normal numbers."""
    maximum: float
    """The maximum of the finite numbers."""
    epsilon: float
    """The distance from 1 to the next number."""


@cache
def float_limits(element: Element) -> FloatLimits:
    """Return the limits of a type of floats."""
    if isinstance(element, BFloat16Type):
        return FloatLimits(2.0**-133, 2.0**-126, (2 - 2.0**-7) * 2.0**127, 2.0**-7)
    info = np.finfo(dtype_of(element).name)
    limits = (info.smallest_subnormal, info.tiny, info.max, info.eps)
    return FloatLimits(*map(float, limits))


def check_size(shape: Iterable[int]) -> None:
    """Raise InterpretationError if an array of this shape exceeds the limit on tensors."""
    if (reason := too_many_elements(shape, PassContext.current().max_elements)) is not None:
        raise InterpretationError(reason)


FLOATS_OF_NUMPY = frozenset({Float16Type, Float32Type, Float64Type})


def fit(array: Array, element: Element) -> Array:
    """Return the array with each element rounded, or wrapped around, to the element type."""
    dtype = dtype_of(element)
    if element.__class__ in FLOATS_OF_NUMPY:  # the usual ones first: it is much faster
        return array.astype(dtype, copy=False)
    if isinstance(element, BFloat16Type):
        return widen_bf16(round_bf16(as_odd_f32(array)))
    if isinstance(element, SmallFloat):
        return round_small(array, element)
    if not isinstance(element, IntegerType):
        return array.astype(dtype, copy=False)
    if is_bool(element):
        return array if array.dtype == dtype else (array & 1).astype(dtype)
    array = array.astype(dtype, copy=False)
    spare = 8 * dtype.itemsize - element.bitwidth
    return array << spare >> spare if spare else array


def as_odd_f32(array: Array) -> NDArray[np.float32]:
    """Return numbers as f32, rounded to odd: a number that f32 does not hold exactly becomes the
    neighbor whose last bit is 1.

    Rounding that to bf16 gives the same result as rounding the number itself.
    """
    near = array.astype(np.float32, copy=False)
    if array.dtype.itemsize < 4 or array.dtype == np.float32:
        return near
    if array.dtype.itemsize == 8 and array.dtype.kind in "iu":
        # f64 cannot hold all of these: round those beyond 53 bits to odd multiples of 2^11.
        low = array & 0x7FF
        large = (array > 1 << 53) | (array < -1 << 53)
        array = np.where(large & (low != 0), (array ^ low) | 0x800, array)
    exact, back = array.astype(np.float64, copy=False), near.astype(np.float64)
    bits = near.view(np.uint32)
    odd = (bits - (np.abs(back) > np.abs(exact))).astype(np.uint32) | 1
    return np.where((back < exact) | (back > exact), odd, bits).view(np.float32)


def round_bf16(array: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the bits of each number rounded to bf16, to nearest, ties to even.

    A NaN that is a bf16 keeps its bits; any other NaN becomes quiet.
    """
    bits = array.view(np.uint32)
    # Adding just under half a unit of the last bf16 bit, plus that bit, carries into it for more
    # than half, and for half if the bit is odd: of the ties, 0x3F808000 becomes 0x3F80, 0x3F818000
    # becomes 0x3F82.
    rounded = bits + 0x7FFF + (bits >> 16 & 1) >> 16
    quiet = bits >> 16 | np.where(bits & 0xFFFF, 0x40, 0)
    return np.where(np.isnan(array), quiet, rounded).astype(np.uint16)


def widen_bf16(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Return the numbers with these bits in bf16."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def widen(array: Array) -> Array:
    """Return the array in the type in which its elements are accumulated: floats in at least f32,
    integers in at least i64. ui64 stays: numpy would promote it and i64 to f64."""
    if array.dtype == np.uint64:
        return array
    kind = np.float32 if array.dtype.kind == "f" else np.int64
    return array.astype(np.promote_types(array.dtype, kind), copy=False)


def mean_of(array: Array, axis: int | tuple[int, ...], keepdims: bool = True) -> Array:
    """Return the mean of floats; NaN for no elements, without the warning of `np.mean`."""
    total = np.asarray(np.sum(array, axis=axis, keepdims=keepdims))
    count = array.size // total.size if total.size else 0
    return total / np.asarray(count, array.dtype)


# Constants


def array_of(value: DenseIntOrFPElementsAttr) -> Array:
    """Return the elements of a dense constant.

    A view of its bytes, except for bf16 and integers that xDSL pads.
    """
    element = element_of(value.type)
    raw: Array = np.frombuffer(value.data.data, stored_dtype(element)).reshape(value.get_shape())
    return numbers_of(raw, element) if isinstance(element, NarrowFloat) else fit(raw, element)


def dense_of(array: Array, type: TensorType[Attribute]) -> DenseIntOrFPElementsAttr:
    """Return the dense constant of `type` with the elements of an array.

    InterpretationError unless the array has the dtype and the shape of `type`.
    """
    element = element_of(type)
    if array.dtype != dtype_of(element) or array.shape != type.get_shape():
        raise InterpretationError(f"an array of {array.dtype}{array.shape} does not match {type}")
    if isinstance(element, NarrowFloat):
        array = codes_of(array, element)
    elif array.dtype == np.bool_:
        array = array.view(np.uint8) if is_unsigned(element) else -array.view(np.int8)
    data = array.astype(stored_dtype(element), copy=False).tobytes()
    return make_attribute(
        DenseIntOrFPElementsAttr, type=type, data=make_attribute(BytesAttr, data=data)
    )


def scalar_of(value: Number, element: Element) -> Array:
    """Return the array of rank 0 that holds a number of type `element`."""
    scalar = np.asarray(value.value.data, dtype := dtype_of(element))
    # A float of the stored dtype is rounded by now, but bf16 is not.
    return scalar if dtype.kind == "f" and dtype == stored_dtype(element) else fit(scalar, element)


def number_of(scalar: Array, element: Element) -> Number:
    """Return the number in an array of rank 0, as an attribute of type `element`."""
    return _number(scalar.tobytes(), scalar.dtype, element)


# Shared, as attributes are immutable. By the bytes: -0.0 equals 0.0, and a NaN not itself.
@lru_cache(1 << 12)
def _number(scalar: bytes, dtype: np.dtype[np.generic], element: Element) -> Number:
    (number,) = np.frombuffer(scalar, dtype).tolist()
    if isinstance(element, IntegerType):
        return IntegerAttr(int(number), element)
    return FloatAttr(number, element)
