"""The ranges of parameters whose elements are used as indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ...dialects.relax.constant import constant_integers
from ...dialects.relax.data.concatenation import ConcatenateOp, SplitOp, StackOp
from ...dialects.relax.data.creation import OneHotOp
from ...dialects.relax.data.indexing import (
    GatherNDOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNDOp,
    StridedSliceOp,
    TakeOp,
)
from ...dialects.relax.data.manipulation import (
    BroadcastToOp,
    FlipOp,
    RepeatOp,
    ReverseSequenceOp,
    TileOp,
    TransposeOp,
)
from ...dialects.relax.elementwise.binary import AddOp, MultiplyOp, SubtractOp
from ...dialects.relax.elementwise.elementwise import AstypeOp, WhereOp
from ...dialects.relax.graph import MatchCastOp
from ...dialects.relax.interfaces import View
from ...dialects.relax.shapes import num_elements
from ...dialects.relax.types import is_ranked, shape_of, tensor_type
from ...passmanager.dataflow.sparse import BackwardAnalysis
from ...passmanager.ir.per_class import PerClass

Range: TypeAlias = tuple[int, int]
"""The minimum and the maximum number."""

MOVES = (
    AstypeOp,
    BroadcastToOp,
    ConcatenateOp,
    FlipOp,
    MatchCastOp,
    RepeatOp,
    SplitOp,
    StackOp,
    StridedSliceOp,
    TileOp,
    TransposeOp,
    View,
)
"""Operations whose results have the elements of their operands."""


def index_ranges(module: ModuleOp, func: FuncOp) -> dict[int, Range]:
    """Return the ranges in which elements of parameters are valid indices, by the number of the
    parameter. Parameters whose elements are no indices are left out.

    Elements are used as indices by `func` or by a function that it calls. Before that, they may be
    moved, converted, and shifted or scaled by constants.

    A dimension of unknown size counts as one of size 1. Where uses contradict each other, one of
    them counts; a use for which no index is valid does not count.
    """
    if func.is_declaration:
        return {}
    ranges = IndexRanges(module)
    found = ((arg.index, ranges.state(arg)) for arg in func.args)
    return {number: range for number, range in found if range is not None}


class IndexRanges(BackwardAnalysis[Range]):
    """The ranges in which the elements of values are valid indices."""

    def join(self, a: Range, b: Range) -> Range:
        both = max(a[0], b[0]), min(a[1], b[1])
        return both if both[0] <= both[1] else a

    def widen(self, old: Range, new: Range) -> Range:
        # An index that a loop counts up has to be valid in all iterations: one number is left.
        return new[0], new[0]

    def exit(self, op: Operation, value: SSAValue) -> None:
        return None

    def transfer(self, op: Operation, results: Sequence[Range | None]) -> Sequence[Range | None]:
        wanted = dict(index_operand(op) if _has_indices[type(op)] else ())
        for result in results:
            if result is not None:
                wanted.update(operands_for(op, result))
        # No index may be valid: for `take(x, i + [0, 3])` if x has 3 elements.
        valid = {value: range for value, range in wanted.items() if range[0] <= range[1]}
        return [*map(valid.get, op.operands)] if valid else ()


INDEXED = (
    GatherNDOp | GatherOp | OneHotOp | ReverseSequenceOp | ScatterElementsOp | ScatterNDOp | TakeOp
)
_has_indices = PerClass[Operation, bool](lambda cls: issubclass(cls, INDEXED))


def index_operand(op: Operation) -> Iterator[tuple[SSAValue, Range]]:
    """Yield the operand of `op` that holds indices, with the range of valid ones. Indices that
    count from the end are left out."""
    match op:
        case TakeOp() if (shape := known_shape(op.x)) is not None:
            size = num_elements(shape) if op.axis is None else shape[op.axis]
            yield op.indices, (0, size - 1)
        case GatherOp() | ScatterElementsOp() if (shape := known_shape(op.data)) is not None:
            yield op.indices, (0, shape[op.axis] - 1)
        case GatherNDOp() | ScatterNDOp() if (shape := known_shape(op.data)) is not None:
            # Each index vector addresses several dimensions, but all elements of the tensor get one
            # range: that of the smallest dimension.
            places = shape_of(tensor_type(op.indices))
            first = op.batch_dims if isinstance(op, GatherNDOp) else 0
            if places is not None and places[-1] != DYNAMIC_INDEX:
                yield op.indices, (0, min(shape[first : first + places[-1]]) - 1)
        case ReverseSequenceOp() if (shape := known_shape(op.data)) is not None:
            # A length, and therefore up to the size itself.
            yield op.seq_lengths, (0, shape[op.seq_axis])
        case OneHotOp():
            yield op.indices, (0, op.depth - 1)
        case _:
            pass


def known_shape(value: SSAValue) -> list[int] | None:
    """Return the shape of a tensor, 1 for each unknown size; None without a rank, and if the tensor
    has no elements."""
    shape = shape_of(tensor_type(value)) if is_ranked(value.type) else None
    if shape is None or 0 in shape:
        return None
    return [1 if size == DYNAMIC_INDEX else size for size in shape]


def operands_for(op: Operation, wanted: Range) -> Iterator[tuple[SSAValue, Range]]:
    """Yield the operands of `op` with the ranges that put the result into the range `wanted`."""
    low, high = wanted
    match op:
        case AddOp() | SubtractOp() | MultiplyOp():
            lhs, rhs = op.operands
            if constants := constant_integers(rhs):
                yield lhs, inverse(op, wanted, constants)
            elif not isinstance(op, SubtractOp) and (constants := constant_integers(lhs)):
                yield rhs, inverse(op, wanted, constants)
        case WhereOp():
            _, lhs, rhs = op.operands
            yield lhs, wanted
            yield rhs, wanted
        case _ if isinstance(op, MOVES):
            for operand in op.operands:
                yield operand, (low, high)
        case _:
            pass


def inverse(op: Operation, wanted: Range, constants: tuple[int, ...]) -> Range:
    """Return the range of x for which `op` of x and each of the constants is in a range."""
    low, high = wanted
    minimum, maximum = min(constants), max(constants)
    match op:
        case AddOp():
            return low - minimum, high - maximum
        # `x - c` only: `operands_for` leaves out `c - x`, which reverses the range.
        case SubtractOp():
            return low + maximum, high + minimum
        # Rounded inward: `0 <= 2*x <= 5` is x from 0 to 2.
        case _ if minimum > 0:
            return -(-low // minimum), high // maximum
        # With a factor that is 0 or negative, only x = 0: the product 0 is a valid index.
        case _:
            return 0, 0
