// RUN: passline-opt %s -p fuse-ops --split-input-file | filecheck %s

// Residual blocks: bias, sum and relu go with the later product; x is used around it.
// CHECK-LABEL: @residual
// CHECK-NEXT: [[A:%.*]] = func.call @fused_matmul_add_relu(%x, %w, %b)
// CHECK-NEXT: [[B:%.*]] = func.call @fused_matmul_add_add_relu([[A]], %w, %b, %x)
// CHECK-NEXT: [[C:%.*]] = func.call @fused_matmul_add_relu([[B]], %w, %b)
// CHECK-NEXT: [[D:%.*]] = func.call @fused_matmul_add_add_relu([[C]], %w, %b, [[B]])
// CHECK-NEXT: func.return [[D]]
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @fused_matmul_add_relu(
// CHECK: func.func private @fused_matmul_add_add_relu(
// CHECK-NOT: func.func private
func.func @residual(%x : tensor<4x4xf32>, %w : tensor<4x4xf32>, %b : tensor<4xf32>) -> tensor<4x4xf32> {
  %0 = relax.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relax.add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = relax.nn.relu %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = relax.matmul %2, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = relax.add %3, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %5 = relax.add %4, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = relax.nn.relu %5 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = relax.matmul %6, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = relax.add %7, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %9 = relax.nn.relu %8 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %10 = relax.matmul %9, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %11 = relax.add %10, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %12 = relax.add %11, %6 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %13 = relax.nn.relu %12 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %13 : tensor<4x4xf32>
}

// -----

// An inception block: each product with its relu; the first concatenation, which no product takes,
// is in place, the other one is returned.
// CHECK-LABEL: @inception
// CHECK-NEXT: [[A:%.*]] = func.call @fused_matmul_relu(%x, %w)
// CHECK-NEXT: [[B:%.*]] = func.call @fused_matmul_relu(%x, %v)
// CHECK-NEXT: [[C:%.*]] = relax.concatenate [[A]], [[B]]
// CHECK-NEXT: [[D:%.*]] = func.call @fused_matmul_relu1([[C]], %w)
// CHECK-NEXT: [[E:%.*]] = func.call @fused_matmul_relu1([[C]], %v)
// CHECK-NEXT: [[F:%.*]] = func.call @fused_concatenate([[D]], [[E]])
// CHECK-NEXT: func.return [[F]]
func.func @inception(%x : tensor<2x2xf32>, %w : tensor<2x2xf32>, %v : tensor<2x2xf32>) -> tensor<8x2xf32> {
  %0 = relax.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.nn.relu %0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = relax.matmul %x, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = relax.nn.relu %2 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = relax.concatenate %1, %3 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %5 = relax.matmul %4, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %6 = relax.nn.relu %5 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %7 = relax.matmul %4, %v : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %8 = relax.nn.relu %7 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %9 = relax.concatenate %6, %8 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  return %9 : tensor<8x2xf32>
}

// A convolution with its bias, sum and activation; where two convolutions meet, the later has them.
// CHECK-LABEL: @convolutions
// CHECK-NEXT: [[A:%.*]] = func.call @fused_conv2d_bias_add(%x, %w, %b)
// CHECK-NEXT: [[B:%.*]] = func.call @fused_conv2d_bias_add_prelu(%x, %w, %b)
// CHECK-NEXT: [[C:%.*]] = func.call @fused_conv2d_bias_add_add_relu([[B]], %w, %b, [[A]])
// CHECK-NEXT: func.return [[C]]
func.func @convolutions(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %b : tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.bias_add %0, %b : (tensor<1x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.nn.bias_add %2, %b : (tensor<1x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.nn.prelu %3, %b : (tensor<1x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.nn.conv2d %4, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %6 = relax.nn.bias_add %5, %b : (tensor<1x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %7 = relax.add %1, %6 : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = relax.nn.relu %7 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %8 : tensor<1x2x3x3xf32>
}

// CHECK-LABEL: @pool_and_upsampling
// CHECK-NEXT: [[P:%.*]] = func.call @fused_max_pool2d(%x)
// CHECK-NEXT: [[C:%.*]] = func.call @fused_upsampling_concatenate_add([[P]], %x)
// CHECK-NEXT: func.return [[C]]
func.func @pool_and_upsampling(%x : tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %c = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.nn.max_pool2d %x {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %1 = relax.nn.upsampling %0 {scale_h = 2.0, scale_w = 2.0} : (tensor<1x2x2x2xf32>) -> tensor<1x2x4x4xf32>
  %2 = relax.concatenate %1, %x {axis = 1} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32>
  %3 = relax.add %2, %c : (tensor<1x4x4x4xf32>, tensor<f32>) -> tensor<1x4x4x4xf32>
  return %3 : tensor<1x4x4x4xf32>
}

// CHECK-LABEL: @softmax
// CHECK-NEXT: func.call @fused_softmax_astype(%x)
// CHECK-NEXT: func.return
func.func @softmax(%x : tensor<2x4xf32>) -> tensor<2x4xf16> {
  %0 = relax.nn.softmax %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = relax.astype %0 {dtype = f16} : (tensor<2x4xf32>) -> tensor<2x4xf16>
  return %1 : tensor<2x4xf16>
}

// CHECK-LABEL: @layer_norm
// CHECK-NEXT: func.call @fused_layer_norm_silu(%x, %g)
// CHECK-NEXT: func.return
func.func @layer_norm(%x : tensor<2x4xf32>, %g : tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = relax.nn.layer_norm %x, %g, %g : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = relax.nn.silu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
