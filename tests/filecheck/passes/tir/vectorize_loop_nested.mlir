// RUN: passline-opt %s -p tir-vectorize-loop 2>&1 | filecheck %s

// The outer loop is vectorized; a warning says that the inner one is not.
// CHECK: warning: 'tir.for' op is in a vectorized loop: it runs as a serial loop
// CHECK-LABEL: @nested(
// CHECK: tir.for %w = %c0 extent %c4 {
// CHECK-NEXT: vector.store {{.*}}, %a[%w, %c0]
tir.prim_func @nested(%a : memref<4x4xf32>, %x : f32) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    tir.for vectorized %w = %c0 extent %c4 {
      memref.store %x, %a[%w, %v] : memref<4x4xf32>
    }
  }
}
