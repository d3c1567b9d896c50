"""Operations of `tensor` on numpy arrays, without an operation of `relax` beside them."""

from __future__ import annotations

import numpy as np
import pytest

from passline.interpreters.interpret import interpret
from passline.interpreters.signature import Value, entry_function
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context


def run(body: str, types: str, *arguments: Value) -> Value:
    """Compute the value `%y` of the body of a function of `%x`."""
    inputs, result = types.split(" -> ")
    text = f"func.func @main(%x: {inputs}) -> {result} {{\n {body}\n return %y : {result}\n}}"
    module = parse_module(make_ir_context(), text, "t.mlir")
    (value,) = interpret(module, entry_function(module, "main"))(*arguments)
    return value


def test_extract() -> None:
    body = """%i = arith.constant 1 : index %j = arith.constant 2 : index
      %y = tensor.extract %x[%i, %j] : tensor<2x3xf32>"""
    assert run(body, "tensor<2x3xf32> -> f32", np.arange(6, dtype=np.float32).reshape(2, 3)) == 5


def test_extract_of_the_only_element() -> None:
    assert run("%y = tensor.extract %x[] : tensor<i1>", "tensor<i1> -> i1", np.array(True)) == 1


def test_cast() -> None:
    body = "%y = tensor.cast %x : tensor<?xf32> to tensor<2xf32>"
    value = run(body, "tensor<?xf32> -> tensor<2xf32>", np.ones(2, np.float32))
    np.testing.assert_array_equal(np.asarray(value), [1, 1])


def test_dim() -> None:
    body = "%i = arith.constant 1 : index %y = tensor.dim %x, %i : tensor<2x?xf32>"
    assert run(body, "tensor<2x?xf32> -> index", np.ones((2, 5), np.float32)) == 5


def test_dim_out_of_bounds() -> None:
    body = "%i = arith.constant 2 : index %y = tensor.dim %x, %i : tensor<2x?xf32>"
    with pytest.raises(PasslineError, match="a tensor of shape 2x5 has no dimension 2"):
        run(body, "tensor<2x?xf32> -> index", np.ones((2, 5), np.float32))


def test_from_elements() -> None:
    body = "%y = tensor.from_elements %x, %x : tensor<2x1xindex>"
    value = run(body, "index -> tensor<2x1xindex>", np.asarray(3))
    np.testing.assert_array_equal(np.asarray(value), [[3], [3]])


RESHAPE = """%n = arith.constant 3 : index %m = arith.constant 2 : index
  %s = tensor.from_elements %n, %m : tensor<2xindex>
  %y = tensor.reshape %x(%s) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>"""


def test_reshape() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    value = run(RESHAPE, "tensor<?x?xf32> -> tensor<?x?xf32>", x)
    np.testing.assert_array_equal(np.asarray(value), x.reshape(3, 2))


def test_reshape_to_another_number_of_elements() -> None:
    with pytest.raises(PasslineError, match="a tensor of shape 2x4 has no shape 3x2"):
        run(RESHAPE, "tensor<?x?xf32> -> tensor<?x?xf32>", np.ones((2, 4), np.float32))
