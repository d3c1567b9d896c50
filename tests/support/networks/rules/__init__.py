"""Rules: each picks operands for one kind of operation and returns the operation on placeholders.

A rule raises NotApplicable if no value of the current part fits.
"""

from __future__ import annotations

from collections.abc import Callable

from passline.dialects.relax.base import TensorOp

from ..builder import NetworkBuilder
from .elementwise import astype_rule, bias_rule, binary_rule, clip_rule, unary_rule, where_rule
from .manipulation import (
    concatenate_rule,
    copy_rule,
    image_rule,
    layout_rule,
    pad_rule,
    shape_rule,
    slice_rule,
    split_rule,
    stack_rule,
    take_rule,
)
from .normalization import norm_rule
from .products import attention_rule, einsum_rule, product_rule
from .reduction import reduction_rule, scan_rule, sort_rule
from .windows import convolution_last_rule, convolution_rule, pool_rule

__all__ = ["LINEAR", "RULES", "Rule"]

Rule = Callable[[NetworkBuilder], TensorOp]

RULES: tuple[Rule, ...] = (
    *(unary_rule, binary_rule, binary_rule, unary_rule, binary_rule, where_rule, clip_rule),
    *(astype_rule, convolution_rule, convolution_rule, convolution_rule, convolution_last_rule),
    *(pool_rule, product_rule, product_rule, einsum_rule, bias_rule, norm_rule, norm_rule),
    attention_rule,
    *(reduction_rule, reduction_rule, scan_rule, sort_rule, concatenate_rule, concatenate_rule),
    *(stack_rule, split_rule, shape_rule, shape_rule, copy_rule, pad_rule, slice_rule, take_rule),
    *(image_rule, layout_rule),
)
"""The rules to draw from; a rule listed n times is drawn n times as often."""

LINEAR = (
    *(convolution_rule, convolution_last_rule, pool_rule, product_rule, einsum_rule, norm_rule),
    attention_rule,
)
"""Rules of operations through which `fold-scale-axis` moves scales."""
