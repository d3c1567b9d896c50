"""arith on the least integer, and on zeros of both signs."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function


def run(op: str, type: str, *arguments: np.generic) -> object:
    text = f"func.func @main(%a: {type}, %b: {type}) -> {type} {{ %0 = arith.{op} %a, %b : {type} func.return %0 : {type} }}"  # noqa: E501
    module = parsed(text)
    (result,) = interpret(module, entry_function(module, "main"))(*map(np.asarray, arguments))
    return result


def test_ceiling_of_the_least_integer():
    least = np.int32(-(2**31))
    assert run("ceildivsi", "i32", least, np.int32(10)) == -214748364
    assert run("ceildivsi", "i32", np.int32(7), np.int32(2)) == 4


@pytest.mark.parametrize("op", ["maximumf", "minimumf", "maxnumf", "minnumf"])
def test_of_two_zeros_the_negative_one_is_less(op: str):
    positive, negative = np.float32(0.0), np.float32(-0.0)
    for pair in ((positive, negative), (negative, positive)):
        assert np.signbit(np.asarray(run(op, "f32", *pair))) == op.startswith("min")
