// RUN: passline-opt %s -p lower-tir --split-input-file --verify-diagnostics

tir.prim_func @threads(%a: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // expected-error @below {{'tir.for' op is bound to "threadIdx.x", but a CPU has no such threads}}
  // expected-note @below {{a parallel loop runs on any target}}
  tir.for thread_binding "threadIdx.x" %i = %c0 extent %c4 {
  }
}

// -----

tir.prim_func @freed(%a: memref<4xf32>) {
  // expected-error @below {{'memref.dealloc' op frees a buffer, which lives until the end of its block}}
  memref.dealloc %a : memref<4xf32>
}
