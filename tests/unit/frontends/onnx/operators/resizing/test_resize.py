"""Resize beside onnxruntime, in forms that ONNX's backend tests do not have."""

from __future__ import annotations

import numpy as np
import pytest
from support.models.single_node import check


@pytest.mark.parametrize("unknown", [None, {0: (2, 3)}])
def test_a_region_of_any_size_has_no_effect_where_nothing_is_cropped(
    unknown: dict[int, tuple[int, ...]] | None,
):
    x = np.random.default_rng(0).standard_normal((1, 2, 3, 4)).astype(np.float32)
    region, scales = np.array([0.5, 2, 1], np.float32), np.array([1, 1, 2, 1.5], np.float32)
    check(
        "Resize",
        *(x, region, scales),
        domain="",
        constants=[1, 2],
        unknown=unknown,
        mode="linear",
    )
