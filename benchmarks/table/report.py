"""The table of `make bench`: on the console, and in docs/performance.md.

`docs/performance.json` holds the rows that were written, so that a part of them can be measured
again; the part of `docs/performance.md` between the markers and `docs/performance.svg` are made
from it.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from cases.tool import MLIR_OPT, find_tool
from growth import Growth, growths
from rich.table import Table
from table.rows import Row, Unavailable

__all__ = [
    "BEGIN",
    "DATA",
    "DOCS",
    "END",
    "console_growth",
    "console_rows",
    "markdown",
    "measured_in",
    "merged",
    "render",
    "rewritten",
    "save",
    "saved",
]

DOCS = Path(__file__).parents[2] / "docs"
DATA = DOCS / "performance.json"
BEGIN, END = "<!-- make bench: begin -->", "<!-- make bench: end -->"
COLUMNS = (
    "",
    "on",
    "ops",
    "ours",
    "peer",
    "peer's",
    "ratio",
    "spread",
    "us/op",
    "B/op",
    "peer's B/op",
    "note",
)
GROWTH_COLUMNS = ("", "on", "side", "time", "memory")
LEFT = {"", "on", "peer", "side", "note"}
LEAST_OPS = 100
"""Times of fewer operations are not divided by their number."""
PACKAGES = ("xdsl", "apache-tvm", "onnxruntime", "onnx")

ORDER = ("read", "read generic", "verify", "print", "print generic", "copy", "read corpus", "tool")
"""The tasks that come first in the page, in this order."""

Environment = Mapping[str, str]


# Cells


def cells(row: Row) -> tuple[str, ...]:
    """Return the columns of a row."""
    spread = row.spread
    return (
        row.what,
        row.on,
        f"{row.ops:,}" if row.ops else "",
        duration(row.seconds),
        row.peer,
        duration(row.peer_seconds),
        "" if row.ratio is None else decimal(row.ratio),
        "" if spread is None else f"{decimal(spread[0])}..{decimal(spread[1])}",
        digits(1e6 * row.seconds / row.ops) if row.ops >= LEAST_OPS and row.seconds else "",
        f"{row.memory / row.ops:,.0f}" if row.ops and row.memory else "",
        f"{row.peer_memory / row.ops:,.0f}" if row.ops and row.peer_memory else "",
        row.note,
    )


def growth_cells(growth: Growth) -> tuple[str, ...]:
    exponents = ("" if e is None else f"n^{e:.2f}" for e in (growth.time, growth.memory))
    return growth.what, growth.on, growth.side, *exponents


def decimal(ratio: float) -> str:
    """Return a ratio with two decimals, or with three if it is less than a tenth."""
    return f"{ratio:.{2 if ratio >= 0.1 else 3}f}"


def duration(seconds: float | None) -> str:
    """Return a time with three digits and its unit."""
    if seconds is None:
        return ""
    return f"{digits(seconds)} s" if seconds >= 1 else f"{digits(1e3 * seconds)} ms"


def digits(value: float) -> str:
    """Return a number with three digits, or all of its integral part."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


# The console


def console_rows(rows: Iterable[Row]) -> Table:
    return _console(COLUMNS, map(cells, rows))


def console_growth(grown: Iterable[Growth]) -> Table:
    return _console(GROWTH_COLUMNS, map(growth_cells, grown))


def _console(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table()
    columns, *rows = without_empty(columns, rows)
    for column in columns:
        justify = "left" if column in LEFT else "right"
        table.add_column(column, justify=justify, no_wrap=column != "note")
    for row in rows:
        table.add_row(*row)
    return table


def without_empty(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    """Return the columns and the rows without the columns that are empty in all rows."""
    rows = [*rows]
    kept = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    return [[row[i] for i in kept] for row in (columns, *rows)]


# The page


def save(rows: Sequence[Row]) -> None:
    """Write rows to the file of all rows: they replace those with the same keys, and all rows that
    were measured in another environment."""
    here = environment()
    kept = merged(saved(DATA, here), rows)
    content = {"environment": here, "rows": [asdict(row) for row in kept]}
    DATA.write_text(json.dumps(content, indent=1) + "\n")


def render() -> None:
    """Make the page, the plot and the chart of the README from the file of all rows."""
    import chart
    from table.plot import draw

    rows, page = saved(DATA), DOCS / "performance.md"
    page.write_text(rewritten(page.read_text(), markdown(rows, measured_in(DATA))))
    draw(rows, DOCS / "performance.svg")
    chart.draw()


def measured_in(data: Path) -> Environment:
    """Return the environment that the rows in a file were measured in."""
    return json.loads(data.read_text())["environment"] if data.exists() else {}


def saved(data: Path, here: Environment | None = None) -> list[Row]:
    """Return the rows in a file; none if they were measured in another environment than `here`."""
    if not data.exists() or (here is not None and measured_in(data) != here):
        return []
    rows = [Row(**row) for row in json.loads(data.read_text())["rows"]]
    return [replace(row, ours=tuple(row.ours), theirs=tuple(row.theirs)) for row in rows]


def merged(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """Return the rows that have a figure, sorted; a new row replaces the old one with its key."""
    found = {row.key: row for row in (*old, *new) if row.ours}
    return sorted(found.values(), key=_order)


def _order(row: Row) -> tuple[int, int, str, int]:
    """Return the place of a row in the page: growth last, then by task, input and size."""
    place = ORDER.index(row.what) if row.what in ORDER else len(ORDER)
    return row.what.startswith("growth"), place, f"{row.what} {row.on}", row.ops


def rewritten(page: str, text: str) -> str:
    """Return a page with `text` between its markers, in place of what was there."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def markdown(rows: Sequence[Row], here: Environment) -> str:
    """Return the tables in Markdown."""
    if not rows:
        return "Nothing has been measured yet."
    parts = ["; ".join(f"{name} {value}" for name, value in here.items()) + "."]
    parts.append(_markdown(COLUMNS, map(cells, rows)))
    if grown := growths(rows):
        parts.append(
            "Exponents of time and of memory above that of a small input, by least squares:"
        )
        parts.append(_markdown(GROWTH_COLUMNS, map(growth_cells, grown)))
        parts.append("![Time against operations, on logarithmic axes](performance.svg)")
    return "\n\n".join(parts)


def _markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    columns, *rows = without_empty(columns, rows)
    rule = [":--" if column in LEFT else "--:" for column in columns]
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, rule, *rows))


@cache
def environment() -> Environment:
    """Return what the figures depend on: processor, Python, and the versions of all sides."""
    found = {
        "Processor": f"{processor()}, {os.cpu_count()} cores",
        "Python": platform.python_version(),
    }
    for package in ("passline", *PACKAGES):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    try:
        command = [find_tool(*MLIR_OPT), "--version"]
        text = subprocess.run(command, capture_output=True, text=True).stdout
        found["mlir-opt"] = text.split("version ")[1].split()[0]
    except (Unavailable, IndexError):
        pass
    return found


def processor() -> str:
    """Return the name of the processor."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
