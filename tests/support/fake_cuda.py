"""A driver of CUDA that runs on the processor and writes a log, compiled from `libcuda.c`."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

from xdsl.ir import Operation

from passline.compiler.gpu.device import CudaDevice
from passline.compiler.gpu.driver import Driver

SOURCE = Path(__file__).with_name("libcuda.c")


class FakeGPU(CudaDevice):
    """A device whose code is not assembled: the kernel is in the library."""

    def assemble(self, kernels: Operation) -> Sequence[bytes]:
        return [b"cubin"]


class FakeCuda:
    """A copy of the library: its settings, its log, and a device on it."""

    def __init__(self, folder: Path) -> None:
        self.file = str(folder / "libcuda.so")
        subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", self.file, SOURCE], check=True)
        self._library = ctypes.CDLL(self.file)
        self._library.log_of_calls.restype = ctypes.c_char_p

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
