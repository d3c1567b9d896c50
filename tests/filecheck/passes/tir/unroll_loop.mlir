// RUN: passline-opt %s -p tir-unroll-loop | filecheck %s

// An unrolled loop: the variable is min + k. Constants are folded and shared.
// CHECK-LABEL: @explicit(
tir.prim_func @explicit(%a : memref<8x8xf32>, %n : index) {
  // CHECK-DAG: [[C2:%.*]] = arith.constant 2 : index
  // CHECK-DAG: [[C3:%.*]] = arith.constant 3 : index
  // CHECK-DAG: [[F:%.*]] = arith.constant 1.000000e+00 : f32
  // CHECK-NOT: tir.for
  // CHECK: memref.store [[F]], %a[[[C2]], %n]
  // CHECK-NEXT: memref.store [[F]], %a[[[C3]], %n]
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tir.for unrolled %i = %c0 extent %c2 {
    %one = arith.constant 1.0 : f32
    %c2_0 = arith.constant 2 : index
    %j = arith.addi %i, %c2_0 : index
    memref.store %one, %a[%j, %n] : memref<8x8xf32>
  }
}

// A min that is not a constant; nested loops are unrolled from the inside out.
// CHECK-LABEL: @nested(
tir.prim_func @nested(%a : memref<8x8xf32>, %n : index, %x : f32) {
  // CHECK-DAG: [[C1:%.*]] = arith.constant 1 : index
  // CHECK-DAG: [[C0:%.*]] = arith.constant 0 : index
  // CHECK: memref.store %x, %a[%n, [[C0]]]
  // CHECK-NEXT: memref.store %x, %a[%n, [[C1]]]
  // CHECK-NEXT: [[I:%.*]] = arith.addi %n, [[C1]]
  // CHECK-NEXT: memref.store %x, %a[[[I]], [[C0]]]
  // CHECK-NEXT: memref.store %x, %a[[[I]], [[C1]]]
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tir.for unrolled %i = %n extent %c2 {
    tir.for unrolled %j = %c0 extent %c2 {
      memref.store %x, %a[%i, %j] : memref<8x8xf32>
    }
  }
}

// Indices are folded in inner loops and branches too: products, quotients and remainders.
// CHECK-LABEL: @inside(
tir.prim_func @inside(%a : memref<8x8xf32>, %x : f32, %n : index, %c : i1) {
  // CHECK-DAG: [[C5:%.*]] = arith.constant 5 : index
  // CHECK-DAG: [[C2:%.*]] = arith.constant 2 : index
  // CHECK-DAG: [[C1:%.*]] = arith.constant 1 : index
  // CHECK-DAG: [[C0:%.*]] = arith.constant 0 : index
  // CHECK: tir.for %k = [[C0]] extent %n {
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: memref.store %x, %a[[[C2]], [[C1]]]
  // CHECK: memref.store %x, %a[[[C2]], %k]
  // CHECK: tir.for [[I:%.*]] = [[C0]] extent %n {
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: memref.store %x, %a[[[C2]], [[C2]]]
  // CHECK: [[K:%.*]] = arith.addi [[I]], [[C1]]
  // CHECK-NEXT: memref.store %x, %a[[[C2]], [[K]]]
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c2 = arith.constant 2 : index
  tir.for unrolled %i = %c5 extent %c2 {
    tir.for %k = %c0 extent %n {
      %c3 = arith.constant 3 : index
      %q = arith.floordivsi %i, %c2 : index
      %q1 = arith.minsi %q, %c2 : index
      %r = arith.remsi %i, %c5 : index
      %m = arith.divsi %i, %c3 : index
      scf.if %c {
        %r1 = arith.subi %i, %c5 : index
        %c1 = arith.constant 1 : index
        %r2 = arith.addi %r1, %c1 : index
        memref.store %x, %a[%q1, %r2] : memref<8x8xf32>
      }
      %k1 = arith.addi %k, %r : index
      memref.store %x, %a[%q1, %k1] : memref<8x8xf32>
    }
  }
  memref.store %x, %a[%c5, %c2] : memref<8x8xf32>
}

// An extent of 0 or less leaves nothing.
// CHECK-LABEL: @empty(
tir.prim_func @empty(%a : memref<8xf32>, %x : f32) {
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c-1 = arith.constant -1 : index
  tir.for unrolled %i = %c0 extent %c0 {
    memref.store %x, %a[%i] : memref<8xf32>
  }
  tir.for unrolled %i = %c0 extent %c-1 {
    memref.store %x, %a[%i] : memref<8xf32>
  }
}

// Each copy has its own allocation.
// CHECK-LABEL: @allocation(
tir.prim_func @allocation(%a : memref<2xf32>, %x : f32) {
  // CHECK: [[B:%.*]] = memref.alloc() : memref<1xf32>
  // CHECK-NEXT: memref.store %x, [[B]]
  // CHECK-NEXT: [[L:%.*]] = memref.load [[B]]
  // CHECK-NEXT: memref.store [[L]], %a
  // CHECK-NEXT: [[B1:%.*]] = memref.alloc() : memref<1xf32>
  // CHECK-NEXT: memref.store %x, [[B1]]
  // CHECK-NEXT: [[L1:%.*]] = memref.load [[B1]]
  // CHECK-NEXT: memref.store [[L1]], %a
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tir.for unrolled %i = %c0 extent %c2 {
    %buf = memref.alloc() : memref<1xf32>
    memref.store %x, %buf[%c0] : memref<1xf32>
    %y = memref.load %buf[%c0] : memref<1xf32>
    memref.store %y, %a[%i] : memref<2xf32>
  }
}

// Must not fire: other kinds of loops.
// UNCHANGED: @kinds
tir.prim_func @kinds(%a : memref<8xf32>, %x : f32, %n : index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %unused = arith.constant 7 : index
  tir.for %i = %c0 extent %n {
    memref.store %x, %a[%i] : memref<8xf32>
  }
  tir.for %j = %c0 extent %c1 {
    memref.store %x, %a[%j] : memref<8xf32>
  }
  tir.for parallel %k = %c0 extent %c1 {
    memref.store %x, %a[%k] : memref<8xf32>
  }
  tir.for vectorized %l = %c0 extent %c1 {
    memref.store %x, %a[%l] : memref<8xf32>
  }
  tir.for thread_binding "threadIdx.x" %m = %c0 extent %c1 {
    memref.store %x, %a[%m] : memref<8xf32>
  }
}
