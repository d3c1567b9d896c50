# pyright: reportUnknownMemberType=false
"""Operators in the form that they had in older opsets, against ONNX's reference implementation.

The backend tests have each operator in the opset of its last change only.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator
from support.models.from_text import Array, imported, model_of, run
from support.tables import table_test

RNG = np.random.default_rng(0)
INPUTS = {
    "x": RNG.standard_normal((2, 3, 4)).astype(np.float32),
    "c": RNG.standard_normal((3,)).astype(np.float32),
    "v": RNG.uniform(0.5, 1.5, (3,)).astype(np.float32),
    "image": RNG.standard_normal((2, 2, 4, 6)).astype(np.float32),
    "m": RNG.standard_normal((4, 5)).astype(np.float32),
    "b": RNG.standard_normal((5,)).astype(np.float32),
    "signal": RNG.standard_normal((2, 9, 1)).astype(np.float32),
    "w": RNG.standard_normal((4,)).astype(np.float32),
    "one": RNG.standard_normal((1, 3, 1)).astype(np.float32),
}
TYPES = {
    name: f"float[{', '.join(map(str, array.shape))}] {name}" for name, array in INPUTS.items()
}

TWO = "s = Constant<value=int64 {2}>()"

# Not among them: what the reference implementation computes in its newest form only.
CASES = [
    (11, "x", "y = Softmax<axis=2>(x)"),
    (7, "x", "y = Clip<min=-0.5, max=0.5>(x)"),
    (10, "x", "y = Clip<min=0.25>(x)"),
    (11, "x", "k = Constant<value=float {0.5}>() y = Clip(x, , k)"),
    (7, "x", "y = Dropout<ratio=0.25>(x)"),
    (12, "x", "y = Dropout(x)"),
    (9, "x", "y = Slice<starts=[0, 1], ends=[2, 100], axes=[0, 2]>(x)"),
    (7, "x", "y = Pad<pads=[0, 1, 0, 0, 0, 2], value=1.5>(x)"),
    (10, "x", 'y = Pad<pads=[0, 1, 0, 0, 0, 2], mode="reflect">(x)'),
    (11, "one", "y = Squeeze<axes=[0]>(one)"),
    (13, "one", "y = Squeeze(one)"),
    (11, "x", "y = Unsqueeze<axes=[0, 4]>(x)"),
    (11, "x", "y = ReduceSum<axes=[1], keepdims=0>(x)"),
    (17, "x", "y = ReduceMean<axes=[-1]>(x)"),
    (13, "x", "y = ReduceLogSumExp<axes=[0, 2]>(x)"),
    (11, "x", "y, z = Split<axis=2, split=[1, 3]>(x)"),
    (11, "x", "y, z = Split<axis=2>(x)"),
    (18, "x", "y, z = Split<axis=1, num_outputs=2>(x)"),
    (9, "x", "y, i = TopK<k=2, axis=1>(x)"),
    (14, "x, c, v", "y = BatchNormalization(x, c, c, c, v)"),
    (14, "x, c, v", "y, p, q = BatchNormalization<training_mode=1>(x, c, c, c, v)"),
    (11, "image", "r = Flatten<axis=3>(image) y = Gemm<transA=1, alpha=0.5>(r, r)"),
    (11, "m", "t = Transpose(m) y = Gemm<transA=1, transB=1, beta=2.0>(t, m)"),
    (11, "m, b", "t = Transpose(m) y = Gemm<beta=2.0>(t, m, b)"),
    (7, "image", "y = AveragePool<kernel_shape=[2, 3], strides=[2, 2]>(image)"),
    (10, "image", 'y = MaxPool<kernel_shape=[3, 3], ceil_mode=1, auto_pad="SAME_LOWER">(image)'),
    (11, "image", "y = GlobalAveragePool(image)"),
    (11, "image", "y = LpPool<kernel_shape=[2, 2], p=3>(image)"),
    (7, "image", "y = LRN<size=3, alpha=0.01>(image)"),
    (7, "x", "y = Elu<alpha=0.5>(x)"),
    (7, "x", "y = Selu(x)"),
    (7, "x", "y = HardSigmoid<alpha=0.3>(x)"),
    (10, "x", "y = ThresholdedRelu<alpha=0.5>(x)"),
    (12, "x", "y = Celu<alpha=2.0>(x)"),
    (9, "x", "y = Shrink<lambd=0.5, bias=0.1>(x)"),
    (7, "x", "y = Softplus(x)"),
    (7, "x", "y = Softsign(x)"),
    (14, "x", "y = HardSwish(x)"),
    (9, "x, one", "y = PRelu(x, one)"),
    (9, "x", "y = MeanVarianceNormalization<axes=[0, 2]>(x)"),
    (9, "x", "k = Constant<value=int64[1] {1}>() y = Gather<axis=2>(x, k)"),
    (9, "image", "k = Constant<value=float[4] {1.0, 1.0, 2.0, 3.0}>() y = Upsample(image, k)"),
    (11, "x", "k = Constant<value=int64 {1}>() y = CumSum(x, k)"),
    (17, "signal", "n = Constant<value=int64 {6}>() y = DFT<axis=1, onesided=1>(signal, n)"),
    (20, "signal", "a = Constant<value=int64 {-2}>() y = DFT(signal, , a)"),
    (17, "signal", f"{TWO} n = Constant<value=int64 {{4}}>() y = STFT(signal, s, , n)"),
    (17, "signal, w", "s = Constant<value=int64 {3}>() y = STFT<onesided=0>(signal, s, w)"),
]


@table_test("opset, inputs, nodes", CASES)
def test_old_forms(opset: int, inputs: str, nodes: str):
    names = inputs.split(", ")
    outputs = nodes.split(" = ")[-2].split(") ")[-1].split(", ")
    heads = ", ".join(TYPES[name] for name in names)
    results = ", ".join(f"{'int64' if name == 'i' else 'float'} {name}" for name in outputs)
    model = model_of(f"g ({heads}) => ({results}) {{ {nodes} }}", opset)
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    feeds = {name: INPUTS[name] for name in names}
    expected = cast(list[Array], ReferenceEvaluator(model).run(None, feeds))
    actual = run(imported(model), *feeds.values())
    for value, reference in zip(actual, expected, strict=True):
        np.testing.assert_allclose(value, reference, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax", "Hardmax"])
def test_softmax_before_opset_13_is_that_of_a_matrix(name: str, axis: int):
    x = INPUTS["x"]
    head = f"g ({TYPES['x']}) => (float[2, 3, 4] y)"
    (old,) = run(imported(model_of(f"{head} {{ y = {name}<axis={axis}>(x) }}", 11)), x)
    rows, columns = int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:]))
    body = f"y = {name}<axis=1>(x)"
    matrix = model_of(f"g (float[{rows}, {columns}] x) => (float[N, M] y) {{ {body} }}", 13)
    (new,) = run(imported(matrix), x.reshape(rows, columns))
    np.testing.assert_allclose(old, new.reshape(x.shape), rtol=1e-6)


@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax"])
def test_dimensions_of_size_1_do_not_matter_to_softmax(name: str):
    head = "g (float[2, 3, 1, 1] x) => (float[2, 3, 1, 1] y)"
    module = imported(model_of(f"{head} {{ y = {name}(x) }}", 9))
    assert "softmax" in str(module) and "{axis = 1}" in str(module)
    assert "relax.exp" not in str(module)


def test_upsample_with_scales_as_an_attribute():
    nodes = "y = Upsample<scales=[1.0, 1.0, 2.0, 1.0]>(image)"
    graph = f"g ({TYPES['image']}) => (float[2, 2, 8, 6] y) {{ {nodes} }}"
    (y,) = run(imported(model_of(graph, 7)), INPUTS["image"])
    np.testing.assert_array_equal(y, INPUTS["image"].repeat(2, axis=2))
