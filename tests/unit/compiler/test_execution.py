"""`passline.optimize`, `passline.run` and `passline.compile`."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from support.passes.toy import Recorder
from support.suites.inprocess import mlir_opt

import passline
from passline.dialects.target import host
from passline.passmanager import ConfigError

SUM = """
func.func @main(%x: tensor<3xf32>, %scale: tensor<3xf32>) -> tensor<3xf32> {
  %c = relax.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %d = relax.add %c, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %y = relax.multiply %x, %scale : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %z = relax.add %y, %d : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %z : tensor<3xf32>
}
func.func @pair(%x: tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<3xf32>> {
  %y = relax.negative %x : (tensor<3xf32>) -> tensor<3xf32>
  %t = relax.tuple %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<3xf32>>
  func.return %t : tuple<tensor<3xf32>, tensor<3xf32>>
}
"""
X = np.array([1, 2, 3], np.float32)
SCALE = np.array([2, 2, 2], np.float32)
EXPECTED = np.array([4, 8, 12], np.float32)

native = pytest.mark.skipif(mlir_opt() is None, reason="mlir-opt is not installed")


# optimize


def test_optimize_returns_another_module() -> None:
    module = passline.load(SUM)
    before = str(module)
    optimized = passline.optimize(module)
    assert str(module) == before and str(optimized) != before
    assert "relax.primitive" in str(optimized)


def test_level_decides_what_runs() -> None:
    assert str(passline.optimize(SUM, level=0)).count("relax.add") == 2
    assert str(passline.optimize(SUM, level=2)).count("relax.add") == 1


def test_settings_are_those_of_the_context() -> None:
    recorder = Recorder()
    with passline.PassContext(opt_level=0, disabled_pass=["FuseOps"], instruments=[recorder]):
        optimized = passline.optimize(SUM, level=3)
    assert "relax.primitive" not in str(optimized)
    assert recorder.events.count("%1 enter") == 1 and "%1 after fold-constant" in recorder.events


def test_level_that_is_none_of_the_levels_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 or more, not -1"):
        passline.optimize(SUM, level=-1)


@pytest.mark.parametrize("level", [-1, 4, 5])
def test_level_out_of_the_range_of_the_commands_is_an_error(level: int) -> None:
    for function in (passline.optimize, passline.compile):
        with pytest.raises(ConfigError, match=f"level is .*, not {level}: levels are 0 to 3"):
            function(SUM, level=level)


# run


def test_run_takes_arrays_in_order_and_by_name() -> None:
    (by_order,) = passline.run(SUM, X, SCALE)
    (by_name,) = passline.run(SUM, {"scale": SCALE, "x": X})
    np.testing.assert_array_equal(by_order, EXPECTED)
    np.testing.assert_array_equal(by_name, EXPECTED)


def test_run_of_the_optimized_module_is_the_same() -> None:
    (result,) = passline.run(passline.optimize(SUM), X, SCALE)
    np.testing.assert_array_equal(result, EXPECTED)


def test_run_of_another_function_and_a_tuple_becomes_its_elements() -> None:
    first, second = passline.run(SUM, X, function="pair")
    np.testing.assert_array_equal(first, X)
    np.testing.assert_array_equal(second, -X)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X,), "takes 2 arguments, 1 is given"),
        ((X, X[:2]), "parameter 'scale' is .*: expected float32 of 3, got float32 of 2"),
        ((X, [2, 2, 2]), "expected float32, got int64"),
        (({"x": X},), "no value is given for parameter scale"),
        (({"x": X, "scalee": X},), "no parameter 'scalee', did you mean 'scale'?"),
    ],
)
def test_wrong_arguments_are_errors(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(passline.PasslineError, match=message):
        passline.run(SUM, *arguments)


def test_function_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(passline.PasslineError, match="no function @pear, did you mean 'pair'?"):
        passline.run(SUM, X, function="pear")


def test_result_that_is_a_function_is_an_error() -> None:
    closure = """
    func.func @main() -> (() -> tensor<f32>) {
      %f = relax.lambda() -> tensor<f32> {
        %c = relax.full 0.5 : tensor<f32>
        relax.yield %c : tensor<f32>
      }
      func.return %f : () -> tensor<f32>
    }"""
    with pytest.raises(passline.PasslineError, match="is a function, which cannot be shown"):
        passline.run(closure)


# compile


def test_compiled_for_numpy() -> None:
    function = passline.compile(SUM, engine="numpy")
    np.testing.assert_array_equal(function(X, SCALE)[0], EXPECTED)
    type_ = "(tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>"
    assert repr(function) == f"<CompiledFunction @main: {type_}, numpy>"
    assert function.compile_seconds > 0


@native
@pytest.mark.parametrize("level", [None, 0, 3])
def test_compiled_to_machine_code(level: int | None) -> None:
    module = passline.load(SUM)
    before = str(module)
    function = passline.compile(module, level=level)
    np.testing.assert_array_equal(function(X, SCALE)[0], EXPECTED)
    np.testing.assert_array_equal(function({"x": X, "scale": SCALE})[0], EXPECTED)
    assert str(module) == before and function.engine == "native"


@native
def test_compiled_for_a_target_by_name() -> None:
    function = passline.compile(SUM, target="host")
    np.testing.assert_array_equal(function(X, SCALE)[0], EXPECTED)


@native
def test_compiled_for_the_entered_target() -> None:
    own = passline.load(f'builtin.module attributes {{tir.target = "x86-64"}} {{ {SUM} }}')
    with passline.Target("aarch64" if host().triple.startswith("x86") else "x86-64"):
        with pytest.raises(passline.PasslineError, match="cannot run code for"):
            passline.compile(SUM)
        # A target that is named takes precedence, and so does that of the module.
        for function in (passline.compile(SUM, target="host"), passline.compile(own)):
            np.testing.assert_array_equal(function(X, SCALE)[0], EXPECTED)


def test_optimized_for_the_entered_target() -> None:
    module = passline.load("""
    func.func @main(%x: tensor<1x16x5x4xf32>) -> tensor<1x16x3x2xf32> {
      %v = relax.full 5.000000e-01 : tensor<32x16x3x3xf32>
      %a = relax.nn.conv2d %x, %v
        : (tensor<1x16x5x4xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x3x2xf32>
      %w = relax.full 5.000000e-01 : tensor<16x32x1x1xf32>
      %y = relax.nn.conv2d %a, %w
        : (tensor<1x32x3x2xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x3x2xf32>
      func.return %y : tensor<1x16x3x2xf32>
    }""")
    with passline.Target("x86-64-v4"):
        assert "NCHW16c" in str(passline.optimize(module))
    assert "NCHW16c" not in str(passline.optimize(module))


@native
def test_compiled_function_leaves_buffers_of_its_caller_alone() -> None:
    text = """
    tir.prim_func @main(%x: memref<3xf32>) {
      %i = arith.constant 0 : index
      %c = arith.constant 5.0 : f32
      memref.store %c, %x[%i] : memref<3xf32>
    }"""
    x = X.copy()
    (result,) = passline.compile(text)(x)
    assert [*result] == [5, 2, 3] and [*x] == [1, 2, 3]


def test_unknown_engine_and_target_are_errors() -> None:
    with pytest.raises(passline.PasslineError, match="no engine 'vulkan': expected one of 'numpy'"):
        passline.compile(SUM, engine="vulkan")  # pyright: ignore[reportArgumentType]
    with pytest.raises(passline.PasslineError, match="x86-64-v9"):
        passline.compile(SUM, target="x86-64-v9")


def test_machine_code_needs_no_tool_of_mlir(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    function = passline.compile(SUM, cache=False)
    assert function is not None


def test_a_compiled_function_is_copied_but_not_pickled() -> None:
    text = """
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = relax.negative %x : (tensor<2xf32>) -> tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }"""
    function = passline.compile(text, engine="numpy")
    assert copy.copy(function) is function
    assert copy.deepcopy([function]) == [function]
    with pytest.raises(TypeError, match="@main cannot be pickled.*passline-compile"):
        pickle.dumps(function)
