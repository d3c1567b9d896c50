"""The FileCheck tests as lit runs them: each RUN line as it stands, in processes of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_lit_runs_all_files() -> None:
    lit = Path(sys.executable).with_name("lit")
    suite = Path(__file__).parent / "filecheck"
    done = subprocess.run([lit, "-v", "-j2", suite], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
