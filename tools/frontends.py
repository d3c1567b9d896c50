"""The reading of input with a frontend, of xDSL's interface or a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import IO, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import parse_spec

from ..passmanager.releases.frontends import Frontend
from ..passmanager.releases.streams import binary_content
from .specs import class_of

__all__ = ["read_with"]


def read_with(
    text: str, frontends: Mapping[str, object], ctx: Context, stream: IO[bytes], name: str
) -> ModuleOp:
    """Return the module in `stream`, the content of the file `name`, as the frontend reads it that
    `text` names, with its options."""
    spec = parse_spec(text)
    entry = frontends[spec.name]
    if (cls := class_of(entry)) is None:
        return cast(Callable[[IO[bytes]], ModuleOp], entry)(stream)
    content = BytesIO(binary_content(stream))
    return cast(type[Frontend], cls).from_spec(spec).parse(ctx, content, name)
