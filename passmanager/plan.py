"""Plan: the steps of a pipeline under a context, with reasons, as text, JSON and a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .output.html import to_html
from .requirements import AGAIN, Step


@dataclass(frozen=True, repr=False)
class Plan:
    """The steps of a pipeline, run and skipped, with reasons.

    `str` gives a line for each; requirements that may run again have one line for all, at the end.
    """

    steps: tuple[Step, ...]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __str__(self) -> str:
        lines: list[str] = []
        again: dict[str, dict[str, None]] = {}
        for step in self.steps:
            if step.reason.endswith(AGAIN):
                dependent = step.reason.removeprefix("required by ").removesuffix(AGAIN)
                again.setdefault(step.info.text, {})[dependent] = None
            else:
                lines.append(str(step))
        for name, dependents in again.items():
            before = ", ".join(dependents) if len(dependents) < 4 else f"{len(dependents)} passes"
            lines.append(f"run  {name}  # again before {before}{AGAIN}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"{self.summary}\n{self}" if self.steps else self.summary

    @property
    def summary(self) -> str:
        """The numbers of passes that run and are skipped, as text."""
        skipped = sum(step.action == "skip" for step in self.steps)
        return f"{len(self.steps) - skipped} run, {skipped} skipped"

    def _repr_html_(self) -> str:
        return to_html(self)
