"""`passline-run`: reads IR, runs a pipeline over it if one is given, and runs a function of it."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..compiler.analysis.index_ranges import Range, index_ranges
from ..compiler.execution import (
    ENGINES,
    ON_GPU,
    array_function,
    device_of,
    flat,
    on_numpy_text,
    returning_results,
)
from ..compiler.interpreters.arguments import (
    check_arguments,
    load_arrays,
    named_arguments,
    random_arguments,
    save_arrays,
    split_values,
    unknown_dimensions,
    written_arguments,
)
from ..compiler.interpreters.interpret import ArrayFunction
from ..compiler.interpreters.signature import (
    Function,
    Value,
    argument_names,
    entry_function,
    input_types,
    result_names,
    result_values,
)
from ..dialects.target import Target
from ..passmanager.context import PassContext
from ..passmanager.diagnostics import Diagnostic, DiagnosticError, Severity, print_message
from ..passmanager.errors import PasslineError
from ..passmanager.fast.clone import clone
from ..passmanager.ir.location import place_of
from ..passmanager.limits import too_many_elements
from ..passmanager.pipeline import pipeline_text
from .command_line.argument_parser import nonempty_text, positive, size, written_file
from .command_line.short_help import ShortHelp
from .compiler_extension import processor_of
from .corpus.options import is_corpus
from .opt import PasslineOptMain
from .output import is_same_file

if TYPE_CHECKING:
    from ..compiler.gpu.cuda_function import CudaFunction
    from ..compiler.gpu.device import Device
    from ..compiler.interpreters.arrays import Array
    from ..compiler.native import NativeFunction


NEGATIVE = re.compile(r"-(\.?\d.*|inf|nan)$")
"""A word that is a negative number, and no option."""


class PasslineRunMain(PasslineOptMain):
    """A `passline-opt` that prints the results of a function in place of the module."""

    values: Sequence[str] = ()
    """The arguments of the function as they are written at the command line."""

    short_help = ShortHelp(
        (
            ("x.mlir --seed 1", "compute @main on random arguments"),
            ("x.mlir 4 '[1.0, -2.0]'", "compute it on these"),
            ("model.onnx -O3 --inputs x.npz --outputs y.npz", "run a model on arrays of a file"),
            ("model.onnx -O3 --engine=native", "as machine code"),
            ("x.mlir --function f -p canonicalize", "another function, after a pass"),
        ),
        "--passes -O --function --args --inputs --outputs --seed --engine --check-races --threads "
        "--shape --dim --version --help",
    )

    def __init__(self, args: Sequence[str] | None = None) -> None:
        super().__init__("Run passes over a module, then run one of its functions.", args)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.usage = "%(prog)s [options] [input_file [argument ...]]"
        # argparse's own pattern lacks -1e3, -inf and -nan
        arg_parser._negative_number_matcher = NEGATIVE  # pyright: ignore[reportPrivateUsage]
        add = arg_parser.add_argument_group("running").add_argument
        help = "the function to run, by default main"
        add("--function", type=nonempty_text, default="main", metavar="NAME", help=help)
        help = "the arguments of the function by name, or by position as arr_0, arr_1, ..."
        add("--inputs", type=nonempty_text, metavar="FILE.npz", help=help)
        help = "the arguments, separated by commas, as 4, [1.0, -2.0]; they may also follow "
        help += "the input, each as a word"
        add("--args", metavar="VALUES", help=help)
        help = "the seed of the random arguments, by default 0; not with other arguments"
        add("--seed", type=size, default=0, metavar="N", help=help)
        help = "write the results by name to this file, and do not print them"
        add("--outputs", type=written_file, metavar="FILE.npz", help=help)
        help = "numpy, the default; native, which is machine code, after the rest of the lowering; "
        help += "cuda, which is tile programs on a GPU; or cuda-interpreter, which runs these on "
        help += "numpy"
        add("--engine", choices=ENGINES, default="numpy", help=help)
        help = "check the accesses of tile blocks to memory, with numpy: races, bounds, assumptions"
        add("--check-races", action="store_true", help=help)
        help = "the threads on which machine code runs, where there is enough work; by default 1"
        add("--threads", type=positive, default=1, metavar="N", help=help)
        help = "compile machine code anew: neither read it from the cache nor keep it there"
        add("--no-cache", action="store_true", help=help)

    def parse_arguments(
        self, given: Sequence[str]
    ) -> tuple[argparse.Namespace, Sequence[str], Sequence[str]]:
        """Take the words after the input for the arguments of the function."""
        if is_corpus(given):
            return super().parse_arguments(given)
        args, words = self.arg_parser.parse_known_args(given)
        unknown = [w for w in words if w[:1] == "-" and not NEGATIVE.match(w) and w != "--"]
        if unknown and "--" not in given:
            self.arg_parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        self.values = [word for word in words if word != "--"]
        return args, [], []

    def check_arguments(self) -> None:
        super().check_arguments()
        args = self.args
        given = {"after the input": self.values, "by --args": args.args, "by --inputs": args.inputs}
        if len(ways := [way for way, values in given.items() if values]) > 1:
            raise PasslineError(f"the arguments are given twice: {ways[0]}, and {ways[1]}")
        if args.args is not None:
            self.values = split_values(args.args)
        if args.outputs is not None and args.out_dir is not None:
            raise PasslineError(
                "--outputs names one file, which all inputs of --out-dir would write"
            )
        if args.check_races and args.engine != "numpy":
            raise PasslineError("--check-races needs --engine=numpy")
        for what, other in {
            "the input": args.input_file,
            "the file of --inputs": args.inputs,
            "the file of -o": args.output_file,
        }.items():
            if is_same_file(args.outputs, other):
                raise PasslineError(f"--outputs would overwrite {what}, '{other}'")

    @cached_property
    def threads(self) -> int:
        """The threads of machine code: one, after a warning, without an OpenMP runtime."""
        from ..compiler.native.jit import usable_threads

        def warn(message: str) -> None:
            print_message(Severity.WARNING, message, self.arg_parser.prog)

        return usable_threads(self.args.threads, warn)

    def use_pipeline(self, passes: Iterable[ModulePass]) -> None:
        """For machine code, bind the target first, and append the rest of the lowering."""
        if self.args.engine in ON_GPU:
            from ..compiler.gpu.build import lowering_to_tiles
            from ..compiler.native.lowering import bind_target

            processor = self.gpu_target
            rest = lowering_to_tiles(self.args.function, processor)
            passes = [bind_target(processor, processor.cores), *passes, rest]
        if self.args.engine == "native":
            from ..compiler.native.lowering import bind_target, complete_lowering

            processor = processor_of(self.args)
            rest = complete_lowering(self.args.function, processor, self.threads)
            passes = [bind_target(processor, self.threads), *passes, rest]
        super().use_pipeline(passes)

    @cached_property
    def device(self) -> Device:
        """The device of a GPU, or a simulated one."""
        return device_of(self.args.engine, processor_of(self.args))

    @cached_property
    def gpu_target(self) -> Target:
        """The target that kernels of a GPU are made for."""
        from ..compiler.gpu.device import target_of_device

        return processor_of(self.args) or target_of_device(self.device)

    def required_passes(self) -> Sequence[str]:
        """Add the passes that machine code needs, which --stop-after does not leave out."""
        if self.args.engine == "numpy":
            return super().required_passes()
        from ..compiler.native.lowering import NECESSARY

        return [*super().required_passes(), *NECESSARY]

    def apply_passes(self, prog: ModuleOp) -> None:
        """Check the given arguments, then run the pipeline, which may take long. Random arguments
        are drawn for the function before it: its uses of indices are known."""
        self.ranges = self.valid_ranges(prog)
        self.arrays = load_arrays(self.args.inputs) if self.args.inputs is not None else None
        for func in prog.ops:
            if isinstance(func, Function) and func.sym_name.data == self.args.function:
                if self.values:
                    self.arrays = written_arguments(func, self.values)
                elif self.arrays is not None:
                    self.check_inputs(func, self.arrays)
        self.native: NativeFunction | CudaFunction | None = None
        original = clone(prog) if self.args.engine in ON_GPU else None
        try:
            if self.uses_cache:
                self.native = self.cached_function(prog)
            else:
                super().apply_passes(prog)
        except DiagnosticError as error:
            if original is None:
                raise
            self.run_on_numpy(prog, original, error)

    def run_on_numpy(self, prog: ModuleOp, original: ModuleOp, error: DiagnosticError) -> None:
        """Take the module as it was before the passes, which could not make tile programs of it."""
        message = on_numpy_text(self.args.function, error)
        print_message(Severity.WARNING, message, self.arg_parser.prog)
        prog.detach_region(prog.body).drop_all_references()
        prog.add_region(original.detach_region(original.body))
        prog.attributes = original.attributes
        self.args.engine = "numpy"

    def render(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Show the diagnostics of a pass; for a GPU errors are in the warning of `run_on_numpy`."""
        if self.args.engine in ON_GPU:
            diagnostics = [each for each in diagnostics if each.severity != Severity.ERROR]
        super().render(diagnostics)

    @property
    def uses_cache(self) -> bool:
        """Whether machine code may come from the cache, so that no pass runs: the passes are those
        of -O alone, and the options ask for nothing but the results."""
        args = self.args
        return (
            args.engine != "numpy"
            and not (args.no_cache or args.passes or args.run_reproducer or args.no_print)
            and not (args.add_pass or args.replace_pass)
            and not (args.verify_roundtrip or self.sizes is not None)
            and not self.pass_context.is_observed
        )

    def cached_function(self, prog: ModuleOp) -> NativeFunction | CudaFunction:
        """Return the function as machine code, from the cache or compiled."""
        from ..compiler.gpu.build import cached_device_function
        from ..compiler.native import cached_function

        def lowered(module: ModuleOp) -> ModuleOp:
            super(PasslineRunMain, self).apply_passes(module)
            return module

        settings = ("passline-run", pipeline_text(self.sequential), self.pass_context)
        entry, target = self.args.function, processor_of(self.args)
        if self.args.engine in ON_GPU:
            device = self.device
            return cached_device_function(
                prog, entry, self.gpu_target, device, *settings, lower=lowered
            )
        return cached_function(prog, entry, target, *settings, lower=lowered, threads=self.threads)

    def check_inputs(self, func: Function, arrays: Mapping[str, Array]) -> None:
        """Raise PasslineError if the given arguments do not fit `func`, before the passes. They
        may be the elements of a tuple, which is a parameter of each element after the lowering."""
        types = input_types(func)
        if not func.is_declaration and not any(isinstance(type, TupleType) for type in types):
            check_arguments(func, named_arguments(func, arrays))

    def valid_ranges(self, prog: ModuleOp) -> dict[str, Range]:
        """Return the ranges of the parameters that are used as indices, by name."""
        for func in prog.ops:
            if isinstance(func, FuncOp) and func.sym_name.data == self.args.function:
                ranges = index_ranges(prog, func)
                names = argument_names(func) if ranges else ()
                return {names[i]: range for i, range in ranges.items()}
        return {}

    def note_sizes(self, func: Function) -> None:
        """Say which dimensions of random arguments are unknown, and the size they have."""
        sizes = unknown_dimensions(func)
        if sizes and not self.args.quiet:
            groups = {size: [n for n in sizes if sizes[n] == size] for size in sizes.values()}
            text = "unknown dimensions of random arguments are " + "; ".join(
                f"{size}: {', '.join(names)}" for size, names in sorted(groups.items())
            )
            hint = "choose them by --shape NAME=SIZES or --dim NAME=SIZE"
            print_message(Severity.NOTE, f"{text}\n{hint}", self.arg_parser.prog)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """Run the function; return the text of its results, or nothing if a file gets them."""
        gpu = self.on_gpu(prog)
        native = gpu or self.native
        func = entry_function(prog, self.args.function) if native is None else native.function
        if self.arrays is None and self.values:  # a pass has made the function
            self.arrays = written_arguments(func, self.values)
        if self.arrays is not None:
            arguments = named_arguments(func, self.arrays)
        else:
            arguments = random_arguments(func, self.args.seed, self.ranges)
            self.note_sizes(func)
        function = self.function(prog, func) if native is None else returning_results(native)
        if self.args.engine != "numpy" and self.args.verify_semantics:
            self.check_engine(prog, func, function)
        results = function(*arguments)
        if gpu is not None:
            self.note_kernel_times(gpu, arguments)
        names = zip(result_names(func), results, strict=True)
        named = [dict(flat(*pair)) for pair in names]
        if self.args.outputs is None:
            return "".join(result_text(*pair) for arrays in named for pair in arrays.items())
        for value, arrays in zip(result_values(func), named, strict=True):
            check_sizes(value, arrays)
        save_arrays(self.args.outputs, {name: each[name] for each in named for name in each})
        if not self.args.quiet:
            print(f"wrote {self.args.outputs}", file=sys.stderr)
        return ""

    def on_gpu(self, prog: ModuleOp) -> CudaFunction | None:
        """Return the function on a GPU if that is the engine, and it is not out of the cache."""
        if self.args.engine not in ON_GPU or self.native is not None:
            return None
        from ..compiler.gpu.build import compile_for_device

        return compile_for_device(prog, self.args.function, self.gpu_target, self.device)

    def note_kernel_times(self, function: CudaFunction, arguments: Sequence[Value]) -> None:
        """Run the function again where times are shown, and add a phase for each kernel, with its
        time on the device."""
        for time in function.step_times(*arguments) if self.observation.is_timed else ():
            self.observation.add_phase(f"@{time.name}{time.where}", time.seconds)

    def check_engine(self, prog: ModuleOp, func: Function, function: ArrayFunction) -> None:
        """Compare the results of machine code with those of the last pass."""
        from ..compiler.interpreters.equivalence import SemanticsInstrument

        for instrument in self.observation.instruments:
            if isinstance(instrument, SemanticsInstrument):
                instrument.check_engine(prog, func, function, self.args.engine)

    def function(self, prog: ModuleOp, func: Function) -> ArrayFunction:
        """Return the function as a function of arrays, with the engine of the options."""
        engine, processor = self.args.engine, processor_of(self.args)
        threads = self.threads if engine == "native" else 1

        def warn(message: str) -> None:
            print_message(Severity.WARNING, message, self.arg_parser.prog)

        check = warn if self.args.check_races else None
        return array_function(prog, func, engine, self.ctx, processor, threads, check)


def result_text(name: str, array: Array) -> str:
    """Return a result as text: name, type and elements, of a large one the first and last."""
    import numpy as np

    shape = "x".join(map(str, array.shape)) or "scalar"
    return f"{name}: {array.dtype} {shape}\n{np.array2string(array, threshold=100)}\n"


def check_sizes(value: SSAValue, arrays: Mapping[str, Array]) -> None:
    """Raise PasslineError if one of `arrays`, which are the result `value`, exceeds the limit on
    tensors: one that repeats an element without holding it is written in full."""
    limit = PassContext.current().max_elements
    for name, array in arrays.items():
        if (reason := too_many_elements(array.shape, limit)) is not None:
            op = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
            of = f", of '{op.name}'{place_of(op)}," if op else ""
            raise PasslineError(f"result '{name}'{of} cannot be written: {reason}")


main = PasslineRunMain.main


if __name__ == "__main__":
    main()
