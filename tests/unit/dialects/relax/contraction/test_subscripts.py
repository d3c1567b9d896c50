"""Inferred shapes of Einstein summations, with numpy as the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations.evaluation import infer
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from passline.dialects.relax.contraction.linear_algebra import EinsumOp, Subscripts
from passline.dialects.relax.shapes import Shape, merge

D = DYNAMIC_INDEX

shapes = st.lists(st.sampled_from([1, 2, 3]), max_size=3).map(tuple)


@pytest.mark.parametrize(
    "text", ["ij,jk->ik", "ij,jk", "i...,...i->...", "...,...", "aab,b->ba", "...a,...b", "ab,a->b"]
)
@given(shapes, shapes, st.sets(st.integers(0, 5)))
def test_shapes_are_numpys(text: str, lhs: Shape, rhs: Shape, hidden: set[int]):
    """Infer numpy's shape or an error, and a compatible shape with unknown dimensions."""
    try:
        expected = np.einsum(text, np.zeros(lhs), np.zeros(rhs)).shape
    except ValueError:
        with pytest.raises(VerifyException):
            Subscripts.parse(text).infer([lhs, rhs])
        return
    assert Subscripts.parse(text).infer([lhs, rhs]) == expected
    both = [D if i in hidden else d for i, d in enumerate(lhs + rhs)]
    known = Subscripts.parse(text).infer([tuple(both[: len(lhs)]), tuple(both[len(lhs) :])])
    assert known is not None and merge(known, expected) == expected


@pytest.mark.parametrize(
    ("subscripts", "types", "result"),
    [
        ("ij,jk->ik", ["tensor<2x?xf32>", "tensor<?x4xf32>"], "tensor<2x4xf32>"),
        ("ij,jk->ik", ["tensor<2x3xf32>", "tensor<*xf32>"], "tensor<2x?xf32>"),
        ("ij,ij->ij", ["tensor<2x1xf32>", "tensor<*xf32>"], "tensor<2x?xf32>"),
        ("...ij,jk->...ik", ["tensor<*xf32>", "tensor<3x4xf32>"], "tensor<*xf32>"),
        ("ii", ["tensor<?x4xi8>"], "tensor<i8>"),
        ("ii->i", ["tensor<?x4xi8>"], "tensor<4xi8>"),
        ("...a,...b", ["tensor<5x1x2xf16>", "tensor<?x3xf16>"], "tensor<5x?x2x3xf16>"),
    ],
)
def test_unknown_shapes(subscripts: str, types: list[str], result: str):
    assert infer(EinsumOp, *types, subscripts=subscripts) == result


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ij;jk", 'subscripts "ij;jk" are not of the form "ij,jk->ik"'),
        ("i..j->ij", "are not of the form"),
        ("...i...", "are not of the form"),
        ("ij->ik->i", "are not of the form"),
        ("ij->ijk", "k of the output occurs in no operand"),
        ("ij->ii", "i of the output occurs twice"),
        ("ij->...i", "the ellipsis of the output occurs in no operand"),
        ("...i->i", "the output lacks the ellipsis"),
    ],
)
def test_no_subscripts(text: str, message: str):
    with pytest.raises(VerifyException, match=message.replace(".", r"\.")):
        Subscripts.parse(text)


@pytest.mark.parametrize(
    ("text", "shape_list", "message"),
    [
        ("ij,jk", [(2, 3)], "subscripts of 2 operands, but there are 1"),
        ("ij,jk", [(2, 3), (4, 5)], "index j has size 3 and 4"),
        ("ii", [(1, 2)], "index i has size 1 and 2"),
        ("ij", [(2,)], 'subscripts "ij" do not fit shape 2'),
        ("ij...", [(2,)], 'subscripts "ij\\.\\.\\." do not fit shape 2'),
        ("...,...", [(2,), (3,)], "shapes 2 and 3 do not broadcast"),
    ],
)
def test_shapes_that_do_not_fit(text: str, shape_list: list[Shape], message: str):
    with pytest.raises(VerifyException, match=message):
        Subscripts.parse(text).infer(shape_list)
