"""Taking only some of the steps of passes, by number, to find the one that breaks something."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from typing import cast

from ..info import did_you_mean, name_key
from ..instrument import PassInstrument
from .nesting import report_header

__all__ = ["DebugCounter"]


class DebugCounter(PassInstrument):
    """Numbers the steps that passes ask about, from 1 for each tag; of a tag in `chosen`, only
    those steps happen whose number is in its container.

    The pattern driver asks before each pattern that it shows an op to, under `rewrite` and under
    the name of the pattern's class, whether or not the pattern then does something: so the first N
    steps are the same whatever comes after them. Passes ask under their own name before each fold,
    merge or erasure that they would do. The numbers go on for as long as the instrument lives, over
    chunks, runs and threads. Source: LLVM's `-debug-counter`.
    """

    def __init__(self, chosen: Mapping[str, Container[int]] | None = None) -> None:
        self.queried: Counter[str] = Counter()
        """How often each tag was asked about."""
        self.executed: Counter[str] = Counter()
        """How many steps of each tag were let through."""
        self._names = {name_key(tag): tag for tag in chosen or {}}
        self._chosen: dict[str, Container[int]] = {}
        for tag, numbers in (chosen or {}).items():
            if isinstance(numbers, str) or not isinstance(cast(object, numbers), Container):
                raise TypeError(f"debug counter '{tag}' takes numbers, and not {numbers!r}")
            self._chosen[name_key(tag)] = numbers
        self._lock = threading.Lock()

    def should_execute(self, tag: str) -> bool:
        numbers = self._chosen.get(name_key(tag))
        with self._lock:
            self.queried[tag] += 1
            through = numbers is None or self.queried[tag] in numbers
            self.executed[tag] += through
        return through

    def warnings(self) -> Iterator[str]:
        """A warning for each chosen tag that nothing has asked about."""
        asked = set(map(name_key, self.queried))
        for key, tag in self._names.items():
            if key not in asked:
                hint = did_you_mean(tag, self.queried)
                yield f"debug counter '{tag}' was never queried{hint}"

    def report(self) -> str:
        """How often each tag was asked about, and how many steps happened."""
        width = max((len(str(n)) for n in self.queried.values()), default=0)
        rows = [
            f"  {n:>{width}} queried, {self.executed[tag]:>{width}} executed: {tag}"
            for tag, n in sorted(self.queried.items())
        ]
        return (
            "\n".join([*report_header("Debug counters"), *(rows or ["  no counters were queried"])])
            + "\n"
        )
