"""The compilation of a module to a program for a device, and the cache of such programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, UnitAttr

from ...dialects.cuda_tile.module_ops import ModuleOp as TileModuleOp
from ...dialects.target import Target, entered_target
from ...passes.tir.lower_cuda_tile import LowerToCudaTile
from ...passmanager.errors import PasslineError
from ...passmanager.ir.garbage_collection import paused_collector
from ...passmanager.ir.text.parser import parse_module
from ...passmanager.registry import make_ir_context
from ...passmanager.sequential import Sequential
from ..interpreters.arrays import NarrowFloat
from ..interpreters.signature import entry_function
from ..interpreters.tir.memory import initial_value
from ..native import cache
from ..native.compiled import Compiled, signature_of, text_of
from ..native.function import digest_of_database
from ..native.lowering import NECESSARY as NECESSARY_ON_BUFFERS
from ..native.lowering import lowering_to_kernels
from ..native.preparation.assertions import Failures
from .cuda_function import CudaFunction
from .device import Device, target_of_device
from .program import DeviceProgram, check_host_functions, entry_kinds
from .shadows import device_dtype

if TYPE_CHECKING:
    from ..interpreters.arrays import Array

NECESSARY = (*NECESSARY_ON_BUFFERS, "tir-lower-to-cuda-tile")
"""The passes without which there is no code for a device."""
Lowering = Callable[[ModuleOp], ModuleOp]


def compile_for_device(
    module: ModuleOp, entry: str, target: Target | None, device: Device
) -> CudaFunction:
    """Compile the function `entry` of a module, with the functions that it calls, for `device`.

    Kernels are made for `target`; without one, for the target of the module or of
    `with Target(...)`, or else for the processor of the device. Errors: PasslineError if the
    function cannot be compiled, or if a tool is missing.
    """
    start = perf_counter()
    return CudaFunction(device_program(module, entry, target, device), device, start)


def cached_device_function(
    module: ModuleOp,
    entry: str,
    target: Target | None,
    device: Device,
    *settings: object,
    lower: Lowering,
) -> CudaFunction:
    """Return the function that `compile_for_device` returns, from the cache if it is there.

    `lower` is called with the module before it is compiled. The key of the cache has `settings`,
    which must describe what `lower` does.
    """
    start = perf_counter()
    target = target_for(module, target, device)
    if not cache.is_covered(module):
        program = device_program(lower(module), entry, target, device)
        return CudaFunction(program, device, start)
    known = (type(device).__name__, device.target, entry, target, digest_of_database())
    key = cache.key_of(module, *known, *settings)
    if (found := cache.load(key)) is None:
        found = packed(device_program(lower(module), entry, target, device))
        cache.store(key, found)
    return CudaFunction(unpacked(found), device, start)


def target_for(module: ModuleOp, target: Target | None, device: Device) -> Target:
    """Return the target that kernels are made for, as `compile_for_device` says.

    Errors: PasslineError if it is no GPU.
    """
    target = target or entered_target(module) or target_of_device(device)
    if not target.is_cuda:
        raise PasslineError(f"{device.name} cannot run code for {target}: expected {device.target}")
    return target


def lowering_to_tiles(entry: str, target: Target) -> Sequential:
    """Return the pipeline that lowers a module from any stage to host functions and kernels."""
    passes = [lowering_to_kernels(entry, target, target.cores), LowerToCudaTile()]
    return Sequential(passes, name="complete-lowering")


def device_program(
    module: ModuleOp, entry: str, target: Target | None, device: Device
) -> DeviceProgram:
    """Lower and assemble a function for a device; the module is not changed."""
    entry_function(module, entry)
    with paused_collector():
        lowered = lowering_to_tiles(entry, target_for(module, target, device))(module)
        return split(lowered, entry, device)


def split(module: ModuleOp, entry: str, device: Device) -> DeviceProgram:
    """Make a program of a lowered module, from which the kernels and the elements of the globals
    are removed."""
    check_host_functions(module, entry)
    code, kinds = list[bytes](), dict[str, tuple[str, ...]]()
    for op in module.ops:
        if isinstance(op, TileModuleOp):
            code, kinds = device.assemble(op), entry_kinds(op)
            op.detach()
    constants: dict[str, Array] = {}
    for op in module.ops:
        if isinstance(op, memref.GlobalOp):
            constants[op.sym_name.data] = elements_of(op)
            op.properties["initial_value"] = UnitAttr()
    signature = signature_of(entry_function(module, entry))
    return DeviceProgram(signature, module, code, kinds, constants)


def elements_of(op: memref.GlobalOp) -> Array:
    """Return the elements of a global, with the dtype that they have in device memory."""
    value, element = op.initial_value, device_dtype(op.type)
    if isinstance(op.type.element_type, NarrowFloat) and isinstance(
        value, DenseIntOrFPElementsAttr
    ):
        return np.frombuffer(value.data.data, element).reshape(value.get_shape())
    return np.ascontiguousarray(initial_value(op)).astype(element, copy=False)


def packed(program: DeviceProgram) -> Compiled:
    """Convert a program to an entry of the cache."""
    texts = [text_of(program.module), json.dumps(dict(program.entries))]
    objects = [*program.code, *(text.encode() for text in texts)]
    return Compiled(program.function, objects, dict(program.constants), Failures([], []))


def unpacked(compiled: Compiled) -> DeviceProgram:
    """Convert an entry of the cache to a program."""
    *code, text, kinds = compiled.objects
    module = parse_module(make_ir_context(), text.decode(), "cache")
    entries = {name: tuple(each) for name, each in json.loads(kinds).items()}
    return DeviceProgram(compiled.function, module, code, entries, compiled.constants)
