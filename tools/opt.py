"""`passline-opt`: reads IR, runs a pipeline of passes over it, and writes the result.

`PasslineOptMain` has its steps in their order: options, pipeline, input, run, output.
"""

from __future__ import annotations

import argparse
import errno
import gc
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from .. import __version__
from ..passmanager.context import PassContext
from ..passmanager.diagnostics import Diagnostic, Severity, print_message
from ..passmanager.errors import PasslineError
from ..passmanager.instrument import PassInstrument
from ..passmanager.ir.location import remember_source
from ..passmanager.ir.text.parser import BYTECODE, STDIN, decode_mlir, parse_module, split_chunks
from ..passmanager.ir.text.syntax_errors import as_raised
from ..passmanager.ir.verifier import verify
from ..passmanager.limits import recursion_limit
from ..passmanager.output.status import doing
from ..passmanager.pipeline import parse_pipeline
from ..passmanager.registry import installed
from ..passmanager.releases.streams import binary_content, chunk_stream, input_stream
from ..passmanager.releases.targets import TARGETS_ARE_FUNCTIONS, MLIRFrontend, MLIRTarget
from ..passmanager.runner import Loading, is_own, nested_passes
from ..passmanager.sequential import Sequential
from .command_line.arguments import check_arguments, read_config
from .command_line.short_help import ShortHelp
from .corpus.options import check_corpus, parse_inputs, tool_options
from .expected_diagnostics import DiagnosticOutput, expects_output, remark_filter, xdsl_report
from .failures import INTERRUPTED, report, restart_without_acceleration, run_process
from .hooks import XDSLHooks
from .listing import answer
from .loading import OPTION, check_passes_of_file
from .observation import Observation
from .output import ResultFile
from .reading import mlir_text, opens_file, read_source, read_with, unprintable
from .specs import check_spec, name_in, unknown_name

if TYPE_CHECKING:
    from ..passmanager.instruments.reproducer import Reproducer
    from .corpus.executors import Sizes

__all__ = ["PasslineOptMain", "main"]


