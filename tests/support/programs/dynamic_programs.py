"""Programs on tensors of unknown sizes, with kernels, as `legalize-ops` leaves them."""

from __future__ import annotations

__all__ = ["BRANCH", "CHAIN", "COUNT", "SHRINK"]

DOUBLE = """
tir.prim_func private @double(%x: memref<?x4xf32>, %y: memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = "memref.dim"(%y, %c0) : (memref<?x4xf32>, index) -> index
  tir.for %i = %c0 extent %n {
    tir.for %j = %c0 extent %c4 {
      %0 = memref.load %x[%i, %j] : memref<?x4xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%i, %j] : memref<?x4xf32>
    }
  }
}
tir.prim_func private @flat(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = "memref.dim"(%y, %c0) : (memref<?xf32>, index) -> index
  tir.for %i = %c0 extent %n {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.mulf %0, %0 : f32
    memref.store %1, %y[%i] : memref<?xf32>
  }
}
"""

CHAIN = f"""{DOUBLE}
func.func @main(
    %x: tensor<?x4xf32> {{onnx.dims = ["n", unit]}}, %z: tensor<?xf32> {{onnx.dims = ["n"]}})
    -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x1x4xf32>) {{
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %a = relax.call_tir @double(%x) sizes(%n) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = relax.call_tir @double(%a) sizes(%n) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = relax.call_tir @double(%b) sizes(%n) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %d = relax.reshape %c {{newshape = [-1]}} : (tensor<?x4xf32>) -> tensor<?xf32>
  %m = arith.muli %n, %c4 : index
  %e = relax.call_tir @flat(%d) sizes(%m) : (tensor<?xf32>) -> tensor<?xf32>
  %f = relax.reshape %e {{newshape = [-1, 4]}} : (tensor<?xf32>) -> tensor<?x4xf32>
  %g = relax.expand_dims %a {{axis = [1]}} : (tensor<?x4xf32>) -> tensor<?x1x4xf32>
  func.return %f, %z, %e, %g : tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x1x4xf32>
}}
"""
"""Shared bytes, views of unknown sizes, a returned parameter, a value that is returned twice, and
dimensions of one name."""

BRANCH = f"""{DOUBLE}
func.func @main(%x: tensor<?x4xf32>, %p: i1, %k: index) -> (tensor<?x4xf32>, tensor<?x4xf32>) {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %a = relax.call_tir @double(%x) sizes(%n) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b, %c = scf.if %p -> (tensor<?x4xf32>, tensor<?x4xf32>) {{
    %m = arith.subi %n, %k : index
    %c = relax.call_tir @double(%a) sizes(%n) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %d = relax.call_tir @double(%c) sizes(%m) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    scf.yield %d, %d : tensor<?x4xf32>, tensor<?x4xf32>
  }} else {{
    scf.yield %x, %a : tensor<?x4xf32>, tensor<?x4xf32>
  }}
  %n0 = tensor.dim %b, %c0 : tensor<?x4xf32>
  %e = relax.call_tir @double(%b) sizes(%n0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %e, %c : tensor<?x4xf32>, tensor<?x4xf32>
}}
"""
"""Branches that yield tensors of different sizes; `n - k` may be negative, in one of them."""

COUNT = f"""{DOUBLE}
tir.prim_func private @positive(%x: memref<?xf32>, %n: memref<1xi64>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i64
  %none = arith.constant 0 : i64
  %z = arith.constant 0.0 : f32
  %s = "memref.dim"(%x, %c0) : (memref<?xf32>, index) -> index
  memref.store %none, %n[%c0] : memref<1xi64>
  tir.for %i = %c0 extent %s {{
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.cmpf ogt, %0, %z : f32
    %2 = memref.load %n[%c0] : memref<1xi64>
    %3 = arith.addi %2, %c1 : i64
    %4 = arith.select %1, %3, %2 : i64
    memref.store %4, %n[%c0] : memref<1xi64>
  }}
}}
func.func private @inner(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<1xi64>) {{
  %c0 = arith.constant 0 : index
  %limit = arith.constant 5 : i64
  %c = relax.call_tir @positive(%x) : (tensor<?xf32>) -> tensor<1xi64>
  %a = relax.call_tir @flat(%x) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %v = tensor.extract %c[%c0] : tensor<1xi64>
  %ok = arith.cmpi slt, %v, %limit : i64
  cf.assert %ok, "too many"
  func.return %a, %c : tensor<?xf32>, tensor<1xi64>
}}
func.func @main(%x: tensor<?xf32>, %p: i1) -> (tensor<?xf32>, tensor<?xf32>, tensor<1xi64>) {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %b = relax.call_tir @flat(%x) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %y, %k = func.call @inner(%x, %n) : (tensor<?xf32>, index) -> (tensor<?xf32>, tensor<1xi64>)
  %v = tensor.extract %k[%c0] : tensor<1xi64>
  %m = arith.index_cast %v : i64 to index
  %z = relax.call_tir @flat(%y) sizes(%m) : (tensor<?xf32>) -> tensor<?xf32>
  %w = scf.if %p -> (tensor<?xf32>) {{
    %less = arith.subi %m, %c2 : index
    %q = relax.call_tir @flat(%z) sizes(%less) : (tensor<?xf32>) -> tensor<?xf32>
    %many = relax.call_tir @positive(%q) : (tensor<?xf32>) -> tensor<1xi64>
    %i = tensor.extract %many[%c0] : tensor<1xi64>
    %two = arith.constant 2 : i64
    %ok = arith.cmpi slt, %i, %two : i64
    cf.assert %ok, "too many in the branch"
    %r = relax.call_tir @flat(%q) sizes(%less) : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %r : tensor<?xf32>
  }} else {{
    scf.yield %z : tensor<?xf32>
  }}
  %c1 = arith.constant 1 : i64
  %s = tensor.from_elements %v, %c1 : tensor<2xi64>
  %t = relax.dyn.reshape %w, %s {{allowzero = true}}
    : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %u = relax.flatten %t : (tensor<?x?xf32>) -> tensor<?xf32>
  func.return %b, %u, %k : tensor<?xf32>, tensor<?xf32>, tensor<1xi64>
}}
"""
"""Sizes that depend on data: the number of positive elements, and 2 less in a branch, which fails
in different places for 1, 2 to 4, and 5 of them."""

SHRINK = f"""{DOUBLE}
func.func @main(%x: tensor<?xf32>, %k: index) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %first = relax.call_tir @flat(%x) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%t = %first) -> (tensor<?xf32>) {{
    %old = tensor.dim %t, %c0 : tensor<?xf32>
    %new = arith.subi %old, %c1 : index
    %a = relax.call_tir @flat(%t) sizes(%new) : (tensor<?xf32>) -> tensor<?xf32>
    %b = relax.call_tir @flat(%a) sizes(%new) : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }}
  %m = tensor.dim %r, %c0 : tensor<?xf32>
  %y = relax.call_tir @flat(%r) sizes(%m) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}}
"""
"""A loop of `k` iterations that carries a tensor, which is shorter by one after each: it fails if
there are more iterations than elements."""
