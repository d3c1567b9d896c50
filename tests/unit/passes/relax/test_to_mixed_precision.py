"""ToMixedPrecision: the table names operations, and a network keeps its results to f16."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pytest
from support.models.from_text import run
from support.parsing import parsed
from xdsl.dialects.builtin import ModuleOp, bf16, f16

from passline.dialects.relax import Relax
from passline.dialects.relax.elementwise.elementwise import AstypeOp
from passline.dialects.relax.types import Element, is_tensor
from passline.passes.relax.to_mixed_precision import POLICIES, ToMixedPrecision
from passline.passmanager.ir.walk import walk

NETWORK = """
func.func @main(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3x3xf32>, %v: tensor<10x16xf32>)
    -> tensor<1x10xf32> {
  %0 = relax.nn.conv2d %x, %w {padding = [1, 1]}
    : (tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x9x9xf32>
  %b = relax.full 0.3 : tensor<16x1x1xf32>
  %1 = relax.add %0, %b : (tensor<1x16x9x9xf32>, tensor<16x1x1xf32>) -> tensor<1x16x9x9xf32>
  %2 = relax.nn.relu %1 : (tensor<1x16x9x9xf32>) -> tensor<1x16x9x9xf32>
  %3 = relax.nn.global_avg_pool2d %2 : (tensor<1x16x9x9xf32>) -> tensor<1x16x1x1xf32>
  %4 = relax.reshape %3 {newshape = [1, 16]} : (tensor<1x16x1x1xf32>) -> tensor<1x16xf32>
  %5 = relax.nn.dense %4, %v : (tensor<1x16xf32>, tensor<10x16xf32>) -> tensor<1x10xf32>
  return %5 : tensor<1x10xf32>
}
"""


def network() -> ModuleOp:
    return parsed(NETWORK)


def computed_in(module: ModuleOp, element: Element) -> Iterator[str]:
    """Yield the names of the operations with a result of this element type."""
    for op in walk(module):
        for result in op.results:
            if is_tensor(type_ := result.type) and type_.element_type == element:
                yield op.name


def test_the_table_names_operations():
    assert POLICIES.keys() <= {op.name for op in Relax.operations}


@pytest.mark.parametrize(("dtype", "tolerance"), [("f16", 4e-3), ("bf16", 4e-2)])
def test_results_are_close(dtype: Literal["f16", "bf16"], tolerance: float):
    module = network()
    pass_ = ToMixedPrecision(dtype=dtype)
    mixed = pass_(module)
    names = {*computed_in(mixed, f16 if dtype == "f16" else bf16)}
    assert names == {
        f"relax.{name}" for name in ("astype", "full", "nn.conv2d", "add", "nn.relu", "nn.dense")
    }
    rng = np.random.default_rng(0)
    shapes = ((1, 8, 9, 9), (16, 8, 3, 3), (10, 16))
    arguments = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    (expected,), (actual,) = run(module, *arguments), run(mixed, *arguments)
    assert actual.dtype == np.float32
    error = np.abs(actual - expected).max() / np.abs(expected).max()
    assert 0 < error < tolerance
    assert str(pass_(mixed)) == str(mixed)


def test_a_value_is_converted_once():
    text = NETWORK.replace(
        "return %5",
        "%6 = relax.nn.dense %4, %v : "
        "(tensor<1x16xf32>, tensor<10x16xf32>) -> tensor<1x10xf32>\n  return %6",
    )
    mixed = ToMixedPrecision()(parsed(text))
    inputs = [op.input for op in walk(mixed) if isinstance(op, AstypeOp) and op.dtype == f16]
    assert len(inputs) == len({*inputs}) == 4
