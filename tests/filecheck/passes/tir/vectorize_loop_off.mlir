// RUN: passline-opt %s -p 'tir-vectorize-loop{enable-vectorize=false}' | filecheck %s

// CHECK-LABEL: @off(
tir.prim_func @off(%a : memref<4xf32>, %x : f32, %n : index) {
  // CHECK: tir.for %v = %c0 extent %n {
  // CHECK-NEXT: tir.for %w = %c0 extent %c0 {
  // CHECK-NEXT: memref.store
  %c0 = arith.constant 0 : index
  tir.for vectorized %v = %c0 extent %n {
    tir.for vectorized %w = %c0 extent %c0 {
      memref.store %x, %a[%w] : memref<4xf32>
    }
  }
}
