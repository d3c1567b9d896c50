"""Legalizations of scans: f16 is computed in f32, and rounded once; integers wrap around."""

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
    """Legalize a scan by `function`, whose identity is `identity`: loops with a running total."""

    def legalize(op: ops.ScanOp, b: KernelBuilder, data: Tensor) -> Tensor:
        element = signless(data.element)
        if op.axis is None:
            data, axis = b.reshaped(data, (prod(data.shape),)), 0
        else:
            axis = op.axis % len(data.shape)
        shape, size = data.shape, data.shape[axis]
        offset, reverse = op.exclusive, op.reverse
        result = b.alloc(shape, element)
        with b.loops((*shape[:axis], *shape[axis + 1 :])) as outer:
            before, after = outer[:axis], outer[axis:]
            if offset and size:
                first = b.number(identity, element)
                b.store(first, result, [*before, size - 1 if reverse else 0, *after])
            number = b.number(identity, step_type(element))
            total = b.alloc((1,), number.type, "local")
            b.store(number, total, [0])
            with b.loop(max(size - offset, 0)) as i:
                place, target = i, b.add(i, int(offset))
                if reverse:
                    place, target = b.sub(size - 1, place), b.sub(size - 1, target)
                x = widen(b, b.read(data, [*before, place, *after]))
                number = function(b, b.load(total, [0]), x)
                b.store(number, total, [0])
                b.store(convert(b, number, element), result, [*before, target, *after])
        return Buffer(shape, element, result)

    return legalize


SCAN: dict[type[Operation], Legalization] = {
    ops.CumprodOp: scan(multiply, 1),
    ops.CumsumOp: scan(add, 0),
}
