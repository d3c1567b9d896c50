"""The options of `passline-tune`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from ...passmanager.errors import PasslineError
from ..command_line.argument_parser import add_version, nonempty_text, positive, seconds, size
from ..command_line.arguments import add_pipeline, add_verification

__all__ = ["add_tuning", "check_tuning"]

DATABASE = "tuning.jsonl"
"""The database if none is named."""


def add_tuning(
    parser: argparse.ArgumentParser, frontends: Iterable[str], version: Callable[[], str]
) -> None:
    """Add the options of `passline-tune` in groups."""
    group = parser.add_argument_group("input and output")
    add = group.add_argument
    add("input_file", nargs="?", help="the model; '-' is stdin")
    help = "the frontend that reads the input; by default chosen by the file name"
    add("-f", "--frontend", choices=[*frontends], help=help)
    help = f"the database to read and to extend, by default {DATABASE}"
    flags = ("-o", "--database", "--output-file")
    add(*flags, dest="database", type=nonempty_text, default=DATABASE, metavar="FILE", help=help)
    add("--allow-unregistered-dialect", action="store_true", help="accept unknown dialects")
    add("--no-implicit-module", action="store_true", help="accept nothing but one builtin.module")
    add("--quiet", action="store_true", help="do not report progress")
    add("--debug", action="store_true", help="show the traceback when something fails")
    group = parser.add_argument_group("search")
    add = group.add_argument
    help = "the number of candidates to measure for each kernel, by default 32"
    add("--trials", type=positive, default=32, metavar="N", help=help)
    help = "start no new candidates after this time"
    add("--time-limit", type=seconds, metavar="SECONDS", help=help)
    help = "stop measuring a candidate after this time, by default 60"
    add("--candidate-limit", type=seconds, default=60.0, metavar="SECONDS", help=help)
    help = (
        "tune the kernels that take the longest, up to this part of the estimated time; by default "
    )
    help += "all"
    add("--share", type=percentage, default=100, metavar="PERCENT", help=help)
    help = "the seed by which candidates are chosen at random, by default 0"
    add("--seed", type=size, default=0, metavar="N", help=help)
    help = "also tune the kernels that the database has"
    add("--again", action="store_true", help=help)
    help = "where to measure: processes, the default, or dask:ADDRESS of a scheduler"
    add("--executor", type=nonempty_text, default="processes", metavar="WHERE", help=help)
    help = "the number of processes that measure at once, by default 1: more disturb each other"
    add("-j", "--jobs", type=positive, default=1, metavar="N", help=help)
    add = (group := add_pipeline(parser)).add_argument
    help = "the processor to tune for, by default this machine"
    add("-t", "--target", dest="processor", metavar="TARGET", help=help)
    add_verification(group)
    add_version(group, version)


def percentage(text: str) -> int:
    """Parse a percentage."""
    number = positive(text)
    if number > 100:
        raise argparse.ArgumentTypeError(f"expected a percentage up to 100, got '{text}'")
    return number


def check_tuning(args: argparse.Namespace) -> None:
    """Raise PasslineError for arguments that do not fit together."""
    if args.executor != "processes" and not args.executor.startswith("dask:"):
        raise PasslineError(f"--executor={args.executor}: expected processes or dask:ADDRESS")
    if args.executor != "processes" and args.jobs != 1:
        raise PasslineError("--jobs is for --executor=processes: a cluster has its own workers")
