// RUN: passline-opt %s -p tir-vectorize-loop | filecheck %s

// A remainder of what is the same in all lanes is the same in all lanes.

// CHECK-LABEL: tir.prim_func @uniform(
// CHECK:         arith.remui %k, %{{.*}} : index
// CHECK:         memref.load %x
// CHECK:         vector.broadcast
// CHECK:         vector.store
tir.prim_func @uniform(%k: index, %x: memref<4xf32>, %y: memref<8xf32>) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %eight = arith.constant 8 : index
  tir.for vectorized %i = %zero extent %eight {
    %r = arith.remui %k, %four : index
    %value = memref.load %x[%r] : memref<4xf32>
    memref.store %value, %y[%i] : memref<8xf32>
  }
}
