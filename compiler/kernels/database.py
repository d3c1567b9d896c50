"""The database of measured choices: a file of JSON lines, one for each kernel and target.

Lines are only appended, and the last one for a kernel and target counts, so `cat` merges databases.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeGuard, cast

from ...dialects.target import Target
from ...passmanager.errors import PasslineError
from .choices import Choice, Form


def target_key(target: Target) -> str:
    """Return the text of a target in databases: kernels are measured on one core."""
    return str(replace(target, cores=1))


@dataclass(frozen=True)
class TuningRecord:
    """The fastest choices that are known for a kernel on a target."""

    key: str
    target: str
    choices: tuple[Choice, ...]
    seconds: float
    """The measured time of the kernel."""
    estimated_seconds: float
    """The measured time of the kernel with the choices that have the lowest estimates."""
    trials: int
    """The candidates that were measured."""
    finished: bool
    """False if the search was interrupted."""
    operations: str
    """The operations of the kernel and the types of their results, for people."""
    when: str
    """The time of the measurement in UTC, as ISO 8601 has it."""
    passline: str
    """The version that measured."""
    place: str = field(default="", compare=False)
    """The file and line that it was read from."""

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        fields = {**vars(self), "choices": [_choice_to_json(choice) for choice in self.choices]}
        del fields["place"]
        return json.dumps(fields, ensure_ascii=False)

    @staticmethod
    def from_json(text: str, place: str = "") -> TuningRecord:
        """Return the record in a line of JSON.

        Errors: ValueError, with the reason, for a line that holds no record."""
        try:
            data: object = json.loads(text)
        except ValueError:
            raise ValueError("not a line of JSON") from None
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if not _is_object(data):
            raise ValueError("not a JSON object")
        fields = dict(data)
        for name, kinds in _FIELDS.items():
            if name not in fields:
                raise ValueError(f"it has no '{name}'")
            if not isinstance(fields[name], kinds) or (
                isinstance(fields[name], bool) and bool not in kinds
            ):
                raise ValueError(f"'{name}' is {json.dumps(fields[name])[:40]}")
        for name in ("seconds", "estimated_seconds"):
            if not 0 <= cast(float, fields[name]) < math.inf:
                raise ValueError(f"'{name}' is {fields[name]}")
        if extra := fields.keys() - _FIELDS.keys():
            raise ValueError(f"'{min(extra)}' is not a field of a record")
        fields["choices"] = tuple(map(_choice_from_json, cast("list[object]", fields["choices"])))
        return TuningRecord(**fields, place=place)  # pyright: ignore[reportArgumentType]


_FIELDS: dict[str, tuple[type, ...]] = {
    "key": (str,),
    "target": (str,),
    "choices": (list,),
    "seconds": (float, int),
    "estimated_seconds": (float, int),
    "trials": (int,),
    "finished": (bool,),
    "operations": (str,),
    "when": (str,),
    "passline": (str,),
}


def _choice_to_json(choice: Choice) -> dict[str, object]:
    return {"kind": choice.kind, "of": dict(choice.problem), "is": dict(choice.form)}


def _choice_from_json(data: object) -> Choice:
    if not _is_object(data) or data.keys() != {"kind", "of", "is"}:
        raise ValueError("a choice is not an object with 'kind', 'of' and 'is'")
    kind, problem, form = data["kind"], data["of"], data["is"]
    if not isinstance(kind, str) or not _is_form(problem) or not _is_form(form):
        raise ValueError("a choice is not of numbers and words")
    return Choice(kind, problem, form)


def _is_object(data: object) -> TypeGuard[dict[str, object]]:
    return isinstance(data, dict)


def _is_form(data: object) -> TypeGuard[Form]:
    return _is_object(data) and all(isinstance(v, int | str | None) for v in data.values())


class Database:
    """The records of files. If several have the same kernel and target, the last one counts."""

    def __init__(self, records: Iterable[TuningRecord] = (), warnings: Sequence[str] = ()) -> None:
        self.warnings = warnings
        """The lines that are no records, with file and line."""
        # The last one counts, not the fastest: measurements on another day or with another version
        # of the code generator cannot be compared.
        self._records = {(record.key, record.target): record for record in records}

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Database:
        """Return the records in a file; PasslineError if it cannot be read."""
        try:
            lines = Path(path).read_bytes().split(b"\n")
        except OSError as error:
            message = f"the database '{os.fspath(path)}' cannot be read: {error.strerror}"
            raise PasslineError(message) from None
        records: list[TuningRecord] = []
        warnings: list[str] = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            place = f"{os.fspath(path)}:{number}"
            try:
                records.append(TuningRecord.from_json(line.decode(), place))
            except ValueError as error:
                reason = "not UTF-8" if isinstance(error, UnicodeDecodeError) else error
                warnings.append(f"{place}: the line is skipped: {reason}")
        return Database(records, warnings)

    def find(self, key: str, target: Target) -> TuningRecord | None:
        """Return the record of a kernel on a target."""
        return self._records.get((key, target_key(target)))

    def __len__(self) -> int:
        return len(self._records)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise PasslineError if records cannot be added to a file, which may not exist yet."""
    file = Path(path)
    if file.is_dir():
        raise PasslineError(f"the database '{file}' is a directory")
    if not file.exists() and not file.parent.is_dir():
        raise PasslineError(f"there is no directory '{file.parent}' for the database")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise PasslineError(f"the database '{file}' cannot be written")


def append_record(path: str | os.PathLike[str], record: TuningRecord) -> None:
    """Add a record at the end of a file, in one step: several processes may do so at once."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        end = os.fstat(descriptor).st_size
        # A process that was killed may have left a part of a line: the record begins a new one, and
        # the part is skipped with a warning. POSIX appends each write with O_APPEND as a whole; if
        # another process writes between pread and write, the result is an empty line at worst,
        # which is skipped.
        cut_off = end and os.pread(descriptor, 1, end - 1) != b"\n"
        start = "\n" if cut_off else ""
        os.write(descriptor, f"{start}{record.to_json()}\n".encode())
    finally:
        os.close(descriptor)
