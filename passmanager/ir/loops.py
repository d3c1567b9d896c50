"""The interface of loops."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Final

from xdsl.ir import Operation, Region
from xdsl.traits import OpTrait

from .external_models import Implementations

__all__ = ["LOOPS", "EachRegionLoops", "LoopLikeOpInterface"]


class LoopLikeOpInterface(OpTrait, abc.ABC):
    """Interface of operations that run regions any number of times (MLIR: `LoopLikeOpInterface`).

    An operation in such a region may be moved before the loop if the values that it uses are
    defined outside of it.
    """

    @classmethod
    @abc.abstractmethod
    def get_loop_regions(cls, op: Operation) -> Sequence[Region]:
        """Return the regions that make up the body of the loop."""
        raise NotImplementedError


class EachRegionLoops(LoopLikeOpInterface):
    """A loop whose body is all of its regions."""

    @classmethod
    def get_loop_regions(cls, op: Operation) -> Sequence[Region]:
        return op.regions


LOOPS: Final = Implementations(
    LoopLikeOpInterface,
    dict.fromkeys(
        ("affine.for", "affine.parallel", "scf.for", "scf.forall", "scf.parallel", "scf.while"),
        EachRegionLoops(),
    ),
)
"""The implementations of `LoopLikeOpInterface`: `LOOPS[type(op)]`, None if `op` is no loop."""
