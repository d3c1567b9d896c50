"""The semantics of einsum, with a loop over all indices as the oracle."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from support.operations.evaluation import ELEMENTS, Array, constant, run, ui8
from support.tables import table_test
from xdsl.dialects.builtin import bf16, f16, i1

from passline.dialects.relax.contraction.linear_algebra import EinsumOp


def einsum(subscripts: str, *arrays: Array) -> Array:
    """The sum of products, of subscripts that are explicit and have no ellipsis."""
    inputs, output = subscripts.split("->")
    terms = inputs.split(",")
    sizes: dict[str, int] = {}
    for term, array in zip(terms, arrays, strict=True):
        for letter, size in zip(term, array.shape, strict=True):
            sizes[letter] = sizes.get(letter, 1) if size == 1 else size
    result = np.zeros([sizes[letter] for letter in output])
    for values in product(*map(range, sizes.values())):
        at = dict(zip(sizes, values, strict=True))
        factors = [
            float(a[tuple(at[c] % n for c, n in zip(term, a.shape, strict=True))])
            for term, a in zip(terms, arrays, strict=True)
        ]
        result[tuple(at[c] for c in output)] += math.prod(factors)
    return result


@table_test(
    "subscripts, explicit, shapes",
    [
        ("ij,jk->ik", None, [(2, 3), (3, 4)]),
        ("ij , jk", "ij,jk->ik", [(2, 3), (3, 4)]),
        ("bij,bkj->bik", None, [(2, 3, 4), (2, 5, 4)]),
        ("ba", "ba->ab", [(2, 3)]),
        ("bA", "bA->Ab", [(2, 3)]),
        ("ii->i", None, [(3, 3)]),
        ("ii", "ii->", [(3, 3)]),
        ("ij->", None, [(3, 4)]),
        ("i,j->ij", None, [(3,), (4,)]),
        ("i,i,i->i", None, [(3,), (3,), (3,)]),
        ("ab,bc,cd->ad", None, [(2, 3), (3, 4), (4, 2)]),
        ("ij,jk->ik", None, [(2, 1), (3, 4)]),
        (",i->i", None, [(), (3,)]),
        ("...ij,...jk->...ik", "xyij,yjk->xyik", [(2, 3, 2, 3), (3, 3, 2)]),
        ("...i", "xi->xi", [(2, 3)]),
        ("i...,i", "ix,i->x", [(2, 3), (2,)]),
        ("i...j->j...", "ixj->jx", [(2, 3, 4)]),
        ("ij,jk->ik", None, [(2, 0), (0, 4)]),
    ],
)
def test_einsum(subscripts: str, explicit: str | None, shapes: list[tuple[int, ...]]):
    arrays = [np.arange(1.0, 1 + math.prod(s)).reshape(s) % 5 for s in shapes]
    expected = einsum(explicit or subscripts, *arrays)
    for element in (*ELEMENTS, bf16):
        op = EinsumOp(*(constant(a, element) for a in arrays), subscripts=subscripts)
        result = run(op)
        assert op.result_types[0] == constant(expected, element).result.type
        np.testing.assert_array_equal(result, run(constant(expected, element)), strict=True)


def test_f16_accumulates_in_f32():
    ones = constant(np.ones(4098), f16)
    assert run(EinsumOp(ones, ones, subscripts="i,i")) == 4096
    large = constant([300.0, 300.0], f16), constant([300.0, -300.0], f16)
    assert run(EinsumOp(*large, subscripts="i,i")) == 0


def test_i1_wraps():
    x = constant([[True, True], [True, False]], i1)
    assert run(EinsumOp(x, x, subscripts="ij,jk->ik")).tolist() == [[False, True], [True, True]]


def test_integers_wrap():
    x = constant([100, 100], ui8)
    assert run(EinsumOp(x, x, x, subscripts="i,i,i")) == 2 * 100**3 % 256
