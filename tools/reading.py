"""The reading of input: the IR and the pipeline in a text, and the frontends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import IO, TYPE_CHECKING, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import parse_spec

from ..passmanager.ir.text.inputs import STDIN, decode_mlir
from ..passmanager.releases.frontends import Frontend
from ..passmanager.releases.streams import binary_content
from .extension import ToolExtension
from .specs import class_of

if TYPE_CHECKING:
    from ..passmanager.instruments.ir.reproducer import Reproducer

__all__ = ["opens_file", "read_source", "read_with"]


def read_source(content: bytes, frontend: str, name: str) -> tuple[bytes, Reproducer | None]:
    """Separate the IR in the file `name` from a stored pipeline; lines and columns stay the same.

    Errors: ParseError for text that is not UTF-8, or a pipeline that is not a valid string.
    """
    if frontend != "mlir" or b"mlir_reproducer" not in content:
        return content, None
    from ..passmanager.instruments.ir.reproducer import read_reproducer

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
    """Return the module in `stream`, of the file `name`, as the frontend `text` reads it."""
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
