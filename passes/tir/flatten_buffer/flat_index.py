"""Indices into flat buffers: an offset plus the sum of each index times its stride, simplified."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ....compiler.analysis.arith.linear_form import ONE, ZERO
from ....compiler.analysis.arith.materialize import FormBuilder
from ....compiler.analysis.memory.flat_layout import FlatLayout

__all__ = ["build_flat_index"]


def build_flat_index(
    layout: FlatLayout, indices: Sequence[SSAValue], builder: FormBuilder
) -> SSAValue:
    """Return the index in the flat buffer of the element at `indices`.

    The sum is simplified with the facts of the analyzer (`i div 4 * 4 + i mod 4` is `i`). Where
    the simplified form costs more operations than the plain sum, the plain sum is built.
    """
    analyzer = builder.analyzer
    has_offset = layout.offset != ZERO
    total = layout.offset
    # n terms are added by n - 1 operations, and the offset is a term, too. The strides are not
    # counted: those of a buffer are constants, or computed once for all accesses.
    plain_cost = builder.cost(layout.offset) if has_offset else -1
    for index, stride in zip(indices, layout.strides, strict=True):
        analyzer.make_available(index)
        form = analyzer.linear(index)
        if form != ZERO:
            plain_cost += 1 + (stride != ONE)
        total = analyzer.add(total, analyzer.multiply(form, stride))
    # At equal cost the simplified sum: another access may have the same form, and reuses its value.
    if builder.cost(total) <= plain_cost:
        value = builder.build(total)
    else:
        value = _build_plain_sum(layout, indices, builder)
    analyzer.make_available(value)
    return value


def _build_plain_sum(
    layout: FlatLayout, indices: Sequence[SSAValue], builder: FormBuilder
) -> SSAValue:
    """Return `offset + i[0] * strides[0] + ...`, without terms that are 0 or factors of 1."""
    total = builder.build(layout.offset) if layout.offset != ZERO else None
    for index, stride in zip(indices, layout.strides, strict=True):
        if builder.analyzer.linear(index) == ZERO:
            continue
        term = index
        if stride != ONE:
            product = arith.MuliOp(index, builder.build(stride))
            Rewriter.insert_op(product, builder.at)
            term = product.result
        if total is not None:
            sum = arith.AddiOp(total, term)
            Rewriter.insert_op(sum, builder.at)
            term = sum.result
        total = term
    return builder.build(ZERO) if total is None else total
