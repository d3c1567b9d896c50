"""Control flow: how operations branch between blocks and between regions.

An operation joins by a trait in its definition, a class derived from `BranchTrait` or
`RegionBranchTrait`; one whose class cannot be changed by `BRANCHES.attach` or
`REGION_BRANCHES.attach`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

import xdsl.traits
from xdsl.ir import Operation, Region
from xdsl.traits import IsTerminator, OpTrait

from .branching import BranchTrait, Constants, RegionBranchTrait, drop_operands
from .external_models import Implementations
from .per_class import PerClass
from .structured_flow import BRANCH_MODELS, REGION_MODELS

__all__ = [
    "BRANCHES",
    "REGION_BRANCHES",
    "BranchTrait",
    "Constants",
    "RegionBranchTrait",
    "branch_of",
    "drop_operands",
    "is_terminator",
    "region_branch_of",
    "region_points",
]


BRANCHES: Final = Implementations(BranchTrait, BRANCH_MODELS)
"""The implementations of `BranchTrait`: `BRANCHES[type(op)]`, None if `op` has none."""


class _RegionBranches(Implementations[RegionBranchTrait]):
    """The implementations of our trait, else of xDSL's."""

    def _find(self, cls: type[Operation]) -> RegionBranchTrait | None:
        if (found := super()._find(cls)) is not None:
            return found
        theirs: type[OpTrait] | None = getattr(xdsl.traits, "RegionBranchOpTrait", None)
        trait = theirs and cls.get_trait(theirs)
        return _XDSLRegionBranch(trait) if trait else None


REGION_BRANCHES: Final = _RegionBranches(RegionBranchTrait, REGION_MODELS)
"""The implementations of `RegionBranchTrait`, None for a class without."""


def branch_of(op: Operation) -> BranchTrait | None:
    """Return the trait by which `op` branches to blocks; None if it has none."""
    return BRANCHES[type(op)]


def region_branch_of(op: Operation) -> RegionBranchTrait | None:
    """Return the trait by which `op` branches between its regions; None if it has none."""
    return REGION_BRANCHES[type(op)]


def region_points(op: Operation) -> Iterator[Operation | None]:
    """Yield the points of `op` from which control goes to a region or leaves `op`: None, and the
    terminators without successors in its regions."""
    yield None
    for region in op.regions:
        for block in region.blocks:
            end = block.last_op
            if end is not None and not end.successors and is_terminator[type(end)]:
                yield end


def _is_terminator(cls: type[Operation]) -> bool:
    # Of an unregistered operation nothing is known: the last one of a block may be its terminator.
    return cls.has_trait(IsTerminator, value_if_unregistered=True)


is_terminator: Final = PerClass[Operation, bool](_is_terminator)
"""Whether operations of a class end a block."""


class _XDSLRegionBranch(RegionBranchTrait):
    """The regions that xDSL's `RegionBranchOpTrait` names; which operands go there it does not say
    in xDSL 0.75, so the inputs have unknown values."""

    def __init__(self, trait: OpTrait) -> None:
        object.__setattr__(self, "trait", trait)

    def successor_regions(
        self, op: Operation, point: Operation | None, constants: Constants = ()
    ) -> Sequence[Region | None]:
        trait = cast("Any", self).trait
        points: Any = cast("Any", xdsl.traits).RegionBranchPoint
        if point is None:
            known = constants or [None] * len(op.operands)
            found = trait.entry_successor_regions(op, known)
        elif point.get_trait(cast("Any", xdsl.traits).RegionBranchTerminatorOpTrait) is not None:
            found = trait.successor_regions(op, points(point))
        else:
            return ()
        return [successor.region for successor in found]

    def successor_operands(
        self, op: Operation, point: Operation | None, successor: Region | None
    ) -> range:
        return range(0)
