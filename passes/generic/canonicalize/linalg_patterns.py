"""Folds and patterns of `linalg`, for `canonicalize`. Source: LinalgOps.cpp of MLIR.

The operands of an operation are its inputs, then its outputs: on tensors one for each result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    TensorType,
    i64,
)
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from .by_dialect import Fold, Folded
from .cast_patterns import cast_to
from .constants import truncated_integer
from .shapes import shape_of_type, static_list
from .slice_patterns import may_be_equal, uncast

_GENERIC: Final = "linalg.generic"


def _is_on_tensors(op: Operation) -> bool:
    return all(not hasattr(v.type, "memory_space") for v in op.operands)


def _set_numbers(op: Operation, name: str, numbers: Sequence[int]) -> None:
    op.properties[name] = DenseArrayBase.from_list(i64, numbers)


def _made_by(value: SSAValue, name: str) -> Operation | None:
    """Return the operation of this name on tensors that makes a value, or None."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and owner.name == name else None


def _fold_transpose(op: Operation) -> Folded | None:
    """Fold a transpose of a tensor that moves nothing."""
    order, source = static_list(op.properties["permutation"]), op.operands[0]
    if not op.results or source.type != op.results[0].type:
        return None
    return source if order == [*range(len(order))] else None


def _fold_broadcast(op: Operation) -> Folded | None:
    """Fold a broadcast of a tensor along no dimension."""
    source = op.operands[0]
    if not op.results or source.type != op.results[0].type:
        return None
    return None if static_list(op.properties["dimensions"]) else source


def _maps(op: Operation) -> list[AffineMap]:
    """Return the maps of a `linalg.generic`, one for each operand."""
    maps = cast("ArrayAttr[AffineMapAttr]", op.properties["indexing_maps"])
    return [map.data for map in maps]


def _fold_index(op: Operation) -> Folded | None:
    """Fold the index of a loop of one iteration."""
    loops, dim = op.parent_op(), cast(IntegerAttr, op.properties["dim"]).value.data
    if loops is None or loops.name != _GENERIC:
        return None
    for operand, map in zip(loops.operands, _maps(loops), strict=True):
        shape = shape_of_type(operand.type) or ()
        for expression, size in zip(map.results, shape, strict=False):
            if isinstance(expression, AffineDimExpr) and expression.position == dim and size == 1:
                return truncated_integer(0, IndexType())
    return None


FOLDS: Final[Mapping[str, Fold]] = {
    "linalg.broadcast": _fold_broadcast,
    "linalg.index": _fold_index,
    "linalg.transpose": _fold_transpose,
}


class TransposedTwice(RewritePattern):
    """Replace two transposes of tensors by one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `linalg.transpose`."""
        if (inner := _made_by(op.operands[0], op.name)) is None:
            return
        before = static_list(inner.properties["permutation"])
        order = [before[place] for place in static_list(op.properties["permutation"])]
        op.operands[0] = inner.operands[0]
        _set_numbers(op, "permutation", order)
        rewriter.handle_operation_modification(op)


class TransposedBroadcast(RewritePattern):
    """Broadcast along the permuted dimensions, if the other ones stay in order."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `linalg.transpose`."""
        made = _made_by(op.operands[0], "linalg.broadcast")
        if made is None or not made.results[0].has_one_use():
            return
        order, added = (
            static_list(op.properties["permutation"]),
            static_list(made.properties["dimensions"]),
        )
        kept = [place for place in order if place not in added]
        if kept != sorted(kept):
            return
        new = type(made).create(
            operands=[made.operands[0], op.operands[1]],
            result_types=[op.results[0].type],
            properties=made.properties,
            attributes=made.attributes,
            regions=[region.clone() for region in made.regions],
        )
        _set_numbers(new, "dimensions", [order.index(place) for place in added])
        rewriter.replace(op, new)


class BroadcastTwice(RewritePattern):
    """Replace two broadcasts of tensors by one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `linalg.broadcast`."""
        if (inner := _made_by(op.operands[0], op.name)) is None:
            return
        added = static_list(op.properties["dimensions"])
        rank = len(shape_of_type(op.operands[1].type) or ())
        places = [dim for dim in range(rank) if dim not in added]
        first = [places[dim] for dim in static_list(inner.properties["dimensions"])]
        op.operands[0] = inner.operands[0]
        _set_numbers(op, "dimensions", sorted([*added, *first]))
        rewriter.handle_operation_modification(op)


