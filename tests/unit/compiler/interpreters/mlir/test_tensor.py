"""Operations of `tensor` on numpy arrays, without an operation of `relax` beside them."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import Value, entry_function
from passline.passmanager.errors import PasslineError
from tests.support.releases import needs_xdsl


def run(body: str, types: str, *arguments: Value) -> Value:
    """Compute the value `%y` of the body of a function of `%x`."""
    inputs, result = types.split(" -> ")
    text = f"func.func @main(%x: {inputs}) -> {result} {{\n {body}\n return %y : {result}\n}}"
    module = parsed(text)
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


def test_extract_out_of_bounds() -> None:
    body = "%i = arith.constant -1 : index %y = tensor.extract %x[%i] : tensor<2xf32>"
    with pytest.raises(PasslineError, match=r"index \[-1\] is out of the bounds of a tensor of 2"):
        run(body, "tensor<2xf32> -> f32", np.ones(2, np.float32))


def test_an_extracted_integer_wraps_around() -> None:
    body = """%e = tensor.extract %x[] : tensor<i64>
      %y = arith.muli %e, %e : i64"""
    assert run(body, "tensor<i64> -> i64", np.array(2**40)) == 0


def test_insert_changes_a_copy() -> None:
    body = """%i = arith.constant 1 : index %e = arith.constant 1.0 : f32
      %z = tensor.insert %e into %x[%i] : tensor<2xf32>
      %y = arith.addf %x, %z : tensor<2xf32>"""
    value = run(body, "tensor<2xf32> -> tensor<2xf32>", np.array([3, 4], np.float32))
    np.testing.assert_array_equal(np.asarray(value), [6, 5])


def test_splat_and_empty() -> None:
    body = """%n = arith.constant 3 : index
      %a = tensor.splat %x : tensor<2x3xi8>
      %z = tensor.empty() : tensor<2x3xi8>
      %y = arith.addi %a, %z : tensor<2x3xi8>"""
    value = run(body, "i8 -> tensor<2x3xi8>", np.array(7, np.int8))
    np.testing.assert_array_equal(np.asarray(value), np.full((2, 3), 7))


def test_an_empty_tensor_of_a_negative_size() -> None:
    body = "%y = tensor.empty(%x) : tensor<?xi8>"
    with pytest.raises(PasslineError, match="a tensor has no shape -1"):
        run(body, "index -> tensor<?xi8>", np.array(-1))


def test_collapse_and_expand_shape() -> None:
    body = """
      %c = "tensor.collapse_shape"(%x) <{reassociation = [[0, 1], [2]]}>
          : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
      %y = "tensor.expand_shape"(%c) <{reassociation = [[0], [1, 2]],
          static_output_shape = array<i64: 6, 2, 2>}> : (tensor<6x4xf32>) -> tensor<6x2x2xf32>"""
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    value = run(body, "tensor<2x3x4xf32> -> tensor<6x2x2xf32>", x)
    np.testing.assert_array_equal(np.asarray(value), x.reshape(6, 2, 2))


def test_slices() -> None:
    body = """
      %p = "tensor.extract_slice"(%x) <{static_offsets = array<i64: 1, 1>,
          static_sizes = array<i64: 1, 2>, static_strides = array<i64: 1, 2>,
          operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<3x4xf32>) -> tensor<2xf32>
      %y = "tensor.insert_slice"(%p, %x) <{static_offsets = array<i64: 0, 2>,
          static_sizes = array<i64: 2, 1>, static_strides = array<i64: 2, 1>,
          operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}>
          : (tensor<2xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>"""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    value = run(body, "tensor<3x4xf32> -> tensor<3x4xf32>", x)
    np.testing.assert_array_equal(np.asarray(value), [[0, 1, 5, 3], [4, 5, 6, 7], [8, 9, 7, 11]])


def test_a_slice_that_exceeds_its_tensor() -> None:
    body = """%y = "tensor.extract_slice"(%x) <{static_offsets = array<i64: 2>,
      static_sizes = array<i64: 2>, static_strides = array<i64: 2>,
      operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<4xf32>) -> tensor<2xf32>"""
    with pytest.raises(PasslineError, match="a view of 2 elements from 2 exceeds a dimension of 4"):
        run(body, "tensor<4xf32> -> tensor<2xf32>", np.ones(4, np.float32))


def test_pad() -> None:
    body = """%n = arith.constant 1 : index
      %y = "tensor.pad"(%x, %n) <{static_low = array<i64: 2>, static_high = array<i64: -9223372036854775808>,
          operandSegmentSizes = array<i32: 1, 0, 1>}> ({
      ^bb0(%i: index):
        %k = arith.index_cast %i : index to i32
        "tensor.yield"(%k) : (i32) -> ()
      }) : (tensor<2xi32>, index) -> tensor<5xi32>"""  # noqa: E501
    value = run(body, "tensor<2xi32> -> tensor<5xi32>", np.array([7, 8], np.int32))
    np.testing.assert_array_equal(np.asarray(value), [0, 1, 7, 8, 4])
    with pytest.raises(PasslineError, match=r"padded to 5: expected tensor<6xi32>"):
        run(body.replace("5xi32", "6xi32"), "tensor<2xi32> -> tensor<6xi32>", np.zeros(2, np.int32))


@needs_xdsl("0.66", "tensor.concat")
def test_concat() -> None:
    body = """%y = "tensor.concat"(%x, %x) <{dim = 1 : i64}>
      : (tensor<2x1xi1>, tensor<2x1xi1>) -> tensor<2x2xi1>"""
    value = run(body, "tensor<2x1xi1> -> tensor<2x2xi1>", np.array([[True], [False]]))
    np.testing.assert_array_equal(np.asarray(value), [[True, True], [False, False]])
