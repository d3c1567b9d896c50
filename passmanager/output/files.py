"""Atomic writes of files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from typing_extensions import Buffer

__all__ = ["replace_file", "replacing"]


def replace_file(path: Path, parts: Iterable[str | Buffer]) -> None:
    """Replace the contents of the file by `parts` in one step, as `replacing` does. Text is written
    as UTF-8."""
    with replacing(path) as file:
        file.writelines(part.encode() if isinstance(part, str) else part for part in parts)


@contextmanager
def replacing(path: Path) -> Generator[BinaryIO]:
    """Yield a file beside `path` to write to, which takes the place of `path` at the end; after an
    exception it is deleted.

    A symbolic link stays one, and an existing file keeps its mode. A device or a pipe, which cannot
    be replaced, is written to. An OSError names `path`.
    """
    try:
        if path.exists() and not path.is_file():
            with open(path, "wb") as file:
                yield file
        else:
            yield from _beside(path.resolve())
    except OSError as error:  # it names no file, or the temporary one, which the user does not know
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _beside(target: Path) -> Generator[BinaryIO]:
    """Yield a temporary file in the folder of `target`, which is renamed to it."""
    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(beside, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


def _umask() -> int:
    """Return the umask of the process, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
