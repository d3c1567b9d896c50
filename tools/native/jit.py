"""LLVM in this process: from LLVM IR to object code, and to a function in memory."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...passmanager.errors import PasslineError
from .soft_promotion import CONVERSION

if TYPE_CHECKING:
    import llvmlite.binding as llvm

__all__ = [
    "Code",
    "host_machine",
    "is_in_process",
    "link",
    "load_llvm",
    "optimize",
    "target_machine",
]


@dataclass(frozen=True)
class Code:
    """A function in memory, where it stays as long as this lives."""

    address: int
    keeps: tuple[object, ...]


def optimize(ir: str, entry: str, machine: llvm.TargetMachine, level: int = 3) -> llvm.ModuleRef:
    """Return the module, optimized for a machine; all of it but the entry is internal to it."""
    binding = load_llvm()
    try:
        module = binding.parse_assembly(ir)
    except RuntimeError as error:
        raise PasslineError(f"LLVM does not read what mlir-translate wrote: {error}") from error
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    for function in module.functions:
        if function.is_declaration or function.name == entry:
            # C99 has no roundeven, but rint, which does the same unless a program says otherwise.
            function.name = function.name.replace("llvm.roundeven.", "llvm.rint.")
            continue
        function.linkage = "internal"
        if function.name.startswith(CONVERSION):
            function.add_function_attribute("alwaysinline")
        elif sum(1 for _ in function.blocks) > 1:
            # Inlined, a kernel would lose what is known of its buffers, and @main grow huge.
            function.add_function_attribute("noinline")
    options = binding.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = level > 1
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def is_in_process(symbol: str) -> bool:
    """Return whether this process has a function or variable of that name."""
    return hasattr(ctypes.CDLL(None), symbol)


def link(code: bytes, entry: str, symbols: Mapping[str, int]) -> Code:
    """Return the entry of an object file in memory; `symbols` are the addresses of those of its
    undefined symbols that this process does not have."""
    binding = load_llvm()
    builder = binding.JITLibraryBuilder().add_object_img(code)
    builder.add_current_process().export_symbol(entry)
    for name, address in symbols.items():
        builder.import_symbol(name, address)
    jit = binding.create_lljit_compiler(host_machine())
    try:
        library = builder.link(jit, entry)
    except RuntimeError as error:
        raise PasslineError(f"the machine code cannot be linked: {error}") from error
    return Code(library[entry], (library, jit))


def load_llvm():  # -> the module llvmlite.binding
    """llvmlite, ready for this machine; PasslineError if it is not installed."""
    try:
        import llvmlite.binding as binding
    except ImportError:
        raise PasslineError(
            "llvmlite is not installed: `pip install llvmlite`, or passline[native]"
        ) from None
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def host_machine() -> llvm.TargetMachine:
    """Return this machine, with all that its processor can do."""
    binding = load_llvm()
    features = binding.get_host_cpu_features().flatten()
    return target_machine(binding.get_default_triple(), binding.get_host_cpu_name(), features)


def target_machine(triple: str, cpu: str, features: str = "", opt: int = 3) -> llvm.TargetMachine:
    """Return a machine for which LLVM calls no functions but those of C99."""
    arch = triple.partition("-")[0]
    if arch in ("x86_64", "aarch64") and "linux" in triple:
        # Where it knows the C library, LLVM calls its extensions (`sincosf`, `bcmp`) as well.
        triple = f"{arch}-unknown-none-elf"
    return (
        load_llvm()
        .Target.from_triple(triple)
        .create_target_machine(
            cpu=cpu,
            features=features,
            opt=opt,
            reloc="pic",  # constants may be further away than 2 GB
            codemodel="small",
        )
    )
