"""Tests of all rows of a table: one test each, whose failure lists the rows that fail."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

__all__ = ["table_test"]

Test = Callable[..., None]


def table_test(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test for each row, with its values as the parameters `names`, as the decorator
    pytest.mark.parametrize does.

    All rows are one test, with the same fixtures. It fails with the errors of all rows that fail,
    each with its row.
    """
    split = names.replace(",", " ").split() if isinstance(names, str) else [*names]
    kept = [(row,) for row in rows] if names == split[0] else [*rows]

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
