"""Kernels that are built in forks are those of one core."""

from __future__ import annotations

import sys

import pytest
from support.releases import needs_part
from xdsl.dialects.func import FuncOp

from passline.compiler.kernels.choices import NoKernel
from passline.compiler.kernels.kernel import Kernel
from passline.passes.relax import kernels_on_cores as place
from passline.passmanager import PassContext
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

pytestmark = [
    needs_part("copying"),
    pytest.mark.skipif(sys.platform != "linux", reason="forks"),
]

TEXT = """
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = relax.constant dense<2.0> : tensor<4x8xf32>
  %0 = relax.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = relax.nn.softmax %0 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = relax.add %1, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = relax.multiply %2, %c : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %3 : tensor<4x8xf32>
}
"""


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "available_cores", lambda: 2)
    monkeypatch.setattr(place, "can_fork", lambda: True)
    monkeypatch.setattr(place, "MIN_KERNELS", 1)


def legalized(workers: int) -> tuple[str, list[str]]:
    """Return the legalized module, and the remarks."""
    remarks: list[str] = []
    module = parse_module(make_ir_context(), TEXT, "x.mlir")
    with PassContext(
        opt_level=3,
        workers=workers,
        remark_filter=".*",
        renderer=lambda found: remarks.extend(map(str, found)),
    ):
        return str(parse_pipeline("fuse-ops{fuse-opt-level=0},legalize-ops")(module)), remarks


@pytest.mark.usefixtures("two_cores")
def test_the_module_and_the_remarks_are_the_same():
    assert legalized(2) == legalized(1)


@pytest.mark.usefixtures("two_cores")
def test_a_kernel_that_cannot_be_built_is_left_to_the_caller():
    module = parse_module(make_ir_context(), TEXT, "x.mlir")
    functions = [op for op in module.ops if isinstance(op, FuncOp)]

    def build(func: FuncOp) -> Kernel:
        raise NoKernel("not here")

    assert place.kernels_on_cores(module, functions, build, 2) == {}


@pytest.mark.usefixtures("two_cores")
def test_nothing_is_taken_from_forks_of_which_one_fails():
    module = parse_module(make_ir_context(), TEXT, "x.mlir")
    functions = [op for op in module.ops if isinstance(op, FuncOp)]

    def build(func: FuncOp) -> Kernel:
        raise ValueError("a bug")

    assert place.kernels_on_cores(module, functions, build, 2) == {}
