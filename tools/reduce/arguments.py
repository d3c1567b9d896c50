"""The options of `passline-reduce`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from ..command_line.argument_parser import add_version, nonempty_text, seconds
from ..command_line.arguments import add_pipeline, add_verification

__all__ = ["add_reduction"]


def add_reduction(
    parser: argparse.ArgumentParser, frontends: Iterable[str], version: Callable[[], str]
) -> None:
    """Add the options of `passline-reduce` in groups."""
    group = parser.add_argument_group("input and output")
    add = group.add_argument
    add("input_file", nargs="?", help="the file to reduce; '-' is stdin")
    help = "the frontend that reads the input; by default chosen by the file name"
    add("-f", "--frontend", choices=[*frontends], help=help)
    help = "the output file, written at the end or when interrupted; '-' is stdout"
    add("-o", "--output-file", type=nonempty_text, metavar="FILE", help=help)
    help = "print operations in generic form"
    add("--print-op-generic", action="store_true", help=help)
    help = "accept operations of unknown dialects"
    add("--allow-unregistered-dialect", action="store_true", help=help)
    add("--no-implicit-module", action="store_true", help="accept nothing but one builtin.module")
    add("--quiet", action="store_true", help="do not report progress")
    add("--debug", action="store_true", help="show the traceback when something fails")
    group = parser.add_argument_group("interestingness")
    add = group.add_argument
    help = "a command that takes a file name and exits with 0 if the file is interesting"
    add("--test", type=nonempty_text, metavar="COMMAND", help=help)
    help = "treat a file as not interesting if the command takes longer"
    add("--timeout", type=seconds, metavar="SECONDS", help=help)
    group = add_pipeline(parser)
    group.description = (
        "Without --test, a module is interesting if it fails as the input does: in the same pass, "
        "with the same exception and a message that differs only in numbers, names and types."
    )
    add_verification(group)
    add_version(group, version)
