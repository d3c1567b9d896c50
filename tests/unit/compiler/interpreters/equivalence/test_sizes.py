"""The sizes for which functions are checked: a pass that is wrong for one of them is found."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed

from passline.compiler.interpreters.equivalence import Equivalence
from passline.compiler.interpreters.equivalence.inputs import sizes_around_constants

DOUBLE = """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relax.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"""


def wrong_for(size: int) -> str:
    """Return a function that doubles its argument, but for one size."""
    return f"""
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %size = arith.constant {size} : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %is = arith.cmpi eq, %n, %size : index
  %0 = scf.if %is -> (tensor<?xf32>) {{
    scf.yield %x : tensor<?xf32>
  }} else {{
    %1 = relax.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }}
  return %0 : tensor<?xf32>
}}"""


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 16, 17, 64, 100, 1000])
def test_a_function_that_is_wrong_for_one_size(size: int):
    difference = Equivalence(parsed(DOUBLE)).compare(parsed(wrong_for(size)))
    assert difference is not None
    assert np.asarray(difference.inputs[0]).shape == (size,)


def test_a_function_that_is_wrong_for_the_empty_tensor():
    """No element of an empty result differs: its shape does."""
    grown = wrong_for(0).replace(
        "scf.yield %x : tensor<?xf32>",
        """%p = relax.nn.pad %x
      {pad_width = [0, 1]} : (tensor<?xf32>) -> tensor<?xf32>
      scf.yield %p : tensor<?xf32>""",
        1,
    )
    difference = Equivalence(parsed(DOUBLE)).compare(parsed(grown))
    assert difference is not None
    assert np.asarray(difference.inputs[0]).shape == (0,)


def test_sizes_of_later_versions_are_compared_once():
    check = Equivalence(parsed(DOUBLE))
    count = len(check.samples["main"])
    right = (
        wrong_for(1000)
        .replace("scf.yield %x ", "scf.yield %d ")
        .replace(
            "%0 = scf.if",
            """%d = relax.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %0 = scf.if""",
        )
    )
    for _ in range(2):
        assert check.compare(parsed(right)) is None
        assert [s.recipe.size for s in check.samples["main"]][count:] == [999, 1000, 1001]


def test_sizes_around_constants():
    module = parsed("""
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %c = arith.constant 20 : index
      %b = relax.full 1.0 : tensor<40xf32>
      %n = arith.constant -5 : index
      %h = arith.constant 100000 : index
      return %x : tensor<?xf32>
    }""")
    assert sizes_around_constants(module) == [19, 20, 21, 39, 40, 41]
