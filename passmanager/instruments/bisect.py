"""The instrument that runs only some of the passes, by number, to bisect a miscompilation."""

from __future__ import annotations

import sys
from collections.abc import Container

from xdsl.dialects.builtin import ModuleOp

from ..registration.info import PassInfo
from .ir.numbering import NumberingInstrument

__all__ = ["OptBisect"]


class OptBisect(NumberingInstrument):
    """An instrument that numbers the leaf passes that are about to run, prints the numbers on
    stderr, and blocks the passes whose number is above `limit` or, if `limit` is a container of
    numbers, not in it.

    -1 means no limit. Composites, and passes in the context's `required_pass`, are not numbered and
    always run. The numbers go on as long as the instrument lives, so that each step of a search
    takes a new one. Errors: TypeError or ValueError for another limit.
    Source: LLVM's `-opt-bisect-limit` and `-opt-bisect`.
    """

    def __init__(self, limit: int | Container[int]) -> None:
        super().__init__()
        if isinstance(limit, (bool, str)) or not isinstance(limit, (int, Container)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"the limit of OptBisect is a whole number or a container of numbers, not {limit!r}"
            )
        if isinstance(limit, int) and limit < -1:
            raise ValueError(f"the limit of OptBisect is 0 or more, or -1 for none, not {limit}")
        self.limit = limit

    def should_run_number(self, number: int, module: ModuleOp, info: PassInfo) -> bool:
        runs = self._includes(number)
        verb = "running" if runs else "NOT running"
        sys.stderr.write(f"BISECT: {verb} pass ({number}) {info.name} on {module.name}\n")
        return runs

    def _includes(self, number: int) -> bool:
        if isinstance(self.limit, int):
            return self.limit == -1 or number <= self.limit
        return number in self.limit
