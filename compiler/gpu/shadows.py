"""Shadows: numpy arrays that stand for memory of a device, so that the semantics of memref on numpy
compute the places, sizes and strides of its buffers.

Their memory is reserved, but not there: who reads it gets zeros, and nobody can write to it.
"""

from __future__ import annotations

import mmap
from bisect import bisect_right
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from xdsl.ir import Attribute

from ..interpreters.arrays import NarrowFloat, stored_dtype
from ..interpreters.tir.table import buffer_dtype, element_type

if TYPE_CHECKING:
    from ..interpreters.arrays import Array

__all__ = ["Shadows", "StepPlace", "device_dtype"]


class StepPlace(NamedTuple):
    """A place in the memory of a call: the number of an allocation, and an offset in bytes."""

    allocation: int
    offset: int


class Shadows:
    """The shadows of the allocations of one call, which are numbered from 0."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        """The bytes of each allocation."""
        self._starts: list[tuple[int, int]] = []

    def new(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Return the shadow of a new allocation."""
        size = prod(shape) * dtype.itemsize
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        memory = mmap.mmap(-1, max(1, size), flags=flags, prot=mmap.PROT_READ)
        flat = np.frombuffer(memory, "u1")[:size]
        self._starts.append((flat.ctypes.data, len(self.sizes)))
        self._starts.sort()
        self.sizes.append(size)
        return flat.view(dtype).reshape(shape)

    def place_of(self, shadow: Array) -> StepPlace:
        """Return the place of the first element of a shadow, or of a view of one."""
        address = shadow.ctypes.data
        start, number = self._starts[bisect_right(self._starts, (address, len(self.sizes))) - 1]
        return StepPlace(number, address - start)


def device_dtype(type: Attribute) -> np.dtype[Any]:
    """Return the dtype of the elements of a buffer, or of a number, on a device: of floats that
    numpy lacks, unsigned integers of as many bits."""
    element = element_type(type)
    return stored_dtype(element) if isinstance(element, NarrowFloat) else buffer_dtype(type)
