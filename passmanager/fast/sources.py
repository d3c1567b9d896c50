"""Places in the sources of xDSL, as text, without an import of the module and without a parser:
some hundred of them are looked up when a tool starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

__all__ = ["checksum_of", "source_bytes", "source_of"]


def checksum_of(place: str) -> str | None:
    """Return a checksum of the source at a place, None if xDSL has no such place.

    A place is `module:function`, `module:Class.method` with all functions of that name, such as the
    getter and the setter of a property, or `module:Class` for the header and the fields of a class.
    """
    module, _, name = place.partition(":")
    source = source_of(_text_of(module), name)
    return None if source is None else f"{crc32(source.encode()):08x}"


def source_of(text: str, name: str) -> str | None:
    """Return the source of a function, method or class (see `checksum_of`) in the text of a module,
    without docstrings, comments and blank lines; None if it is not there.
    """
    owner, _, member = name.partition(".")
    found = [*_blocks(text, owner, "")]
    if member:
        found = [part for block in found for part in _blocks(block, member, "    ")]
    elif found:
        found = [*map(_fields, found)]
    return _without_remarks(found) if found else None


@cache
def _text_of(module: str) -> str:
    """Return the source of a module; empty if it is not there."""
    return source_bytes(module).decode()


def source_bytes(module: str) -> bytes:
    """Return the content of the file of a module; empty if it is not there."""
    package, *rest = module.split(".")
    spec = find_spec(package)
    for root in (spec and spec.submodule_search_locations) or ():
        path = Path(root, *rest)
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file.read_bytes()
    return b""


def _blocks(text: str, name: str, indent: str) -> Iterator[str]:
    """Yield the classes and functions of a name at an indentation, with decorators of a line.

    A block ends before the next line at its indentation, but for the bracket that closes the
    parameters of a function.
    """
    end = _ENDS[indent]
    for word in ("class", "def"):
        header = f"\n{indent}{word} {name}"
        start = -1
        while (start := text.find(header, start + 1)) >= 0:
            after = start + len(header)
            if text[after] not in "(:[":
                continue
            first = start
            while text.startswith(f"\n{indent}@", line := text.rfind("\n", 0, first)):
                first = line
            stop = end.search(text, after)
            yield text[first + 1 : stop.start() if stop else len(text)]


_ENDS = {indent: re.compile(rf"\n {{0,{len(indent)}}}(?=[^ )\]\n])") for indent in ("", "    ")}


def _fields(block: str) -> str:
    """Return a function as it is, and of a class the header and the fields."""
    if not re.search("^class ", block, re.MULTILINE):
        return block
    header, _, body = block.partition(":\n")
    fields = re.findall(r"^    \w+(?:: | = ).*\n(?:        .*\n|    \)\n)*", body, re.MULTILINE)
    return f"{header}\n{''.join(fields)}"


_DOCSTRING = re.compile(r'^ *"""(?:.|\n)*?"""\n', re.MULTILINE)


def _without_remarks(blocks: Iterable[str]) -> str:
    """Return blocks without docstrings, comments and blank lines."""
    lines = _DOCSTRING.sub("", "".join(blocks)).splitlines()
    return "\n".join(line for line in lines if line.strip() and line.lstrip()[0] != "#")
