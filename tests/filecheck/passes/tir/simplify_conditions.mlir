// RUN: passline-opt %s -p tir-simplify | filecheck %s

// The same likely condition twice: the inner one goes.
// CHECK-LABEL: @likely(
tir.prim_func @likely(%A: memref<4xf32>, %v: f32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c4 {
  // CHECK-NEXT: %a = arith.cmpi slt, %i, %n : index
  // CHECK-NEXT: %likely = tir.likely %a
  // CHECK-NEXT: scf.if %likely {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %a = arith.cmpi slt, %i, %n : index
    %likely = tir.likely %a
    scf.if %likely {
      %b = arith.cmpi slt, %i, %n : index
      %again = tir.likely %b
      scf.if %again {
        memref.store %v, %A[%i] : memref<4xf32>
      }
    }
  }
}

// A likely condition that is proven.
// CHECK-LABEL: @likely_proven(
tir.prim_func @likely_proven(%A: memref<4xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c4 {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %a = arith.cmpi slt, %i, %c4 : index
    %likely = tir.likely %a
    scf.if %likely {
      memref.store %v, %A[%i] : memref<4xf32>
    }
  }
}

// CHECK-LABEL: @nested_equal(
tir.prim_func @nested_equal(%A: memref<8xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c5 = arith.constant 5 : index
  // CHECK-NEXT: %c8 = arith.constant 8 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c8 {
  // CHECK-NEXT: %a = arith.cmpi eq, %i, %c5 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %a = arith.cmpi eq, %i, %c5 : index
    scf.if %a {
      %b = arith.cmpi eq, %i, %c5 : index
      scf.if %b {
        %c = arith.cmpi slt, %i, %c7 : index
        scf.if %c {
          memref.store %v, %A[%i] : memref<8xf32>
        }
      }
    }
  }
}

// CHECK-LABEL: @nested_equal_symbolic(
tir.prim_func @nested_equal_symbolic(%A: memref<8xf32>, %v: f32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c8 = arith.constant 8 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c8 {
  // CHECK-NEXT: %a = arith.cmpi eq, %i, %n : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %a = arith.cmpi eq, %i, %n : index
    scf.if %a {
      %b = arith.cmpi eq, %n, %i : index
      scf.if %b {
        memref.store %v, %A[%i] : memref<8xf32>
      }
    }
  }
}

// CHECK-LABEL: @contradictions(
tir.prim_func @contradictions(%A: memref<8xf32>, %v: f32, %w: f32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c5 = arith.constant 5 : index
  // CHECK-NEXT: %c8 = arith.constant 8 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c8 {
  // CHECK-NEXT: %a = arith.cmpi eq, %i, %c5 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %w, %A[%i] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %c = arith.cmpi ne, %i, %n : index
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: memref.store %w, %A[%i] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %a = arith.cmpi eq, %i, %c5 : index
    scf.if %a {
      %b = arith.cmpi ne, %i, %c5 : index
      scf.if %b {
        memref.store %v, %A[%i] : memref<8xf32>
      } else {
        memref.store %w, %A[%i] : memref<8xf32>
      }
    }
    %c = arith.cmpi ne, %i, %n : index
    scf.if %c {
      %d = arith.cmpi eq, %i, %n : index
      scf.if %d {
        memref.store %v, %A[%i] : memref<8xf32>
      } else {
        memref.store %w, %A[%i] : memref<8xf32>
      }
    }
  }
}

// Each member of a conjunction that holds, or of a disjunction that does not, is a constraint.
// CHECK-LABEL: @split(
tir.prim_func @split(%A: memref<8xf32>, %v: f32, %w: f32, %a: i1, %b: i1) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %both = arith.andi %a, %b : i1
  // CHECK-NEXT: scf.if %both {
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %any = arith.ori %a, %b : i1
  // CHECK-NEXT: scf.if %any {
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<8xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: memref.store %w, %A[%c1] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %both = arith.andi %a, %b : i1
  scf.if %both {
    scf.if %a {
      memref.store %v, %A[%c0] : memref<8xf32>
    }
  }
  %any = arith.ori %a, %b : i1
  scf.if %any {
    memref.store %v, %A[%c0] : memref<8xf32>
  } else {
    scf.if %a {
      memref.store %v, %A[%c1] : memref<8xf32>
    } else {
      memref.store %w, %A[%c1] : memref<8xf32>
    }
  }
}

