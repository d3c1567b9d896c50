"""Resize beside onnxruntime, in forms that ONNX's backend tests do not have."""

from __future__ import annotations

import numpy as np
import pytest
from support.models.from_text import Array, model_of
from support.models.single_node import by_onnxruntime, check, ours, single_node

from passline.compiler.frontends.onnx import UnsupportedModelError, import_model


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


def x(*shape: int) -> Array:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("axes", [(2,), (0, 1, 2, 3)])
def test_the_first_form_of_upsample_of_unknown_sizes(axes: tuple[int, ...], mode: str):
    data, scales = x(1, 2, 3, 4), [1.0, 1.0, 2.0, 1.5]
    model = single_node(
        "Upsample", [data], domain="", opset=7, unknown={0: axes}, mode=mode, scales=scales
    )
    (expected,) = by_onnxruntime(model, [data])
    np.testing.assert_allclose(ours(model, [data])[0], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("scales", "reason"),
    [
        ("nan, 1", r"input 2 is \[1.0, 1.0, nan, 1.0\], expected finite numbers"),
        ("inf, 1", "expected finite numbers"),
        ("2, -1", r"scales = \[1.0, 1.0, 2.0, -1.0\], expected positive numbers"),
        ("0, 1", "expected positive numbers"),
    ],
)
@pytest.mark.parametrize("height", ["4", "H"])
def test_scales_that_are_no_positive_numbers(height: str, scales: str, reason: str):
    model = model_of(
        f"g (float[1, 1, {height}, 4] x) => (float[A, B, C, D] y) "
        '<float[4] s = {1, 1, 1, 1}> { y = Resize (x, "", s) }'
    )
    numbers = np.array([1, 1, *map(float, scales.split(","))], np.float32)
    model.graph.initializer[0].ClearField("float_data")
    model.graph.initializer[0].raw_data = numbers.tobytes()
    with pytest.raises(UnsupportedModelError, match=reason):
        import_model(model)


def test_sizes_below_zero():
    model = model_of(
        "g (float[1, 1, 4, 4] x) => (float[A, B, C, D] y) "
        '<int64[4] s = {1, 1, -2, 4}> { y = Resize (x, "", "", s) }'
    )
    with pytest.raises(UnsupportedModelError, match=r"sizes = .*, expected numbers of at least 0"):
        import_model(model)
