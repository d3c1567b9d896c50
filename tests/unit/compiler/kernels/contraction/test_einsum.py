"""Kernels of Einstein summations compute what the operation does."""

from __future__ import annotations

import numpy as np
from support.operations.evaluation import constant, i4
from support.operations.legalized import check_kernel
from support.tables import table_test
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i64

from passline.dialects.relax.contraction.linear_algebra import EinsumOp
from passline.dialects.relax.types import Element

CLOSE: dict[Element, float] = {f16: 1e-3, bf16: 8e-3, f32: 1e-6, f64: 1e-14}
CASES = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("bhid,bhjd->bhij", [(2, 2, 3, 2), (2, 2, 2, 2)]),
    ("...ij,...jk->...ik", [(2, 1, 2, 3), (3, 3, 2)]),
    ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("ij->ji", [(2, 3)]),
    ("i,j->ij", [(2,), (3,)]),
    ("i,i->", [(3,), (3,)]),
    ("ij,j->i", [(2, 3), (1,)]),
    ("ij,jk,kl->il", [(2, 2), (2, 3), (3, 2)]),
    ("a...b->b...", [(2, 3, 2, 2)]),
    ("...,...", [(2, 3), (3,)]),
    ("ij,jk->ik", [(2, 0), (0, 3)]),
]


@table_test("subscripts, shapes", CASES)
def test_subscripts(subscripts: str, shapes: list[tuple[int, ...]]):
    rng = np.random.default_rng(0)
    operands = [constant(rng.integers(-3, 4, shape), f32) for shape in shapes]
    check_kernel(EinsumOp(*operands, subscripts=subscripts), CLOSE[f32])


@table_test("element", [*CLOSE, i1, i4, i8, i64])
def test_elements(element: Element):
    x = constant(np.arange(6).reshape(2, 3) - 3, element)
    check_kernel(EinsumOp(x, x, subscripts="ij,ij->i"), CLOSE.get(element, 0))
