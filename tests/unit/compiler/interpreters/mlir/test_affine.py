"""affine maps, loops and accesses."""

from __future__ import annotations

import numpy as np
import pytest

from passline.passmanager.errors import PasslineError
from tests.support.programs.computed import computed
from tests.support.releases import needs_xdsl


@pytest.mark.parametrize(
    ("map", "result"),
    [
        ("(d0)[s0] -> (d0 * 2 + s0)", 2 * 7 - 3),
        ("(d0, d1) -> (d1 floordiv 2)", -2),
        ("(d0, d1) -> (d1 ceildiv 2)", -1),
        ("(d0, d1) -> (d1 mod 2)", 1),
        ("()[s0, s1] -> (s0 - s1)", 10),
    ],
)
def test_apply(map: str, result: int):
    text = f"""
      func.func @main(%x: index, %y: index) -> index {{
        %r = "affine.apply"(%x, %y) <{{map = affine_map<{map}>}}> : (index, index) -> index
        return %r : index
      }}"""
    assert computed(text, 7, -3) == [result]


@pytest.mark.parametrize("operator", ["floordiv", "ceildiv", "mod"])
def test_a_divisor_that_is_not_positive_is_reported(operator: str):
    text = f"""
      func.func @main(%x: index) -> index {{
        %r = "affine.apply"(%x) <{{map = affine_map<(d0) -> (d0 {operator} 0)>}}> : (index) -> index
        return %r : index
      }}"""
    with pytest.raises(PasslineError, match="the divisor of an affine map is positive, not 0"):
        computed(text, 7)


def test_min():
    text = """
      func.func @main(%x: index, %y: index) -> index {
        %r = "affine.min"(%x, %y) <{map = affine_map<(d0)[s0] -> (d0, s0 + 1)>}>
            : (index, index) -> index
        return %r : index
      }"""
    assert computed(text, 7, 3) == [4]


LOOP = """
func.func @main(%n: index, %m: index) -> f32 {
  %init = arith.constant 1.0 : f32
  %buffer = memref.alloc() : memref<10xf32>
  %r = "affine.for"(%n, %n, %m, %init) <{
      lowerBoundMap = affine_map<(d0) -> (d0, 1)>, upperBoundMap = affine_map<(d0)[s0] -> (d0 + 4, s0)>,
      step = 2 : index, operandSegmentSizes = array<i32: 1, 2, 1>}> ({
  ^bb0(%i: index, %s: f32):
    "affine.store"(%s, %buffer, %i) <{map = affine_map<(d0) -> (d0 + 1)>}>
        : (f32, memref<10xf32>, index) -> ()
    %v = "affine.load"(%buffer, %i, %n) <{map = affine_map<(d0)[s0] -> (d0 - s0 + s0 + 1)>}>
        : (memref<10xf32>, index, index) -> f32
    %t = arith.addf %s, %v : f32
    "affine.yield"(%t) : (f32) -> ()
  }) : (index, index, index, f32) -> f32
  return %r : f32
}"""  # noqa: E501


def test_for():
    assert computed(LOOP, 0, 9) == [4]  # 1 and 3, below 4
    assert computed(LOOP, 0, 3) == [2]
    assert computed(LOOP, 0, 0) == [1]


def test_an_access_out_of_bounds_is_reported():
    with pytest.raises(PasslineError, match=r"index \[10\] is out of the bounds"):
        computed(LOOP, 9, 19)


@pytest.mark.parametrize(("x", "result"), [(4, 1), (5, 0), (1, 0)])
def test_if(x: int, result: int):
    text = """
      func.func @main(%x: index) -> i32 {
        %r = "affine.if"(%x, %x) <{condition = affine_set<(d0)[s0] : (d0 - 4 == 0, s0 >= 2)>}> ({
          %c = arith.constant 1 : i32
          "affine.yield"(%c) : (i32) -> ()
        }, {
          %c = arith.constant 0 : i32
          "affine.yield"(%c) : (i32) -> ()
        }) : (index, index) -> i32
        return %r : i32
      }"""
    assert computed(text, x) == [result]


def test_parallel():
    text = """
      func.func @main(%n: index, %m: index) -> memref<4x4xi64> {
        %buffer = memref.alloc() : memref<4x4xi64>
        %one = arith.constant 1 : i64
        "affine.parallel"(%n, %m) <{
            lowerBoundsGroups = dense<[1, 2]> : vector<2xi32>, reductions = [], steps = [1, 2],
            lowerBoundsMap = affine_map<(d0) -> (0, d0, 1)>,
            upperBoundsGroups = dense<1> : vector<2xi32>,
            upperBoundsMap = affine_map<()[s0] -> (2, s0)>}> ({
        ^bb0(%i: index, %j: index):
          memref.store %one, %buffer[%i, %j] : memref<4x4xi64>
          "affine.yield"() : () -> ()
        }) : (index, index) -> ()
        return %buffer : memref<4x4xi64>
      }"""
    row = [0, 1, 0, 1]
    assert computed(text, 0, 4) == [[row, row, [0] * 4, [0] * 4]]


@needs_xdsl("0.74", "affine.vector_load")
def test_vectors():
    text = """
      func.func @main(%b: memref<4x6xf32>, %i: index) -> memref<4x6xf32> {
        %v = "affine.vector_load"(%b, %i) <{map = affine_map<(d0) -> (d0, d0 + 1)>}>
            : (memref<4x6xf32>, index) -> vector<2xf32>
        "affine.vector_store"(%v, %b, %i) <{map = affine_map<(d0) -> (0, d0)>}>
            : (vector<2xf32>, memref<4x6xf32>, index) -> ()
        return %b : memref<4x6xf32>
      }"""
    buffer = np.arange(24, dtype=np.float32).reshape(4, 6)
    (result,) = computed(text, buffer, 2)
    assert result[0] == [0, 1, 15, 16, 4, 5]
