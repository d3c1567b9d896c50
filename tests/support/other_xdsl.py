"""Runs of Passline with another xDSL than the installed one, and with a cache of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from passline.passmanager.fast.parts import OFF, PARTS, SETTING

__all__ = ["ALL_ON", "OPT", "ran", "version"]

OPT = (sys.executable, "-c", "from passline.tools.commands import opt; opt()")
ALL_ON = [f"accelerated: {', '.join(PARTS)}"]


def ran(
    *command: str, env: Mapping[str, str], xdsl: Path | None = None, input: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command with the xDSL in a folder."""
    unset = {OFF, SETTING}
    environment = {n: v for n, v in os.environ.items() if n not in unset} | {**env}
    if xdsl is not None:
        environment["PYTHONPATH"] = str(xdsl)
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, input=input, check=False
    )


def version(xdsl: Path | None, cache: Path, **env: str) -> list[str]:
    """Return the lines of --version on acceleration."""
    done = ran(*OPT, "--version", env={"XDG_CACHE_HOME": str(cache), **env}, xdsl=xdsl)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[1:]
