"""`passline-compile`: reads IR, runs a pipeline over it, and compiles a function to a library."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryDirectory

from typing_extensions import Buffer
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .. import __version__
from ..compiler.compile.code import compile_code, empty_object, object_files
from ..compiler.compile.interface import FIRST_LINE, GpuRuntime, Interface, header_text
from ..compiler.compile.linker import Linker, find_linker, openmp_library, version_script
from ..compiler.compile.signature import identifier, signature_of
from ..compiler.gpu.build import lowering_to_tiles
from ..compiler.gpu.driver import LIBRARY as DRIVER
from ..compiler.gpu.kernel_files import MANIFEST_START, kernel_files
from ..compiler.gpu.library_runtime import prepare_library
from ..compiler.interpreters.signature import entry_function
from ..compiler.native.jit import load_llvm
from ..compiler.native.lowering import NECESSARY, bind_target, complete_lowering
from ..compiler.native.preparation.preparation import Prepared, prepare
from ..dialects.target import Target, host, known_target
from ..passmanager.errors import PasslineError
from ..passmanager.forks import at_most_cores
from ..passmanager.ir.garbage_collection import paused_collector
from ..passmanager.output.files import check_writable
from .command_line.argument_parser import nonempty_text, positive, written_file
from .command_line.short_help import ShortHelp
from .compiler_extension import processor_of
from .opt import PasslineOptMain
from .output import ResultFile, is_same_file


class PasslineCompileMain(PasslineOptMain):
    """A `passline-opt` that writes the machine code of a function in place of the module."""

    short_help = ShortHelp(
        (
            ("model.onnx -O3 -o model.so", "a library with a C interface"),
            ("x.mlir --function f -o f.o --target=aarch64", "an object file for another processor"),
            ("x.mlir -O3 -o x.ll", "LLVM IR"),
            ("model.onnx -O3 --target=sm_90 -o x.cubin", "kernels of a GPU, and x.json about them"),
        ),
        "--passes -O --function --output-file --target --shape --dim --version --help",
    )

    def __init__(self, args: Sequence[str] | None = None) -> None:
        super().__init__(
            "Run passes over a module, then compile one of its functions to a library.", args
        )

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        add = arg_parser.add_argument_group("compilation").add_argument
        help = "the function to compile, by default main"
        add("--function", type=nonempty_text, default="main", metavar="NAME", help=help)
        help = "what to make, by default what the suffix of the output file says: so, a shared "
        help += "library; o, an object file; ll, LLVM IR; s, assembly; cubin, kernels of a GPU; "
        help += "tileirbc, these as bytecode of CUDA Tile IR"
        add("--emit", choices=[*KINDS], help=help)
        help = "the header to write, by default FILE.h for FILE.so and FILE.o, for FILE.cubin and "
        help += "FILE.tileirbc FILE.json, which describes the kernels, else none"
        add("--header", type=written_file, metavar="FILE.h", help=help)
        help = "the threads on which the function runs, where there is enough work; by default 1"
        add("--threads", type=positive, default=1, metavar="N", help=help)
        help = "the cores on which passes and LLVM run: by default 1 for passes and all for LLVM; "
        help += "with --out-dir, the number of processes"
        add("-j", "--jobs", type=positive, metavar="N", help=help)
        help = "the name that the symbols in C begin with, by default that of the output file"
        add("--name", type=c_name, metavar="NAME", help=help)

    jobs: int | None = None
    """The number of cores for one input."""

    def check_arguments(self) -> None:
        if self.args.out_dir is None:
            self.jobs, self.args.jobs = self.args.jobs, None
            self.args.workers = self.jobs
        super().check_arguments()
        check_files(self.args)
        if self.args.target != "mlir":
            raise PasslineError(
                f"--target={self.args.target} is an output format: expected a processor, such as "
                "x86-64-v3 or aarch64"
            )
        self.kind = kind_of(self.args)

    def use_pipeline(self, passes: Iterable[ModulePass]) -> None:
        """Bind the target first, and append the rest of the lowering."""
        processor, threads = processor_of(self.args), self.args.threads
        if processor is not None and processor.is_cuda:
            rest = lowering_to_tiles(self.args.function, processor)
            return super().use_pipeline([bind_target(processor, processor.cores), *passes, rest])
        rest = complete_lowering(self.args.function, processor, threads)
        super().use_pipeline([bind_target(processor, threads), *passes, rest])

    def required_passes(self) -> Sequence[str]:
        """Return the required passes, and those that machine code needs."""
        return [*super().required_passes(), *NECESSARY, "tir-lower-to-cuda-tile"]

    def apply_passes(self, prog: ModuleOp) -> None:
        """Run the pipeline, which may take long, after a look for the linker."""
        entry_function(prog, self.args.function)
        if (processor := processor_of(self.args)) is None or not processor.is_cuda:
            load_llvm()
        self.target = self.target_for(prog)
        machine = host() if self.target.is_cuda else self.target
        self.linker = find_linker(machine) if self.kind == "so" else None
        super().apply_passes(prog)

    def target_for(self, prog: ModuleOp) -> Target:
        """Return the target to compile for: that of --target, that of the module, the entered one,
        or this machine.

        PasslineError if its files are not in ELF.
        """
        target = processor_of(self.args) or known_target(prog) or host()
        kinds = ON_GPU if target.is_cuda else ON_PROCESSORS
        if self.kind not in kinds:
            raise PasslineError(
                f"{KINDS[self.kind]} cannot be made for {target.cpu}: expected an output file with "
                f"the suffix {', '.join(f'.{kind}' for kind in kinds)}, or another --target"
            )
        if target.is_cuda:
            return target
        if "linux" not in target.triple:
            raise PasslineError(
                f"libraries are made for Linux, not for {target.triple}: name a --target, such as "
                "x86-64-v3 or aarch64"
            )
        return target

    def result_file(self) -> ResultFile:
        files = self.args.output_file, header_file(self.args)
        return LibraryFiles(*files, quiet=self.args.quiet)

    def write_chunk(self, module: ModuleOp, result: ResultFile) -> None:
        with at_most_cores(self.jobs):
            super().write_chunk(module, result)

    def write_result(self, prog: ModuleOp, result: ResultFile) -> None:
        """Compile the function, and write its code and the header."""
        assert isinstance(result, LibraryFiles)
        if self.kind in KERNELS:
            code, manifest = kernel_files(prog, self.args.function, self.target, self.kind)
            result.header.write(manifest)
            return result.write_parts([code])
        prepared, interface = self.prepare(prog)
        result.header.write(header_text(interface))
        result.write_parts(self.parts(prepared, interface))

    def prepare(self, prog: ModuleOp) -> tuple[Prepared, Interface]:
        """Prepare the function, for a GPU its part on the host, and return its interface in C."""
        given = prog, self.args.function, self.target, self.args.threads
        signature = signature_of(entry_function(*given[:2]))
        target, compiler, gpu = self.target, f"passline {__version__}", None
        with paused_collector():
            if target.is_cuda:
                prepared, ir, data = prepare_library(*given)
                compiler, gpu = f"{compiler}, with kernels for {target.cpu}", GpuRuntime(ir, data)
                target = host()
            else:
                prepared = prepare(*given)
        names, failures = (library_name(self.args), signature, prepared.entry), prepared.failures
        return prepared, Interface(*names, failures, target, compiler, gpu)

    def parts(self, prepared: Prepared, interface: Interface) -> Iterable[Buffer]:
        """Compile, and return the output in parts."""
        if self.linker is not None:
            files = object_files(prepared, interface)
            return linked(files, self.linker, interface, self.args.output_file, prepared.threads)
        code = compile_code(prepared, interface)
        match self.kind:
            case "ll":
                return code.llvm_ir(self.target.triple)
            case "s":
                return code.assembly()
            case _:
                return code.object_file()


class LibraryFiles(ResultFile):
    """The output file and its header, which is written after it.

    Their names and sizes are printed on stderr unless it is `quiet`.
    """

    def __init__(self, name: str | None, header: str | None, *, quiet: bool) -> None:
        super().__init__(name)
        self.header = ResultFile(header or os.devnull)
        self._written = [Path(file) for file in (name, header) if file not in (None, "-")]
        self._quiet = quiet

    def commit(self) -> None:
        super().commit()
        self.header.commit()
        sizes = [f"{file} ({size_text(file.stat().st_size)})" for file in self._written]
        if sizes and not self._quiet:
            print(f"wrote {' and '.join(sizes)}", file=sys.stderr)


def size_text(size: int) -> str:
    """Return a number of bytes in the unit in which it is at least 1."""
    for power, unit in ((9, "GB"), (6, "MB"), (3, "kB")):
        if size >= 10**power:
            return f"{size / 10**power:.1f} {unit}"
    return f"{size} bytes"


def linked(
    files: Iterable[Iterable[Buffer]],
    linker: Linker,
    interface: Interface,
    output: str,
    threads: int,
) -> list[Buffer]:
    """Link object files to a shared library named `output`, and return its mapped content."""
    with TemporaryDirectory(prefix="passline-compile-") as name:
        directory = Path(name)
        objects: list[Path] = []
        for i, parts in enumerate(files):
            objects.append(directory / f"{i}.o")
            with objects[-1].open("wb") as file:
                file.writelines(parts)
        (empty := directory / "empty.o").write_bytes(empty_object(interface.target))
        (symbols := directory / "symbols").write_text(version_script(interface.exported))
        library = directory / "library.so"
        runtimes = [openmp_library(interface.target)] if threads > 1 else []
        if interface.gpu is not None:
            runtimes.append(Path(DRIVER))
        linker.link(objects, library, Path(output).name, symbols, empty, runtimes)
        with library.open("rb") as file:
            return [mmap(file.fileno(), 0, access=ACCESS_READ)]


KINDS = {
    "so": "a shared library",
    "o": "an object file",
    "ll": "LLVM IR",
    "s": "assembly",
    "cubin": "kernels of a GPU",
    "tileirbc": "kernels of a GPU as bytecode",
}
"""What can be made: the suffix of its files, and what it is."""
KERNELS = ("cubin", "tileirbc")
ON_GPU = ("so", *KERNELS)
ON_PROCESSORS = ("so", "o", "ll", "s")
BINARY = ("so", "o", *KERNELS)


def c_name(text: str) -> str:
    """Parse an identifier of C."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise argparse.ArgumentTypeError(f"expected letters, digits and _, got '{text}'")
    return text


