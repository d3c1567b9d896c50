// RUN: passline-opt %s -p tir-simplify | filecheck %s

// A store of the value that was loaded from there is removed.
// CHECK-LABEL: @same_value(
tir.prim_func @same_value(%A: memref<1xi32>) {
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %five = arith.constant 5 : i32
  %zero = arith.subi %five, %five : i32
  %v = memref.load %A[%c0] : memref<1xi32>
  memref.store %v, %A[%c0] : memref<1xi32>
  %w = memref.load %A[%c0] : memref<1xi32>
  %sum = arith.addi %w, %zero : i32
  memref.store %sum, %A[%c0] : memref<1xi32>
}

// Must not fire: a write in between may be to that place.
// UNCHANGED: @store_after_write
tir.prim_func @store_after_write(%A: memref<4xi32>, %i: index, %j: index, %x: i32) {
  %v = memref.load %A[%i] : memref<4xi32>
  memref.store %x, %A[%j] : memref<4xi32>
  memref.store %v, %A[%i] : memref<4xi32>
}

// Must not fire: the iteration before may have written that place.
// UNCHANGED: @store_in_loop
tir.prim_func @store_in_loop(%A: memref<4xi32>, %B: memref<4xi32>, %x: i32) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %v = memref.load %A[%c0] : memref<4xi32>
  tir.for %i = %c0 extent %c4 {
    memref.store %v, %A[%c0] : memref<4xi32>
    memref.store %x, %A[%c0] : memref<4xi32>
  }
}

// Must not fire: a condition on the contents of memory may change with a write.
// UNCHANGED: @memory_changes
tir.prim_func @memory_changes(%A: memref<1xi32>, %n: i32) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %v = memref.load %A[%c0] : memref<1xi32>
  %a = arith.cmpi eq, %v, %n : i32
  scf.if %a {
    %w = memref.load %A[%c0] : memref<1xi32>
    %sum = arith.addi %w, %one : i32
    memref.store %sum, %A[%c0] : memref<1xi32>
    %x = memref.load %A[%c0] : memref<1xi32>
    %b = arith.cmpi eq, %x, %n : i32
    scf.if %b {
      memref.store %n, %A[%c0] : memref<1xi32>
    }
  }
}

// A loaded value stays the same after a write.
// CHECK-LABEL: @loaded_value(
tir.prim_func @loaded_value(%A: memref<1xi32>, %n: i32, %x: i32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %v = memref.load %A[%c0] : memref<1xi32>
  // CHECK-NEXT: %a = arith.cmpi eq, %v, %n : i32
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %x, %A[%c0] : memref<1xi32>
  // CHECK-NEXT: memref.store %n, %A[%c0] : memref<1xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %v = memref.load %A[%c0] : memref<1xi32>
  %a = arith.cmpi eq, %v, %n : i32
  scf.if %a {
    memref.store %x, %A[%c0] : memref<1xi32>
    %b = arith.cmpi eq, %v, %n : i32
    scf.if %b {
      memref.store %n, %A[%c0] : memref<1xi32>
    }
  }
}

// Must not fire: a write in a branch may have changed the value.
// UNCHANGED: @conditional_write
tir.prim_func @conditional_write(%A: memref<4xi32>, %B: memref<4xi32>, %x: i32, %c: i1) {
  %c0 = arith.constant 0 : index
  %v = memref.load %A[%c0] : memref<4xi32>
  scf.if %c {
    memref.store %x, %A[%c0] : memref<4xi32>
  }
  memref.store %v, %A[%c0] : memref<4xi32>
}

// A value that is carried from iteration to iteration in memory.
// UNCHANGED: @carried
tir.prim_func @carried(%A: memref<4xi32>, %B: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  memref.store %zero, %B[%c0] : memref<1xi32>
  tir.for %i = %c0 extent %c4 {
    %b = memref.load %B[%c0] : memref<1xi32>
    %c = arith.cmpi eq, %b, %zero : i32
    scf.if %c {
      memref.store %b, %A[%i] : memref<4xi32>
    }
    %a = memref.load %A[%i] : memref<4xi32>
    %sum = arith.addi %a, %b : i32
    memref.store %sum, %B[%c0] : memref<1xi32>
  }
}
