// RUN: passline-opt %s -p tir-simplify | filecheck %s

// CHECK-LABEL: @ceil_log2(
tir.prim_func @ceil_log2(%A: memref<1xf32>) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %up = arith.constant 4.000000e+00 : f32
  // CHECK-NEXT: memref.store %up, %A[%c0] : memref<1xf32>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %x = arith.constant 14.0 : f32
  %log = math.log2 %x : f32
  %up = math.ceil %log : f32
  memref.store %up, %A[%c0] : memref<1xf32>
}

// CHECK-LABEL: @ceil_log2_range(
tir.prim_func @ceil_log2_range(%A: memref<16xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c16 = arith.constant 16 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c16 {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<16xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c1025 = arith.constant 1025 : index
  %c11 = arith.constant 11 : i32
  tir.for %i = %c0 extent %c16 {
    %n = arith.addi %i, %c1025 : index
    %m = arith.index_cast %n : index to i32
    %f = arith.sitofp %m : i32 to f32
    %log = math.log2 %f : f32
    %up = math.ceil %log : f32
    %x = arith.fptosi %up : f32 to i32
    %c = arith.cmpi eq, %x, %c11 : i32
    scf.if %c {
      memref.store %v, %A[%i] : memref<16xf32>
    }
  }
}

// CHECK-LABEL: @shifts(
tir.prim_func @shifts(%A: memref<16xi1>) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c16 = arith.constant 16 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c16 {
  // CHECK-NEXT: %a = arith.constant true
  // CHECK-NEXT: memref.store %a, %A[%i] : memref<16xi1>
  // CHECK-NEXT: memref.store %a, %A[%i] : memref<16xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1 : i32
  %thirtyone = arith.constant 31 : i32
  %most = arith.constant 1015808 : i32
  tir.for %i = %c0 extent %c16 {
    %by = arith.index_cast %i : index to i32
    %x = arith.shli %one, %by : i32
    %a = arith.cmpi sge, %x, %one : i32
    memref.store %a, %A[%i] : memref<16xi1>
    %y = arith.shli %thirtyone, %by : i32
    %b = arith.cmpi sle, %y, %most : i32
    memref.store %b, %A[%i] : memref<16xi1>
  }
}

// A negative integer that is shifted stays in range: -3 to 0 becomes -48 to 0.
// CHECK-LABEL: @shift_of_a_negative(
tir.prim_func @shift_of_a_negative(%A: memref<16xi1>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %least = arith.constant -64 : i32
  // CHECK: tir.for
  tir.for %i = %c0 extent %c4 {
    %by = arith.index_cast %i : index to i32
    %minus = arith.subi %zero, %by : i32
    %x = arith.shli %minus, %four : i32
    // CHECK-NEXT: [[TRUE:%.*]] = arith.constant true
    // CHECK-NEXT: memref.store [[TRUE]],
    %a = arith.cmpi sle, %least, %x : i32
    memref.store %a, %A[%i] : memref<16xi1>
  }
}

// Must not fire: a shift of a negative integer that may overflow, and shifts by negative ones.
// UNCHANGED: @shifts_of_negatives
tir.prim_func @shifts_of_negatives(%A: memref<16xi1>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %far = arith.constant 30 : i32
  %sixteen = arith.constant 16 : i32
  tir.for %i = %c0 extent %c4 {
    %by = arith.index_cast %i : index to i32
    %minus = arith.subi %zero, %by : i32
    %x = arith.shli %minus, %far : i32
    %a = arith.cmpi sle, %x, %zero : i32
    memref.store %a, %A[%i] : memref<16xi1>
    %y = arith.shli %sixteen, %minus : i32
    %b = arith.cmpi sle, %y, %sixteen : i32
    memref.store %b, %A[%i] : memref<16xi1>
  }
}

// Bits of integers that may be negative.
// CHECK-LABEL: @unsigned_bits(
tir.prim_func @unsigned_bits(%A: memref<2xi1>, %x: i8, %y: i32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: [[TRUE:%.*]] = arith.constant true
  // CHECK-NEXT: memref.store [[TRUE]], %A[%c0]
  // CHECK-NEXT: memref.store [[TRUE]], %A[%c1]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %by = arith.constant 28 : i32
  %high = arith.constant 15 : i32
  %most = arith.constant 255 : i32
  %0 = arith.extui %x : i8 to i32
  %1 = arith.cmpi sle, %0, %most : i32
  memref.store %1, %A[%c0] : memref<2xi1>
  %2 = arith.shrui %y, %by : i32
  %3 = arith.cmpi sle, %2, %high : i32
  memref.store %3, %A[%c1] : memref<2xi1>
}

// `i < j` implies `i < j + 1`: two constraints on the same difference.
// CHECK-LABEL: @difference(
tir.prim_func @difference(%A: memref<1xi1>, %i: index, %j: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %a = arith.cmpi slt, %i, %j : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: %b = arith.constant true
  // CHECK-NEXT: memref.store %b, %A[%c0] : memref<1xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.cmpi slt, %i, %j : index
  scf.if %a {
    %k = arith.addi %j, %c1 : index
    %b = arith.cmpi slt, %i, %k : index
    memref.store %b, %A[%c0] : memref<1xi1>
  }
}

// CHECK-LABEL: @even(
tir.prim_func @even(%A: memref<1xi1>, %i: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c2 = arith.constant 2 : index
  // CHECK-NEXT: %minus = arith.subi %c0, %i : index
  // CHECK-NEXT: %half = arith.floordivsi %minus, %c2 : index
  // CHECK-NEXT: %twice = arith.muli %half, %c2 : index
  // CHECK-NEXT: %odd = arith.subi %minus, %twice : index
  // CHECK-NEXT: %a = arith.cmpi eq, %odd, %c0 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: %b = arith.constant true
  // CHECK-NEXT: memref.store %b, %A[%c0] : memref<1xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %minus = arith.subi %c0, %i : index
  %half = arith.floordivsi %minus, %c2 : index
  %twice = arith.muli %half, %c2 : index
  %odd = arith.subi %minus, %twice : index
  %a = arith.cmpi eq, %odd, %c0 : index
  scf.if %a {
    %half2 = arith.floordivsi %i, %c2 : index
    %twice2 = arith.muli %half2, %c2 : index
    %odd2 = arith.subi %i, %twice2 : index
    %b = arith.cmpi eq, %odd2, %c0 : index
    memref.store %b, %A[%c0] : memref<1xi1>
  }
}

// A comparison gets the predicate that holds for the fewest integers.
// CHECK-LABEL: @restrictive(
tir.prim_func @restrictive(%A: memref<4xi1>, %i: index, %j: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c2 = arith.constant 2 : index
  // CHECK-NEXT: %c3 = arith.constant 3 : index
  // CHECK-NEXT: %a = arith.cmpi sle, %i, %c0 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: %b = arith.cmpi eq, %i, %c0 : index
  // CHECK-NEXT: memref.store %b, %A[%c0] : memref<4xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: %c = arith.cmpi sle, %i, %j : index
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: %d = arith.cmpi slt, %i, %j : index
  // CHECK-NEXT: memref.store %d, %A[%c1] : memref<4xi1>
  // CHECK-NEXT: %e = arith.cmpi eq, %j, %i : index
  // CHECK-NEXT: memref.store %e, %A[%c2] : memref<4xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: %f = arith.cmpi ne, %i, %j : index
  // CHECK-NEXT: scf.if %f {
  // CHECK-NEXT: %g = arith.cmpi slt, %i, %j : index
  // CHECK-NEXT: memref.store %g, %A[%c3] : memref<4xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a = arith.cmpi sle, %i, %c0 : index
  scf.if %a {
    %b = arith.cmpi sle, %c0, %i : index
    memref.store %b, %A[%c0] : memref<4xi1>
  }
  %c = arith.cmpi sle, %i, %j : index
  scf.if %c {
    %d = arith.cmpi ne, %i, %j : index
    memref.store %d, %A[%c1] : memref<4xi1>
    %e = arith.cmpi sle, %j, %i : index
    memref.store %e, %A[%c2] : memref<4xi1>
  }
  %f = arith.cmpi ne, %i, %j : index
  scf.if %f {
    %g = arith.cmpi sle, %i, %j : index
    memref.store %g, %A[%c3] : memref<4xi1>
  }
}
