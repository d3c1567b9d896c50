"""Legalizations of scans: f16 is computed in f32, and rounded once; integers wrap around."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax.dynamic.computation import DynamicScanOp
from ....dialects.relax.reduction import scan as ops
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import is_at_most, volume
from ..builder import KernelBuilder, Legalization, Store, Tensor
from ..scalars import add, computable, convert, multiply, step_type, widen
from ..tensors import scheduled


@dataclass(frozen=True)
class Scan:
    """Running totals by a function, whose identity is `identity`."""

    function: Callable[[KernelBuilder, SSAValue, SSAValue], SSAValue]
    identity: int

    def write(
        self,
        op: ops.CumulativeOp | DynamicScanOp,
        b: KernelBuilder,
        size: Index,
        element: Attribute,
        read: Callable[[Index], SSAValue],
        store: Callable[[Index, SSAValue], None],
    ) -> None:
        """Write a loop over `size` elements that stores the total up to each."""
        number = b.number(self.identity, step_type(element))
        total = b.variable(number)
        # Each total needs the one before it. Vectors are of adjacent columns, as below; along the
        # last axis there are none, and the scan runs at the latency of an addition. A prefix sum in
        # log2(lanes) steps (Hillis and Steele, 1986) is not used: it would change the order of
        # float sums.
        with b.loop(size) as j:
            place = size - 1 - j if op.reverse else j
            x = widen(b, read(place))
            before = b.load(total, [0])
            after = self.function(b, before, x)
            b.store(after, total, [0])
            # For 1 2 3, an inclusive scan gives 1 3 6, and an exclusive one 0 1 3; reversed, from
            # the end, they give 6 5 3 and 5 3 0.
            store(place, convert(b, before if op.exclusive else after, element))

    def legalize(self, op: ops.CumulativeOp, b: KernelBuilder, data: Tensor) -> Tensor:
        element, shape = computable(data.element), data.shape
        axis = 0 if op.axis is None else op.axis % len(shape)
        split = (axis, axis + 1) if op.axis is not None else (0, len(shape))
        outer, size, columns = (
            volume(shape[: split[0]]),
            volume(shape[slice(*split)]),
            volume(shape[split[1] :]),
        )
        data = b.reshaped(data, (outer, size, columns))

        def loops(store: Store) -> None:
            def column(index: list[Index]) -> None:
                row, i = index
                self.write(
                    op,
                    b,
                    size,
                    element,
                    lambda place: b.read(data, [row, place, i]),
                    lambda place, value: store([row, place, i], value),
                )

            if not is_at_most(columns, 1) and element == step_type(element):
                b.columns((outer, columns), column)
            else:
                with b.loops((outer, columns)) as index:
                    column(index)

        return scheduled(op, b, (outer, size, columns), element, loops)


PRODUCTS, SUMS = Scan(multiply, 1), Scan(add, 0)

SCAN: dict[type[Operation], Legalization] = {
    ops.CumprodOp: PRODUCTS.legalize,
    ops.CumsumOp: SUMS.legalize,
}
