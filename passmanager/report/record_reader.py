"""The reader of records: events, spans of time, and the IR before and after each pass."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, cast

from ..errors import PasslineError
from ..instruments.record_writer import FORMAT, Event
from ..instruments.spans import Span

__all__ = ["Record", "RecordedChange", "Replacement", "State", "numbers_in", "read_record"]

Replacement: TypeAlias = tuple[str | None, str | None]
"""The hashes of a top-level op before and after a pass; None if it was added or removed."""


class State(NamedTuple):
    """A top-level op at one time: the hash of its text, and the numbers of the ops in that."""

    hash: str
    numbers: str


@dataclass(frozen=True)
class RecordedChange:
    """A change of IR, by a pass or at the start of a run.

    `begin` and `end` are the events of the pass, or both the event `run`; `old` and `new` are the
    top-level ops that were replaced and those in their place.
    """

    begin: Event
    end: Event
    old: list[State]
    new: list[State]


@dataclass
class Record:
    """A record that was read; `texts` has the events `ir` by hash, `events` the others."""

    events: list[Event] = field(default_factory=list[Event])
    texts: dict[str, Event] = field(default_factory=dict[str, Event])
    title: str = ""
    cut_off: bool = False
    """Whether the record ends before the run does, as when the process was killed."""

    def begins(self) -> dict[int, Event]:
        """Return the events `begin` by the number of the pass."""
        return {event["pass"]: event for event in self.events if event["event"] == "begin"}

    def places(self) -> dict[int, str]:
        """Return, by number, the position of each pass among all passes that ran, as `3 of 7`.
        Composites are not counted."""
        leaves = [n for n, begin in self.begins().items() if not begin["composite"]]
        return {number: f"{i} of {len(leaves)}" for i, number in enumerate(leaves, 1)}

    def steps(self) -> Iterator[RecordedChange]:
        """Yield the changes of IR in the order in which they were recorded."""
        states: dict[int, list[State]] = {}
        begins = self.begins()
        for event in self.events:
            if "ir" not in event:
                continue
            begin = begins[event["pass"]] if "pass" in event else event
            state = states.setdefault(begin["run"], [])
            step = RecordedChange(begin, event, [], [])
            numbers = iter(event["numbers"])
            for start, end, hashes in event["ir"]:
                new = [State(hash, next(numbers)) for hash in hashes]
                step.old.extend(state[start:end])
                step.new.extend(new)
                state[start:end] = new
            yield step

    def final_states(self) -> dict[int, list[State]]:
        """Return the top-level ops at the end of each run."""
        states: dict[int, list[State]] = {}
        for step in self.steps():
            numbers = iter(step.new)
            for start, end, hashes in step.end["ir"]:
                new = [next(numbers) for _ in hashes]
                states.setdefault(step.begin["run"], [])[start:end] = new
        return states

    def replaced(self, step: RecordedChange) -> list[Replacement]:
        """Return each new op with the old one of the same symbol, then the old ops that are gone.

        Ops whose text stays are left out.
        """
        old, new = ([state.hash for state in states] for states in (step.old, step.new))
        return [*self._paired(old, new)]

    def _paired(self, old: list[str], new: list[str]) -> Iterator[Replacement]:
        kept = {*old} & {*new}
        gone = {self._key(hash): hash for hash in old if hash not in kept}
        for hash in new:
            if hash not in kept:
                yield gone.pop(self._key(hash), None), hash
        yield from ((hash, None) for hash in gone.values())

    def _key(self, hash: str) -> tuple[str, str]:
        """Return what an op and its replacement have in common: the symbol. An op without one has
        no replacement; its key is its text."""
        event = self.texts[hash]
        return (event["op"], event["symbol"]) if event["symbol"] else ("", hash)

    def sessions(self) -> list[Span]:
        """Return the sessions with the passes, analyses and phases nested in them.

        Sessions are recorded when they end: what none is recorded around, as the record was cut
        off, gets a session of its own.
        """
        # Outer spans first, so that the stack `around` has what may contain the next one.
        spans = sorted(self._spans(), key=lambda span: (span.thread, span.began, -span.seconds))
        sessions: list[Span] = []
        around: list[Span] = []
        for span in spans:
            while around and not _contains(around[-1], span):
                around.pop()
            if around:
                around[-1].children.append(span)
            else:
                if span.name != "session":
                    ended = span.ended
                    span, inner = Span("session", span.began, thread=span.thread), span
                    span.ended, span.children = ended, [inner]
                    around.append(span)
                    span = inner
                sessions.append(around[-1] if around else span)
            around.append(span)
        return sessions

    def _spans(self) -> Iterator[Span]:
        begins = self.begins()
        for event in self.events:
            kind = event["event"]
            if kind in ("end", "fail"):
                begin = begins[event["pass"]]
                span = Span(begin["name"], begin["time"], "pass", begin["text"], begin["position"])
                span.thread, span.ended = begin["thread"], event["time"]
                span.verify_seconds, span.failed = event["verify_seconds"], kind == "fail"
                span.changed = event["changed"]
                yield span
            elif kind in ("analysis", "phase", "session"):
                span = Span(event["name"], event["time"], "analysis")
                span.category = "analysis" if kind == "analysis" else "phase"
                span.thread, span.ended = event["thread"], event["time"] + event["seconds"]
                span.failed = event["failed"]
                yield span


MAX_OPS = 1 << 26
"""The most numbers in a range: a few bytes of a damaged record must not fill the memory."""


def numbers_in(ranges: str) -> list[int]:
    """Return the numbers in a text such as `3-5,9`; ValueError for a range of more than MAX_OPS."""
    found: list[int] = []
    for part in filter(None, ranges.split(",")):
        first, _, last = part.partition("-")
        numbers = range(int(first), int(last or first) + 1)
        if len(numbers) > MAX_OPS:
            raise ValueError(f"the range '{part}' has more than {MAX_OPS} operations")
        found += numbers
    return found


def _contains(outer: Span, inner: Span) -> bool:
    # Times are rounded to a tenth of a microsecond, by which each of the two ends may be off.
    ended = outer.began + outer.seconds + 2e-7
    same_thread = outer.thread == inner.thread
    return same_thread and inner.began < ended and inner.began + inner.seconds <= ended


def read_record(lines: Iterable[str]) -> Record:
    """Read a record; PasslineError if the lines are not a record, or one of a later format.

    A last line that is incomplete is left out.
    """
    found = Record()
    number, incomplete = 0, False
    for number, line in enumerate(lines, 1):
        if incomplete:
            raise PasslineError(f"line {number - 1} of the record is not JSON")
        event = _event(line)
        if number == 1:
            found.title = _title(event)
        elif event is None:
            incomplete = True
        elif event["event"] == "ir":
            found.texts[event["hash"]] = event
        else:
            found.events.append(event)
    if number == 0:
        raise PasslineError("the record is empty")
    found.cut_off = incomplete or not found.events or found.events[-1]["event"] != "session"
    return found


def _event(line: str) -> Event | None:
    try:
        event: object = json.loads(line)
    except ValueError:
        return None
    if not isinstance(event, dict) or "event" not in event:
        return None
    return cast(dict[str, Any], event)


def _title(event: Event | None) -> str:
    """Return the title in the first line; PasslineError if that is not the head of a record."""
    if event is None or event["event"] != "record":
        raise PasslineError("this is not a record of a run; --record=FILE.jsonl writes one")
    if event["format"] > FORMAT:
        raise PasslineError(
            f"the record has format {event['format']}; this version reads up to {FORMAT}"
        )
    return event.get("title", "")
