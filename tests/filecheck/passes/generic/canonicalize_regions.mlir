// RUN: passline-opt %s -p 'canonicalize' | filecheck %s

// Branches, loops, and functions of constants.

// A condition that is negated, and one in the first branch of another one.
// CHECK-LABEL: @branches(
// CHECK-NEXT:    {{%.*}} = scf.if %c -> (i32) {
// CHECK-NEXT:      {{%.*}} = arith.muli %x, %y : i32
// CHECK-NEXT:      scf.yield {{%.*}} : i32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      {{%.*}} = arith.addi %x, %y : i32
// CHECK-NEXT:      scf.yield {{%.*}} : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    {{%.*}} = arith.andi %d, %c : i1
// CHECK-NEXT:    {{%.*}} = scf.if {{%.*}} -> (i32) {
// CHECK-NEXT:      {{%.*}} = arith.subi %x, {{%.*}} : i32
// CHECK-NEXT:      scf.yield {{%.*}} : i32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %y : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return {{%.*}} : i32
func.func @branches(%c: i1, %d: i1, %x: i32, %y: i32) -> i32 {
  %true = arith.constant true
  %0 = arith.xori %c, %true : i1
  %1 = scf.if %0 -> (i32) {
    %2 = arith.addi %x, %y : i32
    scf.yield %2 : i32
  } else {
    %3 = arith.muli %x, %y : i32
    scf.yield %3 : i32
  }
  %4 = scf.if %d -> (i32) {
    %5 = scf.if %c -> (i32) {
      %6 = arith.subi %x, %1 : i32
      scf.yield %6 : i32
    } else {
      scf.yield %y : i32
    }
    scf.yield %5 : i32
  } else {
    scf.yield %y : i32
  }
  func.return %4 : i32
}

// Both yield something else where a condition is false.
// UNCHANGED: @differ
func.func @differ(%c: i1, %d: i1, %x: i32, %y: i32) -> i32 {
  %4 = scf.if %d -> (i32) {
    %5 = scf.if %c -> (i32) {
      %6 = arith.subi %x, %y : i32
      scf.yield %6 : i32
    } else {
      scf.yield %x : i32
    }
    scf.yield %5 : i32
  } else {
    scf.yield %y : i32
  }
  func.return %4 : i32
}

// A switch on a constant, and a loop of one iteration from any start.
// CHECK-LABEL: @known(
// CHECK-NEXT:    %a = arith.addi %x, %x : i32
// CHECK-NEXT:    {{%.*}} = arith.muli %a, %x : i32
// CHECK-NEXT:    func.return {{%.*}} : i32
func.func @known(%n: index, %x: i32) -> i32 {
  %1 = arith.constant 1 : index
  %0 = scf.index_switch %1 -> i32
  case 1 {
    %2 = arith.addi %x, %x : i32
    scf.yield %2 : i32
  }
  default {
    scf.yield %x : i32
  }
  %m = arith.addi %n, %1 overflow<nsw> : index
  %3 = scf.for %i = %n to %m step %1 iter_args(%a = %0) -> (i32) {
    %4 = arith.muli %a, %x : i32
    scf.yield %4 : i32
  }
  func.return %3 : i32
}

// Where the end may wrap, the loop may have no iterations.
// UNCHANGED: @may_wrap
func.func @may_wrap(%n: index, %x: i32) -> i32 {
  %1 = arith.constant 1 : index
  %m = arith.addi %n, %1 : index
  %3 = scf.for %i = %n to %m step %1 iter_args(%a = %x) -> (i32) {
    %4 = arith.muli %a, %x : i32
    scf.yield %4 : i32
  }
  func.return %3 : i32
}

