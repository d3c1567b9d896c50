"""The forms in which exporters write out attention: products, scales, masks and transpositions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...compiler.analysis.symbolic_shapes import SymbolicShapes
from ...compiler.interpreters.arrays import Array, element_of, float_limits
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.contraction.attention import AttentionOp, broadcasts_to
from ...dialects.relax.contraction.linear_algebra import BatchMatmulOp, MatmulOp
from ...dialects.relax.data.manipulation import (
    BroadcastToOp,
    ExpandDimsOp,
    RepeatOp,
    SqueezeOp,
    TransposeOp,
)
from ...dialects.relax.elementwise.binary import AddOp, DivideOp, MultiplyOp
from ...dialects.relax.elementwise.elementwise import WhereOp
from ...dialects.relax.elementwise.unary import IsNanOp, LogicalNotOp
from ...dialects.relax.interfaces import View
from ...dialects.relax.reduction.nn import SoftmaxOp
from ...dialects.relax.shapes import Shape
from ...dialects.relax.types import Float, shape_of, tensor_type
from ...dialects.sizes import Size
from ...passmanager.fast.pattern_driver import actions_of
from ..arrays import Known, constant_of, known
from .operation_forms import scalar, used_outside

LOWEST = -float(np.finfo(np.float32).max)
"""Half of it masks a key as minus infinity does."""


@dataclass(frozen=True)
class Mask:
    """The change of the scores before softmax."""

    bias: SSAValue
    """The summand, or a condition."""
    masked_value: float | None = None
    """The value in place of a score where the condition is false."""
    negated: bool = False
    """Whether the score is replaced where the condition is true instead."""


@dataclass(frozen=True)
class Scores:
    """The scores of attention: products of queries and keys, scaled and masked."""

    query: SSAValue
    """The queries: leading dimensions, queries, dim."""
    key: SSAValue
    """The keys: leading dimensions, dim, keys; of `keys_are_rows`, keys and dim."""
    keys_are_rows: bool = False
    scale: float = 1.0
    mask: Mask | None = None
    nan_to_zero: bool = False


class RecognizeAttention(RewritePattern):
    """Replace the products, scales, masks and the softmax of attention by one operation.

    With four dimensions they are batch, heads, length, dim. Of three, the first becomes the heads
    if the queries are transposed to it, else the batch.
    """

    def __init__(self) -> None:
        self.shapes: SymbolicShapes | None = None
        """The shapes in the function, once unknown sizes were compared. They are those of before
        the pass: nothing is known of values that it inserts."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatmulOp | BatchMatmulOp, rewriter: PatternRewriter, /) -> None:
        weights, type = weights_of(op.lhs), tensor_type(op.result)
        if weights is None or not is_last(weights.softmax):
            return
        if isinstance(op, BatchMatmulOp) and (op.transpose_a or op.transpose_b):
            return
        element = type.element_type
        if not isinstance(element, Float) or element != tensor_type(op.lhs).element_type:
            return
        # With other uses the scores are computed anyway: attention would compute them twice.
        scores = None if weights.used_outside else scores_of(weights.softmax.data)
        if scores is None:
            actions_of(rewriter).missed(
                op, "NoAttention", "a softmax, but not of products that are only scaled and masked"
            )
            return
        if not self.have_same_batch(scores, op.rhs):
            return
        scores = replace(scores, nan_to_zero=weights.nan_to_zero)
        if (new := attention_of(scores, op.rhs, rewriter)) is not None:
            rewriter.replace(op, (), [new])

    def have_same_batch(self, scores: Scores, value: SSAValue) -> bool:
        """Return whether all leading dimensions are known, or those of the operands are equal and
        the mask broadcasts to them."""
        operands = (scores.query, scores.key, value)
        if all(DYNAMIC_INDEX not in (shape_of(tensor_type(v)) or ())[:-2] for v in operands):
            return True
        if self.shapes is None:
            self.shapes = SymbolicShapes.of_function(function_around(value))
        query, *others = (self.shapes.of(operand) or () for operand in operands)
        if any(other[:-2] != query[:-2] for other in others):
            return False
        if scores.mask is None:
            return True
        mask = self.shapes.of(scores.mask.bias) or ()
        pairs = zip(reversed(mask[:-2]), reversed(query[:-2]), strict=False)
        return all(size in (whole, Size.of(1)) for size, whole in pairs)


def function_around(value: SSAValue) -> FuncOp:
    """Return the function in which `value` is."""
    op = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
    while not isinstance(op, FuncOp):
        assert op is not None
        op = op.parent_op()
    return op


