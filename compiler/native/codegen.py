"""LLVM's optimizer and code generator.

This file imports llvmlite alone, and only when it is used: it is also the script of the processes
that compile the parts of a module at the same time, which start in a tenth of a second.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import llvmlite.binding as llvm

__all__ = ["CANNOT_PARSE", "Processor", "initialize", "optimized", "target_machine"]

CANNOT_PARSE = 65
"""The status of a process that got IR that LLVM cannot parse."""

VECTOR_SUM = "fadd contract <"
"""The addition of vectors, in LLVM IR."""
TILE = 4
"""The minimum number of additions of vectors in a function whose sums are in registers."""


class Processor(NamedTuple):
    """A processor, as LLVM describes it."""

    triple: str
    cpu: str
    features: str = ""
    opt: int = 3


def initialize() -> None:
    """Initialize LLVM for all targets."""
    import llvmlite.binding as binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()


def target_machine(processor: Processor) -> llvm.TargetMachine:
    """Return a target machine for which LLVM calls only functions of C99."""
    import llvmlite.binding as binding

    triple = processor.triple
    arch = triple.partition("-")[0]
    if arch in ("x86_64", "aarch64") and "linux" in triple:
        # For a known C library, LLVM also calls its extensions (`sincosf`, `bcmp`).
        triple = f"{arch}-unknown-none-elf"
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=processor.cpu,
        features=processor.features,
        opt=processor.opt,
        reloc="pic",  # constants may be more than 2 GB away from the code
        codemodel="small",
    )


def optimized(
    ir: str, exported: Collection[str], inlined: str, machine: llvm.TargetMachine, level: int = 3
) -> llvm.ModuleRef:
    """Parse LLVM IR and return the module, optimized for `machine`. All its functions except those
    `exported` become internal; those whose names start with `inlined` are inlined. RuntimeError if
    it cannot be parsed."""
    import llvmlite.binding as binding

    module = binding.parse_assembly(ir)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    for function in module.functions:
        if function.is_declaration:
            # C99 has rint but not roundeven; they agree in the default rounding mode.
            function.name = function.name.replace("llvm.roundeven.", "llvm.rint.")
            continue
        if str(function).count(VECTOR_SUM) >= TILE:
            # The sums of a tile fill the registers: LLVM would unroll the loop around them, and
            # need more. Attributes of loops do not survive; this one stops the unrolling.
            function.add_function_attribute("optsize")
        if function.name in exported:
            continue
        function.linkage = "internal"
        if function.name.startswith(inlined):
            function.add_function_attribute("alwaysinline")
        elif sum(1 for _ in function.blocks) > 1:
            # Inlining a kernel would lose the noalias of its buffers, and make @main huge.
            function.add_function_attribute("noinline")
    options = binding.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = level > 1
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def main() -> None:
    """Read a request from stdin, and write the object file to stdout.

    The status is `CANNOT_PARSE` if LLVM cannot parse the IR, with the reason on stderr.
    """
    initialize()  # before the request is there: it takes time
    ir, exported, inlined, processor = pickle.load(sys.stdin.buffer)
    machine = target_machine(Processor(*processor))
    try:
        module = optimized(ir, exported, inlined, machine)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        sys.exit(CANNOT_PARSE)
    sys.stdout.buffer.write(machine.emit_object(module))


if __name__ == "__main__":
    main()
