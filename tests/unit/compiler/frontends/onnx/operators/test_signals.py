"""Fourier transforms of unknown sizes, against those of known sizes."""

from __future__ import annotations

import numpy as np
import pytest
from support.models.from_text import imported, model_of, run

from passline.compiler.frontends.onnx import UnsupportedModelError, import_model

RNG = np.random.default_rng(0)
AXIS = "a = Constant<value=int64 {1}>()"


@pytest.mark.parametrize(
    ("parts", "nodes"),
    [
        (1, f"{AXIS} y = DFT(x, , a)"),
        (2, f"{AXIS} y = DFT<inverse=1>(x, , a)"),
        (1, f"{AXIS} y = DFT<onesided=1>(x, , a)"),
        (2, f"{AXIS} n = Constant<value=int64 {{5}}>() y = DFT(x, n, a)"),
        (2, f"{AXIS} n = Constant<value=int64 {{20}}>() y = DFT<inverse=1>(x, n, a)"),
        (2, "s = Constant<value=int64 {3}>() n = Constant<value=int64 {6}>() y = STFT(x, s, , n)"),
    ],
)
def test_unknown_sizes(parts: int, nodes: str):
    model = model_of(f"g (float[B, N, {parts}] x) => (float y) {{ {nodes} }}", 20)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    module = imported(model)
    for size in (8, 9, 15):
        x = RNG.standard_normal((2, size, parts)).astype(np.float32)
        (known,) = run(import_model(model, shapes={"x": x.shape}), x)
        (unknown,) = run(module, x)
        np.testing.assert_allclose(unknown, known, rtol=1e-5, atol=1e-5)


def test_a_real_signal_of_half_a_spectrum_of_unknown_size():
    attributes = "inverse = 1, onesided = 1"
    text = f"g (float[N, 2] x) => (float[M, 1] y) {{ {AXIS} y = DFT<{attributes}>(x, , z) }}"
    model = model_of(text.replace("{1}", "{0}").replace("a =", "z ="), 20)
    module = imported(model)
    for size in (2, 5, 8):
        x = RNG.standard_normal((size, 2)).astype(np.float32)
        x[[0, -1], 1] = 0
        (actual,) = run(module, x)
        np.testing.assert_allclose(actual[:, 0], np.fft.irfft(x[:, 0] + 1j * x[:, 1]), atol=1e-6)


def test_numbers_of_an_unknown_number_of_parts_are_refused():
    model = model_of(f"g (float[2, 8, P] x) => (float[2, 8, 2] y) {{ {AXIS} y = DFT(x, , a) }}", 20)
    with pytest.raises(UnsupportedModelError, match="expected 1 or 2 elements in the last"):
        imported(model)