def kind_of(args: argparse.Namespace) -> str:
    """Return what to make, one of `KINDS`; PasslineError if the options do not say it."""
    if args.emit is not None:
        return args.emit
    suffix = Path(args.output_file or "-").suffix[1:]
    if suffix in KINDS:
        return suffix
    known = ", ".join(f".{suffix} ({what})" for suffix, what in KINDS.items())
    if args.output_file in (None, "-"):
        raise PasslineError(
            f"name the output file with -o, with one of {known}; or write text to stdout with "
            "--emit=ll or --emit=s"
        )
    raise PasslineError(
        f"the suffix of '{args.output_file}' does not say what to make: expected one of {known}, "
        "or --emit"
    )


def header_file(args: argparse.Namespace) -> str | None:
    """Return the name of the header to write, None if there is none."""
    if args.header is not None or kind_of(args) not in BINARY:
        return args.header
    suffix = ".json" if kind_of(args) in KERNELS else ".h"
    return str(Path(args.output_file).with_suffix(suffix))


def library_name(args: argparse.Namespace) -> str:
    """Return the name that the symbols in C begin with."""
    if args.name is not None:
        return args.name
    stem = "model" if args.output_file in (None, "-") else Path(args.output_file).stem
    name = identifier(stem.removeprefix("lib") or stem)
    return f"_{name}" if name[:1].isdigit() else name


