"""Instruments that measure the time of passes, and profile one."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from cProfile import Profile
from io import StringIO
from os import PathLike
from pstats import SortKey, Stats
from typing import Literal, TypeAlias

from ..names import did_you_mean, name_key
from ..output.html import Html, Number, block, element, table
from ..run import PassFrame, Run
from .nesting import Entry, NestingInstrument, anchor_row, by_anchor, report_header
from .spans import Span, SpanInstrument

# The instrument that measures the time of passes.


Json: TypeAlias = "dict[str, str | float | bool | list[Json]]"


class PassTimingInstrument(SpanInstrument):
    """An instrument that times passes, nested in their pipelines, the analyses computed in them, as
    `(A) CallGraph`, and the phases of a tool.

    The times stay readable after the context is left. It takes about 3 microseconds a pass. Source:
    `tvm.ir.instrument.PassTimingInstrument`. Of the time in which workers ran several passes, each
    pass has the share that it took of the work.
    """

    observes_ir = False

    def render(self) -> str:
        """Return a line for each pass in TVM's format: `name: total [own] (share of all; share of
        the parent)`, times in whole microseconds.
        """
        whole = sum(span.seconds for span in self.spans)
        return "".join(_tvm_lines(self.spans, 0, whole, whole))

    def report(self, kind: Literal["tree", "list", "json"] = "tree") -> str:
        """Return the times in MLIR's format, as a tree of passes or a list by name, or as JSON.

        `Rest` is the time in the context outside of passes and phases. The list counts each second
        once, for the innermost pass.
        """
        if kind == "json":
            return json.dumps(self._document(), indent=2) + "\n"
        if not self.spans:
            return ""
        rows = self._tree() if kind == "tree" else self._list()
        total = f"  Total Execution Time: {self._total:.4f} seconds"
        return "\n".join([*report_header("Execution time report"), total, "", *rows]) + "\n"

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        count = sum(span.category == "pass" for span in _walk(self.spans))
        return f"<{self.name}: {count} passes in {self._total:.4f} seconds>"

    def _repr_html_(self) -> str:
        total = self._total
        rows = [
            (name, Number(f"{1e3 * wall:.3f}"), Number(f"{1e3 * own:.3f}"), _bar(wall, total))
            for name, wall, own in [*_tree_rows(self.spans, 0), ("Rest", self._rest, self._rest)]
        ]
        header = ("pass", "wall ms", "self ms", "share")
        return block(element("p", repr(self).strip("<>")), table(header, rows))

    @property
    def _total(self) -> float:
        return sum(session.seconds for session in self.sessions)

    @property
    def _rest(self) -> float:
        return sum(session.own_seconds for session in self.sessions)

    def _document(self) -> Json:
        return {
            "seconds": self._total,
            "rest_seconds": self._rest,
            "children": [_json(span) for span in self.spans],
        }

    def _tree(self) -> Iterator[str]:
        total, rest = self._total, self._rest
        yield "  ----Wall Time----  ----Self Time----  ----Name----"
        for name, wall, own in [
            *_tree_rows(self.spans, 0),
            ("Rest", rest, rest),
            ("Total", total, total),
        ]:
            yield f"{_share(wall, total)}  {own:17.4f}  {name}"

    def _list(self) -> Iterator[str]:
        total = self._total
        yield "  ----Self Time----  --Count--  ----Name----"
        for own, count, name in [
            *_list_rows(self.spans),
            (self._rest, "", "Rest"),
            (total, "", "Total"),
        ]:
            yield f"{_share(own, total)}  {count:>9}  {name}"


def _share(seconds: float, total: float) -> str:
    return f"  {seconds:8.4f} ({100 * seconds / total if total else 0:5.1f}%)"


def _bar(seconds: float, total: float) -> Html:
    """Return a bar whose length is the share of `seconds` in `total`."""
    share = 100 * seconds / total if total else 0
    return element("div", class_="bar", style=f"width: {share:.1f}px", title=f"{share:.1f}%")


def _label(span: Span) -> str:
    return f"{span.name} (failed)" if span.failed else span.name


def _tree_rows(spans: list[Span], depth: int, level: int = 0) -> Iterator[tuple[str, float, float]]:
    """Yield name, wall time and self time of each span, followed by its children and its
    verification; passes in a row with one anchor are below a row of that, at its `level`.
    """
    indent = "  " * depth
    for anchor, group in by_anchor(spans, lambda span: span.anchors, level):
        if anchor:
            yield indent + anchor_row(anchor), sum(span.seconds for span in group), 0.0
            yield from _tree_rows(group, depth + 1, level + 1)
            continue
        for span in group:
            yield indent + _label(span), span.seconds, span.self_seconds
            yield from _tree_rows(span.children, depth + 1)
            if span.verify_seconds:
                yield f"{indent}  verify", span.verify_seconds, span.verify_seconds


def _list_rows(spans: list[Span]) -> list[tuple[float, int, str]]:
    """Return self time, number of runs and name, summed up by name, the longest first."""
    times: dict[str, list[float]] = {}
    failures: dict[str, int] = {}
    for span in _walk(spans):
        times.setdefault(span.name, []).append(span.self_seconds)
        failures[span.name] = failures.get(span.name, 0) + span.failed
        if span.verify_seconds:
            times.setdefault("verify", []).append(span.verify_seconds)
    rows = [(sum(own), len(own), name) for name, own in times.items()]
    rows.sort(key=lambda row: -row[0])
    return [
        (own, count, f"{name} ({failed} failed)" if (failed := failures.get(name)) else name)
        for own, count, name in rows
    ]


def _walk(spans: list[Span]) -> Iterator[Span]:
    for span in spans:
        yield span
        yield from _walk(span.children)


def _json(span: Span) -> Json:
    return {
        "name": span.name,
        "text": span.text,
        "seconds": span.seconds,
        "self_seconds": span.self_seconds,
        "verify_seconds": span.verify_seconds,
        "failed": span.failed,
        "children": [_json(child) for child in span.children],
    }


def _tvm_lines(spans: list[Span], depth: int, whole: float, parent: float) -> Iterator[str]:
    for span in spans:
        shares = f"({_percent(span.seconds, whole)}; {_percent(span.seconds, parent)})"
        times = f"{span.seconds * 1e6:.0f}us [{span.own_seconds * 1e6:.0f}us]"
        yield "\t" * depth + f"{span.name}: {times} {shares}\n"
        yield from _tvm_lines(span.children, depth + 1, whole, span.seconds)


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole if whole else 0:.2f}%"


# The instrument that profiles one pass, function by function.


class ProfileInstrument(NestingInstrument[Profile | None]):
    """An instrument that profiles all runs of the pass `name`, in any spelling, together, and no
    other pass.

    Passes nested in it and its verification are included. Profiling makes the pass about 4 times
    slower; others pay 2 microseconds. Errors: RuntimeError, when the pass starts, if another
    profiler is active in the thread.
    """

    def __init__(self, name: str, limit: int = 30) -> None:
        super().__init__()
        self.pass_name = name
        self.limit = limit
        self._key = name_key(name)
        self._lock = threading.Lock()
        self._stats: Stats | None = None
        self._ran: set[str] = set()

    def begin(self, run: Run, outer: Entry[Profile | None] | None) -> Profile | None:
        info = run.frames[-1].info
        self._ran.add(info.name)
        if info.key != self._key or any(entry.item for entry in self._here.open):
            return None
        profile = Profile()
        self._enable(profile)
        return profile

    def end(self, item: Profile | None, run: Run, frame: PassFrame, failed: bool) -> None:
        if item is None:
            return
        item.disable()
        with self._lock:
            if self._stats is None:
                self._stats = Stats(item)
            else:
                self._stats.add(item)

    def _enable(self, profile: Profile) -> None:
        active = sys.getprofile()
        try:
            if active is None:  # else Python 3.11 would replace it silently
                profile.enable()
                return
        except ValueError as error:  # from Python 3.12 on
            active = error
        raise RuntimeError(
            f"pass '{self.pass_name}' cannot be profiled while another profiler is active "
            f"in this thread: {active}"
        )

    def report(self) -> str:
        """Return the `limit` functions with the longest cumulative times."""
        if self._stats is None:
            hint = did_you_mean(self.pass_name, self._ran)
            return f"no profile: pass '{self.pass_name}' did not run{hint}\n"
        self._stats.stream = text = StringIO()  # pyright: ignore[reportAttributeAccessIssue]
        # The last key gives functions of equal times a fixed order.
        self._stats.sort_stats(SortKey.CUMULATIVE, SortKey.TIME, SortKey.NFL)
        self._stats.print_stats(self.limit)
        return text.getvalue()

    def dump(self, path: str | PathLike[str]) -> None:
        """Write the profile to a file for pstats, snakeviz and other tools; no file if the pass did
        not run.
        """
        if self._stats is not None:
            self._stats.dump_stats(path)
