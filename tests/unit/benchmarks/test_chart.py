"""The chart of the README: its figures are those of docs/performance.md."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from chart import CHART, ROWS, Bar, bars, ratio, ratios, svg

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "performance.md").read_text()
HEAD = (
    "|  | on | ops | ours | peer | peer's | times as fast |\n"
    "| :-- | :-- | --: | --: | :-- | --: | --: |\n"
)
SVG = "{http://www.w3.org/2000/svg}"


def texts(chart: str) -> list[str]:
    return [text.text or "" for text in ET.fromstring(chart).iter(f"{SVG}text")]


def test_ratios_are_read_from_the_table() -> None:
    row = "| read | x, y | 1,000 | 1.0 ms | xDSL | 20 s | 20,000 |\n"
    page = f"text\n\n{HEAD}{row}| growth: copy | x | 9 | 1 s |  |  |  |\n"
    assert ratios(page) == {("read", "x, y", "1,000", "xDSL"): 20_000}


def test_a_bar_has_its_label_and_its_figure() -> None:
    shown = [Bar("beside a", "read", 12.4), Bar("beside a", "<b>", 1.06), Bar("beside b", "c", 0.3)]
    assert [bar.figure for bar in shown] == ["12x", "1.1x", "0.30x"]
    found = texts(svg(shown))
    assert found[2:] == ["beside a", "read", "12x", "<b>", "1.1x", "beside b", "c", "0.30x"]


def test_faster_is_to_the_right_and_longer_is_faster() -> None:
    chart = svg([Bar("a", "fast", 8), Bar("a", "faster", 16), Bar("a", "slow", 0.25)])
    spans = [
        (float(bar.attrib["x"]), float(bar.attrib["x"]) + float(bar.attrib["width"]))
        for bar in ET.fromstring(chart).iter(f"{SVG}rect")
    ]
    (middle, fast), (_, faster), (slow, end) = spans
    assert slow < end == pytest.approx(middle, abs=0.11) and middle < fast < faster < 760


def test_a_row_that_is_not_in_the_table_is_an_error() -> None:
    with pytest.raises(KeyError, match="tensor ops"):
        bars({})


def test_the_chart_of_the_readme_shows_the_table() -> None:
    found = ratios(PAGE)
    written = [pair for pair in pairwise(texts(CHART.read_text())) if pair[1][-1:] == "x"]
    rows = [(label, key) for group in ROWS.values() for label, key in group.items()]
    assert [label for label, _ in written] == [label for label, _ in rows] and len(rows) > 8
    for (label, figure), (_, key) in zip(written, rows):
        assert float(figure[:-1]) == pytest.approx(ratio(found, key), rel=0.05), label
    assert CHART.read_text() == svg(bars(found)), "python benchmarks/chart.py draws it again"
    assert f"]({CHART.relative_to(ROOT)})" in (ROOT / "README.md").read_text()
