"""Layouts of buffers with any release of xDSL."""

from __future__ import annotations

from collections.abc import Sequence

from support.tables import table_test
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, MemRefType, StridedLayoutAttr, f32
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from passline.passmanager.releases.memref import strides_of

ROWS: list[tuple[Sequence[int], Sequence[int | None]]] = [
    ([], []),
    ([2, 3, 4], [12, 4, 1]),
    ([DYNAMIC_INDEX, 8], [8, 1]),
    ([4, DYNAMIC_INDEX, 3], [None, 3, 1]),
]


@table_test(("shape", "strides"), ROWS)
def test_strides_beyond_an_unknown_size_are_unknown(
    shape: Sequence[int], strides: Sequence[int | None]
) -> None:
    assert strides_of(MemRefType(f32, shape)) == strides


@table_test(
    ("layout", "strides"),
    [(StridedLayoutAttr([16, None], 4), [16, None]), (AffineMapAttr(AffineMap.identity(2)), None)],
)
def test_strides_of_a_layout(layout: Attribute, strides: Sequence[int | None] | None) -> None:
    found = strides_of(MemRefType(f32, [2, 3], layout))  # pyright: ignore[reportArgumentType]
    assert (found and [*found]) == strides
