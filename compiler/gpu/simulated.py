"""A simulated device: memory of the processor, and tile programs on the interpreter."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, cast

import numpy as np
from xdsl.dialects.builtin import Float16Type
from xdsl.ir import Attribute, Operation

from ...dialects.cuda_tile.module_ops import EntryOp
from ...dialects.cuda_tile.types import PointerType, TileType
from ...passmanager.ir.text.parser import parse_module
from ...passmanager.ir.walk import walk
from ...passmanager.registry import make_ir_context
from ..interpreters.arrays import NarrowFloat, codes_of, numbers_of
from ..interpreters.cuda_tile.grid import launch
from ..interpreters.cuda_tile.tile_program import TileProgram, TileProgramError
from ..native.compiled import text_of
from .device import Address, Grid, Scalar
from .driver import OUT_OF_MEMORY, DriverError
from .shadows import device_dtype

if TYPE_CHECKING:
    from ..interpreters.arrays import Array

ALIGNMENT = 256
"""The alignment of allocations."""


class SimulatedDevice:
    """A device in this process, for programs that run without a GPU.

    `memory` are the bytes that it has, `checked` whether data races and accesses out of bounds are
    errors.
    """

    dlpack: tuple[int, int] = (2, 0)
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

    def bytes_at(self, address: int, size: int) -> Array:
        """Return bytes of the memory; DriverError if no allocation has them."""
        i = bisect_right(self._starts, address) - 1
        start = self._starts[i] if i >= 0 else 0
        array = self._memory.get(start)
        if array is None or not 0 <= address - start <= address - start + size <= array.nbytes:
            raise DriverError(f"{size} bytes at {address:#x} are not in the memory of {self.name}")
        return array[address - start : address - start + size]

    def upload(self, address: int, array: Array) -> None:
        self.bytes_at(address, array.nbytes)[:] = np.ascontiguousarray(array).reshape(-1).view("u1")

    def download(self, array: Array, address: int) -> None:
        array.reshape(-1).view("u1")[:] = self.bytes_at(address, array.nbytes)

    def copy(self, target: int, source: int, size: int) -> None:
        self.bytes_at(target, size)[:] = self.bytes_at(source, size).copy()

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        self.bytes_at(address, len(pattern) * count)[:] = np.frombuffer(pattern * count, "u1")

    def assemble(self, kernels: Operation) -> Sequence[bytes]:
        return [text_of(kernels).encode()]

    def load(self, code: Sequence[bytes]) -> Mapping[str, object]:
        modules = [parse_module(make_ir_context(), text.decode(), "kernels") for text in code]
        entries = [op for module in modules for op in walk(module) if isinstance(op, EntryOp)]
        return {op.sym_name.data: TileProgram(op, check=self._checked) for op in entries}

    def launch(self, kernel: object, name: str, grid: Grid, arguments: Sequence[Scalar]) -> None:
        assert isinstance(kernel, TileProgram)
        memory: dict[tuple[int, str], ArgumentNumbers] = {}
        given: list[object] = []
        types = kernel.entry.function_type.inputs.data
        for type, argument in zip(types, arguments, strict=True):
            if not isinstance(argument, Address):
                given.append(scalar_of(argument, type))
                continue
            element = pointee_of(type)
            key = argument.value, str(element)
            if key not in memory:
                memory[key] = ArgumentNumbers(self.bytes_at(argument.value, argument.size), element)
            given.append(memory[key].array)
        try:
            launch(kernel, grid, given)
        except TileProgramError as error:
            raise DriverError(f"kernel {name} failed on {self.name}: {error}") from error
        for numbers in memory.values():
            numbers.write_back()

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        return work

    def replay(self, graph: object) -> None:
        cast("Callable[[], None]", graph)()

    def drop(self, graph: object) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def event(self) -> float:
        return perf_counter()

    def seconds(self, first: object, last: object) -> float:
        return cast("float", last) - cast("float", first)

    def wait_in(self, stream: int) -> None:
        pass


@cache
def simulated_device(target: str) -> SimulatedDevice:
    """Return the simulated device of this process for a target."""
    return SimulatedDevice(target)


class ArgumentNumbers:
    """The elements of a buffer as the interpreter has them: floats that numpy lacks are f32."""

    def __init__(self, memory: Array, element: Attribute) -> None:
        self._memory = memory.view(device_dtype(element))
        self._narrow = element if isinstance(element, NarrowFloat) else None
        self.array = self._memory
        if self._narrow is not None:
            self.array = numbers_of(self._memory, self._narrow)
            self._before = self.array.copy()

    def write_back(self) -> None:
        """Write the elements that have changed to the memory."""
        if self._narrow is not None:
            changed = self.array.view("u4") != self._before.view("u4")
            self._memory[changed] = codes_of(self.array[changed], self._narrow)


def scalar_of(argument: Scalar, type: Attribute) -> object:
    """Return a number that is passed to a kernel; floats of 16 bits are passed as their bits."""
    element = type.element_type if isinstance(type, TileType) else type
    if isinstance(element, Float16Type):
        return np.uint16(argument.value).view(np.float16)
    if isinstance(element, NarrowFloat):
        return numbers_of(np.array(argument.value, np.uint16), element)[()]
    return argument.value


def pointee_of(type: Attribute) -> Attribute:
    """Return the type of the elements that a parameter points to."""
    assert isinstance(type, TileType) and isinstance(type.element_type, PointerType)
    return type.element_type.pointee_type
