"""LLVM in this process: optimization of LLVM IR, and linking of object code in memory."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...dialects.target import Target, host
from ...passmanager.errors import PasslineError
from . import codegen
from .preparation.soft_promotion import CONVERSION

if TYPE_CHECKING:
    import llvmlite.binding as llvm

__all__ = [
    "LoadedFunction",
    "cannot_parse",
    "is_in_process",
    "link",
    "load_llvm",
    "machine_of",
    "optimize",
    "processor_of",
    "target_machine",
]


@dataclass(frozen=True)
class LoadedFunction:
    """A function in memory, which is freed together with this object."""

    address: int
    keeps: tuple[object, ...]
    """The objects that own the memory."""


def optimize(
    ir: str, exported: Collection[str], machine: llvm.TargetMachine, level: int = 3
) -> llvm.ModuleRef:
    """Parse LLVM IR and return the module, optimized for `machine`. All its functions except those
    `exported` become internal. PasslineError if it cannot be parsed."""
    load_llvm()
    try:
        return codegen.optimized(ir, exported, CONVERSION, machine, level)
    except RuntimeError as error:
        raise cannot_parse(error) from error


def cannot_parse(reason: object) -> PasslineError:
    """Return the error that LLVM cannot parse its IR."""
    return PasslineError(f"LLVM cannot parse the IR of the module: {reason}")


def is_in_process(symbol: str) -> bool:
    """Return whether this process defines a function or variable named `symbol`."""
    return hasattr(ctypes.CDLL(None), symbol)


def link(codes: Sequence[bytes], entry: str, symbols: Mapping[str, int]) -> LoadedFunction:
    """Load object files into memory and return their function `entry`. `symbols` gives the
    addresses of undefined symbols that this process does not define."""
    binding = load_llvm()
    builder = binding.JITLibraryBuilder()
    for code in codes:
        builder.add_object_img(code)
    builder.add_current_process().export_symbol(entry)
    for name, address in symbols.items():
        builder.import_symbol(name, address)
    jit = binding.create_lljit_compiler(machine_of(host()))
    try:
        library = builder.link(jit, entry)
    except RuntimeError as error:
        raise PasslineError(f"the machine code cannot be linked: {error}") from error
    return LoadedFunction(library[entry], (library, jit))


def load_llvm():  # -> the module llvmlite.binding
    """Return llvmlite's binding, initialized for all targets; NotInstalledError without it."""
    import llvmlite.binding as binding

    codegen.initialize()
    return binding


def machine_of(target: Target) -> llvm.TargetMachine:
    """Return LLVM's machine for a target."""
    return target_machine(*processor_of(target))


def processor_of(target: Target) -> codegen.Processor:
    """Return what LLVM generates code for."""
    features = target.features.split(",")
    if target.triple.startswith("aarch64"):  # LLVM has no name for multiply-adds, which all have
        features = [name for name in features if name != "+fma"]
    return codegen.Processor(target.triple, target.cpu, ",".join(features))


def target_machine(triple: str, cpu: str, features: str = "", opt: int = 3) -> llvm.TargetMachine:
    """Return a target machine for which LLVM calls only functions of C99."""
    load_llvm()
    return codegen.target_machine(codegen.Processor(triple, cpu, features, opt))
