"""The reading of input with its pipeline, and the text of the result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from typing import IO, TYPE_CHECKING, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import parse_spec

from ..passmanager.diagnostics import Severity, print_message
from ..passmanager.errors import PasslineError
from ..passmanager.ir.location import place_of
from ..passmanager.ir.text.parser import BYTECODE, STDIN, decode_mlir
from ..passmanager.ir.text.printer import ELIDED, module_text
from ..passmanager.releases.streams import binary_content
from ..passmanager.releases.targets import Frontend, MLIRTarget
from .extension import ToolExtension
from .observation import TERMINAL_ELEMENTS, print_style, terminal_style
from .specs import class_of

if TYPE_CHECKING:
    from ..passmanager.instruments.reproducer import Reproducer


# The reading of input: the IR and the pipeline in a text, and the frontends.


def read_source(content: bytes, frontend: str, name: str) -> tuple[bytes, Reproducer | None]:
    """Separate the IR in the file `name` from a stored pipeline, which bytecode does not have;
    lines and columns stay the same.

    Errors: ParseError for text that is not UTF-8, or a pipeline that is not a valid string.
    """
    is_text = frontend == "mlir" and not content.startswith(BYTECODE)
    if not is_text or b"mlir_reproducer" not in content:
        return content, None
    from ..passmanager.instruments.reproducer import read_reproducer

    text, reproducer = read_reproducer(decode_mlir(name, content))
    return text.encode(), reproducer


def opens_file(frontend: str, frontends: Mapping[str, object], name: str) -> bool:
    """Return whether a frontend reads the file `name` itself, and those beside it."""
    return name != STDIN and getattr(class_of(frontends[frontend]), "opens_files", False)


def read_with(
    text: str,
    frontends: Mapping[str, object],
    extensions: Sequence[ToolExtension],
    ctx: Context,
    stream: IO[bytes],
    name: str,
) -> ModuleOp:
    """Return the module in `stream`, of the file `name`, as the frontend `text` reads it, with its
    options and those of the extensions."""
    spec = parse_spec(text)
    entry = frontends[spec.name]
    if (cls := class_of(entry)) is None:
        module = cast(Callable[[IO[bytes]], ModuleOp], entry)(stream)
    else:
        frontend = cast(type[Frontend], cls).from_spec(spec)
        for extension in extensions:
            frontend = extension.configure_frontend(frontend)
        if opens_file(spec.name, frontends, name):
            with open(name, "rb") as file:
                module = frontend.parse(ctx, file, name)
        else:
            module = frontend.parse(ctx, BytesIO(binary_content(stream)), name)
    for extension in extensions:
        extension.prepare_module(module, spec.name)
    return module


# The text of the result in the target `mlir`, and the error of the other targets.


def mlir_text(module: ModuleOp, ctx: Context, args: argparse.Namespace, program: str) -> str:
    """Return the text of a result, with every bit of the constants unless the options, or a
    terminal, elide large ones; the latter is said in the name of `program`."""
    target = MLIRTarget.from_spec(parse_spec(args.target))
    given = print_style(args)
    style = replace(
        terminal_style(given, sys.stdout) if args.output_file in (None, "-") else given,
        generic=target.print_generic_format or args.print_op_generic,
        properties_as_attributes=target.print_properties_as_attributes or args.print_no_properties,
        debuginfo=target.print_debuginfo or args.print_debuginfo,
    )
    text = module_text(module, ctx, style)
    elided = style.elide_elements == TERMINAL_ELEMENTS and f"<{ELIDED}>" in text
    if elided and given.elide_elements is None and not args.quiet:
        said = (
            f"constants of more than {TERMINAL_ELEMENTS} elements are elided on a terminal; "
            "a file of -o, a pipe, and --large-elements-as-resources have them all"
        )
        print_message(Severity.NOTE, said, program)
    return text


def unprintable(target: str, module: ModuleOp, error: Exception) -> PasslineError:
    """Return the error for a module that a target of xDSL's has no text for.

    The targets assert that they know each operation; the text of the assertion starts with it.
    """
    said = str(error).split("\n")[0]
    ops = (
        op for op in module.walk() if said.startswith(f"{type(op).__name__}(") or op.name in said
    )
    what, reason = "the module", said
    if (op := next(ops, None)) is not None:
        what = f"'{op.name}'{place_of(op)}"
        reason = "" if said.endswith("(") else said
    because = f": {reason}" if reason else "; lower it to the operations of the target first"
    return PasslineError(f"target '{target}' cannot print {what}{because}")
