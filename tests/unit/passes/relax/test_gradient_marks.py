"""Gradient: calls that are computed again, and values without a gradient."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed
from support.suites.inprocess import passline_opt

import passline
from passline.compiler.interpreters.arrays import Array
from passline.passes import Gradient
from passline.passmanager.diagnostics import DiagnosticError

T, S = "tensor<3x3xf64>", "tensor<f64>"

NETWORK = f"""
func.func private @inner(%x: {T}) -> {T} INNER {{
  %0 = relax.tanh %x : ({T}) -> {T}
  func.return %0 : {T}
}}
func.func private @layer(%x: {T}, %w: {T}) -> ({T}, {T}) LAYER {{
  %0 = relax.matmul %x, %w : ({T}, {T}) -> {T}
  %1 = func.call @inner(%0) : ({T}) -> {T}
  %2 = relax.exp %1 : ({T}) -> {T}
  func.return %2, %x : {T}, {T}
}}
func.func @main(%x: {T}, %w: {T}, %c: i1) -> {S} {{
  %0, %1 = func.call @layer(%x, %w) : ({T}, {T}) -> ({T}, {T})
  %2 = scf.if %c -> ({T}) {{
    %3, %4 = func.call @layer(%0, %w) : ({T}, {T}) -> ({T}, {T})
    scf.yield %3 : {T}
  }} else {{
    scf.yield %1 : {T}
  }}
  %5 = relax.sin %2 : ({T}) -> {T}
  %6 = relax.sum %5 : ({T}) -> {S}
  func.return %6 : {S}
}}
"""


def gradients(inner: str, layer: str, condition: bool) -> list[Array]:
    """Return the results of the adjoint with marks on the functions."""
    text = NETWORK.replace("INNER", inner).replace("LAYER", layer)
    module = Gradient(require_grads=("x", "w"))(parsed(text))
    random = np.random.default_rng(5)
    arguments = [random.standard_normal((3, 3)) for _ in range(2)]
    return [
        np.asarray(found)
        for found in passline.run(module, *arguments, np.array(condition), function="main_adjoint")
    ]


MARK = "attributes {relax.checkpoint}"


@pytest.mark.parametrize(("inner", "layer"), [("", MARK), (MARK, ""), (MARK, MARK)])
@pytest.mark.parametrize("condition", [False, True])
def test_checkpoints_change_no_gradient(inner: str, layer: str, condition: bool):
    expected, found = gradients("", "", condition), gradients(inner, layer, condition)
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, other, 1e-12)


def test_a_value_without_gradient_is_a_constant():
    """The gradient of x * no_grad(x) is x, not 2 * x."""
    text = f"""
    func.func private @constant(%x: {T}) -> {T} MARK {{
      func.return %x : {T}
    }}
    func.func @main(%x: {T}) -> {S} {{
      %0 = func.call @constant(%x) : ({T}) -> {T}
      %1 = relax.multiply %x, %0 : ({T}, {T}) -> {T}
      %2 = relax.sum %1 : ({T}) -> {S}
      func.return %2 : {S}
    }}
    """
    x = np.arange(9.0).reshape(3, 3)
    for mark, factor in (("", 2), ("attributes {relax.no_grad}", 1)):
        module = Gradient()(parsed(text.replace("MARK", mark)))
        found = passline.run(module, x, function="main_adjoint")[1]
        np.testing.assert_allclose(np.asarray(found), factor * x)


def test_a_checkpoint_that_cannot_be_computed_again():
    text = f"""
    func.func private @f(%x: {T}) -> {T} attributes {{relax.checkpoint}}
    func.func @main(%x: {T}) -> {S} {{
      %0 = func.call @f(%x) : ({T}) -> {T}
      %1 = relax.sum %0 : ({T}) -> {S}
      func.return %1 : {S}
    }}
    """
    with pytest.raises(DiagnosticError, match="or one without a body"):
        Gradient()(parsed(text))


def test_less_memory_is_needed():
    """Of each layer, its argument alone is kept up to the reverse part."""
    tensor = "tensor<64x64xf32>"
    layers = "\n".join(f"%{i + 1} = func.call @g(%{i}) : ({tensor}) -> {tensor}" for i in range(6))
    text = f"""
    func.func private @g(%x: {tensor}) -> {tensor} MARK {{
      %0 = relax.matmul %x, %x : ({tensor}, {tensor}) -> {tensor}
      %1 = relax.tanh %0 : ({tensor}) -> {tensor}
      %2 = relax.matmul %1, %1 : ({tensor}, {tensor}) -> {tensor}
      %3 = relax.tanh %2 : ({tensor}) -> {tensor}
      func.return %3 : {tensor}
    }}
    func.func @main(%x: {tensor}) -> tensor<f32> {{
      %0 = relax.sin %x : ({tensor}) -> {tensor}
      {layers}
      %r = relax.sum %6 : ({tensor}) -> tensor<f32>
      func.return %r : tensor<f32>
    }}
    """

    def bytes_after(mark: str) -> int:
        pipeline = "gradient,optimize,legalize-ops,plan-memory"
        options = ("-p", pipeline, "--remarks-passed=plan-memory")
        result = passline_opt(*options, stdin=text.replace("MARK", mark))
        _, adjoint = result.stderr.split("Function=main_adjoint")
        return int(adjoint.partition("BytesAfter=")[2].split()[0])

    assert bytes_after(MARK) < 0.8 * bytes_after("")