class SelfCopy(RewritePattern):
    """Drop a copy of a buffer or tensor to itself."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `linalg.copy`."""
        if len(op.operands) == 2 and op.operands[0] is op.operands[1]:
            rewriter.replace(op, (), [op.operands[0]] if op.results else ())


class MovedFill(RewritePattern):
    """Fill the tensor to which a filled one is copied or transposed; copy to what was filled."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `linalg.copy` or `linalg.transpose`."""
        if len(op.results) != 1 or len(op.operands) != 2:
            return
        if (fill := _made_by(op.operands[0], "linalg.fill")) is not None:
            new = fill.clone()
            new.operands[1] = op.operands[1]
            if new.results[0].type == op.results[0].type == op.operands[1].type:
                rewriter.replace(op, new)
        elif op.name == "linalg.copy":
            if (fill := _made_by(op.operands[1], "linalg.fill")) is not None:
                op.operands[1] = fill.operands[1]
                rewriter.handle_operation_modification(op)


class PassedOn(RewritePattern):
    """Replace a `linalg.generic` on tensors that returns elements of operands, with one map for
    all, by these operands; drop one that writes a buffer with its own elements. Source:
    `EraseIdentityLinalgOp` of MLIR."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `linalg.generic`."""
        maps, block = _maps(op), op.regions[0].block
        end = block.first_op
        if end is None or end.name != "linalg.yield" or any(map != maps[0] for map in maps):
            return
        returned: list[SSAValue] = []
        for value in end.operands:
            if not isinstance(value, BlockArgument) or value.block is not block:
                return
            returned.append(op.operands[value.index])
        if not op.results:
            if len(op.operands) == 2 and op.operands[0] is op.operands[1]:
                rewriter.erase(op)
            return
        pairs = [*zip(returned, op.results, strict=True)]
        if not _is_on_tensors(op) or not all(
            value.type.name == TensorType.name
            and may_be_equal(shape_of_type(value.type), shape_of_type(result.type))
            for value, result in pairs
        ):
            return
        new: list[SSAValue] = []
        for value, result in pairs:
            if value.type != result.type:
                value = rewriter.insert(cast_to(tensor.CastOp, value, result.type)).results[0]
            new.append(value)
        rewriter.replace(op, (), new)


_CHECKED: Final = ("linalg.broadcast", "linalg.reduce", "linalg.transpose")
"""The operations of which xDSL demands equal sizes, known or not, of operands and results."""


class LinalgUncast(RewritePattern):
    """Compute with the tensors that were cast to less known types. Source:
    `FoldTensorCastProducerOp` of MLIR."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite an operation on tensors."""
        if not op.results or op.name in _CHECKED or not _is_on_tensors(op):
            return
        operands = [uncast(value) or value for value in op.operands]
        if all(a is b for a, b in zip(operands, op.operands, strict=True)):
            return
        outputs = operands[len(operands) - len(op.results) :]
        new = type(op).create(
            operands=operands,
            result_types=[output.type for output in outputs],
            properties=op.properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in [*op.regions]],
        )
        rewriter.insert(new)
        results: list[SSAValue] = []
        for made, old in zip(new.results, op.results, strict=True):
            value: SSAValue = made
            if made.type != old.type:
                value = rewriter.insert(cast_to(tensor.CastOp, made, old.type)).results[0]
            results.append(value)
        rewriter.replace(op, (), results)


NAMED: Final[Mapping[str, Sequence[RewritePattern]]] = {
    "linalg.broadcast": (BroadcastTwice(),),
    "linalg.copy": (SelfCopy(), MovedFill()),
    _GENERIC: (PassedOn(),),
    "linalg.transpose": (TransposedTwice(), TransposedBroadcast(), MovedFill()),
}
PATTERNS: Final[tuple[RewritePattern, ...]] = (LinalgUncast(),)
