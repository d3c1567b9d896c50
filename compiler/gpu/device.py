"""Devices: the interface by which tile programs run, and NVIDIA's GPUs behind it."""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_float, c_int, c_size_t, c_void_p
from functools import cache
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from xdsl.ir import Operation

from ...dialects.cuda_tile.module_ops import ModuleOp as TileModuleOp
from ...dialects.target import NAMED, Target
from ...passmanager.errors import PasslineError
from .assemble import GPUS, assemble_each
from .driver import (
    FAULTS,
    INVALID_IMAGE,
    NO_BINARY,
    NOT_READY,
    OUT_OF_MEMORY,
    OUT_OF_RESOURCES,
    SUCCESS,
    UNSUPPORTED_PTX_VERSION,
    Driver,
    DriverError,
    load_driver,
)

if TYPE_CHECKING:
    from ..interpreters.arrays import Array

Grid: TypeAlias = tuple[int, int, int]
Scalar: TypeAlias = "ctypes._SimpleCData[Any]"  # pyright: ignore[reportPrivateUsage]
"""An argument of a kernel: the address of a buffer, or a number."""


class Address(ctypes.c_uint64):
    """An argument that is the address of a buffer of `size` bytes."""

    size = 0


class Device(Protocol):
    """A device with its own memory, which runs the entries of tile programs in order.

    Addresses are integers. Methods may return before the device has done the work; `download`,
    `synchronize` and `seconds` wait for it.
    """

    target: str
    """The processor, such as `sm_90`."""
    name: str
    dlpack: tuple[int, int]
    """The kind and the number of the device in DLPack."""
    stream: int
    """The CUDA stream on which all work runs."""
    waits: bool
    """Whether each launch waits for its kernel, so that the error for a fault can name it."""

    def allocate(self, size: int) -> int:
        """Allocate memory; DriverError with the code OUT_OF_MEMORY if there is too little."""
        ...

    def free(self, address: int) -> None: ...

    def free_bytes(self) -> int: ...

    def upload(self, address: int, array: Array) -> None:
        """Copy a contiguous array to the device; the caller may change it after the call."""
        ...

    def download(self, array: Array, address: int) -> None: ...

    def copy(self, target: int, source: int, size: int) -> None: ...

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        """Write a pattern of 1, 2, 4 or 8 bytes `count` times."""
        ...

    def assemble(self, kernels: Operation) -> Sequence[bytes]:
        """Convert a module of tile programs to the code that `load` takes."""
        ...

    def load(self, code: Sequence[bytes]) -> Mapping[str, object]:
        """Load code, and return its entries by their names."""
        ...

    def launch(
        self, kernel: object, name: str, grid: Grid, arguments: Sequence[Scalar]
    ) -> None: ...

    def capture(self, work: Callable[[], None]) -> object:
        """Record the work that the function `work` starts, without running it, as a graph."""
        ...

    def replay(self, graph: object) -> None: ...

    def drop(self, graph: object) -> None: ...

    def synchronize(self) -> None:
        """Wait for all work. If a kernel failed, DriverError names those that may have."""
        ...

    def event(self) -> object:
        """Record an event after all work so far."""
        ...

    def seconds(self, first: object, last: object) -> float: ...

    def wait_in(self, stream: int) -> None:
        """Let another stream wait for the work that has been started so far."""
        ...


def target_of_device(device: Device) -> Target:
    """Return the target for a device: that of its name, or the newest before it, with its name;
    PasslineError for a device for which no code can be assembled."""
    number = int(device.target.removeprefix("sm_"))
    if number not in GPUS:
        known = ", ".join(f"sm_{gpu}" for gpu in GPUS)
        raise PasslineError(f"{device.name} is an {device.target}: expected one of {known}")
    named = max(n for name in NAMED if (n := _number_of(name)) <= number)
    is_named = named == number
    return Target(device.target if is_named else f'sm_{named}{{cpu="{device.target}"}}')


def _number_of(target: str) -> int:
    """Return the number of a GPU, 0 for a processor."""
    return int(target.removeprefix("sm_")) if target.startswith("sm_") else 0


LIMITS = (2**31 - 1, 65535, 65535)
"""The maximum number of tile blocks of a grid in each dimension."""
MAJOR, MINOR = 75, 76
"""The numbers of the device attributes that are the two parts of the compute capability."""
NON_BLOCKING = 1
THREAD_LOCAL = 1
"""The mode of a capture in which calls of other threads are neither captured nor forbidden."""
SYNC = "PASSLINE_CUDA_SYNC"
"""The environment variable that sets `Device.waits`."""
CHECK = "passline-run --check-races"
"""The command that says which access of a tile program fails."""
REMEMBERED = 4
"""The number of launches, the last ones, that the error for a fault names."""
SPIN, NAP = 200e-6, 50e-6
"""A wait polls for `SPIN` seconds without a pause, and then with pauses of `NAP` seconds."""


