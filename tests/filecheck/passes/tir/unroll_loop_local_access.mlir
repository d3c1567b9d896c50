// RUN: passline-opt %s -p 'tir-unroll-loop{auto-max-depth=0 auto-max-extent=1 unroll-local-access=true}' --split-input-file | filecheck %s
// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)

// Loops whose variables index buffers in registers.
// CHECK-LABEL: @registers(
tir.prim_func @registers(%b : memref<4xi32>, %x : i32) {
  // CHECK: tir.for thread_binding "threadIdx.x" %t =
  // CHECK-NEXT: memref.alloca
  // CHECK-NEXT: memref.store %x, %l[%c0]
  // CHECK-NEXT: memref.store %x, %l[%c2]
  // CHECK-NEXT: memref.store %x, %l[%c4]
  // CHECK-NEXT: memref.store %x, %l[%{{[0-9]+}}]
  // CHECK-NEXT: tir.for %j =
  // CHECK-NEXT: memref.store %x, %b[%j]
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tir.for thread_binding "threadIdx.x" %t = %c0 extent %c2 {
    %l = memref.alloca() : memref<8xi32, "local.acc">
    tir.for %i = %c0 extent %c4 {
      %i2 = arith.muli %i, %c2 : index
      memref.store %x, %l[%i2] : memref<8xi32, "local.acc">
    }
    tir.for %j = %c0 extent %c4 {
      memref.store %x, %b[%j] : memref<4xi32>
    }
  }
}
