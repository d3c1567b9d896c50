"""Extensions of the tools: what a project adds to the options of the tools, and to what they do.

A project names its extension, a subclass of `ToolExtension`, by an entry point of the group
`passline.tools`. Each start of a tool imports it: its module imports what is slow to import in
functions only.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar, Protocol

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..passmanager.instrument import PassInstrument
from ..passmanager.registry import installed
from ..passmanager.releases.targets import Frontend
from .command_line.argument_parser import Group

__all__ = ["Group", "Tool", "ToolExtension", "extension_classes"]


class Tool(Protocol):
    """A tool, as its extensions see it."""

    args: argparse.Namespace
    """The options, once they are parsed."""
    directory: Path | None
    """The directory for the files of instruments; None if they choose one."""

    def warn(self, message: str) -> None:
        """Print a warning, unless the options ask for none."""
        ...


class ToolExtension:
    """What a project adds to the tools that run pipelines; each tool makes an instance for itself.

    The methods are called in the order in which they stand here. An option replaces one of the same
    name: begin it with the name of the project. Errors: PasslineError for an option that is wrong.
    """

    processors: ClassVar[Sequence[str]] = ()
    """The names that `--target` takes beside those of output formats."""
    processor_help: ClassVar[str] = ""
    """What the help of `--target` says of these."""
    check_options: ClassVar[Sequence[str]] = ()
    """The names of these options in `args`: a test that passline-bisect writes repeats them."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    def add_pipeline_options(self, group: Group) -> None:
        """Add options on the pipeline, in all tools."""

    def add_check_options(self, group: Group) -> None:
        """Add options on checks of what passes do, in the tools that have some."""

    def default_pipeline(self) -> str:
        """Return the pipeline of `-O` without `-p`; empty if another extension has it."""
        return ""

    def first_passes(self, processor: str | None) -> Sequence[ModulePass]:
        """Return passes that run before those of the pipeline; `processor` is the value of
        `--target` if that is one of `processors`, with options as in `x86-64{cores=4}`."""
        return ()

    def instruments(self) -> Sequence[PassInstrument]:
        """Return new instruments for a run, which come after those of the tool."""
        return ()

    def configure_frontend(self, frontend: Frontend) -> Frontend:
        """Return the frontend that reads the input, with what the options say about it.

        One whose class has `opens_files = True` gets the open file, whose content is not read.
        """
        return frontend

    def prepare_module(self, module: ModuleOp, frontend: str) -> None:
        """Change a module that the frontend of this name has read, before it is verified."""

    def reports(self) -> Iterable[str]:
        """Yield what the last instruments have to say at the end; it is printed on stderr."""
        return ()

    def instrument_classes(self) -> Sequence[type[PassInstrument]]:
        """Return the instruments that `--list-instruments` lists beside those of Passline."""
        return ()


@cache
def extension_classes() -> Sequence[type[ToolExtension]]:
    """Return the extensions of all installed projects, Passline's first. One that fails to load is
    ignored with a warning."""
    found: list[type[ToolExtension]] = []
    for point in installed().tool_extensions:
        try:
            cls = point.load()
            if not issubclass(cls, ToolExtension):
                raise TypeError(f"{point.value} is not a passline.tools.extension.ToolExtension")
        except Exception as error:
            import logging

            message = "extension '%s' of the tools cannot be loaded and is ignored: %r"
            logging.getLogger(__name__).warning(message, point.name, error)
            continue
        found.append(cls)
    return found
