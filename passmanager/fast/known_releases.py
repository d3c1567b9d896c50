"""The releases of xDSL with which the accelerated parts were tried, `known_releases.txt`, and the
files of the installed one.

`python -m passline.passmanager.fast.known_releases PART ...` adds the installed one, for
maintainers, who run the tests with it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from functools import cache
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from zlib import crc32

__all__ = ["FILE", "MODULES", "checksum_of_files", "is_mixed", "known_releases", "recorded"]

FILE = Path(__file__).with_name("known_releases.txt")


@cache
def known_releases() -> dict[str, list[str]]:
    """Return the parts that are accelerated with a release, by the checksum of its files."""
    rows = (line.split("|") for line in _lines() if not line.startswith("#"))
    return {checksum.strip(): parts.split() for _, checksum, parts in rows}


def recorded(parts: Collection[str]) -> str:
    """Return the text of the table with these parts for the installed xDSL."""
    from ..releases.release import xdsl_version
    from .parts import PARTS, REPLACED

    checksum = checksum_of_files()
    row = [xdsl_version(), checksum, " ".join(p for p in (*PARTS, *REPLACED) if p in parts)]
    lines = [line for line in _lines() if f"| {checksum} |" not in line]
    return "".join(f"{line}\n" for line in [*lines, " | ".join(row)])


def _lines() -> list[str]:
    return FILE.read_text(encoding="utf-8").splitlines()


# The files of the installed xDSL

MODULES = """
builder context dialects.arith dialects.builtin dialects.func dialects.memref dialects.scf
dialects.tensor dialects.utils.dynamic_index_list dialects.vector ir.core irdl.constraints
irdl.declarative_assembly_format irdl.operations parser.attribute_parser parser.base_parser
parser.core parser.generic_parser pattern_rewriter printer traits transforms.canonicalize
utils.base_printer utils.lexer utils.mlir_lexer
""".split()
"""The modules of xDSL whose text decides whether a release is known."""


_first_line = attrgetter("co_firstlineno")


@cache
def checksum_of_files() -> str:
    """Return a checksum of the files of `MODULES`, which takes 2 ms."""
    checksum, size = 0, 0
    for name in MODULES:
        content = _content(name)
        checksum, size = crc32(content, checksum), size + len(content)
    return f"{checksum:08x}-{size}"


def _content(name: str) -> bytes:
    """Return the content of the file of a module of xDSL; empty if it is not there."""
    spec = find_spec("xdsl")
    for root in (spec and spec.submodule_search_locations) or ():
        path = Path(root, *name.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file.read_bytes()
    return b""


def is_mixed() -> bool:
    """Return whether files of xDSL were replaced after this process imported them: whether the last
    function of a module is not in the line in which it was."""
    return any(
        _is_moved(last, _content(name))
        for name in MODULES
        if (module := sys.modules.get(f"xdsl.{name}")) is not None
        and (last := max(_functions(module), key=_first_line, default=None)) is not None
    )


def _functions(module: ModuleType) -> Iterator[CodeType]:
    """Yield the code of functions in the file of a module, and of the methods of classes in it."""
    for value in [*vars(module).values()]:
        for function in vars(value).values() if isinstance(value, type) else (value,):
            code = function.__code__ if isinstance(function, FunctionType) else None
            if code is not None and code.co_filename == module.__file__:
                yield code


def _is_moved(code: CodeType, content: bytes) -> bool:
    lines = content.splitlines()[code.co_firstlineno - 1 :]
    start = lines[0].strip() if lines else b""
    return not (start[:1] == b"@" or code.co_name.encode() in start or b"lambda" in start)


def main() -> None:
    """Record the installed xDSL."""
    from .parts import PARTS, REPLACED

    every = (*PARTS, *REPLACED)
    if unknown := {*sys.argv[1:]} - {*every}:
        sys.exit(f"no accelerated part: {', '.join(unknown)}; there are {', '.join(every)}")
    FILE.write_text(recorded(sys.argv[1:] or every), encoding="utf-8")


if __name__ == "__main__":
    main()
