"""Projects on xDSL that others wrote, each installed with Passline in an environment of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .packages import CACHE

__all__ = ["Project"]

ROOT = Path(__file__).parents[3]
TOOLS = ("lit", "filecheck", "psutil")
"""The packages that test suites of projects need besides; psutil is for lit's time limits."""


@dataclass(frozen=True)
class Project:
    """A project on the package index."""

    requirement: str
    """What pip installs, `name==version`; it brings the release of xDSL that it wants."""

    @cached_property
    def bin(self) -> Path:
        """The commands of the environment, which is made in .cache/ when it is first needed.

        One call of pip installs the project and Passline, so that it fails if they want releases of
        xDSL that exclude each other. Errors: RuntimeError.
        """
        folder = CACHE / "downstream" / re.sub(r"\W+", "-", self.requirement)
        ready = folder / "ready"
        if not ready.exists():
            CACHE.mkdir(exist_ok=True)
            (CACHE / ".gitignore").write_text("*\n")
            _run(sys.executable, "-m", "venv", "--clear", str(folder))
            pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
            _run(*pip, "--editable", str(ROOT), self.requirement, *TOOLS)
            ready.touch()
        return folder / "bin"

    def run(self, command: str, *args: str, stdin: str = "") -> str:
        """Run a command of the environment; return its output. Errors: RuntimeError."""
        return _run(str(self.bin / command), *args, stdin=stdin)

    def release(self) -> str:
        """Return the release of xDSL that was installed."""
        code = "import importlib.metadata as m; print(m.version('xdsl'))"
        return self.run("python", "-c", code).strip()

    def results(self, suite: Path, *, with_passline: bool) -> dict[str, str]:
        """Return the results of a suite of lit tests: name -> code, such as PASS or FAIL; with
        passline-opt in the place of xdsl-opt if `with_passline`."""
        path = [str(self.bin), os.environ["PATH"]]
        if with_passline:
            path.insert(0, str(self._replaced_tools()))
        output = self.bin.parent / f"results-{with_passline}.json"
        output.unlink(missing_ok=True)
        done = subprocess.run(
            [self.bin / "lit", "-q", "-j1", "--output", output, suite],
            env={**os.environ, "PATH": os.pathsep.join(path)},
            capture_output=True,
            text=True,
        )
        if not output.exists():
            raise RuntimeError(f"lit: {done.stderr}")
        found: list[Mapping[str, str]] = json.loads(output.read_text())["tests"]
        return {test["name"].partition(" :: ")[2]: test["code"] for test in found}

    def _replaced_tools(self) -> Path:
        """Return a folder in which the command xdsl-opt is passline-opt."""
        folder = self.bin.parent / "replaced"
        folder.mkdir(exist_ok=True)
        command = folder / "xdsl-opt"
        if not command.exists():
            command.symlink_to(self.bin / "passline-opt")
        return folder


def _run(*command: str, stdin: str = "") -> str:
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout
