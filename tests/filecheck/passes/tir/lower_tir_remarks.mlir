// RUN: passline-opt %s -p lower-tir --remarks-missed --verify-diagnostics
// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)

tir.prim_func @main(%a: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.0 : f32
  // expected-remark @below {{on the heap: its size is not known, or too big for the stack}}
  %t = memref.alloca(%n) : memref<?xf32>
  // expected-remark @below {{runs as a serial loop: no pass has vectorized it}}
  tir.for vectorized %i = %c0 extent %c4 {
    // expected-remark @below {{runs as a serial loop: no pass has unrolled it}}
    tir.for unrolled %j = %c0 extent %c4 {
      memref.store %f, %a[%j] : memref<4xf32>
    }
  }
}
