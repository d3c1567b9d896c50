// RUN: passline-opt %s -p canonicalize --split-input-file | filecheck %s

// Fold and rewrite operations, and remove those that become dead.
// CHECK-LABEL: @chain
// CHECK-NEXT:    func.return %a
func.func @chain(%a: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %a, %0 : i32
  %2 = arith.addi %1, %0 : i32
  func.return %2 : i32
}

// -----

// The constant of a commutative operation becomes its right operand.
// CHECK-LABEL: @commute
// CHECK-NEXT:    [[C:%.*]] = arith.constant 3
// CHECK-NEXT:    [[S:%.*]] = arith.addi %a, [[C]]
// CHECK-NEXT:    func.return [[S]]
func.func @commute(%a: i32) -> i32 {
  %0 = arith.constant 3 : i32
  %1 = arith.addi %0, %a : i32
  func.return %1 : i32
}

// -----

// Unreachable blocks and dead cycles are removed.
// CHECK-LABEL: @unreached
// CHECK-NEXT:    func.return
func.func @unreached() {
  func.return
^bb1:
  %0 = "test.op"() : () -> i32
  cf.br ^bb1
}

// -----

// Operations that may have effects stay.
// UNCHANGED: @effect
func.func @effect() {
  func.call @other() : () -> ()
  func.return
}
func.func private @other()

// -----

// Tuples, casts, functions and graphs of relax.
// CHECK-LABEL: @relax
func.func @relax(%x : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: [[G:%.*]] = relax.graph -> tensor<f32> {
  // CHECK-NEXT:   [[A:%.*]] = relax.exp %x
  // CHECK-NEXT:   relax.output [[A]]
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return [[G]]
  %t = relax.tuple %x : (tensor<f32>) -> tuple<tensor<f32>>
  %f = relax.lambda() -> tensor<f32> {
    relax.yield %x : tensor<f32>
  }
  %0 = relax.graph -> tensor<f32> {
    %1 = relax.exp %2 : (tensor<f32>) -> tensor<f32>
    %3 = relax.exp %1 : (tensor<f32>) -> tensor<f32>
    %2 = relax.match_cast %4 : (tensor<f32>) -> tensor<f32>
    %4 = relax.tuple_get_item %t {index = 0} : (tuple<tensor<f32>>) -> tensor<f32>
    relax.output %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// MLIR's patterns of arith: constants of sums are merged, a negated comparison is the opposite one.
// CHECK-LABEL: @scalars
// CHECK-NEXT:    [[C:%.*]] = arith.constant -2 : i32
// CHECK-NEXT:    [[S:%.*]] = arith.addi %a, [[C]]
// CHECK-NEXT:    [[P:%.*]] = arith.cmpi sge, %a, %b
// CHECK-NEXT:    func.return [[S]], [[P]]
func.func @scalars(%a: i32, %b: i32) -> (i32, i1) {
  %1 = arith.constant 1 : i32
  %3 = arith.constant 3 : i32
  %true = arith.constant true
  %4 = arith.addi %a, %1 : i32
  %5 = arith.subi %4, %3 : i32
  %6 = arith.cmpi slt, %a, %b : i32
  %7 = arith.xori %6, %true : i1
  func.return %5, %7 : i32, i1
}

// -----

// MLIR's patterns of scf: a selection for a branch of values, and no value that a loop only carries.
// CHECK-LABEL: @control_flow
// CHECK-NEXT:    [[S:%.*]] = arith.select %c, %a, %b
// CHECK-NEXT:    func.return [[S]], %b
func.func @control_flow(%c: i1, %a: i32, %b: i32, %n: index) -> (i32, i32) {
  %0 = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  %z = arith.constant 0 : index
  %1, %2 = scf.for %i = %z to %n step %n iter_args(%d = %a, %e = %b) -> (i32, i32) {
    %3 = arith.muli %d, %d : i32
    scf.yield %3, %e : i32, i32
  }
  func.return %0, %2 : i32, i32
}

// -----

// A constant index has 64 bits and a sign.
// CHECK-LABEL: @indices
// CHECK-NEXT:    [[TEN:%.*]] = arith.constant -10 : index
// CHECK-NEXT:    [[ONES:%.*]] = arith.constant -1 : index
// CHECK-NEXT:    [[S:%.*]] = arith.addi %n, [[TEN]]
// CHECK-NEXT:    func.return [[S]], [[ONES]]
func.func @indices(%n: index) -> (index, index) {
  %two = arith.constant -2 : index
  %eight = arith.constant -8 : index
  %0 = arith.addi %n, %eight : index
  %1 = arith.addi %0, %two : index
  %2 = arith.constant -1 : index
  %3 = arith.ori %n, %2 : index
  func.return %1, %3 : index, index
}

// -----

// A branch of tensors stays: there is no kernel that selects one.
// UNCHANGED: @tensors
func.func @tensors(%c: i1, %a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = scf.if %c -> (tensor<3xf32>) {
    scf.yield %a : tensor<3xf32>
  } else {
    scf.yield %b : tensor<3xf32>
  }
  func.return %0 : tensor<3xf32>
}

// -----

// 0.0 and -0.0 are different constants, also with a release of xDSL that takes their attributes for
// equal.
// UNCHANGED: @zeros
func.func @zeros(%c: i1) -> (f32, f32, f32) {
  %0 = arith.constant 0.0 : f32
  %1 = arith.constant -0.0 : f32
  %2 = arith.select %c, %0, %1 : f32
  func.return %0, %1, %2 : f32, f32, f32
}
