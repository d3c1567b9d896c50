"""The search for failures: each new kind is shrunk and saved."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from .cases import Case
from .properties import check_case
from .saving import save

__all__ = ["Search"]

BATCH = 200
"""The cases of one seed; a failure is found again with its seed alone."""


@dataclass
class Search:
    """A search, and what it has found so far."""

    strategy: st.SearchStrategy[Case]
    directory: Path
    """Where failures are saved."""
    options: str = ""
    """The options that reproduce the strategy."""
    cases: int = 0
    passes: Counter[str] = field(default_factory=Counter[str])
    """How often each pass ran."""
    compared: int = 0
    """The calls whose results were compared."""
    native: int = 0
    """The modules whose machine code was compared."""
    refusals: Counter[str] = field(default_factory=Counter[str])
    """The reasons with which passes refused modules."""
    failures: Counter[str] = field(default_factory=Counter[str])
    """How often each kind of failure occurred, outside of shrinking."""
    wanted: str = ""
    """The kind of failure that is being shrunk."""
    found: tuple[Case, Exception] | None = None
    """The smallest case of that kind."""

    def run(self, first_seed: int, most_cases: int, seconds: float) -> None:
        """Check batches of cases until there are enough, or the time is over."""
        end = monotonic() + seconds
        number = first_seed
        while self.cases < most_cases and monotonic() < end:
            self.run_batch(number, min(BATCH, most_cases - self.cases), end)
            if sys.stderr.isatty():
                print(f"\r{self.cases} modules", end="", file=sys.stderr)
            number += 1

    def run_batch(self, number: int, count: int, end: float) -> None:
        """Check the cases of one seed; shrink and save the first failure of a new kind."""
        self.wanted, self.found = "", None

        @seed(number)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            derandomize=False,
            report_multiple_bugs=False,
            suppress_health_check=[*HealthCheck],
            phases=[Phase.generate, Phase.shrink],
            print_blob=False,
        )
        @given(self.strategy)
        def check(case: Case) -> None:
            if not self.wanted and monotonic() > end:
                return
            self.check(case)

        try:
            check()
        except Exception:
            if self.found is None:
                raise
            case, error = self.found
            again = f"make fuzz SEED={number} CASES={BATCH}{self.options}"
            path = save(case, error, self.directory, again)
            print(f"\n{type(error).__name__}: {error}\n{path}\nagain: {again}", flush=True)

    def check(self, case: Case) -> None:
        """Check a case; raise the error of a failure of a new kind, or of the one being shrunk."""
        if not self.wanted:
            self.cases += 1
        try:
            outcome = check_case(case)
        except Exception as error:
            found = kind(error)
            if not self.wanted:
                self.failures[found] += 1
                if self.failures[found] > 1:
                    return  # it is saved already
                self.wanted = found
            if found == self.wanted:
                self.found = case, error
                raise
            return
        if not self.wanted:
            self.passes.update(text.partition("{")[0] for text in outcome.passes)
            self.compared += outcome.compared
            self.native += outcome.native
            if outcome.refusal:
                self.refusals[without_details(outcome.refusal)] += 1

    def summary(self) -> Iterator[str]:
        """Yield the lines that say what was checked and found."""
        yield f"{self.cases} modules, {self.passes.total()} passes, {self.compared} comparisons"
        yield f"{self.native} modules as machine code"
        for text, count in self.refusals.most_common():
            yield f"refused {count}: {text}"
        for text, count in self.failures.most_common():
            yield f"failed {count}: {text}"


def kind(error: Exception) -> str:
    """Return what failures of one cause have in common."""
    return without_details(f"{type(error).__name__}: {error}")


def without_details(text: str) -> str:
    """Return the first line of a message without options, types, names and numbers."""
    line = (text.strip().splitlines() or [""])[0]
    for pattern in (r"\{[^}]*\}", r"(tensor|memref|tuple|vector)<[^ ]*", r"@\w+", r"\(and .*"):
        line = re.sub(pattern, "", line)
    return re.sub(r"-?\d+(\.\d+)?", "N", line)[:160]
