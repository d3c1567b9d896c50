"""Batches of tile blocks, which are computed at once.

A tile that depends on the block has one more axis in a batch, the first: that of the blocks. Most
semantics work on tiles with and without it; the others run for each block (`by_block`). Blocks of
a batch take the same branches; where they would not, the batch is split (`agreed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.ir import SSAValue

from ....dialects.cuda_tile.types import TileType
from .tile_values import Array, Compute

__all__ = ["Diverged", "agreed", "aligned", "by_block", "leading"]

Bind: TypeAlias = Callable[..., Compute]
"""A function of an operation, and possibly the launch, that prepares its semantics."""


class Diverged(Exception):
    """Control flow on a value that differs between the blocks of a batch."""

    def __init__(self, groups: Sequence[Array]) -> None:
        super().__init__()
        self.groups = groups
        """The positions of the blocks that agree, for each value."""


def agreed(*scalars: Any) -> Sequence[Any]:
    """Return scalars that are equal in all blocks of the batch; raise Diverged if they are not."""
    if not any(np.ndim(scalar) for scalar in scalars):
        return scalars
    rows, which = np.unique(np.stack(np.broadcast_arrays(*scalars), 1), axis=0, return_inverse=True)
    if len(rows) == 1:
        return (*rows[0],)
    raise Diverged([np.flatnonzero(which.reshape(-1) == i) for i in range(len(rows))])


def leading(tile: Array, rank: int) -> tuple[int, ...]:
    """Return the shape of the axis of blocks of a tile of a rank: () if it has none."""
    return tile.shape[: tile.ndim - rank]


def aligned(tiles: Sequence[Array], rank: int) -> list[Array]:
    """Return tiles of a rank with the axis of blocks if one of them has it."""
    blocks = max((leading(tile, rank) for tile in tiles), key=len)
    return [np.broadcast_to(tile, blocks + tile.shape[tile.ndim - rank :]) for tile in tiles]


def by_block(make: Bind, *, always: bool = False) -> Bind:
    """Return a function like `make` whose semantics run for each block of a batch if an operand
    depends on the block. If `always`, they do in any case, as they change the memory, which is the
    second argument of `make`."""

    def bind(op: Any, *launch: Any) -> Compute:
        compute = make(op, *launch)
        values = [getattr(op, name) for name, _ in op.get_irdl_definition().operands]
        ranks = [*map(ranks_of, values)]

        def run(*operands: Any) -> Any:
            count = max(block_counts(operands, ranks), default=0)
            if always and launch[0].blocks > 1:
                count = launch[0].blocks
            if not count:
                return compute(*operands)
            return stacked([compute(*of_block(i, operands, ranks)) for i in range(count)])

        return run

    return bind


def ranks_of(value: SSAValue | Sequence[SSAValue] | None) -> int | list[Any]:
    """Return the rank of a tile, 0 for other values; of a variadic operand, those of its values."""
    if value is None:
        return 0
    if isinstance(value, SSAValue):
        return len(value.type.get_shape()) if isinstance(value.type, TileType) else 0
    return [*map(ranks_of, value)]


def block_counts(operands: Sequence[Any], ranks: Sequence[Any]) -> Iterator[int]:
    """Yield the number of blocks for each operand that depends on the block."""
    for operand, rank in zip(operands, ranks, strict=True):
        if isinstance(operand, tuple):
            yield from block_counts(cast(Sequence[Any], operand), rank)
        elif getattr(operand, "ndim", 0) > rank:
            yield len(operand)


def of_block(block: int, operands: Sequence[Any], ranks: Sequence[Any]) -> Iterator[Any]:
    """Yield the operands of a block."""
    for operand, rank in zip(operands, ranks, strict=True):
        if isinstance(operand, tuple):
            yield (*of_block(block, cast(Sequence[Any], operand), rank),)
        else:
            yield operand[block] if getattr(operand, "ndim", 0) > rank else operand


def stacked(results: Sequence[Any]) -> Any:
    """Return the results of blocks as one: tiles with the axis of blocks, or a token."""
    match results[0]:
        case tuple():
            return tuple(map(stacked, zip(*results, strict=True)))
        case np.ndarray() | np.generic():
            return np.stack(results)
        case int() | None:
            return results[0]  # a token: accesses of batches are not checked
        case _:
            views = np.empty(len(results), object)
            views[:] = results
            return views
