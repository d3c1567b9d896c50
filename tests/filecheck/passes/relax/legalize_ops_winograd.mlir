// RUN: passline-opt %s -p 'legalize-ops{target=x86-64 winograd=f4}' --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'legalize-ops{target=x86-64 winograd=f4}' --split-input-file --remarks=legalize 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// The weight is transformed to 4x4 matrices of 16 outputs and 24 channels, which are packed in
// tiles of 8 outputs. The data is padded, and its columns split into 2 phases; the tiles of the data
// and the sums are 4x4 matrices of channels and 2x2 tiles.
// CHECK-LABEL: @pays
// CHECK-NEXT: [[W:%.*]] = relax.constant {{.*}} : tensor<16x2x24x8xf32>
// CHECK-NEXT: relax.call_tir @fused_conv2d(%x, [[W]])
// CHECK:      tir.prim_func private @fused_conv2d(%x: memref<1x24x4x4xf32>, %w: memref<16x2x24x8xf32>
// CHECK:      [[PHASES:%.*]] = memref.alloc() {{.*}} : memref<1x24x1x2x6x3xf32>
// CHECK:      [[DATA:%.*]] = memref.alloc() {{.*}} : memref<16x112xf32>
// CHECK-NEXT: [[SUMS:%.*]] = memref.alloc() {{.*}} : memref<16x80xf32>
// CHECK:      tir.for vectorized
// CHECK-COUNT-16: memref.load [[PHASES]]
// CHECK-COUNT-16: memref.store {{.*}}, [[DATA]]
// CHECK:      tir.for parallel
// CHECK:      memref.load %w
// CHECK:      memref.store {{.*}}, [[SUMS]]
// CHECK-COUNT-16: memref.load [[SUMS]]
// REMARK:     [Passed] Winograd {{.*}} | Function=fused_conv2d | Remark="F(2x2, 3x3) is estimated to be 1.{{[0-9]+}} times as fast as the direct kernel"
func.func @pays(%x: tensor<1x24x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %w = relax.constant dense<0.0> : tensor<16x24x3x3xf32>
  %0 = relax.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x24x4x4xf32>, tensor<16x24x3x3xf32>) -> tensor<1x16x4x4xf32>
  return %0 : tensor<1x16x4x4xf32>
}

// -----

// With few channels, the transforms take more time than the products save.
// CHECK-LABEL: @few_channels
// CHECK:      relax.constant {{.*}} : tensor<1x
// REMARK:     [Missed] Winograd {{.*}} | Function=fused_conv2d | Remark="F(4x4, 3x3) is estimated to be 0.{{[0-9]+}} times as fast as the direct kernel"
func.func @few_channels(%x: tensor<1x2x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = relax.constant dense<0.0> : tensor<4x2x3x3xf32>
  %0 = relax.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x2x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x8x8xf32>
  return %0 : tensor<1x4x8x8xf32>
}

// -----

// A weight that is not constant is not transformed; there is no remark.
// CHECK-LABEL: @not_constant
// CHECK:      tir.prim_func private @fused_conv2d(%x: memref<1x24x4x4xf32>, %w: memref<16x24x3x3xf32>
// REMARK-NOT: Winograd
func.func @not_constant(%x: tensor<1x24x4x4xf32>, %w: tensor<16x24x3x3xf32>) -> tensor<1x16x4x4xf32> {
  %0 = relax.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x24x4x4xf32>, tensor<16x24x3x3xf32>) -> tensor<1x16x4x4xf32>
  return %0 : tensor<1x16x4x4xf32>
}
