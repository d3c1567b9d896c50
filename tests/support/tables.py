"""Tests of all rows of a table: one test each, whose failure lists the rows that fail."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest
from _pytest.mark import ParameterSet

__all__ = ["table_test"]

Test = Callable[..., None]


def table_test(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each row, with its values as the parameters `names`, as the decorator
    pytest.mark.parametrize does.

    All rows are one test, with the same fixtures. It fails with the errors of all rows that fail,
    each with its row. A row made by pytest.param is left out if one of its marks is `skipif` with a
    condition that holds.
    """
    split = names.replace(",", " ").split() if isinstance(names, str) else [*names]
    alone = names == split[0]
    kept = [values for row in rows if (values := _values(row, alone)) is not None]

    def decorate(test: Test) -> Test:
        @wraps(test)
        def run(**fixtures: object) -> None:
            errors: list[Exception] = []
            for row in kept:
                values = dict(zip(split, row, strict=True))
                try:
                    test(**fixtures, **values)
                except Exception as error:
                    error.add_note(f"in the row {values}")
                    errors.append(error)
            if len(errors) == 1:
                raise errors[0]
            if errors:
                raise ExceptionGroup(f"{len(errors)} of {len(kept)} rows fail", errors)

        signature = inspect.signature(test)
        others = [p for name, p in signature.parameters.items() if name not in split]
        vars(run)["__signature__"] = signature.replace(parameters=others)
        return run

    return decorate


def _values(row: Any, alone: bool) -> Sequence[object] | None:
    """Return the values of a row, or None if it is skipped; if `alone`, a row is its only value."""
    if isinstance(row, ParameterSet):
        skipped = any(mark.name == "skipif" and mark.args[0] for mark in map(_mark, row.marks))
        return None if skipped else row.values
    return (row,) if alone else row


def _mark(mark: pytest.MarkDecorator | pytest.Mark) -> pytest.Mark:
    return mark.mark if isinstance(mark, pytest.MarkDecorator) else mark
