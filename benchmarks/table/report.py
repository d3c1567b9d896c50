"""The table of `make bench`: on the console, and in docs/performance.md.

`docs/performance.json` holds the rows, all of one run; the part of `docs/performance.md` between
the markers, `docs/performance.svg`, the chart and the table of the README, and the versions of
peers on all pages are made from it.
"""

from __future__ import annotations

import json
import os
import platform
import re
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
    "render",
    "rewritten",
    "save",
    "saved",
    "with_ratios",
    "with_versions",
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
    "times as fast",
    "spread",
    "us/op",
    "B/op",
    "peer's B/op",
    "note",
)
GROWTH_COLUMNS = ("", "on", "side", "time", "memory")
LEFT = {"", "on", "peer", "side", "note"}
MIN_OPS = 100
"""Times of fewer operations are not divided by their number."""
PEERS = {
    "xDSL": "xdsl",
    "TVM": "apache-tvm",
    "onnxruntime": "onnxruntime",
    "onnx": "onnx",
    "MLIR": "mlir-opt",
    "mlir-opt": "mlir-opt",
}
"""Name of a peer in the documentation -> its name in the environment of the rows."""
# "Since xDSL 0.75" stays true with a newer one.
VERSION = re.compile(rf"(?<!since )(?<!before )\b({'|'.join(PEERS)}) (\d[\d.]*\d|\d+)\b")
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
        digits(1e6 * row.seconds / row.ops) if row.ops >= MIN_OPS and row.seconds else "",
        f"{row.memory / row.ops:,.0f}" if row.ops and row.memory else "",
        f"{row.peer_memory / row.ops:,.0f}" if row.ops and row.peer_memory else "",
        row.note,
    )


def growth_cells(growth: Growth) -> tuple[str, ...]:
    exponents = ("" if e is None else f"n^{e:.2f}" for e in (growth.time, growth.memory))
    return growth.what, growth.on, growth.side, *exponents


def decimal(ratio: float) -> str:
    """Return a ratio with two decimals, with one from 10 on, and with none from 100 on."""
    return f"{ratio:,.{2 if ratio < 10 else 1 if ratio < 100 else 0}f}"


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
    """Write rows to the file of all rows, in place of those of another run."""
    rows = sorted(rows, key=_order)
    content = {"environment": environment(), "rows": [asdict(row) for row in rows]}
    DATA.write_text(json.dumps(content, indent=1) + "\n")


def render() -> None:
    """Make the page, the plot, and the README's chart and table from all rows."""
    import chart
    from table.plot import draw

    rows, page, readme = saved(DATA), DOCS / "performance.md", DOCS.parent / "README.md"
    page.write_text(rewritten(page.read_text(), markdown(rows, measured_in(DATA))))
    readme.write_text(with_ratios(readme.read_text(), rows))
    for text in (readme, *DOCS.rglob("*.md")):
        text.write_text(with_versions(text.read_text(), measured_in(DATA)))
    draw(rows, DOCS / "performance.svg")
    chart.draw()


def with_ratios(readme: str, rows: Sequence[Row]) -> str:
    """Return the README with the ratios of `rows` in its table, which shows some of them."""
    for what, on, ops, _, peer, _, ratio, *_ in map(cells, rows):
        start = f"| {what} | {', '.join(filter(None, (on, ops)))} | {peer} |"
        readme = re.sub(f"^{re.escape(start)}.*$", f"{start} {ratio} |", readme, flags=re.MULTILINE)
    return readme


def with_versions(text: str, here: Environment) -> str:
    """Return a text that names the versions of peers that were measured, as precisely as before."""

    def named(found: re.Match[str]) -> str:
        peer, version = found.groups()
        parts = here[PEERS[peer]].split(".")[: version.count(".") + 1]
        return f"{peer} {'.'.join(parts)}"

    return VERSION.sub(named, text)


def measured_in(data: Path) -> Environment:
    """Return the environment that the rows in a file were measured in."""
    return json.loads(data.read_text())["environment"] if data.exists() else {}


def saved(data: Path) -> list[Row]:
    """Return the rows in a file."""
    rows = [Row(**row) for row in json.loads(data.read_text())["rows"]]
    return [replace(row, ours=tuple(row.ours), theirs=tuple(row.theirs)) for row in rows]


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
