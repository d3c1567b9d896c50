"""The speed of Passline beside its peers: one table.

    make bench [FILTER="read tensor"] [MAX_OPS=100000] [XDSL_TESTS=xdsl-0.74.0.tar.gz]
    make bench-growth
    python benchmarks/bench.py --help

In each row both sides take turns, at least three times; the ratio is the median of our time divided
by the peer's in the same round, so less than one is faster, and the spread is its least and its
greatest. Times are process time, of whole tools and of models that of the wall clock. The garbage
collector has the thresholds of passline-opt, for both sides.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from growth import growths
from rich.console import Console
from table.report import console_growth, console_rows, render, save
from table.rows import QUICK_OPS, Case, Row, Scope, measure

__all__ = ["SOURCES", "main", "matches", "measured", "select"]

WIDTH = 140
"""The least width of the table, also where the output is no terminal."""

SOURCES = (
    *("cases.text", "cases.xdsl_corpus", "cases.tool", "cases.noop_pass", "cases.pass_cases"),
    "cases.small_pipelines",
    *("models", "growth"),
)
"""The modules with rows: each has a function `cases(scope)`, which yields them."""


def select(scope: Scope, words: Sequence[str], quick: bool = False) -> Iterator[Case | Row]:
    """Yield the cases whose labels have all of the words, and a row for each module that cannot be
    imported because a package is not installed."""
    for source in SOURCES:
        try:
            cases = import_module(source).cases
        except ModuleNotFoundError as error:
            yield Row(source.rpartition(".")[2], "", 0, "", note=f"{error.name} is not installed")
            continue
        for case in cases(scope):
            if matches(case.label, words) and (case.quick or not quick):
                yield case


def matches(label: str, words: Sequence[str]) -> bool:
    """Return whether `label` has all of the words; a number is a word of its own in it."""
    parts = label.lower().split()
    return all(
        word in parts if word.isdigit() else word in label.lower() for word in map(str.lower, words)
    )


def measured(found: Iterable[Case | Row], console: Console, seconds: float = 1.0) -> Iterator[Row]:
    """Yield the rows of what is found, until the user interrupts it; rows of short runs take
    `seconds` each."""
    try:
        for case in found:
            if isinstance(case, Row):
                yield case
            else:
                with console.status(case.label):
                    row = measure(case, seconds)
                yield row
    except KeyboardInterrupt:
        console.print("interrupted")


def downloaded() -> str | None:
    """Return the folder where the tests keep xDSL's source distribution, if it is there."""
    folder = Path(__file__).parents[1] / ".cache" / f"xdsl-{version('xdsl')}"
    return str(folder) if folder.is_dir() else None


def main(args: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status, 1 if a row failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs="*", help="measure the rows with all of these words")
    parser.add_argument(
        "--max-ops",
        type=int,
        help=f"the largest input, by default {QUICK_OPS} operations; without it and without words "
        "a selection of rows is measured, in about two minutes",
    )
    parser.add_argument(
        "--xdsl-tests",
        metavar="PATH",
        default=downloaded(),
        help="xDSL's source distribution, by default the one that the tests have downloaded",
    )
    parser.add_argument("--growth", action="store_true", help="measure the rows of growth too")
    parser.add_argument("--write", action="store_true", help="put the rows into docs/performance.*")
    given = parser.parse_args(args)
    # As in passline-opt.
    gc.set_threshold(100_000, 20, 100)
    sys.setrecursionlimit(200_000)
    scope = Scope(given.max_ops or QUICK_OPS, given.xdsl_tests, given.growth)
    quick = not given.words and given.max_ops is None
    rows: list[Row] = []
    found = select(scope, given.words, quick)
    for row in measured(found, Console(stderr=True), 0.5 if quick else 1.0):
        rows.append(row)
        if given.write:
            save([row])  # each at once: a whole table takes long
    console = Console(width=max(WIDTH, Console().width))
    console.print(console_rows(rows))
    if grown := growths(rows):
        console.print(console_growth(grown))
    if given.write:
        render()
    return int(any(row.failed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
