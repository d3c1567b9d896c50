// RUN: not passline-opt %s -p 'tir-unroll-loop{max-copies=100}' --split-input-file 2>&1 | filecheck %s

// CHECK: unroll_loop_errors.mlir:{{.*}}: error: 'tir.for' op cannot be unrolled: the extent %n is not a constant from 0 to 2^31 - 1
tir.prim_func @symbolic(%a : memref<8xf32>, %x : f32, %n : index) {
  %c0 = arith.constant 0 : index

  tir.for unrolled %i = %c0 extent %n {
    memref.store %x, %a[%i] : memref<8xf32>
  }
}

// -----

// CHECK: unroll_loop_errors.mlir:{{.*}}: error: 'tir.for' op cannot be unrolled: the extent %huge is not a constant
tir.prim_func @huge(%a : memref<8xf32>, %x : f32) {
  %c0 = arith.constant 0 : index
  %huge = arith.constant 2147483648 : index
  tir.for unrolled %i = %c0 extent %huge {
    memref.store %x, %a[%i] : memref<8xf32>
  }
}

// -----

// CHECK: unroll_loop_errors.mlir:{{.*}}: error: 'tir.for' op over %i is too large to be unrolled: 51 copies of its body are 102 operations, and the limit is 100
// CHECK: help: raise it with tir-unroll-loop{max-copies=102}, or make the loop serial
tir.prim_func @limit(%a : memref<64xf32>, %b : memref<64xf32>, %x : f32, %c0 : index) {
  %c51 = arith.constant 51 : index
  tir.for unrolled %i = %c0 extent %c51 {
    memref.store %x, %a[%i] : memref<64xf32>
    memref.store %x, %b[%i] : memref<64xf32>
  }
}

// -----

// CHECK: error: 'tir.for' op has pragma_auto_unroll_max_step = "many": expected an integer
tir.prim_func @pragma(%a : memref<64xf32>, %x : f32, %c0 : index) {
  tir.for %i = %c0 extent %c0 attributes {pragma_auto_unroll_max_step = "many"} {
    memref.store %x, %a[%i] : memref<64xf32>
  }
}
