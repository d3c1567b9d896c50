"""The entry points of the commands. Ctrl-C while a tool is imported is an interruption, too."""

from __future__ import annotations

import gc
import os
import sys
from functools import partial
from importlib import import_module
from typing import NoReturn

COMMANDS = {
    "opt": "opt",
    "run": "run",
    "compile": "compile",
    "tune": "tune",
    "report": "report",
    "reduce": "reduce.reduce_tool",
    "bisect": "bisect.bisect_tool",
    "lsp": "lsp.lsp_tool",
}
"""The commands, and the modules of their tools."""
_MORE = {"new": "new.project", "serve": "server.serve"}
"""Commands that are no tools on IR; they have no scripts of their own."""
_SERVER = "_passline_server"
"""The module of `server/start.py`, in the processes of a server and its forks."""


def _run(module: str) -> None:
    """Run a tool, in a fork of the server if the environment asks for it."""
    _run_warm()
    _run_here(module)


def _run_warm() -> None:
    """Run this command in a fork of the server, if the environment asks for it and one can.

    Nothing else is imported before: with a server it is not needed here. `--no-acceleration` is for
    the imports, which are done in a server.
    """
    if os.environ.get("PASSLINE_SERVER") != "1" or _SERVER in sys.modules:
        return
    if "--no-acceleration" not in sys.argv:
        from .server.client import run_warm

        try:
            status = run_warm(sys.argv[0], sys.argv)
        except KeyboardInterrupt:
            _end("interrupted", 130)
        if status is not None:
            os._exit(status)  # there is nothing here to write out


def _run_here(module: str) -> None:
    """Import the module of a tool and run its `main`.

    Modules ask when they are imported whether they may be accelerated.
    """
    from ..passmanager.errors import PasslineError
    from ..passmanager.fast.parts import NO_ACCELERATION, OFF
    from ..passmanager.releases.release import unknown_release, unsupported_release

    if (reason := unsupported_release()) is not None:
        _end(reason)
    if NO_ACCELERATION in sys.argv[1:]:
        os.environ[OFF] = "1"
        if _SERVER in sys.modules:  # it has imported them
            os.execv(sys.executable, sys.orig_argv)
    try:
        gc.disable()  # nothing that is imported is garbage
        try:
            tool = import_module(f".{module}", __package__)
            gc.freeze()
        finally:
            gc.enable()
        tool.main()
    except PasslineError as error:  # of the environment, which modules ask when they are imported
        _end(error)
    except Exception as error:  # of an import: a tool reports its own errors
        from ..passmanager.errors import NotInstalledError

        if isinstance(error, NotInstalledError) and "--debug" not in sys.argv:
            _end(error)
        if (unknown := unknown_release()) is None or "--debug" in sys.argv:
            raise
        _end(f"{type(error).__name__}: {error}\nhelp: {unknown}", 3)
    except KeyboardInterrupt:
        _end("interrupted", 130)


def _end(message: object, status: int = 1) -> NoReturn:
    """Print an error, and end the process."""
    print(f"error: {message}", file=sys.stderr)
    sys.exit(status)


bisect = partial(_run, COMMANDS["bisect"])
compile = partial(_run, COMMANDS["compile"])
lsp = partial(_run, COMMANDS["lsp"])
opt = partial(_run, COMMANDS["opt"])
reduce = partial(_run, COMMANDS["reduce"])
report = partial(_run, COMMANDS["report"])
run = partial(_run, COMMANDS["run"])
tune = partial(_run, COMMANDS["tune"])


def passline() -> None:
    """Run the command `passline`: one of `COMMANDS`, or an answer about these."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if (module := {**COMMANDS, **_MORE}.get(name)) is None:
        return _run("overview")
    if name != "serve":
        _run_warm()
    sys.argv[:2] = [f"passline {name}"]  # as which messages name the program
    _run_here(module)