// Must not fire: one of two conditions holds, but not a known one.
// UNCHANGED: @not_split
tir.prim_func @not_split(%A: memref<8xf32>, %v: f32, %a: i1, %b: i1) {
  %c0 = arith.constant 0 : index
  %any = arith.ori %a, %b : i1
  scf.if %any {
    scf.if %a {
      memref.store %v, %A[%c0] : memref<8xf32>
    }
  }
}

// Conditions that are values.
// CHECK-LABEL: @let_condition(
tir.prim_func @let_condition(%A: memref<8xi1>, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c3 = arith.constant 3 : index
  // CHECK-NEXT: %c8 = arith.constant 8 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c8 {
  // CHECK-NEXT: %c = arith.cmpi slt, %i, %c3 : index
  // CHECK-NEXT: %any = arith.constant true
  // CHECK-NEXT: memref.store %any, %A[%i] : memref<8xi1>
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: memref.store %any, %A[%i] : memref<8xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %c = arith.cmpi slt, %i, %c3 : index
    %d = arith.cmpi sge, %i, %c3 : index
    %any = arith.ori %c, %d : i1
    memref.store %any, %A[%i] : memref<8xi1>
    %e = arith.cmpi slt, %i, %c3 : index
    scf.if %e {
      scf.if %c {
        memref.store %c, %A[%i] : memref<8xi1>
      }
    }
  }
}

// A branch with a value.
// CHECK-LABEL: @branch_value(
tir.prim_func @branch_value(%A: memref<16xi32>) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c12 = arith.constant 12 : index
  // CHECK-NEXT: %c16 = arith.constant 16 : index
  // CHECK-NEXT: %one = arith.constant 1 : i32
  // CHECK-NEXT: tir.for %i = %c0 extent %c16 {
  // CHECK-NEXT: %a = arith.cmpi slt, %i, %c12 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %one, %A[%i] : memref<16xi32>
  // CHECK-NEXT: memref.store %one, %A[%c0] : memref<16xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  tir.for %i = %c0 extent %c16 {
    %a = arith.cmpi slt, %i, %c12 : index
    scf.if %a {
      %b = arith.cmpi slt, %i, %c12 : index
      %v = scf.if %b -> (i32) {
        scf.yield %one : i32
      } else {
        scf.yield %two : i32
      }
      memref.store %v, %A[%i] : memref<16xi32>
      %w = arith.select %b, %one, %two : i32
      memref.store %w, %A[%c0] : memref<16xi32>
    }
  }
}

// Constraints are added up with the option `transitively_prove_inequalities` only.
// UNCHANGED: @not_transitive
tir.prim_func @not_transitive(%A: memref<1xi1>, %i: index, %j: index, %k: index) {
  %c0 = arith.constant 0 : index
  %a = arith.cmpi slt, %i, %j : index
  %b = arith.cmpi slt, %j, %k : index
  scf.if %a {
    scf.if %b {
      %c = arith.cmpi slt, %i, %k : index
      memref.store %c, %A[%c0] : memref<1xi1>
    }
  }
}

// Conjunctions and disjunctions stay as they are without the options for them.
// UNCHANGED: @and_or_kept
tir.prim_func @and_or_kept(%A: memref<2xi1>, %n: index, %a: i1, %b: i1, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c10 = arith.constant 10 : index
  %x = arith.cmpi slt, %n, %c5 : index
  %y = arith.cmpi slt, %n, %c10 : index
  %and = arith.andi %x, %y : i1
  memref.store %and, %A[%c0] : memref<2xi1>
  %both = arith.andi %b, %c : i1
  %or = arith.ori %a, %both : i1
  memref.store %or, %A[%c1] : memref<2xi1>
}

