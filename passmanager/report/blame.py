"""Blame: which pass and pattern made each operation of a result, and which erased one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..instruments.ir_text import banner
from ..instruments.record import Event
from .recording import Recording, State, numbers_in

__all__ = ["blame_text", "erased_text"]


class _Origin(NamedTuple):
    """A pass and the pattern of it, empty if it was none."""

    begin: Event
    pattern: str

    def __str__(self) -> str:
        return f"{self.begin['name']} {self.pattern}".rstrip()


def blame_text(recording: Recording) -> str:
    """Return the IR at the end of each run with, for each op, the pass and the pattern that made
    it, and its location in the source.

    An op that was there at the start is from the input. A pass that changes an op in place does not
    make it.
    """
    lines: list[str] = []
    for run, states in recording.final_states().items():
        lines.append(banner("IR Blame"))
        origins = _origins(recording, run)
        lines += _table([row for state in states for row in _rows(recording, origins, state)])
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def _rows(
    recording: Recording, origins: Mapping[int, _Origin], state: State
) -> Iterator[tuple[str, str, str]]:
    """Yield the origin, the source and the text of each line of a top-level op."""
    event = recording.texts[state.hash]
    numbers = numbers_in(state.numbers)
    ops = {op[1]: (str(origins.get(n, "input")), op[4]) for op, n in zip(event["ops"], numbers)}
    for line, text in enumerate(event["text"].split("\n")):
        yield *ops.get(line, ("", "")), text


def _table(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    origins, sources = (max((len(row[i]) for row in rows), default=0) for i in (0, 1))
    for origin, source, text in rows:
        yield f"{origin:{origins}}  {source:{sources}} | {text}"


def _origins(recording: Recording, run: int) -> Mapping[int, _Origin]:
    """Return the origin of each op of a run that a pass made, by number."""
    begins = recording.begins()
    return {
        number: _Origin(begins[event["pass"]], pattern)
        for event in recording.events
        if "created_by" in event and begins[event["pass"]]["run"] == run
        for pattern, numbers in event["created_by"].items()
        for number in numbers
    }


def erased_text(recording: Recording, wanted: str) -> str:
    """Return a line for each erased op whose text or location contains `wanted`.

    An op that a pass both makes and erases is not recorded.
    """
    return (
        "".join(f"{line}\n" for line in _erased(recording, wanted))
        or f"no erased operation contains '{wanted}'\n"
    )


def _erased(recording: Recording, wanted: str) -> Iterator[str]:
    for step in recording.steps():
        patterns = {n: p for p, ns in step.end.get("erased_by", {}).items() for n in ns}
        for state in step.old:
            event = recording.texts[state.hash]
            lines: list[str] = event["text"].split("\n")
            for op, number in zip(event["ops"], numbers_in(state.numbers)):
                line: int = op[1]
                text, source = lines[line].strip(), op[4]
                if number in patterns and (wanted in text or wanted in source):
                    origin = _Origin(step.begin, patterns[number])
                    place = step.begin["position"]
                    by = f"by {origin}{f' ({place})' if place else ''}"
                    yield f"{source}: erased {by}: {text}" if source else f"erased {by}: {text}"
