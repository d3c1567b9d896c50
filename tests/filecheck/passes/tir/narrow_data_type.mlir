// RUN: passline-opt %s -p tir-narrow-data-type | filecheck %s
// RUN: passline-opt %s -p tir-narrow-data-type{target-bits=16} | filecheck %s --check-prefix=SHORT

// A condition and an index of i64 become i32; loop variables are of type index.
// CHECK-LABEL: @condition(
// CHECK: arith.constant 65 : i32
// CHECK-NEXT: arith.constant 128 : i32
// CHECK: arith.index_cast %i : index to i32
// CHECK: arith.index_cast %j : index to i32
// CHECK-NEXT: arith.muli {{.*}} : i32
// CHECK-NEXT: arith.addi {{.*}} : i32
// CHECK-NEXT: arith.cmpi slt, {{.*}} : i32
// CHECK-NEXT: scf.if
// CHECK-NEXT: arith.index_cast {{.*}} : i32 to index

// SHORT-LABEL: @condition(
// SHORT: arith.cmpi slt, {{.*}} : i16
tir.prim_func @condition(%a: memref<128xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c65 = arith.constant 65 : index
  %w65 = arith.constant 65 : i64
  %w128 = arith.constant 128 : i64
  tir.for %i = %c0 extent %c2 {
    %0 = arith.index_cast %i : index to i64
    tir.for %j = %c0 extent %c65 {
      %1 = arith.index_cast %j : index to i64
      %2 = arith.muli %0, %w65 : i64
      %3 = arith.addi %2, %1 : i64
      %4 = arith.cmpi slt, %3, %w128 : i64
      scf.if %4 {
        %5 = arith.index_cast %3 : i64 to index
        memref.store %x, %a[%5] : memref<128xf32>
      }
    }
  }
}

// Shorter integers, quotients, bits, a choice; ends in a shorter integer.
// CHECK-LABEL: @kinds(
// CHECK: [[A:%.*]] = arith.constant 7 : i32
// CHECK-NEXT: [[B:%.*]] = arith.extsi %s : i16 to i32
// CHECK-NEXT: [[C:%.*]] = arith.divsi [[B]], [[A]] : i32
// CHECK-NEXT: [[D:%.*]] = arith.xori [[C]], [[B]] : i32
// CHECK-NEXT: [[E:%.*]] = arith.select %c, [[D]], [[B]] : i32
// CHECK-NEXT: [[F:%.*]] = arith.addi [[E]], %i : i32
// CHECK-NEXT: memref.store [[F]], %a
// CHECK-NEXT: [[G:%.*]] = arith.trunci [[E]] : i32 to i8
// CHECK-NEXT: memref.store [[G]], %b

// SHORT-LABEL: @kinds(
// SHORT: arith.addi {{.*}} : i64
tir.prim_func @kinds(%a: memref<1xi32>, %b: memref<1xi8>, %s: i16, %i: i32, %c: i1) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i64
  %0 = arith.extsi %s : i16 to i64
  %1 = arith.divsi %0, %c7 : i64
  %2 = arith.xori %1, %0 : i64
  %3 = arith.select %c, %2, %0 : i64
  %4 = arith.trunci %3 : i64 to i32
  %5 = arith.addi %4, %i : i32
  memref.store %5, %a[%c0] : memref<1xi32>
  %6 = arith.trunci %3 : i64 to i8
  memref.store %6, %b[%c0] : memref<1xi8>
}

// Must not fire: the product does not fit, though the index is right.
// UNCHANGED: @too_large
tir.prim_func @too_large(%a: memref<4294967296xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %n = arith.constant 65536 : index
  %w = arith.constant 65536 : i64
  tir.for %i = %c0 extent %n {
    %0 = arith.index_cast %i : index to i64
    %1 = arith.muli %0, %w : i64
    %2 = arith.index_cast %1 : i64 to index
    memref.store %x, %a[%2] : memref<4294967296xf32>
  }
}

// Must not fire: the range is not known; the result is needed in all bits; loaded integers.
// UNCHANGED: @wide
tir.prim_func @wide(%a: memref<?xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %w = arith.constant 2 : i64
  tir.for %i = %c0 extent %n {
    %0 = arith.index_cast %i : index to i64
    %1 = arith.muli %0, %w : i64
    %2 = arith.index_cast %1 : i64 to index
    %3 = memref.load %a[%2] : memref<?xi64>
    %4 = arith.addi %3, %w : i64
    %5 = arith.index_cast %4 : i64 to index
    memref.store %4, %a[%5] : memref<?xi64>
  }
  tir.for %i = %c0 extent %c4 {
    %0 = arith.index_cast %i : index to i64
    %1 = arith.muli %0, %w : i64
    memref.store %1, %a[%i] : memref<?xi64>
  }
}

// Must not fire: an unsigned quotient of a negative number.
// UNCHANGED: @unsigned
tir.prim_func @unsigned(%a: memref<1xi8>, %s: i16) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i64
  %0 = arith.extsi %s : i16 to i64
  %1 = arith.remui %0, %c7 : i64
  %2 = arith.trunci %1 : i64 to i8
  memref.store %2, %a[%c0] : memref<1xi8>
}
