"""The messages between a client and a server: one request with descriptors, then short replies."""

from __future__ import annotations

import _socket  # `socket` takes longer to import than Python to start
import marshal
import sys

PROTOCOL = 1
"""The version of the messages."""

BEGUN, ENDED, KILLED, COLD, OUTDATED = b"bekco"
"""The first bytes of replies. The run has begun, with its process; it has ended, with its status;
it was killed, with its signal; the server does not run it, with a reason; the server is outdated.
"""

Socket = _socket.socket
MAX_DESCRIPTORS = 253  # of one message (SCM_MAX_FD of Linux)
_SIZE = 4


class Request:
    """A run that a client asks for: the command, and what a process inherits of its caller.

    `script` is the path of a file to run, or empty if `module` is run as by `python -m`.
    `descriptors` are the numbers of the open files that are sent along.
    """

    def __init__(
        self,
        key: str,
        script: str,
        module: str,
        arguments: list[str],
        environment: dict[bytes, bytes],
        directory: str,
        umask: int,
        limits: list[tuple[int, int, int]],
        niceness: int,
        processors: list[int],
        ignored: list[int],
        descriptors: list[int],
    ) -> None:
        self.key = key
        self.script = script
        self.module = module
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.umask = umask
        self.limits = limits
        self.niceness = niceness
        self.processors = processors
        self.ignored = ignored
        self.descriptors = descriptors


def same_user(connection: Socket, user: int) -> bool:
    """Return whether the process at the other end of a connection belongs to `user`."""
    peer = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(peer[4:8], sys.byteorder) == user


def send_request(connection: Socket, request: Request, sent: list[int]) -> None:
    """Send a request with the open files `sent`, one for each number in `request.descriptors`."""
    content = marshal.dumps(vars(request))
    packed = b"".join(number.to_bytes(_SIZE, sys.byteorder) for number in sent)
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)] if sent else []
    size = len(content).to_bytes(_SIZE, sys.byteorder)
    connection.sendmsg([size], rights)
    connection.sendall(content)


def receive_request(connection: Socket) -> tuple[Request, list[int]]:
    """Return a request, and the open files that came with it.

    Raises EOFError, OSError, TypeError or ValueError if it is none.
    """
    size, rights, _, _ = connection.recvmsg(_SIZE, _socket.CMSG_SPACE(_SIZE * MAX_DESCRIPTORS))
    received: list[int] = []
    for _, kind, packed in rights:
        if kind == _socket.SCM_RIGHTS:
            places = range(0, len(packed) - _SIZE + 1, _SIZE)
            received += [int.from_bytes(packed[i : i + _SIZE], sys.byteorder) for i in places]
    content = bytearray()
    length = int.from_bytes(size, sys.byteorder)
    while len(content) < length:
        if not (part := connection.recv(length - len(content))):
            raise EOFError("half a request")
        content += part
    return Request(**marshal.loads(content)), received


def reply(kind: int, content: object = "") -> bytes:
    """Return the message of a reply: a byte for its kind, a text or number, the end of the line."""
    return b"%c%s\n" % (kind, str(content).replace("\n", " ").encode())


class Replies:
    """Reads replies from a connection."""

    def __init__(self, connection: Socket) -> None:
        self._connection = connection
        self._pending = b""

    def next(self) -> tuple[int, str] | None:
        """Wait for a reply; return its kind and content, or None if the server has gone."""
        while b"\n" not in self._pending:
            try:
                part = self._connection.recv(4096)
            except ConnectionError:
                return None  # it was killed while data was under way
            if not part:
                return None
            self._pending += part
        line, _, self._pending = self._pending.partition(b"\n")
        return line[0], line[1:].decode()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
