// RUN: passline-opt %s -p 'tir-simplify{apply-constraints-to-boolean-branches=true}' | filecheck %s

// CHECK-LABEL: @and(
tir.prim_func @and(%A: memref<2xi1>, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c5 = arith.constant 5 : index
  // CHECK-NEXT: %x = arith.cmpi slt, %n, %c5 : index
  // CHECK-NEXT: memref.store %x, %A[%c0] : memref<2xi1>
  // CHECK-NEXT: memref.store %x, %A[%c1] : memref<2xi1>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c10 = arith.constant 10 : index
  %x = arith.cmpi slt, %n, %c5 : index
  %y = arith.cmpi slt, %n, %c10 : index
  %a = arith.andi %x, %y : i1
  memref.store %a, %A[%c0] : memref<2xi1>
  %b = arith.andi %y, %x : i1
  memref.store %b, %A[%c1] : memref<2xi1>
}

// CHECK-LABEL: @or(
tir.prim_func @or(%A: memref<2xi1>, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c10 = arith.constant 10 : index
  // CHECK-NEXT: %y = arith.cmpi slt, %n, %c10 : index
  // CHECK-NEXT: memref.store %y, %A[%c0] : memref<2xi1>
  // CHECK-NEXT: memref.store %y, %A[%c1] : memref<2xi1>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c10 = arith.constant 10 : index
  %x = arith.cmpi slt, %n, %c5 : index
  %y = arith.cmpi slt, %n, %c10 : index
  %a = arith.ori %x, %y : i1
  memref.store %a, %A[%c0] : memref<2xi1>
  %b = arith.ori %y, %x : i1
  memref.store %b, %A[%c1] : memref<2xi1>
}

// Must not fire: neither member implies the other.
// UNCHANGED: @kept
tir.prim_func @kept(%A: memref<1xi1>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %x = arith.cmpi slt, %n, %c5 : index
  %y = arith.cmpi slt, %n, %m : index
  %a = arith.andi %x, %y : i1
  memref.store %a, %A[%c0] : memref<1xi1>
}

// CHECK-LABEL: @symbolic(
tir.prim_func @symbolic(%A: memref<1xi1>, %n: index, %m: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c5 = arith.constant 5 : index
  // CHECK-NEXT: %m5 = arith.addi %m, %c5 : index
  // CHECK-NEXT: %x = arith.cmpi slt, %n, %m5 : index
  // CHECK-NEXT: memref.store %x, %A[%c0] : memref<1xi1>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c10 = arith.constant 10 : index
  %m5 = arith.addi %m, %c5 : index
  %m10 = arith.addi %m, %c10 : index
  %x = arith.cmpi slt, %n, %m5 : index
  %y = arith.cmpi slt, %n, %m10 : index
  %a = arith.andi %x, %y : i1
  memref.store %a, %A[%c0] : memref<1xi1>
}
