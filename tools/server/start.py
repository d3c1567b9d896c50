"""The process of a server: `python start.py OPTIONS`.

It does not import the package `passline`: forks find only what the imports of their tools bring.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .server import Server

IDLE_SECONDS = 300.0
"""After how long without a run a server at the shell ends."""

_OWN_NAME = "_passline_server"
"""The name of the package of this file in the process of a server."""


def main() -> None:
    """Serve as the options say."""
    parser = argparse.ArgumentParser(prog="passline-server")
    parser.add_argument("--listener", type=int, help="a listening socket, for a test suite")
    parser.add_argument(
        "--lifeline", type=int, help="end when the other end of this pipe is closed"
    )
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, metavar="SECONDS")
    parser.add_argument("--foreground", action="store_true", help="say where it listens")
    parser.add_argument("scripts", nargs="*", help="tools to import at once")
    options = parser.parse_args()
    if options.listener is not None:
        server = _suite_server(options.listener, options.lifeline)
    else:
        server = _shell_server(options.idle, options.foreground)
    for script in options.scripts:
        server.prepare(script)
    server.serve()
    os._exit(0)  # exit functions of what was imported are for the runs


def _suite_server(listener: int, lifeline: int) -> Server:
    from .server import Server

    return Server(socket.socket(fileno=listener), lifeline=lifeline)


def _shell_server(idle: float, foreground: bool) -> Server:
    """Return the server of this user and environment; end this process if there is one already."""
    from .caller import given_environment, key_of
    from .server import Server
    from .socket_folder import OwnSocket, ServerRunsError, UnsafeFolderError, socket_path

    os.umask(0o077)
    try:
        path = socket_path(key_of(given_environment()))
        own = OwnSocket(path)
    except (OSError, ServerRunsError, UnsafeFolderError) as error:
        sys.exit(f"error: {error}")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    if foreground:
        print(f"passline serve: listens on {path}, ends after {idle:g} idle seconds", flush=True)
    os.chdir("/")
    return Server(listener, idle=idle, checked=True, held=own)


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file, whose modules are not for tools
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = spec_from_file_location(
        _OWN_NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    sys.modules[_OWN_NAME] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[_OWN_NAME])
    import_module(f"{_OWN_NAME}.start").main()