class PasslineOptMain(XDSLHooks):
    """The tool `passline-opt`, to be subclassed like xDSL's: the hooks are called in the same
    order.

    `instruments` is a hook of ours. `run` ends the process with status 1 for invalid input or a
    pass that failed on purpose, 2 for wrong usage, 3 for a bug in a pass.
    """

    short_help = ShortHelp(
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

    sequential: Sequential
    """The pipeline; `pipeline` is the same for xDSL's hooks."""
    pass_context: PassContext
    prints_diagnostics = False
    """Whether --verify-diagnostics has the meaning that it has in xdsl-opt (`expects_output`)."""
    # Defaults for a subclass that overrides `__init__` or `setup_pipeline` and does not call ours.
    inputs: Sequence[str] = ()
    options: Sequence[str] = ()
    sizes: Sizes | None = None
    loading = Loading()
    is_set_up = False
    edited: Sequential | None = None
    """The pipeline of the options, with the places of its passes."""

    def __init__(
        self,
        description: str = "Run passes over IR; without -p and -O it is verified and printed.",
        args: Sequence[str] | None = None,
    ) -> None:
        """Parse the options, and make the pipeline that they describe."""
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

    def run(self) -> None:
        """Read the input, run the pipeline and write the result, chunk by chunk; a failed chunk
        does not stop the next ones. With --out-dir, do so for each of many inputs."""
        self.complete_setup()
        if self.args.out_dir is not None:
            self.run_corpus()
            return
        result = self.result_file()
        status = 0
        try:
            with self.pass_context:
                self.observation.add_load(self.loading.seconds)
                chunks, frontend = self.prepare_input()
                for index, (chunk, offset) in enumerate(chunks):
                    if index > 0:
                        result.write(f"{self.args.output_split_marker}\n")
                    status = max(status, self.run_chunk(chunk, frontend, offset, result))
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

    def run_chunk(self, chunk: IO[bytes], frontend: str, offset: int, result: ResultFile) -> int:
        """Read, transform and write one chunk; return the exit status for it."""
        self.line_offset = offset
        self.module: ModuleOp | None = None
        text = binary_content(chunk)
        self.diagnostics.start_chunk(self.get_input_name(), text, offset)
        try:
            self.transform_chunk(text, frontend, result)
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

    def transform_chunk(self, text: bytes, frontend: str, result: ResultFile) -> None:
        """Read one chunk, choose its pipeline, run that, and write the result."""
        content, reproducer = read_source(text, frontend, self.get_input_name())
        if (module := self.read_chunk(content, frontend)) is None:
            return
        self.choose_pipeline(reproducer)
        self.observation.see(module)
        self.apply_passes(module)
        self.write_chunk(module, result)

    # 1. Options

    def parse_arguments(
        self, given: Sequence[str]
    ) -> tuple[argparse.Namespace, Sequence[str], Sequence[str]]:
        """Return the parsed arguments, and with --out-dir the inputs and all other arguments."""
        return parse_inputs(self.arg_parser, given, self.available_frontends)

    def check_arguments(self) -> None:
        """Print information if the options ask for it; PasslineError for invalid arguments."""
        if not {*self.args.load} <= {*(self.loaded or ())}:
            raise PasslineError(f"{OPTION}: this tool reads its options itself")
        names = self.ctx.registered_dialect_names
        text = answer(self.args, self.available_passes, names, self.extensions)
        if text is not None:
            self.print_and_exit(text)
        targets, others = self.available_targets, self.processors
        check_spec("target", self.args.target, targets, MLIRTarget, others=others)
        check_arguments(self.args)
        check_corpus(self.args, self.inputs)

    # 2. Pipeline

    def setup_pipeline(self) -> None:
        """Create the pipeline and the context in which it runs."""
        with self.usage_errors():
            with Loading() as self.loading:
                self.use_pipeline(self.given_passes())
            self.setup_context()

    def given_passes(self) -> list[ModulePass]:
        """Return the first passes of extensions, and then those of -p, or else of -O, with the
        passes that options add and those of other projects that take part."""
        pipeline = self.written_pipeline()
        if self.args.add_pass or self.args.replace_pass:
            from .pipeline_edits import edited

            pipeline = edited(pipeline, self.args, self.available_passes, self.warn)
        if any(is_own(pass_) and pass_.is_open for pass_ in nested_passes(pipeline)):
            from ..passmanager.additions import resolve

            pipeline = resolve(pipeline, PassContext(extensions=self.takes_plugins))
            for warning in getattr(pipeline, "warnings", ()):
                self.warn(warning)
        self.edited = pipeline
        return [*self.first_passes(), *pipeline.passes]

    def written_pipeline(self) -> Sequential:
        """Return the pipeline of -p, or else that of -O."""
        given: list[str] = self.args.passes
        if not given and self.args.opt_level is not None:
            given = [p for extension in self.extensions if (p := extension.default_pipeline())][:1]
            if not given:
                raise PasslineError("no installed project has a pipeline for -O: name passes by -p")
        parsed = [parse_pipeline(text, self.available_passes, self.warn) for text in given]
        passes = [pass_ for pipeline in parsed for pass_ in pipeline.passes]
        # The pipeline of -O is itself the outermost one: its stages are places for further passes.
        if not self.args.passes and len(passes) == 1 and isinstance(passes[0], Sequential):
            return passes[0]
        return Sequential(passes)

    @property
    def takes_plugins(self) -> bool:
        """Whether passes of other projects take part in pipelines that do not name them."""
        return not self.args.no_plugins_in_pipelines

    def first_passes(self) -> Iterator[ModulePass]:
        """Yield the first passes of extensions; one of these knows the processor of --target."""
        processor: str | None = getattr(self.args, "processor", None)
        if processor is not None and name_in(processor) not in self.processors:
            raise unknown_name("target", name_in(processor), self.processors)
        for extension in self.extensions:
            is_known = processor is not None and name_in(processor) in extension.processors
            yield from extension.first_passes(processor if is_known else None)

    def use_pipeline(self, passes: Iterable[ModulePass]) -> None:
        """Set the pipeline to `passes`."""
        self.sequential = Sequential(passes)
        if self.edited is not None:
            self.sequential.places = self.edited.places
        self.pipeline = PassPipeline((self.sequential,))

    def setup_context(self) -> None:
        """Create the context in which the pipeline runs."""
        self.observation = Observation(self.args, self.sequential, self.extensions)
        if not self.args.run_reproducer:  # its pipeline is not known yet
            self.observation.check_names(self.available_passes)
        self.pass_context = self.make_pass_context()
        warnings = [] if self.args.run_reproducer else [*self.observation.warnings()]
        if self.args.opt_level is not None and (self.args.passes or self.args.add_pass):
            warnings += self.left_out()
        for warning in warnings:
            self.warn(warning)

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
            extensions=self.takes_plugins,
            check_conditions=self.args.check_conditions or "never",
            renderer=self.render,
            remark_filter=self.remark_filter(),
            workers=getattr(self.args, "workers", None),
        )
        if level is None:
            context.opt_level = sys.maxsize  # all passes, whatever their level
        return context

    def required_passes(self) -> Sequence[str]:
        """Return the names of the passes that run whatever their level."""
        return self.args.require_pass

    @property
    def verifies_each(self) -> bool:
        """Whether to verify what each pass changes."""
        return self.args.verify_each and not self.args.disable_verify

    def instruments(self) -> list[PassInstrument]:
        """Return the instruments to run under."""
        return self.observation.instruments

    def left_out(self) -> Iterator[str]:
        """Yield a warning about passes of -p and --add-pass that the level of -O filters out."""
        plan = list(self.sequential.plan(self.pass_context))
        steps = [step for step in plan if step.action == "skip"]
        if not self.args.passes:
            steps = [step for step in steps if "--add-pass" in step.reason]
        if steps and len(steps) < len(plan):  # a pipeline that runs nothing has a warning already
            yield "not run: " + ", ".join(f"{step.info.name} ({step.reason})" for step in steps)

    def complete_setup(self) -> None:
        """Check the options of a subclass whose `__init__` is its own, and finish its setup."""
        if self.is_set_up:
            return
        with self.usage_errors():
            if self.args.out_dir is not None:
                raise PasslineError("--out-dir: this tool reads its options itself")
            self.check_arguments()
            self.finish_setup()

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

    def answer_about_pipeline(self) -> None:
        """Print the pipeline if the options ask for it."""
        if self.args.explain_pipeline:
            plan = self.sequential.plan(self.pass_context)
            texts = {"json": plan.json, "dot": plan.dot}
            text = texts.get(self.args.explain_pipeline, plan.__str__)()
            self.print_and_exit(text or "nothing runs")
        if not self.args.run_reproducer:  # its pipeline is not known yet
            self.dump_pipeline()

    def dump_pipeline(self) -> None:
        """Print the pipeline, before it runs, if the options ask for it."""
        if getattr(self.args, "dump_pass_pipeline", False):  # not in all tools that derive
            from ..passmanager.pipeline_tree import pipeline_tree

            print(pipeline_tree(self.sequential), file=sys.stderr)

    def choose_pipeline(self, stored: Reproducer | None) -> None:
        """With --run-reproducer, take the pipeline that is stored in the input."""
        if not self.args.run_reproducer:
            return
        name = self.get_input_name()
        if stored is None:
            raise PasslineError(f"'{name}' holds no pipeline to reproduce")
        passes = parse_pipeline(stored.pipeline, self.available_passes, self.warn).passes
        check_passes_of_file(passes, name, stored.pipeline)
        self.use_pipeline(passes)
        self.dump_pipeline()
        self.pass_context.verify_each = self.verifies_each and stored.verify_each

    # 3. Input

    def register_all_frontends(self) -> None:
        super().register_all_frontends()
        self.available_frontends["mlir"] = self.parse_mlir

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
        """Return the chunks of the input, each with its line offset, and the frontend."""
        content, frontend = self.read_input()
        marker = self.args.split_input_file
        is_text = not content.startswith(BYTECODE)
        chunks = split_chunks(content, marker) if marker and is_text else [(content, 0)]
        return [(chunk_stream(text), line) for text, line in chunks], frontend

    def read_input(self) -> tuple[bytes, str]:
        """Return the input, empty if the frontend opens the file itself, and the frontend."""
        stream, extension = self.get_input_stream()
        name, frontends = self.get_input_name(), self.available_frontends
        known = extension if extension in frontends else "mlir"
        frontend = parse_spec(self.args.frontend).name if self.args.frontend else known
        with stream:
            content = b"" if opens_file(frontend, frontends, name) else binary_content(stream)
        verifies = bool(getattr(self.args, "verify_diagnostics", False))
        self.prints_diagnostics = verifies and expects_output(content)
        self.diagnostics.prints_diagnostics = self.prints_diagnostics
        if name == STDIN and frontend == "mlir" and not content.startswith(BYTECODE):
            remember_source(STDIN, content)
        return content, frontend

    def read_chunk(self, content: bytes, frontend: str) -> ModuleOp | None:
        """Return the module in a chunk, verified unless the options say otherwise."""
        phase = self.observation.phase
        with phase("Parser" if frontend == MLIRFrontend.name else "Import"):
            self.module = self.parse_chunk(chunk_stream(content), frontend, self.line_offset)
        if self.module is not None and not self.args.disable_verify:
            with phase("Verifier"):
                verify(self.module, dominance=self.args.verify_dominance)
        return self.module

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        """Return the module that a frontend reads: one of xDSL's interface, or a function."""
        return read_with(
            self.args.frontend or file_extension,
            self.available_frontends,
            self.extensions,
            self.ctx,
            chunk,
            self.get_input_name(),
        )

    def parse_mlir(self, stream: IO[bytes]) -> ModuleOp:
        """Parse MLIR text, or bytecode; every op gets its source location."""
        name, spec = self.get_input_name(), parse_spec(self.args.frontend or MLIRFrontend.name)
        content, limit = binary_content(stream), self.pass_context.max_elements
        if content.startswith(BYTECODE):
            from ..passmanager.bytecode.reader import read_bytecode

            return read_bytecode(self.ctx, content, name, max_elements=limit)
        of_mlir = spec.name == MLIRFrontend.name
        options = MLIRFrontend.from_spec(spec) if of_mlir else MLIRFrontend()
        return parse_module(
            self.ctx,
            decode_mlir(name, content),
            name,
            line_offset=self.line_offset,
            max_elements=limit,
            implicit_module=not (self.args.no_implicit_module or options.no_implicit_module),
        )

    # 4. Run

    def apply_passes(self, prog: ModuleOp) -> None:
        """Run the pipeline; output of passes goes to stderr, apart from the result."""
        with redirect_stdout(sys.stderr):
            if self.sizes is not None:
                self.sizes.add_input(prog)
            self.pipeline.apply(self.ctx, prog)  # xDSL's method verifies, too, until 0.69
            if self.sizes is not None:
                self.sizes.add_result(prog)

    @cached_property
    def diagnostics(self) -> DiagnosticOutput:
        """The output of diagnostics and remarks."""
        return DiagnosticOutput(self.args)

    def remark_filter(self) -> dict[str, str]:
        """Return the remarks to make: kind -> regular expression on the names of passes."""
        return remark_filter(self.args)

    def render(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Show the diagnostics of a pass."""
        self.diagnostics.render(diagnostics)

    # 5. Output

    def result_file(self) -> ResultFile:
        """Return the output of the run; that of `prepare_output` if a subclass overrides it."""
        if type(self).prepare_output is not xDSLOptMain.prepare_output:
            return ResultFile(None, self.prepare_output())
        return ResultFile(self.args.output_file)

    def write_chunk(self, module: ModuleOp, result: ResultFile) -> None:
        """Check and write a transformed module, as the options say."""
        if self.args.verify_roundtrip:
            from .roundtrip import verify_roundtrip

            verify_roundtrip(module, self.ctx)
        if not self.args.no_print:
            with self.observation.phase("Output"):
                self.write_result(module, result)

    def write_result(self, prog: ModuleOp, result: ResultFile) -> None:
        """Write what the tool makes of a transformed module."""
        if getattr(self.args, "emit_bytecode", False):  # not in all tools that derive
            from .bytecode_output import write_bytecode_to

            write_bytecode_to(result, prog, self.ctx, self.args)
            return
        if (content := self.binary_result(prog)) is not None:
            from .bytecode_output import write_binary_to

            write_binary_to(result, content, self.args)
            return
        with doing("printing"):
            text = self.output_resulting_program(prog)
        result.write(text)

    def binary_result(self, prog: ModuleOp) -> bytes | None:
        """Return the result if the target is no text: if its class has a method `emit_bytes`."""
        spec = parse_spec(self.args.target)
        make, own = installed().targets.get(spec.name), self.available_targets.get(spec.name)
        # A target that the tool registers by itself may be a function of the module and the output.
        if make is None or make is not own or TARGETS_ARE_FUNCTIONS:
            return None
        emit = getattr(make().from_spec(spec), "emit_bytes", None)
        return None if emit is None else emit(self.ctx, prog)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """Return the text of the result; MLIR text keeps every bit of the constants."""
        spec = parse_spec(self.args.target)
        if spec.name == MLIRTarget.name and not self.args.syntax_highlight:
            return mlir_text(prog, self.ctx, self.args, self.arg_parser.prog)
        try:
            return super().output_resulting_program(prog)
        except (AssertionError, NotImplementedError, TypeError, ValueError) as error:
            raise unprintable(spec.name, prog, error) from error

    # The process, and those of many inputs

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
        # xDSL parses and prints deep IR by recursion, some 20 frames a level; calls through C take
        # stack.
        sys.setrecursionlimit(recursion_limit())

    def run_corpus(self) -> None:
        """Run the pipeline on each of many inputs, in other processes."""
        from .corpus.jobs import run_corpus

        options = tool_options(self.options)
        try:
            status = run_corpus(
                type(self), self.args, options, self.inputs, __version__, self.prepare_process
            )
        except (Exception, KeyboardInterrupt) as error:
            status = report(error, debug=self.args.debug)
        if status:
            sys.exit(status)


main = PasslineOptMain.main


def rehearse_for_forks() -> None:
    """Fill the tables of the tool in a server."""
    from .rehearsal import rehearse

    tool = PasslineOptMain(args=["-p", "canonicalize,cse", "/dev/null"])
    tool.line_offset = 0
    rehearse(tool, tool.pass_context)


if __name__ == "__main__":
    main()
