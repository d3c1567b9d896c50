"""A command-line tool as a process of its own: its streams, its failures and its exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from ..compat.acceleration.acceleration import NO_ACCELERATION, VARIABLE, is_turned_off
from ..passmanager.output.streams import complete_streams
from .diagnostics.failures import report

__all__ = ["restart_without_acceleration", "run_process"]


def restart_without_acceleration() -> None:
    """Start this process anew if its options ask for all accelerated parts to be off, and modules
    that have decided otherwise are imported already: that of a tool of another project.
    """
    if NO_ACCELERATION in sys.argv[1:] and not is_turned_off():
        os.environ[VARIABLE] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def run_process(command: Callable[[], None]) -> None:
    """Run a command to its end. Report what it raises, or that its output could not be written,
    and exit with the status for that."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  else what is printed on it would go to stdout
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        os.open(os.devnull, os.O_RDONLY)  # else a file that is opened later would become stdin
    try:
        with complete_streams():
            command()
    except (Exception, KeyboardInterrupt) as error:
        sys.exit(report(error, debug="--debug" in sys.argv))
