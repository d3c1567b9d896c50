"""The input streams of tools and frontends: of bytes since xDSL 0.74, of text before."""

from __future__ import annotations

from io import BytesIO, StringIO, TextIOWrapper
from typing import IO, TYPE_CHECKING, cast

from xdsl.tools.command_line_tool import CommandLineTool

_TAKES_TEXT = not TYPE_CHECKING and "str" in str(
    CommandLineTool.parse_chunk.__annotations__["chunk"]
)
_KEPT = "surrogateescape"  # bytes that are no UTF-8, such as those of a model, survive as text


def input_stream(stream: IO[bytes]) -> IO[bytes]:
    """Return a file as the stream that `get_input_stream` gives with this xDSL."""
    if not _TAKES_TEXT:
        return stream
    return cast(IO[bytes], TextIOWrapper(cast(BytesIO, stream), "utf-8", _KEPT, newline=""))


def chunk_stream(content: bytes) -> IO[bytes]:
    """Return the stream from which a frontend reads with this xDSL."""
    if not _TAKES_TEXT:
        return BytesIO(content)
    return cast(IO[bytes], StringIO(content.decode("utf-8", _KEPT), newline=""))


def binary_content(stream: IO[bytes]) -> bytes:
    """Return what is left in a stream of this xDSL, or of a project that overrides the hook."""
    content: bytes | str = stream.read()
    return content.encode("utf-8", _KEPT) if isinstance(content, str) else content
