"""The run of host functions: the interpreter records what they give to the device."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import BFloat16Type, MemRefType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from ...dialects.tir.ops import CallOp, LaunchOp
from ...passmanager.ir.location import place_of
from ..interpreters.arrays import NarrowFloat, codes_of, numbers_of
from ..interpreters.interpret import computed_errors, interpreter_of
from ..interpreters.signature import Function, is_buffer
from ..interpreters.tir.memory import check_indices, merge_dynamic, view
from ..interpreters.tir.table import element_type, number
from .debug_places import origin_text
from .device import Scalar
from .program import POINTER, DeviceProgram, launching_functions
from .shadows import Shadows, device_dtype
from .steps import (
    Copy,
    Executor,
    Fill,
    HostCall,
    KernelLaunch,
    MemoryPool,
    Step,
    StepBuffer,
    StepMemory,
)

if TYPE_CHECKING:
    from ..interpreters.arrays import Array
    from ..interpreters.prepared import PreparedInterpreter


class NeedsValues(Exception):
    """Raised if host functions read what a kernel computes, so that each call must run them."""


class Recorder:
    """The work of one call: steps in order, and allocations by number. The first are the buffers
    among the arguments of the function."""

    def __init__(self, program: DeviceProgram) -> None:
        self._program = program
        self._shadows = Shadows()
        self.sizes = self._shadows.sizes
        self.steps: list[Step] = []
        self.constants: dict[str, int] = {}
        """The allocations of constants, by symbol."""
        self.events: list[tuple[int, bool]] = []
        """The allocations that were made (true) and freed (false), in order."""
        self._known: dict[str, Array] = {}

    def shadow(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Return a new allocation that belongs to the caller."""
        return self._shadows.new(shape, dtype)

    def allocate(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Return a new allocation of the call."""
        self.events.append((len(self.sizes), True))
        return self.shadow(shape, dtype)

    def free(self, buffer: Array) -> None:
        self.events.append((self._shadows.place_of(buffer).allocation, False))

    def constant(self, name: str) -> Array:
        """Return the allocation of a constant, which stays on the device."""
        if name not in self._known:
            array = self._program.constants[name]
            self.constants[name] = len(self.sizes)
            self._known[name] = self.shadow(array.shape, array.dtype)
        return self._known[name]

    def issue(self, step: Step) -> None:
        self.steps.append(step)

    def read(self, buffer: Array) -> Array:
        """Return the elements of a contiguous buffer; NeedsValues if kernels compute them."""
        place = self._shadows.place_of(buffer)
        for name, allocation in self.constants.items():
            if allocation == place.allocation:
                data = self._program.constants[name].reshape(-1).view("u1")
                return data[place.offset :][: buffer.nbytes].view(buffer.dtype)
        raise NeedsValues

    def buffer(self, shadow: Array) -> StepBuffer:
        """Return a contiguous buffer; InterpretationError for another one."""
        if not shadow.flags.c_contiguous:
            raise InterpretationError("the buffer has gaps: expected contiguous elements")
        return StepBuffer(self._shadows.place_of(shadow), shadow.shape, shadow.dtype)

    def copy(self, target: Array, source: Array) -> None:
        """Copy elements, in as few steps as there are gaps."""
        if not target.size:
            return
        if target.flags.c_contiguous and source.flags.c_contiguous:
            places = self._shadows.place_of(target), self._shadows.place_of(source)
            self.issue(Copy(*places, target.nbytes))
        else:
            for to, of in zip(_rows(target), _rows(source), strict=True):
                self.copy(to, of)


def _rows(buffer: Array) -> Iterator[Array]:
    return (buffer[i, ...] for i in range(len(buffer)))


class DirectRecorder(Recorder):
    """The work of one call that is done at once, for functions that read what kernels compute."""

    def __init__(
        self,
        program: DeviceProgram,
        executor: Executor,
        pool: MemoryPool,
        constant: Callable[[str], StepMemory],
        arguments: Sequence[int],
    ) -> None:
        super().__init__(program)
        self.addresses = [*arguments]
        self.memory: dict[int, StepMemory] = {}
        self._executor, self._pool, self._constant = executor, pool, constant

    def allocate(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        shadow = super().allocate(shape, dtype)
        memory = self.memory[len(self.addresses)] = self._pool.allocate(shadow.nbytes)
        self.addresses.append(memory.address)
        return shadow

    def free(self, buffer: Array) -> None:
        del self.memory[self._shadows.place_of(buffer).allocation]

    def constant(self, name: str) -> Array:
        shadow = super().constant(name)
        if len(self.addresses) < len(self.sizes):
            self.addresses.append(self._constant(name).address)
        return shadow

    def issue(self, step: Step) -> None:
        self._executor.perform(step, self.addresses)

    def read(self, buffer: Array) -> Array:
        try:
            return super().read(buffer)
        except NeedsValues:
            place = self._shadows.place_of(buffer)
            array = np.empty(buffer.shape, buffer.dtype)
            address = self.addresses[place.allocation] + place.offset
            self._executor.device.download(array, address)
            return array


# The semantics of host functions


@register_impls
class HostFunctions(InterpreterFunctions):
    """The semantics of what touches memory: buffers are shadows."""

    def __init__(
        self, program: DeviceProgram, recorder: Recorder, interpreter: PreparedInterpreter
    ) -> None:
        self._program, self._recorder, self._interpreter = program, recorder, interpreter
        self._launching = launching_functions(program.module)

    @impl(memref.AllocOp)
    def run_alloc(self, _: Interpreter, op: memref.AllocOp, args: PythonValues) -> PythonValues:
        type = _memref(op.memref.type)
        shape = merge_dynamic(type.get_shape(), args[: len(op.dynamic_sizes)])
        return (self._recorder.allocate(shape, device_dtype(type)),)

    @impl(memref.AllocaOp)
    def run_alloca(self, _: Interpreter, op: memref.AllocaOp, args: PythonValues) -> PythonValues:
        type = _memref(op.memref.type)
        shape = merge_dynamic(type.get_shape(), args[: len(op.dynamic_sizes)])
        return (self._recorder.allocate(shape, device_dtype(type)),)

    @impl(memref.DeallocOp)
    def run_dealloc(self, _: Interpreter, op: memref.DeallocOp, args: PythonValues) -> PythonValues:
        self._recorder.free(args[0])
        return ()

    @impl(memref.GetGlobalOp)
    def run_get_global(
        self, _: Interpreter, op: memref.GetGlobalOp, args: PythonValues
    ) -> PythonValues:
        return (self._recorder.constant(op.name_.string_value()),)

    @impl(memref.ViewOp)
    def run_view(self, _: Interpreter, op: memref.ViewOp, args: PythonValues) -> PythonValues:
        return (view(op, *args, dtype=device_dtype(op.result.type)),)

    @impl(memref.CopyOp)
    def run_copy(self, _: Interpreter, op: memref.CopyOp, args: PythonValues) -> PythonValues:
        self._recorder.copy(args[1], args[0])
        return ()

    @impl(memref.LoadOp)
    def run_load(self, _: Interpreter, op: memref.LoadOp, args: PythonValues) -> PythonValues:
        buffer, *indices = args
        array = self._recorder.read(buffer[(*check_indices(buffer, indices), ...)])
        element = element_type(op.res.type)
        value = numbers_of(array, element) if isinstance(element, NarrowFloat) else array
        return (number(value.reshape(())[()], op.res.type),)

    @impl(memref.StoreOp)
    def run_store(self, _: Interpreter, op: memref.StoreOp, args: PythonValues) -> PythonValues:
        value, buffer, *indices = args
        element = element_type(op.value.type)
        if isinstance(element, NarrowFloat):
            value = codes_of(np.asarray(value), element)
        target = self._recorder.buffer(buffer[(*check_indices(buffer, indices), ...)])
        pattern = np.asarray(value).astype(buffer.dtype).tobytes()
        self._recorder.issue(Fill(target.place, pattern, 1))
        return ()

    @impl(CallOp)
    def run_call(self, interpreter: Interpreter, op: CallOp, args: PythonValues) -> PythonValues:
        name = op.callee.string_value()
        if name in self._launching:
            return interpreter.call_op(op.callee, args)
        pairs = zip(op.arguments, args, strict=True)
        given = [self._recorder.buffer(a) if is_buffer(value.type) else a for value, a in pairs]
        self._recorder.issue(HostCall(name, given))
        return ()

    @impl(LaunchOp)
    def run_launch(self, _: Interpreter, op: LaunchOp, args: PythonValues) -> PythonValues:
        name = op.callee.nested_references.data[-1].data
        kinds = self._program.entries[name]
        x, y, z, *rest = args
        if 0 in (x, y, z):
            return ()
        given = [self._argument(name, *row) for row in zip(kinds, rest, strict=True)]
        calls = self._interpreter.position.calls
        where = place_of(calls[-1] if calls else op)
        function = op.parent_op()
        origin = "" if function is None else origin_text(function.location)
        if where not in origin:  # a kernel that another call shares: these are its operations
            origin = ""
        self._recorder.issue(KernelLaunch(name, (x, y, z), given, where, origin))
        return ()

    def _argument(self, kernel: str, kind: str, value: Any) -> StepBuffer | Scalar:
        if kind == POINTER:
            return self._recorder.buffer(value)
        scalar = SCALARS[kind](value)
        if kind in ("i32", "i64") and scalar.value != int(value):
            raise InterpretationError(f"kernel @{kernel} takes sizes of {kind}: {value} exceeds it")
        return scalar


SCALARS: Mapping[str, Callable[[Any], Scalar]] = {
    "i1": ctypes.c_bool,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "f16": lambda value: ctypes.c_uint16(int(np.float16(value).view(np.uint16))),
    "bf16": lambda value: ctypes.c_uint16(int(codes_of(np.array(value), BFloat16Type()))),
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}
"""How numbers are passed to kernels."""


def _memref(type: Attribute) -> MemRefType[Attribute]:
    assert isinstance(type, MemRefType)
    return cast("MemRefType[Attribute]", type)


def run_host(
    program: DeviceProgram, entry: Function, recorder: Recorder, arguments: PythonValues
) -> list[Array]:
    """Run a host function on shadows and numbers, and return the buffers that it returns.

    PasslineError if an operation cannot be computed, and NeedsValues from the recorder.
    """
    interpreter = interpreter_of(program.module)
    functions = HostFunctions(program, recorder, interpreter)
    interpreter.register_implementations(functions, override=True)
    with computed_errors(interpreter, entry, NeedsValues):
        return [*interpreter.call_op(entry, arguments)]
