"""Gradient: each rule beside finite differences, whole networks, training."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from support.native.needs_llvmlite import needs_native
from support.operations.gradients import CASES, Case
from support.parsing import parsed
from xdsl.dialects.builtin import ModuleOp

import passline
from passline.compiler.interpreters.arrays import Array
from passline.dialects.relax import Relax
from passline.dialects.relax.interfaces import Decomposes
from passline.passes.decompositions import DECOMPOSITIONS
from passline.passes.relax.gradient.reverse_mode import GRADIENTS
from passline.passmanager.pipeline import parse_pipeline


def function_of(case: Case) -> str:
    """Return a function of the operands of a case that are not constants.

    Its result is the sum of the sine of all elements, so that they have different adjoints.
    """
    lines: list[str] = []
    types: list[str] = []
    parameters: list[str] = []
    for i, shape in enumerate(case.shapes):
        dims = f"{shape}x" if shape else ""
        if (elements := case.constants.get(i)) is None:
            types.append(f"tensor<{dims}f64>")
            parameters.append(f"%p{i}: {types[-1]}")
        else:
            types.append(f"tensor<{dims}{'i1' if 'true' in elements else 'i64'}>")
            lines.append(f"%p{i} = relax.constant dense<{elements}> : {types[-1]}")
    results = ["tensor<*xf64>"] * case.results
    if case.op == "relax.topk":
        results[1] = "tensor<*xi64>"
    operands = ", ".join(f"%p{i}" for i in range(len(types)))
    signature = f"({', '.join(types)}) -> ({', '.join(results)})"
    names = ", ".join(f"%r{i}" for i in range(case.results))
    lines.append(f"{names} = {case.op} {operands} {{{case.properties}}} : {signature}")
    lines.append("%total0 = relax.full 0.0 : tensor<f64>")
    floats = [i for i, type in enumerate(results) if "f64" in type]
    for n, i in enumerate(floats):
        lines.append(f"%s{i} = relax.sin %r{i} : (tensor<*xf64>) -> tensor<*xf64>")
        lines.append(f"%t{i} = relax.sum %s{i} : (tensor<*xf64>) -> tensor<f64>")
        scalars = "(tensor<f64>, tensor<f64>) -> tensor<f64>"
        lines.append(f"%total{n + 1} = relax.add %total{n}, %t{i} : {scalars}")
    lines.append(f"func.return %total{len(floats)} : tensor<f64>")
    body = "\n".join(lines)
    return f"func.func @main({', '.join(parameters)}) -> tensor<f64> {{\n{body}\n}}"


def with_gradient(text: str, options: str = "") -> ModuleOp:
    return parse_pipeline(f"infer-type,gradient{options}")(parsed(text))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rule_agrees_with_finite_differences(case: Case):
    """The gradient along random directions is the central difference, for each operand."""
    rng = np.random.default_rng(1)
    arguments: list[NDArray[np.float64]] = []
    for i, shape in enumerate(case.shapes):
        if i not in case.constants:
            sizes = [int(n) for n in shape.split("x") if n]
            # Elements are far from each other: differences do not change their order.
            count = math.prod(sizes)
            ranks = (rng.permutation(count) + rng.uniform(0.3, 0.7)) / count
            low, high = case.range
            arguments.append((low + (high - low) * ranks).reshape(sizes))
    module = with_gradient(function_of(case))
    value = passline.compile(module, level=None, engine="numpy")
    adjoint = passline.compile(module, function="main_adjoint", level=None, engine="numpy")
    result, *gradients = adjoint(*arguments)
    assert result == value(*arguments)[0]
    assert len(gradients) == len(arguments)
    step = 1e-6
    for i, (argument, gradient) in enumerate(zip(arguments, gradients, strict=True)):
        assert gradient.shape == argument.shape
        for _ in range(3):
            direction = rng.uniform(-1, 1, argument.shape)
            after, before = (
                value(*arguments[:i], argument + sign * step * direction, *arguments[i + 1 :])[0]
                for sign in (1, -1)
            )
            expected = (after - before) / (2 * step)
            np.testing.assert_allclose((gradient * direction).sum(), expected, 2e-6, 2e-7)


def test_each_rule_has_a_case():
    decomposed = {cls for cls in Relax.operations if issubclass(cls, Decomposes)}
    expected = {*GRADIENTS} | {cls.name for cls in {*DECOMPOSITIONS, *decomposed}}
    assert {case.op for case in CASES} == expected


# Whole functions


def gradients_of(text: str, *arguments: NDArray[np.float64], options: str = "") -> list[Any]:
    """Return what the adjoint function returns after the results of `@main`."""
    module = with_gradient(text, options)
    value = passline.compile(module, level=None, engine="numpy")(*arguments)
    adjoint = passline.compile(module, function="main_adjoint", level=None, engine="numpy")
    return [array.tolist() for array in adjoint(*arguments)[len(value) :]]


def test_values_used_several_times_and_tuples():
    text = """
    func.func @main(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
      %pair = relax.tuple %x, %y : (tensor<f64>, tensor<f64>) -> tuple<tensor<f64>, tensor<f64>>
      %nested = relax.tuple %pair, %x : (tuple<tensor<f64>, tensor<f64>>, tensor<f64>)
          -> tuple<tuple<tensor<f64>, tensor<f64>>, tensor<f64>>
      %again = relax.tuple_get_item %nested {index = 0}
          : (tuple<tuple<tensor<f64>, tensor<f64>>, tensor<f64>>)
          -> tuple<tensor<f64>, tensor<f64>>
      %a = relax.tuple_get_item %again {index = 0}
          : (tuple<tensor<f64>, tensor<f64>>) -> tensor<f64>
      %b = relax.tuple_get_item %again {index = 1}
          : (tuple<tensor<f64>, tensor<f64>>) -> tensor<f64>
      %0 = relax.multiply %a, %b : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %1 = relax.multiply %0, %x : (tensor<f64>, tensor<f64>) -> tensor<f64>
      func.return %1 : tensor<f64>
    }"""
    assert gradients_of(text, np.array(3.0), np.array(5.0)) == [30.0, 9.0]


def test_parameters_that_are_tuples():
    text = """
    func.func @main(%t: tuple<tensor<f64>, tensor<2xf64>>) -> tensor<f64> {
      %x = relax.tuple_get_item %t {index = 0}
          : (tuple<tensor<f64>, tensor<2xf64>>) -> tensor<f64>
      %0 = relax.square %x : (tensor<f64>) -> tensor<f64>
      func.return %0 : tensor<f64>
    }"""
    module = with_gradient(text)
    run = passline.compile(module, function="main_adjoint", level=None, engine="numpy")
    results = run((np.array(3.0), np.array([1.0, 2.0])))
    assert [array.tolist() for array in results] == [9.0, 6.0, [0.0, 0.0]]


BRANCHES = """
func.func private @half(%v: tensor<f64>) -> tensor<f64> {
  %h = relax.full 0.5 : tensor<f64>
  %0 = relax.multiply %v, %h : (tensor<f64>, tensor<f64>) -> tensor<f64>
  func.return %0 : tensor<f64>
}
func.func @main(%x: tensor<f64>, %y: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %less = relax.less %x, %y : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %c = tensor.extract %less[] : tensor<i1>
  %s = relax.square %x : (tensor<f64>) -> tensor<f64>
  %0 = scf.if %c -> (tensor<f64>) {
    %1 = relax.multiply %s, %y : (tensor<f64>, tensor<f64>) -> tensor<f64>
    scf.yield %1 : tensor<f64>
  } else {
    %2 = func.call @half(%y) : (tensor<f64>) -> tensor<f64>
    scf.yield %2 : tensor<f64>
  }
  func.return %s, %0 : tensor<f64>, tensor<f64>
}"""


@pytest.mark.parametrize(("x", "y", "expected"), [(2.0, 3.0, [12.0, 4.0]), (4.0, 3.0, [0.0, 0.5])])
def test_conditionals_and_calls(x: float, y: float, expected: list[float]):
    options = "{target-index=1}"
    assert gradients_of(BRANCHES, np.array(x), np.array(y), options=options) == expected


def test_stable_forms():
    """No NaN where the function is flat, and no loss of all digits where it is nearly so."""
    text = """
    func.func @main(%x: tensor<f64>, %z: tensor<2xf64>) -> tensor<f64> {{
      %0 = {op} %x : (tensor<f64>) -> tensor<f64>
      %1 = relax.prod %z : (tensor<2xf64>) -> tensor<f64>
      %2 = relax.add %0, %1 : (tensor<f64>, tensor<f64>) -> tensor<f64>
      func.return %2 : tensor<f64>
    }}"""
    zeros = np.array([0.0, 3.0])
    for op, at, expected in [
        ("relax.sigmoid", 40.0, math.exp(-40)),
        ("relax.sigmoid", -700.0, math.exp(-700)),
        ("relax.nn.softplus", -700.0, math.exp(-700)),
        ("relax.nn.silu", -800.0, 0.0),
        ("relax.nn.gelu", -800.0, 0.0),
        ("relax.tanh", 800.0, 0.0),
    ]:
        d_x, d_z = gradients_of(text.format(op=op), np.array(at), zeros)
        np.testing.assert_allclose(d_x, expected, 1e-6)
        assert d_z == [3.0, 0.0]


CNN = """
func.func @main(%w: tensor<4x1x3x3xf32>, %gamma: tensor<4xf32>, %beta: tensor<4xf32>,
    %dense: tensor<3x36xf32>, %bias: tensor<3xf32>,
    %x: tensor<8x1x6x6xf32>, %labels: tensor<8xi64>) -> tensor<f32> {
  %0 = relax.nn.conv2d %x, %w {padding = [1, 1]}
      : (tensor<8x1x6x6xf32>, tensor<4x1x3x3xf32>) -> tensor<8x4x6x6xf32>
  %1 = relax.nn.instance_norm %0, %gamma, %beta
      : (tensor<8x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4x6x6xf32>
  %2 = relax.nn.relu %1 : (tensor<8x4x6x6xf32>) -> tensor<8x4x6x6xf32>
  %3 = relax.nn.max_pool2d %2 {pool_size = [2, 2], strides = [2, 2]}
      : (tensor<8x4x6x6xf32>) -> tensor<8x4x3x3xf32>
  %4 = relax.nn.batch_flatten %3 : (tensor<8x4x3x3xf32>) -> tensor<8x36xf32>
  %5 = relax.nn.dense %4, %dense : (tensor<8x36xf32>, tensor<3x36xf32>) -> tensor<8x3xf32>
  %6 = relax.add %5, %bias : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  %7 = relax.nn.log_softmax %6 : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %on = relax.full -1.0 : tensor<f32>
  %off = relax.full 0.0 : tensor<f32>
  %8 = relax.one_hot %labels, %on, %off {depth = 3}
      : (tensor<8xi64>, tensor<f32>, tensor<f32>) -> tensor<8x3xf32>
  %9 = relax.multiply %7, %8 : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  %10 = relax.sum %9 {axis = [1]} : (tensor<8x3xf32>) -> tensor<8xf32>
  %11 = relax.mean %10 : (tensor<8xf32>) -> tensor<f32>
  func.return %11 : tensor<f32>
}"""
OPTIONS = "{require-grads=w,gamma,beta,dense,bias}"


def cnn_arguments() -> list[Array]:
    rng = np.random.default_rng(3)
    shapes = [(4, 1, 3, 3), (4,), (4,), (3, 36), (3,), (8, 1, 6, 6)]
    floats: list[Array] = [rng.normal(0, 0.5, shape).astype(np.float32) for shape in shapes]
    return [*floats, np.arange(8) % 3]


def test_training_lowers_the_loss():
    """A convolutional network learns the labels of eight random images in a few steps."""
    step = passline.compile(
        with_gradient(CNN, OPTIONS), function="main_adjoint", level=None, engine="numpy"
    )
    arguments = cnn_arguments()
    losses: list[float] = []
    for _ in range(25):
        loss, *gradients = step(*arguments)
        losses.append(float(loss))
        for i, gradient in enumerate(gradients):
            arguments[i] = np.subtract(arguments[i], 0.3 * gradient, dtype=np.float32)
    assert losses[-1] < 0.1 < 1 < losses[0]


@pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=needs_native)])
def test_optimized_gradients_are_equal(engine: Literal["numpy", "native"]):
    module = with_gradient(CNN, OPTIONS)
    arguments = cnn_arguments()
    plain = passline.compile(module, function="main_adjoint", level=None, engine="numpy")
    fast = passline.compile(module, function="main_adjoint", level=3, engine=engine)
    for expected, found in zip(plain(*arguments), fast(*arguments), strict=True):
        np.testing.assert_allclose(found, expected, 1e-4, 1e-6)
