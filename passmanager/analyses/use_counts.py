"""How often values are used."""

from __future__ import annotations

from collections import Counter

from xdsl.ir import Operation, SSAValue

from ..ir.walking import walk

__all__ = ["UseCounts"]


class UseCounts:
    """How many operands, of the ops below an op and of itself, each value is."""

    def __init__(self, op: Operation) -> None:
        self._counts: Counter[SSAValue] = Counter()
        for nested in walk(op):
            self._counts.update(nested.operands)

    def __getitem__(self, value: SSAValue) -> int:
        return self._counts[value]

    def is_used_once(self, value: SSAValue) -> bool:
        """Whether exactly one operand is the value."""
        return self._counts[value] == 1