@dataclass(frozen=True)
class AttentionWeights:
    """The weights of attention: the result of a softmax, or zeros where it is NaN."""

    softmax: SoftmaxOp
    used_outside: bool
    """Whether the weights, or what they are computed from, have other uses."""
    nan_to_zero: bool


def weights_of(value: SSAValue) -> AttentionWeights | None:
    """Return the softmax that computes the weights `value`; None if there is none."""
    op = value.owner
    if isinstance(op, SoftmaxOp):
        return AttentionWeights(op, not value.has_one_use(), False)
    # PyTorch's exporter writes `where(isnan(weights), 0, weights)`.
    if not isinstance(op, WhereOp) or not isinstance(nan := op.condition.owner, IsNanOp):
        return None
    softmax = op.x2.owner
    if nan.operands[0] is not op.x2 or not isinstance(softmax, SoftmaxOp) or scalar(op.x1) != 0:
        return None
    once = value.has_one_use() and op.condition.has_one_use()
    return AttentionWeights(softmax, not once or used_outside(softmax, {nan, op}), True)


def is_last(softmax: SoftmaxOp) -> bool:
    """Return whether `softmax` is along the last dimension."""
    shape = shape_of(tensor_type(softmax.data))
    return softmax.axis == -1 or (shape is not None and softmax.axis == len(shape) - 1)


# The scores


def scores_of(value: SSAValue) -> Scores | None:
    """Return how the operand of a softmax is computed from queries and keys: a mask at the end, and
    scales before it; None if it is not. No part has other uses."""
    if not value.has_one_use():
        return None
    op = value.owner
    if isinstance(op, AddOp):
        # The types tell them apart: the mask may broadcast, the products have the shape of the
        # result.
        for inner, bias in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if inner.type == value.type and (found := scaled_products(inner)) is not None:
                return replace(found, mask=Mask(bias))
        return None
    if isinstance(op, WhereOp):
        # `where(allowed, scores, -inf)` of some exporters is `where(forbidden, -inf, scores)` of
        # others.
        for inner, fill, negated in ((op.x1, op.x2, False), (op.x2, op.x1, True)):
            number = scalar(fill)
            if number is None or inner.type != value.type:
                continue
            if (found := scaled_products(inner)) is not None:
                return replace(found, mask=Mask(op.condition, number, negated))
        return None
    return scaled_products(value)


def scaled_products(value: SSAValue) -> Scores | None:
    """Return the products of a query and a key, times numbers; None if `value` is not that."""
    if not value.has_one_use():
        return None
    op = value.owner
    if isinstance(op, MatmulOp):
        return Scores(op.lhs, op.rhs)
    if isinstance(op, BatchMatmulOp):
        same = tensor_type(op.lhs).element_type == tensor_type(op.result).element_type
        rows = op.transpose_b
        return Scores(op.lhs, op.rhs, keys_are_rows=rows) if same and not op.transpose_a else None
    if (factor := factor_of(value)) is None or (inner := scaled_products(factor[0])) is None:
        return None
    return replace(inner, scale=inner.scale * factor[1])


def factor_of(value: SSAValue) -> tuple[SSAValue, float] | None:
    """Return the tensor and the number whose product `value` is, of the same type; None if it is
    no such product."""
    op = value.owner
    if isinstance(op, MultiplyOp):
        for inner, constant in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            number = scalar(constant)
            if number is not None and isfinite(number) and inner.type == value.type:
                return inner, number
    if isinstance(op, DivideOp) and op.lhs.type == value.type:
        number = scalar(op.rhs)
        if number is not None and isfinite(number) and number:
            # Rounded once more than the division, within what the pass declares (`rounds`).
            return op.lhs, 1 / number
    return None


# The operands


