// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s
// RUN: xdsl-opt %s -p infer-type,eliminate-common-subexpr,dead-code-elimination | filecheck %s --check-prefix=OPTIMIZED

// A plain xdsl-opt finds the dialects and passes through the entry point.

// CHECK-LABEL: @main
// CHECK-NEXT:    %c = relax.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %s = relax.add %c, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %f = relax.full 5.000000e-01 : tensor<64x64xf32>
// CHECK-NEXT:    %u = relax.matmul %f, %f
// CHECK-NEXT:    func.return %s : tensor<2xf32>

// OPTIMIZED-LABEL: @main
// OPTIMIZED-NEXT:    relax.constant
// OPTIMIZED-NEXT:    relax.add
// OPTIMIZED-NEXT:    func.return
func.func @main() -> tensor<2xf32> {
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = relax.add %c, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %f = relax.full 0.5 : tensor<64x64xf32>
  %u = relax.matmul %f, %f : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %s : tensor<2xf32>
}
