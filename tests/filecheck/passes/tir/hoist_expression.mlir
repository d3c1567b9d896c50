// RUN: passline-opt %s -p tir-hoist-expression | filecheck %s
// RUN: passline-opt %s -p 'tir-hoist-expression{hoist-boolean-expression=false hoist-if-else-expr=false}' | filecheck %s --check-prefix=OFF
// RUN: passline-opt %s -p tir-hoist-expression{hoist-let-bindings=false} | filecheck %s --check-prefix=BIND

// Expressions leave all loops in which they are invariant: some two, some one.
// CHECK-LABEL: @expressions(
// CHECK: [[A:%.*]] = arith.mulf %x, %x : f32
// CHECK: tir.for %i
// CHECK-NEXT: [[R:%.*]] = arith.muli %i, %c8 : index
// CHECK-NEXT: tir.for %j
// CHECK-NEXT: [[P:%.*]] = arith.addi [[R]], %j : index
// CHECK-NEXT: memref.store [[A]], %a{{\[}}[[P]]]

// BIND-LABEL: @expressions(
// BIND: tir.for %j
// BIND-NEXT: arith.muli
// BIND-NEXT: arith.addi
// BIND-NEXT: arith.mulf
tir.prim_func @expressions(%a: memref<32xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %c8 {
      %0 = arith.muli %i, %c8 : index
      %1 = arith.addi %0, %j : index
      %2 = arith.mulf %x, %x : f32
      memref.store %2, %a[%1] : memref<32xf32>
    }
  }
}

// A choice by an invariant condition: two loops without one, outside of both loops.
// CHECK-LABEL: @choice(
// CHECK: scf.if %c
// CHECK: tir.for %i
// CHECK-NEXT: tir.for %j
// CHECK-NEXT: [[V:%.*]] = memref.load %a[%i, %j]
// CHECK-NEXT: memref.store [[V]], %b[%i, %j]
// CHECK: } else {
// CHECK: tir.for [[I:%.*]] =
// CHECK-NEXT: tir.for [[J:%.*]] =
// CHECK-NEXT: memref.store %x, %b{{\[}}[[I]], [[J]]]
// CHECK-NOT: arith.select

// OFF-LABEL: @choice(
// OFF: arith.select
tir.prim_func @choice(%a: memref<4x8xf32>, %b: memref<4x8xf32>, %x: f32, %c: i1) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %c8 {
      %0 = memref.load %a[%i, %j] : memref<4x8xf32>
      %1 = arith.select %c, %0, %x : f32
      memref.store %1, %b[%i, %j] : memref<4x8xf32>
    }
  }
}

// A member of a conjunction: where it does not hold, there is no loop.
// CHECK-LABEL: @member(
// CHECK: scf.if %c
// CHECK-NEXT: tir.for %i
// CHECK-NEXT: [[I:%.*]] = arith.cmpi slt, %i, %n
// CHECK-NEXT: scf.if [[I]]
// CHECK-NEXT: memref.store
// CHECK-NOT: else

// OFF-LABEL: @member(
// OFF: tir.for
// OFF-NEXT: arith.cmpi
// OFF-NEXT: arith.andi
tir.prim_func @member(%a: memref<8xf32>, %x: f32, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %0 = arith.cmpi slt, %i, %n : index
    %1 = arith.andi %0, %c : i1
    scf.if %1 {
      memref.store %x, %a[%i] : memref<8xf32>
    }
  }
}

// What is invariant only after the function was simplified.
// CHECK-LABEL: @twice(
// CHECK: scf.if
// CHECK-NEXT: tir.for
// CHECK-NEXT: memref.store
tir.prim_func @twice(%a: memref<8xf32>, %x: f32, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %0 = arith.muli %m, %c4 : index
    %1 = arith.addi %0, %i : index
    %2 = arith.addi %n, %i : index
    %3 = arith.cmpi eq, %1, %2 : index
    scf.if %3 {
      memref.store %x, %a[%i] : memref<8xf32>
    }
  }
}

// Must not fire: a loop with several effects is not copied; a division may trap.
// UNCHANGED: @effects
tir.prim_func @effects(%a: memref<8xf32>, %b: memref<8xf32>, %x: f32, %y: f32, %c: i1, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %0 = memref.load %a[%i] : memref<8xf32>
    %1 = arith.select %c, %0, %y : f32
    memref.store %1, %a[%i] : memref<8xf32>
    memref.store %x, %b[%i] : memref<8xf32>
  }
  tir.for %i = %c0 extent %n {
    %2 = arith.divsi %n, %m : index
    %3 = arith.cmpi slt, %2, %i : index
    scf.if %3 {
      memref.store %x, %b[%i] : memref<8xf32>
    }
  }
}

// Must not fire: what is invariant in a thread-bound loop, and loaded values.
// UNCHANGED: @threads
tir.prim_func @threads(%a: memref<8xf32>, %x: f32) attributes {tir.noalias} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for thread_binding "threadIdx.x" %i = %c0 extent %c8 {
    %0 = memref.load %a[%c0] : memref<8xf32>
    %1 = arith.mulf %x, %x : f32
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %a[%i] : memref<8xf32>
  }
}
