// RUN: passline-opt %s -p tir-vectorize-loop --split-input-file | filecheck %s

// A branch with a uniform condition stays a branch; only the part that depends on the lane becomes a
// loop.
// CHECK-LABEL: @branches(
tir.prim_func @branches(%a : memref<4xf32>, %x : index, %n : index) {
  // CHECK: [[C:%.*]] = arith.cmpi slt, %x, %n
  // CHECK-NEXT: scf.if [[C]] {
  // CHECK-NEXT: vector.load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: vector.store
  // CHECK-NEXT: } else {
  // CHECK-NEXT: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: [[D:%.*]] = arith.cmpi slt, %v, %n
  // CHECK-NEXT: scf.if [[D]] {
  // CHECK-NEXT: memref.store %two, %a[%v]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %c = arith.cmpi slt, %x, %n : index
    scf.if %c {
      %y = memref.load %a[%v] : memref<4xf32>
      %z = arith.addf %y, %one : f32
      memref.store %z, %a[%v] : memref<4xf32>
    } else {
      %d = arith.cmpi slt, %v, %n : index
      scf.if %d {
        memref.store %two, %a[%v] : memref<4xf32>
      }
    }
  }
}

// -----

// A condition that depends on the lane: a loop of that statement, not of those around it (#17039).
// CHECK-LABEL: @conditions(
tir.prim_func @conditions(%a : memref<4xf32>, %b : memref<4xf32>, %n : index) {
  // CHECK: [[L:%.*]] = vector.load %a[%c0]
  // CHECK-NEXT: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: [[X:%.*]] = vector.extract [[L]][%v]
  // CHECK-NEXT: [[D:%.*]] = arith.cmpi sle, %v, %n
  // CHECK-NEXT: scf.if [[D]] {
  // CHECK-NEXT: memref.store [[X]], %b[%v]
  // CHECK: vector.store {{.*}}, %a[%c0]
  // CHECK-NEXT: tir.for
  // CHECK: arith.cmpi sge
  // CHECK-NEXT: scf.if
  // CHECK: } else {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %two = arith.constant 2.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %x = memref.load %a[%v] : memref<4xf32>
    %d = arith.cmpi sle, %v, %n : index
    scf.if %d {
      memref.store %x, %b[%v] : memref<4xf32>
    }
    memref.store %two, %a[%v] : memref<4xf32>
    %e = arith.cmpi sge, %v, %n : index
    scf.if %e {
      memref.store %x, %a[%v] : memref<4xf32>
    } else {
      memref.store %two, %b[%v] : memref<4xf32>
    }
  }
}

// -----

// A branch with results: they are vectors if the condition is uniform.
// CHECK-LABEL: @if_then_else(
tir.prim_func @if_then_else(%a : memref<4xf32>, %b : memref<4xf32>, %i : index) {
  // CHECK: [[R:%.*]], [[S:%.*]] = scf.if %d -> (vector<4xf32>, index) {
  // CHECK-NEXT: [[L:%.*]] = vector.load
  // CHECK-NEXT: scf.yield [[L]], %c0 : vector<4xf32>, index
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %{{[0-9]+}}, %i : vector<4xf32>, index
  // CHECK: vector.store [[R]], %b[[[S]]]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %d = arith.cmpi sgt, %i, %c0 : index
    %r, %s = scf.if %d -> (f32, index) {
      %x = memref.load %a[%v] : memref<4xf32>
      scf.yield %x, %c0 : f32, index
    } else {
      scf.yield %one, %i : f32, index
    }
    %t = arith.addi %s, %v : index
    memref.store %r, %b[%t] : memref<4xf32>
  }
}

// -----

// Otherwise the rest of the block uses them, and is in the loop too.
// CHECK-LABEL: @if_then_else_of_lanes(
tir.prim_func @if_then_else_of_lanes(%a : memref<4xf32>, %b : memref<4xf32>) {
  // CHECK: [[L:%.*]] = vector.load %a[%c0]
  // CHECK-NEXT: vector.store [[L]], %b[%c0]
  // CHECK-NEXT: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: [[X:%.*]] = vector.extract [[L]][%v]
  // CHECK-NEXT: [[D:%.*]] = arith.cmpi sgt, %v, %c0
  // CHECK-NEXT: [[R:%.*]] = scf.if [[D]] -> (f32) {
  // CHECK: [[S:%.*]] = arith.addf [[R]], [[X]]
  // CHECK-NEXT: memref.store [[S]], %b[%v]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %y = memref.load %a[%v] : memref<4xf32>
    memref.store %y, %b[%v] : memref<4xf32>
    %d = arith.cmpi sgt, %v, %c0 : index
    %r = scf.if %d -> (f32) {
      scf.yield %y : f32
    } else {
      scf.yield %one : f32
    }
    %s = arith.addf %r, %y : f32
    memref.store %s, %b[%v] : memref<4xf32>
  }
}

// -----

// A branch with a result that contains a call: all of it runs in a loop.
// CHECK-LABEL: @branch_with_call(
func.func private @number(f32) -> f32
tir.prim_func @branch_with_call(%a : memref<4xf32>, %b : memref<4xf32>, %c : i1) {
  // CHECK: [[X:%.*]] = vector.load %a[%c0]
  // CHECK-NEXT: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: [[E:%.*]] = vector.extract [[X]][%v]
  // CHECK-NEXT: [[R:%.*]] = scf.if %c -> (f32) {
  // CHECK-NEXT: [[Y:%.*]] = func.call @number([[E]])
  // CHECK-NEXT: memref.store [[Y]], %b[%v]
  // CHECK-NEXT: [[Z:%.*]] = memref.load %a[%c0]
  // CHECK-NEXT: scf.yield [[Z]]
  // CHECK: memref.store [[R]], %a[%v]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %x = memref.load %a[%v] : memref<4xf32>
    %r = scf.if %c -> (f32) {
      %y = func.call @number(%x) : (f32) -> f32
      memref.store %y, %b[%v] : memref<4xf32>
      %z = memref.load %a[%c0] : memref<4xf32>
      scf.yield %z : f32
    } else {
      scf.yield %one : f32
    }
    memref.store %r, %a[%v] : memref<4xf32>
  }
}

// -----

// A condition that is the same in all lanes, although it is computed from the loop variable.
// CHECK-LABEL: @uniform(
tir.prim_func @uniform(%a : memref<8xf32>, %n : index) {
  // CHECK: [[Z:%.*]] = arith.muli {{%.*}}, %n : index
  // CHECK-NEXT: [[P:%.*]] = arith.cmpi uge, [[Z]], %n : index
  // CHECK-NEXT: scf.if [[P]] {
  // CHECK-NEXT: vector.store {{%.*}}, %a[%n] : memref<8xf32>, vector<8xf32>
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %x = arith.constant 1.0 : f32
  tir.for vectorized %v = %n extent %c8 {
    %z = arith.muli %c0, %v : index
    %p = arith.cmpi uge, %z, %n : index
    scf.if %p {
      memref.store %x, %a[%v] : memref<8xf32>
    }
  }
}
