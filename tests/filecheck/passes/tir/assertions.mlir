// Every pass keeps assertions, where they are: between what may not be moved past them.
// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop=true}' | filecheck %s
// RUN: passline-opt %s -p tir-unroll-loop | filecheck %s
// RUN: passline-opt %s -p tir-inject-double-buffer,tir-hoist-if-then-else | filecheck %s
// RUN: passline-opt %s -p tir-vectorize-loop | filecheck %s
// RUN: passline-opt %s -p tir-simplify,tir-remove-no-op | filecheck %s
// RUN: passline-opt %s -p tir-common-subexpr-elim | filecheck %s
// RUN: passline-opt %s -p tir-vectorize-loop,tir-storage-rewrite | filecheck %s
// RUN: passline-opt %s -p tir-flatten-buffer | filecheck %s
// RUN: passline-opt %s -p canonicalize,cse,dce | filecheck %s
// RUN: passline-opt %s -p eliminate-common-subexpr,dead-code-elimination | filecheck %s
// RUN: passline-opt %s -p lower-to-mlir | filecheck %s
// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)

// CHECK-LABEL: @gather(
// CHECK: load %i
// CHECK: cf.assert {{.*}}, "an index is out of bounds"
// CHECK: load %i
// CHECK: load %x
// CHECK: store {{.*}}, %y
tir.prim_func @gather(%x: memref<16xf32>, %i: memref<8xindex>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %true = arith.constant true
  %every = memref.alloca() : memref<1xi1, "local">
  memref.store %true, %every[%c0] : memref<1xi1, "local">
  tir.for %k = %c0 extent %c8 {
    %0 = memref.load %every[%c0] : memref<1xi1, "local">
    %1 = memref.load %i[%k] : memref<8xindex>
    %2 = arith.cmpi ult, %1, %c16 : index
    %3 = arith.andi %0, %2 : i1
    memref.store %3, %every[%c0] : memref<1xi1, "local">
  }
  %ok = memref.load %every[%c0] : memref<1xi1, "local">
  cf.assert %ok, "an index is out of bounds"
  tir.for vectorized %k = %c0 extent %c8 {
    %0 = memref.load %i[%k] : memref<8xindex>
    %1 = memref.load %x[%0] : memref<16xf32>
    memref.store %1, %y[%k] : memref<8xf32>
  }
}

// The loops do nothing but assert; the same assertion twice is one too many, but stays.
// CHECK-LABEL: @in_loops(
// CHECK: {{tir|scf}}.for
// CHECK: cf.assert {{.*}}, "in a loop"
// CHECK: memref.store
// CHECK: {{tir|scf}}.for
// CHECK: cf.assert {{.*}}, "in a branch"
// CHECK: memref.store
tir.prim_func @in_loops(%x: memref<64xf32>, %n: index, %ok: i1, %c: i1, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tir.for %k = %c0 extent %n {
    cf.assert %ok, "in a loop"
  }
  memref.store %f, %x[%c0] : memref<64xf32>
  tir.for %k = %c0 extent %n {
    scf.if %c {
      cf.assert %ok, "in a branch"
    }
    memref.store %f, %x[%k] : memref<64xf32>
  }
}
