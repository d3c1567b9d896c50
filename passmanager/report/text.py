"""Records as text: the reports that instruments print in a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ..instruments.ir.diff import unified
from ..instruments.ir.ir_text import banner
from ..instruments.ir.record import Event
from ..instruments.time.statistics import PassStatistics, StatisticsInstrument
from ..instruments.time.timing import PassTimingInstrument
from .recording import RecordedChange, Recording

__all__ = ["diff_text", "statistics_text", "timing_text"]


def timing_text(recording: Recording, kind: Literal["tree", "list", "json"] = "tree") -> str:
    """Return the times, as `PassTimingInstrument.report`."""
    timing = PassTimingInstrument()
    timing.sessions = recording.sessions()
    return timing.report(kind)


def statistics_text(recording: Recording, kind: Literal["text", "json"] = "text") -> str:
    """Return the statistics of leaf passes, as `StatisticsInstrument.report`."""
    statistics, begins = StatisticsInstrument(), recording.begins()
    for event in recording.events:
        if event["event"] in ("end", "fail") and not (begin := begins[event["pass"]])["composite"]:
            _add(statistics.passes.setdefault(begin["name"], PassStatistics()), event)
    return statistics.report(kind)


def _add(found: PassStatistics, event: Event) -> None:
    """Add a run of a pass, given by its end, to the statistics of the pass."""
    failed = event["event"] == "fail"
    found.runs += 1
    found.failed += failed
    found.changed += event["changed"] and not failed
    found.counters.update(event.get("counters", {}))
    if not failed:
        found.created.update(event.get("created", {}))
        found.erased.update(event.get("erased", {}))


def diff_text(recording: Recording) -> str:
    """Return the changes of each pass as unified diffs, one for each top-level op."""
    passes = (step for step in recording.steps() if step.end is not step.begin)
    return "".join(line + "\n" for step in passes for line in _diff(recording, step))


def _diff(recording: Recording, step: RecordedChange) -> Iterator[str]:
    if not (pairs := recording.replaced(step)):
        return
    name, text = step.begin["name"], step.begin["text"]
    title = name if name == text else f"{name}: {text}"
    yield banner(f"IR Diff After {title}" + " Failed" * (step.end["event"] == "fail"))
    for pair in pairs:
        before, after = ([] if hash is None else _lines(recording, hash) for hash in pair)
        yield from unified(before, after)
    yield ""


def _lines(recording: Recording, hash: str) -> list[str]:
    text: str = recording.texts[hash]["text"]
    return text.split("\n")
