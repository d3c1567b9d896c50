// RUN: passline-opt %s -p simplify-expr --config relax.fastmath=reassoc | filecheck %s
// RUN: passline-opt %s -p simplify-expr --verify-semantics | filecheck %s --check-prefix=RANGE
// RUN: passline-opt %s -p simplify-expr --verify-semantics --config relax.fastmath=reassoc | filecheck %s

// With `reassoc`, the range of floats does not matter, nor is it verified.
func.func @main(%x : tensor<2xf16>) -> tensor<2xf16> {
  // CHECK: [[M:%.*]] = relax.multiply %x
  // CHECK: relax.add [[M]]
  // RANGE: [[A:%.*]] = relax.add %x
  // RANGE: relax.multiply [[A]]
  %a = relax.full 150.0 : tensor<f16>
  %b = relax.full 400.0 : tensor<f16>
  %0 = relax.subtract %x, %a : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %1 = relax.multiply %0, %b : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  return %1 : tensor<2xf16>
}
