"""Sizes of dimensions as expressions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passline.dialects.sizes import Size, TooComplex, size_of_text

LEAVES = st.one_of(
    st.integers(0, 9).map(str), st.sampled_from(["h", "w", "batch-size", "'past length'", "s.0"])
)
TEXTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(lambda t: f"({' '.join(t)})"),
        st.tuples(inner, st.integers(1, 6)).map(lambda t: f"({t[0]} // {t[1]})"),
    ),
    max_leaves=8,
)
VALUES = st.fixed_dictionaries(
    {name: st.integers(0, 20) for name in ("h", "w", "batch-size", "past length", "s.0")}
)


def value_of(text: str, values: dict[str, int]) -> int:
    """Return what Python computes for the text."""
    names = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    text = re.sub(f"'?({names})'?", lambda match: str(values[match[1]]), text)
    return eval(text)  # text of the strategy above


@given(TEXTS, VALUES)
def test_normal_forms_keep_the_value_and_are_read_back(text: str, values: dict[str, int]):
    size = size_of_text(text)
    symbol = size.lone_symbol
    if symbol is None or symbol.name in values:  # and not a known size, whose text is a name
        assert size.bind(values) == Size.of(value_of(text, values))
        assert size.low is None or size.low <= value_of(text, values)
        if size.text is None:  # it would be longer than 256 characters
            assert len(text) > 40
        else:
            assert size_of_text(size.text) == size


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("2*h", "2 * h"),
        ("h/2", "h // 2"),
        ("w * h - h * w + b", "b"),
        ("(2*h) // 2", "h"),
        ("(2*h + 3) // 4", "(h + 1) // 2"),
        ("((h - 1)//2) + 1", "(h + 1) // 2"),
        ("h//2//3", "h // 6"),
        ("(h//2) * 2", "2 * (h // 2)"),
        ("1 + past-length", "past-length + 1"),
        ("'batch size' * 2", "2 * 'batch size'"),
        # Names as a whole:
        ("batch size", "batch size"),
        ("batch-size", "batch-size"),
        ("h // w", "h // w"),
        ("h // 0", "h // 0"),
        ("3", "3"),
        ("h +", "h +"),
        ("h * " + "9" * 30, "h * " + "9" * 30),
        ("((" * 200, "((" * 200),
        ("", ""),
    ],
)
def test_texts_have_a_normal_form(text: str, normal: str):
    assert size_of_text(text).text == normal
    assert size_of_text(normal) == size_of_text(text)


def test_anonymous_sizes_have_no_text():
    size = Size.symbol("?0")
    assert size.text is None and (size + Size.of(1)).text is None
    assert size_of_text("?0") != size


def test_sums_of_many_sizes():
    """A detector joins the boxes of 91 classes."""
    total = Size.of(0)
    for i in range(200):
        total += Size.symbol(f"n{i}") * Size.of(4)
    assert len((total * Size.of(2)).terms) == 200
    with pytest.raises(TooComplex):
        for i in range(200, 300):
            total += Size.symbol(f"n{i}")


def test_sizes_stay_small():
    total = Size.of(0)
    for i in range(30):
        total += Size.symbol(f"n{i}")
    with pytest.raises(TooComplex):
        _ = total * total
    with pytest.raises(TooComplex):
        _ = Size.symbol("n") * Size.of(1 << 62) * Size.of(4)


def test_a_size_vanishes_with_its_factors():
    b, s = Size.symbol("b"), Size.symbol("s")
    assert (b * Size.of(12)).vanishes_with(b) and b.vanishes_with(b * Size.of(12))
    assert (b * s).vanishes_with(b) and not b.vanishes_with(b * s)
    assert b.vanishes_with(s + Size.of(1)) and not b.vanishes_with(s)


def test_division_by_a_product_is_exact():
    b, s = Size.symbol("b"), Size.symbol("s")
    assert (b * s * Size.of(12)).divided_exactly(b * Size.of(4)) == s * Size.of(3)
    assert b.divided_exactly(s) is None
    assert (b + s).divided_exactly(b + s) == Size.of(1)
