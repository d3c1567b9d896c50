"""The traits of operations that branch to blocks or between regions; removal of operands.

Both have the shape of MLIR's `BranchOpInterface` and `RegionBranchOpInterface`, and of xDSL's since
0.75, whose `RegionBranchOpTrait` knows regions, but not yet the operands that go to them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Final, TypeAlias, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.traits import OpTrait

__all__ = ["BranchTrait", "Constants", "RegionBranchTrait", "drop_operands"]

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
        return () if (first := successor.first_block) is None else first.args

    @abstractmethod
    def successor_operands(
        self, op: Operation, point: Operation | None, successor: Region | None
    ) -> range:
        """Return the indices of the operands, of `point` or of `op` if it is None, that become the
        inputs of `successor`, one for each.

        Fewer than inputs mean that the values of the inputs are not known.
        """


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
