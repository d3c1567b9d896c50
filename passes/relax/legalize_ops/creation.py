"""Operations that make tensors of numbers, of shapes, and of a pattern."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import f64, i64
from xdsl.ir import Operation, SSAValue

from ....dialects.relax import creation as ops
from ....dialects.relax.types import is_integer
from ....dialects.tir.builder import Index
from .kernel_builder import Buffer, KernelBuilder, Legalization, Tensor
from .manipulation import moved
from .scalars import add, as_index, convert, multiply, select

__all__ = ["CREATION"]


def shape_of(_: Operation, w: KernelBuilder, data: Tensor) -> Tensor:
    shape = w.alloc((len(data.shape),), i64)
    for axis, size in enumerate(data.shape):
        w.store(w.number(size, i64), shape, [axis])
    return Buffer((len(data.shape),), i64, shape)


def size_of(op: Operation, _: KernelBuilder, data: Tensor) -> Tensor:
    return moved(op, lambda w, _: w.number(prod(data.shape), i64))


def arange(op: ops.ArangeOp, _: KernelBuilder, start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
    """Of floats, in f64, rounded once."""
    element = start.element
    wide = element if is_integer(element) else f64

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        first, distance = (convert(w, w.read(tensor, []), wide) for tensor in (start, step))
        number = convert(w, w.index(index[0]), wide)
        return convert(w, add(w, first, multiply(w, number, distance)), element)

    return moved(op, read)


def one_hot(op: ops.OneHotOp, _: KernelBuilder, indices: Tensor, on: Tensor, off: Tensor) -> Tensor:
    axis = op.axis % (len(indices.shape) + 1)

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        hot = as_index(w, w.read(indices, [*index[:axis], *index[axis + 1 :]]))
        return select(w, w.equal(hot, index[axis]), w.read(on, []), w.read(off, []))

    return moved(op, read)


def trilu(op: ops.TriluOp, _: KernelBuilder, data: Tensor, k: Tensor) -> Tensor:
    rows, columns = data.shape[-2:]

    def read(w: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        diagonal = w.max(-rows - 1, w.min(as_index(w, w.read(k, [])), columns + 1))
        first = w.add(index[-2], diagonal)  # the column on the diagonal
        upper = bool(op.upper)
        place = index[-1]
        kept = w.less(w.sub(first, 1), place) if upper else w.less(place, w.add(first, 1))
        return w.choose([kept], lambda: w.read(data, index), lambda: w.number(0, data.element))

    return moved(op, read)


CREATION: dict[type[Operation], Legalization] = {
    ops.ArangeOp: arange,
    ops.OneHotOp: one_hot,
    ops.ShapeOfOp: shape_of,
    ops.SizeOfOp: size_of,
    ops.TriluOp: trilu,
}
