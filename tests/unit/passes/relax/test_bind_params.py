"""Parameters that become constants."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.dlpack_exporter import CUDA, Exporter
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

import passline
from passline.compiler.interpreters.arrays import Array
from passline.compiler.interpreters.shape_bindings import ShapeBindingError
from passline.passes import BindParams
from passline.passes.relax.bind_params import bind_params
from passline.passmanager.errors import PasslineError

TEXT = """
func.func @main(%x: tensor<?x3xf32> {onnx.dims = ["n", unit]},
                %w: tensor<?x3xf32> {onnx.dims = ["2 * n", unit]},
                %b: tensor<*xi64>, %k: i32) -> tensor<?x3xf32> {
  %0 = relax.concatenate %x, %x : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = relax.add %0, %w : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = "test.op"(%b, %k) : (tensor<*xi64>, i32) -> i32
  func.return %1 : tensor<?x3xf32>
}
func.func @calls(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @called(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func @called(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
"""
W = np.full((4, 3), 2, np.float32)


def load() -> ModuleOp:
    return passline.load(TEXT, allow_unregistered=True)


def text(module: ModuleOp) -> str:
    """Return the signature of @main and the constants in it."""
    lines = str(module).splitlines()
    return "\n".join(
        line.strip().replace("e+00", "")
        for line in lines[1:]
        if "@main" in line or "constant" in line
    )


def test_parameters_become_constants_and_sizes_follow():
    module = load()
    bind_params(module, {"w": W, "b": np.array([1, 2])})
    module.verify()
    assert text(module) == (
        "func.func @main(%x: tensor<2x3xf32>, %k: i32) -> tensor<?x3xf32> {\n"
        "%w = relax.constant dense<2.000000> : tensor<4x3xf32>\n"
        "%b = relax.constant dense<[1, 2]> : tensor<2xi64>"
    )


def test_names_of_the_parameters_that_stay_are_kept():
    module = load()
    bind_params(module, {"b": np.array([1, 2])})
    module.verify()
    assert text(module).startswith(
        'func.func @main(%x: tensor<?x3xf32> {onnx.dims = ["n", unit]}, '
        '%w: tensor<?x3xf32> {onnx.dims = ["2 * n", unit]}, %k: i32)'
    )


def test_the_result_is_that_of_the_call(tmp_path: Path):
    before = passline.load("""
func.func @f(%x: tensor<2xf32>, %w: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relax.subtract %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
""")
    x, w = np.array([5, 7], np.float32), np.array([2, 3], np.float32)
    np.savez(tmp_path / "w.npz", w=w)
    after = BindParams(str(tmp_path / "w.npz"), function="f")(before)
    (expected,) = passline.run(before, x, w, function="f")
    (found,) = passline.run(after, x, function="f")
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


@pytest.mark.parametrize(
    ("arrays", "function", "message"),
    [
        ({"ww": W}, "main", "@main has no parameter 'ww', did you mean 'w'?"),
        ({"zzz": W}, "main", "@main has no parameter 'zzz': its parameters are x, w, b, k"),
        ({"w": W.astype(np.float64)}, "main", "expected float32, got float64"),
        ({"k": np.array(1, np.int32)}, "main", "parameter 'k' is i32, which no array can be"),
        ({"w": W[0]}, "main", "parameter 'w' has 2 dimensions, (2 * n)x3, not the 1 of 3"),
        ({"w": np.zeros((4, 4), np.float32)}, "main", "dimension 1 of parameter 'w' is 3, not 4"),
        ({"w": W[:3]}, "main", "is '2 * n', which is 3 for no size of 'n'"),
        (
            {"w": W, "x": W},
            "main",
            "dimension 0 of parameter 'w' is '2 * n', which is 8 by dimension 0 of parameter 'x', "
            "not 4",
        ),
        ({"x": W[0, :2]}, "called", "function @called is called in the module"),
        ({"x": W}, "man", "function @man does not exist, did you mean 'main'?"),
    ],
)
def test_what_does_not_fit_is_an_error_and_changes_nothing(
    arrays: dict[str, Array], function: str, message: str
):
    module = load()
    before = str(module)
    with pytest.raises((PasslineError, ShapeBindingError, DiagnosticException)) as info:
        bind_params(module, arrays, function)
    assert message in str(info.value)
    assert str(module) == before


def test_arrays_of_other_libraries_become_constants():
    module = passline.load("func.func @main(%x: tensor<2xf32>, %w: tensor<2xbf16>) { func.return }")
    bits = np.array([0x3F80, 0xC000], np.uint16)
    bind_params(module, {"x": Exporter(W[0, :2]), "w": Exporter(bits, code=4)})
    assert "dense<2.000000e+00> : tensor<2xf32>" in str(module)
    assert "dense<[1.000000e+00, -2.000000e+00]> : tensor<2xbf16>" in str(module)


def test_arrays_that_cannot_be_read_are_refused():
    with pytest.raises(PasslineError, match="the array for parameter 'w' is on cuda:0: expected"):
        bind_params(load(), {"w": Exporter(W, device=(CUDA, 0))})
    with pytest.raises(PasslineError, match="'w' is .*: expected float32, got bf16"):
        bind_params(load(), {"w": Exporter(np.zeros((4, 3), np.uint16), code=4)})
