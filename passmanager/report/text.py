"""Records as text: the reports that instruments print in a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from typing import Any, Literal

from ..instruments.ir_text import banner
from ..instruments.statistics import PassStatistics, StatisticsInstrument
from ..instruments.timing import PassTimingInstrument
from .recording import Recording, Step

__all__ = ["diff_text", "statistics_text", "timing_text"]


def timing_text(recording: Recording, kind: Literal["tree", "list", "json"] = "tree") -> str:
    """Return the times, as `PassTimingInstrument.report`."""
    timing = PassTimingInstrument()
    timing.sessions = recording.sessions()
    return timing.report(kind)


def statistics_text(recording: Recording, kind: Literal["text", "json"] = "text") -> str:
    """Return the statistics, as `StatisticsInstrument.report`.

    In a record that was cut off, the ops created and erased are unknown.
    """
    statistics = StatisticsInstrument()
    recorded = [event for event in recording.events if event["event"] == "statistics"]
    if recorded:
        statistics.passes = {
            name: _statistics(found) for name, found in recorded[-1]["passes"].items()
        }
    else:
        statistics.passes = _counted(recording)
    return statistics.report(kind)


def _statistics(found: dict[str, Any]) -> PassStatistics:
    counters, created, erased = (
        Counter[str](found[kind]) for kind in ("counters", "created", "erased")
    )
    runs, changed, failed = found["runs"], found["changed"], found["failed"]
    return PassStatistics(runs, changed, failed, counters, created, erased)


def _counted(recording: Recording) -> dict[str, PassStatistics]:
    """Return the statistics that the ends of passes give."""
    begins, passes = recording.begins(), dict[str, PassStatistics]()
    for event in recording.events:
        if event["event"] in ("end", "fail") and not (begin := begins[event["pass"]])["composite"]:
            found = passes.setdefault(begin["name"], PassStatistics())
            failed = event["event"] == "fail"
            found.runs += 1
            found.changed += event["changed"] and not failed
            found.failed += failed
            found.counters.update(event.get("counters", {}))
    return passes


def diff_text(recording: Recording) -> str:
    """Return the changes of each pass as unified diffs, one for each top-level op."""
    return "".join(line + "\n" for step in recording.steps() for line in _diff(recording, step))


def _diff(recording: Recording, step: Step) -> Iterator[str]:
    name, text = step.begin["name"], step.begin["text"]
    title = name if name == text else f"{name}: {text}"
    yield banner(f"IR Diff After {title}" + " Failed" * (step.end["event"] == "fail"))
    for pair in step.replaced:
        before, after = ([] if hash is None else _lines(recording, hash) for hash in pair)
        yield from [*unified_diff(before, after, lineterm="")][2:]  # without the names of files
    yield ""


def _lines(recording: Recording, hash: str) -> list[str]:
    text: str = recording.texts[hash]["text"]
    return text.split("\n")