def check_files(args: argparse.Namespace) -> None:
    """Raise PasslineError for files that exclude each other, and OSError for a header that cannot
    be written, before anything is compiled."""
    if args.out_dir is not None:
        raise PasslineError("--out-dir is not for passline-compile: it makes one library")
    if args.split_input_file:
        raise PasslineError("--split-input-file is not for passline-compile: it makes one library")
    kind = kind_of(args)
    if kind in BINARY and args.output_file in (None, "-", "/dev/stdout"):
        raise PasslineError(f"{KINDS[kind]} is not text: name its file with -o FILE.{kind}")
    header = header_file(args)
    if is_same_file(header, args.output_file):
        raise PasslineError(f"the header would overwrite the file of -o, '{header}'")
    for what, file in {"-o": args.output_file, "the header": header}.items():
        if file in (None, "-"):
            continue
        if is_same_file(file, args.input_file):
            raise PasslineError(f"{what} would overwrite the input '{file}'")
        check_writable(Path(file))
    if args.header is None and header is not None and is_foreign(Path(header)):
        raise PasslineError(
            f"'{header}' exists, and passline-compile did not write it: "
            "name another file with --header"
        )


def is_foreign(header: Path) -> bool:
    """Return whether a header exists that this tool did not write."""
    if not header.exists():
        return False
    with header.open("rb") as file:
        start = file.read(max(len(FIRST_LINE), len(MANIFEST_START))).decode(errors="replace")
    return not start.startswith((FIRST_LINE, MANIFEST_START))


main = PasslineCompileMain.main


if __name__ == "__main__":
    main()
