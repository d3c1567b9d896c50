"""Legalizations of scans: f16 is computed in f32, and rounded once; integers wrap around."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation, SSAValue

from ...dialects.relax.reduction import scan as ops
from ...dialects.tir.builder import Index
from ...dialects.tir.extents import volume
from ..builder import KernelBuilder, Legalization, Store, Tensor
from ..scalars import add, computable, convert, multiply, step_type, widen
from ..tensors import scheduled

__all__ = ["SCAN"]


def scan(
    function: Callable[[KernelBuilder, SSAValue, SSAValue], SSAValue], identity: int
) -> Legalization:
    """Legalize a scan by `function`, whose identity is `identity`: loops with a running total."""

    def legalize(op: ops.ScanOp, b: KernelBuilder, data: Tensor) -> Tensor:
        element, shape = computable(data.element), data.shape
        axis = 0 if op.axis is None else op.axis % len(shape)
        split = (axis, axis + 1) if op.axis is not None else (0, len(shape))
        outer, size, columns = (
            volume(shape[: split[0]]),
            volume(shape[slice(*split)]),
            volume(shape[split[1] :]),
        )
        data = b.reshaped(data, (outer, size, columns))
        offset = int(op.exclusive)

        def place(i: Index) -> Index:
            return b.sub(size - 1, i) if op.reverse else i

        def loops(store: Store) -> None:
            def column(index: list[Index]) -> None:
                row, i = index
                if offset and size:
                    store([row, place(0), i], b.number(identity, element))
                number = b.number(identity, step_type(element))
                total = b.alloc((1,), number.type, "local")
                b.store(number, total, [0])
                with b.loop(max(size - offset, 0)) as j:
                    x = widen(b, b.read(data, [row, place(j), i]))
                    number = function(b, b.load(total, [0]), x)
                    b.store(number, total, [0])
                    store([row, place(b.add(j, offset)), i], convert(b, number, element))

            if columns > 1 and element == step_type(element):
                b.columns((outer, columns), column)
            else:
                with b.loops((outer, columns)) as index:
                    column(index)

        return scheduled(op, b, (outer, size, columns), element, loops)

    return legalize


SCAN: dict[type[Operation], Legalization] = {
    ops.CumprodOp: scan(multiply, 1),
    ops.CumsumOp: scan(add, 0),
}
