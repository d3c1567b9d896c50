"""The entry points of the commands. Each imports its tool, which takes a while, such that Ctrl-C
meanwhile is an interruption like any other."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

from ..passmanager.errors import PasslineError
from ..passmanager.fast.parts import NO_ACCELERATION, OFF
from ..passmanager.releases.release import unknown_release, unsupported_release

__all__ = ["COMMANDS", "bisect", "compile", "opt", "passline", "reduce", "report", "run", "tune"]


def bisect() -> None:
    """Run the command `passline-bisect`."""
    _run("bisect.tool")


def compile() -> None:
    """Run the command `passline-compile`."""
    _run("compile")


def opt() -> None:
    """Run the command `passline-opt`."""
    _run("opt")


def reduce() -> None:
    """Run the command `passline-reduce`."""
    _run("reduce.tool")


def report() -> None:
    """Run the command `passline-report`."""
    _run("report")


def run() -> None:
    """Run the command `passline-run`."""
    _run("run")


def tune() -> None:
    """Run the command `passline-tune`."""
    _run("tune")


COMMANDS = {
    "opt": "opt",
    "run": "run",
    "compile": "compile",
    "tune": "tune",
    "report": "report",
    "reduce": "reduce.tool",
    "bisect": "bisect.tool",
}
"""The commands, and the modules of their tools."""


def passline() -> None:
    """Run the command `passline`: one of `COMMANDS`, or an answer about these."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if (module := {**COMMANDS, "new": "new.tool"}.get(name)) is None:
        return _run("overview")
    sys.argv[:2] = [f"passline {name}"]  # as which messages name the program
    _run(module)


def _run(module: str) -> None:
    """Import the module of a tool and run its `main`.

    Modules ask when they are imported whether they may be accelerated.
    """
    if (reason := unsupported_release()) is not None:
        print(f"error: {reason}", file=sys.stderr)
        sys.exit(1)
    if NO_ACCELERATION in sys.argv[1:]:
        os.environ[OFF] = "1"
    gc.disable()  # nothing that is imported is garbage
    try:
        tool = import_module(f".{module}", __package__)
        gc.freeze()
        gc.enable()
        tool.main()
    except PasslineError as error:  # of the environment, which modules ask when they are imported
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except Exception as error:  # of an import: a tool reports its own errors
        from ..passmanager.errors import NotInstalledError

        if isinstance(error, NotInstalledError) and "--debug" not in sys.argv:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(1)
        if (unknown := unknown_release()) is None or "--debug" in sys.argv:
            raise
        print(f"error: {type(error).__name__}: {error}\nhelp: {unknown}", file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)
