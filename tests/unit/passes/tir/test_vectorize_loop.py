"""VectorizeLoop: remarks, counters and options."""

from __future__ import annotations

from support.parsing import parsed
from support.suites.inprocess import passline_opt
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.vector import MaskedStoreOp, StoreOp

from passline.dialects.tir.ops import PrimFuncOp
from passline.passes.tir.vectorize_loop import VectorizeLoop, vectorize_loops
from passline.passmanager import CollectingActions, PassContext

TAIL = """
tir.prim_func @f(%a : memref<4xf32>, %x : f32, %n : index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    memref.store %x, %a[%v] : memref<4xf32>
    %d = arith.cmpi slt, %v, %n : index
    scf.if %d {
      memref.store %x, %a[%v] : memref<4xf32>
    }
  }
}
"""
SUM = """
tir.prim_func @f(%a : memref<4xf32>, %b : memref<f32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    %x = memref.load %a[%v] : memref<4xf32>
    memref.store %x, %b[] : memref<f32>
  }
}
"""


def stores(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk() if isinstance(op, StoreOp | MaskedStoreOp)]


def test_the_context_gives_options():
    module = parsed(TAIL)
    assert stores(VectorizeLoop()(module)) == ["vector.store"]
    with PassContext(config={"tir.VectorizeLoop": {"enable_buffer_level_predication": True}}):
        assert stores(VectorizeLoop()(module)) == ["vector.store", "vector.maskedstore"]
    with PassContext(config={"tir.VectorizeLoop": {"enable_vectorize": False}}):
        assert stores(VectorizeLoop()(module)) == []


def test_what_stays_a_loop_is_told():
    result = passline_opt("-p", "tir-vectorize-loop", "--remarks", stdin=TAIL)
    assert "[Passed] Vectorized" in result.stderr and "Lanes=4" in result.stderr
    assert "[Missed] Scalarized" in result.stderr and "Loops=1" in result.stderr
    result = passline_opt("-p", "tir-vectorize-loop", "--remarks", stdin=SUM)
    assert "[Missed] SharedStore" in result.stderr and "Vectorized" not in result.stderr


def test_the_algorithm_reports_to_its_actions():
    actions = CollectingActions()
    for text in (TAIL, SUM):
        module = parsed(text)
        (func,) = [op for op in module.ops if isinstance(op, PrimFuncOp)]
        vectorize_loops(func, actions=actions)
    assert actions.counts == {"vectorized": 1, "scalarized": 1}
    assert [name for _, name in actions.remarks] == ["Vectorized", "Scalarized", "SharedStore"]
