"""Transformers in the forms of exporters: the same results as onnxruntime, in few kernels."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest
from support.models.from_text import optimized, run
from support.models.kernels import count_kernels
from support.models.onnxruntime_reference import run_onnxruntime
from support.models.seeded import Array
from support.models.transformers import (
    Graph,
    Sizes,
    Style,
    decoder,
    encoder,
    inputs_of,
    vision_encoder,
)
from support.native.needs_llvmlite import needs_native
from xdsl.dialects.builtin import ModuleOp

import passline
from passline.compiler.execution import Engine
from passline.compiler.native import compile_module
from passline.passmanager import PassContext
from passline.passmanager.ir.walk import walk

Kinds = Counter[str]

NORMS = {"rms": "rms_norm", "rms_div": "rms_norm"}
GELUS = {"tanh": "gelu_tanh", "tanh_mul": "gelu_tanh", "silu": "silu", "sigmoid": ""}

STYLES = [
    Style(),
    Style(norm="mul", gelu="mul", scale="mul", mask="where", keys="once"),
    Style(norm="rsqrt", gelu="half_first", scale="query", mask="where_finite"),
    Style(norm="folded", gelu="tanh", scale="both", softmax="written"),
    Style(norm="op", gelu="tanh_mul", mask="none", qkv="split"),
    Style(norm="rms", gelu="sigmoid", rotary="halves"),
    Style(norm="rms_div", gelu="silu", rotary="pairs", scale="both"),
]

MODELS = {
    **{f"encoder {i}": encoder(style=style) for i, style in enumerate(STYLES)},
    "vision": vision_encoder(),
    "decoder": decoder(),
    "decoder without a cache": decoder(Sizes()),
    "decoder with grouped queries": decoder(Sizes(heads=4, kv_heads=2, past=3)),
    "decoder of one token": decoder(Sizes(length=1, past=7)),
    "decoder with an added mask": decoder(style=Style(norm="rsqrt", gelu="tanh")),
}
every_model = pytest.mark.parametrize("name", MODELS)


def check(results: list[Array], model: onnx.ModelProto):
    for actual, expected in zip(results, run_onnxruntime(model, inputs_of(model)), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


def arguments(model: onnx.ModelProto) -> list[Array]:
    return [*inputs_of(model).values()]


def recognized(module: ModuleOp) -> Kinds:
    """Count the operations on rows: attention, softmax, normalizations, activations, means."""
    names = [op.name.removeprefix("relax.").removeprefix("nn.") for op in walk(module)]
    kinds = ("attention", "softmax", "erf", "tanh", "mean", "layer_norm", "rms_norm")
    return Counter(name for name in names if name in (*kinds, "gelu", "gelu_tanh", "silu"))


@every_model
@pytest.mark.parametrize("level", [0, 3])
def test_numpy(name: str, level: int):
    model = MODELS[name]
    check(run(optimized(model, level), *arguments(model)), model)


@pytest.mark.parametrize("engine", [pytest.param("native", marks=needs_native), "cuda-interpreter"])
@pytest.mark.parametrize("name", ["encoder 0", "encoder 3", "vision", "decoder of one token"])
def test_compiled(name: str, engine: Engine):
    model = MODELS[name]
    with PassContext(verify_each=False):
        function = passline.compile(optimized(model, 3), engine=engine, level=None)
    results = function(*arguments(model))
    check([np.asarray(r) for r in results], model)


@needs_native
def test_machine_code_without_optimization():
    model = MODELS["encoder 1"]
    with PassContext(verify_each=False):
        function = compile_module(optimized(model, 0))
    check([np.asarray(r) for r in function(*arguments(model))], model)


@pytest.mark.parametrize("style", STYLES, ids=str)
def test_encoders_are_recognized(style: Style):
    """Equal kernels are one function: the normalizations of a layer are counted once."""
    gelu = GELUS.get(style.gelu, "gelu")
    expected = Counter(["attention", NORMS.get(style.norm, "layer_norm"), *filter(None, [gelu])])
    assert recognized(optimized(encoder(style=style), 3)) == expected


@pytest.mark.parametrize("name", [name for name in MODELS if "decoder" in name])
def test_decoders_are_recognized(name: str):
    found = recognized(optimized(MODELS[name], 3))
    assert found["attention"] == 1 and not found["softmax"] and not found["mean"]


def test_kernels_of_a_bert():
    """Three projections, attention, its projection, two layers and two normalizations; the
    embedding, its normalization and the mask."""
    module = optimized(encoder(Sizes(layers=4)), 3)
    assert count_kernels(module) <= 4 * 9 + 3


@pytest.mark.parametrize("form", ["halves", "pairs"])
def test_rotary_embedding_is_one_kernel(form: str):
    g, sizes = Graph(), Sizes()
    shape = (1, sizes.length, sizes.heads, sizes.dim)
    heads = g.op("Transpose", g.input("x", shape), perm=[0, 2, 1, 3])
    g.output("y", g.rotate(heads, sizes, sizes.length, form), (1, sizes.heads, *shape[1::2]))
    assert count_kernels(optimized(g.model(), 3)) == 1
