// RUN: passline-opt %s -p fake-quantization-to-integer,dead-code-elimination | filecheck %s

// A product with a constant weight: the zero point of the data is subtracted from the sums, as
// 3 * (sum of a row), and the bias is added to them.
// CHECK-LABEL: @dense
func.func @dense(%q : tensor<2x3xui8>) -> tensor<2x2xui8> {
  // CHECK: [[V:%.*]] = relax.constant {{.*}} : tensor<2x3xi8>
  // CHECK: [[T:%.*]] = relax.nn.dense %q, [[V]] {out_dtype = i32} : (tensor<2x3xui8>, tensor<2x3xi8>) -> tensor<2x2xi32>
  // CHECK: [[C:%.*]] = relax.constant dense<[18, -3]> : tensor<2xi32>
  // CHECK: [[Z:%.*]] = relax.subtract [[T]], [[C]]
  // CHECK: [[B:%.*]] = relax.constant dense<[7, -8]> : tensor<2xi32>
  // CHECK: [[A:%.*]] = relax.add [[Z]], [[B]]
  // CHECK: [[F:%.*]] = relax.full 5.000000e-01 : tensor<f32>
  // CHECK: [[R:%.*]] = relax.requantize [[A]], [[F]], {{%.*}} : (tensor<2x2xi32>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  // CHECK-NEXT: func.return [[R]]
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 3 : tensor<ui8>
  %wz = relax.full 0 : tensor<i8>
  %bs = relax.full 0.25 : tensor<f32>
  %bz = relax.full 0 : tensor<i32>
  %v = relax.constant dense<[[1, 2, 3], [4, 5, -10]]> : tensor<2x3xi8>
  %b = relax.constant dense<[7, -8]> : tensor<2xi32>
  %x = relax.dequantize %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %w = relax.dequantize %v, %s, %wz : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %c = relax.dequantize %b, %bs, %bz : (tensor<2xi32>, tensor<f32>, tensor<i32>) -> tensor<2xf32>
  %y = relax.nn.dense %x, %w : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %a = relax.add %y, %c : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %r = relax.quantize %a, %s, %z : (tensor<2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  return %r : tensor<2x2xui8>
}

// A convolution pads with the zero point; a scale for each output channel stays one.
// CHECK-LABEL: @conv2d
func.func @conv2d(%q : tensor<1x1x4x4xi8>) -> tensor<1x2x4x4xi8> {
  // CHECK: [[P:%.*]] = relax.nn.pad %q {pad_width = [0, 0, 0, 0, 1, 1, 1, 1], pad_value = 5.000000e+00 : f64}
  // CHECK: [[T:%.*]] = relax.nn.conv2d [[P]], {{%.*}} {out_dtype = i32} : (tensor<1x1x6x6xi8>, tensor<2x1x3x3xi8>) -> tensor<1x2x4x4xi32>
  // CHECK: relax.subtract [[T]], {{%.*}} : (tensor<1x2x4x4xi32>, tensor<2x1x1xi32>)
  // CHECK: relax.maximum
  // CHECK: relax.constant dense<{{.*}}1.000000e+00{{.*}}2.000000e+00{{.*}}> : tensor<2x1x1xf32>
  // CHECK: relax.requantize
  // CHECK-NOT: relax.{{(de)?}}quantize
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 5 : tensor<i8>
  %wz = relax.full 0 : tensor<i8>
  %ws = relax.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %v = relax.constant dense<[[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]], [[[-1, 2, -3], [4, -5, 6], [-7, 8, -9]]]]> : tensor<2x1x3x3xi8>
  %x = relax.dequantize %q, %s, %z : (tensor<1x1x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1x4x4xf32>
  %w = relax.dequantize %v, %ws, %wz : (tensor<2x1x3x3xi8>, tensor<2x1x1x1xf32>, tensor<i8>) -> tensor<2x1x3x3xf32>
  %y = relax.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x4x4xf32>
  %a = relax.nn.relu %y : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %r = relax.quantize %a, %s, %z : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  return %r : tensor<1x2x4x4xi8>
}

// Elements move as they are: no arithmetic is left.
// CHECK-LABEL: @moves
func.func @moves(%q : tensor<1x2x4x4xui8>) -> tensor<2x4xui8> {
  // CHECK-NEXT: [[A:%.*]] = relax.nn.max_pool2d %q
  // CHECK-NEXT: [[B:%.*]] = relax.reshape [[A]] {newshape = [4, 2]} : (tensor<1x2x2x2xui8>) -> tensor<4x2xui8>
  // CHECK-NEXT: [[C:%.*]] = relax.transpose [[B]] : (tensor<4x2xui8>) -> tensor<2x4xui8>
  // CHECK-NEXT: func.return [[C]]
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 3 : tensor<ui8>
  %x = relax.dequantize %q, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %0 = relax.nn.max_pool2d %x {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %1 = relax.reshape %0 {newshape = [4, 2]} : (tensor<1x2x2x2xf32>) -> tensor<4x2xf32>
  %2 = relax.transpose %1 : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %r = relax.quantize %2, %s, %z : (tensor<2x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
  return %r : tensor<2x4xui8>
}

// Sums of one scale are exact; others are brought to a common scale.
// CHECK-LABEL: @sums
func.func @sums(%p : tensor<4xi8>, %q : tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  // CHECK: relax.add {{%.*}}, {{%.*}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: relax.requantize
  // CHECK: relax.round
  // CHECK: relax.round
  // CHECK: relax.subtract {{%.*}}, {{%.*}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: relax.requantize
  %s = relax.full 0.5 : tensor<f32>
  %t = relax.full 0.3 : tensor<f32>
  %z = relax.full 3 : tensor<i8>
  %a = relax.dequantize %p, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %b = relax.dequantize %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %c = relax.dequantize %q, %t, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %0 = relax.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.subtract %a, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = relax.quantize %0, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %u = relax.quantize %1, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %r, %u : tensor<4xi8>, tensor<4xi8>
}

// A function of one number is a table of 256 numbers; so is a chain of them.
// CHECK-LABEL: @table
func.func @table(%q : tensor<4xi8>) -> tensor<4xui8> {
  // CHECK-NOT: relax.sigmoid
  // CHECK: [[T:%.*]] = relax.constant {{.*}} : tensor<256xui8>
  // CHECK-NEXT: [[R:%.*]] = relax.take [[T]], {{%.*}} {axis = 0, mode = "fast"} : (tensor<256xui8>, tensor<4xi32>) -> tensor<4xui8>
  // CHECK-NEXT: func.return [[R]]
  %s = relax.full 0.05 : tensor<f32>
  %z = relax.full -3 : tensor<i8>
  %t = relax.full 0.01 : tensor<f32>
  %u = relax.full 7 : tensor<ui8>
  %x = relax.dequantize %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %0 = relax.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.multiply %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = relax.quantize %1, %t, %u : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  return %r : tensor<4xui8>
}

// Rounding commutes with a concatenation: its operands are brought to the scale of the result.
// CHECK-LABEL: @concatenate
func.func @concatenate(%p : tensor<4xi8>, %q : tensor<4xi8>) -> tensor<8xi8> {
  // CHECK: [[P:%.*]] = relax.requantize {{.*}} -> tensor<4xi8>
  // CHECK-NEXT: [[C:%.*]] = relax.concatenate [[P]], %q
  // CHECK-NEXT: func.return [[C]]
  %s = relax.full 0.5 : tensor<f32>
  %t = relax.full 0.3 : tensor<f32>
  %z = relax.full 3 : tensor<i8>
  %a = relax.dequantize %p, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %b = relax.dequantize %q, %t, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %0 = relax.concatenate %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %r = relax.quantize %0, %t, %z : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
  return %r : tensor<8xi8>
}
