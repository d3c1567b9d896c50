"""Rules on axes, which count from the end if they are negative."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.utils.exceptions import VerifyException

__all__ = ["axes_indices", "axis_index"]


def axis_index(axis: int, rank: int, what: str = "axis") -> int:
    """The axis as a number from 0 on; VerifyException if a tensor of that rank has none such."""
    if not -rank <= axis < rank:
        raise VerifyException(f"{what} {axis} is out of range for rank {rank}")
    return axis % rank


def axes_indices(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """The axes as numbers from 0 on; VerifyException also if one of them is there twice."""
    indices = tuple(axis_index(axis, rank) for axis in axes)
    if len(set(indices)) != len(indices):
        raise VerifyException(f"axes {[*axes]} name one twice")
    return indices
