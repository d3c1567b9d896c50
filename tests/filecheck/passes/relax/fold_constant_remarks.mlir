// RUN: passline-opt %s -p 'fold-constant{max-elements=3}' --remarks --verify-diagnostics
// RUN: passline-opt %s -p 'fold-constant{max-elements=3}' --remarks-missed=fold 2>&1 >/dev/null | filecheck %s
// RUN: passline-opt %s -p 'fold-constant{max-elements=3}' --remarks-passed=cse --remarks-missed=canon 2>&1 | filecheck %s --check-prefix=NONE

// What the passes say that they did and could not do.

// NONE-NOT: remark:

// CHECK-NOT: Passed
// CHECK:      remark: [Missed] TooManyElements | Category:fold-constant | Function=fold | Remark="too large to evaluate", Op="relax.add", Elements=4, Limit=3
// CHECK-NEXT:   %0 = relax.add %large, %large
// CHECK-NEXT:        ^
// CHECK:      remark: [Missed] OnlyFills | Category:fold-constant | Function=fold | Remark="not element-wise, and fills are not expanded", Op="relax.matmul"
// CHECK-NOT:  remark:

func.func @fold(%p : tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>) {
  %large = relax.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %small = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // expected-remark@+1 {{[Missed] TooManyElements | Category:fold-constant | Function=fold | Remark="too large to evaluate", Op="relax.add", Elements=4, Limit=3}}
  %0 = relax.add %large, %large : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-remark@+1 {{[Passed] Folded | Category:fold-constant | Function=fold | Remark="replaced by its value", Op="relax.add"}}
  %1 = relax.add %small, %small : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %fill = relax.full 2.0 : tensor<2x2xf32>
  // expected-remark@+1 {{[Missed] OnlyFills}}
  %2 = relax.matmul %fill, %fill : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %true = arith.constant true
  // expected-remark@+1 {{[Passed] BranchChosen | Category:fold-constant | Function=fold | Remark="replaced by the branch that is taken", Op="scf.if"}}
  %3 = scf.if %true -> (tensor<2xf32>) {
    scf.yield %p : tensor<2xf32>
  } else {
    scf.yield %1 : tensor<2xf32>
  }
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>
}
