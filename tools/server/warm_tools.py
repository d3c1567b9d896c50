"""Commands of a test suite: Python tools run in forks of a server, all others as they stand."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from .caller import request_of
from .protocol import BEGUN, ENDED, KILLED, Replies, same_user, send_request
from .scripts import python_tool
from .socket_folder import connect

Stream = int | IO[bytes] | IO[str] | None
"""Where a standard stream comes from or goes to, as in `subprocess`."""

SECONDS_TO_BEGIN = 60.0
"""For how long a run may take to begin, the imports of its tool included; then it is done cold."""


class WarmTools:
    """A server for a test suite, which ends with this process, however that ends.

    `environment` are the variables with which tools start, this process's by default: runs with
    other variables of Python are not warm. A copy in another process uses the same server.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.note: Callable[[str], object] | None = None
        """What is called once with each reason why a Python tool is not run in a fork."""
        self._address: bytes | None = None
        self._held: int | None = None
        if sys.platform != "linux":
            return  # the frameworks of macOS do not survive a fork
        lifeline, self._held = os.pipe()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(b"")  # an abstract address that is free
            listener.listen(128)
            self._address = listener.getsockname()
            start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
            numbers = f"--listener={listener.fileno()}", f"--lifeline={lifeline}"
            self._server = subprocess.Popen(
                [sys.executable, start, *numbers],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=None if environment is None else dict(environment),
                pass_fds=(listener.fileno(), lifeline),
                start_new_session=True,
            )
        os.close(lifeline)

    def __reduce__(self) -> tuple[object, ...]:
        return _tools_at, (self._address,)

    def close(self) -> None:
        """End the server, and what it runs."""
        self._address = None
        if self._held is not None:
            os.close(self._held)
            self._held = None
            self._server.wait()

    def start(
        self,
        arguments: Sequence[str],
        *,
        executable: str | None = None,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> WarmProcess | None:
        """Start a command as `subprocess.Popen` would in text mode.

        Returns None if it is no Python tool of this environment, or if no fork can run it.
        """
        if self._address is None:
            return None
        search = None if env is None else env.get("PATH")
        tool = python_tool(executable or arguments[0], list(arguments), search)
        if tool is None or (connection := connect(self._address)) is None:
            return None
        known = None if env is None else {os.fsencode(k): os.fsencode(env[k]) for k in env}
        streams = _Streams(stdin, stdout, stderr)
        try:
            request = request_of(tool.arguments, tool.script, tool.module, known, cwd)
            connection.settimeout(SECONDS_TO_BEGIN)
            if same_user(connection, os.geteuid()):
                send_request(connection, request, streams.theirs)
                answer = (replies := Replies(connection)).next()
                connection.settimeout(None)
                if answer is not None and answer[0] == BEGUN:
                    return WarmProcess(arguments, int(answer[1]), replies, streams)
                if answer is not None and answer[1] and self.note is not None:
                    self.note(f"passline: {tool.script or tool.module} runs cold: {answer[1]}")
        except OSError:
            pass
        finally:
            streams.close_theirs()
        streams.close_ours()
        connection.close()
        return None

    def run(
        self,
        arguments: Sequence[str],
        *,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> int:
        """Run a command, in a fork if it can be.

        Returns its exit status, or minus the signal that killed it. Raises OSError if there is no
        such command.
        """
        warm = self.start(arguments, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=env)
        process = warm or subprocess.Popen(
            arguments, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=env
        )
        return process.wait()


def _tools_at(address: bytes | None) -> WarmTools:
    """Return the client of a server of another process."""
    tools = WarmTools.__new__(WarmTools)
    setattr(tools, "_address", address)
    setattr(tools, "_held", None)
    tools.note = None
    return tools


class WarmProcess:
    """A run in a fork of the server, with the attributes of a `subprocess.Popen` in text mode."""

    def __init__(
        self, arguments: Sequence[str], process: int, replies: Replies, streams: _Streams
    ) -> None:
        self.args = arguments
        self.pid = process
        self.stdin = _text(streams.stdin, "w")
        self.stdout = _text(streams.stdout, "r")
        self.stderr = _text(streams.stderr, "r")
        self.returncode: int | None = None
        self._replies = replies

    def wait(self) -> int:
        """Wait for the end; return the exit status, or minus the signal that killed it."""
        if self.returncode is None:
            match self._replies.next():
                case (kind, status) if kind == ENDED:
                    self.returncode = int(status)
                case (kind, number) if kind == KILLED:
                    self.returncode = -int(number)
                case _:  # the server and the run are gone
                    self.returncode = -signal.SIGKILL
            self._replies.close()
        return self.returncode

    def communicate(self) -> tuple[str | None, str | None]:
        """Read all output, and wait for the end; return what was printed to each pipe."""
        if self.stdin is not None:
            self.stdin.close()
        errors: list[str] = []
        reader = None
        if (stderr := self.stderr) is not None:
            reader = threading.Thread(target=lambda: errors.append(stderr.read()))
            reader.start()
        output = None if self.stdout is None else self.stdout.read()
        if reader is not None:
            reader.join()
        self.wait()
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        return output, errors[0] if errors else None

    def send_signal(self, number: int) -> None:
        """Send a signal, if the run has not ended."""
        if self.returncode is None:
            os.kill(self.pid, number)


class _Streams:
    """The standard streams of a run: the ends that it gets, and those of pipes that we keep."""

    def __init__(self, stdin: Stream, stdout: Stream, stderr: Stream) -> None:
        self._opened: list[int] = []
        read, self.stdin = os.pipe() if stdin == subprocess.PIPE else (None, None)
        self.stdout, written = os.pipe() if stdout == subprocess.PIPE else (None, None)
        self.stderr, errors = os.pipe() if stderr == subprocess.PIPE else (None, None)
        out = self._number(1, stdout, written)
        same = stderr == subprocess.STDOUT
        self.theirs = [
            self._number(0, stdin, read),
            out,
            out if same else self._number(2, stderr, errors),
        ]
        theirs = {read, written, errors}
        self._ours = [number for number in (self.stdin, self.stdout, self.stderr) if number]
        self._opened += [number for number in theirs if number is not None]

    def _number(self, standard: int, stream: Stream, end: int | None) -> int:
        """Return the open file of a stream: a pipe's `end`, or that of this process by default."""
        if end is not None:
            return end
        if stream == subprocess.DEVNULL:
            self._opened.append(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
            return self._opened[-1]
        if stream is None:
            return standard
        return stream if isinstance(stream, int) else stream.fileno()

    def close_theirs(self) -> None:
        """Close what was opened for the run alone."""
        for number in self._opened:
            os.close(number)
        self._opened.clear()

    def close_ours(self) -> None:
        """Close our ends of pipes, where there is no run."""
        for number in self._ours:
            os.close(number)


def _text(number: int | None, mode: str) -> IO[str] | None:
    return None if number is None else open(number, mode, encoding="utf-8", errors="replace")
