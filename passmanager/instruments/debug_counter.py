"""The instrument that executes only chosen steps of passes, by number, to bisect a
miscompilation.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from typing import cast

from ..instrument import PassInstrument
from ..names import did_you_mean, name_key
from .nesting import report_header


class DebugCounter(PassInstrument):
    """An instrument that numbers the steps that passes ask about, from 1 for each tag; for a tag in
    `chosen`, only the steps whose number is in its container are executed.

    The pattern driver asks before each pattern that it tries on an op, under the tag `rewrite` and
    under the name of the pattern's class, also if the pattern then does nothing: so the first N
    steps are the same whatever comes after them. Passes ask under their own name before each
    change. The numbers go on as long as the instrument lives, over chunks of the input, runs and
    threads. Source: LLVM's `-debug-counter`.
    """

    def __init__(self, chosen: Mapping[str, Container[int]] | None = None) -> None:
        self.queried: Counter[str] = Counter()
        """The number of queries by tag."""
        self.executed: Counter[str] = Counter()
        """The number of executed steps by tag."""
        self._names = {name_key(tag): tag for tag in chosen or {}}
        self._chosen: dict[str, Container[int]] = {}
        for tag, numbers in (chosen or {}).items():
            if isinstance(numbers, str) or not isinstance(cast(object, numbers), Container):
                raise TypeError(
                    f"debug counter '{tag}' takes a container of numbers, not {numbers!r}"
                )
            self._chosen[name_key(tag)] = numbers
        self._lock = threading.Lock()

    def should_execute(self, tag: str) -> bool:
        numbers = self._chosen.get(name_key(tag))
        with self._lock:
            self.queried[tag] += 1
            executes = numbers is None or self.queried[tag] in numbers
            self.executed[tag] += executes
        return executes

    def warnings(self) -> Iterator[str]:
        """Yield a warning for each chosen tag that was never queried."""
        asked = set(map(name_key, self.queried))
        for key, tag in self._names.items():
            if key not in asked:
                hint = did_you_mean(tag, self.queried)
                yield f"debug counter '{tag}' was never queried{hint}"

    def report(self) -> str:
        """Return the number of queries and executed steps of each tag."""
        width = max((len(str(n)) for n in self.queried.values()), default=0)
        rows = [
            f"  {n:>{width}} queried, {self.executed[tag]:>{width}} executed: {tag}"
            for tag, n in sorted(self.queried.items())
        ]
        lines = [*report_header("Debug counters"), *(rows or ["  no counters were queried"])]
        return "\n".join(lines) + "\n"
