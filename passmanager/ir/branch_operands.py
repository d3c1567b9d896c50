"""Adding operands to branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from .branching import SEGMENTS, segment_sizes
from .control_flow import branch_of

__all__ = ["append_successor_operands"]

CASES = "case_operand_segments"
"""The property of a switch with the numbers of operands of its cases."""


def append_successor_operands(op: Operation, index: int, values: Sequence[SSAValue]) -> None:
    """Let the branch `op` pass `values`, too, to its successor `index`, after what it passes."""
    trait = branch_of(op)
    assert trait is not None
    place = trait.successor_operands(op, index)
    holder = op.properties if SEGMENTS in op.properties else op.attributes
    if SEGMENTS in holder:
        if CASES in op.properties and index > 0:
            _grow(op.properties, CASES, index - 1, len(values))
            segment = len(segment_sizes(holder[SEGMENTS])) - 1
        else:
            # The forwarded operands of a branch are its last segments, one for each successor; a
            # switch has one for all its cases.
            count = len(segment_sizes(holder[SEGMENTS]))
            successors = 2 if CASES in op.properties else len(op.successors)
            segment = count - successors + index
        _grow(holder, SEGMENTS, segment, len(values))
    operands = [*op.operands]
    op.operands = [*operands[: place.stop], *values, *operands[place.stop :]]


def _grow(holder: dict[str, Attribute], name: str, place: int, by: int) -> None:
    old = cast("DenseArrayBase[IntegerType]", holder[name])
    sizes = [*segment_sizes(old)]
    sizes[place] += by
    holder[name] = DenseArrayBase.from_list(old.elt_type, sizes)
