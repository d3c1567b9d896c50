"""Cases of TVM's tests that the FileCheck files have at one shape, at several shapes, ranks and
element types: the operations that are left, and equal results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from support.passes.results import random_arguments, run
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from passline.compiler.interpreters.signature import entry_function, input_types
from passline.passmanager import PassContext
from passline.passmanager.ir.checks.verifier import verify
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

RTOL = {"f16": 2e-2, "f32": 2e-5, "f64": 1e-12}
DTYPES = pytest.mark.parametrize("dtype", RTOL)
FLOATS = pytest.mark.parametrize("dtype", ["f32", "f64"])


def tensor(shape: Sequence[int], dtype: str) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{dtype}>"


def constant(shape: Sequence[int], dtype: str, seed: int = 0, *, low: float = 0.5) -> str:
    """Return a constant with random elements between `low` and 2."""
    values = np.random.default_rng(seed).uniform(low, 2, shape).round(2).tolist()
    return f"relax.constant dense<{values}> : {tensor(shape, dtype)}"


def transformed(text: str, pipeline: str, dtype: str) -> ModuleOp:
    """Run a pipeline on a module; `@main` computes the same as before, up to rounding."""
    ctx = make_ir_context()
    module = parse_module(ctx, text, "table.mlir")
    verify(module)
    arguments = random_arguments(input_types(entry_function(module, "main")))
    assert arguments is not None
    expected = run(module, "main", arguments)
    with PassContext(opt_level=3):
        parse_pipeline(pipeline).apply(ctx, module)
    verify(module)
    for actual, value in zip(run(module, "main", arguments), expected, strict=True):
        np.testing.assert_allclose(np.asarray(actual), np.asarray(value), rtol=RTOL[dtype])
    return module


def operations(module: ModuleOp) -> Counter[str]:
    """Return the number of operations of `relax` by name, constants aside."""
    names = (op.name for op in walk(module) if op.name.startswith("relax."))
    return Counter(n.removeprefix("relax.") for n in names if n not in CONSTANTS)


CONSTANTS = ("relax.constant", "relax.full")


def groups(module: ModuleOp) -> list[str]:
    return [
        op.sym_name.data
        for op in module.ops
        if isinstance(op, FuncOp) and "relax.primitive" in op.attributes
    ]


# FuseOps


@DTYPES
@pytest.mark.parametrize("shape", [(1, 4), (1, 2, 3), (5, 1, 7, 2), (1,), (1, 1, 1)], ids=str)
def test_chain_is_one_group(shape: tuple[int, ...], dtype: str):
    t, axis = tensor(shape, dtype), shape.index(1)
    u = tensor(shape[:axis] + shape[axis + 1 :], dtype)
    module = transformed(
        f"""func.func @main(%x : {t}) -> {u} {{
          %c = relax.constant dense<1.0> : tensor<{dtype}>
          %0 = relax.add %x, %c : ({t}, tensor<{dtype}>) -> {t}
          %1 = relax.exp %0 : ({t}) -> {t}
          %2 = relax.squeeze %1 {{axis = [{axis}]}} : ({t}) -> {u}
          return %2 : {u}
        }}""",
        "fuse-ops",
        dtype,
    )
    assert groups(module) == ["fused_add_exp_squeeze"]


@FLOATS
@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_join_fuses_with_one_of_two_anchors(size: int, dtype: str):
    t = tensor((size, size), dtype)
    module = transformed(
        f"""func.func @main(%x : {t}, %w1 : {t}, %w2 : {t}, %w3 : {t}) -> {t} {{
          %c = relax.constant dense<1.0> : tensor<{dtype}>
          %0 = relax.add %x, %c : ({t}, tensor<{dtype}>) -> {t}
          %1 = relax.matmul %0, %w1 : ({t}, {t}) -> {t}
          %2 = relax.add %1, %c : ({t}, tensor<{dtype}>) -> {t}
          %3 = relax.matmul %2, %w2 : ({t}, {t}) -> {t}
          %4 = relax.matmul %2, %w3 : ({t}, {t}) -> {t}
          %5 = relax.add %3, %4 : ({t}, {t}) -> {t}
          return %5 : {t}
        }}""",
        "fuse-ops",
        dtype,
    )
    assert sorted(groups(module)) == [
        "fused_add",
        "fused_matmul",
        "fused_matmul_add",
        "fused_matmul_add1",
    ]


@FLOATS
@pytest.mark.parametrize(("length", "depth"), [(20, 10), (7, 3), (5, 1), (4, 9)])
def test_groups_have_at_most_max_depth_operations(length: int, depth: int, dtype: str):
    t = tensor((2, 3), dtype)
    lines = [f"%{n + 1} = relax.tanh %{n} : ({t}) -> {t}" for n in range(length)]
    module = transformed(
        f"""func.func @main(%x : {t}) -> {t} {{
          %0 = relax.abs %x : ({t}) -> {t}
          {" ".join(lines)}
          return %{length} : {t}
        }}""",
        f"fuse-ops{{max-depth={depth}}}",
        dtype,
    )
    primitive = [op for op in module.ops if "relax.primitive" in op.attributes]
    sizes = [sum(op.name.startswith("relax.") for op in walk(group)) for group in primitive]
    assert max(sizes) <= depth


# FoldConstant


@DTYPES
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1, 4)], ids=str)
def test_constants_are_folded_and_sums_not_reassociated(shape: tuple[int, ...], dtype: str):
    t = tensor(shape, dtype)
    module = transformed(
        f"""func.func @main(%x : {t}) -> {t} {{
          %c = {constant(shape, dtype)}
          %0 = relax.add %c, %c : ({t}, {t}) -> {t}
          %1 = relax.multiply %0, %c : ({t}, {t}) -> {t}
          %2 = relax.add %x, %1 : ({t}, {t}) -> {t}
          %3 = relax.add %2, %c : ({t}, {t}) -> {t}
          return %3 : {t}
        }}""",
        "fold-constant",
        dtype,
    )
    assert operations(module) == {"add": 2}


@DTYPES
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_concatenated_constants_are_one(axis: int, dtype: str):
    shape = [2, 3, 1]
    t = tensor(shape, dtype)
    shape[axis] *= 2
    u = tensor(shape, dtype)
    module = transformed(
        f"""func.func @main(%x : {u}) -> {u} {{
          %c = {constant((2, 3, 1), dtype)}
          %0 = relax.concatenate %c, %c {{axis = {axis}}} : ({t}, {t}) -> {u}
          %1 = relax.add %x, %0 : ({u}, {u}) -> {u}
          return %1 : {u}
        }}""",
        "fold-constant",
        dtype,
    )
    assert operations(module) == {"add": 1}


# EliminateCommonSubexpr, DeadCodeElimination, Inline


@DTYPES
@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (1, 2, 3, 1)], ids=str)
def test_equal_operations_are_computed_once_and_dead_ones_never(shape: tuple[int, ...], dtype: str):
    t = tensor(shape, dtype)
    text = f"""func.func @main(%x : {t}) -> {t} {{
      %c = relax.full 1.0 : {t}
      %0 = relax.nn.relu %x : ({t}) -> {t}
      %1 = relax.nn.relu %x : ({t}) -> {t}
      %2 = relax.add %0, %c : ({t}, {t}) -> {t}
      %3 = relax.add %1, %c : ({t}, {t}) -> {t}
      %4 = relax.exp %3 : ({t}) -> {t}
      %5 = relax.add %2, %3 : ({t}, {t}) -> {t}
      return %5 : {t}
    }}"""
    merged = transformed(text, "eliminate-common-subexpr", dtype)
    assert operations(merged) == {"nn.relu": 1, "add": 2, "exp": 1}
    skipped = transformed(text, "eliminate-common-subexpr{skip=relax.add}", dtype)
    assert operations(skipped) == {"nn.relu": 1, "add": 3, "exp": 1}
    live = transformed(text, "dead-code-elimination", dtype)
    assert operations(live) == {"nn.relu": 2, "add": 3}


@DTYPES
@pytest.mark.parametrize("shape", [(), (3,), (2, 1, 3)], ids=str)
def test_private_function_is_inlined_at_each_call(shape: tuple[int, ...], dtype: str):
    t = tensor(shape, dtype)
    module = transformed(
        f"""func.func private @double(%x : {t}) -> {t} {{
          %0 = relax.add %x, %x : ({t}, {t}) -> {t}
          return %0 : {t}
        }}
        func.func @main(%x : {t}) -> {t} {{
          %0 = func.call @double(%x) : ({t}) -> {t}
          %1 = func.call @double(%0) : ({t}) -> {t}
          return %1 : {t}
        }}""",
        "inline",
        dtype,
    )
    assert operations(module) == {"add": 2}
    assert len(list(module.ops)) == 1


# SimplifyInference, CanonicalizeOps


@DTYPES
@pytest.mark.parametrize(
    ("shape", "axis"), [((2, 3), 1), ((2, 3), -1), ((2, 3, 4, 5), 1), ((2, 3, 1, 2), 0), ((4,), 0)]
)
def test_batch_norm_is_a_product_and_a_sum(shape: tuple[int, ...], axis: int, dtype: str):
    t, p = tensor(shape, dtype), tensor(shape[axis : axis + 1 or None], dtype)
    size = shape[axis : axis + 1 or None]
    parameters = [f"%p{n} = {constant(size, dtype, n)}" for n in range(4)]
    module = transformed(
        f"""func.func @main(%x : {t}) -> {t} {{
          {" ".join(parameters)}
          %0 = relax.nn.batch_norm %x, %p0, %p1, %p2, %p3 {{axis = {axis}}}
            : ({t}, {p}, {p}, {p}, {p}) -> {t}
          return %0 : {t}
        }}""",
        "simplify-inference,fold-constant",
        dtype,
    )
    assert operations(module) == {"multiply": 1, "add": 1}


@DTYPES
@pytest.mark.parametrize(
    ("shape", "axis"), [((2, 3, 2, 2), 1), ((2, 3, 2, 2), -3), ((2, 3, 4), 0), ((2, 3), 1)]
)
def test_bias_is_added_along_its_axis(shape: tuple[int, ...], axis: int, dtype: str):
    t, b = tensor(shape, dtype), tensor((shape[axis],), dtype)
    module = transformed(
        f"""func.func @main(%x : {t}, %b : {b}) -> {t} {{
          %0 = relax.nn.bias_add %x, %b {{axis = {axis}}} : ({t}, {b}) -> {t}
          return %0 : {t}
        }}""",
        "canonicalize-ops",
        dtype,
    )
    expands = axis % len(shape) != len(shape) - 1
    assert operations(module) == Counter({"add": 1}) + Counter({"expand_dims": int(expands)})


# FoldScaleAxis


CONVOLUTIONS = pytest.mark.parametrize(
    ("rank", "channels", "kernel"), [(2, (2, 4), 1), (2, (3, 1), 3), (3, (2, 2), 2), (1, (3, 5), 2)]
)


@FLOATS
@CONVOLUTIONS
def test_scale_after_a_convolution_moves_into_its_weights(
    rank: int, channels: tuple[int, int], kernel: int, dtype: str
):
    inner, outer = channels
    x = tensor((1, inner, *[5] * rank), dtype)
    w, y = (outer, inner, *[kernel] * rank), tensor((1, outer, *[6 - kernel] * rank), dtype)
    per_channel = (outer, *[1] * rank)
    b = tensor(per_channel, dtype)
    module = transformed(
        f"""func.func @main(%x : {x}) -> {y} {{
          %w = {constant(w, dtype, 1, low=-2)}
          %b = {constant(per_channel, dtype, 2, low=-2)}
          %s = {constant(per_channel, dtype, 3)}
          %0 = relax.nn.conv{rank}d %x, %w : ({x}, {tensor(w, dtype)}) -> {y}
          %1 = relax.add %0, %b : ({y}, {b}) -> {y}
          %2 = relax.nn.relu %1 : ({y}) -> {y}
          %3 = relax.multiply %2, %s : ({y}, {b}) -> {y}
          return %3 : {y}
        }}""",
        "fold-scale-axis",
        dtype,
    )
    assert operations(module) == {f"nn.conv{rank}d": 1, "add": 1, "nn.relu": 1}


@FLOATS
@CONVOLUTIONS
def test_scale_before_a_convolution_moves_into_its_weights(
    rank: int, channels: tuple[int, int], kernel: int, dtype: str
):
    inner, outer = channels
    x = tensor((1, inner, *[5] * rank), dtype)
    w, y = (outer, inner, *[kernel] * rank), tensor((1, outer, *[6 - kernel] * rank), dtype)
    per_channel = (inner, *[1] * rank)
    b = tensor(per_channel, dtype)
    module = transformed(
        f"""func.func @main(%x : {x}) -> {y} {{
          %w = {constant(w, dtype, 1)}
          %b = {constant(per_channel, dtype, 2)}
          %s = {constant(per_channel, dtype, 3)}
          %0 = relax.multiply %x, %s : ({x}, {b}) -> {x}
          %1 = relax.nn.relu %0 : ({x}) -> {x}
          %2 = relax.add %1, %b : ({x}, {b}) -> {x}
          %3 = relax.nn.conv{rank}d %2, %w : ({x}, {tensor(w, dtype)}) -> {y}
          return %3 : {y}
        }}""",
        "fold-scale-axis",
        dtype,
    )
    assert operations(module) == {f"nn.conv{rank}d": 1, "add": 1, "nn.relu": 1}


# ConvertLayout


@FLOATS
@pytest.mark.parametrize("size", [(1, 3, 5, 4, 2), (2, 1, 4, 6, 3), (1, 4, 3, 3, 4)], ids=str)
def test_two_convolutions_stay_in_the_other_layout(size: tuple[int, ...], dtype: str):
    n, c, h, w, k = size
    x, y, z = (tensor((n, *s), dtype) for s in ((c, h, w), (k, h, w), (c, h, w)))
    first, second = tensor((k, c, 1, 1), dtype), tensor((c, k, 1, 1), dtype)
    module = transformed(
        f"""func.func @main(%x : {x}, %a : {first}, %b : {second}) -> {z} {{
          %0 = relax.nn.conv2d %x, %a : ({x}, {first}) -> {y}
          %1 = relax.nn.relu %0 : ({y}) -> {y}
          %2 = relax.nn.conv2d %1, %b : ({y}, {second}) -> {z}
          return %2 : {z}
        }}""",
        "convert-layout{desired=relax.nn.conv2d:NHWC}",
        dtype,
    )
    assert operations(module) == {"nn.conv2d": 2, "nn.relu": 1, "layout_transform": 4}


# ToANormalForm


@DTYPES
@pytest.mark.parametrize("shape", [(), (3,), (2, 1, 3)], ids=str)
def test_graph_becomes_a_sequence(shape: tuple[int, ...], dtype: str):
    t = tensor(shape, dtype)
    module = transformed(
        f"""func.func @main(%x : {t}) -> {t} {{
          %0 = relax.graph -> {t} {{
            %3 = relax.add %1, %2 : ({t}, {t}) -> {t}
            %2 = relax.tanh %1 : ({t}) -> {t}
            %1 = relax.exp %x : ({t}) -> {t}
            relax.output %3 : {t}
          }}
          return %0 : {t}
        }}""",
        "to-a-normal-form",
        dtype,
    )
    names = [op.name for op in walk(module) if op.name.startswith("relax.")]
    assert names == ["relax.exp", "relax.tanh", "relax.add"]
