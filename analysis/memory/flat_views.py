"""Where the elements of a buffer, or of a view of one, are in a buffer of one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    i64,
)
from xdsl.ir import SSAValue

from ..arith.analyzer import Analyzer
from ..arith.linear_form import ONE, ZERO, LinearForm
from .buffers import Buffer, View, buffer_type, is_static

__all__ = ["Flat", "flat_type", "flat_view", "row_major", "static_strides", "whole_dimension"]


@dataclass(frozen=True)
class Flat:
    """The element at some indices is that of `buffer` at `offset` plus each index times its stride.

    `begin` is where the first element of `buffer` is in the memory that it is a part of, None if
    that is not known; `owned` says that all that uses the memory is in the function.
    """

    buffer: SSAValue
    offset: LinearForm
    strides: tuple[LinearForm, ...]
    begin: int | None
    owned: bool

    @staticmethod
    def of(buffer: SSAValue) -> Flat:
        """A buffer of one dimension."""
        begin = 0 if isinstance(buffer_type(buffer).layout, NoneAttr) else None
        return Flat(buffer, ZERO, (ONE,), begin, owned=False)


def flat_type(type: Buffer) -> Buffer:
    """A buffer without layout as one of one dimension."""
    size = 1
    for extent in type.get_shape():
        size *= extent
    length = size if is_static(type) else DYNAMIC_INDEX
    return MemRefType(type.element_type, [length], NoneAttr(), type.memory_space)


def static_strides(type: Buffer) -> Sequence[int] | None:
    """The strides of a layout, None unless all are known, positive, and the offset is known."""
    strides = None if isinstance(type.layout, NoneAttr) else type.layout.get_strides()
    if strides is None or type.get_offset() is None:
        return None
    known = [stride for stride in strides if stride is not None and stride > 0]
    return known if len(known) == len(strides) else None


def row_major(
    sizes: Sequence[LinearForm], analyzer: Analyzer, last: LinearForm = ONE
) -> list[LinearForm]:
    """The strides of a buffer of these sizes whose last stride is `last`; the first size does not
    matter.
    """
    strides = [last]
    for size in reversed(sizes[1:]):
        strides.append(analyzer.multiply(strides[-1], size))
    return strides[::-1] if sizes else []


def whole_dimension(rank: int) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    """The dimensions of a buffer as one group."""
    return ArrayAttr([ArrayAttr([IntegerAttr(axis, i64) for axis in range(rank)])])


def flat_view(op: View, source: Flat, analyzer: Analyzer) -> Flat | None:
    """Where the elements of a view are; None if it is not known to be a part of `source`."""
    match op:
        case memref.CastOp() if isinstance(op.dest.type, MemRefType):
            return source
        case memref.SubviewOp():
            return _subview(op, source, analyzer)
        case memref.CollapseShapeOp():
            return replace(source, strides=_collapsed(op, source))
        case memref.ExpandShapeOp():
            return replace(source, strides=_expanded(op, source, analyzer))
        case memref.ReinterpretCastOp() if source.begin is not None:
            (offset,) = _forms(op.static_offsets, op.offsets, analyzer)
            strides = _forms(op.static_strides, op.strides, analyzer)
            return replace(source, offset=offset.shifted(-source.begin), strides=tuple(strides))
        case _:
            return None


def _forms(
    static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue], analyzer: Analyzer
) -> list[LinearForm]:
    """Numbers, those left open from values, which may be used from here on."""
    left = iter(dynamic)
    forms: list[LinearForm] = []
    for number in static.get_values():
        if number == DYNAMIC_INDEX:
            value = next(left)
            analyzer.make_available(value)
            forms.append(analyzer.linear(value))
        else:
            forms.append(LinearForm((), number))
    return forms


def _subview(op: memref.SubviewOp, source: Flat, analyzer: Analyzer) -> Flat:
    offset = source.offset
    strides: list[LinearForm] = []
    offsets = _forms(op.static_offsets, op.offsets, analyzer)
    steps = _forms(op.static_strides, op.strides, analyzer)
    for start, step, stride in zip(offsets, steps, source.strides, strict=True):
        offset = analyzer.add(offset, analyzer.multiply(start, stride))
        strides.append(analyzer.multiply(step, stride))
    shape = buffer_type(op.result).get_shape()
    kept: list[LinearForm] = []
    # A dimension that is dropped has one element: which of several does not matter.
    left = len(strides) - len(shape)
    for size, stride in zip(op.static_sizes.get_values(), strides, strict=True):
        if left and size == 1 and (len(kept) == len(shape) or shape[len(kept)] != 1):
            left -= 1
        else:
            kept.append(stride)
    return replace(source, offset=offset, strides=tuple(kept))


def _groups(op: memref.CollapseShapeOp | memref.ExpandShapeOp) -> list[list[int]]:
    return [[int(axis.value.data) for axis in group] for group in op.reassociation]  # pyright: ignore


def _collapsed(op: memref.CollapseShapeOp, source: Flat) -> tuple[LinearForm, ...]:
    shape = buffer_type(op.src).get_shape()
    strides: list[LinearForm] = []
    for group in _groups(op):
        longer = [axis for axis in group if shape[axis] != 1] or group
        strides.append(source.strides[longer[-1]])
    return tuple(strides)


def _expanded(op: memref.ExpandShapeOp, source: Flat, analyzer: Analyzer) -> tuple[LinearForm, ...]:
    sizes = _forms(op.static_output_shape, op.output_shape, analyzer)
    strides: list[LinearForm] = []
    groups = _groups(op) or [list(range(len(sizes)))]
    for group, stride in zip(groups, source.strides or (ONE,), strict=True):
        strides += row_major([sizes[axis] for axis in group], analyzer, stride)
    return tuple(strides)
