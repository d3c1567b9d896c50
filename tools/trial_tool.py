"""The base of the tools that run a pipeline many times to find something out."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from io import BytesIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..passmanager.diagnostics import Diagnostic
from ..passmanager.ir.printer import PrintStyle, module_text
from ..passmanager.sequential import Sequential, SequentialOptions
from .opt import PasslineOptMain

__all__ = ["TrialMain", "flat"]


class TrialMain(PasslineOptMain):
    """A tool with the input, the pipelines and the exit status of `passline-opt`, whose passes run
    many times and print nothing."""

    def setup_pipeline(self) -> None:
        self.use_pipeline(self.given_passes())
        self.pass_context = self.make_pass_context()

    def answer_about_pipeline(self) -> None:
        pass

    def remark_filter(self) -> dict[str, str]:
        return {}

    def render(self, diagnostics: Sequence[Diagnostic]) -> None:
        pass

    def read_module(self) -> ModuleOp:
        """Return the module in the input."""
        content, frontend = self.read_input()
        self.line_offset = 0
        return self.available_frontends[frontend](BytesIO(content))

    def say(self, message: str) -> None:
        """Print progress on stderr."""
        if not self.args.quiet:
            print(f"{self.arg_parser.prog}: {message}", file=sys.stderr)

    def text_of(self, module: ModuleOp) -> str:
        """Return the text of a module, in generic form if an op has no other."""
        generic = self.args.print_op_generic
        try:
            return module_text(module, self.ctx, PrintStyle(generic=generic))
        except Exception:  # an op that is not verified may not print as it is wont to
            return module_text(module, self.ctx, PrintStyle(generic=True))


def flat(pipeline: Sequential) -> Iterator[ModulePass]:
    """Yield the passes of a pipeline and of the plain Sequentials in it."""
    for pass_ in pipeline.passes:
        if isinstance(pass_, Sequential) and pass_.options == SequentialOptions():
            yield from flat(pass_)
        else:
            yield pass_
