"""memref: globals, scopes, atomic updates, copies and metadata."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import table_test

from passline.passmanager.errors import PasslineError
from tests.support.programs.computed import computed, program

COUNTER = """
"memref.global"() <{sym_name = "count", sym_visibility = "private", type = memref<i64>,
    initial_value = dense<5> : tensor<i64>}> : () -> ()
func.func @main() -> i64 {
  %a = func.call @next() : () -> i64
  %b = func.call @next() : () -> i64
  return %b : i64
}
func.func private @next() -> i64 {
  %one = arith.constant 1 : i64
  %m = memref.get_global @count : memref<i64>
  %old = memref.load %m[] : memref<i64>
  %new = arith.addi %old, %one : i64
  memref.store %new, %m[] : memref<i64>
  return %new : i64
}"""


def test_a_global_is_shared_by_the_functions_of_a_run():
    main = program(COUNTER)
    assert [main(), main()] == [[7], [7]]


@table_test(
    "kind, type, old, new, stored",
    [
        (0, "f32", 1.5, 2.0, 3.5),
        (1, "i8", 100, 100, -56),
        (3, "i8", 1, 2, 2),
        (6, "i8", -1, 2, 2),
        (7, "i8", -1, 2, -1),
        (5, "f32", np.nan, 2.0, 2.0),
        (15, "i8", 3, 1, 2),
    ],
)
def test_atomic_rmw_returns_the_old_value(
    kind: int, type: str, old: float, new: float, stored: float
):
    text = f"""
      func.func @main(%o: {type}, %n: {type}) -> ({type}, {type}) {{
        %m = memref.alloc() : memref<{type}>
        memref.store %o, %m[] : memref<{type}>
        %r = "memref.atomic_rmw"(%n, %m) <{{kind = {kind} : i64}}>
            : ({type}, memref<{type}>) -> {type}
        %s = memref.load %m[] : memref<{type}>
        return %r, %s : {type}, {type}
      }}"""
    np.testing.assert_array_equal(computed(text, old, new), [old, stored])


def test_alloca_scope():
    text = """
      func.func @main(%x: i64) -> i64 {
        %r = "memref.alloca_scope"() ({
          %m = memref.alloca() : memref<i64>
          memref.store %x, %m[] : memref<i64>
          %y = memref.load %m[] : memref<i64>
          "memref.alloca_scope.return"(%y) : (i64) -> ()
        }) : () -> i64
        return %r : i64
      }"""
    assert computed(text, 3) == [3]


DMA = """
func.func @main(%a: memref<4x2xf32>, %b: memref<6xf32, 1>, %n: index) -> memref<6xf32, 1> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %tag = memref.alloc() : memref<1xi32>
  "memref.dma_start"(%a, %one, %one, %b, %one, %n, %tag, %zero)
      {operandSegmentSizes = array<i32: 1, 2, 1, 1, 1, 1, 1>}
      : (memref<4x2xf32>, index, index, memref<6xf32, 1>, index, index,
         memref<1xi32>, index) -> ()
  "memref.dma_wait"(%tag, %zero, %n) : (memref<1xi32>, index, index) -> ()
  return %b : memref<6xf32, 1>
}"""


def test_dma():
    a, b = np.arange(8, dtype=np.float32).reshape(4, 2), np.zeros(6, np.float32)
    assert computed(DMA, a, b, 3) == [[0, 3, 4, 5, 0, 0]]
    with pytest.raises(PasslineError, match="6 elements from 3 exceed a buffer of 8 elements"):
        computed(DMA, a, b, 6)


def test_metadata_and_rank():
    text = """
      func.func @main(%a: memref<4x6xf32>) -> (index, index, index, index, f32) {
        %v = "memref.subview"(%a) <{static_offsets = array<i64: 1, 2>,
            static_sizes = array<i64: 2, 2>, static_strides = array<i64: 2, 1>,
            operandSegmentSizes = array<i32: 1, 0, 0, 0>}>
            : (memref<4x6xf32>) -> memref<2x2xf32, strided<[12, 1], offset: 8>>
        %b, %o, %m, %n, %s, %t = "memref.extract_strided_metadata"(%v)
            {resultSegmentSizes = array<i32: 1, 1, 2, 2>}
            : (memref<2x2xf32, strided<[12, 1], offset: 8>>)
            -> (memref<f32>, index, index, index, index, index)
        %w = "memref.reinterpret_cast"(%b, %o) <{static_offsets = array<i64: -9223372036854775808>,
            static_sizes = array<i64: 1>, static_strides = array<i64: 1>,
            operandSegmentSizes = array<i32: 1, 1, 0, 0>}>
            : (memref<f32>, index) -> memref<1xf32, strided<[1], offset: ?>>
        %zero = arith.constant 0 : index
        %x = memref.load %w[%zero] : memref<1xf32, strided<[1], offset: ?>>
        %r = "memref.rank"(%v) : (memref<2x2xf32, strided<[12, 1], offset: 8>>) -> index
        return %o, %s, %m, %r, %x : index, index, index, index, f32
      }"""
    assert computed(text, np.arange(24, dtype=np.float32).reshape(4, 6)) == [8, 12, 2, 2, 8]
