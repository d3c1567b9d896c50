"""`passline-opt`: reads IR, runs a pipeline of passes over it, and writes the result."""

from __future__ import annotations

import argparse
import gc
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from io import BytesIO
from typing import IO, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    ParseError,
    ShrinkException,
)
from xdsl.xdsl_opt_main import xDSLOptMain

from ..passes import OPTIMIZE, REPLACEMENTS
from ..passmanager.context import PassContext
from ..passmanager.errors import PasslineError
from ..passmanager.info import closest_name
from ..passmanager.instrument import PassInstrument
from ..passmanager.ir.location import remember_source
from ..passmanager.ir.reading import parse_module
from ..passmanager.ir.verifying import verify
from ..passmanager.pipeline import parse_pipeline, pipeline_text
from ..passmanager.registry import installed
from ..passmanager.sequential import Sequential
from .arguments import ArgumentParser, add_arguments
from .configuration import read_config
from .failures import report
from .listing import list_configs, list_passes
from .output import ResultFile

__all__ = ["PasslineOptMain", "main"]

RESULT_SEPARATOR = "// -----\n"


class PasslineOptMain(xDSLOptMain):
    """The tool, made to be subclassed as xDSL's: its hooks are called in the same order.

    Besides them: `instruments`, to add instruments. `run` ends the process with a status that is
    not 0 if something failed: 1 the input is wrong or a pass failed on purpose, 2 usage, 3 a bug in
    a pass.
    """

    version_format = "passline-opt {passline_version}, built on xDSL {xdsl_version}"

    def __init__(
        self,
        description: str = "Run passes over IR; without -p and -O it is verified and printed.",
        args: Sequence[str] | None = None,
    ) -> None:
        self.available_frontends = {}
        self.available_passes = {}
        self.available_targets = {}
        self.ctx = Context()
        self.register_all_dialects()
        self.register_all_frontends()
        self.register_all_passes()
        self.register_all_targets()

        self.arg_parser = ArgumentParser(description)
        self.register_all_arguments(self.arg_parser)
        self.args = self.arg_parser.parse_args(args)
        self.ctx.allow_unregistered = self.args.allow_unregistered_dialect
        self.args.syntax_highlight &= sys.stdout.isatty()
        if self.args.list_passes:
            self.print_and_exit("\n".join(list_passes(self.available_passes)))
        if self.args.list_configs:
            self.print_and_exit("\n".join(list_configs()))
        try:
            self.check_target()
            self.setup_pipeline()
        except PasslineError as error:
            self.arg_parser.error(str(error))
        except OSError as error:
            sys.exit(report(error))
        if self.args.explain_pipeline:
            self.print_and_exit(str(self.sequential.plan(self.pass_context)))
        if self.args.dump_pass_pipeline:
            print(pipeline_text(self.sequential), file=sys.stderr)

    # What there is

    def register_all_dialects(self) -> None:
        for name, factory in installed().dialects.items():
            self.ctx.register_dialect(name, factory)

    def register_all_passes(self) -> None:
        for name, factory in (installed().passes | REPLACEMENTS).items():
            self.register_pass(name, factory)

    def register_all_targets(self) -> None:
        self.available_targets.update(installed().targets)

    def register_all_frontends(self) -> None:
        self.available_frontends["mlir"] = self.parse_mlir

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        versions = self.version_format.format(
            passline_version=version("passline"), xdsl_version=version("xdsl")
        )
        add_arguments(arg_parser, self.available_targets, versions)

    def print_and_exit(self, text: str) -> NoReturn:
        """Print what was asked for in place of a run."""
        try:
            print(text, flush=True)
        except OSError as error:
            sys.exit(report(error))
        sys.exit(0)

    def check_target(self) -> None:
        """Raise if there is no such target."""
        try:
            name = parse_spec(self.args.target).name
        except ArgSpecParseError as error:
            raise PasslineError(str(error)) from None
        if name not in self.available_targets:
            closest = closest_name(name, self.available_targets)
            hint = (
                f"did you mean '{closest}'?"
                if closest
                else f"choose from {', '.join(self.available_targets)}"
            )
            raise PasslineError(f"there is no target '{name}'; {hint}")

    # What to do

    def setup_pipeline(self) -> None:
        """Make the pipeline and the context that it runs under."""
        given: list[str] = self.args.passes
        level: int | None = self.args.opt_level
        if given:
            pipelines = [parse_pipeline(text, self.available_passes) for text in given]
            self.sequential = Sequential([p for pipeline in pipelines for p in pipeline.passes])
        else:
            text = ",".join(OPTIMIZE) if level is not None else ""
            self.sequential = parse_pipeline(text, self.available_passes)
        self.pipeline = PassPipeline((self.sequential,))
        self.pass_context = PassContext(
            opt_level=sys.maxsize if level is None else level,
            config=read_config(self.args.config_file, self.args.config),
            instruments=self.instruments(),
            verify_each=not self.args.disable_verify,
            verify_preserves=self.args.verify_preserves,
        )
        if given and level is not None:
            self.warn_about_levels()

    def instruments(self) -> list[PassInstrument]:
        """The instruments to run under: what the options ask for."""
        from ..passmanager.instruments import PassTimingInstrument, PrintAfterAll

        found: list[PassInstrument] = []
        if self.args.print_between_passes:
            found.append(PrintAfterAll())
        if self.args.time_passes:
            self.timing = PassTimingInstrument()
            found.append(self.timing)
        return found

    def warn_about_levels(self) -> None:
        """Say in one warning which of the passes of -p the level of -O leaves out."""
        steps = [s for s in self.sequential.plan(self.pass_context) if s.action == "skip"]
        if steps:
            names = ", ".join(f"{step.info.name} ({step.reason})" for step in steps)
            print(f"{self.arg_parser.prog}: warning: not run: {names}", file=sys.stderr)

    # Doing it

    def run(self) -> None:
        """Read, run the pipeline and write, chunk by chunk; a chunk that fails does not stop the
        others.
        """
        result = ResultFile(self.args.output_file)
        status = 0
        try:
            with self.pass_context:
                chunks, extension = self.prepare_input()
                for index, (chunk, offset) in enumerate(chunks):
                    if index > 0:
                        result.write(RESULT_SEPARATOR)
                    status = max(status, self.run_chunk(chunk, extension, offset, result))
            if status == 0:
                result.commit()
        except (Exception, KeyboardInterrupt) as error:
            status = report(error, debug=self.args.debug)
        if self.args.time_passes:
            print(self.timing.render(), end="", file=sys.stderr)
        if self.args.shrink:
            print("Failure, can't shrink")
            sys.exit(1)
        if status:
            sys.exit(status)

    def run_chunk(self, chunk: IO[bytes], extension: str, offset: int, result: ResultFile) -> int:
        """Parse, verify, transform and write one chunk; returns the status that it would end the
        run with.
        """
        self.line_offset = offset
        try:
            with chunk:
                module = self.parse_chunk(chunk, extension, offset)
            if module is not None:
                if not self.args.disable_verify:
                    verify(module)
                self.apply_passes(module)
                result.write(self.output_resulting_program(module))
        except ShrinkException:
            if not self.args.shrink:
                raise
            self.print_and_exit("Success, can shrink")
        except BrokenPipeError:
            raise
        except ParseError as error:
            if self.args.parsing_diagnostics:
                result.write(f"{error}\n")
                return 0
            return self.report(error)
        except DiagnosticException as error:
            if self.args.verify_diagnostics:
                result.write("\n".join([str(error), *getattr(error, "__notes__", ())]) + "\n")
                return 0
            return self.report(error)
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            return self.report(error)
        return 0

    def report(self, error: BaseException) -> int:
        """Say what failed; returns the status."""
        return report(error, debug=self.args.debug)

    # Input

    def get_input_name(self) -> str:
        return "<stdin>" if self.args.input_file in (None, "-") else self.args.input_file

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        if self.args.input_file in (None, "-"):
            return sys.stdin.buffer, "mlir"
        return super().get_input_stream()

    def prepare_input(self) -> tuple[list[tuple[IO[bytes], int]], str]:
        """The chunks of the input with the lines before each, and the name of the frontend that
        reads them.
        """
        stream, extension = self.get_input_stream()
        with stream:
            content = stream.read()
        frontend = self.args.frontend or (
            extension if extension in self.available_frontends else "mlir"
        )
        if frontend == "mlir" and self.get_input_name() == "<stdin>":
            remember_source("<stdin>", content)
        if not self.args.split_input_file:
            return [(BytesIO(content), 0)], frontend
        return [(BytesIO(text), line) for text, line in split_chunks(content)], frontend

    def parse_mlir(self, stream: IO[bytes]) -> ModuleOp:
        """Read MLIR text; every op knows its line."""
        name, content = self.get_input_name(), stream.read()
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            byte = content[error.start]
            message = f"'{name}' is no UTF-8 text: byte {byte:#x} at offset {error.start}"
            raise PasslineError(message) from None
        return parse_module(
            self.ctx,
            text,
            name,
            line_offset=self.line_offset,
            implicit_module=not self.args.no_implicit_module,
        )


def split_chunks(content: bytes) -> Iterator[tuple[bytes, int]]:
    """The parts of a file between lines that are `// -----`, each with the number of lines before
    it.
    """
    start = line = 0
    for marker in re.finditer(rb"^[ \t]*// -----[ \t]*\r?$\n?", content, re.MULTILINE):
        yield content[start : marker.start()], line
        line += content.count(b"\n", start, marker.end())
        start = marker.end()
    yield content[start:], line


def main(args: Sequence[str] | None = None) -> None:
    """The command `passline-opt`."""
    # IR is cyclic and long-lived: the default thresholds make the collector a third of parsing.
    gc.set_threshold(100_000, 20, 100)
    try:
        PasslineOptMain(args=args).run()
    except (Exception, KeyboardInterrupt) as error:
        sys.exit(report(error, debug="--debug" in sys.argv))


if __name__ == "__main__":
    main()
