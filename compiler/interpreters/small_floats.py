"""Floats of 4 and 8 bits as f32, which holds them all: their numbers by code, and rounding to
them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dialects.relax.types import SmallFloat

__all__ = ["codes_of", "largest_of", "numbers_of", "round_small"]

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


def numbers_of(codes: Codes, element: SmallFloat) -> Numbers:
    """Return the numbers with these codes."""
    return format_of(element).decoded[codes]


def round_small(array: NDArray[np.generic], element: SmallFloat) -> Numbers:
    """Return numbers rounded to a type: to nearest, of a tie to the even code, or to the greater
    power of two.

    Beyond the largest number they become infinite, NaN in a type without infinities, and the
    largest number in one without NaN, where NaN becomes -0.
    """
    codes = codes_of(array, element)
    return format_of(element).decoded[codes]


def codes_of(array: NDArray[np.generic], element: SmallFloat) -> Codes:
    """Return the codes of numbers, rounded as in `round_small`."""
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
