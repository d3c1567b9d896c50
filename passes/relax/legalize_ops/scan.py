"""Scans: f16 in f32, and rounded once; integers wrap around."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from xdsl.ir import Operation, SSAValue

from ....dialects.relax import scan as ops
from .kernel_builder import Buffer, KernelBuilder, Legalization, Tensor
from .scalars import add, convert, multiply, signless, step_type, widen

__all__ = ["SCAN"]


def scan(
    function: Callable[[KernelBuilder, SSAValue, SSAValue], SSAValue], identity: int
) -> Legalization:
    """What a function of two numbers makes of the elements up to each one: loops that store it."""

    def define(op: ops.ScanOp, w: KernelBuilder, data: Tensor) -> Tensor:
        element = signless(data.element)
        if op.axis is None:
            data, axis = w.reshaped(data, (prod(data.shape),)), 0
        else:
            axis = op.axis % len(data.shape)
        shape, size = data.shape, data.shape[axis]
        offset, reverse = op.exclusive, op.reverse
        result = w.alloc(shape, element)
        with w.loops((*shape[:axis], *shape[axis + 1 :])) as outer:
            before, after = outer[:axis], outer[axis:]
            if offset and size:
                first = w.number(identity, element)
                w.store(first, result, [*before, size - 1 if reverse else 0, *after])
            number = w.number(identity, step_type(element))
            total = w.alloc((1,), number.type, "local")
            w.store(number, total, [0])
            with w.loop(max(size - offset, 0)) as i:
                place, target = i, w.add(i, int(offset))
                if reverse:
                    place, target = w.sub(size - 1, place), w.sub(size - 1, target)
                x = widen(w, w.read(data, [*before, place, *after]))
                number = function(w, w.load(total, [0]), x)
                w.store(number, total, [0])
                w.store(convert(w, number, element), result, [*before, target, *after])
        return Buffer(shape, element, result)

    return define


SCAN: dict[type[Operation], Legalization] = {
    ops.CumprodOp: scan(multiply, 1),
    ops.CumsumOp: scan(add, 0),
}
