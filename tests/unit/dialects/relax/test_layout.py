"""Layouts, relayouts, and the mapping of dimensions between them."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from passline.dialects.relax.layout import Layout, Relayout

BLOCKS = Relayout.parse("NHWC", "NCHW4c")
FROM_BLOCKS = Relayout.parse("NCHW2c", "NCHW4c")


def test_letters_do_not_matter():
    assert BLOCKS.key == Relayout.parse("ABDC", "ACBD4c").key == ("ABCD", "ADBC4d")
    assert BLOCKS.along(Layout.parse("WXYZ")).dst.text == "WZXY4z"
    assert FROM_BLOCKS.along(Layout.parse("OIHW2i")).dst.text == "OIHW4i"


@pytest.mark.parametrize("layout", ["NHW", "NHWCD", "NHC2c"])
def test_along_other_axes(layout: str):
    with pytest.raises(VerifyException, match="does not split its axes in the same way as"):
        BLOCKS.along(Layout.parse(layout))


def test_other_axes():
    with pytest.raises(VerifyException, match='"NHWC" and "NCW" do not have the same axes'):
        Relayout.parse("NHWC", "NCW")


def test_dimensions():
    assert [BLOCKS.dimension(i) for i in range(3)] == [0, 2, 3]
    assert BLOCKS.dimensions([3, 0]) == [1, 4, 0]
    assert [BLOCKS.factor(i) for i in range(4)] == [1, 1, 1, 4]
    with pytest.raises(VerifyException, match='axis C is split in layout "NCHW4c"'):
        BLOCKS.dimension(3)
    with pytest.raises(VerifyException, match='axis C is split in layout "NCHW2c"'):
        FROM_BLOCKS.dimensions([1])


def test_shapes():
    assert BLOCKS.transform((1, 5, 3, 8)) == (1, 2, 5, 3, 4)
    assert BLOCKS.transform((DYNAMIC_INDEX, 5, 3, 8)) == (DYNAMIC_INDEX, 2, 5, 3, 4)
    assert FROM_BLOCKS.transform((1, 4, 5, 3, 2)) == (1, 2, 5, 3, 4)
    with pytest.raises(VerifyException, match="axis C of unknown size does not split"):
        BLOCKS.transform((1, 5, 3, DYNAMIC_INDEX))
    with pytest.raises(VerifyException, match="axis C of size 6 does not split"):
        BLOCKS.transform((1, 5, 3, 6))


def test_fewer_dimensions():
    assert BLOCKS.without([1, 2]) == Relayout.parse("NC", "NC4c")
    assert BLOCKS.without([3]) is None
    assert BLOCKS.with_ones("CH").dst.text == "NCHW1c"
    assert BLOCKS.with_ones("H") is BLOCKS


def test_more_dimensions():
    assert BLOCKS.with_new([0, 3]) == (Relayout.parse("ANHBWC", "ANCHBW4c"), [0, 4])
    assert BLOCKS.with_new([4]) == (Relayout.parse("NHWCA", "NCHWA4c"), [4])


def test_what_belongs_to_dimensions():
    assert BLOCKS.spread("nhwc", "-") == [*"nchw-"]
