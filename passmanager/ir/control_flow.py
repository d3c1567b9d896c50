"""The interfaces of control flow: branches between blocks, and branches between regions.

An operation joins by a trait in its definition, a class derived from `BranchTrait` or
`RegionBranchTrait`; an operation that cannot be changed, by `register_control_flow`. Both have the
shape of MLIR's `BranchOpInterface` and `RegionBranchOpInterface`, and of xDSL's since 0.75,
whose `RegionBranchOpTrait` knows regions, but not yet the operands that go to them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, TypeAlias, cast

import xdsl.traits
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator, OpTrait

from .per_class import PerClass

__all__ = [
    "BranchTrait",
    "Constants",
    "RegionBranchTrait",
    "branch_of",
    "drop_operands",
    "entry_block",
    "region_branch_of",
    "region_points",
    "register_control_flow",
]

Constants: TypeAlias = Sequence[Attribute | None]
"""The constant values of operands, None for each that is not known; empty if nothing is known."""


class BranchTrait(OpTrait, ABC):
    """The trait of a terminator that branches to blocks (MLIR's `BranchOpInterface`).

    A subclass says which operands go to the arguments of which successor.
    """

    @abstractmethod
    def successor_operands(self, op: Operation, index: int) -> range:
        """Return the indices of the operands that become the arguments of successor `index`."""

    def successor_for(self, op: Operation, constants: Constants) -> int | None:
        """Return the index of the successor that `op` branches to if its operands are `constants`;
        None if it is not known (MLIR's `getSuccessorForOperands`)."""
        return 0 if len(op.successors) == 1 else None

    def drop_operands(self, op: Operation, indices: Collection[int]) -> None:
        """Remove forwarded operands of `op`."""
        drop_operands(op, indices)


class RegionBranchTrait(OpTrait, ABC):
    """The trait of an operation whose regions are entered and left (MLIR's
    `RegionBranchOpInterface`).

    A `point` is where control comes from: None is the operation itself, which is entered, else the
    terminator of one of its blocks. A `successor` is where it goes: None is the operation, which is
    left with its results, else one of its regions, whose first block is entered.
    """

    @abstractmethod
    def successor_regions(
        self, op: Operation, point: Operation | None, constants: Constants = ()
    ) -> Sequence[Region | None]:
        """Return where control may go from `point`, whose operands are `constants`.

        A terminator that is not known as the end of a region of `op` has no successors.
        """

    def successor_inputs(self, op: Operation, successor: Region | None) -> Sequence[SSAValue]:
        """Return the values that `op` forwards operands to: results, or arguments of a region.

        Those that are left out, as the variable of a loop, have values of another origin.
        """
        if successor is None:
            return op.results
        return () if (first := entry_block(successor)) is None else first.args

    @abstractmethod
    def successor_operands(
        self, op: Operation, point: Operation | None, successor: Region | None
    ) -> range:
        """Return the indices of the operands, of `point` or of `op` if it is None, that become the
        inputs of `successor`, one for each.

        Fewer than inputs mean that the values of the inputs are not known.
        """


def entry_block(region: Region) -> Block | None:
    """Return the first block of `region`; None if it has no blocks."""
    return region.first_block


def region_points(op: Operation) -> Iterator[Operation | None]:
    """Yield the points of `op` from which control goes to a region or leaves `op`: None, and the
    terminators without successors in its regions."""
    yield None
    for region in op.regions:
        for block in region.blocks:
            if (
                (end := block.last_op) is not None
                and not end.successors
                and is_terminator[type(end)]
            ):
                yield end


def _is_terminator(cls: type[Operation]) -> bool:
    # Of an unregistered operation nothing is known: the last one of a block may be its terminator.
    return cls.has_trait(IsTerminator, value_if_unregistered=True)


is_terminator: Final = PerClass[Operation, bool](_is_terminator)
"""Whether operations of a class end a block."""


# Finding the trait of an operation: its own, then a registered one, then that of xDSL.


_BY_NAME: dict[str, BranchTrait | RegionBranchTrait] = {}


def register_control_flow(name: str, trait: BranchTrait | RegionBranchTrait) -> None:
    """Give the operations named `name`, whose class another project defines, a trait.

    Traits of their own come first. A later registration replaces an earlier one.
    """
    _BY_NAME[name] = trait
    _branches.clear()
    _region_branches.clear()


def branch_of(op: Operation) -> BranchTrait | None:
    """Return the trait by which `op` branches to blocks; None if it has none."""
    return _branches[type(op)]


def region_branch_of(op: Operation) -> RegionBranchTrait | None:
    """Return the trait by which `op` branches between its regions; None if it has none."""
    return _region_branches[type(op)]


def _registered(cls: type[Operation]) -> BranchTrait | RegionBranchTrait | None:
    if not _BY_NAME:
        from .structured_flow import TRAITS

        for name, trait in TRAITS.items():
            _BY_NAME.setdefault(name, trait)
    return _BY_NAME.get(cls.name)


def _find_branch(cls: type[Operation]) -> BranchTrait | None:
    if own := cls.get_traits_of_type(BranchTrait):
        return own[0]
    found = _registered(cls)
    return found if isinstance(found, BranchTrait) else None


def _find_region_branch(cls: type[Operation]) -> RegionBranchTrait | None:
    if own := cls.get_traits_of_type(RegionBranchTrait):
        return own[0]
    if isinstance(found := _registered(cls), RegionBranchTrait):
        return found
    theirs: type[OpTrait] | None = getattr(xdsl.traits, "RegionBranchOpTrait", None)
    if theirs is not None and (traits := cls.get_traits_of_type(theirs)):
        return _XDSLRegionBranch(traits[0])
    return None


_branches: Final = PerClass[Operation, BranchTrait | None](_find_branch)
_region_branches: Final = PerClass[Operation, RegionBranchTrait | None](_find_region_branch)


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
        elif point.has_trait(cast("Any", xdsl.traits).RegionBranchTerminatorOpTrait):
            found = trait.successor_regions(op, points(point))
        else:
            return ()
        return [successor.region for successor in found]

    def successor_operands(
        self, op: Operation, point: Operation | None, successor: Region | None
    ) -> range:
        return range(0)


# Removing operands.


def drop_operands(op: Operation, indices: Collection[int]) -> None:
    """Remove the operands of `op` at `indices`, and shorten the segments that they are in."""
    if not indices:
        return
    holder = op.properties if SEGMENTS in op.properties else op.attributes
    if (sizes := holder.get(SEGMENTS)) is not None:
        holder[SEGMENTS] = shorten_segments(sizes, indices)
    op.operands = [operand for i, operand in enumerate(op.operands) if i not in indices]


SEGMENTS: Final = "operandSegmentSizes"
"""The property, or attribute, with the numbers of operands that an operation has of each kind."""


def shorten_segments(sizes: Attribute, indices: Collection[int]) -> Attribute:
    """Return the sizes of segments without the items at `indices`, counted from the first one."""
    start, shorter = 0, list[int]()
    for size in segment_sizes(sizes):
        shorter.append(size - sum(i in indices for i in range(start, start + size)))
        start += size
    return DenseArrayBase.from_list(cast("DenseArrayBase[IntegerType]", sizes).elt_type, shorter)


def segment_sizes(sizes: Attribute) -> Sequence[int]:
    """Return the integers of an array attribute."""
    assert isinstance(sizes, DenseArrayBase)
    return cast("Sequence[int]", cast("DenseArrayBase[IntegerType]", sizes).get_values())
