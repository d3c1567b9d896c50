"""The hooks of xDSL's tool: what it knows by name, and its options.

A subclass may override each of them; they are called in xDSL's order.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, NoReturn, Self

from xdsl.context import Context
from xdsl.ir import Dialect
from xdsl.xdsl_opt_main import xDSLOptMain

from ..passes.generic import REPLACEMENTS
from ..passmanager.diagnostics import Severity, print_message
from ..passmanager.errors import PasslineError
from ..passmanager.registry import installed
from ..passmanager.releases.targets import TARGETS_ARE_FUNCTIONS
from ..passmanager.runner import Loading
from .command_line.argument_parser import ArgumentParser, Group, add_completion, add_version
from .command_line.arguments import add_arguments
from .command_line.short_help import ShortHelp, group_xdsl_options
from .corpus.options import add_corpus_options
from .extension import ToolExtension, extension_classes
from .failures import report
from .loading import load_file, loaded_files
from .observation import Observation


class XDSLHooks(xDSLOptMain):
    """A tool with the dialects, passes, targets, frontends and options of installed projects."""

    short_help: ClassVar[ShortHelp | None] = None
    """What -h prints; all options if there is none."""

    arg_parser: argparse.ArgumentParser
    observation: Observation
    loaded: Sequence[str] | None = None
    """The files of --load; None for a tool whose `__init__` is its own, until they are loaded."""
    directory: Path | None = None
    """The directory for the files of instruments; None if they choose one."""

    @classmethod
    def unused(cls) -> Self:
        """Return a tool that knows its options, and was given none."""
        tool = cls.__new__(cls)
        tool.make_parser("")
        return tool

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

    @cached_property
    def extensions(self) -> Sequence[ToolExtension]:
        """What installed projects add to the tool."""
        return [cls(self) for cls in extension_classes()]

    # Dialects, passes, targets and frontends

    def load_files(self, args: Sequence[str]) -> None:
        """Load the files of --load; end the process if that fails."""
        try:
            self.loaded = [*loaded_files(args)]
            for name in self.loaded:
                load_file(name)
        except (PasslineError, OSError) as error:
            sys.exit(report(error, debug="--debug" in args))

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

    # Options

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        self.arg_parser = arg_parser
        if not isinstance(arg_parser, ArgumentParser):
            ArgumentParser.adopt(arg_parser, self.available_passes)
        super().register_all_arguments(arg_parser)
        if isinstance(arg_parser, ArgumentParser):
            arg_parser.allow_abbreviations()
        targets, frontends = self.available_targets, self.available_frontends
        self.add_questions(add_arguments(arg_parser, targets, frontends, self.extensions))
        add_corpus_options(arg_parser, frontends)

    def add_questions(self, group: Group) -> None:
        """Add the options on the tool itself."""
        add_completion(group, self.completion)
        add_version(group)

    @property
    def processors(self) -> list[str]:
        """The names that --target takes beside those of output formats."""
        return [name for extension in self.extensions for name in extension.processors]

    @property
    def offers(self) -> dict[str, list[str]]:
        """The values of options that a shell completes: the names of what is registered."""
        return {
            "passes": sorted(self.available_passes),
            "target": [*self.available_targets, *self.processors],
            "processor": self.processors,
            "frontend": [*self.available_frontends],
        }

    def completion(self, shell: str) -> str:
        """Return a script with which a shell completes options and their values."""
        from .command_line.completion import completion

        return completion(self.arg_parser, shell, self.offers)

    # Messages

    @contextmanager
    def usage_errors(self) -> Generator[None]:
        """End the process with a message for mistakes in the options."""
        try:
            yield
        except PasslineError as error:
            self.arg_parser.error(str(error))
        except OSError as error:
            sys.exit(report(error))

    def warn(self, message: str) -> None:
        """Print a warning about the options."""
        if not self.args.quiet:
            print_message(Severity.WARNING, message, self.arg_parser.prog)

    def print_and_exit(self, text: str) -> NoReturn:
        """Print the information that was asked for, and exit."""
        print(text)
        sys.exit(0)
