"""Atomic writes of files."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from typing_extensions import Buffer


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
    with _naming(path):
        if path.exists() and not path.is_file():
            with open(path, "wb") as file:
                yield file
        else:
            yield from _beside(path.resolve())


def _beside(target: Path) -> Generator[BinaryIO]:
    """Yield a temporary file in the folder of `target`, which is renamed to it."""
    handle, beside = _make_beside(target)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(beside, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


def _make_beside(target: Path) -> tuple[int, str]:
    """Make a temporary file in the folder of `target`; return its descriptor and its name."""
    return tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")


def check_writable(path: Path) -> None:
    """Raise the OSError with which `replacing` would end, if `path` cannot be written to: the error
    names `path`."""
    with _naming(path):
        if path.is_dir():
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.exists() and not path.is_file():  # opening a pipe would wait for its reader
            if not os.access(path, os.W_OK):
                raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        else:
            _try_file_beside(path.resolve())


def check_writable_directory(path: Path) -> None:
    """Raise an OSError, which names `path`, if no files can be written in a directory there, which
    need not exist yet."""
    with _naming(path):
        existing = next(p for p in (path.absolute(), *path.absolute().parents) if p.exists())
        if not existing.is_dir():
            found = errno.EEXIST if existing == path.absolute() else errno.ENOTDIR
            raise OSError(found, os.strerror(found))
        _try_file_beside(existing / "file")


def _try_file_beside(target: Path) -> None:
    """Make a temporary file in the folder of `target`, and delete it: permissions say less."""
    handle, beside = _make_beside(target)
    os.close(handle)
    os.unlink(beside)


@contextmanager
def _naming(path: Path) -> Generator[None]:
    """Let an OSError name `path`, and not a temporary file, which the user does not know."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _umask() -> int:
    """Return the umask of the process, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
