"""The run in a fork of the server: takes over the caller's state, runs the tool, ends."""

from __future__ import annotations

import _socket
import atexit
import fcntl
import io
import os
import runpy
import signal
import sys
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import ModuleType, TracebackType
from typing import BinaryIO, NoReturn, Protocol, cast

from .caller import take_over
from .protocol import BEGUN, COLD, ENDED, Request, Socket, reply
from .warm_imports import imported_since

Streams = Sequence[io.TextIOWrapper | None]

_FLUSH_FAILED = 120
"""The exit status of Python if it cannot write out what was printed."""


class Closable(Protocol):
    """A socket or another open file."""

    def close(self) -> None: ...


def run_in_fork(
    request: Request,
    received: list[int],
    connection: Socket,
    learned: Socket,
    others: Iterable[Closable],
) -> NoReturn:
    """Run a request, and end this process. Its end is reported to the client on `connection`, the
    modules that it has imported to the server on `learned`. `others` are what else the server has
    open.
    """
    os.setpgid(0, 0)
    for other in others:
        other.close()
    first_free = max([2, *request.descriptors]) + 1
    connection, learned = _moved(connection, first_free), _moved(learned, first_free)
    _take_descriptors(request.descriptors, received, first_free)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        take_over(request)
    except (OSError, ValueError) as error:
        connection.sendall(reply(COLD, error))
        os._exit(1)
    count = len(sys.modules)
    streams = _open_streams()
    connection.sendall(reply(BEGUN, os.getpid()))
    status = _finished(_run(request), streams)
    if new := imported_since(count):
        with suppress(OSError):  # too many at once: they stay cold
            learned.send("\n".join(new).encode(), _socket.MSG_DONTWAIT)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    # The client need not wait until the memory of this process is given back.
    with suppress(OSError):
        connection.sendall(reply(ENDED, status & 0xFF))
    os._exit(status & 0xFF)


def _moved(connection: Socket, first: int) -> Socket:
    """Return a socket with another descriptor, `first` or above."""
    number = fcntl.fcntl(connection.fileno(), fcntl.F_DUPFD_CLOEXEC, first)
    connection.close()
    return Socket(fileno=number)


def _take_descriptors(wanted: list[int], received: list[int], first_free: int) -> None:
    """Give open files the numbers that they have in the client, and close the standard streams that
    are closed there.
    """
    moved = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, first_free) for number in received]
    for number in received:
        os.close(number)
    for number, copy in zip(wanted, moved, strict=True):
        os.dup2(copy, number, inheritable=True)
        os.close(copy)
    for number in {0, 1, 2}.difference(wanted):
        os.close(number)


def _open_streams() -> Streams:
    """Open the standard streams as Python does when it starts.

    Returns the old objects that write to the same files: functions may have them as defaults.
    """
    streams = sys.__stdout__, sys.__stderr__
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old: io.TextIOWrapper = getattr(sys, name)
        try:
            raw = io.FileIO(number, "w" if number else "r", closefd=False)
        except OSError:  # it is closed
            stream = None
        else:
            raw.name = f"<{name}>"
            unbuffered = old.write_through and number > 0
            buffer = io.BufferedWriter if number else io.BufferedReader
            stream = io.TextIOWrapper(
                cast(BinaryIO, raw if unbuffered else buffer(raw)),
                encoding=old.encoding,
                errors=old.errors,
                newline="\n",
                line_buffering=number == 2 or os.isatty(number),
                write_through=unbuffered,
            )
            setattr(stream, "mode", "w" if number else "r")
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    return streams


def _run(request: Request) -> int:
    """Run the tool as the main module; return its exit status, or minus the signal that ends it."""
    sys.argv[:] = request.arguments
    sys.orig_argv[:] = [sys.executable, *(["-m"] if request.module else []), *request.arguments]
    try:
        if request.script:
            main = ModuleType("__main__")
            main.__dict__.update(__file__=request.script, __builtins__=__builtins__)
            sys.modules["__main__"] = main
            sys.path.insert(0, os.path.dirname(os.path.realpath(request.script)))
            with open(request.script, "rb") as file:
                code = compile(file.read(), request.script, "exec", dont_inherit=True)
            exec(code, main.__dict__)
        else:
            sys.path.insert(0, os.getcwd())
            runpy.run_module(request.module, run_name="__main__", alter_sys=True)
    except SystemExit as error:
        return _status_of(error.code)
    except BaseException as error:
        error = error.with_traceback(_frames_of_tool(error.__traceback__))
        sys.excepthook(type(error), error, error.__traceback__)
        return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _frames_of_tool(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this module, and of `runpy` below it."""
    while trace is not None and trace.tb_frame.f_globals.get("__name__") in (__name__, "runpy"):
        trace = trace.tb_next
    return trace


def _status_of(code: object) -> int:
    """Return the exit status of a SystemExit; print its code if it is a message."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _finished(status: int, streams: Streams) -> int:
    """Do what Python does at its end: wait for threads, call exit functions, write out streams.

    Returns `status`, or another one if the streams could not be written.
    """
    threading._shutdown()  # pyright: ignore
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (*streams, sys.stdout, sys.__stdout__, sys.stderr, sys.__stderr__):
        try:
            if stream is not None and not stream.closed:  # pyright: ignore[reportUnnecessaryComparison]  # as it is closed in the caller
                stream.flush()
        except Exception as error:
            if status == 0:
                status = _FLUSH_FAILED
            with suppress(Exception):
                message = f"Exception ignored in: {stream!r}\n{type(error).__name__}: {error}"
                print(message, file=sys.stderr)
    return status
