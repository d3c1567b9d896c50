// RUN: passline-opt %s -p fold-constant --split-input-file | filecheck %s

// The branch that is taken replaces the scf.if, and folds.
// CHECK-LABEL: @branch
func.func @branch(%x : tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK-NEXT: [[S:%.*]] = relax.constant dense<5.000000e+00> : tensor<f32>
  // CHECK-NEXT: [[D:%.*]] = relax.exp %x
  // CHECK-NEXT: func.return [[S]], [[D]]
  %true = arith.constant true
  %false = arith.constant false
  %a = relax.constant dense<2.0> : tensor<f32>
  %b = relax.constant dense<3.0> : tensor<f32>
  %0 = scf.if %true -> (tensor<f32>) {
    %1 = relax.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %1 : tensor<f32>
  } else {
    %2 = relax.subtract %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %2 : tensor<f32>
  }
  %3 = scf.if %false -> (tensor<f32>) {
    scf.yield %a : tensor<f32>
  } else {
    %4 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    scf.yield %4 : tensor<f32>
  }
  scf.if %false {
    "test.op"(%b) : (tensor<f32>) -> ()
  }
  return %0, %3 : tensor<f32>, tensor<f32>
}

// A branch in a branch, and constants of the outer block in a branch that may be taken.
// CHECK-LABEL: @nested
func.func @nested(%c : i1) {
  // CHECK-NEXT: [[K:%.*]] = arith.constant true
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT:   [[F:%.*]] = relax.constant dense<4.000000e+00> : tensor<f32>
  // CHECK-NEXT:   "test.op"([[F]], [[K]])
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return
  %true = arith.constant true
  %a = relax.constant dense<2.0> : tensor<f32>
  scf.if %true {
    scf.if %c {
      scf.if %true {
        %0 = relax.add %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "test.op"(%0, %true) : (tensor<f32>, i1) -> ()
      }
    }
  }
  return
}

// An unknown condition.
// UNCHANGED: @unknown_condition
func.func @unknown_condition(%c : i1) {
  scf.if %c {
    "test.op"() : () -> ()
  }
  return
}

// A lambda folds inside, with constants that it captures; a call of it stays.
// CHECK-LABEL: @lambda
func.func @lambda() -> tensor<f32> {
  // CHECK-NEXT: [[F:%.*]] = relax.lambda() -> tensor<f32> {
  // CHECK-NEXT:   [[C:%.*]] = relax.constant dense<4.000000e+00> : tensor<f32>
  // CHECK-NEXT:   relax.yield [[C]] : tensor<f32>
  // CHECK-NEXT: }
  // CHECK-NEXT: relax.invoke [[F]]()
  %c = relax.constant dense<2.0> : tensor<f32>
  %f = relax.lambda() -> tensor<f32> {
    %0 = relax.add %c, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relax.yield %0 : tensor<f32>
  }
  %1 = relax.invoke %f() : () -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// REQUIRES-XDSL: 0.73 (`scf.if` on a condition that is defined below it)
// A graph folds in dependence order, with the branches in it.
// CHECK-LABEL: @graph
func.func @graph() -> tensor<f32> {
  // CHECK-NEXT: [[G:%.*]] = relax.graph -> tensor<f32> {
  // CHECK-NEXT:   [[C:%.*]] = relax.constant dense<8.000000e+00> : tensor<f32>
  // CHECK-NEXT:   relax.output [[C]] : tensor<f32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return [[G]]
  %0 = relax.graph -> tensor<f32> {
    %1 = relax.add %2, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = scf.if %true -> (tensor<f32>) {
      %3 = relax.add %c, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
      scf.yield %3 : tensor<f32>
    } else {
      scf.yield %c : tensor<f32>
    }
    %true = arith.constant true
    %c = relax.constant dense<2.0> : tensor<f32>
    relax.output %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// A closure that captures a constant is not a constant.
// UNCHANGED: @closure
func.func @closure() -> ((tensor<f32>) -> tensor<f32>) {
  %0 = relax.constant dense<1.0> : tensor<f32>
  %1 = relax.make_closure @callee(%0) : (tensor<f32>) -> ((tensor<f32>) -> tensor<f32>)
  return %1 : (tensor<f32>) -> tensor<f32>
}
func.func private @callee(tensor<f32>, tensor<f32>) -> tensor<f32>

// 0.0 and -0.0 are different constants, also with a release of xDSL that takes their attributes
// for equal.
// UNCHANGED: @zeros
func.func @zeros(%c: i1) -> f32 {
  %0 = scf.if %c -> (f32) {
    %1 = arith.constant 0.0 : f32
    scf.yield %1 : f32
  } else {
    %1 = arith.constant -0.0 : f32
    scf.yield %1 : f32
  }
  func.return %0 : f32
}
