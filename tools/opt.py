"""`passline-opt`: reads IR, runs a pipeline of passes over it, and writes the result."""

from __future__ import annotations

import argparse
import errno
import gc
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar, NoReturn, Self, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from .. import __version__
from ..compiler.frontends.onnx_frontend import OnnxFrontend, parse_onnx
from ..compiler.targets import PROCESSORS, parse_processor
from ..dialects.target import Target
from ..passes import OPTIMIZE, REPLACEMENTS
from ..passmanager.context import PassContext
from ..passmanager.diagnostics.diagnostics import Diagnostic, Severity, print_message
from ..passmanager.errors import PasslineError
from ..passmanager.instrument import PassInstrument
from ..passmanager.ir.checks.verifier import verify
from ..passmanager.ir.location import remember_source
from ..passmanager.ir.text.inputs import STDIN, decode_mlir, split_chunks
from ..passmanager.ir.text.parser import parse_module
from ..passmanager.ir.text.printer import PrintStyle, module_text
from ..passmanager.ir.text.resources import ELIDED
from ..passmanager.ir.text.syntax_errors import as_raised
from ..passmanager.output.status import doing
from ..passmanager.pipeline import parse_pipeline, pipeline_text
from ..passmanager.recursion import recursion_limit
from ..passmanager.registry import installed
from ..passmanager.releases.frontends import MLIRFrontend
from ..passmanager.releases.streams import binary_content, chunk_stream, input_stream
from ..passmanager.releases.targets import TARGETS_ARE_FUNCTIONS, MLIRTarget
from ..passmanager.runner import Loading
from ..passmanager.sequential import Sequential
from .command_line.argument_parser import ArgumentParser, Group, add_completion, add_version
from .command_line.arguments import add_arguments, check_arguments
from .command_line.configuration import read_config
from .command_line.short_help import ShortHelp, group_xdsl_options
from .command_line.versions import version_text
from .corpus.arguments import add_corpus_options, check_corpus, parse_inputs, tool_options
from .diagnostics.diagnostic_output import (
    DiagnosticOutput,
    expects_output,
    remark_filter,
    xdsl_report,
)
from .diagnostics.failures import INTERRUPTED, report, restart_without_acceleration, run_process
from .frontends import read_with
from .listing import answer
from .loading import OPTION, load_file, loaded_files
from .observation import TERMINAL_ELEMENTS, Observation, print_style, terminal_style
from .output import ResultFile
from .targets import check_target, unprintable
from .trust import check_passes_of_file

if TYPE_CHECKING:
    from ..compiler.interpreters.shape_bindings import Bindings
    from .corpus.worker import Sizes

__all__ = ["PasslineOptMain", "main"]

OwnFrontend = TypeVar("OwnFrontend", MLIRFrontend, OnnxFrontend)


