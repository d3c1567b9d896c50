"""The rules of fake-quantization-to-integer: integers beside the floats that they replace."""

from __future__ import annotations

import numpy as np
import pytest
from support.budget import THOROUGH
from support.models.from_text import Array, run
from support.parsing import parsed

from passline.dialects.relax.elementwise.quantization import DequantizeOp
from passline.dialects.relax.expression import operations
from passline.passes.relax.fake_quantization_to_integer import FakeQuantizationToInteger
from passline.passes.relax.quantization_rules import RULES

CONSTANTS = """
  %s = relax.full 0.05 : tensor<f32>
  %s2 = relax.full 0.031 : tensor<f32>
  %t = relax.full 0.11 : tensor<f32>
  %z = relax.full {zero} : tensor<{q}>
  %z2 = relax.full {zero2} : tensor<{q}>
  %wz = relax.full 0 : tensor<i8>
  %v = relax.constant dense<[[1, -2, 3, 4, -5, 60], [7, 8, 127, 3, 2, 1]]> : tensor<2x6xi8>
  %vs = relax.constant dense<[[0.02], [0.05]]> : tensor<2x1xf32>
  %w = relax.dequantize %v, %vs, %wz
    : (tensor<2x6xi8>, tensor<2x1xf32>, tensor<i8>) -> tensor<2x6xf32>
  %wt = relax.transpose %w : (tensor<2x6xf32>) -> tensor<6x2xf32>
  %k8 = relax.constant dense<[[[[1]], [[-2]], [[3]], [[4]]], [[[-5]], [[60]], [[7]], [[8]]],
    [[[127]], [[3]], [[2]], [[1]]]]> : tensor<3x4x1x1xi8>
  %bias = relax.constant dense<[0.3, -0.7]> : tensor<2xf32>
  %half = relax.full 0.5 : tensor<f32>
  %six = relax.full 6.0 : tensor<f32>
  %i = relax.constant dense<[3, 0]> : tensor<2xi64>
"""


def module_text(body: str, result: str, q: str) -> str:
    """Return a function of two images that are dequantized, and quantized at the end."""
    low = q == "i8"
    zeros = ("-7", "12") if low else ("121", "0")
    constants = CONSTANTS.replace("{q}", q).replace("{zero}", zeros[0]).replace("{zero2}", zeros[1])
    image = f"tensor<2x4x6x6x{q}>"
    scalar = f"tensor<f32>, tensor<{q}>"
    return f"""
func.func @main(%a : {image}, %b : {image}) -> tensor<{result}x{q}> {{
{constants}
  %x = relax.dequantize %a, %s, %z : ({image}, {scalar}) -> tensor<2x4x6x6xf32>
  %y = relax.dequantize %b, %s2, %z2 : ({image}, {scalar}) -> tensor<2x4x6x6xf32>
  %u = relax.dequantize %b, %s, %z : ({image}, {scalar}) -> tensor<2x4x6x6xf32>
{body}
  %end = relax.quantize %r, %t, %z2 : (tensor<{result}xf32>, {scalar}) -> tensor<{result}x{q}>
  return %end : tensor<{result}x{q}>
}}
"""


T = "tensor<2x4x6x6xf32>"


def unary(op: str, properties: str = "") -> str:
    return f"%r = relax.{op} %x {properties} : ({T}) -> {T}"


def binary(op: str, other: str = "%y", type: str = T) -> str:
    return f"%r = relax.{op} %x, {other} : ({T}, {type}) -> {T}"


def changed(op: str, result: str, properties: str = "") -> tuple[str, str]:
    return f"%r = relax.{op} %x {properties} : ({T}) -> tensor<{result}xf32>", result


