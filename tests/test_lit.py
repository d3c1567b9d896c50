"""lit runs RUN lines as pytest does: a sample with one file for each kind of RUN line.

pytest runs all RUN lines in its own process (`filecheck/conftest.py`), `make lit` runs them all in
processes of their own.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from support.suites.inprocess import run_lines

SUITE = Path(__file__).parent / "filecheck"
SYNTAX = re.compile(
    r"(?:^|(?<=[ |]))(?:not|passline-\w+|xdsl-opt|mlir-opt|filecheck)\b"
    r"|[|<>&;]+|%[sSpPtT]\b|\\$"
)


def kinds(path: Path) -> set[str]:
    """Return the RUN lines of a file without options: commands, shell syntax, substitutions.

    `not passline-opt %s -p inline 2>&1 | filecheck %s` is `not passline-opt %s >& | filecheck %s`.
    """
    return {" ".join(SYNTAX.findall(line)) for line in run_lines(path)}


def sample() -> list[Path]:
    """Return files that have RUN lines of all kinds, and few of one kind."""
    files = {path: kinds(path) for path in SUITE.rglob("*.mlir") if "Inputs" not in path.parts}

    def cost(path: Path) -> tuple[float, int, Path]:
        return len(run_lines(path)) / len(files[path]), path.stat().st_size, path

    seen: set[str] = set()
    chosen: list[Path] = []
    for path in sorted(files, key=cost):
        if not files[path] <= seen:
            seen |= files[path]
            chosen.append(path)
    return chosen


def test_lit_runs_the_sample() -> None:
    files = sample()
    lit = Path(sys.executable).with_name("lit")
    done = subprocess.run([lit, "-v", "-j1", *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(files)} of {len(files)}" in done.stdout, done.stdout
