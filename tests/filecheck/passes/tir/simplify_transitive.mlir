// RUN: passline-opt %s -p 'tir-simplify{transitively-prove-inequalities=true}' | filecheck %s

// Constraints are added up.
// CHECK-LABEL: @chain(
tir.prim_func @chain(%A: memref<2xi1>, %i: index, %j: index, %k: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %a = arith.cmpi slt, %i, %j : index
  // CHECK-NEXT: %b = arith.cmpi slt, %j, %k : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: scf.if %b {
  // CHECK-NEXT: %c = arith.constant true
  // CHECK-NEXT: memref.store %c, %A[%c0] : memref<2xi1>
  // CHECK-NEXT: memref.store %c, %A[%c1] : memref<2xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.cmpi slt, %i, %j : index
  %b = arith.cmpi slt, %j, %k : index
  scf.if %a {
    scf.if %b {
      %c = arith.cmpi slt, %i, %k : index
      memref.store %c, %A[%c0] : memref<2xi1>
      %d = arith.cmpi ne, %i, %k : index
      memref.store %d, %A[%c1] : memref<2xi1>
    }
  }
}

// With their constants: 12, but not 11.
// CHECK-LABEL: @offsets(
tir.prim_func @offsets(%A: memref<2xi1>, %i: index, %j: index, %k: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c5 = arith.constant 5 : index
  // CHECK-NEXT: %c7 = arith.constant 7 : index
  // CHECK-NEXT: %c11 = arith.constant 11 : index
  // CHECK-NEXT: %j5 = arith.addi %j, %c5 : index
  // CHECK-NEXT: %k7 = arith.addi %k, %c7 : index
  // CHECK-NEXT: %a = arith.cmpi sle, %i, %j5 : index
  // CHECK-NEXT: %b = arith.cmpi sle, %j, %k7 : index
  // CHECK-NEXT: %both = arith.andi %a, %b : i1
  // CHECK-NEXT: scf.if %both {
  // CHECK-NEXT: %c = arith.constant true
  // CHECK-NEXT: memref.store %c, %A[%c0] : memref<2xi1>
  // CHECK-NEXT: %k11 = arith.addi %k, %c11 : index
  // CHECK-NEXT: %d = arith.cmpi sle, %i, %k11 : index
  // CHECK-NEXT: memref.store %d, %A[%c1] : memref<2xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c11 = arith.constant 11 : index
  %c12 = arith.constant 12 : index
  %j5 = arith.addi %j, %c5 : index
  %k7 = arith.addi %k, %c7 : index
  %a = arith.cmpi sle, %i, %j5 : index
  %b = arith.cmpi sle, %j, %k7 : index
  %both = arith.andi %a, %b : i1
  scf.if %both {
    %k12 = arith.addi %k, %c12 : index
    %c = arith.cmpi sle, %i, %k12 : index
    memref.store %c, %A[%c0] : memref<2xi1>
    %k11 = arith.addi %k, %c11 : index
    %d = arith.cmpi sle, %i, %k11 : index
    memref.store %d, %A[%c1] : memref<2xi1>
  }
}

// Constraints that have no value in common.
// UNCHANGED: @no_chain
tir.prim_func @no_chain(%A: memref<2xi1>, %i: index, %j: index, %k: index) {
  %c0 = arith.constant 0 : index
  %a = arith.cmpi slt, %i, %j : index
  %b = arith.cmpi sgt, %j, %k : index
  scf.if %a {
    scf.if %b {
      %c = arith.cmpi slt, %i, %k : index
      memref.store %c, %A[%c0] : memref<2xi1>
    }
  }
}
