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
// CHECK-NEXT:  }
func.func @unreached() {
  func.return
^bb1:
  %0 = "test.op"() : () -> i32
  cf.br ^bb1
}

// -----

// Operations that may have effects stay.
// CHECK-LABEL: @effect
// CHECK-NEXT:    func.call @other
// CHECK-NEXT:    func.return
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