// A select in a select by the same condition.
// CHECK-LABEL: @nested_choice(
tir.prim_func @nested_choice(%A: memref<4xi32>, %x: i32, %y: i32, %z: i32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c4 {
  // CHECK-NEXT: %a = arith.cmpi slt, %i, %n : index
  // CHECK-NEXT: %most = arith.maxsi %x, %z : i32
  // CHECK-NEXT: %outer = arith.select %a, %most, %z : i32
  // CHECK-NEXT: memref.store %outer, %A[%i] : memref<4xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %a = arith.cmpi slt, %i, %n : index
    %inner = arith.select %a, %x, %y : i32
    %most = arith.maxsi %inner, %z : i32
    %b = arith.cmpi slt, %i, %n : index
    %outer = arith.select %b, %most, %z : i32
    memref.store %outer, %A[%i] : memref<4xi32>
  }
}

// A constraint holds in its branch only.
// CHECK-LABEL: @scopes(
tir.prim_func @scopes(%A: memref<4xf32>, %v: f32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %a = arith.cmpi sgt, %n, %c0 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %v, %A[%c1] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: tir.for %i = %c0 extent %n {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %c = arith.cmpi sge, %n, %c0 : index
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: memref.store %v, %A[%c1] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.cmpi sgt, %n, %c0 : index
  scf.if %a {
    memref.store %v, %A[%c0] : memref<4xf32>
  }
  %b = arith.cmpi sgt, %n, %c0 : index
  scf.if %b {
    memref.store %v, %A[%c1] : memref<4xf32>
  }
  tir.for %i = %c0 extent %n {
    memref.store %v, %A[%i] : memref<4xf32>
  }
  %c = arith.cmpi sge, %n, %c0 : index
  scf.if %c {
    memref.store %v, %A[%c1] : memref<4xf32>
  }
}

// Must not fire: a select computes both operands, so the divisor must not be 0 in either case.
// UNCHANGED: @safe_division
tir.prim_func @safe_division(%A : memref<4xi8>, %x : i8, %y : i8) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i8
  %one = arith.constant 1 : i8
  %z = arith.cmpi eq, %y, %zero : i8
  %d = arith.select %z, %one, %y : i8
  %q = arith.divui %x, %d : i8
  %r = arith.select %z, %zero, %q : i8
  memref.store %r, %A[%c0] : memref<4xi8>
}

// Must not fire: true is -1 in a signed comparison, so `x != false` is not `x > false`.
// UNCHANGED: @truth
tir.prim_func @truth(%A: memref<1xi1>, %B: memref<1xi64>) {
  %c0 = arith.constant 0 : index
  %false = arith.constant false
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = memref.load %A[%c0] : memref<1xi1>
  %ne = arith.cmpi ne, %v, %false : i1
  %s = arith.select %ne, %one, %zero : i64
  memref.store %s, %B[%c0] : memref<1xi64>
}

// What an assumption says holds after it, and not before.
// CHECK-LABEL: @assumed(
tir.prim_func @assumed(%A: memref<4xf32>, %v: f32, %n: index) {
  // CHECK: [[B:%.*]] = arith.cmpi slt, %n, %c4 : index
  // CHECK-NEXT: scf.if [[B]] {
  // CHECK: tir.assume [[B]]
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<4xf32>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %less = arith.cmpi slt, %n, %c4 : index
  scf.if %less {
    memref.store %v, %A[%c0] : memref<4xf32>
  }
  tir.assume %less
  %c5 = arith.constant 5 : index
  %again = arith.cmpi slt, %n, %c5 : index
  scf.if %again {
    memref.store %v, %A[%c0] : memref<4xf32>
  }
}
