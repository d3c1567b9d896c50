"""Rewrite patterns of the reshapes of buffers and tensors, the same for `memref` and `tensor`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, TypeAlias, cast

from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .cast_patterns import cast_to
from .shapes import (
    DYNAMIC,
    Size,
    folded,
    groups_attribute,
    layout_of,
    mixed,
    reassociation,
    shape_of_type,
    split,
    static_sizes,
    with_shape,
)
from .slice_patterns import replace_with, uncast

Expansion: TypeAlias = memref.ExpandShapeOp | tensor.ExpandShapeOp
Collapse: TypeAlias = memref.CollapseShapeOp | tensor.CollapseShapeOp


def fold_reshape(op: Operation) -> SSAValue | None:
    """Fold a reshape to the same type, or back to the type of the operand of another one."""
    source, to = op.operands[0], op.results[0].type
    if source.type == to and _is_static(to, 1):
        return source
    inner = source.owner
    if isinstance(op, Collapse) and isinstance(inner, Expansion) and inner.src.type == to:
        return inner.src if reassociation(op) == reassociation(inner) else None
    if isinstance(op, Expansion) and isinstance(inner, Collapse) and inner.src.type == to:
        shape, groups = shape_of_type(to) or (), reassociation(op)
        if groups == reassociation(inner) and all(
            [shape[index] for index in group].count(DYNAMIC) < 2 for group in groups
        ):
            return inner.src
    return None


def _is_static(type: Attribute, unknown: int) -> bool:
    """Return whether a type has at most `unknown` unknown sizes."""
    shape = shape_of_type(type)
    return shape is not None and shape.count(DYNAMIC) <= unknown


class MergeEqualReshapes(RewritePattern):
    """Replace two expansions, or two collapses, by one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Expansion | Collapse, rewriter: PatternRewriter, /) -> None:
        inner = op.operands[0].owner
        if type(inner) is not type(op):
            return
        assert isinstance(inner, Expansion | Collapse)
        finer, coarser = (op, inner) if isinstance(op, Expansion) else (inner, op)
        groups = _composed(reassociation(coarser), reassociation(finer))
        if groups is None:
            return
        rewriter.replace(op, _reshaped(op, inner.operands[0], op.results[0].type, groups))


def _composed(outer: list[list[int]], inner: list[list[int]]) -> list[list[int]] | None:
    """Return the groups of dimensions of `inner` in each group of `outer`."""
    if not outer:
        return [] if not inner or all(inner) else None
    return [[index for group in (inner[i] for i in row) for index in group] for row in outer]


def _reshaped(
    op: Expansion | Collapse, source: SSAValue, type: Attribute, groups: Sequence[Sequence[int]]
) -> Operation:
    """Return a reshape of the class of `op`."""
    properties = {**op.properties, "reassociation": groups_attribute(groups)}
    operands = [source, *op.operands[1:]]
    return op.__class__.create(operands=operands, result_types=[type], properties=properties)


class CollapseExpanded(RewritePattern):
    """Replace a collapse of an expansion by one reshape, if the groups of one of them are made of
    whole groups of the other. Source: `ComposeCollapseOfExpandOp` of MLIR."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Collapse, rewriter: PatternRewriter, /) -> None:
        inner = op.src.owner
        if not isinstance(inner, Expansion):
            return
        source, to = inner.src, op.result.type
        old, new = shape_of_type(source.type), shape_of_type(to)
        if isinstance(op, memref.CollapseShapeOp):
            # The same buffer, in a type that writes its layout in another way.
            if reassociation(op) == reassociation(inner) and old == new:
                if layout_of(source.type) == layout_of(to):
                    rewriter.replace(op, cast_to(memref.CastOp, source, to))
            return  # layouts of other buffers would have to be computed
        if old is None or new is None or source.type == to:
            return
        finer, coarser = reassociation(inner), reassociation(op)
        if len(old) <= len(new):
            finer, coarser = coarser, finer
        if (groups := _grouped(finer, coarser)) is None:
            return
        if len(old) > len(new):
            rewriter.replace(op, _tensor_reshape(tensor.CollapseShapeOp, source, to, groups))
        elif len(old) == len(new):
            rewriter.replace(op, cast_to(tensor.CastOp, source, to))
        else:
            sizes = mixed(inner.static_output_shape, cast(Any, inner).operands[1:])
            products = [
                _size_product([sizes[index] for index in group], rewriter)
                for group in reassociation(op)
            ]
            rewriter.replace(
                op, _tensor_reshape(tensor.ExpandShapeOp, source, to, groups, products)
            )


class ExpandCollapsed(RewritePattern):
    """Replace an expansion of a collapse by one reshape, if each group of the one can be made of
    that of the other. Source: `ComposeExpandOfCollapseOp` of MLIR."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExpandShapeOp, rewriter: PatternRewriter, /) -> None:
        inner = op.src.owner
        if not isinstance(inner, tensor.CollapseShapeOp):
            return
        source, to = inner.src, op.result.type
        old, new = shape_of_type(source.type), shape_of_type(to)
        if old is None or new is None or len(old) == len(new):
            return
        if len(old) > len(new):
            groups = _regrouped(reassociation(inner), reassociation(op), old, new)
            if groups is not None:
                rewriter.replace(op, _tensor_reshape(tensor.CollapseShapeOp, source, to, groups))
        else:
            groups = _regrouped(reassociation(op), reassociation(inner), new, old)
            if groups is not None:
                sizes = mixed(op.static_output_shape, cast(Any, op).operands[1:])
                rewriter.replace(
                    op, _tensor_reshape(tensor.ExpandShapeOp, source, to, groups, sizes)
                )


