// RUN: passline-opt %s -p tir-simplify --split-input-file | filecheck %s

// An extent that is a constant further up.
// CHECK-LABEL: @let_extent(
tir.prim_func @let_extent(%A: memref<10xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %n = arith.constant 10 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %n {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<10xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  %n = arith.constant 10 : index
  tir.for %i = %c0 extent %n {
    %c = arith.cmpi slt, %i, %c12 : index
    scf.if %c {
      memref.store %v, %A[%i] : memref<10xf32>
    }
  }
}

// Thread extents are ranges too.
// CHECK-LABEL: @threads(
tir.prim_func @threads(%A: memref<10xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c10 = arith.constant 10 : index
  // CHECK-NEXT: tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c10 {
  // CHECK-NEXT: tir.for thread_binding "threadIdx.y" %ty = %c0 extent %c1 {
  // CHECK-NEXT: memref.store %v, %A[%tx] : memref<10xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c12 = arith.constant 12 : index
  tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c10 {
    tir.for thread_binding "threadIdx.y" %ty = %c0 extent %c1 {
      %s = arith.addi %tx, %ty : index
      %c = arith.cmpi slt, %s, %c12 : index
      scf.if %c {
        memref.store %v, %A[%s] : memref<10xf32>
      }
    }
  }
}

// In a loop that runs, the extent is positive.
// CHECK-LABEL: @extent_is_positive(
tir.prim_func @extent_is_positive(%A: memref<8xf32>, %v: f32, %n: index, %m: index) {
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: %q = arith.floordivsi %n, %c4 : index
  // CHECK-NEXT: %e = arith.subi %q, %m : index
  // CHECK-NEXT: tir.for %i = %m extent %e {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %q = arith.floordivsi %n, %c4 : index
  %e = arith.subi %q, %m : index
  tir.for %i = %m extent %e {
    %again = arith.floordivsi %n, %c4 : index
    %left = arith.subi %again, %m : index
    %c = arith.cmpi sgt, %left, %c0 : index
    scf.if %c {
      memref.store %v, %A[%i] : memref<8xf32>
    }
  }
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// Sizes of buffers are not negative.
// CHECK-LABEL: @sizes(
tir.prim_func @sizes(%A: memref<?xf32>, %v: f32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c32 = arith.constant 32 : index
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<?xf32>
  // CHECK-NEXT: %size = arith.muli %n, %c32 : index
  // CHECK-NEXT: %less = arith.subi %size, %c1 : index
  // CHECK-NEXT: %B = memref.alloc(%less) : memref<?xf32>
  // CHECK-NEXT: memref.store %v, %B[%c1] : memref<?xf32>
  // CHECK-NEXT: %x = memref.load %B[%c1] : memref<?xf32>
  // CHECK-NEXT: memref.store %x, %A[%c1] : memref<?xf32>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.dim %A, %c0 : memref<?xf32>
  %i = arith.minsi %c0, %m : index
  memref.store %v, %A[%i] : memref<?xf32>
  %size = arith.muli %n, %c32 : index
  %less = arith.subi %size, %c1 : index
  %B = memref.alloc(%less) : memref<?xf32>
  %j = arith.minsi %c1, %n : index
  memref.store %v, %B[%j] : memref<?xf32>
  %x = memref.load %B[%j] : memref<?xf32>
  memref.store %x, %A[%j] : memref<?xf32>
}

// -----

// A loop without iterations, and one with a single iteration.
// CHECK-LABEL: @trips(
tir.prim_func @trips(%A: memref<4xf32>, %v: f32, %n: index) {
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c2 = arith.constant 2 : index
  // CHECK-NEXT: tir.for %i = %c2 extent %c1 {
  // CHECK-NEXT: memref.store %v, %A[%c2] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tir.for %i = %n extent %c0 {
    memref.store %v, %A[%i] : memref<4xf32>
  }
  tir.for %i = %c2 extent %c1 {
    memref.store %v, %A[%i] : memref<4xf32>
  }
}

// Integers that may overflow are not rearranged.
// CHECK-LABEL: @wrapping(
tir.prim_func @wrapping(%A: memref<2xi1>, %x: i8) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %one = arith.constant 1 : i8
  // CHECK-NEXT: %y = arith.addi %x, %one : i8
  // CHECK-NEXT: %a = arith.cmpi slt, %x, %y : i8
  // CHECK-NEXT: memref.store %a, %A[%c0] : memref<2xi1>
  // CHECK-NEXT: %b = arith.constant true
  // CHECK-NEXT: memref.store %b, %A[%c1] : memref<2xi1>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i8
  %most = arith.constant 127 : i8
  %y = arith.addi %x, %one : i8
  %a = arith.cmpi slt, %x, %y : i8
  memref.store %a, %A[%c0] : memref<2xi1>
  %z = arith.addi %x, %one overflow<nsw> : i8
  %b = arith.cmpi slt, %x, %z : i8
  memref.store %b, %A[%c1] : memref<2xi1>
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// A fused index, and one with tiles.
// CHECK-LABEL: @fused(
tir.prim_func @fused(%A: memref<?xf32>, %B: memref<?x?x?xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c2 = arith.constant 2 : index
  // CHECK-NEXT: %c32 = arith.constant 32 : index
  // CHECK-NEXT: %n = memref.dim %B, %c2 : memref<?x?x?xf32>
  // CHECK-NEXT: %square = arith.muli %n, %n : index
  // CHECK-NEXT: %extent = arith.muli %square, %c32 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %extent {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<?xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %B, %c2 : memref<?x?x?xf32>
  %square = arith.muli %n, %n : index
  %extent = arith.muli %square, %c32 : index
  tir.for %i = %c0 extent %extent {
    %a = arith.divsi %i, %square : index
    %r = arith.remsi %i, %square : index
    %b = arith.divsi %r, %n : index
    %c = arith.remsi %i, %n : index
    %x = arith.muli %a, %square : index
    %y = arith.muli %b, %n : index
    %xy = arith.addi %x, %y : index
    %flat = arith.addi %xy, %c : index
    memref.store %v, %A[%flat] : memref<?xf32>
  }
}

// -----

// CHECK-LABEL: @tiles(
tir.prim_func @tiles(%A: memref<16x4xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: %c16 = arith.constant 16 : index
  // CHECK-NEXT: tir.for %xo = %c0 extent %c16 {
  // CHECK-NEXT: tir.for %xi = %c0 extent %c4 {
  // CHECK-NEXT: memref.store %v, %A[%xo, %xi] : memref<16x4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tir.for %xo = %c0 extent %c16 {
    tir.for %xi = %c0 extent %c4 {
      %scaled = arith.muli %xo, %c4 : index
      %i = arith.addi %scaled, %xi : index
      %o = arith.floordivsi %i, %c4 : index
      %r = arith.remsi %i, %c4 : index
      memref.store %v, %A[%o, %r] : memref<16x4xf32>
    }
  }
}