class PasslineOptMain(xDSLOptMain):
    """The tool `passline-opt`, to be subclassed like xDSL's: the hooks are called in the same
    order.

    `instruments` is a hook of ours. `run` ends the process with status 1 for invalid input or a
    pass that failed on purpose, 2 for wrong usage, 3 for a bug in a pass.
    """

    prints_diagnostics = False
    """Whether --verify-diagnostics has the meaning that it has in xdsl-opt (`expects_output`)."""

    short_help: ClassVar[ShortHelp | None] = ShortHelp(
        (
            ("x.mlir -p canonicalize,cse", "run two passes"),
            ("model.onnx -O3 -o out.mlir", "optimize a model"),
            ("x.mlir -p 'fold-constant{max-elements=64}' --print-diff", "see what a pass changes"),
            ("x.mlir -O3 --explain-pipeline", "what would run, and why"),
        ),
        "--passes -O --output-file --print-diff --print-ir-after-all --timing --report "
        "--remarks --verify-semantics --crash-reproducer --list-passes --help-pass "
        "--explain-pipeline --version --help",
    )

    def __init__(
        self,
        description: str = "Run passes over IR; without -p and -O it is verified and printed.",
        args: Sequence[str] | None = None,
    ) -> None:
        words = sys.argv[1:] if args is None else args
        self.load_files(words)
        given = self.make_parser(description).prepare(words)
        with self.usage_errors():
            self.args, self.inputs, self.options = self.parse_arguments(given)
        self.ctx.allow_unregistered = self.args.allow_unregistered_dialect
        with self.usage_errors():
            self.check_arguments()
            self.setup_pipeline()
            self.finish_setup()

    def make_parser(self, description: str) -> ArgumentParser:
        """Register what there is, and return the parser of the options."""
        self.available_frontends = {}
        self.available_passes = {}
        self.available_targets = {}
        self.ctx = Context()
        self.register_all_dialects()
        self.register_all_frontends()
        self.register_all_passes()
        self.register_all_targets()
        self.arg_parser = parser = ArgumentParser(description, self.available_passes)
        parser.short_help = self.short_help
        self.register_all_arguments(parser)
        group_xdsl_options(parser)
        return parser

    @classmethod
    def unused(cls) -> Self:
        """Return a tool that knows its options, and was given none."""
        tool = cls.__new__(cls)
        tool.make_parser("")
        return tool

    arg_parser: argparse.ArgumentParser
    sequential: Sequential
    observation: Observation
    pass_context: PassContext
    # Defaults for a subclass that overrides `__init__` or `setup_pipeline` and does not call ours.
    inputs: Sequence[str] = ()
    options: Sequence[str] = ()
    sizes: Sizes | None = None
    loading = Loading()
    loaded: Sequence[str] | None = None
    is_set_up = False

    def load_files(self, args: Sequence[str]) -> None:
        """Load the files of --load; end the process if that fails."""
        try:
            self.loaded = [*loaded_files(args)]
            for name in self.loaded:
                load_file(name)
        except (PasslineError, OSError) as error:
            sys.exit(report(error, debug="--debug" in args))

    @contextmanager
    def usage_errors(self) -> Generator[None]:
        """End the process with a message for mistakes in the options."""
        try:
            yield
        except PasslineError as error:
            self.arg_parser.error(str(error))
        except OSError as error:
            sys.exit(report(error))

    @cached_property
    def diagnostics(self) -> DiagnosticOutput:
        """The output of diagnostics and remarks."""
        return DiagnosticOutput(self.args)

    def finish_setup(self) -> None:
        """Take over a pipeline that a subclass made, and answer questions about the pipeline."""
        self.is_set_up = True
        if self.pipeline.passes != (getattr(self, "sequential", None),):
            self.adopt_pipeline(self.pipeline)
        self.answer_about_pipeline()

    def adopt_pipeline(self, pipeline: PassPipeline) -> None:
        """Run the passes of `pipeline` as ours; one with a callback stays as it is, so that it is
        called between the same passes."""
        self.use_pipeline(pipeline.passes)
        self.setup_context()
        if pipeline.callback is not None:
            self.pipeline = pipeline

    @classmethod
    def main(cls, args: Sequence[str] | None = None) -> None:
        """Run the tool as a process of its own: the entry point of the console script."""
        if args is None:
            restart_without_acceleration()
        cls.prepare_process()
        try:
            run_process(lambda: cls(args=args).run())
        finally:
            gc.freeze()  # the process ends: nothing is left to collect

    @staticmethod
    def prepare_process() -> None:
        """Set the collector and the limit of recursion of a process that does nothing else."""
        # IR is cyclic and long-lived: by default the collector takes a third of parsing.
        gc.set_threshold(100_000, 20, 100)
        gc.freeze()  # no collection visits what has been imported, not even the last one
        # Deep IR: xDSL parses and prints by recursion, some 20 frames a level; calls through C take
        # stack.
        sys.setrecursionlimit(recursion_limit())

    # Dialects, passes, targets, frontends and options

    def register_all_dialects(self) -> None:
        if self.loaded is None:  # `__init__` is that of a subclass
            self.load_files(sys.argv[1:])
        for name, factory in installed().dialects.items():
            self.ctx.register_dialect(name, partial(self.load_dialect, factory))

    def load_dialect(self, factory: Callable[[], Dialect]) -> Dialect:
        """Return the dialect that `factory` makes; the import is a phase of its own."""
        with Loading() as loading:
            dialect = factory()
        if hasattr(self, "observation"):  # which is made after the options were checked
            self.observation.add_load(loading.seconds)
        return dialect

    def register_all_passes(self) -> None:
        for name, factory in (installed().passes | REPLACEMENTS).items():
            self.register_pass(name, factory)

    def register_all_targets(self) -> None:
        if TARGETS_ARE_FUNCTIONS:
            super().register_all_targets()
        self.available_targets.update(installed().targets)

    def register_all_frontends(self) -> None:
        self.available_frontends.update(installed().frontends)
        self.available_frontends["mlir"] = self.parse_mlir
        self.available_frontends["onnx"] = self.parse_onnx

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        self.arg_parser = arg_parser
        if not isinstance(arg_parser, ArgumentParser):
            ArgumentParser.adopt(arg_parser, self.available_passes)
        super().register_all_arguments(arg_parser)
        if isinstance(arg_parser, ArgumentParser):
            arg_parser.allow_abbreviations()
        targets, frontends = self.available_targets, self.available_frontends
        self.add_questions(add_arguments(arg_parser, targets, frontends))
        add_corpus_options(arg_parser)

    def add_questions(self, group: Group) -> None:
        """Add the options on the tool itself."""
        add_completion(group, self.completion)
        add_version(group, self.versions)

    def parse_arguments(
        self, given: Sequence[str]
    ) -> tuple[argparse.Namespace, Sequence[str], Sequence[str]]:
        """Return the parsed arguments, and with --out-dir the inputs and all other arguments."""
        return parse_inputs(self.arg_parser, given)

    def versions(self) -> str:
        """Return the text of --version: the tool that was run, also one of another project."""
        return version_text(self.arg_parser.prog)

    @property
    def offers(self) -> dict[str, list[str]]:
        """The values of options that a shell completes: the names of what is registered."""
        return {
            "passes": sorted(self.available_passes),
            "target": [*self.available_targets],
            "frontend": [*self.available_frontends],
        }

    def completion(self, shell: str) -> str:
        """Return a script with which a shell completes options and their values."""
        from .command_line.completion import completion

        return completion(self.arg_parser, shell, self.offers)

    def print_and_exit(self, text: str) -> NoReturn:
        """Print the information that was asked for, and exit."""
        print(text)
        sys.exit(0)

    # The pipeline and its context

    def check_arguments(self) -> None:
        """Print information if the options ask for it; PasslineError for invalid arguments."""
        if not {*self.args.load} <= {*(self.loaded or ())}:
            raise PasslineError(f"{OPTION}: this tool reads its options itself")
        names = self.ctx.registered_dialect_names
        text = answer(self.args, self.available_passes, names)
        if text is not None:
            self.print_and_exit(text)
        check_target(self.args.target, self.available_targets, PROCESSORS)
        check_arguments(self.args)
        check_corpus(self.args, self.inputs)

    @property
    def processor(self) -> Target | None:
        """The processor of --target; PasslineError for a mistake in it."""
        return parse_processor(getattr(self.args, "processor", None))

    def setup_pipeline(self) -> None:
        """Create the pipeline and the context in which it runs."""
        with self.usage_errors():
            with Loading() as self.loading:
                self.use_pipeline(self.given_passes())
            self.setup_context()

    def setup_context(self) -> None:
        """Create the context in which the pipeline runs."""
        self.observation = Observation(self.args, self.sequential)
        if not self.args.run_reproducer:  # its pipeline is not known yet
            self.observation.check_names(self.available_passes)
        self.pass_context = self.make_pass_context()
        warnings = [] if self.args.run_reproducer else [*self.observation.warnings()]
        if self.args.passes and self.args.opt_level is not None:
            warnings += self.left_out()
        for warning in warnings:
            self.warn(warning)

    def warn(self, message: str) -> None:
        """Print a warning about the options."""
        if not self.args.quiet:
            print_message(Severity.WARNING, message, self.arg_parser.prog)

    def given_passes(self) -> list[ModulePass]:
        """Return the pass of --target, and then the passes of -p, or else those of -O."""
        given: list[str] = self.args.passes
        if not given and self.args.opt_level is not None:
            given = [",".join(OPTIMIZE)]
        pipelines = [parse_pipeline(text, self.available_passes, self.warn) for text in given]
        passes = [pass_ for pipeline in pipelines for pass_ in pipeline.passes]
        if self.processor is not None:
            from ..passes.tir.bind_target import BindTarget

            passes.insert(0, BindTarget(str(self.processor)))
        return passes

    def make_pass_context(self) -> PassContext:
        """Create the context that the options describe."""
        level: int | None = self.args.opt_level
        context = PassContext(
            opt_level=level or 0,
            required_pass=self.required_passes(),
            disabled_pass=self.args.disable_pass,
            config=read_config(self.args.config_file, self.args.config),
            instruments=self.instruments(),
            verify_each=self.verifies_each,
            verify_dominance=self.args.verify_dominance,
            verify_preserves=self.args.verify_preserves,
            renderer=self.render,
            remark_filter=self.remark_filter(),
        )
        if level is None:
            context.opt_level = sys.maxsize  # all passes, whatever their level
        return context

    def required_passes(self) -> Sequence[str]:
        """Return the names of the passes that run whatever their level."""
        return self.args.require_pass

    def answer_about_pipeline(self) -> None:
        """Print the pipeline if the options ask for it."""
        if self.args.explain_pipeline:
            self.print_and_exit(str(self.sequential.plan(self.pass_context)) or "nothing runs")
        if self.args.dump_pass_pipeline:
            print(pipeline_text(self.sequential), file=sys.stderr)

    @property
    def verifies_each(self) -> bool:
        """Whether to verify what each pass changes."""
        return self.args.verify_each and not self.args.disable_verify

    def use_pipeline(self, passes: Iterable[ModulePass]) -> None:
        """Set the pipeline to `passes`."""
        self.sequential = Sequential(passes)
        self.pipeline = PassPipeline((self.sequential,))

    def instruments(self) -> list[PassInstrument]:
        """Return the instruments to run under."""
        return self.observation.instruments()

    def left_out(self) -> Iterator[str]:
        """Yield a warning about the passes of -p that the level of -O filters out."""
        plan = list(self.sequential.plan(self.pass_context))
        steps = [step for step in plan if step.action == "skip"]
        if steps and len(steps) < len(plan):  # a pipeline that runs nothing has a warning already
            yield "not run: " + ", ".join(f"{step.info.name} ({step.reason})" for step in steps)

    def apply_passes(self, prog: ModuleOp) -> None:
        """Run the pipeline; output of passes goes to stderr, apart from the result."""
        with redirect_stdout(sys.stderr):
            if self.sizes is not None:
                self.sizes.add_input(prog)
            self.pipeline.apply(self.ctx, prog)  # xDSL's method verifies, too, until 0.69
            if self.sizes is not None:
                self.sizes.add_result(prog)

    # The run

    def run(self) -> None:
        """Read the input, run the pipeline and write the result, chunk by chunk; a failed chunk
        does not stop the next ones. With --out-dir, do so for each of many inputs."""
        if not self.is_set_up:  # `__init__` is that of a subclass, which parsed the options
            with self.usage_errors():
                if self.args.out_dir is not None:
                    raise PasslineError("--out-dir: this tool reads its options itself")
                self.check_arguments()
                self.finish_setup()
        if self.args.out_dir is not None:
            self.run_corpus()
            return
        result = self.result_file()
        status = 0
        try:
            with self.pass_context:
                self.observation.add_load(self.loading.seconds)
                chunks, extension = self.prepare_input()
                for index, (chunk, offset) in enumerate(chunks):
                    if index > 0:
                        result.write(f"{self.args.output_split_marker}\n")
                    status = max(status, self.run_chunk(chunk, extension, offset, result))
                    if status == INTERRUPTED:
                        break
                if status == 0:
                    result.commit()
        except (Exception, KeyboardInterrupt) as error:
            status = report(error, debug=self.args.debug)
        status = max(status, self.diagnostics.write_remarks())
        self.observation.finish()
        if self.args.shrink:
            print("Failure, can't shrink")
            sys.exit(1)
        if status:
            sys.exit(status)

    def run_corpus(self) -> None:
        """Run the pipeline on each of many inputs, in other processes."""
        from .corpus.command import run_corpus

        options = tool_options(self.options)
        try:
            status = run_corpus(
                type(self), self.args, options, self.inputs, __version__, self.prepare_process
            )
        except (Exception, KeyboardInterrupt) as error:
            status = report(error, debug=self.args.debug)
        if status:
            sys.exit(status)

    def run_chunk(self, chunk: IO[bytes], extension: str, offset: int, result: ResultFile) -> int:
        """Parse, verify, transform and write one chunk; return the exit status for it."""
        self.line_offset = offset
        self.module: ModuleOp | None = None
        text = binary_content(chunk)
        self.diagnostics.start_chunk(self.get_input_name(), text, offset)
        try:
            self.transform_chunk(text, extension, result)
        except ShrinkException:
            if not self.args.shrink:
                raise
            self.print_and_exit("Success, can shrink")
        except BrokenPipeError:
            raise
        except ParseError as error:
            if self.args.parsing_diagnostics:
                result.write(f"{as_raised(error)}\n")
                return 0
            return self.diagnostics.fail_chunk(error)
        except DiagnosticException as error:
            if not self.prints_diagnostics:
                return self.diagnostics.fail_chunk(error)
            result.write(xdsl_report(error, self.module))
            return 0
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            return self.diagnostics.fail_chunk(error)
        return self.diagnostics.finish_chunk(0)

    def transform_chunk(self, text: bytes, extension: str, result: ResultFile) -> None:
        """Parse, verify, transform and write one chunk."""
        phase = self.observation.phase
        with phase("Parser" if extension == MLIRFrontend.name else "Import"):
            module = self.parse_chunk(chunk_stream(text), extension, self.line_offset)
        if module is None:
            return
        self.module = module
        if not self.args.disable_verify:
            with phase("Verifier"):
                verify(module, dominance=self.args.verify_dominance)
        self.observation.see(module)
        self.apply_passes(module)
        if self.args.verify_roundtrip:
            from .roundtrip import verify_roundtrip

            verify_roundtrip(module, self.ctx)
        if not self.args.no_print:
            with phase("Output"):
                self.write_result(module, result)

    def result_file(self) -> ResultFile:
        """Return the output of the run; that of `prepare_output` if a subclass overrides it."""
        if type(self).prepare_output is not xDSLOptMain.prepare_output:
            return ResultFile(None, self.prepare_output())
        return ResultFile(self.args.output_file)

    def write_result(self, prog: ModuleOp, result: ResultFile) -> None:
        """Write what the tool makes of a transformed module."""
        with doing("printing"):
            text = self.output_resulting_program(prog)
        result.write(text)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """Return the text of the result; MLIR text keeps every bit of the constants."""
        spec = parse_spec(self.args.target)
        if spec.name != MLIRTarget.name or self.args.syntax_highlight:
            try:
                return super().output_resulting_program(prog)
            except (AssertionError, NotImplementedError, TypeError, ValueError) as error:
                raise unprintable(spec.name, prog, error) from error
        target = MLIRTarget.from_spec(spec)
        style = replace(
            self.result_style(),
            generic=target.print_generic_format or self.args.print_op_generic,
            properties_as_attributes=target.print_properties_as_attributes
            or self.args.print_no_properties,
            debuginfo=target.print_debuginfo or self.args.print_debuginfo,
        )
        text = module_text(prog, self.ctx, style)
        elided = style.elide_elements == TERMINAL_ELEMENTS and f"<{ELIDED}>" in text
        if elided and print_style(self.args).elide_elements is None and not self.args.quiet:
            said = (
                f"constants of more than {TERMINAL_ELEMENTS} elements are elided on a terminal; "
                "a file of -o, a pipe, and --large-elements-as-resources have them all"
            )
            print_message(Severity.NOTE, said, self.arg_parser.prog)
        return text

    def result_style(self) -> PrintStyle:
        """Return the style in which the result is printed."""
        style = print_style(self.args)
        if self.args.output_file not in (None, "-"):
            return style
        return terminal_style(style, sys.stdout)

    def remark_filter(self) -> dict[str, str]:
        """Return the remarks to make: kind -> regular expression on the names of passes."""
        return remark_filter(self.args)

    def render(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Show the diagnostics of a pass."""
        self.diagnostics.render(diagnostics)

    # Input

    def get_input_name(self) -> str:
        return STDIN if self.args.input_file in (None, "-") else self.args.input_file

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        if self.args.input_file in (None, "-"):
            if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
                raise OSError(errno.EBADF, "stdin is closed")
            if self.args.input_file is None and sys.stdin.isatty() and not self.args.quiet:
                said = "reading stdin, to the end (Ctrl-D); --help lists the options"
                print_message(Severity.NOTE, said, self.arg_parser.prog)
            return input_stream(sys.stdin.buffer), "mlir"
        extension = Path(self.args.input_file).suffix.removeprefix(".")
        return input_stream(open(self.args.input_file, "rb")), extension

    def prepare_input(self) -> tuple[list[tuple[IO[bytes], int]], str]:
        """Return the chunks of the input, each with the number of lines before it, and the
        frontend."""
        content, frontend = self.read_input()
        marker = self.args.split_input_file
        chunks = split_chunks(content, marker) if marker else [(content, 0)]
        return [(chunk_stream(text), line) for text, line in chunks], frontend

    def read_input(self) -> tuple[bytes, str]:
        """Return the content of the input and the frontend; no content for a frontend that opens
        the file itself."""
        stream, extension = self.get_input_stream()
        known = extension if extension in self.available_frontends else "mlir"
        frontend = parse_spec(self.args.frontend).name if self.args.frontend else known
        is_stdin = self.get_input_name() == STDIN
        with stream:
            content = b"" if frontend == "onnx" and not is_stdin else binary_content(stream)
        verifies = bool(getattr(self.args, "verify_diagnostics", False))
        self.prints_diagnostics = verifies and expects_output(content)
        self.diagnostics.prints_diagnostics = self.prints_diagnostics
        if is_stdin and frontend == "mlir":
            remember_source(STDIN, content)
        return content, frontend

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        """Return the module that a frontend reads: one of xDSL's interface, or a function."""
        return read_with(
            self.args.frontend or file_extension,
            self.available_frontends,
            self.ctx,
            chunk,
            self.get_input_name(),
        )

    def frontend_options(self, frontend: type[OwnFrontend]) -> OwnFrontend:
        """Return one of our frontends with the options that -f gives it."""
        spec = parse_spec(self.args.frontend or frontend.name)
        return frontend.from_spec(spec) if spec.name == frontend.name else frontend()

    def parse_mlir(self, stream: IO[bytes]) -> ModuleOp:
        """Parse MLIR text; every op gets its source location."""
        name = self.get_input_name()
        text = decode_mlir(name, binary_content(stream))
        if "mlir_reproducer" in text:
            text = self.read_reproducer(text)
        elif self.args.run_reproducer:
            raise PasslineError(f"'{name}' holds no pipeline to reproduce")
        module = parse_module(
            self.ctx,
            text,
            name,
            line_offset=self.line_offset,
            max_elements=self.pass_context.max_elements,
            implicit_module=not (
                self.args.no_implicit_module
                or self.frontend_options(MLIRFrontend).no_implicit_module
            ),
        )
        if bindings := self.bindings:
            from ..passes.relax.sizes.bind_shapes import bind_module

            bind_module(module, self.entry, bindings)
        return module

    def parse_onnx(self, stream: IO[bytes]) -> ModuleOp:
        """Import an ONNX model."""
        name = self.get_input_name()
        return parse_onnx(
            binary_content(stream) if name == STDIN else name, self.warn, self.bindings
        )

    @property
    def entry(self) -> str:
        """The name of the function for whose parameters --shape and --dim give sizes."""
        return "main"

    @cached_property
    def bindings(self) -> Bindings | None:
        """The sizes of --shape and --dim, and of the options of the frontend `onnx`; None without
        these."""
        given = self.frontend_options(OnnxFrontend)
        shapes, dims = [*self.args.shape, *given.shape], [*self.args.dim, *given.dim]
        if not (shapes or dims):
            return None
        from ..compiler.interpreters.shape_bindings import read_bindings

        return read_bindings(shapes, dims)

    def read_reproducer(self, text: str) -> str:
        """Return the IR of a file that holds a pipeline too; take the pipeline with --run-
        reproducer."""
        from ..passmanager.instruments.ir.reproducer import read_reproducer

        text, reproducer = read_reproducer(text)
        if self.args.run_reproducer and reproducer is not None:
            passes = parse_pipeline(reproducer.pipeline, self.available_passes, self.warn).passes
            check_passes_of_file(passes, self.get_input_name(), reproducer.pipeline)
            self.use_pipeline(passes)
            self.pass_context.verify_each = self.verifies_each and reproducer.verify_each
        return text


def main(args: Sequence[str] | None = None) -> None:
    """Run the command `passline-opt`."""
    PasslineOptMain.main(args)


if __name__ == "__main__":
    main()
