// RUN: passline-opt %s --verify-roundtrip
// RUN: passline-opt %s --print-op-generic --verify-roundtrip

func.func @quantization(%x: tensor<2x3xf32>, %q: tensor<2x3xi8>, %t: tensor<2x3xi32>, %s: tensor<f32>, %c: tensor<2x1xf32>, %z: tensor<i8>) -> (tensor<2x3xi8>, tensor<2x3xf32>, tensor<2x3xi8>) {
  %0 = relax.quantize %x, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  %1 = relax.dequantize %q, %c, %z : (tensor<2x3xi8>, tensor<2x1xf32>, tensor<i8>) -> tensor<2x3xf32>
  %2 = relax.requantize %t, %c, %z : (tensor<2x3xi32>, tensor<2x1xf32>, tensor<i8>) -> tensor<2x3xi8>
  func.return %0, %1, %2 : tensor<2x3xi8>, tensor<2x3xf32>, tensor<2x3xi8>
}
