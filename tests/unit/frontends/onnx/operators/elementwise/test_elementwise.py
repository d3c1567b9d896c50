"""Element-wise operators on types that ONNX does not have for them, but exporters write."""

from __future__ import annotations

import numpy as np
import pytest
from support.models.from_text import imported, model_of, run


@pytest.mark.parametrize("type", ["int32", "int64"])
def test_signed_integers_are_shifted_right_as_their_bits(type: str):
    head = f"g ({type}[3] x, {type}[3] k) => ({type}[3] y)"
    module = imported(model_of(f'{head} {{ y = BitShift <direction = "RIGHT"> (x, k) }}'))
    x, k = np.array([-8, -1, 9], type), np.array([1, 4, 2], type)
    (actual,) = run(module, x, k)
    np.testing.assert_array_equal(actual, (x.view(f"u{type}") >> k.view(f"u{type}")).view(type))
