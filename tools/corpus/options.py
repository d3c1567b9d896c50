"""The options of `passline-opt` on many inputs, and which arguments of it are inputs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence

from ...passmanager.errors import PasslineError
from ..command_line.argument_parser import nonempty_text, size, written_directory, written_file
from ..command_line.arguments import WRITTEN


def add_corpus_options(parser: argparse.ArgumentParser, frontends: Iterable[str] = ()) -> None:
    """Add the group of options on many inputs, whose names end like one of `frontends`."""
    add = parser.add_argument_group("many inputs").add_argument
    patterns = " and ".join(f"*.{name}" for name in sorted(frontends))
    help = (
        f"run the pipeline on each of many input files, or of all {patterns} files below "
        "directories, and write the results into DIR"
    )
    add("--out-dir", type=written_directory, metavar="DIR", help=help)
    help = "with --out-dir: the number of processes, by default one for each core"
    add("-j", "--jobs", type=size, metavar="N", help=help)
    help = "with --out-dir: write a table of all inputs to FILE, *.csv or *.parquet"
    add("--table", type=written_file, metavar="FILE", help=help)
    help = "with --out-dir: redo the inputs that an earlier run has finished"
    add("--force", action="store_true", help=help)
    help = "with --out-dir: where to run: processes, or dask:ADDRESS of a scheduler"
    add("--executor", type=nonempty_text, default="processes", metavar="WHERE", help=help)


class _Word(str):
    """An argument that is told from equal ones by its identity, which `str` keeps."""

    __slots__ = ()

    def __str__(self) -> str:
        return self


def parse_inputs(
    parser: argparse.ArgumentParser, args: Sequence[str], frontends: Iterable[str]
) -> tuple[argparse.Namespace, list[str], list[str]]:
    """Return the parsed arguments, the inputs among them, and all other arguments.

    Without --out-dir there is at most one input, which is parsed like all others.
    """
    if not is_corpus(args):
        return parser.parse_args(args), [], []
    words = [_Word(arg) for arg in args]
    namespace, extras = parser.parse_known_args(words)
    inputs = [arg for arg in (namespace.input_file, *extras) if arg not in (None, "--")]
    unknown = [arg for arg in inputs if arg.startswith("-") and arg != "-" and "--" not in words]
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    taken = {id(arg) for arg in inputs}
    rest = [word[:] for word in words if id(word) not in taken and word != "--"]
    try:
        files = [file for arg in inputs for file in files_of(arg[:], frontends)]
    except PasslineError as error:
        parser.error(str(error))
    return parser.parse_args(rest), files, rest


def is_corpus(args: Sequence[str]) -> bool:
    """Return whether arguments have --out-dir."""
    return any(arg == "--out-dir" or arg.startswith("--out-dir=") for arg in args)


def files_of(path: str, frontends: Iterable[str]) -> list[str]:
    """Return an input file, or those below a directory; PasslineError if there are none."""
    if not os.path.isdir(path):
        return [path]

    def refuse(error: OSError) -> None:
        raise PasslineError(f"'{error.filename}': {error.strerror}") from error

    walk = os.walk(path, onerror=refuse)
    found = [os.path.join(folder, name) for folder, _, names in walk for name in names]
    suffixes = tuple(f".{name}" for name in sorted(frontends))
    if not (files := sorted(name for name in found if name.endswith(suffixes))):
        patterns = " or ".join(f"*{suffix}" for suffix in suffixes)
        raise PasslineError(f"the directory '{path}' holds no file named {patterns}")
    return files


def tool_options(args: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments without the options on many inputs."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_corpus_options(parser)
    return tuple(parser.parse_known_args(list(args))[1])


def check_corpus(args: argparse.Namespace, inputs: Sequence[str]) -> None:
    """Raise PasslineError for options that need --out-dir, or that exclude it."""
    if args.out_dir is None:
        given = {"--jobs": args.jobs is not None, "--table": args.table, "--force": args.force}
        given["--executor"] = args.executor != "processes"
        if (option := next((name for name, is_given in given.items() if is_given), None)) is None:
            return
        raise PasslineError(
            f"{option} needs --out-dir, the directory for the results of many files"
        )
    for option in (*WRITTEN, "dump_ir"):  # a file or directory that all inputs would write
        if getattr(args, option):
            flag = "--" + option.replace("_", "-")
            raise PasslineError(f"{flag} names one file, which all inputs of --out-dir would write")
    if not inputs:
        raise PasslineError("--out-dir needs input files")
    if "-" in inputs:
        raise PasslineError("--out-dir takes files, not stdin")
    if args.jobs == 0:
        raise PasslineError("--jobs: expected at least one process")
    if args.table:
        from .outcome import check_table

        check_table(args.table)
    from .executors import named_executor

    named_executor(args.executor)
