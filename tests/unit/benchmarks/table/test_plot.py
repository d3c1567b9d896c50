"""The plot of docs/performance.md: a panel for each task, with labelled lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from table.rows import Row

pytest.importorskip("matplotlib")

from table.plot import draw, panels

ROWS = [
    Row("growth: read", "tensor ops", 10_000, "", (0.3,)),
    Row("growth: read", "tensor ops", 1_000, "xDSL", (0.03,), (0.1,)),
    Row("growth: optimize", "relax graph", 1_000, "", (0.06,)),
    Row("growth: copy", "tensor ops", 1_000, "", note="too little memory", failed=True),
    Row("read", "tensor ops", 1_000, "xDSL", (0.03,), (0.1,)),
]


def test_a_panel_for_each_task_that_was_measured() -> None:
    found = {task: [row.ops for row in rows] for task, rows in panels(ROWS).items()}
    assert found == {"read": [1_000, 10_000], "optimize": [1_000]}


def test_lines_are_labelled_and_the_file_is_the_same_each_time(tmp_path: Path) -> None:
    texts: list[str] = []
    for name in ("a.svg", "b.svg"):
        draw(ROWS, tmp_path / name)
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]
    for label, count in {">Passline<": 2, ">xDSL<": 1, ">read: tensor ops<": 1}.items():
        assert texts[0].count(label) == count


def test_without_growth_there_is_no_plot(tmp_path: Path) -> None:
    draw(ROWS[-1:], tmp_path / "a.svg")
    assert not (tmp_path / "a.svg").exists()
