// RUN: passline-opt %s -p 'tir-unroll-loop{explicit-unroll=false}' | filecheck %s --check-prefix=MARK
// RUN: passline-opt %s -p tir-unroll-loop | filecheck %s

// The first of two nests has the pragma, which is removed.
// MARK-LABEL: @one_of_two(
// MARK-NOT: pragma
// MARK: tir.for unrolled %i =
// MARK-NEXT: tir.for unrolled %j =
// MARK: tir.for %k =
// MARK-NEXT: tir.for unrolled %l =
// CHECK-LABEL: @one_of_two(
// CHECK-NOT: tir.for
// CHECK-COUNT-16: memref.store
// CHECK: tir.for %k =
// CHECK-NOT: pragma
tir.prim_func @one_of_two(%a : memref<16xi32>, %x : i32, %n : index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %n extent %c2 attributes {pragma_auto_unroll_max_step = 16 : i64} {
    tir.for unrolled %j = %c0 extent %c8 {
      memref.store %x, %a[%j] : memref<16xi32>
    }
  }
  tir.for %k = %n extent %c2 {
    tir.for unrolled %l = %c0 extent %c8 {
      memref.store %x, %a[%l] : memref<16xi32>
    }
  }
}

// A pragma of a function holds for all operations in it, except where another overrides it.
// MARK-LABEL: @function(
// MARK-SAME: {
// MARK-NOT: tir.for
// MARK: memref.store
// MARK: memref.store
// MARK: tir.for %j =
// CHECK-LABEL: @function(
// CHECK-NOT: pragma
// CHECK-COUNT-2: memref.store
// CHECK: tir.for %j =
tir.prim_func @function(%a : memref<16xi32>, %x : i32) attributes {pragma_auto_unroll_max_step = 16 : i64, pragma_unroll_explicit = true} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tir.for %i = %c0 extent %c2 {
    memref.store %x, %a[%i] : memref<16xi32>
  }
  tir.for %j = %c0 extent %c2 attributes {pragma_auto_unroll_max_step = 1 : i64} {
    memref.store %x, %a[%j] : memref<16xi32>
  }
}
