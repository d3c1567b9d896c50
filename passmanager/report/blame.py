"""Blame: which pass and pattern made each operation of a result, and which moved or erased one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from ..instruments.printing import banner
from ..instruments.record_writer import Event
from .record_reader import Record, RecordedChange, State, numbers_in


class _Origin(NamedTuple):
    """A pass and the pattern of it, empty if it was none."""

    begin: Event
    pattern: str

    def __str__(self) -> str:
        return f"{self.begin['name']} {self.pattern}".rstrip()


def blame_text(record: Record) -> str:
    """Return the IR at the end of each run with, for each op, the pass and the pattern that made
    it, those that moved it into another op, and its location in the source.

    An op that was there at the start is from the input. A pass that changes an op in place does not
    make it.
    """
    lines: list[str] = []
    for rows in blame_rows(record):
        lines += [banner("IR Blame"), *_table(rows), ""]
    return "".join(f"{line}\n" for line in lines)


def blame_rows(record: Record) -> Iterator[list[tuple[str, str, str]]]:
    """Yield for each run the origin, the source and the text of each line of the IR at its end; a
    line that begins no op has neither origin nor source."""
    for run, states in record.final_states().items():
        origins = _origins(record, run)
        yield [row for state in states for row in _rows(record, origins, state)]


def _rows(
    record: Record, origins: Mapping[int, str], state: State
) -> Iterator[tuple[str, str, str]]:
    """Yield the origin, the source and the text of each line of a top-level op."""
    event = record.texts[state.hash]
    numbers = numbers_in(state.numbers)
    ops = {op[1]: (origins.get(n, "input"), op[4]) for op, n in zip(event["ops"], numbers)}
    for line, text in enumerate(event["text"].split("\n")):
        yield *ops.get(line, ("", "")), text


def _table(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    origins, sources = (max((len(row[i]) for row in rows), default=0) for i in (0, 1))
    for origin, source, text in rows:
        yield f"{origin:{origins}}  {source:{sources}} | {text}"


def _origins(record: Record, run: int) -> Mapping[int, str]:
    """Return the origin of each op of a run that a pass made or moved, by number."""
    begins = record.begins()
    found: dict[int, str] = {}
    for event in record.events:
        if "pass" not in event or begins[event["pass"]]["run"] != run:
            continue
        begin = begins[event["pass"]]
        for pattern, numbers in event.get("created_by", {}).items():
            found |= dict.fromkeys(numbers, str(_Origin(begin, pattern)))
        for number in chain(*event.get("moved", {}).values()):
            found[number] = f"{found.get(number, 'input')}, moved by {begin['name']}"
    return found


def erased_text(record: Record, wanted: str) -> str:
    """Return a line for each op whose text or location contains `wanted` and that was erased, or
    merged with an equal one, or moved into another op.

    An op that a pass both makes and erases is not recorded.
    """
    return (
        "".join(f"{line}\n" for line in _gone(record, wanted))
        or f"no erased or moved operation contains '{wanted}'\n"
    )


def _gone(record: Record, wanted: str) -> Iterator[str]:
    places = record.places()
    for step in record.steps():
        if step.begin is step.end:
            continue
        fates = _fates(step, places.get(step.begin["pass"], ""))
        for state in step.old:
            event = record.texts[state.hash]
            lines: list[str] = event["text"].split("\n")
            for op, number in zip(event["ops"], numbers_in(state.numbers)):
                line: int = op[1]
                text, source = lines[line].strip(), op[4]
                if number in fates and (wanted in text or wanted in source):
                    fate = fates[number]
                    yield f"{source}: {fate}: {text}" if source else f"{fate}: {text}"


def _fates(step: RecordedChange, place: str) -> dict[int, str]:
    """Return what a pass did to each op that it erased, merged or moved, by the number."""
    at = f" ({place})" if place else ""
    found: dict[int, str] = {}
    for pattern, numbers in step.end.get("erased_by", {}).items():
        found |= dict.fromkeys(numbers, f"erased by {_Origin(step.begin, pattern)}{at}")
    name = step.begin["name"]
    for holder, pairs in step.end.get("merged", {}).items():
        fate = f"merged by {name}{at} with the equal operation in {holder}"
        found |= {number: fate for number, _ in pairs}
    for holder, numbers in step.end.get("moved", {}).items():
        found |= dict.fromkeys(numbers, f"moved by {name}{at} into {holder}")
    return found
