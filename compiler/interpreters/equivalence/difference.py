"""A changed result: the function, the input, both results, and where they begin to differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ....passmanager.errors import ChangedResultError, PasslineError
from ..signature import Value
from .values import named_arrays

__all__ = ["Difference", "NotCheckedError", "SemanticsError"]


@dataclass(frozen=True)
class Difference:
    """An input on which a function computes something else after a transformation."""

    function: str
    """The name of the function."""
    names: Sequence[str]
    """The names of its parameters."""
    inputs: Sequence[Value]
    """The arguments."""
    recipe: str
    """How the arguments were chosen, in words."""
    before: Sequence[Value]
    """The results before."""
    after: Sequence[Value] | None
    """The results after; None if the function refuses the arguments."""
    reason: str
    """How the results differ, in words."""
    first: str = ""
    """The first operation whose value differs, in words; empty if it is not known."""

    @staticmethod
    def of_interface(function: str, reason: str) -> Difference:
        """Return the change of a function that no input shows."""
        return Difference(function, (), (), "", (), None, reason)

    @property
    def subject(self) -> str:
        """The function, or what it computes if an input shows the difference."""
        name = f"@{self.function}" if self.function else "the module"
        return f"what {name} computes" if self.recipe else name

    @property
    def text(self) -> str:
        """The difference in lines: inputs, results, first operation."""
        if not self.recipe:
            return self.reason
        pairs = zip(self.names, self.inputs, strict=True)
        arguments = [line for name, value in pairs for line in _lines(name, value)]
        before = _results(self.before)
        after = ["(none)"] if self.after is None else _results(self.after)
        lines = [self.reason]
        for title, block in (
            (f"input ({self.recipe}):", arguments),
            ("result before:", before),
            ("result after:", after),
        ):
            lines += [title, *(f"  {line}" for line in block)]
        return "\n".join([*lines, *([self.first] if self.first else [])])


class NotCheckedError(PasslineError):
    """The error for a function whose results cannot be compared, where all have to be."""


class SemanticsError(ChangedResultError):
    """The error for a pass, or an engine, that changes what a function computes.

    `culprit` is "pass" or "engine", `pass_text` the pass with its options or the name of the
    engine, `difference` the function, the input and both results, `file` the .npz file with the
    input, None if none was written.
    """

    def __init__(
        self,
        pass_text: str,
        difference: Difference,
        file: str | None = None,
        culprit: Literal["pass", "engine"] = "pass",
    ) -> None:
        self.pass_text, self.difference, self.file = pass_text, difference, file
        self.culprit = culprit
        saved = f"\nthe input is in {file}" if file else ""
        super().__init__(
            f"{culprit} '{pass_text}' changes {difference.subject}: {difference.text}{saved}",
            difference.function,
            difference.text,
        )


def _results(values: Sequence[Value]) -> list[str]:
    pairs = ((f"result{i}", value) for i, value in enumerate(values))
    return [line for name, value in pairs for line in _lines(name, value)]


def _lines(name: str, value: Value) -> list[str]:
    """Return a value as a message shows it: large arrays with their first and last elements."""
    lines: list[str] = []
    for part, array in named_arrays(name, value):
        shape = "x".join(map(str, array.shape)) or "scalar"
        text = np.array2string(array, threshold=20, edgeitems=2, max_line_width=80)
        if array.size > 20:
            text = text.replace("\n", " ")
            text = text if len(text) < 200 else f"{text[:197]}..."
        first, *rest = text.split("\n")
        lines += [f"{part}: {array.dtype} {shape} {first}", *(f"  {line}" for line in rest)]
    return lines
