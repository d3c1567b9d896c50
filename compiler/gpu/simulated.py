"""A simulated device: its memory is that of the processor, and tile programs run on the interpreter."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ...dialects.cuda_tile.module_ops import EntryOp
from ...passmanager.ir.walk import walk
from .device import Grid, Scalar
from .driver import OUT_OF_MEMORY, DriverError
from .shadows import device_dtype

if TYPE_CHECKING:
    from ..interpreters.arrays import Array


class SimulatedDevice:
    """A device in this process, for programs that run without a GPU.

    `memory` are the bytes that it has, `checked` whether data races and accesses out of bounds are
    errors.
    """

    dlpack = (2, 0)
    stream = 1
    waits = False

    def __init__(
        self, target: str = "sm_90", memory: int = 8 << 30, *, checked: bool = False
    ) -> None:
        self.target, self.name = target, f"simulated {target}"
        self._left, self._checked = memory, checked
        self._memory: dict[int, Array] = {}
        self._starts: list[int] = []

    def allocate(self, size: int) -> int:
        if size > self._left:
            text = f"{self.name} has too little memory: {size:,} bytes are needed, and "
            raise DriverError(f"{text}{self._left:,} are free", OUT_OF_MEMORY)
        # All numbers of a type that are not written: NaN, or -1.
        array = np.full(size + ALIGNMENT, 0xFF, np.uint8)
        start = -array.ctypes.data % ALIGNMENT
        array = array[start : start + size]
        self._left -= size
        self._memory[array.ctypes.data] = array
        self._starts = sorted(self._memory)
        return array.ctypes.data

    def free(self, address: int) -> None:
        self._left += self._memory.pop(address).nbytes
        self._starts = sorted(self._memory)

    def free_bytes(self) -> int:
        return self._left

    def _at(self, address: int, size: int) -> Array:
        """Return bytes of the memory; DriverError if no allocation has them."""
        i = bisect_right(self._starts, address) - 1
        start = self._starts[i] if i >= 0 else 0
        array = self._memory.get(start)
        if array is None or not 0 <= address - start <= address - start + size <= array.nbytes:
            raise DriverError(f"{size} bytes at {address:#x} are not in the memory of {self.name}")
        return array[address - start : address - start + size]

    def upload(self, address: int, array: Array) -> None:
        self._at(address, array.nbytes)[:] = np.ascontiguousarray(array).reshape(-1).view("u1")

    def download(self, array: Array, address: int) -> None:
        array.reshape(-1).view("u1")[:] = self._at(address, array.nbytes)

    def copy(self, target: int, source: int, size: int) -> None:
        self._at(target, size)[:] = self._at(source, size).copy()

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        self._at(address, len(pattern) * count)[:] = np.frombuffer(pattern * count, "u1")