def _tensor_reshape(
    kind: type[tensor.CollapseShapeOp] | type[tensor.ExpandShapeOp],
    source: SSAValue,
    type: Attribute,
    groups: Sequence[Sequence[int]],
    sizes: Sequence[Size] = (),
) -> Operation:
    """Return a reshape of `source`; an expansion has `sizes`."""
    properties = {"reassociation": groups_attribute(groups)}
    dynamic: list[SSAValue] = []
    if kind is tensor.ExpandShapeOp:
        properties["static_output_shape"], dynamic = split(sizes)
    return kind.create(operands=[source, *dynamic], result_types=[type], properties=properties)


def _size_product(sizes: Sequence[Size], rewriter: PatternRewriter) -> Size:
    """Return the product of sizes, for which operations are inserted if some are values."""
    number = math.prod(size for size in sizes if isinstance(size, int))
    values = [size for size in sizes if isinstance(size, SSAValue)]
    if not values:
        return number
    product = values[0]
    for value in values[1:]:
        product = rewriter.insert(arith.MuliOp(product, value)).result
    if number != 1:
        constant = rewriter.insert(arith.ConstantOp.from_int_and_width(number, IndexType()))
        product = rewriter.insert(arith.MuliOp(product, constant.result)).result
    return product


def _grouped(
    finer: Sequence[Sequence[int]], coarser: Sequence[Sequence[int]]
) -> list[list[int]] | None:
    """Return which of the groups `finer` each of the groups `coarser` is made of, or None."""
    groups: list[list[int]] = []
    index = 0
    for group in coarser:
        made: list[int] = []
        while index < len(finer):
            last = finer[index][-1]
            if last > group[-1]:
                return None
            made.append(index)
            index += 1
            if last == group[-1]:
                break
        groups.append(made)
    return groups


def _regrouped(
    many_groups: Sequence[Sequence[int]],
    few_groups: Sequence[Sequence[int]],
    many: Sequence[int],
    few: Sequence[int],
) -> list[list[int]] | None:
    """Return the groups of the sizes `many` that are the sizes `few`, within pairs of groups of
    both that are the same size; None if there are none or more than one choice."""
    if not many_groups:
        return matched_groups(many, few)
    groups: list[list[int]] = []
    for many_group, few_group in zip(many_groups, few_groups, strict=True):
        sizes, wanted = [many[index] for index in many_group], [few[index] for index in few_group]
        if min(sizes.count(DYNAMIC), wanted.count(DYNAMIC)) >= 2:
            return None
        if len(sizes) == len(wanted):
            if sizes != wanted:
                return None
            groups += [[index] for index in many_group]
            continue
        if (matched := matched_groups(sizes, wanted)) is None:
            return None
        groups += [[many_group[index] for index in group] for group in matched]
    return groups


def matched_groups(many: Sequence[int], few: Sequence[int]) -> list[list[int]] | None:
    """Return the groups of the sizes `many` whose products are the sizes `few`; None if there are
    none, or if more than one of `few` is unknown. The unknown one gets all that is left."""
    if not few:
        return [] if all(size in (1, DYNAMIC) for size in many) else None
    if few.count(DYNAMIC) > 1:
        return None
    at = few.index(DYNAMIC) if DYNAMIC in few else len(few)
    first = _static_groups(many, few[:at])
    last = _static_groups(many[::-1], few[at + 1 :][::-1])
    if first is None or last is None:
        return None
    start, end = sum(map(len, first)), len(many) - sum(map(len, last))
    if at == len(few):
        if any(size != 1 for size in many[start:]):
            return None
        first[-1] += range(start, len(many))
        return first
    if start >= end or DYNAMIC not in many[start:end]:
        return None
    after = [[len(many) - 1 - index for index in group][::-1] for group in last[::-1]]
    return [*first, [*range(start, end)], *after]


