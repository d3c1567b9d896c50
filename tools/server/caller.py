"""What a process inherits of its caller: read in the client, taken over in the fork."""

from __future__ import annotations

import os
import resource
import sys

from .protocol import PROTOCOL, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Mapping
else:
    import _signal as signal  # it does not import `enum`

SWITCH = "PASSLINE_SERVER"
"""The variable that makes the commands use a server."""

AT_START = (b"PYTHON", b"LC_", b"LANG", b"PASSLINE_")
"""How names of variables begin that Python, or Passline, reads when it starts."""

_LIMITS = sorted({value for name, value in vars(resource).items() if name.startswith("RLIMIT_")})
_SIGNALS = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGTSTP")
"""The signals that a caller may have set to be ignored, as `nohup` does, in a run, too."""


def key_of(environment: Mapping[bytes, bytes]) -> str:
    """Return what a server and its clients have in common: the version of the messages, Python, the
    place of this package, and the variables that are read when Python starts.
    """
    variables = sorted(
        (name, value)
        for name, value in environment.items()
        if name.startswith(AT_START) and name != SWITCH.encode()
    )
    python = os.path.dirname(sys.executable)
    return repr((PROTOCOL, python, sys.hexversion, os.path.dirname(__file__), variables))


def given_environment() -> dict[bytes, bytes]:
    """Return the variables with which this process was started.

    Python adds one when it starts, LC_CTYPE, if no language is set (PEP 538).
    """
    try:
        with open("/proc/self/environ", "rb") as file:
            items = file.read().split(b"\0")
    except OSError:
        return dict(os.environb)
    pairs = (item.partition(b"=") for item in items if item)
    return {name: value for name, _, value in pairs}


def request_of(
    arguments: list[str],
    script: str = "",
    module: str = "",
    environment: Mapping[bytes, bytes] | None = None,
    directory: str | None = None,
    umask: int | None = None,
) -> Request:
    """Return the request to run a script or module with the state of this process.

    `arguments` is `sys.argv` of the run. `environment`, `directory` and `umask` replace those of
    this process. The descriptors are 0, 1 and 2.
    """
    if umask is None:
        os.umask(umask := os.umask(0o77))
    known = dict(os.environb if environment is None else environment)
    return Request(
        key=key_of(known),
        script=script,
        module=module,
        arguments=arguments,
        environment=known,
        directory=os.getcwd() if directory is None else directory,
        umask=umask,
        limits=[(limit, *resource.getrlimit(limit)) for limit in _LIMITS],
        niceness=os.getpriority(os.PRIO_PROCESS, 0),
        processors=sorted(os.sched_getaffinity(0)),
        ignored=[
            number
            for name in _SIGNALS
            if signal.getsignal(number := getattr(signal, name)) == signal.SIG_IGN
        ],
        descriptors=[0, 1, 2],
    )


def take_over(request: Request) -> None:
    """Make the state of a request that of this process.

    Raises OSError or ValueError where that cannot be done, as for limits that are higher than ours.
    """
    os.chdir(request.directory)
    os.umask(request.umask)
    for limit, soft, hard in request.limits:
        if resource.getrlimit(limit) != (soft, hard):
            resource.setrlimit(limit, (soft, hard))
    if more := request.niceness - os.getpriority(os.PRIO_PROCESS, 0):
        os.nice(more)
    if set(request.processors) != os.sched_getaffinity(0):
        os.sched_setaffinity(0, request.processors)
    for number in request.ignored:
        signal.signal(number, signal.SIG_IGN)
    added = {name: os.environb[name] for name in (b"LC_CTYPE",) if name in os.environb}
    if (environment := {**added, **request.environment}) != os.environb:
        os.environb.clear()
        os.environb.update(environment)
        import time

        time.tzset()
