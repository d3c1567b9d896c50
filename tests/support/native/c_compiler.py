"""The marker of tests that need a C compiler for this machine, and its use."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["check_c", "needs_cc"]

STANDARDS = {"c99": ("cc", "c"), "c++11": ("c++", "c++")}

needs_cc = pytest.mark.skipif(
    not shutil.which("cc") or platform.system() != "Linux", reason="there is no C compiler"
)


def check_c(source: Path, include: Path, standard: str = "c99") -> None:
    """Compile a file as C or C++, with all warnings as errors, to an object file beside it."""
    compiler, language = STANDARDS[standard]
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    options = f"-x {language} -std={standard} -pedantic -Wall -Wextra -Werror -c".split()
    command = [compiler, *options, f"-I{include}", source, "-o", source.with_suffix(".o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
