"""InjectDoubleBuffer: every number of iterations, warnings, errors."""

from __future__ import annotations

import pytest
from support.parsing import parsed
from support.passes.results import check_equal, run
from support.suites.inprocess import passline_opt

from passline.dialects.tir.ops import PrimFuncOp
from passline.passes.tir.inject_double_buffer import InjectDoubleBuffer, inject_double_buffers
from passline.passmanager import CollectingActions, PassContext

LOOP = """
tir.prim_func @f(%x: memref<64xi32>, %y: memref<64xi32>, %first: index, %extent: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %first extent %extent {
    %b = memref.alloc() {double_buffer_scope} : memref<4xi32>
    %k = arith.muli %i, %c4 : index
    tir.for %j = %c0 extent %c4 {
      %l = arith.addi %k, %j : index
      %0 = memref.load %x[%l] : memref<64xi32>
      memref.store %0, %b[%j] : memref<4xi32>
    }
    tir.for %j = %c0 extent %c4 {
      %l = arith.addi %k, %j : index
      %0 = memref.load %b[%j] : memref<4xi32>
      %1 = arith.addi %0, %0 : i32
      memref.store %1, %y[%l] : memref<64xi32>
    }
  }
}
"""


@pytest.mark.parametrize("split", [0, 1, 2, 4])
@pytest.mark.parametrize("extent", range(-1, 11))
def test_any_number_of_iterations(split: int, extent: int) -> None:
    import numpy as np

    known = f") {{\n  %extent = arith.constant {extent} : index"
    constant = LOOP.replace(", %extent: index) {", known)
    x, y = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    for text, extents in ((LOOP, (extent,)), (constant, ())):
        before = parsed(text)
        after = InjectDoubleBuffer(split_loop=split)(before)
        assert "memref<2x4xi32>" in str(after)
        arguments = (x, y, 3, *extents)
        check_equal(run(after, "f", arguments), run(before, "f", arguments))


def test_an_option_of_the_context() -> None:
    module = parsed(LOOP)
    with PassContext(config={"tir.InjectDoubleBuffer": {"split_loop": 0}}):
        assert str(InjectDoubleBuffer()(module)).count("scf.if") == 2


def test_a_factor_that_leaves_a_remainder_is_an_error() -> None:
    result = passline_opt("-p", "tir-inject-double-buffer{split-loop=3}", stdin=LOOP)
    assert result.status == 1
    assert "split-loop is 3: expected 0, 1 or an even number" in result.stderr


def test_a_warning_says_why_not() -> None:
    text = LOOP.replace("tir.for %i", "tir.for parallel %i")
    result = passline_opt("-p", "tir-inject-double-buffer", stdin=text)
    assert result.status == 0
    assert ":6:10: warning: 'memref.alloc' op double_buffer_scope" in result.stderr
    assert "the iterations of a parallel loop have no order" in result.stderr


@pytest.mark.parametrize(("kind", "doubled", "warnings"), [("", 1, 0), ("parallel ", 0, 1)])
def test_the_algorithm_reports_to_its_actions(kind: str, doubled: int, warnings: int) -> None:
    module = parsed(LOOP.replace("tir.for %i", f"tir.for {kind}%i"))
    (func,) = [op for op in module.ops if isinstance(op, PrimFuncOp)]
    inject_double_buffers(func, actions=(actions := CollectingActions()))
    assert actions.counts["doubled"] == doubled
    assert len(actions.warnings) == warnings
