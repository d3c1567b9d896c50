// RUN: passline-opt %s -p 'legalize-ops{target=sm_90}' --split-input-file | filecheck %s

// A bias for each channel: the spatial dimensions are one. Only the number of the block is divided.
// CHECK-LABEL: func.func @bias
// CHECK:       entry @fused_add(
// CHECK-NOT:     divi {{.*}} : tile<1
// CHECK:         make_tensor_view {{%.*}}, shape = [16, 16, 3136], strides = [50176, 3136, 1]
// CHECK:         make_partition_view {{%.*}} : partition_view<tile=(1x1x2048)
// CHECK:         make_partition_view {{%.*}} : partition_view<tile=(1x1x1)
// CHECK:         [[BIAS:%.*]] = broadcast {{%.*}} : tile<1x1x1xf32> -> tile<1x1x2048xf32>
// CHECK:         addf {{%.*}}, [[BIAS]]
// CHECK:         store_view_tko
func.func @bias(%x: tensor<16x16x56x56xf32>, %b: tensor<16x1x1xf32>) -> tensor<16x16x56x56xf32> {
  %0 = relax.add %x, %b : (tensor<16x16x56x56xf32>, tensor<16x1x1xf32>) -> tensor<16x16x56x56xf32>
  return %0 : tensor<16x16x56x56xf32>
}

// -----

// A transposition: a tile is loaded and stored along the dimensions that are contiguous.
// CHECK-LABEL: func.func @transposed
// CHECK:       entry @fused_transpose(
// CHECK:         make_partition_view {{%.*}} : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<8x4096x512xf32
// CHECK:         [[TILE:%.*]], {{%.*}} = load_view_tko weak
// CHECK:         permute [[TILE]] [0, 2, 1] : tile<1x64x64xf32> -> tile<1x64x64xf32>
// CHECK:         store_view_tko
func.func @transposed(%x: tensor<8x64x64x512xf32>) -> tensor<8x512x64x64xf32> {
  %0 = relax.transpose %x {axes = [0, 3, 1, 2]} : (tensor<8x64x64x512xf32>) -> tensor<8x512x64x64xf32>
  return %0 : tensor<8x512x64x64xf32>
}

// -----

// Unknown sizes are parameters.
// CHECK-LABEL: func.func @unknown
// CHECK:       entry @fused_relu({{%.*}}: tile<ptr<f32>>, {{%.*}}: tile<ptr<f32>>, [[N:%.*]]: tile<i32>)
// CHECK:         make_tensor_view {{%.*}}, shape = [[[N]]], strides = [1]
// CHECK:         maxf
func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relax.nn.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Gathered elements have no views: loops compute them.
// CHECK-LABEL: func.func @gathered
// CHECK:       tir.prim_func private @fused_take
// CHECK:         tir.for
// CHECK-NOT:     cuda_tile.module
func.func @gathered(%x: tensor<100x16xf32>, %i: tensor<8xi64>) -> tensor<8x16xf32> {
  %0 = relax.take %x, %i {axis = 0} : (tensor<100x16xf32>, tensor<8xi64>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
