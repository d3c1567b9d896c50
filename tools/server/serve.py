"""The command `passline serve`: a server at the shell in the foreground, or the end of one."""

from __future__ import annotations

import _socket
import argparse
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from ...passmanager.errors import PasslineError
from ..command_line.argument_parser import ArgumentParser
from ..commands import COMMANDS
from ..failures import run_process
from .caller import SWITCH, key_of
from .socket_folder import UnsafeFolderError, connect, socket_path
from .start import IDLE_SECONDS

DESCRIPTION = f"""\
Keep Passline's tools imported, and run them in forks: a command with {SWITCH}=1 in its environment
starts faster. The first such command starts a server by itself, in the background; here it runs in
the foreground, until Ctrl-C."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command `passline serve`."""
    run_process(lambda: run(sys.argv[1:] if args is None else args))


def run(args: Sequence[str]) -> None:
    """Serve, or do what the options ask for."""
    parser = ArgumentParser(DESCRIPTION)
    parser.add_argument("--stop", action="store_true", help="end the server of this environment")
    parser.add_argument(
        "--idle", type=_seconds, default=IDLE_SECONDS, metavar="SECONDS",
        help="end after so long without a run (default: 300)",
    )  # fmt: skip
    parser.add_argument(
        "--aliases", action="store_true",
        help="print aliases for the shell with which the commands start faster: "
        'eval "$(passline serve --aliases)"',
    )  # fmt: skip
    options = parser.parse_args(parser.prepare(args))
    if options.aliases:
        print("\n".join(aliases()))
    elif options.stop:
        print("stopped the server" if stop() else "there is no server")
    else:
        here = Path(__file__).parent
        script = str(_folder_of_scripts() / "passline-opt")
        command = [sys.executable, str(here / "start.py"), "--foreground", f"--idle={options.idle}"]
        sys.stdout.flush()
        os.execv(sys.executable, [*command, script])


def _seconds(text: str) -> float:
    """Return the number of seconds that `text` gives."""
    try:
        if (seconds := float(text)) > 0:
            return seconds
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"'{text}' is not a positive number of seconds")


def aliases() -> list[str]:
    """Return an alias for each command of Passline and for `xdsl-opt`, in the syntax of POSIX."""
    call = [sys.executable, "-I", "-S", str(Path(__file__).parent / "call.py")]
    scripts = [_folder_of_scripts() / f"passline-{name}" for name in COMMANDS]
    scripts += [_folder_of_scripts() / name for name in ("passline", "xdsl-opt")]
    return [
        f"alias {script.name}={shlex.quote(shlex.join([*call, str(script)]))}"
        for script in scripts
        if script.exists()
    ]


def stop() -> bool:
    """End the server of this environment after its runs; return whether there was one.

    Raises PasslineError if the folder of its socket is not the user's alone.
    """
    try:
        connection = connect(socket_path(key_of(os.environb)))
    except UnsafeFolderError as error:
        raise PasslineError(str(error)) from error
    if connection is None:
        return False
    peer = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    connection.close()
    os.kill(int.from_bytes(peer[:4], sys.byteorder), signal.SIGTERM)
    return True


def _folder_of_scripts() -> Path:
    """Return the folder with the commands of this environment."""
    return Path(sys.executable).parent
