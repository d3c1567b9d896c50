// RUN: passline-opt %s -p lower-tir | mlir-opt | filecheck %s
// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// REQUIRES: mlir-opt

// CHECK: memref.global "private" constant @k : memref<4xf32>
"memref.global"() <{sym_name = "k", sym_visibility = "private", constant, type = memref<4xf32>, initial_value = dense<1.0> : tensor<4xf32>}> : () -> ()
// CHECK: func.func private @outside(memref<?xf32>)
tir.prim_func @outside(memref<?xf32>)
// CHECK: func.func @main(%{{.*}}: memref<?xf32> {llvm.noalias, onnx.name = "gpu_0/data_0"}, %{{.*}}: index, %{{.*}}: memref<4x?xf32> {llvm.noalias}) attributes {tir.outputs = 1 : i64}
tir.prim_func @main(%a: memref<?xf32> {onnx.name = "gpu_0/data_0"}, %n: index, %b: memref<4x?xf32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %k = memref.get_global @k : memref<4xf32>
  // CHECK: scf.parallel
  // CHECK-NEXT: memref.alloca() {alignment = 64 : i64} : memref<16xf32>
  tir.for parallel %i = %c0 extent %c4 {
    %acc = memref.alloc() : memref<16xf32, "local">
    %size = memref.dim %b, %c1 : memref<4x?xf32>
    // CHECK: scf.for
    tir.for %j = %c1 extent %size {
      %w = memref.load %k[%i] : memref<4xf32>
      memref.store %w, %acc[%j] : memref<16xf32, "local">
    }
    %t = memref.alloc(%n) : memref<?xf32>
    // CHECK: call @outside
    tir.call @outside(%t) : memref<?xf32>
    // CHECK: memref.dealloc
  }
}