SAME = "2x4x6x6"
CASES: dict[str, tuple[str, str]] = {
    **{
        op: (unary(op), SAME)
        for op in ("nn.relu", "sigmoid", "tanh", "nn.gelu", "nn.silu", "exp", "abs", "negative")
    },
    **{op: (binary(op), SAME) for op in ("add", "subtract", "multiply", "maximum", "minimum")},
    "add of one scale": (binary("add", "%u"), SAME),
    "maximum of a scalar": (binary("maximum", "%half", "tensor<f32>"), SAME),
    "leaky relu": (unary("nn.leaky_relu", "{alpha = 0.1 : f64}"), SAME),
    "clip": (unary("clip", "{min = 0.0, max = 6.0}"), SAME),
    "times a constant": (binary("multiply", "%half", "tensor<f32>"), SAME),
    "by a constant": (binary("divide", "%six", "tensor<f32>"), SAME),
    "max pool": changed("nn.max_pool2d", "2x4x3x3", "{pool_size = [2, 2], strides = [2, 2]}"),
    "avg pool": changed("nn.avg_pool2d", "2x4x5x5", "{pool_size = [2, 2]}"),
    "padded avg pool": changed(
        "nn.avg_pool2d", "2x4x6x6", "{pool_size = [3, 3], padding = [1, 1]}"
    ),
    "global avg pool": changed("nn.global_avg_pool2d", "2x4x1x1"),
    "mean": changed("mean", "2x4", "{axis = [2, 3]}"),
    "max": changed("max", "2x4", "{axis = [2, 3]}"),
    "flatten": changed("nn.batch_flatten", "2x144"),
    "reshape": changed("reshape", "8x36", "{newshape = [8, 36]}"),
    "transpose": changed("transpose", "6x6x4x2"),
    "squeeze": (
        f"%e = relax.expand_dims %x {{axis = [0]}} : ({T}) -> tensor<1x2x4x6x6xf32>\n"
        f"%r = relax.squeeze %e {{axis = [0]}} : (tensor<1x2x4x6x6xf32>) -> {T}",
        SAME,
    ),
    "slice": changed("strided_slice", "2x4x3x6", "{begin = [1], end = [4], axes = [2]}"),
    "pad": changed("nn.pad", "2x4x6x8", "{pad_width = [0, 0, 0, 0, 0, 0, 1, 1]}"),
    "split": (
        f"%p:2 = relax.split %x {{sections = 2, axis = 1}} : ({T}) -> "
        "(tensor<2x2x6x6xf32>, tensor<2x2x6x6xf32>)\n"
        "%r = relax.nn.relu %p#1 : (tensor<2x2x6x6xf32>) -> tensor<2x2x6x6xf32>",
        "2x2x6x6",
    ),
    "take": (
        f'%r = relax.take %x, %i {{axis = 1, mode = "fast"}} : ({T}, tensor<2xi64>) -> '
        "tensor<2x2x6x6xf32>",
        "2x2x6x6",
    ),
    "take of a table": (
        f"%g = relax.sigmoid %x : ({T}) -> {T}\n"
        f'%r = relax.take %g, %i {{axis = 1, mode = "fast"}} : ({T}, tensor<2xi64>) -> '
        "tensor<2x2x6x6xf32>",
        "2x2x6x6",
    ),
    "resize": changed(
        "image.resize2d",
        "2x4x12x12",
        '{size = [12, 12], layout = "NCHW", method = "nearest_neighbor"}',
    ),
    "concatenate": (
        f"%r = relax.concatenate %x, %y {{axis = 1}} : ({T}, {T}) -> tensor<2x8x6x6xf32>",
        "2x8x6x6",
    ),
    "dense": (
        f"%d = relax.nn.dense %x, %w : ({T}, tensor<2x6xf32>) -> tensor<2x4x6x2xf32>\n"
        "%r = relax.add %d, %bias : (tensor<2x4x6x2xf32>, tensor<2xf32>) -> tensor<2x4x6x2xf32>",
        "2x4x6x2",
    ),
    "matmul": (
        f"%d = relax.matmul %x, %wt : ({T}, tensor<6x2xf32>) -> tensor<2x4x6x2xf32>\n"
        "%r = relax.clip %d {min = 0.0, max = 3.0} : (tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>",
        "2x4x6x2",
    ),
    "matmul of activations": (f"%r = relax.matmul %x, %y : ({T}, {T}) -> {T}", SAME),
    "conv": (
        "%k = relax.dequantize %k8, %s, %wz : (tensor<3x4x1x1xi8>, tensor<f32>, tensor<i8>) -> "
        "tensor<3x4x1x1xf32>\n"
        f"%c = relax.nn.conv2d %x, %k {{padding = [1, 1]}} : ({T}, tensor<3x4x1x1xf32>) -> "
        "tensor<2x3x8x8xf32>\n"
        "%r = relax.nn.relu %c : (tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32>",
        "2x3x8x8",
    ),
}

EXACT = (
    *("flatten", "max", "max pool", "nn.relu", "pad", "reshape", "resize", "sigmoid", "slice"),
    *("split", "squeeze", "take", "take of a table", "tanh", "transpose"),
)
"""The operations that move or select elements of one scale, and tables."""


