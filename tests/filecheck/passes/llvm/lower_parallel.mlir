// RUN: passline-opt %s -p lower-parallel --split-input-file | filecheck %s

// The first dimension is shared; constants and globals are repeated, other values are passed.
// CHECK: "memref.global"() <{sym_name = "c", sym_visibility = "private", type = memref<8xf32>, initial_value = dense<1.000000e+00> : tensor<8xf32>, constant}> : () -> ()
// CHECK-LABEL: func.func @f(%n: index, %m: memref<?x?xf32>, %i: index) {
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   %g = memref.get_global @c : memref<8xf32>
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %1 = arith.subi %n, %i : index
// CHECK-NEXT:   %2 = arith.ceildivsi %1, %c1 : index
// CHECK-NEXT:   func.call @f.body(%0, %2, %m, %i, %n) {omp.fork = 2 : i64} : (index, index, memref<?x?xf32>, index, index) -> ()
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
// CHECK-LABEL: func.func private @f.body(%0: index, %1: index, %2: memref<?x?xf32>, %3: index, %4: index) {
// CHECK-NEXT:   %g = memref.get_global @c : memref<8xf32>
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   %5 = arith.constant 1 : index
// CHECK-NEXT:   scf.for %6 = %0 to %1 step %5 {
// CHECK-NEXT:     %7 = arith.muli %6, %c1 : index
// CHECK-NEXT:     %a = arith.addi %3, %7 : index
// CHECK-NEXT:     scf.for %b = %c0 to %4 step %c1 {
// CHECK-NEXT:       %x = memref.load %g[%b] : memref<8xf32>
// CHECK-NEXT:       memref.store %x, %2[%a, %b] : memref<?x?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
"memref.global"() <{sym_name = "c", sym_visibility = "private", type = memref<8xf32>, initial_value = dense<1.0> : tensor<8xf32>, constant}> : () -> ()
func.func @f(%n: index, %m: memref<?x?xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = memref.get_global @c : memref<8xf32>
  "scf.parallel"(%i, %c0, %n, %n, %c1, %c1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%a: index, %b: index):
    %x = memref.load %g[%b] : memref<8xf32>
    memref.store %x, %m[%a, %b] : memref<?x?xf32>
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  func.return
}

// -----

// A loop in a parallel loop runs on its thread.
// CHECK-LABEL: func.func @f(%n: index, %m: memref<?x?xf32>, %x: f32) {
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %1 = arith.subi %n, %c0 : index
// CHECK-NEXT:   %2 = arith.ceildivsi %1, %c1 : index
// CHECK-NEXT:   func.call @f.body(%0, %2, %n, %x, %m) {omp.fork = 2 : i64} : (index, index, index, f32, memref<?x?xf32>) -> ()
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
// CHECK-LABEL: func.func private @f.body(%0: index, %1: index, %2: index, %3: f32, %4: memref<?x?xf32>) {
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   %5 = arith.constant 1 : index
// CHECK-NEXT:   scf.for %6 = %0 to %1 step %5 {
// CHECK-NEXT:     %7 = arith.muli %6, %c1 : index
// CHECK-NEXT:     %a = arith.addi %c0, %7 : index
// CHECK-NEXT:     scf.for %b = %c0 to %2 step %c1 {
// CHECK-NEXT:       memref.store %3, %4[%a, %b] : memref<?x?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @f(%n: index, %m: memref<?x?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%a: index):
    "scf.parallel"(%c0, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
    ^bb0(%b: index):
      memref.store %x, %m[%a, %b] : memref<?x?xf32>
      scf.reduce
    }) : (index, index, index) -> ()
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}

// -----

// A loop with a result stays.
// CHECK-LABEL: func.func @f(%n: index, %x: f32) -> f32 {
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   %0 = "scf.parallel"(%c0, %n, %c1, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
// CHECK-NEXT:   ^bb0(%i: index):
// CHECK-NEXT:     scf.reduce(%x : f32) {
// CHECK-NEXT:     ^bb0(%a: f32, %b: f32):
// CHECK-NEXT:       %1 = arith.addf %a, %b : f32
// CHECK-NEXT:       scf.reduce.return %1 : f32
// CHECK-NEXT:     }
// CHECK-NEXT:   }) : (index, index, index, f32) -> f32
// CHECK-NEXT:   func.return %0 : f32
// CHECK-NEXT: }
func.func @f(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = "scf.parallel"(%c0, %n, %c1, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%i: index):
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      scf.reduce.return %1 : f32
    }
  }) : (index, index, index, f32) -> f32
  func.return %0 : f32
}
