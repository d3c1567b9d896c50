"""Names of dimensions that get expressions of other names: a second run does not find them again,
so they are no cases of tests/filecheck.
"""

from __future__ import annotations

import pytest

import passline
from passline.compiler.interpreters.shape_bindings import ShapeBindingError
from passline.passes.relax.bind_shapes import BindShapes

IR = """
func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["m", "n"]},
    %y: tensor<?xf32> {onnx.dims = ["m * n"]})
    -> (tensor<?xf32> {onnx.dims = ["m + 1"]}) {
  %0 = relax.exp %y {onnx.dims = [["m * n"]]} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


def test_a_name_gets_an_expression_in_parameters_results_and_operations() -> None:
    text = str(BindShapes(dims=("m=2 * k",))(passline.load(IR)))
    assert '%x: tensor<?x?xf32> {onnx.dims = ["2 * k", "n"]}' in text
    assert '%y: tensor<?xf32> {onnx.dims = ["2 * k * n"]}' in text
    assert '-> (tensor<?xf32> {onnx.dims = ["2 * k + 1"]})' in text
    assert 'relax.exp %y {onnx.dims = [["2 * k * n"]]}' in text


def test_the_size_of_a_new_name_follows_from_a_parameter() -> None:
    with pytest.raises(ShapeBindingError, match="the size of 'i' follows from no dimension"):
        BindShapes(dims=("m=i * j",))(passline.load(IR))


def test_a_later_choice_agrees_with_an_earlier_one() -> None:
    module = BindShapes(shapes=("y=65",))(passline.load(IR))
    with pytest.raises(ShapeBindingError, match=r"'m \* n', which is 64 by .*, not 65"):
        BindShapes(dims=("m=4", "n=16"))(module)
    assert "%x: tensor<5x13xf32>" in str(BindShapes(dims=("m=5",))(module))
