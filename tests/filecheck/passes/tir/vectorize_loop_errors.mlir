// RUN: not passline-opt %s -p tir-vectorize-loop --split-input-file 2>&1 | filecheck %s

// CHECK: vectorize_loop_errors.mlir:6:3: error: 'tir.for' op cannot be vectorized: the extent %n is not a constant
tir.prim_func @symbolic(%a : memref<4xf32>, %x : f32, %n : index) {
  %c0 = arith.constant 0 : index
  tir.for vectorized %v = %c0 extent %n {
    memref.store %x, %a[%v] : memref<4xf32>
  }
}

// -----

// CHECK: error: 'scf.while' op is in a vectorized loop
// CHECK: note: 'tir.for' op is the vectorized loop
tir.prim_func @while(%a : memref<4xi1>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant false
  tir.for vectorized %v = %c0 extent %c4 {
    scf.while () : () -> () {
      %x = memref.load %a[%v] : memref<4xi1>
      scf.condition(%x)
    } do {
      memref.store %f, %a[%v] : memref<4xi1>
      scf.yield
    }
  }
}
