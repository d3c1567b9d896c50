"""The extension of the tools by the tensor compiler: its options, and what they do.

Each start of a tool imports this module: the compiler and its dialects are imported in functions
only.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..passmanager.instrument import PassInstrument
from ..passmanager.options import shortened
from ..passmanager.releases.targets import Frontend
from .command_line.argument_parser import Group, OptionalValue, positive
from .extension import ToolExtension

if TYPE_CHECKING:
    from ..compiler.interpreters.equivalence import SemanticsInstrument
    from ..dialects.target import Target


def processor_of(args: argparse.Namespace) -> Target | None:
    """Return the processor of --target, or None; PasslineError for a mistake in it."""
    if (text := getattr(args, "processor", None)) is None:
        return None
    from ..compiler.execution import parse_processor

    return parse_processor(text)


class CompilerExtension(ToolExtension):
    """The processors, the pipeline of -O, the sizes of parameters, and the check of results."""

    processors = (
        *("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"),
        *("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "host"),
    )
    processor_help = (
        "the processor to make kernels for: x86-64, x86-64-v2, -v3, -v4, sm_80 to sm_120, "
        "aarch64 or host"
    )
    check_options = ("verify_semantics", "semantics_limit")

    _semantics: SemanticsInstrument | None = None
    """The instrument of --verify-semantics in the last run."""

    def add_pipeline_options(self, group: Group) -> None:
        add = group.add_argument
        help = "set the shape of a parameter, as x=1x3x?x192; ? stays unknown; may be repeated"
        add("--shape", action="append", default=[], metavar="NAME=SIZES", help=help)
        help = "set the size of every dimension with this name, as batch=4; may be repeated"
        add("--dim", action="append", default=[], metavar="NAME=SIZE", help=help)

    def add_check_options(self, group: Group) -> None:
        add = group.add_argument
        help = "check that no pass changes the results of a function, on seeded inputs, SEEDS (1) "
        help += "of each kind; with strict, a function that cannot be checked is an error"
        flag, metavar = "--verify-semantics", "SEEDS,strict"
        add(flag, action=OptionalValue, const="1", type=SemanticsCheck, metavar=metavar, help=help)
        help = "with --verify-semantics: the number of steps for all inputs of a function together"
        add("--semantics-limit", type=positive, metavar="STEPS", help=help)

    def default_pipeline(self) -> str:
        return "optimize"

    def first_passes(self, processor: str | None) -> Sequence[ModulePass]:
        if processor is None:
            return ()
        from ..compiler.execution import parse_processor
        from ..passes.tir.bind_target import BindTarget

        return (BindTarget(str(parse_processor(processor))),)

    def instruments(self) -> Sequence[PassInstrument]:
        check: SemanticsCheck | None = self.tool.args.verify_semantics
        if check is None:
            return ()
        from ..compiler.interpreters.equivalence.evaluation import MAX_STEPS
        from ..compiler.interpreters.equivalence.instrument import SemanticsInstrument

        limit = self.tool.args.semantics_limit or MAX_STEPS
        directory = None if self.tool.directory is None else str(self.tool.directory)
        self._semantics = SemanticsInstrument(check.seeds, limit, directory, check.strict)
        return (self._semantics,)

    def configure_frontend(self, frontend: Frontend) -> Frontend:
        if frontend.name != "onnx":
            return frontend
        from ..compiler.frontends.onnx_frontend import OnnxFrontend

        if not isinstance(frontend, OnnxFrontend):
            return frontend
        args = self.tool.args
        shape, dim = (*args.shape, *frontend.shape), (*args.dim, *frontend.dim)
        return replace(frontend, shape=shape, dim=dim).warning(self.tool.warn)

    def prepare_module(self, module: ModuleOp, frontend: str) -> None:
        args = self.tool.args
        if frontend == "onnx" or not (args.shape or args.dim):  # the importer sets the sizes itself
            return
        from ..compiler.interpreters.shape_bindings import read_bindings
        from ..passes.relax.bind_shapes import bind_module

        entry: str = getattr(args, "function", "main")
        bind_module(module, entry, read_bindings(args.shape, args.dim))

    def reports(self) -> Iterator[str]:
        if self._semantics is not None:
            yield self._semantics.report()
            yield self._semantics.summary()

    def instrument_classes(self) -> Sequence[type[PassInstrument]]:
        try:
            from ..compiler.interpreters.equivalence.instrument import SemanticsInstrument
        except ModuleNotFoundError:  # of numpy, on which it computes
            return ()
        return (SemanticsInstrument,)


class SemanticsCheck:
    """The argument of --verify-semantics: a number of seeds, `strict`, or both: `3,strict`."""

    def __init__(self, text: str) -> None:
        words = text.split(",")
        numbers = [word for word in words if word != "strict"]
        self.strict = len(numbers) < len(words)
        if len(numbers) > 1 or len(words) - len(numbers) > 1:
            raise argparse.ArgumentTypeError(
                f"expected a number, strict, or both, as 3,strict; got '{shortened(text)}'"
            )
        self.seeds = positive(numbers[0]) if numbers else 1

    def __str__(self) -> str:
        return f"{self.seeds},strict" if self.strict else str(self.seeds)
