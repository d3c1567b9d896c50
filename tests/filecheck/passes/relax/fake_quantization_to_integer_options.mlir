// RUN: passline-opt %s -p 'fake-quantization-to-integer{use-qat=true}' | filecheck %s
// RUN: passline-opt %s -p fake-quantization-to-integer | filecheck %s --check-prefix=PLAIN
// RUN: not passline-opt %s -p 'fake-quantization-to-integer{hard-fail=true}' 2>&1 | filecheck %s --check-prefix=HARD

// A product whose result stays float is computed in integers with use-qat only.
// CHECK-LABEL: @last
// PLAIN-LABEL: @last
func.func @last(%q : tensor<2x3xi8>) -> tensor<2x2xf32> {
  // CHECK: [[T:%.*]] = relax.nn.dense {{.*}} -> tensor<2x2xi32>
  // CHECK: relax.dequantize [[T]], {{.*}} -> tensor<2x2xf32>
  // PLAIN: relax.nn.dense {{.*}} -> tensor<2x2xf32>
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 0 : tensor<i8>
  %v = relax.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %x = relax.dequantize %q, %s, %z : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %w = relax.dequantize %v, %s, %z : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %y = relax.nn.dense %x, %w : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// HARD: error: 'relax.quantize' op stays float: 'relax.cos' has no rule for integers
func.func @cosine(%q : tensor<4xi8>) -> tensor<4xi8> {
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 0 : tensor<i8>
  %x = relax.dequantize %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %0 = relax.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = relax.quantize %0, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}
