// RUN: passline-opt %s -p tir-common-subexpr-elim --allow-unregistered-dialect | filecheck %s
// RUN: passline-opt %s -p 'tir-common-subexpr-elim{identify-equiv-terms=true}' --allow-unregistered-dialect | filecheck %s --check-prefix=EQUIV
// RUN: passline-opt %s -p 'tir-common-subexpr-elim{enable-cse-tir=false}' --allow-unregistered-dialect | filecheck %s --check-prefix=OFF

// Equal expressions in one block, and expressions of equal operands; views, and loads through them.
// CHECK-LABEL: @block
// CHECK-NEXT: %s = arith.addi %n, %m
// CHECK-NEXT: %p = arith.muli %s, %s
// CHECK-NEXT: %v = memref.expand_shape
// CHECK-NEXT: %x = memref.load %v[%n, %m]
// CHECK-NEXT: %z = arith.mulf %x, %x
// CHECK-NEXT: %e = math.exp %z
// CHECK-NEXT: %f = arith.addf %e, %e
// CHECK-NEXT: memref.store %f, %a[%p]
// CHECK-NEXT: }
// OFF-LABEL: @block
// OFF-COUNT-2: arith.addi
// OFF-COUNT-2: math.exp
tir.prim_func @block(%a: memref<8xf32>, %n: index, %m: index) {
  %s = arith.addi %n, %m : index
  %t = arith.addi %n, %m : index
  %p = arith.muli %s, %t : index
  %v = memref.expand_shape %a [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  %w = memref.expand_shape %a [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  %x = memref.load %v[%n, %m] : memref<2x4xf32>
  %y = memref.load %w[%n, %m] : memref<2x4xf32>
  %z = arith.mulf %x, %y : f32
  %u = arith.mulf %y, %x : f32
  %e = math.exp %z : f32
  %g = math.exp %u : f32
  %f = arith.addf %e, %g : f32
  memref.store %f, %a[%p] : memref<8xf32>
}

// Must not fire: other operands, another order, other attributes or types, zeros of either sign.
// UNCHANGED: @differ
tir.prim_func @differ(%n: i32, %m: i32) {
  %0 = arith.subi %n, %m : i32
  "test.use"(%0) : (i32) -> ()
  %1 = arith.subi %m, %n : i32
  "test.use"(%1) : (i32) -> ()
  %2 = arith.cmpi slt, %n, %m : i32
  "test.use"(%2) : (i1) -> ()
  %3 = arith.cmpi sle, %n, %m : i32
  "test.use"(%3) : (i1) -> ()
  %4 = arith.extsi %n : i32 to i64
  "test.use"(%4) : (i64) -> ()
  %5 = arith.extsi %n : i32 to i48
  "test.use"(%5) : (i48) -> ()
  %6 = arith.constant 0.0 : f32
  %7 = arith.constant -0.0 : f32
  "test.use"(%6, %7) : (f32, f32) -> ()
  %8 = arith.addi %n, %m : i32
  %9 = arith.addi %n, %m overflow<nsw> : i32
  "test.use"(%8, %9) : (i32, i32) -> ()
  "test.use"() : () -> ()
}

// Equal in both branches and after them: computed once before them. Likewise in two loops, and
// with nested expressions.
// CHECK-LABEL: @branches
// CHECK-NEXT: %c0 =
// CHECK-NEXT: %c8 =
// CHECK-NEXT: [[C2:%.*]] = arith.constant 2 : index
// CHECK-NEXT: [[S:%.*]] = arith.addi %n, [[C2]]
// CHECK-NEXT: [[P:%.*]] = arith.muli [[S]], %n
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT:   memref.store %x, %a[[[P]]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   memref.store %x, %b[[[P]]]
// CHECK-NEXT: }
// CHECK-NEXT: memref.store %x, %b[[[S]]]
// CHECK-NEXT: [[D:%.*]] = arith.subi %n, %c8
// CHECK-NEXT: tir.for %i = %c0 extent %c8 {
// CHECK-NEXT:   memref.store %x, %a[[[D]]]
// CHECK-NEXT: }
// CHECK-NEXT: tir.for parallel [[J:%.*]] = %c0 extent %c8 {
// CHECK-NEXT:   memref.store %x, %b[[[D]]]
// CHECK-NEXT: }
// CHECK-NEXT: }
tir.prim_func @branches(%a: memref<8xf32>, %b: memref<8xf32>, %n: index, %x: f32, %c: i1) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.if %c {
    %k = arith.constant 2 : index
    %0 = arith.addi %n, %k : index
    %1 = arith.muli %0, %n : index
    memref.store %x, %a[%1] : memref<8xf32>
  } else {
    %k = arith.constant 2 : index
    %0 = arith.addi %n, %k : index
    %1 = arith.muli %0, %n : index
    memref.store %x, %b[%1] : memref<8xf32>
  }
  %k = arith.constant 2 : index
  %0 = arith.addi %n, %k : index
  memref.store %x, %b[%0] : memref<8xf32>
  tir.for %i = %c0 extent %c8 {
    %1 = arith.subi %n, %c8 : index
    memref.store %x, %a[%1] : memref<8xf32>
  }
  tir.for parallel %i = %c0 extent %c8 {
    %1 = arith.subi %n, %c8 : index
    memref.store %x, %b[%1] : memref<8xf32>
  }
}

// Moved to the innermost block around all: in the loop. An expression in one region only stays.
// CHECK-LABEL: @innermost
// CHECK: tir.for %i = %c0 extent %c8 {
// CHECK-NEXT:   [[S:%.*]] = arith.addi %i, %n
// CHECK-NEXT:   scf.if %c {
// CHECK-NEXT:     [[T:%.*]] = arith.muli %n, %n
// CHECK-NEXT:     "test.use"([[S]], [[T]], [[T]])
// CHECK-NEXT:     scf.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   tir.for %j = %c0 extent %c8 {
// CHECK-NEXT:     "test.use"([[S]])
// CHECK-NEXT:   }
// CHECK-NEXT: }
tir.prim_func @innermost(%n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    scf.if %c {
      %0 = arith.addi %i, %n : index
      %1 = arith.muli %n, %n : index
      %2 = arith.muli %n, %n : index
      "test.use"(%0, %1, %2) : (index, index, index) -> ()
      scf.yield
    }
    tir.for %j = %c0 extent %c8 {
      %0 = arith.addi %i, %n : index
      "test.use"(%0) : (index) -> ()
    }
  }
}

// Must not move: a division by a value that may be 0, a load, a view. A division by a constant may.
// CHECK-LABEL: @not_speculated
// CHECK-NEXT: [[C4:%.*]] = arith.constant 4 : index
// CHECK-NEXT: [[C1:%.*]] = arith.constant -1 : index
// CHECK-NEXT: [[Q:%.*]] = arith.divsi %n, [[C4]]
// CHECK-NEXT: scf.if %c {
// CHECK-COUNT-2: arith.divsi
// CHECK: memref.load
// CHECK: memref.subview
// CHECK: "test.use"
// CHECK: } else {
// CHECK-COUNT-2: arith.divsi
// CHECK: memref.load
// CHECK: memref.subview
// CHECK: "test.use"
tir.prim_func @not_speculated(%a: memref<8xf32>, %n: index, %m: index, %c: i1) {
  scf.if %c {
    %c4 = arith.constant 4 : index
    %c1 = arith.constant -1 : index
    %0 = arith.divsi %n, %m : index
    %1 = arith.divsi %n, %c4 : index
    %2 = arith.divsi %n, %c1 : index
    %3 = memref.load %a[%n] : memref<8xf32>
    %4 = memref.subview %a[%n] [1] [1] : memref<8xf32> to memref<1xf32, strided<[1], offset: ?>>
    "test.use"(%0, %1, %2, %3, %4) : (index, index, index, f32, memref<1xf32, strided<[1], offset: ?>>) -> ()
    scf.yield
  } else {
    %c4 = arith.constant 4 : index
    %c1 = arith.constant -1 : index
    %0 = arith.divsi %n, %m : index
    %1 = arith.divsi %n, %c4 : index
    %2 = arith.divsi %n, %c1 : index
    %3 = memref.load %a[%n] : memref<8xf32>
    %4 = memref.subview %a[%n] [1] [1] : memref<8xf32> to memref<1xf32, strided<[1], offset: ?>>
    "test.use"(%0, %1, %2, %3, %4) : (index, index, index, f32, memref<1xf32, strided<[1], offset: ?>>) -> ()
    scf.yield
  }
}

// Loads without a write to that memory in between; a division that dominates.
// CHECK-LABEL: @loads
// CHECK: [[A:%.*]] = memref.load %a[%n]
// CHECK-NEXT: %q = arith.divsi %n, %m
// CHECK-NEXT: memref.store [[A]], %b[%q]
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT:   memref.store [[A]], %b[%q]
// CHECK-NEXT: }
// CHECK-NEXT: tir.for %i = %c0 extent %n {
// CHECK-NEXT:   memref.store [[A]], %b[%i]
// CHECK-NEXT: }
// CHECK-NEXT: memref.store [[A]], %a[%m]
// CHECK-NEXT: [[B:%.*]] = memref.load %a[%n]
// CHECK-NEXT: memref.store [[B]], %b[%m]
// CHECK-NEXT: }
tir.prim_func @loads(%a: memref<8xf32>, %b: memref<8xf32>, %n: index, %m: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %a[%n] : memref<8xf32>
  %q = arith.divsi %n, %m : index
  memref.store %0, %b[%q] : memref<8xf32>
  scf.if %c {
    %1 = memref.load %a[%n] : memref<8xf32>
    %r = arith.divsi %n, %m : index
    memref.store %1, %b[%r] : memref<8xf32>
  }
  tir.for %i = %c0 extent %n {
    %1 = memref.load %a[%n] : memref<8xf32>
    memref.store %1, %b[%i] : memref<8xf32>
  }
  %2 = memref.load %a[%n] : memref<8xf32>
  memref.store %2, %a[%m] : memref<8xf32>
  %3 = memref.load %a[%n] : memref<8xf32>
  memref.store %3, %b[%m] : memref<8xf32>
}

// Must not fire: a store, a copy, a call, a branch, a loop or an earlier iteration may have written
// the memory.
// UNCHANGED: @written
tir.prim_func private @other(memref<8xf32>)
tir.prim_func @written(%a: memref<8xf32>, %b: memref<8xf32>, %n: index, %m: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %a[%n] : memref<8xf32>
  memref.store %0, %b[%n] : memref<8xf32>
  "memref.copy"(%b, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  %1 = memref.load %a[%n] : memref<8xf32>
  memref.store %1, %b[%n] : memref<8xf32>
  tir.call @other(%a) : memref<8xf32>
  %2 = memref.load %a[%n] : memref<8xf32>
  memref.store %2, %b[%n] : memref<8xf32>
  tir.for %i = %c0 extent %m {
    %3 = memref.load %a[%n] : memref<8xf32>
    memref.store %3, %b[%i] : memref<8xf32>
    memref.store %2, %a[%i] : memref<8xf32>
  }
  %4 = memref.load %a[%n] : memref<8xf32>
  memref.store %4, %b[%n] : memref<8xf32>
  scf.if %c {
    %5 = memref.load %b[%n] : memref<8xf32>
    memref.store %5, %a[%m] : memref<8xf32>
    %6 = memref.load %a[%n] : memref<8xf32>
    memref.store %6, %b[%m] : memref<8xf32>
  } else {
    memref.store %4, %a[%m] : memref<8xf32>
    %7 = memref.load %a[%n] : memref<8xf32>
    memref.store %7, %b[%m] : memref<8xf32>
  }
  %8 = memref.load %a[%n] : memref<8xf32>
  memref.store %8, %b[%n] : memref<8xf32>
  "test.opaque"() : () -> ()
  %9 = memref.load %a[%n] : memref<8xf32>
  memref.store %9, %b[%m] : memref<8xf32>
}

// With `identify-equiv-terms`, terms in any order: sums, products and the like of integers; the two
// operands of such operations on floats.
// EQUIV-LABEL: @any_order
// EQUIV-NEXT: [[S:%.*]] = arith.addi %n, %m
// EQUIV-NEXT: [[T:%.*]] = arith.addi [[S]], %k
// EQUIV-NEXT: arith.addi %m, %k
// EQUIV-NEXT: "test.use"([[T]], [[T]], [[S]])
// EQUIV-NEXT: [[X:%.*]] = arith.mulf %x, %y
// EQUIV-NEXT: "test.use"([[X]], [[X]])
// EQUIV-NEXT: [[P:%.*]] = arith.addf [[X]], %x
// EQUIV-NEXT: [[Q:%.*]] = arith.addf %y, %x
// EQUIV-NEXT: [[R:%.*]] = arith.addf %x, %x
// EQUIV-NEXT: arith.addf [[Q]], [[R]]
// EQUIV-NEXT: arith.addf [[R]], [[P]]
// EQUIV-NEXT: arith.subi %n, %m
// EQUIV-NEXT: arith.subi %m, %n
// EQUIV: "test.use"
// CHECK-LABEL: @any_order
// CHECK-COUNT-5: arith.addi
tir.prim_func @any_order(%n: index, %m: index, %k: index, %x: f32, %y: f32) {
  %0 = arith.addi %n, %m : index
  %1 = arith.addi %0, %k : index
  %2 = arith.addi %m, %k : index
  %3 = arith.addi %2, %n : index
  %4 = arith.addi %m, %n : index
  "test.use"(%1, %3, %4) : (index, index, index) -> ()
  %5 = arith.mulf %x, %y : f32
  %6 = arith.mulf %y, %x : f32
  "test.use"(%5, %6) : (f32, f32) -> ()
  %7 = arith.addf %5, %x : f32
  %8 = arith.addf %y, %x : f32
  %9 = arith.addf %x, %x : f32
  %10 = arith.addf %8, %9 : f32
  %11 = arith.addf %9, %7 : f32
  %12 = arith.subi %n, %m : index
  %13 = arith.subi %m, %n : index
  "test.use"(%10, %11, %12, %13) : (f32, f32, index, index) -> ()
}

// Must not move: an operand is not visible in the block around both.
// UNCHANGED: @made_of_others
tir.prim_func @made_of_others(%n: index, %m: index, %k: index, %c: i1) {
  scf.if %c {
    %0 = arith.addi %m, %k : index
    %1 = arith.addi %0, %n : index
    "test.use"(%1) : (index) -> ()
    scf.yield
  } else {
    %0 = arith.addi %n, %m : index
    %1 = arith.addi %0, %k : index
    "test.use"(%1) : (index) -> ()
    scf.yield
  }
}
