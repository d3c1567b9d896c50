"""The outcome of one input of many: whether it was done, how long that took and what it changed."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from ...passmanager.errors import PasslineError
from ...passmanager.output.files import replace_file

if TYPE_CHECKING:
    from rich.table import Table


Status: TypeAlias = Literal["ok", "failed", "crashed"]
"""A crashed input is one whose process ended, or whose worker was lost, while it ran."""


@dataclass(frozen=True)
class InputOutcome:
    """The outcome of one input."""

    path: str
    status: Status
    exit_status: int = 0
    """The exit status that passline-opt has for this input alone."""
    seconds: float = 0.0
    operations_before: int | None = None
    operations_after: int | None = None
    kernels: int | None = None
    """The functions of the result that are kernels: primitive functions and `tir.prim_func`."""
    output: str | None = None
    """The path of the result, relative to the output directory."""
    message: str = ""
    """The first error."""
    key: str = ""
    """The hash of the input, the options and the version."""
    digest: str = ""
    """The hash of the result."""
    resumed: bool = False
    """Whether an earlier run did it."""

    def to_json(self) -> str:
        """Return the outcome as one line of JSON, without `resumed`."""
        fields = dataclasses.asdict(self)
        del fields["resumed"]
        return json.dumps(fields, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> InputOutcome:
        """Return the outcome in a line of `to_json`; ValueError or TypeError for another line."""
        return cls(**json.loads(line), resumed=True)


COLUMNS = (
    *("path", "status", "seconds", "operations_before", "operations_after", "kernels", "resumed"),
    *("exit_status", "output", "message"),
)
"""The fields in the table."""


# The table of the outcomes: on the terminal, as CSV or as Parquet.


SHOWN = 50
"""The longest table on the terminal; of more inputs only those that failed are shown."""


def check_table(path: str) -> None:
    """Raise PasslineError if no table can be written to `path`."""
    suffix = Path(path).suffix
    if suffix not in (".csv", ".parquet"):
        raise PasslineError(f"--table '{path}': expected a file named *.csv or *.parquet")
    if suffix == ".parquet":
        try:
            import pyarrow.parquet  # noqa: F401  # pyright: ignore
        except ImportError:
            raise PasslineError(
                f"--table '{path}': Parquet needs pyarrow, which is not installed: pip install "
                "pyarrow, or write a file named *.csv"
            ) from None


def write_table(path: str, outcomes: Sequence[InputOutcome]) -> None:
    """Write the outcomes to a file, as CSV or Parquet by its name."""
    check_table(path)
    rows = [[getattr(outcome, name) for name in COLUMNS] for outcome in outcomes]
    contents = _parquet(rows) if path.endswith(".parquet") else _csv(rows)
    replace_file(Path(path), [contents])


def _csv(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    return text.getvalue()


def _parquet(rows: Sequence[Sequence[object]]) -> bytes:
    import pyarrow  # pyright: ignore
    import pyarrow.parquet  # pyright: ignore

    columns = {name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)}
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), sink)  # pyright: ignore
    return sink.getvalue()


def summary(outcomes: Sequence[InputOutcome]) -> str:
    """Return how many inputs were done, were done by an earlier run, failed and crashed."""
    resumed = sum(outcome.resumed for outcome in outcomes)
    counts = {"done": sum(outcome.status == "ok" for outcome in outcomes) - resumed}
    counts["done before"] = resumed
    for status in ("failed", "crashed"):
        counts[status] = sum(outcome.status == status for outcome in outcomes)
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count or name == "done")


def table_of(outcomes: Sequence[InputOutcome]) -> Table:
    """Return a table of the outcomes; of more than 50, of those that failed."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold")
    table.add_column("input", overflow="fold")
    table.add_column("status", no_wrap=True)
    for name in ("time", "before", "after", "kernels"):
        table.add_column(name, justify="right", no_wrap=True)
    shown = outcomes
    if len(outcomes) > SHOWN:
        shown = [outcome for outcome in outcomes if outcome.status != "ok"][:SHOWN]
    for outcome in shown:
        status = "done before" if outcome.resumed else outcome.status
        sizes = (outcome.operations_before, outcome.operations_after, outcome.kernels)
        table.add_row(
            Text(outcome.path),
            status,
            f"{outcome.seconds:.2f} s",
            *("" if size is None else str(size) for size in sizes),
        )
    return table
