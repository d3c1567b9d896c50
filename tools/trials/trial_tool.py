"""The base of the tools that run a pipeline many times to find something out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...passmanager.diagnostics import Diagnostic, Severity, print_message
from ...passmanager.instrument import PassInstrument
from ...passmanager.ir.text.printer import PrintStyle, module_text
from ...passmanager.names import name_key, unknown_pass
from ...passmanager.output.status import clear_status
from ...passmanager.releases.streams import chunk_stream
from ...passmanager.runner import info_of, nested_passes
from ...passmanager.sequential import Sequential, SequentialOptions
from ..command_line.argument_parser import Group
from ..command_line.arguments import add_frontend
from ..failures import report
from ..opt import PasslineOptMain
from ..reading import read_source


class TrialMain(PasslineOptMain):
    """A tool with the input, the pipelines and the exit status of `passline-opt`, whose passes run
    many times and print nothing."""

    def add_input(self, group: Group, help: str) -> None:
        """Add the input, which `help` describes, and its frontend."""
        group.add_argument("input_file", nargs="?", help=help)
        add_frontend(group, self.available_frontends)

    def add_common(self, group: Group, unknown: str = "operations of unknown dialects") -> None:
        """Add the options on reading and on messages."""
        add = group.add_argument
        add("--allow-unregistered-dialect", action="store_true", help=f"accept {unknown}")
        help = "accept nothing but one builtin.module"
        add("--no-implicit-module", action="store_true", help=help)
        add("--quiet", action="store_true", help="do not report progress")
        add("--debug", action="store_true", help="show the traceback when something fails")

    def setup_pipeline(self) -> None:
        self.use_pipeline(self.given_passes())
        self.pass_context = self.make_pass_context()
        self.pass_context.names_checked = True  # here, as the diagnostics of passes are not shown
        for option in ("disable_pass", "require_pass"):
            for name in getattr(self.args, option):
                self.warn_if_unknown(f"--{option.replace('_', '-')}", name)

    def warn_if_unknown(self, option: str, name: str) -> None:
        """Print a warning if `name` in `option` is neither a known pass nor in the pipeline."""
        known = [*self.available_passes, *(info_of(p).name for p in nested_passes(self.sequential))]
        if name_key(name) not in map(name_key, known) and not self.args.quiet:
            message = f"{option} names '{name}', which is not a pass{unknown_pass(name, known)}"
            print_message(Severity.WARNING, message, self.arg_parser.prog)

    def instruments(self) -> list[PassInstrument]:
        """Return none: each trial has its own."""
        return []

    def answer_about_pipeline(self) -> None:
        pass

    def remark_filter(self) -> dict[str, str]:
        return {}

    def render(self, diagnostics: Sequence[Diagnostic]) -> None:
        pass

    def read_module(self) -> ModuleOp:
        """Return the module in the input; with --run-reproducer, take the pipeline from it."""
        content, frontend = self.read_input()
        content, reproducer = read_source(content, frontend, self.get_input_name())
        self.line_offset = 0
        module = self.parse_chunk(chunk_stream(content), frontend)
        assert module is not None
        self.choose_pipeline(reproducer)
        return module

    def attempt(self, action: Callable[[], None]) -> int:
        """Do something; report its failure, and return the exit status for it."""
        try:
            action()
        except (Exception, KeyboardInterrupt) as error:
            return report(error, debug=self.args.debug)
        return 0

    def say(self, message: str) -> None:
        """Print progress on stderr."""
        if not self.args.quiet:
            clear_status()
            print(f"{self.arg_parser.prog}: {message}", file=sys.stderr)

    def text_of(self, module: ModuleOp) -> str:
        """Return the text of a module, in generic form if an op has no other."""
        generic = self.args.print_op_generic
        try:
            return module_text(module, self.ctx, PrintStyle(generic=generic))
        except Exception:  # an op that is not verified may have no valid custom form
            return module_text(module, self.ctx, PrintStyle(generic=True))


def flat(pipeline: Sequential) -> Iterator[ModulePass]:
    """Yield the passes of a pipeline and of the plain Sequentials in it."""
    for pass_ in pipeline.passes:
        if isinstance(pass_, Sequential) and pass_.options == SequentialOptions():
            yield from flat(pass_)
        else:
            yield pass_
