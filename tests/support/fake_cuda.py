"""A driver of CUDA that runs on the processor and writes a log, compiled from `libcuda.c`."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from passline.compiler.gpu.device import Address, CudaDevice, Scalar
from passline.compiler.gpu.driver import Driver
from passline.compiler.gpu.program import POINTER, entry_kinds
from passline.compiler.gpu.recorder import SCALARS
from passline.compiler.gpu.simulated import SimulatedDevice
from passline.dialects.cuda_tile.module_ops import ModuleOp as TileModuleOp

SOURCE = Path(__file__).with_name("libcuda.c")
KERNEL = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, *[ctypes.c_uint] * 3, ctypes.POINTER(ctypes.c_void_p)
)
FAILED = 719


class FakeGPU(CudaDevice):
    """A device whose code is not assembled: the kernel is in the library."""

    def assemble(self, kernels: Operation) -> Sequence[bytes]:
        return [b"cubin"]


class ProcessMemory(SimulatedDevice):
    """A device whose memory is all of this process."""

    def bytes_at(self, address: int, size: int) -> np.ndarray[Any, Any]:
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


class FakeCuda:
    """A copy of the library: its settings, its log, and a device on it.

    With `is_found`, libraries that are loaded later and need CUDA's driver get this one.
    """

    def __init__(self, folder: Path, *, is_found: bool = False) -> None:
        self.file = str(folder / "libcuda.so")
        name = ["-Wl,-soname,libcuda.so.1"] if is_found else []
        command = ["gcc", "-shared", "-fPIC", "-w", *name, "-o", self.file, str(SOURCE)]
        subprocess.run(command, check=True)
        self._library = ctypes.CDLL(self.file)
        self._library.log_of_calls.restype = ctypes.c_char_p
        self._library.bytes_at.restype = ctypes.c_size_t

    def set(self, **settings: int) -> None:
        for name, value in settings.items():
            self._library.setting(name.encode(), ctypes.c_int64(value))

    def log(self) -> list[str]:
        """Return the calls since the last time."""
        lines = self._library.log_of_calls().decode().splitlines()
        self._library.clear_log()
        return lines

    def device(self) -> FakeGPU:
        return FakeGPU(driver=Driver(self.file))

    def run_anything(self) -> None:
        """Let launches of any kernel do nothing."""
        self._function = KERNEL(lambda *_: 0)
        self._library.run_kernels(self._function)

    def run(self, module: ModuleOp) -> None:
        """Let launches run the tile programs of a lowered module."""
        (kernels,) = (op for op in module.ops if isinstance(op, TileModuleOp))
        kinds, device = entry_kinds(kernels), ProcessMemory()
        programs = device.load(device.assemble(kernels))

        def argument(kind: str, place: int) -> Scalar:
            if kind != POINTER:
                return type(SCALARS[kind](0)).from_address(place)
            address = Address.from_address(place)
            address.size = self._library.bytes_at(ctypes.c_void_p(address.value))
            return address

        def launch(name: bytes, x: int, y: int, z: int, parameters: Any) -> int:
            text = name.decode()
            given = [argument(kind, parameters[i]) for i, kind in enumerate(kinds[text])]
            try:
                device.launch(programs[text], text, (x, y, z), given)
            except Exception:
                return FAILED
            return 0

        self._function = KERNEL(launch)
        self._library.run_kernels(self._function)
