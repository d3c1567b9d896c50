# pyright: reportUnknownMemberType=false
"""The plot of docs/performance.md: time against operations, a panel for each task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from table.rows import Row

__all__ = ["draw", "panels"]

# Colours that are readable on white and on a dark page; the background is transparent.
TEXT, GRID, OURS, PEER = "#7d8590", "#7d859040", "#2f81f7", "#a8731f"
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "passline",
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": TEXT,
    "axes.edgecolor": TEXT,
    "axes.labelcolor": TEXT,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "grid.color": GRID,
}
PREFIX = "growth: "


def panels(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows of growth of each task, by size."""
    found: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.ops):
        if row.what.startswith(PREFIX) and row.ours:
            found.setdefault(row.what.removeprefix(PREFIX), []).append(row)
    return found


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw the growth of all tasks to an SVG file; without rows there is none."""
    found = panels(rows)
    if not found:
        return
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(2.4 * len(found) + 0.8, 3.4))
        figure.set_layout_engine("constrained", wspace=0.05)
        axes = figure.subplots(1, len(found), sharex=True, sharey=True, squeeze=False)[0]
        for panel, (task, points) in zip(axes, found.items()):
            _panel(panel, task, points)
        axes[0].set_ylabel("seconds")
        figure.supxlabel("operations", fontsize=11)
        figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
    # matplotlib puts blanks at the ends of lines.
    path.write_text(re.sub(r" +$", "", path.read_text(), flags=re.MULTILINE))


def _panel(axes: Axes, task: str, rows: Sequence[Row]) -> None:
    """Draw the lines of a task, each with its label."""
    axes.set(xscale="log", yscale="log")
    axes.set_title(f"{task}: {rows[0].on}", fontsize=11, color=TEXT)
    axes.grid(True, which="major")
    axes.tick_params(which="minor", length=0)
    lines = [("Passline", OURS, [(row.ops, row.seconds) for row in rows])]
    if theirs := [row for row in rows if row.theirs]:
        lines.append((theirs[0].peer, PEER, [(row.ops, row.peer_seconds) for row in theirs]))
    for label, color, points in lines:
        xs, ys = zip(*points)
        axes.plot(xs, ys, color=color, marker="o", markersize=4, linewidth=1.8)
        # The peer's line is the upper one: its label is above the line, and ours below.
        ours = color == OURS
        axes.annotate(
            label,
            points[-2] if ours and len(points) > 1 else points[-1],
            xytext=(5, -5) if ours else (0, 7),
            textcoords="offset points",
            ha="left" if ours else "right",
            va="top" if ours else "bottom",
            color=color,
        )
