"""Host functions: what they give to the device, and what they read from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from passline import PassContext, load
from passline.compiler.gpu.build import compile_for_device
from passline.compiler.gpu.cuda_function import CudaFunction
from passline.compiler.gpu.simulated import SimulatedDevice
from passline.compiler.gpu.steps import arena_places
from passline.passmanager.errors import PasslineError

FOLDER = Path(__file__).parent
TEXT = (FOLDER / "add.mlir").read_text()
KERNELS = TEXT[TEXT.index("tir.prim_func") :]
X = np.arange(5, dtype=np.float32)


def function(main: str) -> CudaFunction:
    device = SimulatedDevice(checked=True)
    return compile_for_device(load(main + KERNELS), "main", None, device)


def plans(function: CudaFunction) -> list[str]:
    return [str(loaded.plan) for loaded in function.plans if loaded is not None]


def test_constants_views_copies_and_stores():
    run = function("""
memref.global "private" constant @w : memref<2x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
func.func @main(%x: memref<3xf32>, %y: memref<3xf32>, %z: memref<6xf32>)
    attributes {tir.outputs = 2 : i64} {
  %c1 = arith.constant 1 : index
  %w = memref.get_global @w : memref<2x3xf32>
  %flat = memref.reinterpret_cast %w to offset: [0], sizes: [6], strides: [1]
      : memref<2x3xf32> to memref<6xf32>
  "memref.copy"(%flat, %z) : (memref<6xf32>, memref<6xf32>) -> ()
  %row = memref.reinterpret_cast %w to offset: [3], sizes: [3], strides: [1]
      : memref<2x3xf32> to memref<3xf32>
  %a = memref.cast %x : memref<3xf32> to memref<?xf32>
  %b = memref.cast %row : memref<3xf32> to memref<?xf32>
  %c = memref.cast %y : memref<3xf32> to memref<?xf32>
  tir.call @add(%a, %b, %c) : memref<?xf32>, memref<?xf32>, memref<?xf32>
  %half = arith.constant 0.5 : f32
  memref.store %half, %z[%c1] : memref<6xf32>
  func.return
}
""")
    y, z = run(np.ones(3, np.float32))
    np.testing.assert_array_equal(y, [5, 6, 7])
    np.testing.assert_array_equal(z, [1, 0.5, 3, 4, 5, 6])
    (plan,) = plans(run)
    copy, launch, fill = plan.splitlines()
    assert copy == "copy %2+0, %3+0, 24"
    assert launch.startswith("launch @add[1, 1, 1](%0+0, %3+12, %1+0, 3) at ")
    assert fill == "fill %2+4, 0000003f, 1"


def test_control_flow_on_values():
    run = function((FOLDER / "loop.mlir").read_text())
    for times in (3, 0, 2):
        np.testing.assert_array_equal(run(X, np.array(times, np.int32))[0], (times + 1) * X)
    assert plans(run) == []


@pytest.mark.parametrize("attributes", ["", " attributes {tir.outputs = 1 : index}"])
@pytest.mark.parametrize("with_llvm", [False, True])
def test_functions_on_the_host(with_llvm: bool, attributes: str, monkeypatch: pytest.MonkeyPatch):
    if with_llvm:
        pytest.importorskip("llvmlite")
    else:
        monkeypatch.setattr("passline.compiler.gpu.host_kernels.find_spec", _not_found)
    with PassContext(disabled_pass=["tir-lower-to-cuda-tile"]):
        text = (FOLDER / "negate.mlir").read_text()
        head = "@negate(%x: memref<?xf32>, %y: memref<?xf32>)"
        run = function(text.replace(head, head + attributes))
    with pytest.warns(RuntimeWarning, match="@negate has no tile program: it runs on the host"):
        np.testing.assert_array_equal(run(X)[0], -2 * X)
    np.testing.assert_array_equal(run(2 * X)[0], -4 * X)
    (plan,) = plans(run)
    assert plan.splitlines()[1] == "call @negate(%1+0, %2+0) on the host"


def _not_found(name: str) -> None:
    return None


def test_arguments_that_are_changed():
    run = function("""
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) {
  tir.call @add(%x, %x, %y) : memref<?xf32>, memref<?xf32>, memref<?xf32>
  func.return
}
""")
    y = np.zeros_like(X)
    assert not run.returns_results and run(X, y) == ()
    np.testing.assert_array_equal(y, 2 * X)


def test_returned_argument_is_copied():
    run = function("""
func.func @main(%x: memref<?xf32>) -> (memref<?xf32>, memref<?xf32>) {
  func.return %x, %x : memref<?xf32>, memref<?xf32>
}
""")
    x = X.copy()
    first, second = run(x)
    x[:] = 0
    np.testing.assert_array_equal(first, X)
    np.testing.assert_array_equal(second, X)


def test_assertion():
    run = function("""
func.func @main(%x: memref<?xf32>, %y: memref<2xf32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %0 = arith.cmpi eq, %size, %c2 : index
  cf.assert %0, "two elements are needed"
  %c = memref.cast %y : memref<2xf32> to memref<?xf32>
  tir.call @add(%x, %x, %c) : memref<?xf32>, memref<?xf32>, memref<?xf32>
  func.return
}
""")
    np.testing.assert_array_equal(run(X[:2])[0], [0, 2])
    with pytest.raises(PasslineError, match="assertion failed at .*two elements are needed"):
        run(X)


def test_access_out_of_a_kernel():
    with pytest.raises(PasslineError, match="'memref.atomic_rmw' at .* is on buffers of a device"):
        function("""
func.func @main(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %0 = "memref.atomic_rmw"(%one, %x, %c0) <{kind = 0 : i64}> : (f32, memref<?xf32>, index) -> f32
  func.return
}
""")


def test_arena():
    sizes: list[Any] = [300, 100, 256, 600, 0]
    events = [(0, True), (1, True), (0, False), (2, True), (1, False), (3, True), (4, True)]
    places, size = arena_places(events, sizes)
    assert places == {0: 0, 1: 512, 2: 0, 3: 256, 4: 1024}
    assert size == 1280
