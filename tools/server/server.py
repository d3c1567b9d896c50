"""The server: accepts requests, forks for each, and tells clients of runs that were killed."""

from __future__ import annotations

import os
import select
import signal
import socket
import warnings
from types import FrameType

from .caller import given_environment, key_of
from .fork import Closable, run_in_fork
from .freshness import Freshness
from .protocol import (
    COLD,
    ENDED,
    KILLED,
    OUTDATED,
    Request,
    Socket,
    receive_request,
    reply,
    same_user,
)
from .warm_imports import NotWarmError, WarmImports

SECONDS_TO_SEND = 5.0
"""For how long the server waits for the rest of a request."""

_MAX_REPORT = 1 << 18
"""The bytes of a report of a run on its imports; what is longer is cut off."""


class Server:
    """A server on a listening socket.

    `lifeline`: the reading end of a pipe; the server ends when nothing holds the other end.
    `idle`: after how many seconds without a run it ends. `checked`: whether it ends when a file of
    what it has imported was edited. `held`: what is closed when it no longer accepts requests.
    """

    def __init__(
        self,
        listener: socket.socket,
        *,
        lifeline: int | None = None,
        idle: float | None = None,
        checked: bool = False,
        held: Closable | None = None,
    ) -> None:
        self._listener: socket.socket | None = listener
        self._lifeline = lifeline
        self._idle = idle
        self._held = held
        self._key = key_of(given_environment())
        self._freshness = Freshness() if checked else None
        self._imports = WarmImports()
        self._told: set[str] = set()
        """The reasons that were given why a tool is not warm, each once."""
        self._runs: dict[int, Socket] = {}
        """The connections of the runs, by process."""
        self._learned, self._learning = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._woken, self._waking = socket.socketpair()
        for end in (self._learned, self._woken, self._waking):
            end.setblocking(False)

    def prepare(self, script: str) -> None:
        """Import what a script needs before a client asks for it."""
        try:
            self._imports.prepare(script, "")
        except NotWarmError:
            return  # the clients are told
        if self._freshness is not None:
            self._freshness.note()

    def serve(self) -> None:
        """Answer requests until the server is idle, stopped or outdated, or its lifeline is cut."""
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _ignore)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        while self._listener is not None or self._runs:
            self._wait()
        self._close()

    def _wait(self) -> None:
        """Wait for events, and act on them."""
        runs = {connection.fileno(): process for process, connection in self._runs.items()}
        poll = select.poll()
        for number in (self._woken.fileno(), self._learned.fileno(), *runs):
            poll.register(number, select.POLLIN)
        listening = -1 if self._listener is None else self._listener.fileno()
        if self._listener is not None:
            poll.register(listening, select.POLLIN)
        if self._lifeline is not None:
            poll.register(self._lifeline, select.POLLIN)
        idle = self._idle is not None and not self._runs
        events = poll.poll(self._idle * 1000 if self._idle is not None and idle else None)
        if not events and idle:
            return self._close()
        for number, _ in events:
            if number == self._woken.fileno():
                self._reap()
            elif number == self._learned.fileno():
                self._learn()
            elif number == self._lifeline:
                self._close()
                self._lifeline = None
                for process in self._runs:
                    os.kill(process, signal.SIGKILL)
            elif number == listening and self._listener is not None:
                self._accept(self._listener)
            elif (process := runs.get(number)) in self._runs:  # the client has gone
                os.kill(process, signal.SIGKILL)
                self._runs.pop(process).close()

    def _reap(self) -> None:
        """Take note of forks that have ended. Most have told their clients."""
        while True:
            try:
                self._woken.recv(1024)
            except BlockingIOError:
                break
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            if (connection := self._runs.pop(process, None)) is not None:
                if os.WIFSIGNALED(status):
                    _answer(connection, KILLED, os.WTERMSIG(status))
                else:  # it may have become another program, which did not report its end
                    _answer(connection, ENDED, os.WEXITSTATUS(status))
                connection.close()

    def _learn(self) -> None:
        """Import what runs have imported."""
        names = self._learned.recv(_MAX_REPORT).decode().splitlines()
        self._imports.learn(names)
        if self._freshness is not None:
            self._freshness.note()

    def _accept(self, listener: socket.socket) -> None:
        """Take one request, and fork for it."""
        connection, _ = listener.accept()
        received: list[int] = []
        try:
            connection.settimeout(SECONDS_TO_SEND)
            if not same_user(connection, os.geteuid()):
                return
            request, received = receive_request(connection)
            connection.settimeout(None)
            if self._freshness is not None and self._freshness.is_outdated():
                self._close()
                return _answer(connection, OUTDATED)
            try:
                self._check(request)
            except NotWarmError as error:
                new = str(error) not in self._told
                self._told.add(str(error))
                return _answer(connection, COLD, error if new else "")
            self._fork(request, received, connection)
        except (EOFError, OSError, TypeError, ValueError):
            return  # no request; the client runs the tool itself
        finally:
            connection.close()
            for number in received:
                os.close(number)

    def _check(self, request: Request) -> None:
        """Raise NotWarmError if a fork would not do what a new process does."""
        if request.key != self._key:
            raise NotWarmError("Python was started with other variables")
        self._imports.prepare(request.script, request.module)
        if (name := self._imports.other_variable(request.environment)) is not None:
            raise NotWarmError(f"its imports read {name}, which has another value")
        folder = os.path.dirname(request.script) if request.script else request.directory
        if (name := self._imports.shadowed(folder)) is not None:
            raise NotWarmError(f"{folder} has another {name}")
        if self._freshness is not None:
            self._freshness.note()

    def _fork(self, request: Request, received: list[int], connection: socket.socket) -> None:
        """Run a request in a fork, which never returns from here."""
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # on threads: see `howto/test-suites`
            process = os.fork()
        if process == 0:
            try:
                others = [self._woken, self._waking, self._learned, *self._runs.values()]
                held = [end for end in (self._listener, self._held) if end is not None]
                if self._lifeline is not None:
                    os.close(self._lifeline)
                run_in_fork(request, received, connection, self._learning, [*others, *held])
            finally:
                os._exit(70)
        self._runs[process] = connection.dup()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._close()

    def _close(self) -> None:
        """Accept no more requests."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        if self._held is not None:
            self._held.close()
            self._held = None


def _ignore(number: int, frame: FrameType | None) -> None:
    """Do nothing: the signal wakes the server."""


def _answer(connection: Socket, kind: int, content: object = "") -> None:
    try:
        connection.sendall(reply(kind, content))
    except OSError:
        return  # the client has gone
