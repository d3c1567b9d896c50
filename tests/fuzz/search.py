"""The search for failures: each new kind is shrunk and saved."""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning

from .broken_input import TooLong, limited, place_of
from .cases import Case
from .properties import Broken, Outcome, check_case
from .provider import SEEDED
from .saving import save

__all__ = ["Search"]

SLOW = (
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
    HealthCheck.too_slow,
)

SECONDS = 60
"""The time that a case may take."""
SHRINKING = 60
"""The time after which a failure is shrunk no further."""


class Shrunk(BaseException):
    """Ends shrinking when its time is over. A BaseException, which hypothesis does not catch."""


@dataclass
class Search:
    """A search, and what it has found so far."""

    strategies: Sequence[st.SearchStrategy[Case]]
    """The strategies for cases; a seed takes one after the other."""
    directory: Path
    """Where failures are saved."""
    options: str = ""
    """The end of the command that finds a failure again."""
    cases: int = 0
    passes: Counter[str] = field(default_factory=Counter[str])
    """How often each pass ran."""
    compared: int = 0
    """The calls whose results were compared."""
    compiled: int = 0
    """The modules whose machine code, or tile programs, were compared."""
    left_out: Counter[str] = field(default_factory=Counter[str])
    """How often each pass did not run, with the condition that did not hold."""
    refusals: Counter[str] = field(default_factory=Counter[str])
    """The reasons with which passes refused modules."""
    failures: Counter[str] = field(default_factory=Counter[str])
    """How often each kind of failure occurred, outside of shrinking."""
    wanted: str = ""
    """The kind of failure that is being shrunk."""
    found: list[tuple[Case, Exception]] = field(default_factory=list[tuple[Case, Exception]])
    """The cases of that kind, the smallest last."""
    shrinking: float = SHRINKING
    """The seconds after which a failure is shrunk no further."""
    until: float = math.inf
    """When to stop shrinking."""

    def run(self, first_seed: int, most_cases: int, seconds: float = math.inf) -> None:
        """Check the cases of successive seeds until there are enough, or the time is over."""
        end = monotonic() + seconds
        for number in range(first_seed, first_seed + most_cases):
            if monotonic() > end:
                break
            self.run_seed(number)
            if sys.stderr.isatty():
                print(f"\r{self.cases} modules", end="", file=sys.stderr)

    def run_seed(self, number: int) -> None:
        """Check the case of a seed; shrink and save a failure of a new kind.

        The case of a seed is the same on every machine. Hypothesis starts with the simplest case,
        which is the same for all seeds: only the second one is checked.
        """
        self.wanted, self.found, self.until = "", [], math.inf
        calls = 0

        @seed(number)
        @settings(
            max_examples=2,
            backend=SEEDED,
            database=None,
            deadline=None,
            derandomize=False,
            report_multiple_bugs=False,
            suppress_health_check=SLOW,
            phases=[Phase.generate, Phase.shrink],
            print_blob=False,
        )
        @given(self.strategies[number % len(self.strategies)])
        def check(case: Case) -> None:
            nonlocal calls
            calls += 1
            if calls > 1:
                self.check(case)

        try:
            with warnings.catch_warnings():
                # All draws of a failing case are long, and printed nowhere.
                warnings.simplefilter("ignore", HypothesisWarning)
                check()
        except (Exception, Shrunk):
            if not self.found:
                raise
            case, error = self.found[-1]
            again = f"make fuzz SEED={number} CASES=1{self.options}"
            path = save(case, error, self.directory, again)
            print(f"\n{type(error).__name__}: {error}\n{path}\nagain: {again}", flush=True)

    def check(self, case: Case) -> None:
        """Check a case; raise the error of a failure of a new kind, or of the one being shrunk."""
        if monotonic() > self.until:
            raise Shrunk
        if not self.wanted:
            self.cases += 1
        try:
            outcome = check_in_time(case)
        except Exception as error:
            found = kind(error)
            if not self.wanted:
                self.failures[found] += 1
                if self.failures[found] > 1:
                    return  # it is saved already
                self.wanted, self.until = found, monotonic() + self.shrinking
            if found == self.wanted:
                self.found.append((case, error))
                raise
            return
        if not self.wanted:
            self.passes.update(text.partition("{")[0] for text in outcome.passes)
            self.compared += outcome.compared
            self.compiled += outcome.compiled
            self.left_out.update(outcome.left_out)
            if outcome.refusal:
                self.refusals[without_details(outcome.refusal)] += 1

    def summary(self) -> Iterator[str]:
        """Yield the lines that say what was checked and found."""
        yield f"{self.cases} modules, {self.passes.total()} passes, {self.compared} comparisons"
        yield f"{self.compiled} modules as compiled code"
        for text, count in self.left_out.most_common():
            yield f"left out {count}: {text}"
        for text, count in self.refusals.most_common():
            yield f"refused {count}: {text}"
        for text, count in self.failures.most_common():
            yield f"failed {count}: {text}"


def check_in_time(case: Case) -> Outcome:
    """Check a case; Broken if it takes too long."""
    try:
        with limited(SECONDS):
            return check_case(case)
    except TooLong as error:
        raise Broken(f"more than {SECONDS} seconds, now in {place_of(error)}") from None


def kind(error: Exception) -> str:
    """Return what failures of one cause have in common: of results that differ, the pass."""
    found = re.match(r"after [\w.-]+", str(error))
    return found[0] if found else without_details(f"{type(error).__name__}: {error}")


def without_details(text: str) -> str:
    """Return the first line of a message without options, types, names and numbers."""
    line = (text.strip().splitlines() or [""])[0]
    for pattern in (r"\{[^}]*\}", r"(tensor|memref|tuple|vector)<[^ ]*", r"@\w+", r"\(and .*"):
        line = re.sub(pattern, "", line)
    return re.sub(r"-?\d+(\.\d+)?", "N", line)[:160]
