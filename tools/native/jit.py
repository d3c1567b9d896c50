"""LLVM in this process: from LLVM IR to a function in memory."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...passmanager.errors import PasslineError

if TYPE_CHECKING:
    import llvmlite.binding as llvm

__all__ = ["Code", "assembly", "link", "optimize"]


@dataclass(frozen=True)
class Code:
    """A function in memory, where it stays as long as this lives."""

    address: int
    keeps: tuple[object, ...]


def optimize(ir: str, entry: str, level: int = 3) -> llvm.ModuleRef:
    """The module, optimized for this machine; all of it but the entry is internal to it."""
    binding = load_llvm()
    try:
        module = binding.parse_assembly(ir)
    except RuntimeError as error:
        raise PasslineError(f"LLVM does not read what mlir-translate wrote: {error}") from error
    machine = host_machine()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    for function in module.functions:
        if function.is_declaration or function.name == entry:
            continue
        function.linkage = "internal"
        if sum(1 for _ in function.blocks) > 1:
            # Inlined, a kernel would lose what is known of its buffers, and @main grow huge.
            function.add_function_attribute("noinline")
    options = binding.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = level > 1
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def link(module: llvm.ModuleRef, entry: str, symbols: Mapping[str, int]) -> Code:
    """The entry in memory; `symbols` says where the module's declarations are.

    PasslineError for a declared function that neither they nor this process have.
    """
    binding = load_llvm()
    process = ctypes.CDLL(None)
    for function in module.functions:
        if not function.is_declaration or function.name.startswith("llvm."):
            continue
        if not hasattr(process, function.name):
            raise PasslineError(f"function @{function.name} is called, but has no body")
    machine = host_machine()
    builder = binding.JITLibraryBuilder().add_object_img(machine.emit_object(module))
    builder.add_current_process().export_symbol(entry)
    for name, address in symbols.items():
        builder.import_symbol(name, address)
    jit = binding.create_lljit_compiler(host_machine())
    try:
        library = builder.link(jit, entry)
    except RuntimeError as error:
        raise PasslineError(f"the machine code cannot be linked: {error}") from error
    return Code(library[entry], (library, jit))


def assembly(module: llvm.ModuleRef) -> str:
    """The machine code of an optimized module as text."""
    return host_machine().emit_assembly(module)


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
    """This machine, with all that its processor can do."""
    binding = load_llvm()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=3,
        reloc="pic",  # constants may be further away than 2 GB
        codemodel="small",
    )
