"""A changed result: the function, the input, both results, and where they begin to differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...passmanager.errors import PasslineError
from ..signature import Value
from .values import named_arrays

__all__ = ["Difference", "SemanticsError"]


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

    @property
    def text(self) -> str:
        """The difference in lines: inputs, results, first operation."""
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


class SemanticsError(PasslineError):
    """The error for a pass that changes what a function computes.

    `pass_text` is the pass with its options, `difference` the function, the input and both results,
    `file` the .npz file with the input, None if none was written.
    """

    def __init__(self, pass_text: str, difference: Difference, file: str | None = None) -> None:
        self.pass_text, self.difference, self.file = pass_text, difference, file
        saved = f"\nthe input is in {file}" if file else ""
        super().__init__(
            f"pass '{pass_text}' changes what @{difference.function} computes: "
            f"{difference.text}{saved}"
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
