"""The outcome of one input of many: whether it was done, how long that took and what it changed."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["COLUMNS", "InputOutcome", "Status"]

Status: TypeAlias = Literal["ok", "failed", "crashed"]
"""A crashed input is one whose process ended, or whose worker was lost, while it ran."""


@dataclass(frozen=True)
class InputOutcome:
    """The outcome of one input."""

    path: str
    status: Status
    exit_status: int = 0
    """The exit status that passline-opt has for this input alone."""
    seconds: float = 0.0
    operations_before: int | None = None
    operations_after: int | None = None
    kernels: int | None = None
    """The functions of the result that are kernels: primitive functions and `tir.prim_func`."""
    output: str | None = None
    """The path of the result, relative to the output directory."""
    message: str = ""
    """The first error."""
    key: str = ""
    """The hash of the input, the options and the version."""
    digest: str = ""
    """The hash of the result."""
    resumed: bool = False
    """Whether an earlier run did it."""

    def to_json(self) -> str:
        """Return the outcome as one line of JSON, without `resumed`."""
        fields = dataclasses.asdict(self)
        del fields["resumed"]
        return json.dumps(fields, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> InputOutcome:
        """Return the outcome in a line of `to_json`; ValueError or TypeError for another line."""
        return cls(**json.loads(line), resumed=True)


COLUMNS = (
    *("path", "status", "seconds", "operations_before", "operations_after", "kernels", "resumed"),
    *("exit_status", "output", "message"),
)
"""The fields in the table."""
