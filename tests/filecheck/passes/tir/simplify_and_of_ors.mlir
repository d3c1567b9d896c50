// RUN: passline-opt %s -p 'tir-simplify{convert-boolean-to-and-of-ors=true}' | filecheck %s

// CHECK-LABEL: @distributes(
tir.prim_func @distributes(%A: memref<1xi1>, %a: i1, %b: i1, %c: i1) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %0 = arith.ori %a, %b : i1
  // CHECK-NEXT: %1 = arith.ori %a, %c : i1
  // CHECK-NEXT: %or = arith.andi %0, %1 : i1
  // CHECK-NEXT: memref.store %or, %A[%c0] : memref<1xi1>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %both = arith.andi %b, %c : i1
  %or = arith.ori %a, %both : i1
  memref.store %or, %A[%c0] : memref<1xi1>
}

// Disjunctions that others imply are removed.
// CHECK-LABEL: @merges(
tir.prim_func @merges(%A: memref<1xi1>, %a: i1, %b: i1, %c: i1, %d: i1) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %0 = arith.ori %a, %b : i1
  // CHECK-NEXT: %1 = arith.ori %b, %c : i1
  // CHECK-NEXT: %2 = arith.ori %b, %d : i1
  // CHECK-NEXT: %3 = arith.andi %0, %1 : i1
  // CHECK-NEXT: %and = arith.andi %3, %2 : i1
  // CHECK-NEXT: memref.store %and, %A[%c0] : memref<1xi1>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %ab = arith.ori %a, %b : i1
  %ac = arith.andi %a, %c : i1
  %acd = arith.andi %ac, %d : i1
  %or = arith.ori %b, %acd : i1
  %and = arith.andi %ab, %or : i1
  memref.store %and, %A[%c0] : memref<1xi1>
}

// CHECK-LABEL: @implied(
tir.prim_func @implied(%A: memref<1xi1>, %x: i1, %k: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c20 = arith.constant 20 : index
  // CHECK-NEXT: %is = arith.cmpi eq, %k, %c20 : index
  // CHECK-NEXT: %and = arith.ori %x, %is : i1
  // CHECK-NEXT: memref.store %and, %A[%c0] : memref<1xi1>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c20 = arith.constant 20 : index
  %c30 = arith.constant 30 : index
  %is = arith.cmpi eq, %k, %c20 : index
  %not = arith.cmpi ne, %k, %c30 : index
  %one = arith.ori %x, %is : i1
  %two = arith.ori %not, %x : i1
  %and = arith.andi %one, %two : i1
  memref.store %and, %A[%c0] : memref<1xi1>
}

// Likewise with other members between them.
// CHECK-LABEL: @implied_apart(
tir.prim_func @implied_apart(%A: memref<2xi1>, %i: index, %j: index, %k: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c20 = arith.constant 20 : index
  // CHECK-NEXT: %c30 = arith.constant 30 : index
  // CHECK-NEXT: %k20 = arith.cmpi eq, %k, %c20 : index
  // CHECK-NEXT: %i0 = arith.cmpi eq, %i, %c0 : index
  // CHECK-NEXT: %j0 = arith.cmpi eq, %j, %c0 : index
  // CHECK-NEXT: %0 = arith.ori %i0, %j0 : i1
  // CHECK-NEXT: %three = arith.andi %k20, %0 : i1
  // CHECK-NEXT: memref.store %three, %A[%c0] : memref<2xi1>
  // CHECK-NEXT: %i30 = arith.cmpi ne, %i, %c30 : index
  // CHECK-NEXT: %any = arith.ori %j0, %i30 : i1
  // CHECK-NEXT: memref.store %any, %A[%c1] : memref<2xi1>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %c30 = arith.constant 30 : index
  %k20 = arith.cmpi eq, %k, %c20 : index
  %k30 = arith.cmpi ne, %k, %c30 : index
  %i0 = arith.cmpi eq, %i, %c0 : index
  %j0 = arith.cmpi eq, %j, %c0 : index
  %or = arith.ori %i0, %j0 : i1
  %two = arith.andi %k20, %or : i1
  %three = arith.andi %two, %k30 : i1
  memref.store %three, %A[%c0] : memref<2xi1>
  %i20 = arith.cmpi eq, %i, %c20 : index
  %i30 = arith.cmpi ne, %i, %c30 : index
  %first = arith.ori %i20, %j0 : i1
  %any = arith.ori %first, %i30 : i1
  memref.store %any, %A[%c1] : memref<2xi1>
}

// A conjunction of disjunctions stays as it is.
// UNCHANGED: @kept
tir.prim_func @kept(%A: memref<1xi1>, %a: i1, %b: i1, %c: i1) {
  %c0 = arith.constant 0 : index
  %or = arith.ori %a, %b : i1
  %and = arith.andi %or, %c : i1
  memref.store %and, %A[%c0] : memref<1xi1>
}
