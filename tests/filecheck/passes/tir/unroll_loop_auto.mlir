// RUN: passline-opt %s -p 'tir-unroll-loop{auto-max-step=16}' | filecheck %s --check-prefix=STEP16
// RUN: passline-opt %s -p 'tir-unroll-loop{auto-max-step=15}' | filecheck %s --check-prefix=STEP15
// RUN: passline-opt %s -p 'tir-unroll-loop{auto-max-step=16 explicit-unroll=false}' | filecheck %s --check-prefix=MARK
// RUN: passline-opt %s -p 'tir-unroll-loop{auto-max-extent=1 explicit-unroll=false}' | filecheck %s --check-prefix=UNIT

// 2 * 8 steps.
// STEP16-LABEL: @steps(
// STEP16-NOT: tir.for
// STEP16-COUNT-16: memref.store
// STEP16-NOT: memref.store
// STEP15-LABEL: @steps(
// STEP15: tir.for %i =
// STEP15-COUNT-8: memref.store
// STEP15-NOT: memref.store
// MARK-LABEL: @steps(
// MARK: tir.for unrolled %i =
// MARK-NEXT: tir.for unrolled %j =
// UNIT-LABEL: @steps(
// UNIT: tir.for %i =
// UNIT-NEXT: tir.for unrolled %j =
tir.prim_func @steps(%a : memref<16xi32>, %n : index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  tir.for %i = %n extent %c2 {
    tir.for unrolled %j = %c0 extent %c8 {
      %x = memref.load %a[%i] : memref<16xi32>
      %y = arith.addi %x, %one : i32
      %j1 = arith.addi %j, %c1 : index
      memref.store %y, %a[%j1] : memref<16xi32>
    }
  }
}

// A loop of one iteration is unrolled even without explicit unrolling; the loop in it stays.
// STEP15-LABEL: @unit(
// UNIT-LABEL: @unit(
// UNIT-NOT: tir.for
// UNIT: memref.store
// UNIT-NEXT: tir.for %j =
// STEP16-LABEL: @unit(
// STEP16-NOT: tir.for
// STEP16-COUNT-11: memref.store
// MARK-LABEL: @unit(
// MARK: tir.for unrolled %i =
// MARK: memref.store
// MARK: tir.for unrolled %j =
tir.prim_func @unit(%a : memref<16xi32>, %x : i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  tir.for %i = %c0 extent %c1 {
    %i2 = arith.muli %i, %c2 : index
    memref.store %x, %a[%i2] : memref<16xi32>
    tir.for %j = %c0 extent %c10 {
      memref.store %x, %a[%j] : memref<16xi32>
    }
  }
}

// Neighboring loops are considered one by one, and their steps are added.
// STEP16-LABEL: @siblings(
// STEP16: tir.for %i =
// STEP16-COUNT-18: memref.store
// STEP16-NOT: memref.store
// STEP15-LABEL: @siblings(
// STEP15: tir.for %i =
// STEP15-COUNT-18: memref.store
// MARK-LABEL: @siblings(
// MARK: tir.for %i =
// MARK-NEXT: tir.for unrolled %j =
// MARK: tir.for unrolled %k =
tir.prim_func @siblings(%a : memref<16xi32>, %x : i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  tir.for %i = %c0 extent %c1 {
    tir.for %j = %c0 extent %c9 {
      memref.store %x, %a[%j] : memref<16xi32>
    }
    tir.for %k = %c0 extent %c9 {
      memref.store %x, %a[%k] : memref<16xi32>
    }
  }
}

// Must not fire: a dynamic extent, and a loop around a loop that is not unrolled.
// STEP16-LABEL: @symbolic(
// STEP16: tir.for %i = %c0 extent %c1 {
// STEP16-NEXT: tir.for %j = %c0 extent %n {
// MARK-LABEL: @symbolic(
// MARK: tir.for %i =
// MARK-NEXT: tir.for %j =
// UNIT-LABEL: @symbolic(
// UNIT-NOT: %i =
// UNIT: tir.for %j =
tir.prim_func @symbolic(%a : memref<16xi32>, %x : i32, %n : index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tir.for %i = %c0 extent %c1 {
    tir.for %j = %c0 extent %n {
      memref.store %x, %a[%j] : memref<16xi32>
    }
  }
}

// Must not fire: parallel, vectorized and thread-bound loops (TVM removes those of extent 1).
// UNCHANGED: @kinds
tir.prim_func @kinds(%a : memref<16xi32>, %x : i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tir.for parallel %i = %c0 extent %c1 {
    memref.store %x, %a[%i] : memref<16xi32>
  }
  tir.for vectorized %j = %c0 extent %c1 {
    memref.store %x, %a[%j] : memref<16xi32>
  }
  tir.for thread_binding "threadIdx.x" %k = %c0 extent %c1 {
    memref.store %x, %a[%k] : memref<16xi32>
  }
}

// A loop in an unrolled one that has no iterations is removed with it, and does not count for the
// loop around them.
// STEP16-LABEL: @no_iterations(
// STEP16-NOT: tir.for
// STEP16-COUNT-4: memref.store
// MARK-LABEL: @no_iterations(
// MARK: tir.for %k =
// MARK-NEXT: tir.for unrolled %i =
tir.prim_func @no_iterations(%a : memref<16xi32>, %x : i32, %n : index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %k = %c0 extent %c4 {
    tir.for unrolled %i = %c0 extent %c0 {
      tir.for %j = %c0 extent %n {
        memref.store %x, %a[%j] : memref<16xi32>
      }
    }
    memref.store %x, %a[%k] : memref<16xi32>
  }
}
