"""LLVM in this process: optimization of LLVM IR, and linking of object code in memory."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...dialects.target import Target, host
from ...passmanager.errors import PasslineError
from .soft_promotion import CONVERSION

if TYPE_CHECKING:
    import llvmlite.binding as llvm

__all__ = [
    "Code",
    "is_in_process",
    "link",
    "load_llvm",
    "machine_of",
    "optimize",
    "target_machine",
]


@dataclass(frozen=True)
class Code:
    """A function in memory, which is freed together with this object."""

    address: int
    keeps: tuple[object, ...]
    """The objects that own the memory."""


def optimize(ir: str, entry: str, machine: llvm.TargetMachine, level: int = 3) -> llvm.ModuleRef:
    """Parse LLVM IR and return the module, optimized for `machine`. All its functions except
    `entry` become internal."""
    binding = load_llvm()
    try:
        module = binding.parse_assembly(ir)
    except RuntimeError as error:
        raise PasslineError(f"LLVM cannot parse the output of mlir-translate: {error}") from error
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    for function in module.functions:
        if function.is_declaration or function.name == entry:
            # C99 has rint but not roundeven; they agree in the default rounding mode.
            function.name = function.name.replace("llvm.roundeven.", "llvm.rint.")
            continue
        function.linkage = "internal"
        if function.name.startswith(CONVERSION):
            function.add_function_attribute("alwaysinline")
        elif sum(1 for _ in function.blocks) > 1:
            # Inlining a kernel would lose the noalias of its buffers, and make @main huge.
            function.add_function_attribute("noinline")
    options = binding.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = level > 1
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def is_in_process(symbol: str) -> bool:
    """Return whether this process defines a function or variable named `symbol`."""
    return hasattr(ctypes.CDLL(None), symbol)


def link(code: bytes, entry: str, symbols: Mapping[str, int]) -> Code:
    """Load an object file into memory and return its function `entry`. `symbols` gives the
    addresses of undefined symbols that this process does not define."""
    binding = load_llvm()
    builder = binding.JITLibraryBuilder().add_object_img(code)
    builder.add_current_process().export_symbol(entry)
    for name, address in symbols.items():
        builder.import_symbol(name, address)
    jit = binding.create_lljit_compiler(machine_of(host()))
    try:
        library = builder.link(jit, entry)
    except RuntimeError as error:
        raise PasslineError(f"the machine code cannot be linked: {error}") from error
    return Code(library[entry], (library, jit))


def load_llvm():  # -> the module llvmlite.binding
    """Return llvmlite's binding, initialized for all targets; PasslineError if llvmlite is not
    installed."""
    try:
        import llvmlite.binding as binding
    except ImportError:
        raise PasslineError(
            "llvmlite is not installed: pip install '.[native]', or llvmlite alone"
        ) from None
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding


def machine_of(target: Target) -> llvm.TargetMachine:
    """Return LLVM's machine for a target."""
    features = target.features.split(",")
    if target.triple.startswith("aarch64"):  # fused multiply-adds are no feature there
        features = [name for name in features if name != "+fma"]
    return target_machine(target.triple, target.cpu, ",".join(features))


def target_machine(triple: str, cpu: str, features: str = "", opt: int = 3) -> llvm.TargetMachine:
    """Return a target machine for which LLVM calls only functions of C99."""
    arch = triple.partition("-")[0]
    if arch in ("x86_64", "aarch64") and "linux" in triple:
        # For a known C library, LLVM also calls its extensions (`sincosf`, `bcmp`).
        triple = f"{arch}-unknown-none-elf"
    return (
        load_llvm()
        .Target.from_triple(triple)
        .create_target_machine(
            cpu=cpu,
            features=features,
            opt=opt,
            reloc="pic",  # constants may be more than 2 GB away from the code
            codemodel="small",
        )
    )
