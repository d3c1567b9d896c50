"""ReorderTakeAfterMatmul: indices out of range keep their meaning."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed
from support.passes.results import run

from passline.dialects.relax.data.indexing import TakeOp
from passline.passes.relax.reorder_take_after_matmul import ReorderTakeAfterMatmul
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.walk import walk

BATCHED = """
func.func @f(%x: tensor<5x2x3xf32>, %t: tensor<4x3x2xf32>, %i: tensor<5xi64>)
    -> tensor<5x2x2xf32> {{
  %0 = relax.take %t, %i {{axis = 0, mode = "{mode}"}}
    : (tensor<4x3x2xf32>, tensor<5xi64>) -> tensor<5x3x2xf32>
  %1 = relax.matmul %x, %0 : (tensor<5x2x3xf32>, tensor<5x3x2xf32>) -> tensor<5x2x2xf32>
  func.return %1 : tensor<5x2x2xf32>
}}
"""
COLUMNS = """
func.func @f(%x: tensor<5x2x3xf32>, %t: tensor<3x4xf32>, %i: tensor<5xi64>) -> tensor<5x2x5xf32> {{
  %0 = relax.take %t, %i {{axis = 1, mode = "{mode}"}}
    : (tensor<3x4xf32>, tensor<5xi64>) -> tensor<3x5xf32>
  %1 = relax.matmul %x, %0 : (tensor<5x2x3xf32>, tensor<3x5xf32>) -> tensor<5x2x5xf32>
  func.return %1 : tensor<5x2x5xf32>
}}
"""


@pytest.mark.parametrize(("text", "table"), [(BATCHED, (4, 3, 2)), (COLUMNS, (3, 4))])
@pytest.mark.parametrize("mode", ["clip", "wrap", "raise", "fast"])
def test_indices_out_of_range(text: str, table: tuple[int, ...], mode: str):
    before = parsed(text.format(mode=mode))
    after = ReorderTakeAfterMatmul()(before)
    assert isinstance(next(op for op in walk(before) if op.operands), TakeOp)
    assert not isinstance(next(op for op in walk(after) if op.operands), TakeOp)
    random = np.random.default_rng(3)
    x, t = (random.standard_normal(shape).astype("f4") for shape in ((5, 2, 3), table))
    beyond = [0, -1, 3, -4, 2] if mode == "raise" else [0, -1, 3, 9, -6]
    (mine,), (expected,) = (run(m, "f", (x, t, np.array(beyond))) for m in (after, before))
    np.testing.assert_allclose(np.asarray(mine), np.asarray(expected), 1e-5, 1e-6)
    if mode == "raise":
        for module in (before, after):
            with pytest.raises(PasslineError, match="index 4 is out of bounds"):
                run(module, "f", (x, t, np.array([0, 1, 2, 3, 4])))
