"""The speed of Passline beside its peers: one table.

    make bench [FILTER="read tensor"] [MAX_OPS=100000] [XDSL_TESTS=xdsl.tar.gz]
    make bench OPTIONS=--write
    make bench-growth
    python benchmarks/bench.py --help

In each row the sides take turns, at least three times. How many times as fast as the peer we are
is the median of the peer's time divided by ours in the same round, so above 1 we are faster; the
spread is the minimum and the maximum. Rows that differ in the peer alone are measured together: a
command of ours has one time. Times are process time, of whole tools and of models that of the wall
clock. The garbage collector has the thresholds of passline-opt, for both sides.

--write measures all rows of docs/performance.md in one run, and writes that page, its plot, and the
chart and the table of the README.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

from growth import growths
from rich.console import Console
from table.report import console_growth, console_rows, render, save
from table.rows import QUICK_OPS, SIZES, Case, Row, Scope, measure_together

__all__ = ["SOURCES", "main", "matches", "measured", "select"]

WIDTH = 140
"""The minimum width of the table, also where the output is no terminal."""

SOURCES = (
    *(
        "cases.text",
        "cases.bytecode",
        "cases.xdsl_corpus",
        "cases.tool",
        "cases.noop_pass",
        "cases.pass_cases",
    ),
    "cases.small_pipelines",
    *("models", "growth"),
)
"""The modules with rows: each has a function `cases(scope)`, which yields them."""


def select(
    scope: Scope, words: Sequence[str], chosen: Callable[[Case], bool] = lambda _: True
) -> Iterator[Case | Row]:
    """Yield the chosen cases with all words, and a row for each module without its package."""
    for source in SOURCES:
        try:
            cases = import_module(source).cases
        except ModuleNotFoundError as error:
            yield Row(source.rpartition(".")[2], "", 0, "", note=f"{error.name} is not installed")
            continue
        for case in cases(scope):
            if matches(case.label, words) and chosen(case):
                yield case


def matches(label: str, words: Sequence[str]) -> bool:
    """Return whether `label` has all of the words; a number is a word of its own in it."""
    parts = label.lower().split()
    return all(
        word in parts if word.isdigit() else word in label.lower() for word in map(str.lower, words)
    )


def measured(found: Iterable[Case | Row], console: Console, seconds: float = 1.0) -> Iterator[Row]:
    """Yield the rows of what is found; those of short runs take `seconds` each."""
    for _, group in groupby(found, lambda one: one if isinstance(one, Row) else one.ours):
        together = [*group]
        yield from (one for one in together if isinstance(one, Row))
        if cases := [one for one in together if isinstance(one, Case)]:
            with console.status(cases[0].label):
                rows = measure_together(cases, seconds)
            yield from rows


def until_interrupted(rows: Iterable[Row], console: Console) -> Iterator[Row]:
    """Yield the rows that are measured before the user interrupts."""
    try:
        yield from rows
    except KeyboardInterrupt:
        console.print("interrupted")


def write(rows: Iterable[Row]) -> None:
    """Write the page; exit at the first row without a figure, as a whole page takes long."""
    whole: list[Row] = []
    for row in rows:
        if not row.ours:
            sys.exit(f"{row.what}, {row.on}, {row.peer}: {row.note}; the page needs each row")
        whole.append(row)
    save(whole)
    render()


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
    parser.add_argument(
        "--write", action="store_true", help="measure all rows of docs/performance.md, and write it"
    )
    given = parser.parse_args(args)
    if given.write and (given.words or given.max_ops):
        parser.error("--write measures the whole page: it takes no words and no --max-ops")
    # As in passline-opt.
    gc.set_threshold(100_000, 20, 100)
    sys.setrecursionlimit(200_000)
    stderr = Console(stderr=True)
    if given.write:
        scope = Scope(SIZES[-1], given.xdsl_tests, growth=True)
        write(measured(select(scope, [], lambda case: case.quick or case.on_page), stderr))
        return 0
    scope = Scope(given.max_ops or QUICK_OPS, given.xdsl_tests, given.growth)
    quick = not given.words and given.max_ops is None
    found = select(scope, given.words, lambda case: case.quick or not quick)
    rows = [*until_interrupted(measured(found, stderr, 0.5 if quick else 1.0), stderr)]
    console = Console(width=max(WIDTH, Console().width))
    console.print(console_rows(rows))
    if grown := growths(rows):
        console.print(console_growth(grown))
    return int(any(row.failed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
