"""Atomic writes of files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from typing_extensions import Buffer

__all__ = ["replace_file"]


def replace_file(path: Path, parts: Iterable[str | Buffer]) -> None:
    """Replace the contents of the file by `parts` in one step: write a file beside it and rename
    that.

    A symbolic link stays one, and an existing file keeps its mode. A device or a pipe, which cannot
    be replaced, is written to. Text is written as UTF-8. An OSError names `path`.
    """
    try:
        _replace_file(path, (part.encode() if isinstance(part, str) else part for part in parts))
    except OSError as error:  # it names no file, or the temporary one, which the user does not know
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _replace_file(path: Path, data: Iterable[Buffer]) -> None:
    if path.exists() and not path.is_file():
        with open(path, "wb") as file:
            file.writelines(data)
        return
    target = path.resolve()
    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(data)
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
