// RUN: passline-opt %s -p tir-remove-assume | filecheck %s

// The loop that only assumes goes; what computes other results stays.
// CHECK-LABEL: @pad(
// CHECK-NOT: tir.assume
// CHECK: tir.for %i = %c0 extent %c14
// CHECK-NEXT: [[V:%.*]] = memref.load %a[%i]
// CHECK-NEXT: memref.store [[V]], %y[%i]
// CHECK-LABEL: @none(
tir.prim_func @pad(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c14 {
    %0 = memref.load %a[%i] : memref<16xi32>
    %1 = arith.cmpi eq, %0, %zero : i32
    tir.assume %1
    memref.store %0, %y[%i] : memref<16xi32>
  }
}

// Without an assumption, nothing is removed.
// UNCHANGED: @none
tir.prim_func @none(%n: index) {
  tir.for %i = %n extent %n {
  }
}
