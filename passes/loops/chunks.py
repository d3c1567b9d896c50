"""Chunks of the iterations of a loop, one for each thread."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from .builder import Index, LoopBuilder

__all__ = ["chunk_of"]


def chunk_of(
    build: LoopBuilder, number: SSAValue, total: Index, chunks: int
) -> tuple[Index, Index]:
    """Return the first of the iterations of chunk `number`, and how many they are.

    The sizes of chunks differ by at most one: of 7 iterations in 3 chunks, they are 2, 2 and 3.
    """
    if isinstance(total, int) and total % chunks == 0:
        size = total // chunks
        return build.mul(number, size), size

    def start_of(chunk: SSAValue) -> SSAValue:
        # `number * total / chunks`: no chunk has to know the sizes of those before it. The product
        # does not overflow an i64 for any loop over memory.
        scaled = build.insert(arith.MuliOp(chunk, build.value(total))).result
        return build.insert(arith.DivUIOp(scaled, build.value(chunks))).result

    first = start_of(number)
    return first, build.sub(start_of(build.value(build.add(number, 1))), first)
