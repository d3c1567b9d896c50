// RUN: passline-opt %s -p eliminate-common-subexpr,dead-code-elimination --remarks --verify-diagnostics
// RUN: passline-opt %s -p eliminate-common-subexpr,dead-code-elimination --remarks-passed=common 2>&1 >/dev/null | filecheck %s
// RUN: passline-opt %s -p eliminate-common-subexpr --remarks-passed=dead --remarks-missed=common 2>&1 | filecheck %s --check-prefix=NONE

// What the passes say that they did.

// NONE-NOT: remark:

// CHECK-NOT:  dead-code
// CHECK:      remark: [Passed] Merged | Category:eliminate-common-subexpr | Function=merge | Remark="replaced by an equal operation", Op="relax.add"
// CHECK-NEXT:   %1 = relax.add %x, %x
// CHECK-NEXT:        ^
// CHECK-NOT:  remark:

func.func @merge(%x : tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = relax.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // expected-remark-re@+1 {{[Passed] Merged | Category:eliminate-common-subexpr | Function=merge | Remark="replaced by an equal operation", Op="relax.add", First="{{.*}}remarks.mlir:{{\d+}}:8"}}
  %1 = relax.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // expected-remark@+1 {{[Passed] Removed | Category:dead-code-elimination | Function=merge | Remark="has no effects, and its results are unused", Op="relax.multiply"}}
  %2 = relax.multiply %x, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// expected-remark@+1 {{[Passed] RemovedSymbol | Category:dead-code-elimination | Function=unreached | Remark="private, and nothing reaches it", Op="func.func"}}
func.func private @unreached() {
  return
}
