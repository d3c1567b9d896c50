"""The text of floating-point numbers is that of xDSL's printer."""

from __future__ import annotations

import math
import struct
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import table_test
from xdsl.dialects.builtin import Float16Type, f32, f64
from xdsl.printer import Printer

from passline.passmanager.ir.text.float_bits import Float, float_words

f16 = Float16Type()
FORMATS: list[tuple[Float, str]] = [(f16, "<e"), (f32, "<f"), (f64, "<d")]


def words_of_xdsl(values: list[float], type: Float) -> list[str]:
    words: list[str] = []
    for value in values:
        Printer(stream := StringIO()).print_float(value, type)
        words.append(stream.getvalue())
    return words


@pytest.mark.parametrize(("type", "format"), FORMATS)
@given(st.data())
def test_any_bits(type: Float, format: str, data: st.DataObject) -> None:
    size = struct.calcsize(format)
    bits = data.draw(st.lists(st.binary(min_size=size, max_size=size), max_size=8))
    numbers: list[float] = [struct.unpack(format, some)[0] for some in bits]
    values = [value for value in numbers if math.isfinite(value)]
    assert float_words(values, type) == words_of_xdsl(values, type)


@table_test(
    ("value", "type"),
    [
        (0.0, f32),
        (-0.0, f64),
        (0.10000000149011612, f32),
        (0.1, f64),
        (16777215.0, f32),
        (1234567.0, f32),
        (1e22, f64),
        (123456789.0, f64),
        (65504.0, f16),
        (2049.0, f32),
        (3.4028234663852886e38, f32),
        (5e-324, f64),
    ],
)
def test_numbers(value: float, type: Float) -> None:
    assert float_words([value, 1.5], type) == words_of_xdsl([value, 1.5], type)
