"""Folds of `shard`, for `canonicalize`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from xdsl.ir import Operation

from .by_dialect import Fold, Folded


def _fold_alone(op: Operation) -> Folded | None:
    """Fold what is exchanged along no axis of the grid. Source: `EmptyGridAxesCanonicalization` of
    MLIR."""
    source, axes = op.operands[0], op.properties.get("grid_axes")
    if source.type != op.results[0].type or (axes is not None and [*cast(Any, axes).get_values()]):
        return None
    return source


FOLDS: Final[Mapping[str, Fold]] = dict.fromkeys(
    (
        *("shard.all_gather", "shard.all_reduce", "shard.all_slice", "shard.all_to_all"),
        *("shard.broadcast", "shard.gather", "shard.recv", "shard.reduce"),
        *("shard.reduce_scatter", "shard.scatter", "shard.send", "shard.shift"),
    ),
    _fold_alone,
)
