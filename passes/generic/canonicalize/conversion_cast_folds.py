"""Folds of `builtin.unrealized_conversion_cast`, for `canonicalize`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.ir import Operation

from .by_dialect import Fold, Folded


def _fold_conversion(op: Operation) -> Sequence[Folded] | None:
    """Fold a conversion of all results of another one back to the types of its operands."""
    if not op.results or not op.operands:
        return None
    inner = op.operands[0].owner
    if not isinstance(inner, type(op)) or len(inner.results) != len(op.operands):
        return None
    if any(a is not b for a, b in zip(op.operands, inner.results, strict=True)):
        return None
    types = [value.type for value in inner.operands]
    return [*inner.operands] if types == [result.type for result in op.results] else None


FOLDS: Final[Mapping[str, Fold]] = {"builtin.unrealized_conversion_cast": _fold_conversion}
