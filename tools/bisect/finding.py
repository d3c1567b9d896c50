"""The result of a bisection, as text and as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..trials.place import OpPlace

__all__ = ["Finding"]

MAX_LINES = 100
"""The maximum number of lines of IR that a report shows."""


@dataclass
class Finding:
    """The culprit, as far as it is known."""

    wrong: str = ""
    """The fault in the outcome."""
    pass_text: str = ""
    """The pass with its options."""
    pass_number: int = 0
    """Its number among the passes that ran, from 1."""
    pass_count: int = 0
    """The number of passes that ran."""
    function: str = ""
    pattern: str = ""
    """The pattern, if the culprit is a rewrite by one."""
    step: int = 0
    """The number of the step of the pass, from 1; 0 if it is not known."""
    step_count: int = 0
    """The number of the steps that the pass asks about."""
    operation: OpPlace | None = None
    """The operation that the step is about."""
    pipeline: str = ""
    """The fewest passes that are bad."""
    details: str = ""
    """The input on which results differ, and the results, of the reduced module."""
    notes: list[str] = field(default_factory=list[str])
    """The questions that stayed open, with the reason, and other remarks."""
    module: str = ""
    """The text of the reduced module."""
    test: str = ""
    """The file with the test."""

    @property
    def lines(self) -> Iterator[str]:
        """The rows of the report."""
        place = self.operation
        count = f"{self.step} of {self.step_count} steps"
        rows = [
            ("wrong", self.wrong),
            ("pass", f"{self.pass_text} ({self.pass_number} of {self.pass_count} that ran)"),
            ("function", f"@{self.function}" if self.function else ""),
            ("pattern", self.pattern),
            ("step", count if self.step else ""),
            ("operation", str(place or "")),
            ("", place.line if place else ""),
            ("pipeline", self.pipeline),
            ("test", self.test),
        ]
        for title, text in rows:
            if text:
                yield f"{title + ':' if title else '':<11}{text}"
        yield from (f"{'note:':<11}{note}" for note in self.notes)

    @property
    def text(self) -> str:
        """The report, and below it the reduced module."""
        report = "".join(f"{line}\n" for line in self.lines)
        report += f"\n{self.details}\n" if self.details else ""
        lines = self.module.strip().splitlines()
        if len(lines) > MAX_LINES:
            lines = [f"({len(lines)} lines of IR: --save-test writes them to a file)"]
        return "\n".join([report, *lines, ""]) if lines else report

    @property
    def data(self) -> dict[str, object]:
        """The finding as JSON takes it; what is not known is null."""
        place = self.operation
        return {
            "wrong": self.wrong,
            "pass": self.pass_text or None,
            "pass_number": self.pass_number or None,
            "pass_count": self.pass_count or None,
            "function": self.function or None,
            "pattern": self.pattern or None,
            "step": self.step or None,
            "step_count": self.step_count,
            "operation": place.op if place else None,
            "location": place.at or None if place else None,
            "line": place.line or None if place else None,
            "pipeline": self.pipeline or None,
            "details": self.details or None,
            "notes": self.notes,
            "module": self.module or None,
            "test": self.test or None,
        }
