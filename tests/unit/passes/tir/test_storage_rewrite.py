"""StorageRewrite: counters, remarks, errors, options of a context."""

from __future__ import annotations

import pytest
from support.parsing import parsed
from support.suites.inprocess import passline_opt

from passline.passes.tir.storage_rewrite import StorageRewrite
from passline.passmanager import DiagnosticError, PassContext
from passline.passmanager.instruments import StatisticsInstrument

CHAIN = """
tir.prim_func @chain(%x: memref<64xf32>) {
  %a = memref.alloc() : memref<64xf32>
  "memref.copy"(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
  %b = memref.alloc() : memref<64xf32>
  "memref.copy"(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
  %c = memref.alloc() : memref<64xf32>
  "memref.copy"(%b, %c) : (memref<64xf32>, memref<64xf32>) -> ()
  "memref.copy"(%c, %x) : (memref<64xf32>, memref<64xf32>) -> ()
}
"""

VECTORIZED = """
tir.prim_func @f(%x: memref<8xf32>, %y: f32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for vectorized %i = %c0 extent %c8 {
    memref.store %y, %x[%i] : memref<8xf32>
  }
}
"""

ESCAPES = """
tir.prim_func @f() {
  %a = memref.alloc() : memref<8xf32>
  %p = "memref.extract_aligned_pointer_as_index"(%a) : (memref<8xf32>) -> index
}
"""


def rewritten(text: str) -> str:
    return str(StorageRewrite()(parsed(text)))


def test_counters():
    statistics = StatisticsInstrument()
    with PassContext(instruments=[statistics]):
        rewritten(CHAIN)
    counters = statistics.as_dict()["tir-storage-rewrite"]["counters"]
    assert counters["bytes-before"] == 768
    assert counters["bytes-after"] == 512
    assert counters["reused"] == 1


def test_an_option_of_the_context():
    assert rewritten(CHAIN).count("memref.alloc()") == 2
    with PassContext(config={"tir.StorageRewrite": {"merge_static_smem": True}}):
        assert rewritten(CHAIN).count("memref.alloc()") == 3


def test_a_vectorized_loop_is_an_error():
    with pytest.raises(DiagnosticError, match="run tir-vectorize-loop before") as error:
        rewritten(VECTORIZED)
    assert "x.mlir:5:3" in str(error.value)


def test_remarks_say_what_shares_and_what_does_not():
    done = passline_opt("-p", "tir-storage-rewrite", "--remarks", stdin=CHAIN).stderr
    assert ":7:8: remark" in done and "the allocation is part of another" in done
    left = passline_opt("-p", "tir-storage-rewrite", "--remarks", stdin=ESCAPES).stderr
    assert "left as it is: its address is taken" in left
