"""Toy tools that run in forks of a server: scripts of this environment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

Tool = Callable[..., str]
"""A function that writes a script with some code under a name, and returns its path."""
IS_WARM = "import sys; print('warm' if '_passline_server' in sys.modules else 'cold')"
"""A script that prints whether it runs in a fork of a server."""
START = Path(__file__).parents[2] / "tools/server/start.py"
CALL = START.with_name("call.py")


@contextmanager
def shell_server(environment: dict[str, str], *options: str) -> Generator[subprocess.Popen[str]]:
    """Yield a server at the shell that listens already."""
    command = [sys.executable, START, "--foreground", *options]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None and "listens on" in server.stdout.readline()
            yield server
        finally:
            server.terminate()
