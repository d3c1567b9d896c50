"""The writing of the result of a tool as bytecode."""

from __future__ import annotations

import argparse
import sys

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import parse_spec

from ..passmanager.bytecode.encoding import VERSION
from ..passmanager.bytecode.writer import write_bytecode
from ..passmanager.errors import PasslineError
from .output import ResultFile

__all__ = ["check_bytecode_output", "write_binary_to", "write_bytecode_to"]

_STDOUT = (None, "-", "/dev/stdout")


def check_bytecode_output(args: argparse.Namespace) -> None:
    """Raise PasslineError for options that exclude bytecode, and for a terminal as its output."""
    version: int | None = args.emit_bytecode_version
    if version is not None and not 0 <= version <= VERSION:
        raise PasslineError(f"--emit-bytecode-version={version}: the versions are 0 to {VERSION}")
    if args.split_input_file:
        raise PasslineError("--emit-bytecode writes one module: it excludes --split-input-file")
    if (target := parse_spec(args.target).name) != "mlir":
        raise PasslineError(f"--emit-bytecode excludes --target={target}")
    if args.output_file in _STDOUT and not args.no_print and sys.stdout.isatty():
        raise PasslineError("bytecode is not written to a terminal: -o FILE or a pipe takes it")


def write_bytecode_to(
    result: ResultFile, module: ModuleOp, ctx: Context, args: argparse.Namespace
) -> None:
    """Write a module to the output of a tool, in the version that the options choose."""
    version: int | None = args.emit_bytecode_version
    content = write_bytecode(module, ctx, VERSION if version is None else version)
    write_binary_to(result, content, args)


def write_binary_to(result: ResultFile, content: bytes, args: argparse.Namespace) -> None:
    """Write what is no text to the output of a tool; PasslineError if that is a terminal."""
    if args.output_file in _STDOUT and sys.stdout.isatty():
        raise PasslineError("bytecode is not written to a terminal: -o FILE or a pipe takes it")
    if args.output_file in _STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        result.write_parts([content])
