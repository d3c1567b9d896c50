"""Files that are never half written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

__all__ = ["replace_file"]


def replace_file(path: Path, parts: Iterable[str | bytes]) -> None:
    """Make `parts` the content of the file, in one step: written beside it and renamed.

    A link stays one, and the mode of a file that is there stays. A device or a pipe, which cannot
    be replaced, is written to. Text is written as UTF-8.
    """
    data = (part.encode() if isinstance(part, str) else part for part in parts)
    if path.exists() and not path.is_file():
        with open(path, "wb") as file:
            file.writelines(data)
        return
    target = path.resolve()
    try:
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(data)
        os.chmod(beside, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
