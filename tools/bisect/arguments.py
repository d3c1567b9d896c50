"""The options of `passline-bisect`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable

from ..command_line.argument_parser import add_version, nonempty_text, seconds
from ..command_line.arguments import add_pipeline, add_semantics, add_verification

__all__ = ["add_bisection", "expression"]


def add_bisection(
    parser: argparse.ArgumentParser, frontends: Iterable[str], version: Callable[[], str]
) -> None:
    """Add the options of `passline-bisect` in groups."""
    parser.usage = "%(prog)s [options] [input_file] [-- command ...]"
    group = parser.add_argument_group("input and output")
    add = group.add_argument
    add("input_file", nargs="?", help="the file on which the pipeline goes wrong; '-' is stdin")
    help = "the frontend that reads the input; by default chosen by the file name"
    add("-f", "--frontend", choices=[*frontends], help=help)
    help = "write the reduced module to DIR as a lit test, which fails until the fault is mended"
    add("--save-test", type=nonempty_text, metavar="DIR", help=help)
    add("--json", action="store_true", help="print the result as JSON")
    add("--no-reduce", action="store_true", help="do not reduce the module")
    help = "print operations in generic form"
    add("--print-op-generic", action="store_true", help=help)
    help = "accept operations of unknown dialects"
    add("--allow-unregistered-dialect", action="store_true", help=help)
    add("--no-implicit-module", action="store_true", help="accept nothing but one builtin.module")
    add("--quiet", action="store_true", help="do not report progress")
    add("--debug", action="store_true", help="show the traceback when something fails")
    group = parser.add_argument_group("what is bad")
    group.description = (
        "A result is bad if the command after -- exits with another status than 0. The command "
        "gets a file with the result in place of {}, or as its last argument. Without a command "
        "and without --bad-if, the pipeline must fail on the input; then every run that fails in "
        "the same way is bad: in the same pass, with the same exception, and with the same message "
        "but for numbers, names and types."
    )
    add = group.add_argument
    help = "a result is bad if a line of it, or of a message of a pass, matches"
    add("--bad-if", type=expression, metavar="REGEX", help=help)
    help = "a result is bad if the passes, or the command, take longer"
    add("--timeout", type=seconds, metavar="SECONDS", help=help)
    add = (group := add_pipeline(parser)).add_argument
    help = "the processor to make kernels for, as in passline-opt"
    add("-t", "--target", dest="processor", metavar="TARGET", help=help)
    add_verification(group)
    add_semantics(group)
    add_version(group, version)


def expression(text: str) -> re.Pattern[str]:
    """Parse a regular expression."""
    try:
        return re.compile(nonempty_text(text))
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a regular expression: {error}") from None
