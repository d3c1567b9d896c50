"""The verdict on a release of xDSL that nobody has tried: the parts that agree with it on a sample.

Two processes work on the sample, one with all parts accelerated, one with none. Parts whose results
differ are left to xDSL, and the others are tried again without these, until nothing differs. The
verdict is kept in `$XDG_CACHE_HOME/passline`; where that cannot be written, there is none.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from textwrap import shorten
from typing import NamedTuple, cast
from zlib import crc32

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.core import OpOperands
from xdsl.utils.exceptions import ParseError

from .parts import NONE, OFF, PARTS, PLAIN_READING, REPLACED, SETTING, Verdict

# Descriptions of IR, apart from any printer but that of xDSL's attributes: to compare IR.


def read(reader: Callable[..., ModuleOp], *arguments: object) -> tuple[str, ModuleOp | None]:
    """Return a module as text and itself, or the message with which it is refused, and None."""
    from ..ir.text.syntax_errors import InvalidText, parse_errors

    try:
        module = reader(*arguments)
    except (ParseError, InvalidText) as error:
        return "\n".join(f"{e.span.start}-{e.span.end}: {e.msg}" for e in parse_errors(error)), None
    except Exception as error:
        return f"{type(error).__name__}: {error}", None
    return description(module), module


def attempt(work: Callable[..., str], *arguments: object) -> str:
    """Return the result of some work, or the error with which it fails."""
    try:
        return work(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def description(module: Operation) -> str:
    """Return all that there is of a module: ops, values with their names and uses, attributes."""
    values, blocks, ops = dict[SSAValue, str](), dict[object, str](), dict[Operation, int]()
    for number, op in enumerate(module.walk()):
        ops[op] = number
        for value in values_of(op):
            values[value] = f"%{len(values)}"
        for region in op.regions:
            for block in region.blocks:
                blocks[block] = f"^{len(blocks)}"
    return "\n".join(_lines(module, values, blocks, ops))


def _lines(
    root: Operation,
    values: dict[SSAValue, str],
    blocks: dict[object, str],
    ops: dict[Operation, int],
) -> Iterator[str]:
    for op in root.walk():
        yield " ".join(
            (
                f"{ops[op]} {op.name} {type(op).__name__} in {blocks.get(op.parent)}",
                f"({', '.join(values.get(operand, '?') for operand in op.operands)})",
                f"{[blocks.get(block) for block in op.successors]}",
                f"<{texts(op.properties)}> {{{texts(op.attributes)}}} at {texts(op.location)}",
            )
        )
        for value in values_of(op):
            uses = [(ops.get(use.operation), use.index) for use in value.uses]
            yield f"  {values[value]} {value.name_hint} {texts(value.type)} {uses}"
        for region in op.regions:
            yield f"  {[f'{blocks[b]} {b.name_hint} {len(b.args)}' for b in region.blocks]}"


def values_of(op: Operation) -> list[SSAValue]:
    """Return the results of an op, and the arguments of its blocks."""
    return [*op.results, *(arg for r in op.regions for block in r.blocks for arg in block.args)]


def texts(fields: object) -> str:
    """Return the text of fields of an op, of operations, values and blocks only the class."""
    if isinstance(fields, Attribute):
        if id(fields) not in _KNOWN:  # xDSL needs some 50 us for each
            _KNOWN[id(fields)] = fields, attempt(str, fields)
        return _KNOWN[id(fields)][1]
    if isinstance(fields, SSAValue):
        value = cast(SSAValue, fields)
        return f"{type(value).__name__} {texts(value.type)} {value.name_hint}"
    if isinstance(fields, dict):
        named = cast(dict[str, object], fields)
        return ", ".join([f"{name} = {texts(value)}" for name, value in named.items()])
    if isinstance(fields, tuple | list | OpOperands):
        return ", ".join([texts(value) for value in cast(Sequence[object], fields)])
    return type(fields).__name__


def difference(expected: str, found: str) -> str:
    """Return the first line in which two texts differ, in both."""
    lines = zip_longest(expected.split("\n"), found.split("\n"), fillvalue="nothing")
    one, other = next(pair for pair in lines if pair[0] != pair[1])
    return f"'{shorten(one, 100)}' is '{shorten(other, 100)}'"


_KNOWN: dict[int, tuple[Attribute, str]] = {}


MIN_VALID = 15
"""The modules of the sample that are valid, of 23, with an xDSL that can be used."""
BELOW = ("fields", "locating")
"""The parts on whose results those of others depend."""
SECONDS = 60
"""The time after which a process that works on the sample is given up."""


def verdict_on(checksum: str) -> Verdict:
    """Return the verdict on an xDSL whose files have a checksum: a kept one, or a new one."""
    try:
        file = _folder() / f"xdsl-{checksum}-{_stamp()}.json"
        if (known := _load(file)) is not None:
            return known
        _store(file, None)
    except (OSError, RuntimeError):  # also of `Path.home`, if there is none
        return Verdict((), "it was not tried with this release, and the cache cannot be written")
    try:
        verdict = compared(checksum)
        _store(file, verdict)
    except OSError as error:  # of starting a process, or of a disk that is full now
        return Verdict((), f"it cannot be tried: {error}")
    return verdict


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "passline")


def _stamp() -> str:
    """Return a text that changes with each file of ours that takes part."""
    root = Path(__file__).parents[1]
    files = sorted([*root.rglob("*.py"), *root.rglob("*.mlir")])
    stamps = [f"{f} {s.st_size} {s.st_mtime_ns}" for f in files for s in [f.stat()]]
    return f"{crc32(repr((sys.version, stamps)).encode()):08x}"


def _load(file: Path) -> Verdict | None:
    """Return the verdict in a file; None if there is none, or a damaged one."""
    try:
        parts, difference = json.loads(file.read_text(encoding="utf-8"))
        if {*parts} <= {*PARTS, *REPLACED} and isinstance(difference, str):
            return Verdict(tuple(parts), difference)
    except (OSError, ValueError, TypeError):
        pass
    return None


def _store(file: Path, verdict: Verdict | None) -> None:
    """Keep a verdict, or only try whether the folder can be written; OSError if it cannot."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as new:
        json.dump(verdict, new)
    os.replace(new.name, file) if verdict else os.unlink(new.name)


