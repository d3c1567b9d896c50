"""xDSL's own tests, which are in its source distribution only."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

__all__ = ["xdsl_tests"]


def xdsl_tests() -> Path:
    """Return the folder of xDSL's FileCheck tests; pip downloads them into .cache/ once per
    version. Errors: RuntimeError if it cannot.
    """
    name = f"xdsl-{version('xdsl')}"
    cache = Path(__file__).parents[2] / ".cache"
    if not (cache / name).is_dir():
        cache.mkdir(exist_ok=True)
        (cache / ".gitignore").write_text("*\n")
        # Several processes may do this at once: the first one to be ready wins.
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            _download(name.replace("-", "=="), Path(folder))
            with tarfile.open(Path(folder) / f"{name}.tar.gz") as archive:
                archive.extractall(folder, filter="data")
            try:
                os.rename(Path(folder) / name, cache / name)
            except OSError:
                if not (cache / name).is_dir():
                    raise
    return cache / name / "tests" / "filecheck"


def _download(requirement: str, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-binary=:all:", "--no-deps"]
    done = subprocess.run(
        [*command, "--dest", folder, requirement], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"cannot download the source distribution {requirement}\n{done.stderr}")
