"""Einsum as a product of matrices, beside onnxruntime, with known and unknown sizes."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np
from support.models.from_text import Array, imported
from support.models.single_node import check, single_node
from support.tables import table_test

SIZES = {letter: 2 + number % 4 for number, letter in enumerate(ascii_lowercase)}
"""The sizes of dimensions by their letters."""


def arrays(equation: str, ellipsis: Sequence[int] = (2, 3)) -> list[Array]:
    rng = np.random.default_rng(0)
    made: list[Array] = []
    for term in equation.replace(" ", "").partition("->")[0].split(","):
        before, dots, after = term.partition("...")
        shape = [SIZES[x] for x in before] + [*ellipsis] * bool(dots) + [SIZES[x] for x in after]
        made.append(rng.standard_normal(shape).astype(np.float32))
    return made


def operations(equation: str, inputs: Sequence[Array], **options: object) -> list[str]:
    """Return the names of the operations that are not moves of elements."""
    model = single_node("Einsum", inputs, domain="", equation=equation, **options)  # pyright: ignore[reportArgumentType]
    names = [op.name for op in imported(model).walk()]
    return [name for name in names if name in ("relax.matmul", "relax.einsum")]


PRODUCTS = [
    "ij,jk->ik",
    "ij,jk",
    "ij,kj->ki",
    "ji,j->i",
    "i,i->",
    "i,ij->j",
    "bij,bjk->bik",
    "bhid,bhjd->bhij",
    "bqhd,bkhd->bhqk",
    "bhqk,bkhd->bqhd",
    "abc,cde->abde",
    "abcd,cde->abe",
    "abcd,cd->ab",
    "abcd,eacd->be",
    "bij,bj->bi",
    "bi,bi->b",
    "bi,bij->bj",
    "bijk,bkl->blji",
    "abij,bakj->kbai",
    "...ij,...jk->...ik",
    "i...j,jk->...ki",
]


@table_test("equation", PRODUCTS)
def test_products_of_matrices(equation: str):
    inputs = arrays(equation)
    assert operations(equation, inputs) == ["relax.matmul"]
    check("Einsum", *inputs, domain="", equation=equation, unknown={0: [0]})


@table_test("equation", PRODUCTS)
def test_all_other_dimensions_are_unknown(equation: str):
    inputs = arrays(equation)
    terms = equation.partition("->")[0].split(",")
    shared = {*terms[0]} & {*terms[1]} - {*equation.partition("->")[2]}
    unknown = {
        place: [axis for axis in range(array.ndim) if "." in term or term[axis] not in shared]
        for place, (term, array) in enumerate(zip(terms, inputs, strict=True))
    }
    check("Einsum", *inputs, domain="", equation=equation, unknown=unknown)


@table_test(
    "equation",
    [
        "i,j->ij",  # no sums
        "ij,ij->ij",
        "ijk,jl->il",  # a sum of one operand alone
        "ii,ij->j",  # a diagonal
        "ij->ji",
        "ij,jk,kl->il",
    ],
)
def test_what_is_no_product_of_matrices(equation: str):
    inputs = arrays(equation)
    assert operations(equation, inputs) == ["relax.einsum"]
    check("Einsum", *inputs, domain="", equation=equation)


def test_terms_that_broadcast_or_are_empty_stay():
    one, empty = np.ones((3, 1), np.float32), np.ones((3, 0), np.float32)
    assert operations("ij,jk->ik", [one, np.ones((4, 2), np.float32)]) == ["relax.einsum"]
    assert operations("ij,jk->ik", [empty, np.ones((0, 2), np.float32)]) == ["relax.einsum"]


def test_terms_of_unknown_size_stay():
    inputs = arrays("ij,jk->ik")
    assert operations("ij,jk->ik", inputs, unknown={0: [1]}) == ["relax.einsum"]