def compared(checksum: str) -> Verdict:
    """Return the parts that do the same as xDSL on the sample, and the first difference."""
    parts: Sequence[str] = [*PARTS, *REPLACED]
    plain, process, first = _start(()), _start(parts), ""
    expected = _finish(plain)
    while parts:
        found = _finish(process)
        if not {expected.checksum, found.checksum} <= {checksum, ""}:
            return Verdict((), "its files were changed while it was tried")
        if expected.failure or not expected.is_usable:
            return Verdict((), expected.failure or "it reads next to nothing of the sample")
        differences: dict[str, str] = dict(_differences(expected, found))
        for part in BELOW:  # what is above it differs, too
            if part in differences:
                differences = {part: differences[part]}
        first = first or next(iter(differences.values()), "")
        # A part that is left to xDSL does not differ of itself.
        if not set(parts).intersection(differences):
            return Verdict(() if differences else tuple(parts), first)
        parts = [part for part in parts if part not in differences]
        if "locating" not in parts:  # from which the fast reader derives
            parts = [part for part in parts if part != "reading"]
        process = _start(parts)
    return Verdict((), first)


class _Outcome(NamedTuple):
    """The results of a process that worked on the sample, or why it failed."""

    checksum: str = ""
    """The checksum of the files of xDSL that it used; empty if it failed."""
    results: Sequence[tuple[str, str, str]] = ()
    failure: str = ""
    failed_part: str = ""
    """The part that could not be made; empty if that is not known."""

    @property
    def is_usable(self) -> bool:
        """Whether enough of the sample is valid, so that it says something."""
        verified = [text for part, _, text in self.results if part == "verifying"]
        return sum(text.startswith("valid") for text in verified) >= MIN_VALID


def _start(parts: Collection[str]) -> Popen[str]:
    """Start a process that works on the sample with some parts accelerated."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__package__}.sample import main; main()"
    setting = {SETTING: ",".join(parts) or NONE, "PYTHONHASHSEED": "0"}
    environment = {name: text for name, text in os.environ.items() if name != OFF} | setting
    command = [sys.executable, "-c", code]
    return Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, text=True, env=environment)


def _finish(process: Popen[str]) -> _Outcome:
    try:
        return _Outcome(**json.loads(process.communicate(timeout=SECONDS)[0]))
    except TimeoutExpired:
        process.kill()
        return _Outcome(failure=f"it takes more than {SECONDS} s on the sample")
    except (ValueError, TypeError):
        return _Outcome(failure=f"it ends with status {process.returncode} on the sample")


def _differences(expected: _Outcome, found: _Outcome) -> Iterator[tuple[str, str]]:
    """Yield the parts that differ, each with its first difference."""
    if found.failure:
        parts = [found.failed_part] if found.failed_part else [*PARTS, *REPLACED]
        yield from ((part, f"{part}: {found.failure}") for part in parts)
        return
    without = {(part, place): text for part, place, text in expected.results}
    known: set[str] = set()
    for part, place, text in found.results:
        if part == PLAIN_READING:
            without["reading", place] = text
        elif part not in known and (other := without.get((part, place))) != text:
            known.add(part)
            yield part, f"{part} differs at {place}: {difference(other or '', text)}"
