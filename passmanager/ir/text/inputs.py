"""The text in an input: of a whole file, and of the parts between marker lines."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator

from ...errors import PasslineError

__all__ = ["STDIN", "decode_mlir", "split_chunks"]

BYTECODE = b"ML\xefR"
"""The first bytes of a file that `mlir-opt --emit-bytecode` writes."""
STDIN = "<stdin>"
"""The name of the standard input in locations and messages."""


def decode_mlir(name: str, content: bytes) -> str:
    """Return the text of the file `name`, without a byte order mark; PasslineError for bytecode of
    MLIR, and with the place of the first byte that is not UTF-8."""
    if content.startswith(BYTECODE):
        raise PasslineError(
            f"'{name}' is bytecode of MLIR, and text is expected: mlir-opt without --emit-bytecode "
            "writes it"
        )
    try:
        return content.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        before = content.removeprefix(BOM_UTF8)[: error.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        hint = "; an ONNX model on stdin needs --frontend=onnx" if name == STDIN else ""
        if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            hint = "; it is UTF-16"
        raise PasslineError(
            f"'{name}' is not UTF-8 text: byte {byte:#x} at line {line}, column {column}{hint}"
        ) from None


def split_chunks(content: bytes, marker: str = "// -----") -> Iterator[tuple[bytes, int]]:
    """Yield the parts of a file between lines equal to `marker`, each with the number of lines
    before it."""
    start = line = 0
    pattern = rb"^[ \t]*" + re.escape(marker.encode()) + rb"[ \t]*\r?$\n?"
    for found in re.finditer(pattern, content, re.MULTILINE):
        yield content[start : found.start()], line
        line += content.count(b"\n", start, found.end())
        start = found.end()
    yield content[start:], line
