"""The chart of the README: how fast Passline is beside its peers, from the table of
docs/performance.md.

    python benchmarks/chart.py          # writes docs/assets/speed.svg

A bar to the right is a row in which Passline is faster, one to the left a row in which it is
slower; the axis is logarithmic. `make bench OPTIONS=--write` draws it again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

__all__ = ["CHART", "ROWS", "Bar", "bars", "draw", "ratios", "svg"]

DOCS = Path(__file__).parents[1] / "docs"
CHART = DOCS / "assets" / "speed.svg"

Key = tuple[str, str, str, str]
"""A row of the table: task, input, number of operations, peer."""

ANY = "*"
"""Any number of operations: that of all files of xDSL changes with each release."""

ROWS: dict[str, dict[str, Key]] = {
    "beside xDSL and xdsl-opt": {
        "read 10,000 operations": ("read", "tensor ops", "10,000", "xDSL"),
        "verify them": ("verify", "tensor ops", "10,000", "xDSL"),
        "print them": ("print", "tensor ops", "10,000", "xDSL"),
        "read all test files of xDSL": ("read corpus", "all files of xDSL's tests", ANY, "xDSL"),
        "canonicalize,cse on 100,000 operations": (
            *("tool", "tensor ops, canonicalize,cse", "100,000", "xdsl-opt"),
        ),
    },
    "beside TVM (C++)": {
        "fuse 994 operations": ("pass", "fuse-ops, convolutions", "994", "TVM"),
        "1,000 passes that do nothing": ("pass", "1000 no-op passes", "", "TVM"),
        "infer the types of 994 operations": ("pass", "infer-type, convolutions", "994", "TVM"),
    },
    "beside the start of an onnxruntime session (C++)": {
        "optimize ResNet-50": ("model", "resnet50, import and -O3", "415", "session"),
        "optimize DenseNet-121": ("model", "densenet121, import and -O3", "1,746", "session"),
    },
    "beside mlir-opt (C++)": {
        "canonicalize,cse on 100,000 operations": (
            *("tool", "tensor ops, canonicalize,cse", "100,000", "mlir-opt"),
        ),
    },
}
"""The bars: group -> label -> row."""

# Colours that can be read on white and on a dark page; the background is transparent.
TEXT, FASTER, SLOWER = "#747c87", "#2f81f7", "#b8731f"
WIDTH, LEFT, RIGHT, LINE, HEAD = 760, 290, 40, 24, 34
MIN_SPEED, MAX_SPEED = 1 / 6, 20
"""The ends of the axis, as times the speed of the peer."""


class Bar(NamedTuple):
    """A bar: the group and the label, and how many times as fast as the peer Passline is."""

    group: str
    label: str
    speed: float

    @property
    def figure(self) -> str:
        """The text at the end of the bar."""
        digits = 0 if self.speed >= 9.95 else 1 if self.speed >= 0.995 else 2
        return f"{self.speed:.{digits}f}x"


def ratios(page: str) -> dict[Key, float]:
    """Return the ratios in the table of docs/performance.md: how many times as fast we are."""
    found: dict[Key, float] = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if (
            line.startswith("|")
            and len(cells) > 6
            and cells[6].replace(".", "").replace(",", "").isdigit()
        ):
            what, on, ops, _, peer, _, ratio = cells[:7]
            found[what, on, ops, peer] = float(ratio.replace(",", ""))
    return found


def bars(found: Mapping[Key, float]) -> list[Bar]:
    """Return the bars of the chart, from the ratios of the table."""
    return [
        Bar(group, label, ratio(found, key))
        for group, rows in ROWS.items()
        for label, key in rows.items()
    ]


def ratio(found: Mapping[Key, float], key: Key) -> float:
    """Return the ratio of a row; `ANY` matches any number of operations."""
    what, on, ops, peer = key
    same = (k for k in found if (k[0], k[1], k[3]) == (what, on, peer))
    return found[next(same, key) if ops == ANY else key]


def place(speed: float) -> float:
    """Return the horizontal place of a speed on the axis."""
    part = math.log(speed / MIN_SPEED) / math.log(MAX_SPEED / MIN_SPEED)
    return LEFT + part * (WIDTH - LEFT - RIGHT)


def svg(shown: Sequence[Bar]) -> str:
    """Return the chart as SVG."""
    groups = len({bar.group for bar in shown})
    height = HEAD + LINE * (len(shown) + groups) + 12
    title = "The speed of Passline, as a multiple of the speed of its peers"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        f' height="{height}" role="img" font-family="system-ui, sans-serif" font-size="13"'
        f' fill="{TEXT}">',
        f"<title>{title}</title>",
        *_axis(height),
        *_rows(shown),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _axis(height: int) -> Iterator[str]:
    """Yield the line at the speed of the peer, with what its sides mean."""
    x = place(1)
    yield (
        f'<line x1="{x:.1f}" y1="6" x2="{x:.1f}" y2="{height - 8}" stroke="{TEXT}"'
        f' stroke-opacity="0.6"/>'
    )
    yield f'<text x="{x - 14:.1f}" y="18" text-anchor="end">&#8592; Passline is slower</text>'
    yield f'<text x="{x + 14:.1f}" y="18">Passline is faster &#8594;</text>'


def _rows(shown: Sequence[Bar]) -> Iterator[str]:
    """Yield the headings of the groups, and the bars with their labels and figures."""
    y, group = HEAD, ""
    for bar in shown:
        if bar.group != group:
            group = bar.group
            yield f'<text x="8" y="{y + 15}" font-weight="600">{escape(group)}</text>'
            y += LINE
        start, end = sorted((place(1), place(bar.speed)))
        colour = FASTER if bar.speed >= 1 else SLOWER
        yield f'<text x="24" y="{y + 15}">{escape(bar.label)}</text>'
        yield (
            f'<rect x="{start:.1f}" y="{y + 3}" width="{end - start:.1f}" height="{LINE - 7}"'
            f' rx="2" fill="{colour}"/>'
        )
        yield f'<text x="{end + 6:.1f}" y="{y + 15}">{bar.figure}</text>'
        y += LINE


def draw(page: Path = DOCS / "performance.md", chart: Path = CHART) -> None:
    """Draw the chart of a page."""
    chart.write_text(svg(bars(ratios(page.read_text()))))


if __name__ == "__main__":
    draw()
    print(CHART)
