"""The record of the inputs that are done, in the output directory, by which a run is resumed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from ...passmanager.releases.release import xdsl_version
from .outcome import InputOutcome
from .worker import digest_of

__all__ = ["Manifest", "external_data", "job_key"]


def job_key(path: Path, options: Sequence[str], version: str) -> str:
    """Return the hash of an input with its external data, the options and the versions."""
    content = path.read_bytes()
    key = hashlib.sha256(content)
    for name in external_data(content) if path.suffix == ".onnx" else ():
        key.update(f"\0{name}:{digest_of(path.parent / name)}".encode())
    for part in (path.suffix, version, xdsl_version(), *options):
        key.update(f"\0{len(part)}:{part}".encode())
    return key.hexdigest()


_LOCATION = re.compile(rb"\n\x08location\x12([\x80-\xff]?)([\x01-\x7f])", re.DOTALL)
"""The key `location` of an external tensor in protobuf's encoding, and its length, base 128."""


def external_data(model: bytes) -> list[str]:
    """Return the names of the files in which an ONNX model keeps tensors, without parsing it."""
    names: set[str] = set()
    for found in _LOCATION.finditer(model):
        low, high = found.groups()
        length = (low[0] & 0x7F | high[0] << 7) if low else high[0]
        names.add(model[found.end() : found.end() + length].decode(errors="replace"))
    return sorted(name for name in names if "\0" not in name)


class Manifest:
    """The file `manifest.jsonl`, with one line for each outcome; the last line on a result counts.

    A line is added when an input is done; one that was cut off by a crash is ignored.
    """

    def __init__(self, out_dir: Path) -> None:
        out_dir.mkdir(parents=True, exist_ok=True)
        self._out_dir = out_dir
        self._path = out_dir / "manifest.jsonl"
        self._done: dict[tuple[str, str], InputOutcome] = {}
        for line in self._lines():
            try:
                outcome = InputOutcome.from_json(line)
            except (TypeError, ValueError):
                continue
            self._done[outcome.key, outcome.output or ""] = outcome

    def _lines(self) -> list[str]:
        if not self._path.exists():
            return []
        return self._path.read_text(encoding="utf-8", errors="replace").splitlines()

    def find(self, key: str, output: str) -> InputOutcome | None:
        """Return the outcome of an input that succeeded and whose result is still as it was."""
        for name in (output, ""):  # with --no-print there is no result
            found = self._done.get((key, name))
            if found is not None and found.status == "ok":
                unchanged = not name or digest_of(self._out_dir / name) == found.digest
                return found if unchanged else None
        return None

    def add(self, outcome: InputOutcome) -> None:
        """Add an outcome to the file."""
        with self._path.open("a+b") as file:
            if file.tell() and not self._ends_with_newline():
                file.write(b"\n")
            file.write(f"{outcome.to_json()}\n".encode())

    def _ends_with_newline(self) -> bool:
        with self._path.open("rb") as file:
            file.seek(-1, 2)
            return file.read() == b"\n"