@dataclass(frozen=True)
class AttentionOperand:
    """Queries, keys or values: a transposition of `source`, times a number."""

    source: SSAValue
    axes: tuple[int, ...]
    """The dimension of the source that each dimension of the operand is."""
    scale: float = 1.0
    group: int = 1
    """How often each head of the source is repeated."""

    @staticmethod
    def of(
        value: SSAValue,
        axes: Sequence[int],
        *,
        heads: int | None = None,
        factors: bool = True,
    ) -> AttentionOperand:
        """Look through the transpositions that compute `value`, through products with numbers
        (`factors`), and through one repetition along dimension `heads`."""
        operand = AttentionOperand(value, (*axes,))
        while True:
            source = operand.source
            op = source.owner
            if isinstance(op, TransposeOp) and (order := op.order()) is not None:
                # Dimension i of the operand is `axes[i]` of the value, which is `order[axes[i]]` of
                # the data.
                moved = tuple(order[axis] for axis in operand.axes)
                operand = replace(operand, source=op.data, axes=moved)
                heads = None if heads is None else order[heads]
            elif factors and source.has_one_use() and (factor := factor_of(source)):
                scale = operand.scale * factor[1]
                operand = replace(operand, source=factor[0], scale=scale)
            # Grouped-query attention: attention itself reads each head of the keys `group` times.
            elif heads is not None and (found := repeated(source, heads)):
                operand, heads = replace(operand, source=found[0], group=found[1]), None
            else:
                return operand

    def inserted(self, rewriter: PatternRewriter, new: Sequence[int]) -> SSAValue:
        """Insert the transposition, and dimensions of size 1 at `new`."""
        value = self.source
        if self.axes != tuple(range(len(self.axes))):
            value = rewriter.insert(TransposeOp(value, axes=self.axes)).result
        return rewriter.insert(ExpandDimsOp(value, axis=new)).result if new else value


def repeated(value: SSAValue, axis: int) -> tuple[SSAValue, int] | None:
    """Return the tensor of rank 4 whose slices along `axis` are repeated in `value`, each `group`
    times in a row, and `group`: by `repeat`, or by a new dimension behind the axis that is
    broadcast and merged."""
    owner, shape = value.owner, shape_of(tensor_type(value))
    if shape is None or DYNAMIC_INDEX in shape:
        return None
    if isinstance(owner, RepeatOp) and owner.axis is not None and owner.axis % 4 == axis:
        return owner.data, owner.repeats
    if not isinstance(owner, View):
        return None
    expand = owner.operands[0].owner
    if not isinstance(expand, BroadcastToOp) or not isinstance(expand.data.owner, View):
        return None
    source = expand.data.owner.operands[0]
    given, middle, wide = (shape_of(tensor_type(v)) for v in (source, expand.data, expand.result))
    if given is None or middle is None or wide is None or len(given) != 4 or len(wide) != 5:
        return None
    group = wide[axis + 1]
    unit = (*given[: axis + 1], 1, *given[axis + 1 :])
    whole = (*given[:axis], given[axis] * group, *given[axis + 1 :])
    fits = middle == unit and wide == (*unit[: axis + 1], group, *unit[axis + 2 :])
    return (source, group) if fits and whole == shape else None


@dataclass(frozen=True)
class Operands:
    """The operands of attention, and how its result becomes that of the last product."""

    query: AttentionOperand
    key: AttentionOperand
    value: AttentionOperand
    new: Sequence[int]
    """The dimensions of size 1 that the operands and the result of attention have beside."""
    order: Sequence[int]
    """The transposition of the result."""

    @staticmethod
    def of(scores: Scores, value: SSAValue, rank: int) -> Operands:
        rows, dim = (rank - 2, rank - 1) if scores.keys_are_rows else (rank - 1, rank - 2)

        def operands(
            order: Sequence[int], new: Sequence[int], heads: int | None = None
        ) -> Operands:
            # Keys that are columns, as `q @ k.T` has them, are read as rows: one more
            # transposition.
            keys = [{rank - 2: rows, rank - 1: dim}.get(axis, axis) for axis in order]
            return Operands(
                AttentionOperand.of(scores.query, order),
                AttentionOperand.of(scores.key, keys, heads=heads),
                AttentionOperand.of(value, order, heads=heads, factors=False),
                new,
                order,
            )

        if rank == 4:
            grouped = operands((0, 2, 1, 3), (), heads=1)
            # Attention has one number of heads for keys and values.
            same = grouped.key.group == grouped.value.group
            return grouped if same else operands((0, 2, 1, 3), ())
        if rank == 3:
            # Queries (length, heads, dim) that were transposed to (heads, length, dim) need no
            # transposition at all then: attention reads batch, length, heads, dim.
            by_heads = operands((1, 0, 2), (0,))
            return by_heads if by_heads.query.axes == (0, 1, 2) else operands((0, 1, 2), (2,))
        return operands((0, 1), (0, 2))


