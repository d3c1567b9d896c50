"""The client of a server at the shell: a tool runs in a fork, with all that this process is given.

It imports little: most of the time of a warm run is the start of Python.
"""

from __future__ import annotations

import os
import sys

from .caller import request_of, signal
from .protocol import (
    BEGUN,
    ENDED,
    KILLED,
    MAX_DESCRIPTORS,
    OUTDATED,
    Replies,
    same_user,
    send_request,
)
from .socket_folder import UnsafeFolderError, connect, socket_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

SECONDS_TO_BEGIN = 30.0
"""For how long a server may take to begin a run; then the tool runs here."""

_TO_GROUP = ("SIGINT", "SIGQUIT", "SIGHUP", "SIGWINCH", "SIGCONT")
_TO_PROCESS = ("SIGTERM", "SIGUSR1", "SIGUSR2")
"""The signals that are passed on: a terminal sends the first to all processes of a command."""


def run_warm(script: str, arguments: list[str]) -> int | None:
    """Run a script in a fork of the server; return its exit status.

    Returns None if nothing was run: the server cannot run the script, or there is none; then one is
    started for the next time. A run that is killed by a signal ends this process in the same way.
    """
    try:
        request = request_of(arguments, os.path.abspath(script))
        path = socket_path(request.key)
    except UnsafeFolderError as error:
        print(f"warning: {error}; the command runs without a server", file=sys.stderr)
        return None
    except OSError:
        return None
    if (connection := connect(path)) is None:
        return start_server(request.script)
    request.descriptors = _descriptors()
    if len(request.descriptors) > MAX_DESCRIPTORS:
        return None
    try:
        if not same_user(connection, os.geteuid()):
            print(f"warning: {path} belongs to someone else", file=sys.stderr)
            return None
        connection.settimeout(SECONDS_TO_BEGIN)
        send_request(connection, request, request.descriptors)
        replies = Replies(connection)
        answer = replies.next()
    except OSError:
        return None
    if answer is not None and answer[0] == OUTDATED:
        return start_server(request.script)
    if answer is None or answer[0] != BEGUN:
        return None
    connection.settimeout(None)
    return _follow(replies, int(answer[1]))


def _descriptors() -> list[int]:
    """Return the open files that a program started by this process would have."""
    found: list[int] = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.get_inheritable(number := int(name)):
                found.append(number)
        except OSError:  # it was open while the folder was read
            continue
    return found


def _follow(replies: Replies, process: int) -> int:
    """Pass signals on to a run, and return its exit status."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        try:
            if number in to_process:
                os.kill(process, number)
            else:
                os.killpg(process, number)
        except ProcessLookupError:
            return

    def stop(number: int, frame: FrameType | None) -> None:
        pass_on(signal.SIGSTOP, None)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, stop)  # here again, after it was continued

    to_process = {getattr(signal, name) for name in _TO_PROCESS}
    for name in (*_TO_GROUP, *_TO_PROCESS, "SIGTSTP"):
        number = getattr(signal, name)
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop if name == "SIGTSTP" else pass_on)
    answer = replies.next()
    if answer is not None and answer[0] == ENDED:
        return int(answer[1])
    if answer is not None and answer[0] == KILLED:
        _end_by(int(answer[1]))
    print("error: the server was killed in the middle of the run", file=sys.stderr)
    return 128 + signal.SIGKILL


def _end_by(number: int) -> None:
    """End this process by a signal, without a dump of its memory."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    sys.stdout.flush()
    os.kill(os.getpid(), number)


def start_server(script: str) -> None:
    """Start a server that imports a script at once, in a session of its own."""
    if os.fork():
        os.wait()
        return
    try:
        os.setsid()
        if os.fork() == 0:  # its parent is not this process, which would have to wait for it
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            os.closerange(3, max(_descriptors()) + 1)
            start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
            os.execv(sys.executable, [sys.executable, start, script])
    finally:
        os._exit(0)


def main() -> None:
    """Run the script that the command line names, in this process's place if there is no server."""
    script, arguments = sys.argv[1], sys.argv[1:]
    if (status := run_warm(script, arguments)) is None:
        os.execv(script, arguments)
    sys.stdout.flush()
    os._exit(status)
