"""Determinants of batches of unknown size, beside onnxruntime."""

import numpy as np
import pytest
from support.models.single_node import check


@pytest.mark.parametrize("size", [1, 3])
def test_determinants_of_an_unknown_number_of_matrices(size: int):
    x = np.random.default_rng(size).standard_normal((2, 3, size, size)).astype(np.float32)
    check("Det", x, domain="", opset=11, unknown={0: (0, 1)})
