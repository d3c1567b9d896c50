"""Scaled dot-product attention."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import bool_prop, check_choice, float_prop, opt_float_prop, string_prop
from ..base import OneResultOp
from ..interfaces import Anchor
from ..shapes import Shape, broadcast, merge, shape_text
from ..types import TENSOR, check_float, shape_of, shape_of_rank, tensor_type, with_shape

__all__ = ["CAUSAL_MASKS", "AttentionOp", "broadcasts_to"]

CAUSAL_MASKS = ("none", "TopLeft", "BottomRight")


@irdl_op_definition
class AttentionOp(Anchor, OneResultOp):
    """softmax(scale * query @ key^T + bias) @ value for each head (ONNX Attention).

    The operands have the dimensions batch, length, heads, dim; keys and values may have fewer
    heads, each for as many consecutive heads of queries (grouped queries). `bias` broadcasts to
    batch, heads, queries, keys. If its elements are `i1`, a score is replaced by `masked_value`
    where it is false.
    """

    name = "relax.nn.attention"

    query = operand_def(TENSOR)
    key = operand_def(TENSOR)
    value = operand_def(TENSOR)
    bias = opt_operand_def(TENSOR)
    scale = opt_float_prop()
    """The factor of the query; 1 / sqrt(dim) by default."""
    causal_mask = string_prop("none")
    """The keys that a query sees: all, those up to its own position ("TopLeft"), or those up to its
    own position where the last query is at the last key ("BottomRight")."""
    masked_value = float_prop(-inf)
    nan_to_zero = bool_prop(False)
    """Whether a query whose weights are NaN, as they are if all of its keys are masked by minus
    infinity, has zeros as its result."""

    def infer_types(self) -> Sequence[Attribute]:
        check_choice("causal_mask", self.causal_mask, CAUSAL_MASKS)
        type = tensor_type(self.query)
        check_float(type)
        for name, operand in (("key", self.key), ("value", self.value)):
            if (element := tensor_type(operand).element_type) != type.element_type:
                raise VerifyException(
                    f"{name} has elements {element}, expected {type.element_type} as in query"
                )
        operands = (("query", self.query), ("key", self.key), ("value", self.value))
        query, key, value = (
            shape_of_rank(f"{name} has", tensor_type(v), 4, "batch, length, heads, dim")
            for name, v in operands
        )
        batch, rows, heads, dim = query
        # All but the dim of keys and values are alike.
        both = merge(key[:3], value[:3])
        if both is None:
            raise VerifyException(
                f"key has shape {shape_text(key)}, value {shape_text(value)}: batch, length and "
                "heads differ"
            )
        shared = merge((batch, dim), (both[0], key[3]))
        if shared is None:
            raise VerifyException(
                f"query has shape {shape_text(query)}, key {shape_text(key)}: batch or dim differ"
            )
        if heads > 0 <= both[2] and (both[2] == 0 or heads % both[2]):
            raise VerifyException(f"{heads} heads of query are not a multiple of {both[2]} of key")
        self._check_bias((shared[0], heads, rows, both[1]))
        result = (shared[0], rows, heads, value[3])
        known = shape_of(type) is not None or shape_of(tensor_type(self.value)) is not None
        return (with_shape(type, result if known else None),)

    def _check_bias(self, scores: Shape) -> None:
        """Raise VerifyException unless the bias broadcasts to the shape of the scores."""
        if self.bias is None:
            return
        type = tensor_type(self.bias)
        element = tensor_type(self.query).element_type
        if type.element_type not in (element, i1):
            raise VerifyException(f"bias has elements {type.element_type}, not {element} or i1")
        shape = shape_of(type)
        if shape is not None and not broadcasts_to(shape, scores):
            raise VerifyException(
                f"bias of shape {shape_text(shape)} does not broadcast to the scores, "
                f"{shape_text(scores)}"
            )


def broadcasts_to(shape: Shape, whole: Shape) -> bool:
    """Return whether a tensor of `shape` may broadcast to `whole` without making it larger."""
    if len(shape) > len(whole):
        return False
    try:
        result = broadcast(shape, whole)
    except VerifyException:
        return False
    return merge(result, whole) is not None
