"""The report of a run: as a page of HTML, and as text."""

from __future__ import annotations

import json
import os
import re
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from time import perf_counter
from typing import Any, Literal

from ..instruments.diff import unified
from ..instruments.printing import banner
from ..instruments.record_writer import Event, RecordInstrument
from ..instruments.statistics import PassStatistics, StatisticsInstrument
from ..instruments.timing import PassTimingInstrument
from ..output.files import check_writable, replace_file
from .record_reader import Record, RecordedChange

__all__ = ["ReportInstrument", "diff_text", "render_page", "statistics_text", "timing_text"]


# The page of a record: one HTML file with its scripts and data, which needs no network.


_SCRIPTS = ("diff.min.js", "uplot.min.js", "dagre.min.js")
"""The libraries that are plain scripts, each with one global name."""

_MODULES = {"highlight.js": "highlight.core.min.js"}
"""The libraries that are modules: name in imports -> file."""


def render_page(record: Record, title: str = "") -> str:
    """Return the page as one HTML document, by default with the title in the record.

    Data is compressed and in base64, so that nothing in a record can end a script or a tag. Scripts
    run by a nonce, which depends on all of the data: no record can contain its own.
    """
    texts = "".join(_text_elements(record))
    events = _packed(_main_data(record))
    parts = {
        "title": escape(title or record.title or "Passline"),
        "nonce": sha256((events + texts).encode()).hexdigest()[:32],
        "style": _vendored("uplot.min.css") + _own("style.css"),
        "imports": _import_map(),
        "events": events,
        "texts": texts,
    }
    scripts = "\n".join(
        f'<script nonce="{parts["nonce"]}">{_inline(_vendored(name))}</script>' for name in _SCRIPTS
    )
    return Template(_own("page.html")).substitute(parts, scripts=scripts)


def _main_data(record: Record) -> dict[str, Any]:
    """Return all but the texts: the events, and by hash what the page shows of texts unopened."""
    return {
        "events": record.events,
        "cut_off": record.cut_off,
        "texts": {
            hash: [event["op"], event["symbol"], event["text"].count("\n") + 1, len(event["ops"])]
            for hash, event in record.texts.items()
        },
    }


def _text_elements(record: Record) -> Iterator[str]:
    """Yield an inert element for each text; the page unpacks it when it is shown."""
    for hash, event in record.texts.items():
        data = _packed({"text": event["text"], "ops": event["ops"]})
        yield f'<script type="text/plain" id="ir-{escape(hash)}">{data}</script>\n'


def _packed(data: object) -> str:
    return b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 6)).decode()


def _import_map() -> str:
    """Return the import map of the page: each module as a data URL."""
    own = sorted(file.name for file in _folder("page").iterdir() if file.name.endswith(".js"))
    sources = {name: _own(name) for name in own}
    sources |= {name: _vendored(file) for name, file in _MODULES.items()}
    return json.dumps({"imports": {name: _data_url(text) for name, text in sources.items()}})


def _data_url(source: str) -> str:
    return f"data:text/javascript;base64,{b64encode(source.encode()).decode()}"


def _inline(script: str) -> str:
    """Return a script as the content of an element, without the reference to its source map."""
    script = re.sub(r"^//# sourceMappingURL=.*$", "", script, flags=re.MULTILINE)
    return script.replace("</script", r"<\/script")


def _folder(name: str) -> Traversable:
    return files(__name__.rpartition(".")[0]) / name


def _own(name: str) -> str:
    return (_folder("page") / name).read_text(encoding="utf-8")


def _vendored(name: str) -> str:
    return (_folder("vendor") / name).read_text(encoding="utf-8")


# Records as text: the reports that instruments print in a run.


def timing_text(record: Record, kind: Literal["tree", "list", "json"] = "tree") -> str:
    """Return the times, as `PassTimingInstrument.report`."""
    timing = PassTimingInstrument()
    timing.sessions = record.sessions()
    return timing.report(kind)


def statistics_text(record: Record, kind: Literal["text", "json"] = "text") -> str:
    """Return the statistics of leaf passes, as `StatisticsInstrument.report`."""
    statistics, begins = StatisticsInstrument(), record.begins()
    for event in record.events:
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


def diff_text(record: Record) -> str:
    """Return the changes of each pass as unified diffs, one for each top-level op."""
    passes = (step for step in record.steps() if step.end is not step.begin)
    return "".join(line + "\n" for step in passes for line in _diff(record, step))


def _diff(record: Record, step: RecordedChange) -> Iterator[str]:
    if not (pairs := record.replaced(step)):
        return
    name, text = step.begin["name"], step.begin["text"]
    title = name if name == text else f"{name}: {text}"
    yield banner(f"IR Diff After {title}" + " Failed" * (step.end["event"] == "fail"))
    for pair in pairs:
        before, after = ([] if hash is None else _lines(record, hash) for hash in pair)
        yield from unified(before, after)
    yield ""


def _lines(record: Record, hash: str) -> list[str]:
    text: str = record.texts[hash]["text"]
    return text.split("\n")


# The instrument that writes the report of a run as a page of HTML.


class ReportInstrument(RecordInstrument):
    """An instrument that writes a record of the run as one HTML file, each time its context is
    left; the record is written to `record` too, if given.

    The file is replaced as a whole. Errors: OSError, when the context is entered, or when it is
    left, for a file that cannot be written. `write` can then write another.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        record: str | os.PathLike[str] | None = None,
        *,
        title: str = "",
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        super().__init__(record, title=title, keep=True, clock=clock)
        self._page = Path(path)
        self.written: Path | None = None
        """The file that the report was last written to."""

    def enter_pass_ctx(self) -> None:
        check_writable(self._page)
        super().enter_pass_ctx()

    def finalize_pass_ctx(self) -> None:
        try:
            super().finalize_pass_ctx()
        finally:  # write the report even if the file of the record could not be written
            if self._here.contexts == 0:
                self.write(self._page)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a report of the passes that have run until now to the file `path`."""
        from .record_reader import read_record

        replace_file(Path(path), [render_page(read_record(self.lines))])
        self.written = Path(path)
