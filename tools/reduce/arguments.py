"""The options of `passline-reduce`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from ..argument_parser import nonempty_text, seconds
from ..arguments import add_pipeline, add_verification

__all__ = ["add_reduction"]


def add_reduction(parser: argparse.ArgumentParser, frontends: Iterable[str], version: str) -> None:
    """Add the options of `passline-reduce`, in groups."""
    group = parser.add_argument_group("input and output")
    add = group.add_argument
    add("input_file", nargs="?", help="the file to reduce; '-' is stdin")
    help = "what reads the input, if not what its name says"
    add("-f", "--frontend", choices=[*frontends], help=help)
    help = "the file to write, in one step, at the end or when interrupted; '-' is stdout"
    add("-o", "--output-file", type=nonempty_text, metavar="FILE", help=help)
    help = "write all operations in generic form"
    add("--print-op-generic", action="store_true", help=help)
    help = "accept operations that no dialect knows"
    add("--allow-unregistered-dialect", action="store_true", help=help)
    add("--no-implicit-module", action="store_true", help="accept one builtin.module only")
    add("--quiet", action="store_true", help="do not say what has gone")
    add("--debug", action="store_true", help="show the traceback when something fails")
    group = parser.add_argument_group("what is interesting")
    add = group.add_argument
    help = "a command that is given the name of a file, and ends with 0 if that is interesting"
    add("--test", type=nonempty_text, metavar="COMMAND", help=help)
    help = "a file is not interesting if the command takes longer"
    add("--timeout", type=seconds, metavar="SECONDS", help=help)
    group = add_pipeline(parser)
    group.description = (
        "Without --test, what fails as the input does: in the same pass, with the same exception, "
        "and a message that differs in numbers, names and types only."
    )
    add_verification(group)
    group.add_argument("-v", "--version", action="version", version=version)