// Parallel loops: one in another, a dimension of one iteration.
// CHECK-LABEL: @parallel(
// CHECK-NEXT:    %j = arith.constant 0 : index
// CHECK-NEXT:    {{%.*}} = arith.constant 1 : index
// CHECK-NEXT:    "scf.parallel"(%j, %j, %n, %n, {{%.*}}, {{%.*}}) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
// CHECK-NEXT:    ^bb0(%i: index, %k: index):
// CHECK-NEXT:      memref.store %x, %m[%i, %k] : memref<?x?xi32>
// CHECK-NEXT:      scf.reduce
// CHECK-NEXT:    }) : (index, index, index, index, index, index) -> ()
// CHECK-NEXT:    func.return
func.func @parallel(%n: index, %m: memref<?x?xi32>, %x: i32) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  "scf.parallel"(%0, %0, %n, %1, %1, %1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    "scf.parallel"(%0, %n, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
    ^bb0(%k: index):
      memref.store %x, %m[%i, %k] : memref<?x?xi32>
      scf.reduce
    }) : (index, index, index) -> ()
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  func.return
}

// Functions of constants.
// CHECK-LABEL: @functions(
// CHECK-NEXT:    {{%.*}} = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:    {{%.*}} = arith.constant 2 : i32
// CHECK-NEXT:    {{%.*}} = arith.constant dense<[-2.000000e+00, 2.000000e+00]> : vector<2xf64>
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}}, {{%.*}} : f32, i32, vector<2xf64>
func.func @functions() -> (f32, i32, vector<2xf64>) {
  %0 = arith.constant 4.0 : f32
  %1 = arith.constant 12 : i32
  %2 = arith.constant dense<[-1.5, 2.5]> : vector<2xf64>
  %3 = math.sqrt %0 : f32
  %4 = math.cttz %1 : i32
  %5 = math.floor %2 : vector<2xf64>
  func.return %3, %4, %5 : f32, i32, vector<2xf64>
}

// The logarithm of a negative number is left.
// UNCHANGED: @domain
func.func @domain() -> (f32, f32) {
  %0 = arith.constant -4.0 : f32
  %1 = math.log %0 : f32
  %2 = math.sqrt %0 : f32
  func.return %1, %2 : f32, f32
}

// Three branches on one condition or its negation, one after another, of which the last uses what
// the others yield.
// CHECK-LABEL: @three(
// CHECK-NEXT:    {{%.*}}, {{%.*}}, {{%.*}} = scf.if %c -> (i32, i32, i32) {
// CHECK-NEXT:      [[A:%.*]] = "test.op"() {a} : () -> i32
// CHECK-NEXT:      [[B:%.*]] = "test.op"([[A]]) {b} : (i32) -> i32
// CHECK-NEXT:      [[C:%.*]] = "test.op"([[A]], [[B]]) {c} : (i32, i32) -> i32
// CHECK-NEXT:      scf.yield [[A]], [[B]], [[C]] : i32, i32, i32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      [[D:%.*]] = "test.op"() {d} : () -> i32
// CHECK-NEXT:      [[E:%.*]] = "test.op"() {e} : () -> i32
// CHECK-NEXT:      scf.yield %x, [[D]], [[E]] : i32, i32, i32
// CHECK-NEXT:    }
func.func @three(%c : i1, %x : i32) -> (i32, i32, i32) {
  %true = arith.constant true
  %not = arith.xori %c, %true : i1
  %0 = scf.if %c -> (i32) {
    %a = "test.op"() {a} : () -> i32
    scf.yield %a : i32
  } else {
    scf.yield %x : i32
  }
  %1 = scf.if %not -> (i32) {
    %d = "test.op"() {d} : () -> i32
    scf.yield %d : i32
  } else {
    %b = "test.op"(%0) {b} : (i32) -> i32
    scf.yield %b : i32
  }
  %2 = scf.if %c -> (i32) {
    %e = "test.op"(%0, %1) {c} : (i32, i32) -> i32
    scf.yield %e : i32
  } else {
    %e = "test.op"() {e} : () -> i32
    scf.yield %e : i32
  }
  func.return %0, %1, %2 : i32, i32, i32
}
