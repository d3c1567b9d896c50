"""Reading every `.mlir` file of xDSL's own tests, all in one process, beside xDSL's parser.

The files are in xDSL's source distribution, not in its wheel:

    pip download xdsl==VERSION --no-binary :all: --no-deps -d FOLDER
    make bench FILTER=corpus XDSL_TESTS=FOLDER/xdsl-VERSION.tar.gz

Files are split at `// -----`, and each part is read into a new context. Many parts are invalid on
purpose; then the time until the error counts.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from table.rows import Case, Pair, Scope, Unavailable, once, timed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

__all__ = ["cases", "chunks_of", "read_all", "sources"]

Read = Callable[[Context, str], ModuleOp]
SEPARATOR = re.compile(r"^// -----.*\n", re.MULTILINE)
SUFFIX = ".mlir"


def cases(scope: Scope) -> Iterator[Case]:
    """Yield the one case."""

    def prepare() -> Pair:
        if scope.xdsl_tests is None:
            raise Unavailable("no XDSL_TESTS=path of xDSL's source distribution")
        chunks = [chunk for text in sources(Path(scope.xdsl_tests)) for chunk in chunks_of(text)]
        count = sum(read_all(our_read, chunks))  # imports all dialects
        return Pair(
            timed(once(lambda: read_all(our_read, chunks))),
            timed(once(lambda: read_all(xdsl_read, chunks))),
            ops=count,
        )

    yield Case("read corpus", "all files of xDSL's tests", "xDSL", prepare)


def sources(path: Path) -> Iterator[str]:
    """Yield the texts of the tests in a source distribution, packed or not, sorted by name."""
    if path.is_dir():
        for file in sorted(path.rglob(f"tests/**/*{SUFFIX}")):
            yield file.read_text()
    elif path.is_file():
        with tarfile.open(path) as archive:
            found = {m.name: m for m in archive if m.name.endswith(SUFFIX) and "/tests/" in m.name}
            for name in sorted(found):
                if file := archive.extractfile(found[name]):
                    yield file.read().decode()
    else:
        raise Unavailable(f"there is no {path.name}")


def chunks_of(text: str) -> list[str]:
    """Return the parts of a file that are read one by one."""
    return SEPARATOR.split(text)


def our_read(ctx: Context, text: str) -> ModuleOp:
    return parse_module(ctx, text, "benchmark")


def xdsl_read(ctx: Context, text: str) -> ModuleOp:
    return Parser(ctx, text, "benchmark").parse_module()


def read_all(read: Read, chunks: Sequence[str]) -> list[int]:
    """Return the number of operations of each chunk, 0 where it is invalid."""
    return [_count(read, chunk) for chunk in chunks]


def _count(read: Read, chunk: str) -> int:
    try:
        module = read(make_ir_context(allow_unregistered=True), chunk)
    except Exception:  # whatever a parser raises; also its bugs in this version
        return 0
    return sum(1 for _ in walk(module))