def inputs(q: str) -> tuple[Array, Array]:
    generator, dtype = np.random.default_rng(0), np.int8 if q == "i8" else np.uint8
    info = np.iinfo(dtype)
    first, second = (
        generator.integers(info.min, info.max + 1, (2, 4, 6, 6)).astype(dtype) for _ in range(2)
    )
    return first, second


@pytest.mark.parametrize("q", ["i8", "ui8"])
@pytest.mark.parametrize("name", CASES)
def test_integers_are_within_one_step(name: str, q: str):
    module = parsed(module_text(*CASES[name], q))
    (before,) = run(module, *inputs(q))
    after_pass = FakeQuantizationToInteger(hard_fail=True)(module)
    assert not any(isinstance(op, DequantizeOp) for op in after_pass.walk())
    (after,) = run(after_pass, *inputs(q))
    steps = np.abs(after.astype(int) - before.astype(int))
    assert steps.max() <= (0 if name in EXACT else 1)
    assert np.unique(before).size > 3 and np.count_nonzero(steps) <= 0.05 * steps.size


def test_a_product_without_outputs_is_computed_in_integers():
    scalars = "tensor<f32>, tensor<i8>"
    module = parsed(f"""
func.func @main(%a : tensor<2x6xi8>) -> tensor<2x0xi8> {{
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 3 : tensor<i8>
  %zero = relax.full 0 : tensor<i8>
  %v = relax.full 1 : tensor<0x6xi8>
  %x = relax.dequantize %a, %s, %z : (tensor<2x6xi8>, {scalars}) -> tensor<2x6xf32>
  %w = relax.dequantize %v, %s, %zero : (tensor<0x6xi8>, {scalars}) -> tensor<0x6xf32>
  %y = relax.nn.dense %x, %w : (tensor<2x6xf32>, tensor<0x6xf32>) -> tensor<2x0xf32>
  %r = relax.quantize %y, %s, %z : (tensor<2x0xf32>, {scalars}) -> tensor<2x0xi8>
  return %r : tensor<2x0xi8>
}}
""")
    module = FakeQuantizationToInteger(hard_fail=True)(module)
    assert not any(isinstance(op, DequantizeOp) for op in module.walk())
    (result,) = run(module, np.ones((2, 6), np.int8))
    assert result.shape == (2, 0)


def with_random_numbers(text: str, q: str, random: np.random.Generator) -> str:
    """Replace the scales and constants of `module_text` by numbers from 1e-6 to 1e6, the zero
    points by any; the scale of the result is near those of the operands in every other case."""
    scale = 10 ** random.uniform(-6, 6)
    result = scale * 10 ** random.uniform(-3, 3) if random.random() < 0.5 else None

    def number() -> str:
        return f"{10 ** random.uniform(-6, 6):.9g}" if result is None else f"{scale:.9g}"

    info = np.iinfo(np.int8 if q == "i8" else np.uint8)
    lines: list[str] = []
    for line in text.splitlines():
        name = line.split("=")[0].strip()
        if name in ("%s", "%s2", "%half", "%six"):
            line = f"  {name} = relax.full {float(number())!r} : tensor<f32>"
        elif name == "%t":
            line = f"  %t = relax.full {float(result or number())!r} : tensor<f32>"
        elif name in ("%z", "%z2"):
            zero = random.integers(info.min, info.max + 1)
            line = f"  {name} = relax.full {zero} : tensor<{q}>"
        elif name == "%vs":
            line = line.replace("0.02", repr(float(number()))).replace(
                "0.05", repr(float(number()))
            )
        elif name == "%bias":
            line = line.replace("0.3", repr(float(number()))).replace("0.7", repr(float(number())))
        lines.append(line)
    return "\n".join(lines)


@pytest.mark.parametrize("name", CASES)
def test_scales_that_no_model_has(name: str):
    for seed in range(12 if THOROUGH else 4):
        random, q = np.random.default_rng([seed, *name.encode()]), ("i8", "ui8")[seed % 2]
        module = parsed(with_random_numbers(module_text(*CASES[name], q), q, random))
        (before,) = run(module, *inputs(q))
        (after,) = run(FakeQuantizationToInteger()(module), *inputs(q))
        assert np.abs(after.astype(int) - before.astype(int)).max() <= 1, seed


def test_rules_are_operations_of_relax():
    assert {name.removeprefix("relax.") for name in RULES} <= operations().keys()
