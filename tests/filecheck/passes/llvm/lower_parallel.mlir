// RUN: passline-opt %s -p lower-parallel | filecheck %s

// The first dimension is shared; constants and globals are repeated, other values are passed.
// CHECK: "memref.global"() <{sym_name = "c", sym_visibility = "private", type = memref<8xf32>, initial_value = dense<1.000000e+00> : tensor<8xf32>, constant}> : () -> ()
// CHECK-LABEL: func.func @first_dimension(
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   %g = memref.get_global @c : memref<8xf32>
// CHECK-NEXT:   [[V0:%\w+]] = arith.constant 0 : index
// CHECK-NEXT:   [[V1:%\w+]] = arith.subi %n, %i : index
// CHECK-NEXT:   [[V2:%\w+]] = arith.ceildivsi [[V1]], %c1 : index
// CHECK-NEXT:   func.call @first_dimension.body([[V0]], [[V2]], %m, %i, %n) {omp.fork = 2 : i64} : (index, index, memref<?x?xf32>, index, index) -> ()
// CHECK-NEXT:   func.return
// CHECK-LABEL: func.func private @first_dimension.body(
// CHECK-SAME:  [[V0]]: index, [[V1]]: index, [[V2]]: memref<?x?xf32>, [[V3:%\w+]]: index, [[V4:%\w+]]: index) {
// CHECK-NEXT:   %g = memref.get_global @c : memref<8xf32>
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   [[V5:%\w+]] = arith.constant 1 : index
// CHECK-NEXT:   scf.for [[V6:%\w+]] = [[V0]] to [[V1]] step [[V5]] {
// CHECK-NEXT:     [[V7:%\w+]] = arith.muli [[V6]], %c1 : index
// CHECK-NEXT:     %a = arith.addi [[V3]], [[V7]] : index
// CHECK-NEXT:     scf.for %b = %c0 to [[V4]] step %c1 {
// CHECK-NEXT:       %x = memref.load %g[%b] : memref<8xf32>
// CHECK-NEXT:       memref.store %x, [[V2]][%a, %b] : memref<?x?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return
"memref.global"() <{sym_name = "c", sym_visibility = "private", type = memref<8xf32>, initial_value = dense<1.0> : tensor<8xf32>, constant}> : () -> ()
func.func @first_dimension(%n: index, %m: memref<?x?xf32>, %i: index) {
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

// A loop in a parallel loop runs on its thread.
// CHECK-LABEL: func.func @two(
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   [[V0:%\w+]] = arith.constant 0 : index
// CHECK-NEXT:   [[V1:%\w+]] = arith.subi %n, %c0 : index
// CHECK-NEXT:   [[V2:%\w+]] = arith.ceildivsi [[V1]], %c1 : index
// CHECK-NEXT:   func.call @two.body([[V0]], [[V2]], %n, %x, %m) {omp.fork = 2 : i64} : (index, index, index, f32, memref<?x?xf32>) -> ()
// CHECK-NEXT:   func.return
// CHECK-LABEL: func.func private @two.body(
// CHECK-SAME:  [[V0]]: index, [[V1]]: index, [[V2]]: index, [[V3:%\w+]]: f32, [[V4:%\w+]]: memref<?x?xf32>) {
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   [[V5:%\w+]] = arith.constant 1 : index
// CHECK-NEXT:   scf.for [[V6:%\w+]] = [[V0]] to [[V1]] step [[V5]] {
// CHECK-NEXT:     [[V7:%\w+]] = arith.muli [[V6]], %c1 : index
// CHECK-NEXT:     %a = arith.addi %c0, [[V7]] : index
// CHECK-NEXT:     scf.for %b = %c0 to [[V2]] step %c1 {
// CHECK-NEXT:       memref.store [[V3]], [[V4]][%a, %b] : memref<?x?xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return
func.func @two(%n: index, %m: memref<?x?xf32>, %x: f32) {
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

// A loop with a result stays.
// UNCHANGED: @serial
func.func @serial(%n: index, %x: f32) -> f32 {
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
