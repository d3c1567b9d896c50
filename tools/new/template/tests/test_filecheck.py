"""The FileCheck tests, run by lit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FILES = Path(__file__).parent / "filecheck"


def test_filecheck() -> None:
    lit = Path(sys.executable).with_name("lit")
    done = subprocess.run([lit, "-v", FILES], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
