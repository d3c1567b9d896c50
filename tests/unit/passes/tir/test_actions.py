"""Passes that simplify loops count their steps, and take none that is not allowed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.parsing import parsed
from xdsl.ir import Operation

from passline.dialects.tir.ops import PrimFuncOp
from passline.passes.tir.common_subexpr_elim import eliminate_common_subexpressions
from passline.passes.tir.hoist_if_then_else import hoist_ifs
from passline.passes.tir.loop_partition import partition_loops
from passline.passes.tir.remove_no_op import remove_no_ops
from passline.passes.tir.simplify import simplify
from passline.passmanager import CollectingActions
from passline.passmanager.actions import Actions
from passline.passmanager.ir.verifier import verify

INVARIANT = """
tir.prim_func @f(%a: memref<64xf32>, %x: f32, %c: i1, %n: index) {
  %zero = arith.constant 0 : index
  tir.for %i = %zero extent %n {
    scf.if %c {
      memref.store %x, %a[%i] : memref<64xf32>
    }
  }
}
"""
KNOWN = """
tir.prim_func @f(%a: memref<64xf32>, %x: f32) {
  %zero = arith.constant 0 : index
  %n = arith.constant 64 : index
  tir.for %i = %zero extent %n {
    %c = arith.cmpi slt, %i, %n : index
    scf.if %c {
      memref.store %x, %a[%i] : memref<64xf32>
    }
  }
}
"""
TAIL = """
tir.prim_func @f(%a: memref<64xf32>, %x: f32, %n: index, %m: index) {
  %zero = arith.constant 0 : index
  tir.for %i = %zero extent %n {
    %c = arith.cmpi slt, %i, %m : index
    %likely = tir.likely %c
    scf.if %likely {
      memref.store %x, %a[%i] : memref<64xf32>
    }
  }
}
"""
TWICE = """
tir.prim_func @f(%a: memref<64xf32>, %i: index) {
  %0 = memref.load %a[%i] : memref<64xf32>
  %1 = memref.load %a[%i] : memref<64xf32>
  %2 = arith.addf %0, %1 : f32
  memref.store %2, %a[%i] : memref<64xf32>
}
"""
OVERWRITTEN = """
tir.prim_func @f(%a: memref<64xf32>, %x: f32, %y: f32, %i: index) {
  memref.store %x, %a[%i] : memref<64xf32>
  memref.store %y, %a[%i] : memref<64xf32>
}
"""

Algorithm = Callable[[PrimFuncOp, Actions], None]


def run_hoist(func: PrimFuncOp, actions: Actions) -> None:
    hoist_ifs(func, actions=actions)


def run_simplify(func: PrimFuncOp, actions: Actions) -> None:
    simplify(func, actions=actions)


def run_partition(func: PrimFuncOp, actions: Actions) -> None:
    partition_loops(func, actions=actions)


def run_cse(func: PrimFuncOp, actions: Actions) -> None:
    eliminate_common_subexpressions(func, actions=actions)


class Refusal(CollectingActions):
    """Actions that allow no step."""

    decides = True

    def allowed(self, op: Operation | None = None, tag: str = "") -> bool:
        return False


def parse(text: str) -> PrimFuncOp:
    """Parse a module of one function; return the function."""
    op = parsed(text).body.block.first_op
    assert isinstance(op, PrimFuncOp)
    return op


@pytest.mark.parametrize(
    ("text", "algorithm", "counts", "remarks"),
    [
        (INVARIANT, run_hoist, {"hoisted": 1}, {"Hoisted"}),
        (KNOWN, run_simplify, {"values": 1, "branches": 1, "removed": 2}, {"Simplified"}),
        (TAIL, run_partition, {"partitioned": 1}, {"Partitioned"}),
        (TWICE, run_cse, {"merged": 1}, {"Merged"}),
        (OVERWRITTEN, remove_no_ops, {"removed": 1}, {"Removed"}),
    ],
)
def test_steps_are_counted_and_may_be_refused(
    text: str, algorithm: Algorithm, counts: dict[str, int], remarks: set[str]
) -> None:
    func, recorder = parse(text), CollectingActions()
    algorithm(func, recorder)
    verify(func)
    assert recorder.counts == counts
    assert remarks <= {name for _, name in recorder.remarks}

    func, refusal = parse(text), Refusal()
    before = str(func).replace("tir.likely", "")
    algorithm(func, refusal)
    verify(func)
    assert refusal.counts.keys() <= {"removed"}
    if algorithm is not run_partition:  # which removes `tir.likely` in any case
        assert str(func) == before
