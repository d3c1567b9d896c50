"""The folder with the sockets of a user's servers."""

from __future__ import annotations

import _socket
import os
import stat

from .protocol import Socket

_PRIME = (1 << 32) - 5
"""What numbers of keys are taken modulo: `hash` differs between processes, a checksum of `zlib` or
`binascii` is slow to import."""


class UnsafeFolderError(Exception):
    """A folder for sockets that someone else could open."""


def socket_path(key: str) -> str:
    """Return the path of the socket of the server with a key; make its folder.

    Raises UnsafeFolderError if the folder is not the user's alone, OSError if it cannot be made.
    """
    user = os.geteuid()
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        folder = os.path.join(runtime, "passline")
    else:
        folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"passline-{user}")
    if not os.path.lexists(folder):
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != user or found.st_mode & 0o077:
        raise UnsafeFolderError(
            f"the folder of sockets {folder} must be a folder of yours that nobody else can open: "
            f"owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):o}"
        )
    number = int.from_bytes(key.encode(errors="surrogateescape"), "big") % _PRIME
    return os.path.join(folder, f"{number:08x}.sock")


class ServerRunsError(Exception):
    """Another server has the socket."""


class OwnSocket:
    """The right to listen on a path, which one process has at a time; gone with the process.

    Raises ServerRunsError if another process has it. An old file at the path is removed.
    """

    def __init__(self, path: str) -> None:
        import fcntl

        self._path = path
        self._lock = os.open(path.replace(".sock", ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        self._process = os.getpid()
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ServerRunsError(f"a server already listens on {path}") from None
        self._remove()

    def close(self) -> None:
        """Give it back; in a fork, close only what was inherited."""
        import fcntl

        if os.getpid() == self._process:
            self._remove()
            fcntl.flock(self._lock, fcntl.LOCK_UN)
        os.close(self._lock)

    def _remove(self) -> None:
        try:
            os.unlink(self._path)
        except FileNotFoundError:
            return


def connect(address: str | bytes) -> Socket | None:
    """Return a connection to the server at an address, or None if there is none."""
    connection = Socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(address)
    except OSError:
        connection.close()
        return None
    return connection
