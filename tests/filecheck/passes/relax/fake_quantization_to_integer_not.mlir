// RUN: passline-opt %s -p fake-quantization-to-integer --split-input-file --remarks-missed=fake-quantization-to-integer 2>&1 | filecheck %s

// What stays float, and why. Each case is an end with one thing wrong with it.

// CHECK: the scale is not a constant
func.func @scale(%q : tensor<4xi8>, %s : tensor<f32>) -> tensor<4xi8> {
  %z = relax.full 3 : tensor<i8>
  %t = relax.full 0.5 : tensor<f32>
  %x = relax.dequantize %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %0 = relax.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = relax.quantize %0, %t, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// CHECK: the zero point is not a constant
func.func @zero_point(%q : tensor<4xi8>, %z : tensor<i8>) -> tensor<4xi8> {
  %t = relax.full 0.5 : tensor<f32>
  %x = relax.dequantize %q, %t, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %0 = relax.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = relax.quantize %0, %t, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// CHECK: a scale is not a positive normal number
func.func @negative_scale(%q : tensor<4xi8>) -> tensor<4xi8> {
  %z = relax.full 3 : tensor<i8>
  %s = relax.full -0.5 : tensor<f32>
  %t = relax.full 0.5 : tensor<f32>
  %x = relax.dequantize %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %0 = relax.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = relax.quantize %0, %t, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// CHECK: the scale is not f32
func.func @f16(%q : tensor<4xi8>) -> tensor<4xi8> {
  %z = relax.full 3 : tensor<i8>
  %s = relax.full 0.5 : tensor<f16>
  %x = relax.dequantize %q, %s, %z : (tensor<4xi8>, tensor<f16>, tensor<i8>) -> tensor<4xf16>
  %0 = relax.nn.relu %x : (tensor<4xf16>) -> tensor<4xf16>
  %r = relax.quantize %0, %s, %z : (tensor<4xf16>, tensor<f16>, tensor<i8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// CHECK: the zero points of the channels differ
func.func @zero_points(%q : tensor<2x4xi8>) -> tensor<2x4xi8> {
  %z = relax.constant dense<[[1], [2]]> : tensor<2x1xi8>
  %o = relax.full 0 : tensor<i8>
  %s = relax.full 0.5 : tensor<f32>
  %x = relax.dequantize %q, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<2x1xi8>) -> tensor<2x4xf32>
  %0 = relax.nn.relu %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = relax.quantize %0, %s, %o : (tensor<2x4xf32>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  return %r : tensor<2x4xi8>
}

// -----

// CHECK: 'relax.nn.softmax' has no rule for integers
func.func @softmax(%q : tensor<2x4xi8>) -> tensor<2x4xi8> {
  %z = relax.full 3 : tensor<i8>
  %s = relax.full 0.5 : tensor<f32>
  %x = relax.dequantize %q, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  %0 = relax.nn.softmax %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = relax.quantize %0, %s, %z : (tensor<2x4xf32>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  return %r : tensor<2x4xi8>
}

// -----

// CHECK: the result of 'relax.nn.relu' is also used by 'func.return'
func.func @used(%q : tensor<4xi8>) -> (tensor<4xi8>, tensor<4xf32>) {
  %z = relax.full 3 : tensor<i8>
  %s = relax.full 0.5 : tensor<f32>
  %x = relax.dequantize %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %0 = relax.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = relax.quantize %0, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %r, %0 : tensor<4xi8>, tensor<4xf32>
}

// -----

// CHECK: an operand is a float argument
func.func @float(%q : tensor<4xi8>, %y : tensor<4xf32>) -> tensor<4xi8> {
  %z = relax.full 3 : tensor<i8>
  %s = relax.full 0.5 : tensor<f32>
  %x = relax.dequantize %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = relax.quantize %0, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

// The mean is not monotone: rounding the parts first would round twice.
// CHECK: the scales or zero points of the operands differ
func.func @concatenate(%p : tensor<1x4xi8>, %q : tensor<1x4xi8>) -> tensor<1xi8> {
  %s = relax.full 0.5 : tensor<f32>
  %t = relax.full 0.3 : tensor<f32>
  %z = relax.full 3 : tensor<i8>
  %a = relax.dequantize %p, %s, %z : (tensor<1x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4xf32>
  %b = relax.dequantize %q, %t, %z : (tensor<1x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4xf32>
  %0 = relax.concatenate %a, %b {axis = 1} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x8xf32>
  %1 = relax.mean %0 {axis = [1]} : (tensor<1x8xf32>) -> tensor<1xf32>
  %r = relax.quantize %1, %t, %z : (tensor<1xf32>, tensor<f32>, tensor<i8>) -> tensor<1xi8>
  return %r : tensor<1xi8>
}

// -----

// CHECK: the weight is not a constant
func.func @weight(%p : tensor<2x3xi8>, %q : tensor<2x3xi8>) -> tensor<2x2xi8> {
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 0 : tensor<i8>
  %a = relax.dequantize %p, %s, %z : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %b = relax.dequantize %q, %s, %z : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %0 = relax.nn.dense %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %r = relax.quantize %0, %s, %z : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %r : tensor<2x2xi8>
}

// -----

// Scales along the summed dimension cannot be taken out of the sum.
// CHECK: the scales of the weight are not those of its outputs
func.func @scales_of_terms(%p : tensor<2x2xi8>) -> tensor<2x2xi8> {
  %s = relax.full 0.5 : tensor<f32>
  %ws = relax.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %z = relax.full 0 : tensor<i8>
  %v = relax.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %a = relax.dequantize %p, %s, %z : (tensor<2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2xf32>
  %b = relax.dequantize %v, %ws, %z : (tensor<2x2xi8>, tensor<2xf32>, tensor<i8>) -> tensor<2x2xf32>
  %0 = relax.nn.dense %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = relax.quantize %0, %s, %z : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %r : tensor<2x2xi8>
}

// -----

// CHECK: the sums of products may reach 21474181120, which exceeds an i32
func.func @overflow(%p : tensor<1x20xi16>) -> tensor<1x1xi8> {
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 0 : tensor<i16>
  %y = relax.full 0 : tensor<i8>
  %v = relax.full 32767 : tensor<1x20xi16>
  %a = relax.dequantize %p, %s, %z : (tensor<1x20xi16>, tensor<f32>, tensor<i16>) -> tensor<1x20xf32>
  %b = relax.dequantize %v, %s, %z : (tensor<1x20xi16>, tensor<f32>, tensor<i16>) -> tensor<1x20xf32>
  %0 = relax.nn.dense %a, %b : (tensor<1x20xf32>, tensor<1x20xf32>) -> tensor<1x1xf32>
  %r = relax.quantize %0, %s, %y : (tensor<1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1xi8>
  return %r : tensor<1x1xi8>
}

// -----

// CHECK: the number of products in a sum is not known
func.func @unknown_size(%p : tensor<2x?xi8>, %q : tensor<?x2xi8>) -> tensor<2x2xi8> {
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 0 : tensor<i8>
  %a = relax.dequantize %p, %s, %z : (tensor<2x?xi8>, tensor<f32>, tensor<i8>) -> tensor<2x?xf32>
  %b = relax.dequantize %q, %s, %z : (tensor<?x2xi8>, tensor<f32>, tensor<i8>) -> tensor<?x2xf32>
  %0 = relax.matmul %a, %b : (tensor<2x?xf32>, tensor<?x2xf32>) -> tensor<2x2xf32>
  %r = relax.quantize %0, %s, %z : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %r : tensor<2x2xi8>
}

// -----

// CHECK: pad_value 1.25 is not one of the quantized numbers
func.func @pad(%q : tensor<4xi8>) -> tensor<6xi8> {
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 0 : tensor<i8>
  %x = relax.dequantize %q, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %0 = relax.nn.pad %x {pad_width = [1, 1], pad_value = 1.25} : (tensor<4xf32>) -> tensor<6xf32>
  %r = relax.quantize %0, %s, %z : (tensor<6xf32>, tensor<f32>, tensor<i8>) -> tensor<6xi8>
  return %r : tensor<6xi8>
}

// -----

// CHECK: method linear computes new numbers
func.func @resize(%q : tensor<1x1x4x4xi8>) -> tensor<1x1x8x8xi8> {
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 0 : tensor<i8>
  %x = relax.dequantize %q, %s, %z : (tensor<1x1x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1x4x4xf32>
  %0 = relax.image.resize2d %x {size = [8, 8]} : (tensor<1x1x4x4xf32>) -> tensor<1x1x8x8xf32>
  %r = relax.quantize %0, %s, %z : (tensor<1x1x8x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1x8x8xi8>
  return %r : tensor<1x1x8x8xi8>
}

// -----

// CHECK: its layouts are not NCHW, OIHW and NCHW
func.func @layout(%q : tensor<1x4x4x1xi8>) -> tensor<1x4x4x1xi8> {
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 0 : tensor<i8>
  %v = relax.full 3 : tensor<1x1x1x1xi8>
  %x = relax.dequantize %q, %s, %z : (tensor<1x4x4x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x1xf32>
  %w = relax.dequantize %v, %s, %z : (tensor<1x1x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1x1x1xf32>
  %0 = relax.nn.conv2d %x, %w {data_layout = "NHWC"} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>
  %r = relax.quantize %0, %s, %z : (tensor<1x4x4x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x1xi8>
  return %r : tensor<1x4x4x1xi8>
}

// -----

// CHECK: an operand has a scale for each channel
func.func @channels(%q : tensor<2x4xi8>) -> tensor<8xi8> {
  %s = relax.constant dense<[[0.5], [0.25]]> : tensor<2x1xf32>
  %t = relax.full 0.5 : tensor<f32>
  %z = relax.full 0 : tensor<i8>
  %x = relax.dequantize %q, %s, %z : (tensor<2x4xi8>, tensor<2x1xf32>, tensor<i8>) -> tensor<2x4xf32>
  %0 = relax.reshape %x {newshape = [8]} : (tensor<2x4xf32>) -> tensor<8xf32>
  %r = relax.quantize %0, %t, %z : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
  return %r : tensor<8xi8>
}

// -----

// A constant is rounded to the scale of the sum, which is 27 steps of the result.
// CHECK: its error may be 8.11 steps of the result, more than 0.5
func.func @coarse_sum(%q: tensor<1x1xi8>) -> tensor<1x1xi8> {
  %s = relax.full 1.0 : tensor<f32>
  %z = relax.full 0 : tensor<i8>
  %t = relax.full 0.037 : tensor<f32>
  %b = relax.full 0.3 : tensor<f32>
  %w = relax.full 1 : tensor<1x1xi8>
  %x = relax.dequantize %q, %s, %z : (tensor<1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1xf32>
  %v = relax.dequantize %w, %s, %z : (tensor<1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1xf32>
  %m = relax.nn.dense %x, %v : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %y = relax.add %m, %b : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  %r = relax.quantize %y, %t, %z : (tensor<1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1xi8>
  return %r : tensor<1x1xi8>
}

// -----

// In integers nothing would be rounded.
// CHECK: the constants around a sum cancel, which rounds floats on purpose
func.func @rounds_on_purpose(%q: tensor<1x1xi8>) -> tensor<1x1xi8> {
  %s = relax.full 0.125 : tensor<f32>
  %z = relax.full 0 : tensor<i8>
  %t = relax.full 0.037 : tensor<f32>
  %b = relax.full 12582912.0 : tensor<f32>
  %c = relax.full -12582912.0 : tensor<f32>
  %w = relax.full 1 : tensor<1x1xi8>
  %x = relax.dequantize %q, %s, %z : (tensor<1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1xf32>
  %v = relax.dequantize %w, %s, %z : (tensor<1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1xf32>
  %m = relax.nn.dense %x, %v : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %y = relax.add %m, %b : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  %n = relax.add %y, %c : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  %r = relax.quantize %n, %t, %z : (tensor<1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1xi8>
  return %r : tensor<1x1xi8>
}