def attention_of(scores: Scores, value: SSAValue, rewriter: PatternRewriter) -> SSAValue | None:
    """Insert attention, and what brings its operands and its result into shape; return the result.

    None if the operands broadcast, or if the scale is greater than 1: the scaled queries could then
    be infinite where the scores are not; or if it is so small that the scaled queries lose digits
    that the scores have. Leading dimensions of unknown size are equal.
    """
    shapes = [shape_of(tensor_type(operand)) for operand in (scores.query, scores.key, value)]
    query, key, value_shape = (shape or () for shape in shapes)
    rank = len(query)
    if not 2 <= rank <= 4:
        return None
    if key[:-2] not in (query[:-2], (*query[:1], 1)[: rank - 2]) or len(key) != rank:
        return None
    if len(value_shape) != rank or value_shape[:-2] != key[:-2]:
        return None
    operands = Operands.of(scores, value, rank)
    scale = scores.scale * operands.query.scale * operands.key.scale
    if not sqrt(float_limits(element_of(tensor_type(scores.query))).normal) <= abs(scale) <= 1:
        return None
    mask = PreparedMask()
    if scores.mask is not None:
        shape = (*query[:-1], key[-2 if scores.keys_are_rows else -1])
        by_batch = tuple(operands.new) == (2,)
        if (mask := prepared_mask(scores.mask, shape, by_batch, rewriter)) is None:
            return None
    inputs = [
        operand.inserted(rewriter, operands.new)
        for operand in (operands.query, operands.key, operands.value)
    ]
    attention = AttentionOp(
        *inputs,
        *mask.bias,
        scale=scale,
        causal_mask=mask.causal_mask,
        masked_value=mask.masked_value,
        nan_to_zero=scores.nan_to_zero,
    )
    result = rewriter.insert(attention).result
    if operands.new:
        result = rewriter.insert(SqueezeOp(result, axis=operands.new)).result
    if operands.order != tuple(range(rank)):
        result = rewriter.insert(TransposeOp(result, axes=operands.order)).result
    return result


# The mask


@dataclass(frozen=True)
class PreparedMask:
    """The operand and the properties of attention for a mask."""

    bias: Sequence[SSAValue] = ()
    causal_mask: str = "none"
    masked_value: float = -inf


def prepared_mask(
    mask: Mask, scores: Shape, by_batch: bool, rewriter: PatternRewriter
) -> PreparedMask | None:
    """Return the operand and the properties for a mask of `scores`, a shape; None if it does not
    broadcast to them. With `by_batch`, the first of three dimensions is the batch."""
    bias, shape = mask.bias, shape_of(tensor_type(mask.bias))
    if shape is None or not broadcasts_to(shape, scores):
        return None
    # The kernel then skips the masked half, and reads no mask.
    if (causal := causal_mask(mask, scores)) is not None:
        return PreparedMask(causal_mask=causal)
    if mask.negated and (elements := known(bias)) is not None:
        inverse = Known(np.logical_not(elements.array), elements.shape)
        bias = rewriter.insert(constant_of(inverse, element_of(tensor_type(bias)))).results[0]
    elif mask.negated:
        bias = rewriter.insert(LogicalNotOp(bias)).result
    if by_batch and len(shape) == 3:
        bias = rewriter.insert(ExpandDimsOp(bias, axis=[1])).result
    masked_value = -inf if mask.masked_value is None else mask.masked_value
    return PreparedMask([bias], masked_value=masked_value)


def causal_mask(mask: Mask, scores: Shape) -> str | None:
    """Return the causal mask that a constant mask is equal to, or None. Masked scores become minus
    infinity, or a number so low that its exponential is 0 beside that of any other."""
    if not isinstance(mask.bias.owner, ConstantOp | FullOp) or DYNAMIC_INDEX in scores[-2:]:
        return None
    elements = known(mask.bias)
    if elements is None or not elements.array.ndim >= 2:
        return None
    array = elements.array
    # One mask for all heads and batches, as the property has it.
    if array.shape[-2:] != scores[-2:] or any(size != 1 for size in array.shape[:-2]):
        return None
    seen = seen_keys(mask, array.reshape(array.shape[-2:]))
    if seen is None:
        return None
    rows, columns = scores[-2:]
    # Row i sees the keys up to i, or up to i and those that were there before: with a cache of past
    # keys there are more columns than rows.
    for name, past in (("TopLeft", 0), ("BottomRight", columns - rows)):
        if past >= 0 and np.array_equal(seen, np.tri(rows, columns, past, dtype=bool)):
            return name
    return None


def seen_keys(mask: Mask, array: Array) -> Array | None:
    """Return which keys a constant mask lets through; None if it does more than to mask."""
    if mask.masked_value is not None:
        if mask.masked_value > LOWEST / 2:
            return None
        return np.logical_not(array) if mask.negated else array
    numbers = array.astype(np.float64)
    # Exporters write -inf or the minimum f32; the exponential of either, and of half of it, is 0
    # beside that of an ordinary score.
    masked = numbers <= LOWEST / 2
    return np.logical_not(masked) if (masked | (numbers == 0)).all() else None
