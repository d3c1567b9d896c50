"""The options of `passline-compile`, and the files that they name."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ...passmanager.errors import PasslineError
from ..command_line.argument_parser import nonempty_text, positive
from ..output import is_same_file
from .header import FIRST_LINE
from .signature import identifier

__all__ = ["add_compilation", "check_files", "header_file", "kind_of", "library_name"]

KINDS = {"so": "a shared library", "o": "an object file", "ll": "LLVM IR", "s": "assembly"}
"""What can be made: the suffix of its files, and what it is."""
BINARY = ("so", "o")


def add_compilation(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument_group("compilation").add_argument
    help = "the function to compile, by default main"
    add("--function", type=nonempty_text, default="main", metavar="NAME", help=help)
    help = "what to make, by default what the suffix of the output file says: so, a shared library;"
    help += " o, an object file; ll, LLVM IR; s, assembly"
    add("--emit", choices=[*KINDS], help=help)
    help = "the header to write, by default FILE.h for FILE.so and FILE.o, else none"
    add("--header", type=nonempty_text, metavar="FILE.h", help=help)
    help = "the threads on which the function runs, where there is enough work; by default 1"
    add("--threads", type=positive, default=1, metavar="N", help=help)
    help = "the name that the symbols in C begin with, by default that of the output file"
    add("--name", type=c_name, metavar="NAME", help=help)


def c_name(text: str) -> str:
    """Parse an identifier of C."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise argparse.ArgumentTypeError(f"expected letters, digits and _, got '{text}'")
    return text


def kind_of(args: argparse.Namespace) -> str:
    """Return what to make, one of `KINDS`; PasslineError if the options do not say it."""
    if args.emit is not None:
        return args.emit
    suffix = Path(args.output_file or "-").suffix[1:]
    if suffix in KINDS:
        return suffix
    known = ", ".join(f".{suffix} ({what})" for suffix, what in KINDS.items())
    if args.output_file in (None, "-"):
        raise PasslineError(
            f"name the output file with -o, with one of {known}; or write text to stdout with "
            "--emit=ll or --emit=s"
        )
    raise PasslineError(
        f"the suffix of '{args.output_file}' does not say what to make: expected one of {known}, "
        "or --emit"
    )


def header_file(args: argparse.Namespace) -> str | None:
    """Return the name of the header to write, None if there is none."""
    if args.header is not None or kind_of(args) not in BINARY:
        return args.header
    return str(Path(args.output_file).with_suffix(".h"))


def library_name(args: argparse.Namespace) -> str:
    """Return the name that the symbols in C begin with."""
    if args.name is not None:
        return args.name
    stem = "model" if args.output_file in (None, "-") else Path(args.output_file).stem
    name = identifier(stem.removeprefix("lib") or stem)
    return f"_{name}" if name[:1].isdigit() else name


def check_files(args: argparse.Namespace) -> None:
    """Raise PasslineError for files that cannot be written, before anything is compiled."""
    if args.out_dir is not None:
        raise PasslineError("--out-dir is not for passline-compile: it makes one library")
    if args.split_input_file:
        raise PasslineError("--split-input-file is not for passline-compile: it makes one library")
    kind = kind_of(args)
    if kind in BINARY and args.output_file in (None, "-", "/dev/stdout"):
        raise PasslineError(f"{KINDS[kind]} is not text: name its file with -o FILE.{kind}")
    header = header_file(args)
    if is_same_file(header, args.output_file):
        raise PasslineError(f"the header would overwrite the file of -o, '{header}'")
    for what, file in {"-o": args.output_file, "the header": header}.items():
        if file in (None, "-"):
            continue
        if is_same_file(file, args.input_file):
            raise PasslineError(f"{what} would overwrite the input '{file}'")
        if not Path(file).parent.is_dir():
            raise PasslineError(f"'{file}' cannot be written: there is no such directory")
    if args.header is None and header is not None and is_foreign(Path(header)):
        raise PasslineError(
            f"'{header}' exists, and passline-compile did not write it: "
            "name another file with --header"
        )


def is_foreign(header: Path) -> bool:
    """Return whether a header exists that this tool did not write."""
    if not header.exists():
        return False
    with header.open("rb") as file:
        return not file.read(len(FIRST_LINE)).startswith(FIRST_LINE.encode())
