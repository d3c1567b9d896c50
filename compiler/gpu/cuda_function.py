"""Functions on a GPU that are called with arrays, of numpy or in device memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import RLock
from time import perf_counter
from traceback import clear_frames
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
from xdsl.interpreter import PythonValues

from ...dialects.relax.shapes import merge
from ...dialects.tir.ops import output_count
from ...passmanager.errors import PasslineError
from ..interpreters.arguments import check_arguments
from ..interpreters.dlpack import borrowed, library_of, returned
from ..interpreters.result_arrays import memory_for, write_results
from ..interpreters.signature import Value, argument_names, entry_function, result_names
from ..interpreters.tir.table import number
from ..native.parameters import BufferParameter, CallWords, parameters_of
from .device import Device
from .device_arrays import DeviceArray, code_of, is_on_device, read_device_array
from .driver import OUT_OF_MEMORY, DriverError
from .host_kernels import HostKernels
from .plan import LoadedPlan, make_plan, own_results
from .program import DeviceProgram
from .recorder import DirectRecorder, NeedsValues, Recorder, run_host
from .steps import Executor, HostCall, KernelLaunch, MemoryPool, Step, StepBuffer, StepMemory

if TYPE_CHECKING:
    from ..interpreters.arrays import Array
    from ..interpreters.dlpack import SupportsDLPack

Key: TypeAlias = tuple[object, ...]
Result = TypeVar("Result")
MAX_PLANS = 16
"""The most plans that a function keeps, each for other shapes of its arguments."""


class StepTime(NamedTuple):
    """The time of one step of a call: of a kernel, a copy, a fill, or a function on the host."""

    name: str
    """The name of the kernel or function, or `copy` or `fill`."""
    where: str
    """The location of the operation, as ` at x.mlir:3:8`; empty if it is not known."""
    seconds: float


class CudaFunction:
    """A function on a device, with the interface of NativeFunction.

    If an argument is in device memory, so are the results: nothing is copied, and they are arrays
    of the library of the first such argument. The first call with arguments of new shapes runs the
    host functions and records a plan of their launches, which later calls repeat. The second call
    of a plan at the same addresses captures a CUDA graph, and each call after it launches that.
    Calls of several threads run one after the other.
    """

    def __init__(self, program: DeviceProgram, device: Device, start: float) -> None:
        """Load a program into the memory of `device`; `start` is the time at which its compilation
        began."""
        self.function = function = program.function
        """The compiled function: its type, and the names of its parameters and results."""
        self._program, self._device = program, device
        self._entry = entry_function(program.module, function.sym_name.data)
        self._parameters = parameters_of(function)
        count = len(self._parameters) - output_count(function)
        self._inputs = self._parameters[:count]
        outputs = [p for p in self._parameters[count:] if isinstance(p, BufferParameter)]
        for parameter in (*self._inputs, *outputs):
            if isinstance(parameter, BufferParameter):
                parameter.check_size()
        self._outputs, self._returned = outputs, CallWords(function).buffers
        self._results = [*outputs, *self._returned]
        self._pool = MemoryPool(device)
        kernels = device.load(program.code)
        self._executor = Executor(device, kernels, HostKernels(program.module))
        self._constants: dict[str, StepMemory] = {}
        self._plans: OrderedDict[Key, LoadedPlan | None] = OrderedDict()
        self._lock = RLock()
        self.compile_seconds = perf_counter() - start
        """The time of the compilation, in seconds."""

    @property
    def plans(self) -> list[LoadedPlan | None]:
        """The plans of the calls so far; None for shapes at which each call runs the host
        functions."""
        return [*self._plans.values()]

    @property
    def returns_results(self) -> bool:
        """Whether the results are new arrays; otherwise the function changes its arguments."""
        return bool(self._results)

    # Calls

    def __call__(self, *arguments: Value | float | SupportsDLPack) -> tuple[Any, ...]:
        if not self.returns_results:
            return self._call_in_place(arguments)
        if any(map(is_on_device, arguments)):
            results = self._call(self._checked(arguments))
            first = [next(filter(is_on_device, arguments))]
            return tuple(map(library_of(first) or _same, results))
        library = library_of(arguments)
        given = arguments if library is None else borrowed(self.function, arguments)
        arrays = self._fetch(self._checked(given))
        if library is not None:
            return returned(arrays, [p.type for p in self._results], library)
        pairs = zip(self._results, arrays, strict=True)
        return tuple(parameter.from_memory(array) for parameter, array in pairs)

    def _call_in_place(self, arguments: Sequence[Any]) -> tuple[()]:
        """Call the function, and copy the buffers that it changed to the arrays of the caller."""
        with self._lock:
            given = self._checked(arguments)
            rows = [*zip(self._inputs, given, arguments, strict=True)]
            values = [
                self._on_device(p, array) if isinstance(p, BufferParameter) else array
                for p, array, _ in rows
            ]
            self._call(values)
            for (p, array, argument), value in zip(rows, values, strict=True):
                if isinstance(value, DeviceArray) and value is not array:
                    if isinstance(p, BufferParameter) and argument.flags.writeable:
                        argument[...] = p.from_memory(value.numpy())
        return ()

    def write_into(self, places: Sequence[Any], arguments: Sequence[Any]) -> None:
        """Call the function, and write its results to `places`, which are arrays of numpy or of
        another library. Kernels write directly to those in device memory.

        Errors: PasslineError if some are in device memory and others are not.
        """
        on_device = [is_on_device(place) for place in places]
        if len(places) == len(self._results) and all(on_device):
            targets = [*map(self._target, self._results, places)]
            return self._call_into(targets, self._checked(arguments))
        if any(on_device):
            raise PasslineError("`out` has arrays on a device and others: expected one kind")
        names, types = result_names(self.function), [p.type for p in self._results]
        memory = memory_for(names, types, places)
        on_host = [argument for argument in arguments if not is_on_device(argument)]
        read = iter(borrowed(self.function, on_host))
        given = self._checked([a if is_on_device(a) else next(read) for a in arguments])
        write_results(names, types, self._fetch(given), memory)

    def _target(self, parameter: BufferParameter, place: object) -> DeviceArray:
        array = read_device_array(parameter.name, place, self._device)
        if merge(parameter.shape, array.shape) is None or array.dtype != parameter.stored:
            raise PasslineError(
                f"`out` for result '{parameter.name}' is {array.dtype} of "
                f"{'x'.join(map(str, array.shape))}: expected {parameter.type}"
            )
        return array

    def _call_into(self, targets: Sequence[DeviceArray], given: Sequence[Any]) -> None:
        used = {array.address for array in given if isinstance(array, DeviceArray)}
        direct = [array if array.address not in used else None for array in targets]
        with self._lock:
            results = self._call(given, direct[: len(self._outputs)])
            for result, target in zip(results, targets, strict=True):
                if result.shape != target.shape:
                    made, of = ("x".join(map(str, a.shape)) for a in (result, target))
                    raise PasslineError(f"a result is of {made}: `out` is of {of}")
                if result is not target:
                    size = result.dtype.itemsize * int(np.prod(result.shape))
                    self._device.copy(target.address, result.address, size)

    def step_times(self, *arguments: Value | float | SupportsDLPack) -> list[StepTime]:
        """Call the function, and return the times of its kernels and copies on the device."""
        with self._lock:
            self._executor.times = []
            try:
                self._call(self._checked(arguments))
                return [
                    StepTime(*_name_of(step), self._device.seconds(first, last))
                    for step, first, last in self._executor.times
                ]
            finally:
                self._executor.times = None

    # Arguments

    def _checked(self, arguments: Sequence[Any]) -> list[Array | DeviceArray]:
        """Check the arguments, and convert them to the dtypes of device memory; arrays in device
        memory stay as they are."""
        names = dict(enumerate(argument_names(self.function)))
        given = [
            read_device_array(names.get(i, str(i)), value, self._device)
            if is_on_device(value)
            else value
            for i, value in enumerate(arguments)
        ]
        on_host = [self._outline(i, value) for i, value in enumerate(given)]
        checked = cast("Sequence[Array]", check_arguments(self.function, on_host, keep_bits=True))
        return [
            value if isinstance(value, DeviceArray) else p.in_memory(array, writable=False)
            for p, value, array in zip(self._inputs, given, checked, strict=True)
        ]

    def _outline(self, i: int, value: Any) -> Any:
        """Return an array of zeros with the shape and type of one in device memory, for checks."""
        if not isinstance(value, DeviceArray):
            return value
        parameter = self._inputs[i] if i < len(self._inputs) else None
        narrow = getattr(parameter, "narrow", None)
        if narrow is not None and code_of(narrow) == value.code:
            return np.broadcast_to(np.zeros((), [(str(narrow), value.dtype)]), value.shape)
        if parameter is not None and not isinstance(parameter, BufferParameter):
            raise PasslineError(
                f"argument {i} is a number: expected it in the memory of the processor"
            )
        return np.broadcast_to(np.zeros((), value.dtype), value.shape)

    # Runs

    def _call(
        self, given: Sequence[Array | DeviceArray], targets: Sequence[DeviceArray | None] = ()
    ) -> list[DeviceArray]:
        """Start a call on the device, and return its results in device memory. Kernels write
        directly to `targets`; None allocates a new array."""
        return self._guarded(lambda: self._run(given, targets))

    def _fetch(self, given: Sequence[Array | DeviceArray]) -> list[Array]:
        """Call the function, and return its results as arrays of numpy."""
        return self._guarded(lambda: [result.numpy() for result in self._run(given, ())])

    def _guarded(self, work: Callable[[], list[Result]]) -> list[Result]:
        """Return the result of `work`. If there is too little device memory, free that of other
        plans and try once more. After another error, or Ctrl-C, free the memory of the function."""
        with self._lock:
            try:
                return work()
            except BaseException as error:
                # The frames of the call refer to its memory, which can be freed without them alone.
                clear_frames(error.__traceback__)
                self.release()
                if not isinstance(error, DriverError) or error.code != OUT_OF_MEMORY:
                    raise
            return work()

    def _run(
        self, given: Sequence[Array | DeviceArray], targets: Sequence[DeviceArray | None]
    ) -> list[DeviceArray]:
        rows = zip(self._inputs, given, strict=True)
        inputs = [self._on_device(p, a) if isinstance(p, BufferParameter) else a for p, a in rows]
        outputs = [
            target or self._array(p, p.shape, self._pool.allocate(p.size))
            for p, target in zip(self._outputs, targets or [None] * len(self._outputs), strict=True)
        ]
        values = [*inputs, *outputs]
        addresses = [value.address for value in values if isinstance(value, DeviceArray)]
        if (plan := self._plan(values)) is None:
            return [*outputs, *self._run_directly(values, addresses)]
        sizes = [plan.plan.sizes[buffer.place.allocation] for buffer in plan.plan.results]
        memory = [self._pool.allocate(size) for size in sizes]
        plan.run(addresses, [each.address for each in memory])
        return [*outputs, *map(self._result, self._returned, plan.plan.results, memory)]

    def _plan(self, values: Sequence[Array | DeviceArray]) -> LoadedPlan | None:
        """Return the plan for arguments and outputs of these shapes, which is made if it is new.
        None if the host functions read results of kernels, and so have to run in each call."""
        key = tuple(v.shape if isinstance(v, DeviceArray) else v.item() for v in values)
        if key in self._plans:
            self._plans.move_to_end(key)
            return self._plans[key]
        try:
            plan = make_plan(self._program, self._entry, lambda r: self._shadows(r, values))
            loaded = LoadedPlan(plan, self._executor, self._pool.allocate, self._constant)
        except NeedsValues:
            loaded = None
        self._plans[key] = loaded
        if len(self._plans) > MAX_PLANS:
            self._plans.popitem(last=False)
        return loaded

    def _run_directly(
        self, values: Sequence[Array | DeviceArray], addresses: Sequence[int]
    ) -> list[DeviceArray]:
        """Run the host functions, step by step, as they read results of kernels."""
        recorder = DirectRecorder(
            self._program, self._executor, self._pool, self._constant, addresses
        )
        shadows = self._shadows(recorder, values)
        results = own_results(recorder, run_host(self._program, self._entry, recorder, shadows))
        memory = [recorder.memory[buffer.place.allocation] for buffer in results]
        return [*map(self._result, self._returned, results, memory)]

    def _shadows(self, recorder: Recorder, values: Sequence[Array | DeviceArray]) -> PythonValues:
        """Return the arguments of the host function: a shadow for each array, and numbers."""
        return tuple(
            recorder.shadow(value.shape, value.dtype)
            if isinstance(value, DeviceArray)
            else number(value.item(), parameter.type)
            for parameter, value in zip(self._parameters, values, strict=True)
        )

    # Memory

    def release(self) -> None:
        """Free the device memory of plans and constants, but not that of results in use. A later
        call allocates it again."""
        with self._lock:
            self._plans.clear()
            self._constants.clear()
            self._pool.release()

    def _constant(self, name: str) -> StepMemory:
        """Return a constant in device memory; the first call uploads it."""
        if name not in self._constants:
            array = self._program.constants[name]
            memory = self._pool.allocate(array.nbytes)
            self._device.upload(memory.address, array)
            self._constants[name] = memory
        return self._constants[name]

    def _result(
        self, parameter: BufferParameter, buffer: StepBuffer, memory: StepMemory
    ) -> DeviceArray:
        return self._array(parameter, buffer.shape, memory, buffer.place.offset)

    def _on_device(self, parameter: BufferParameter, array: Array | DeviceArray) -> DeviceArray:
        if isinstance(array, DeviceArray):
            return array
        memory = self._pool.allocate(array.nbytes)
        self._device.upload(memory.address, array)
        return self._array(parameter, array.shape, memory)

    def _array(
        self, parameter: BufferParameter, shape: Sequence[int], memory: StepMemory, offset: int = 0
    ) -> DeviceArray:
        code = None if parameter.narrow is None else code_of(parameter.narrow)
        address, stored = memory.address + offset, parameter.stored
        return DeviceArray(self._device, address, shape, stored, memory, code)


def _same(array: DeviceArray) -> DeviceArray:
    return array


def _name_of(step: Step) -> tuple[str, str]:
    """Return the name and the location of a step."""
    match step:
        case KernelLaunch():
            return step.kernel, step.where
        case HostCall():
            return step.function, " on the host"
        case _:
            return type(step).__name__.lower(), ""
