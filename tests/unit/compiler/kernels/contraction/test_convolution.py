"""Convolutions by Winograd's algorithm: results within the documented errors, and the cases in
which it is not applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest
from support.budget import some
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array, constant
from support.operations.evaluation import run as run_on_numpy
from support.passes.results import run
from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp, TensorType, bf16, f16, f32, f64, i8, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.rewriter import InsertPoint

from passline.compiler.kernels.builder import Buffer, Winograd
from passline.compiler.kernels.contraction import winograd as winograd
from passline.compiler.kernels.contraction.contraction import PackedWeights
from passline.compiler.kernels.contraction.winograd_plan import (
    POINTS,
    Convolution,
    WinogradPlan,
    best_plan,
    weights_of,
)
from passline.compiler.native import compile_module
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.contraction.convolution import (
    Conv1dOp,
    Conv2dOp,
    Conv2dTransposeOp,
    Conv3dOp,
)
from passline.dialects.relax.elementwise.activation import ReluOp
from passline.dialects.relax.elementwise.binary import AddOp
from passline.dialects.relax.types import Element
from passline.dialects.relax.windows import Window
from passline.dialects.target import Target
from passline.passes.relax.fuse_ops import FuseOps
from passline.passes.relax.legalize_ops import LegalizeOps, legalize_operations
from passline.passmanager import CollectingActions, PassContext
from passline.passmanager.actions import RemarkKind
from passline.passmanager.config import ConfigError
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context

ERRORS = {2: 1e-5, 4: 5e-5}
"""The documented bounds of the errors, in standard deviations of the results."""

APPLIED, REJECTED = (RemarkKind.PASSED, "Winograd"), (RemarkKind.MISSED, "Winograd")


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def module_of(cls: type[TensorOp], data: Array, weight: ConstantOp, **properties: Any) -> ModuleOp:
    """Return a module whose `@main` convolves its parameter with a constant."""
    element = weight.result.type.element_type
    func = FuncOp("main", ([TensorType(element, data.shape)], []))
    op = cls(func.args[0], weight.result, **properties)
    func.body.block.add_ops([weight, op, ReturnOp(op.results[0])])
    func.update_function_type()
    return ModuleOp([func])


def remarks_of(module: ModuleOp, choice: Winograd = "f4", target: str = "x86-64-v3"):
    """Legalize a module, and return the remarks on the algorithm."""
    recorder = CollectingActions()
    with PassContext():
        legalize_operations(module, Target(target), recorder, choice)
    verify(module)
    return [remark for remark in recorder.remarks if "Winograd" in remark]


def use_plan(patch: pytest.MonkeyPatch, m: int, rows: int, columns: int) -> None:
    """Let all convolutions that allow it be computed in such tiles and blocks."""

    def plan(convolution: Convolution, largest: int, target: Target) -> WinogradPlan:
        assert largest >= m
        return WinogradPlan(convolution, m, rows, columns, inf)

    patch.setattr(winograd, "best_plan", plan)


def check_close(actual: object, expected: Array, m: int) -> None:
    bound = ERRORS[m] * float(expected.std())
    np.testing.assert_allclose(np.asarray(actual), expected, 0, bound, strict=True)


# Results

CONVOLUTIONS: dict[str, tuple[tuple[int, ...], int, tuple[int, ...], tuple[int, int]]] = {
    "one tile": ((1, 2, 4, 4), 3, (1, 1), (1, 1)),
    "one element": ((1, 3, 3, 3), 2, (0, 0), (1, 1)),
    "no padding": ((1, 2, 6, 8), 2, (0, 0), (1, 2)),
    "odd extents": ((1, 2, 7, 9), 3, (1, 1), (2, 3)),
    "parts of a row": ((1, 2, 5, 27), 2, (1, 1), (1, 3)),
    "rows in parts": ((1, 2, 19, 6), 2, (1, 1), (2, 2)),
    "both in parts": ((1, 2, 11, 13), 1, (1, 1), (1, 2)),
    "images": ((3, 2, 5, 6), 2, (1, 1), (1, 2)),
    "uneven padding": ((1, 2, 5, 6), 2, (2, 0, 1, 3), (2, 2)),
    "large padding": ((1, 2, 3, 2), 2, (4, 5), (2, 5)),
    "many outputs": ((1, 3, 4, 6), 13, (1, 1), (1, 3)),
}


@pytest.mark.parametrize("m", POINTS)
@pytest.mark.parametrize("name", some(CONVOLUTIONS, 3))
def test_convolutions(name: str, m: int, monkeypatch: pytest.MonkeyPatch):
    shape, outputs, padding, block = CONVOLUTIONS[name]
    use_plan(monkeypatch, m, *block)
    data, weight = numbers(*shape), numbers(outputs, shape[1], 3, 3, seed=1)
    module = module_of(Conv2dOp, data, constant(weight, f32), padding=padding)
    assert remarks_of(module, target="x86-64-v2") == [APPLIED]
    (actual,) = run(module, "main", (data,))
    op = Conv2dOp(constant(data, f32), constant(weight, f32), padding=padding)
    check_close(actual, run_on_numpy(op), m)


@pytest.mark.parametrize("m", POINTS)
def test_other_layouts(m: int, monkeypatch: pytest.MonkeyPatch):
    use_plan(monkeypatch, m, 1, 2)
    data, weight = numbers(2, 5, 7, 3), numbers(2, 3, 3, 3, seed=1)
    properties: dict[str, Any] = {"padding": (1, 1), "data_layout": "NHWC"}
    module = module_of(Conv2dOp, data, constant(weight, f32), **properties)
    assert remarks_of(module) == [APPLIED]
    (actual,) = run(module, "main", (data,))
    op = Conv2dOp(constant(data, f32), constant(weight, f32), **properties)
    check_close(actual, run_on_numpy(op), m)


def residual_block(shape: Sequence[int], weight: Array) -> ModuleOp:
    """Return a module that computes relu(conv(x) + bias + y)."""
    type = TensorType(f32, shape)
    func = FuncOp("main", ([type, type], [type]))
    build = Builder(InsertPoint.at_end(func.body.block)).insert
    bias = numbers(weight.shape[0], 1, 1, seed=3)
    w, offset = build(constant(weight, f32)), build(constant(bias, f32))
    conv = build(Conv2dOp(func.args[0], w.result, padding=(1, 1)))
    biased = build(AddOp(conv.result, offset.result))
    total = build(AddOp(biased.result, func.args[1]))
    build(ReturnOp(build(ReluOp(total.result)).result))
    return ModuleOp([func])


@needs_native
@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v3{cores=2}"])
@pytest.mark.parametrize("m", POINTS)
def test_machine_code_of_fused_operations(m: int, target: str):
    shape, weight = (2, 32, 30, 29), numbers(40, 32, 3, 3, seed=1)[:32]
    module = residual_block(shape, weight)
    x, y = numbers(*shape), numbers(*shape, seed=2)
    (expected,) = run(module, "main", (x, y))
    with PassContext(opt_level=3):
        FuseOps().apply(make_ir_context(), module)
    choice: Winograd = "f4" if m == 4 else "f2"
    assert APPLIED in remarks_of(module, choice, target)
    with PassContext(opt_level=3, verify_each=False):
        function = compile_module(module, target=Target(target))
    (actual,) = function(x, y)
    check_close(actual, np.asarray(expected), m)


@pytest.mark.parametrize("m", POINTS)
def test_the_error_is_in_the_documented_range(m: int):
    """Compare the algorithm in f32 with f64, for as many channels as networks have."""
    rng = np.random.default_rng(0)
    data = rng.standard_normal((512, m + 2, m + 2), np.float32)
    weight = rng.standard_normal((8, 512, 3, 3), np.float32)
    b, a = matrices(m)
    transformed = (b @ data @ b.T).astype(np.float32)
    products = weights_of(weight, m).reshape(m + 2, m + 2, 8, 512)
    sums = np.einsum("ijoc,cij->oij", products, transformed, dtype=np.float32)
    actual = a @ sums @ a.T
    windows = np.lib.stride_tricks.sliding_window_view(data.astype(np.float64), (3, 3), (1, 2))
    expected = np.einsum("cyxij,ocij->oyx", windows, weight.astype(np.float64))
    assert np.abs(actual - expected).max() < ERRORS[m] * expected.std()


def matrices(m: int) -> tuple[Array, Array]:
    """Return B^T and A^T in f32, from the points: rows of the products of z - r over the other
    points r, and of powers."""
    points = [0.0, *(q for p in POINTS[m] for q in (p, -p))]
    b = np.zeros((m + 2, m + 2))
    for i, point in enumerate(points):
        b[i, :-1] = np.poly([q for q in points if q != point])[::-1]
    b[-1] = np.poly(points)[::-1]
    a = np.zeros((m, m + 2))
    a[:, :-1] = np.vander(points, m, increasing=True).T
    a[-1, -1] = 1
    return b.astype(np.float32), a.astype(np.float32)


# The choice


def test_products_read_the_packed_weight_alone():
    plan = plan_for("x86-64-v3", 64, 56)
    buffer = Buffer((64, 64, 3, 3), f32, constant(numbers(64, 64, 3, 3), f32).result)
    weights = PackedWeights(buffer, True, lambda array: array, plan.t**2, lambda batch: batch[0])
    contraction = winograd.products(plan, 64, 64, weights, None)  # pyright: ignore[reportArgumentType]
    assert contraction.read_lhs is None and contraction.weights is weights
    for other in (None, replace(weights, is_lhs=False)):
        with pytest.raises(ValueError, match="needs it as packed weights"):
            replace(contraction, weights=other)


def test_it_is_off_by_default():
    assert LegalizeOps().winograd == "none"
    module = module_of(Conv2dOp, numbers(1, 64, 14, 14), constant(numbers(64, 64, 3, 3), f32))
    assert remarks_of(module, "none") == []


def test_the_option_sets_the_largest_tiles():
    def names(choice: Winograd) -> str:
        data, weight = numbers(1, 64, 14, 14), constant(numbers(64, 64, 3, 3), f32)
        module = module_of(Conv2dOp, data, weight, padding=(1, 1))
        with PassContext(config={"legalize-ops": {"winograd": choice}}):
            LegalizeOps().apply(make_ir_context(), module)
        return str(next(op for op in module.walk() if isinstance(op, ConstantOp)).result.type)

    assert names("none").startswith("tensor<1x")
    assert names("f2").startswith("tensor<16x")
    assert names("f4").startswith("tensor<36x")
    with pytest.raises(ConfigError, match="winograd"):
        PassContext(config={"legalize-ops": {"winograd": "f8"}})


FEW = {
    "few channels": ((1, 3, 32, 32), 16),
    "few outputs": ((1, 16, 32, 32), 2),
    "a small image": ((1, 256, 2, 2), 256),
}


@pytest.mark.parametrize(("shape", "outputs"), FEW.values(), ids=FEW)
def test_it_has_to_pay(shape: tuple[int, ...], outputs: int):
    weight = constant(numbers(outputs, shape[1], 3, 3), f32)
    assert remarks_of(module_of(Conv2dOp, numbers(*shape), weight, padding=(1, 1))) == [REJECTED]


def plan_for(target: str, channels: int, size: int) -> WinogradPlan:
    """Return the plan of a convolution of a square image with as many outputs as channels."""
    windows = Window("H", 3, 1, 1, 1, 1), Window("W", 3, 1, 1, 1, 1)
    convolution = Convolution(windows, (1, channels, size, size), channels, True)
    return best_plan(convolution, 4, Target(target))


def test_the_tiles_fit_the_image():
    assert plan_for("x86-64-v3", 64, 56).m == 4
    assert plan_for("x86-64-v3", 256, 6).m == 2  # tiles of 4x4 outputs would cover 8x8


OTHERS: dict[str, tuple[type[TensorOp], tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "strides": (Conv2dOp, (1, 2, 8, 8), (2, 2, 3, 3), {"strides": (2, 1)}),
    "dilation": (Conv2dOp, (1, 2, 8, 8), (2, 2, 3, 3), {"dilation": (1, 2)}),
    "groups": (Conv2dOp, (1, 4, 8, 8), (4, 2, 3, 3), {"groups": 2}),
    "5x5": (Conv2dOp, (1, 2, 8, 8), (2, 2, 5, 5), {}),
    "3x1": (Conv2dOp, (1, 2, 8, 8), (2, 2, 3, 1), {}),
    "1d": (Conv1dOp, (1, 2, 8), (2, 2, 3), {}),
    "3d": (Conv3dOp, (1, 2, 4, 4, 4), (2, 2, 3, 3, 3), {}),
    "transposed": (Conv2dTransposeOp, (1, 2, 8, 8), (2, 2, 3, 3), {}),
    "weight HWIO": (Conv2dOp, (1, 2, 8, 8), (3, 3, 2, 2), {"kernel_layout": "HWIO"}),
    "no images": (Conv2dOp, (0, 2, 8, 8), (2, 2, 3, 3), {}),
}


@pytest.mark.parametrize("case", OTHERS.values(), ids=OTHERS)
def test_other_convolutions_are_not_changed(
    case: tuple[type[TensorOp], tuple[int, ...], tuple[int, ...], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
):
    cls, shape, weight, properties = case
    use_plan(monkeypatch, 4, 1, 1)
    module = module_of(cls, numbers(*shape), constant(numbers(*weight), f32), **properties)
    assert remarks_of(module) == []


@pytest.mark.parametrize("element", [f64, f16, bf16, i8, i32], ids=str)
def test_other_elements_are_not_changed(element: Element, monkeypatch: pytest.MonkeyPatch):
    use_plan(monkeypatch, 4, 1, 1)
    weight = constant(np.ones((2, 2, 3, 3)), element)
    assert remarks_of(module_of(Conv2dOp, numbers(1, 2, 8, 8), weight)) == []


def test_weights_that_are_not_constant_are_not_transformed(monkeypatch: pytest.MonkeyPatch):
    use_plan(monkeypatch, 4, 1, 1)
    types = [TensorType(f32, shape) for shape in [(1, 2, 8, 8), (2, 2, 3, 3)]]
    func = FuncOp("main", (types, []))
    op = Conv2dOp(*func.args)
    func.body.block.add_ops([op, ReturnOp(op.result)])
    func.update_function_type()
    assert remarks_of(ModuleOp([func])) == []
