"""CUDA's driver interface: the functions of libcuda that are used, and its errors as text."""

from __future__ import annotations

import ctypes
import os
from ctypes import c_char_p, c_float, c_int, c_size_t, c_uint, c_uint8, c_uint16, c_uint32, c_void_p
from functools import cache

from ...passmanager.errors import PasslineError

__all__ = ["OUT_OF_MEMORY", "Driver", "DriverError", "load_driver"]

LIBRARY = "libcuda.so.1"
MINIMUM_VERSION = 13000
"""The version of the driver interface that runs the code of `tileiras`: CUDA 13.0."""
MINIMUM_DRIVER = 580
"""The release of NVIDIA's driver that first has it."""

P = ctypes.POINTER
FUNCTIONS: dict[str, tuple[object, ...]] = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (P(c_int),),
    "cuGetErrorString": (c_int, P(c_char_p)),
    "cuGetErrorName": (c_int, P(c_char_p)),
    "cuDeviceGetCount": (P(c_int),),
    "cuDeviceGet": (P(c_int), c_int),
    "cuDeviceGetName": (ctypes.c_char * 256, c_int, c_int),
    "cuDeviceGetAttribute": (P(c_int), c_int, c_int),
    "cuDevicePrimaryCtxRetain": (P(c_void_p), c_int),
    "cuCtxSetCurrent": (c_void_p,),
    "cuMemAlloc_v2": (P(c_void_p), c_size_t),
    "cuMemFree_v2": (c_void_p,),
    "cuMemGetInfo_v2": (P(c_size_t), P(c_size_t)),
    "cuMemcpyHtoDAsync_v2": (c_void_p, c_void_p, c_size_t, c_void_p),
    "cuMemcpyDtoHAsync_v2": (c_void_p, c_void_p, c_size_t, c_void_p),
    "cuMemcpyDtoDAsync_v2": (c_void_p, c_void_p, c_size_t, c_void_p),
    "cuMemsetD8Async": (c_void_p, c_uint8, c_size_t, c_void_p),
    "cuMemsetD16Async": (c_void_p, c_uint16, c_size_t, c_void_p),
    "cuMemsetD32Async": (c_void_p, c_uint32, c_size_t, c_void_p),
    "cuStreamCreate": (P(c_void_p), c_uint),
    "cuStreamDestroy_v2": (c_void_p,),
    "cuStreamQuery": (c_void_p,),
    "cuStreamWaitEvent": (c_void_p, c_void_p, c_uint),
    "cuStreamBeginCapture_v2": (c_void_p, c_int),
    "cuStreamEndCapture": (c_void_p, P(c_void_p)),
    "cuGraphInstantiateWithFlags": (P(c_void_p), c_void_p, ctypes.c_ulonglong),
    "cuGraphLaunch": (c_void_p, c_void_p),
    "cuGraphDestroy": (c_void_p,),
    "cuGraphExecDestroy": (c_void_p,),
    "cuEventCreate": (P(c_void_p), c_uint),
    "cuEventRecord": (c_void_p, c_void_p),
    "cuEventElapsedTime": (P(c_float), c_void_p, c_void_p),
    "cuEventDestroy_v2": (c_void_p,),
    "cuModuleLoadData": (P(c_void_p), c_char_p),
    "cuModuleUnload": (c_void_p,),
    "cuModuleGetFunction": (P(c_void_p), c_void_p, c_char_p),
    "cuLaunchKernel": (c_void_p, *[c_uint] * 7, c_void_p, P(c_void_p), P(c_void_p)),
}
"""The parameters of each function that is used. Each returns an error code."""

SUCCESS = 0
OUT_OF_MEMORY = 2
NO_DEVICE = 100
INVALID_IMAGE = 200
NO_BINARY = 209
UNSUPPORTED_PTX_VERSION = 222
NOT_READY = 600
OUT_OF_RESOURCES = 701
FAULTS = frozenset({700, 702, 710, 714, 715, 716, 717, 718, 719})
"""The errors of kernels that ran before: after one of them, nothing runs in this process."""


class DriverError(PasslineError):
    """The error for a device or its driver; `code` is that of CUDA, None if there is none."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


class Driver:
    """The library of CUDA's driver; DriverError if it is not installed, or too old."""

    def __init__(self, library: str = LIBRARY) -> None:
        try:
            self._library = ctypes.CDLL(library)
        except OSError:
            raise DriverError(
                f"{library} was not found: install NVIDIA's driver, {MINIMUM_DRIVER} or newer, or "
                "run the tile programs on numpy with the engine 'cuda-interpreter'"
            ) from None
        self._functions = {name: self._function(name) for name in FUNCTIONS}
        version = c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.version = version.value
        if version.value < MINIMUM_VERSION:
            raise DriverError(self._too_old())

    def _function(self, name: str):
        try:
            function = getattr(self._library, name)
        except AttributeError:
            raise DriverError(
                f"NVIDIA's driver lacks {name}: install release {MINIMUM_DRIVER} or newer"
            ) from None
        function.argtypes, function.restype = FUNCTIONS[name], c_int
        return function

    def _too_old(self) -> str:
        major, minor = self.version // 1000, self.version % 1000 // 10
        return (
            f"NVIDIA's driver supports CUDA {major}.{minor}: expected 13.0 or newer, which driver "
            f"{MINIMUM_DRIVER} and newer have"
        )

    def status(self, name: str, *arguments: object) -> int:
        """Call a function, and return its error code."""
        return self._functions[name](*arguments)

    def call(self, name: str, *arguments: object) -> None:
        """Call a function; DriverError if it fails."""
        if (code := self.status(name, *arguments)) != SUCCESS:
            raise DriverError(self.error_text(name, code), code)

    def handle(self, name: str, *arguments: object) -> int:
        """Call a function that writes a handle or an address to its first parameter, and return
        that."""
        result = c_void_p()
        self.call(name, ctypes.byref(result), *arguments)
        return result.value or 0

    def error_text(self, name: str, code: int) -> str:
        """Return one line on the failure of a function."""
        if code == NO_DEVICE:
            seen = os.environ.get("CUDA_VISIBLE_DEVICES")
            hint = "" if seen is None else f"; CUDA_VISIBLE_DEVICES is {seen!r}"
            return f"no NVIDIA GPU is visible: nvidia-smi lists those of this machine{hint}"
        return f"{name} failed: {self.name_of(code)} ({self._text('cuGetErrorString', code)})"

    def name_of(self, code: int) -> str:
        """Return the name of an error code, as CUDA_ERROR_LAUNCH_FAILED."""
        return self._text("cuGetErrorName", code) or f"error {code}"

    def _text(self, function: str, code: int) -> str:
        text = c_char_p()
        if self.status(function, code, ctypes.byref(text)) != SUCCESS or text.value is None:
            return ""
        return text.value.decode(errors="replace")


@cache
def load_driver() -> Driver:
    """Return the driver, initialized; DriverError if it is missing, too old, or has no device."""
    driver = Driver(os.environ.get("PASSLINE_LIBCUDA") or LIBRARY)
    driver.call("cuInit", 0)
    count = c_int()
    driver.call("cuDeviceGetCount", ctypes.byref(count))
    if not count.value:
        raise DriverError(driver.error_text("cuDeviceGetCount", NO_DEVICE), NO_DEVICE)
    return driver