def _static_groups(many: Sequence[int], few: Sequence[int]) -> list[list[int]] | None:
    """Return the groups of the first of `many` whose products are the known sizes `few`."""
    groups: list[list[int]] = []
    index = 0
    for size in few:
        group, product = list[int](), 1
        while index < len(many) and many[index] != DYNAMIC and (not group or product < size):
            product *= many[index]
            group.append(index)
            index += 1
        if not group or product != size:
            return None
        groups.append(group)
    return groups


class CollapseOfCast(RewritePattern):
    """Collapse what was cast, if the result is of the same or a more static type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Collapse, rewriter: PatternRewriter, /) -> None:
        if (source := uncast(op.src)) is None:
            return
        shape, groups = shape_of_type(source.type), reassociation(op)
        if shape is None:
            return
        layout = layout_of(source.type)
        if isinstance(op, memref.CollapseShapeOp) and _is_strided(source.type):
            return
        if isinstance(op, memref.CollapseShapeOp) and layout is None:
            return
        sizes = [_product([shape[index] for index in group]) for group in groups]
        if isinstance(op, memref.CollapseShapeOp) and _is_strided(op.result.type):
            return
        replace_with(rewriter, op, _reshaped(op, source, with_shape(op.result.type, sizes), groups))


def _is_strided(type: Attribute) -> bool:
    """Return whether a buffer type has a layout of its own."""
    if not isinstance(type, MemRefType):
        return False
    return not isinstance(cast("MemRefType[Attribute]", type).layout, NoneAttr)


def _product(sizes: Sequence[int]) -> int:
    product = 1
    for size in sizes:
        if size == DYNAMIC:
            return DYNAMIC
        product *= size
    return product


class ConstantExpansion(RewritePattern):
    """Write the constant sizes of an expansion into its type, also of a cast operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Expansion, rewriter: PatternRewriter, /) -> None:
        dynamic = cast(Any, op).operands[1:]
        old = mixed(op.static_output_shape, dynamic)
        sizes = folded(old, 0)
        source = op.src
        if (plain := uncast(source)) is not None:
            source = plain
        elif _is_strided(source.type) or _is_strided(op.result.type) or old == sizes:
            return
        shape = shape_of_type(source.type)
        if shape is None:
            return
        wholes = [*shape]
        for position, group in enumerate(reassociation(op)):
            whole = shape[position]
            unknown = [index for index in group if isinstance(sizes[index], SSAValue)]
            # A size must be unknown if and only if one of its group is.
            if whole == DYNAMIC:
                if not unknown:
                    return
            elif len(unknown) == 1:
                rest = _product([int(cast(int, sizes[i])) for i in group if i not in unknown])
                if not rest or whole % rest:
                    return
                sizes[unknown[0]] = whole // rest
            elif unknown:
                wholes[position] = DYNAMIC
        static, operands = split(sizes)
        if wholes != shape:
            if isinstance(op, memref.ExpandShapeOp) or operands == [*dynamic]:
                return
            partial = with_shape(source.type, wholes)
            if partial == op.src.type:
                source = op.src
            else:
                source = rewriter.insert(cast_to(tensor.CastOp, source, partial)).results[0]
        type = _expanded(source.type, op.result.type, static_sizes(sizes), reassociation(op))
        if type is None:
            return
        if type == op.result.type and source is op.src:
            return
        new = op.__class__.create(
            operands=[source, *operands],
            result_types=[type],
            properties={**op.properties, "static_output_shape": static},
        )
        replace_with(rewriter, op, new)


def _expanded(
    source: Attribute, like: Attribute, sizes: Sequence[int], groups: Sequence[Sequence[int]]
) -> Attribute | None:
    """Return the type of a buffer or tensor with each dimension replaced by a group of others: with
    the strides that follow from those of `source`, or without a layout if it has none."""
    if not _is_strided(source):
        return with_shape(source if _is_strided(like) else like, sizes)
    if (layout := layout_of(source)) is None:
        return None
    strides: list[int | None] = [] if groups else [1] * len(sizes)
    for group, step in zip(groups, layout[0], strict=True):
        for index in group:
            inner = _product(sizes[index + 1 : group[-1] + 1])
            strides.append(None if step is None or inner == DYNAMIC else step * inner)
    buffer = cast("MemRefType[Attribute]", source)
    shape = [size if size >= 0 else DYNAMIC_INDEX for size in sizes]
    return MemRefType(
        buffer.element_type, shape, StridedLayoutAttr(strides, layout[1]), buffer.memory_space
    )


PATTERNS: Final[tuple[RewritePattern, ...]] = (
    MergeEqualReshapes(),
    CollapseExpanded(),
    ExpandCollapsed(),
    CollapseOfCast(),
    ConstantExpansion(),
)