class CudaDevice:
    """An NVIDIA GPU, used through its primary context, which other libraries share.

    Work runs on a stream that synchronizes with CUDA's default stream, so that it is in order with
    the work of libraries that use the default stream.
    """

    def __init__(self, ordinal: int = 0, driver: Driver | None = None) -> None:
        self._driver = driver = driver or load_driver()
        number = c_int()
        driver.call("cuDeviceGet", byref(number), ordinal)
        self._number = number.value
        self.target = f"sm_{self._attribute(MAJOR)}{self._attribute(MINOR)}"
        text = ctypes.create_string_buffer(256)
        driver.call("cuDeviceGetName", text, 256, self._number)
        self.name = text.value.decode(errors="replace")
        self.dlpack: tuple[int, int] = (2, ordinal)
        self._context = driver.handle("cuDevicePrimaryCtxRetain", self._number)
        self._enter()
        self.stream = driver.handle("cuStreamCreate", 0)
        self._current = self.stream
        self._last: deque[str] = deque(maxlen=REMEMBERED)
        self._launches = 0
        self.waits = os.environ.get(SYNC, "") not in ("", "0")

    def _attribute(self, number: int) -> int:
        value = c_int()
        self._driver.call("cuDeviceGetAttribute", byref(value), number, self._number)
        return value.value

    def _enter(self) -> None:
        """Make the context that of this thread: each thread has a current context of its own."""
        self._driver.call("cuCtxSetCurrent", self._context)

    def _call(self, name: str, *arguments: object) -> None:
        code = self._driver.status(name, *arguments)
        if code != SUCCESS:
            raise self._error(name, code)

    def _error(self, name: str, code: int) -> DriverError:
        if code not in FAULTS:
            return DriverError(self._driver.error_text(name, code), code)
        kind = self._driver.name_of(code)
        last = self._last_launches(self._launches)
        if last and (self.waits or self._launches == 1):
            text = f"kernel {last[-1]} failed on {self.name}: {kind}; start a new process, "
            return DriverError(f"{text}and look for the access with {CHECK}", code)
        text = f"a kernel failed on {self.name}: {kind}; of {self._launches} launches, the last "
        text += f"are of {', '.join(last) or 'unknown kernels'}; in a new process, {SYNC}=1 "
        return DriverError(f"{text}tells which it is", code)

    def _last_launches(self, count: int) -> Sequence[str]:
        """Return the kernels of the last `count` launches, of `REMEMBERED` at most."""
        return [*self._last][-count:] if count else []

    # Memory

    def allocate(self, size: int) -> int:
        self._enter()
        try:
            return self._driver.handle("cuMemAlloc_v2", max(1, size))
        except DriverError as error:
            if error.code != OUT_OF_MEMORY:
                raise self._error("cuMemAlloc_v2", error.code or 0) from None
            text = f"{self.name} has too little memory: {size:,} bytes are needed, and "
            text += f"{self.free_bytes():,} are free"
            raise DriverError(text, OUT_OF_MEMORY) from None

    def free(self, address: int) -> None:
        self._enter()
        self._driver.status("cuMemFree_v2", address)  # after a fault there is nothing to free

    def free_bytes(self) -> int:
        free, total = c_size_t(), c_size_t()
        self._call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value

    def upload(self, address: int, array: Array) -> None:
        self._enter()
        source = array.ctypes.data
        self._call("cuMemcpyHtoDAsync_v2", address, source, array.nbytes, self._current)

    def download(self, array: Array, address: int) -> None:
        self.synchronize()
        target = array.ctypes.data
        self._call("cuMemcpyDtoHAsync_v2", target, address, array.nbytes, self._current)
        self.synchronize()

    def copy(self, target: int, source: int, size: int) -> None:
        self._call("cuMemcpyDtoDAsync_v2", target, source, size, self._current)

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        if len(pattern) > 4 and len({*pattern}) > 1:
            array = ctypes.create_string_buffer(pattern * count, len(pattern) * count)
            source = ctypes.addressof(array)
            self._call("cuMemcpyHtoDAsync_v2", address, source, len(array), self._current)
            return
        count *= max(1, len(pattern) // 4)
        part = pattern[:4]
        value = int.from_bytes(part, "little")
        self._call(f"cuMemsetD{8 * len(part)}Async", address, value, count, self._current)

    # Code

    def assemble(self, kernels: Operation) -> Sequence[bytes]:
        assert isinstance(kernels, TileModuleOp)
        return assemble_each(kernels, target_of_device(self))

    def load(self, code: Sequence[bytes]) -> LoadedCode:
        self._enter()
        try:
            return LoadedCode(self._driver, code)
        except DriverError as error:
            if error.code not in (INVALID_IMAGE, NO_BINARY, UNSUPPORTED_PTX_VERSION):
                raise
            text = f"the code does not run on {self.name}: compile it for {self.target}, by "
            raise DriverError(f"{text}target='{self.target}'", error.code) from None

    def launch(self, kernel: object, name: str, grid: Grid, arguments: Sequence[Scalar]) -> None:
        self._enter()
        if any(not 0 < size <= limit for size, limit in zip(grid, LIMITS)):
            text = f"kernel {name} needs a grid of {'x'.join(map(str, grid))} tile blocks: "
            raise DriverError(f"{text}expected 1 to {'x'.join(map(str, LIMITS))}")
        self._last.append(name)
        self._launches += 1
        parameters = (c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        block = (1, 1, 1, 0)  # the assembler knows the threads of a tile block
        code = self._driver.status(
            "cuLaunchKernel", kernel, *grid, *block, self._current, parameters, None
        )
        if code == OUT_OF_RESOURCES:
            text = f"kernel {name} needs more registers or shared memory than a block of "
            raise DriverError(f"{text}{self.name} has: compile it for {self.target}", code)
        if code != SUCCESS:
            raise self._error(f"the launch of {name}", code)
        if self.waits and self._current == self.stream:
            self.synchronize()

    # Graphs, events, waits

    def capture(self, work: Callable[[], None]) -> CudaGraph:
        self._enter()
        before = self._launches
        # The default stream waits for the other one, which a capture does not allow.
        self._current = self._driver.handle("cuStreamCreate", NON_BLOCKING)
        try:
            self._call("cuStreamBeginCapture_v2", self._current, THREAD_LOCAL)
            graph = c_void_p()
            try:
                work()
            finally:
                self._driver.status("cuStreamEndCapture", self._current, byref(graph))
            if not graph.value:
                raise DriverError("the work of a call cannot be captured as a graph")
            try:
                handle = self._driver.handle("cuGraphInstantiateWithFlags", graph, 0)
                count = self._launches - before
                return CudaGraph(handle, count, self._last_launches(count))
            finally:
                self._call("cuGraphDestroy", graph)
        finally:
            self._driver.status("cuStreamDestroy_v2", self._current)
            self._current, self._launches = self.stream, before

    def replay(self, graph: object) -> None:
        assert isinstance(graph, CudaGraph)
        self._enter()
        self._last.extend(graph.last)
        self._launches += graph.launches
        self._call("cuGraphLaunch", graph.handle, self.stream)

    def drop(self, graph: object) -> None:
        assert isinstance(graph, CudaGraph)
        self._enter()
        self._driver.status("cuGraphExecDestroy", graph.handle)

    def synchronize(self) -> None:
        """Wait for all work; Ctrl-C ends the wait."""
        self._enter()
        start = perf_counter()
        while (code := self._driver.status("cuStreamQuery", self.stream)) == NOT_READY:
            if perf_counter() - start > SPIN:
                sleep(NAP)
        if code != SUCCESS:
            raise self._error("cuStreamQuery", code)
        self._launches = 0

    def event(self) -> DeviceEvent:
        self._enter()
        event = DeviceEvent(self._driver)
        self._call("cuEventRecord", event.handle, self.stream)
        return event

    def seconds(self, first: object, last: object) -> float:
        assert isinstance(first, DeviceEvent) and isinstance(last, DeviceEvent)
        self.synchronize()
        milliseconds = c_float()
        self._call("cuEventElapsedTime", byref(milliseconds), first.handle, last.handle)
        return milliseconds.value / 1e3

    def wait_in(self, stream: int) -> None:
        event = self.event()
        self._call("cuStreamWaitEvent", stream, event.handle, 0)


@cache
def default_device() -> CudaDevice:
    """Return the first GPU of this process; `CUDA_VISIBLE_DEVICES` chooses it."""
    return CudaDevice()


class CudaGraph(NamedTuple):
    """Launches that run as one."""

    handle: int
    launches: int
    last: Sequence[str]
    """The kernels of the last launches."""


class DeviceEvent:
    """A CUDA event, which is destroyed with this object."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.handle = driver.handle("cuEventCreate", 0)

    def __del__(self) -> None:
        self._driver.status("cuEventDestroy_v2", self.handle)


class LoadedCode(Mapping[str, object]):
    """The kernels of cubins that are loaded on a device, by name; unloaded with this object."""

    def __init__(self, driver: Driver, code: Sequence[bytes]) -> None:
        self._driver, self._modules = driver, list[int]()
        for cubin in code:
            self._modules.append(driver.handle("cuModuleLoadData", cubin))
        self._kernels: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        if name not in self._kernels:
            self._kernels[name] = self._found(name)
        return self._kernels[name]

    def _found(self, name: str) -> int:
        *others, last = self._modules
        kernel = c_void_p()
        for module in others:
            code = self._driver.status("cuModuleGetFunction", byref(kernel), module, name.encode())
            if code == SUCCESS:
                return kernel.value or 0
        return self._driver.handle("cuModuleGetFunction", last, name.encode())

    def __iter__(self):
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __del__(self) -> None:
        for module in self._modules:
            self._driver.status("cuModuleUnload", module)
