// RUN: passline-opt %s -p 'fuse-ops,legalize-ops{target=sm_90}' --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'fuse-ops,legalize-ops{target=sm_90}' --split-input-file --remarks=legalize 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// A block has a tile of the result, and loads tiles of both operands by views, whose edges are
// zeros. The bias and the rectifier are computed on the sums.
// CHECK-LABEL: @large(
// CHECK:       tir.prim_func private @fused_matmul_add_relu(
// CHECK:         [[BLOCKS:%.*]] = arith.constant 512 : index
// CHECK:         tir.launch @kernels::@fused_matmul_add_relu{{\[}}[[BLOCKS]]
// CHECK:       cuda_tile.module @kernels {
// CHECK:         entry @fused_matmul_add_relu([[A:%[0-9]+]]: tile<ptr<f16>>, {{%[0-9]+}}: tile<ptr<f16>>
// CHECK:         [[ALIGNED:%[0-9]+]] = assume div_by<16>, [[A]]
// CHECK:         get_tile_block_id
// CHECK:         [[TENSOR:%[0-9]+]] = make_tensor_view [[ALIGNED]], shape = [4096, 4096], strides = [4096, 1]
// CHECK:         [[VIEW:%[0-9]+]] = make_partition_view [[TENSOR]] : partition_view<tile=(128x64), padding_value = zero
// CHECK:         [[SUMS:%[0-9]+]] = for [[STEP:%[0-9]+]] in ({{.*}}) : tile<i32> iter_values([[ACC:%[0-9]+]] = {{%.*}}) -> (tile<128x256xf32>)
// CHECK-NEXT:      [[LHS:%[0-9]+]], {{%[0-9]+}} = load_view_tko weak [[VIEW]][{{%.*}}, [[STEP]]]
// CHECK-NEXT:      [[RHS:%[0-9]+]], {{%[0-9]+}} = load_view_tko weak {{%[0-9]+}}{{\[}}[[STEP]]
// CHECK-NEXT:      [[NEXT:%[0-9]+]] = mmaf [[LHS]], [[RHS]], [[ACC]] : tile<128x64xf16>, tile<64x256xf16>, tile<128x256xf32>
// CHECK-NEXT:      continue [[NEXT]]
// CHECK:         ftof [[SUMS]] {{.*}} -> tile<128x256xf16>
// CHECK:         broadcast {{.*}} : tile<1x256xf16> -> tile<128x256xf16>
// CHECK:         addf
// CHECK:         maxf
// CHECK:         store_view_tko weak
// REMARK:      [Analysis] ProductTiles {{.*}}Remark="a block computes 128x256 sums, 64 terms at a time"
func.func @large(%x: tensor<4096x4096xf16>, %w: tensor<4096x4096xf16>, %b: tensor<4096xf16>) -> tensor<4096x4096xf16> {
  %0 = relax.matmul %x, %w : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %1 = relax.add %0, %b : (tensor<4096x4096xf16>, tensor<4096xf16>) -> tensor<4096x4096xf16>
  %2 = relax.nn.relu %1 : (tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  func.return %2 : tensor<4096x4096xf16>
}

// -----

// There are fewer tiles than multiprocessors: blocks share the terms of one, and another entry adds
// what they computed, in order.
// CHECK-LABEL: @few(
// CHECK:       [[PARTS:%[0-9]+]] = memref.alloc() {{.*}} : memref<32x1x64xf32>
// CHECK:       tir.launch @kernels::@fused_matmul_parts[{{.*}}] (%x, %w, [[PARTS]])
// CHECK-NEXT:  tir.launch @kernels::@fused_matmul[{{.*}}] (%x, %w, {{%.*}}, [[PARTS]])
// CHECK:       entry @fused_matmul_parts(
// CHECK:         mmaf
// CHECK:       entry @fused_matmul(
// CHECK-NOT:     mmaf
// CHECK:         for
// CHECK-NEXT:      load_view_tko
// CHECK:           addf
// REMARK:      Remark="a block computes {{.*}}, and 32 blocks share the terms"
func.func @few(%x: tensor<1x16384xf32>, %w: tensor<16384x64xf32>) -> tensor<1x64xf32> {
  %0 = relax.matmul %x, %w : (tensor<1x16384xf32>, tensor<16384x64xf32>) -> tensor<1x64xf32>
  func.return %0 : tensor<1x64xf32>
}

// -----

// Unknown sizes are parameters of the entry; the grid is computed from them.
// CHECK-LABEL: @unknown(
// CHECK:       [[N:%.*]] = memref.dim %x
// CHECK:       [[TILES:%.*]] = arith.divui
// CHECK:       tir.launch @kernels::@fused_matmul[{{.*}}] (%x, %w, {{.*}}index
// CHECK:       entry @fused_matmul({{.*}}, {{%.*}}: tile<i32>) {
// CHECK:         make_tensor_view {{.*}}, shape = [{{%.*}}, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xi8
// CHECK:         mmai {{.*}} signed signed
func.func @unknown(%x: tensor<?x64xi8>, %w: tensor<64x64xi8>) -> tensor<?x64xi32> {
  %0 = relax.matmul %x, %w {out_dtype = i32} : (tensor<?x64xi8>, tensor<64x64xi8>) -> tensor<?x64xi32>
  func.return %0 : tensor<?x64xi32>
}

// -----

// The windows of a convolution are gathered, with a mask; windows of one element are views.
// CHECK-LABEL: @windows(
// CHECK:       entry @fused_conv2d_relu(
// CHECK:         for
// CHECK:           cmpi less_than {{.*}}, unsigned
// CHECK:           offset
// CHECK-NEXT:      {{.*}} = constant <f16: 0
// CHECK:           load_ptr_tko weak
// CHECK:           mmaf
// CHECK:       entry @fused_conv2d(
// CHECK-NOT:     load_ptr_tko
// CHECK:         mmaf
func.func @windows(%x: tensor<1x16x28x28xf16>, %w: tensor<32x16x3x3xf16>, %v: tensor<64x32x1x1xf16>) -> tensor<1x64x28x28xf16> {
  %0 = relax.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x16x28x28xf16>, tensor<32x16x3x3xf16>) -> tensor<1x32x28x28xf16>
  %1 = relax.nn.relu %0 : (tensor<1x32x28x28xf16>) -> tensor<1x32x28x28xf16>
  %2 = relax.nn.conv2d %1, %v : (tensor<1x32x28x28xf16>, tensor<64x32x1x1xf16>) -> tensor<1x64x28x28xf16>
  func.return %2 : tensor<1x64x28x28xf16>
}

// -----

// A block folds rows that tiles hold whole. What is beyond their ends is the neutral element.
// CHECK-LABEL: @reduction(
// CHECK:       entry @fused_sum(
// CHECK:         make_partition_view {{.*}} : partition_view<tile=({{[0-9]+}}x128), padding_value = zero
// CHECK:         [[ROW:%[0-9]+]], {{%[0-9]+}} = load_view_tko weak
// CHECK:         [[INSIDE:%[0-9]+]] = select {{%[0-9]+}}, [[ROW]], {{%[0-9]+}}
// CHECK:         reduce [[INSIDE]] dim=1 identities=[0.000000e+00 : f32]
// CHECK:           addf
// CHECK:         store_view_tko weak
// CHECK-NOT:     load
// COMPARED: @reduction
func.func @reduction(%x: tensor<8x100xf32>) -> tensor<8xf32> {
  %0 = relax.sum %x {axis = [1]} : (tensor<8x100xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// -----

// Rows are loaded once; maximum and sum are f32.
// CHECK-LABEL: @softmax(
// CHECK:       entry @fused_softmax(
// CHECK:         load_view_tko weak
// CHECK-NOT:     load
// CHECK:         reduce {{.*}} identities=[0xFF800000 : f32]
// CHECK:           maxf
// CHECK:         exp
// CHECK:         reduce {{.*}} identities=[0.000000e+00 : f32]
// CHECK:           addf
// CHECK:         store_view_tko weak
// COMPARED: @softmax
func.func @softmax(%x: tensor<8x100xf16>) -> tensor<8x100xf16> {
  %0 = relax.nn.softmax %x {axis = 1} : (tensor<8x100xf16>) -> tensor<8x100xf16>
  func.return %0 : tensor<8x100xf16>
}

// -----

// The variance is that of numbers without their mean, and the same entry does what follows.
// CHECK-LABEL: @normalization(
// CHECK:       entry @fused_layer_norm_relu(
// CHECK:         reduce
// CHECK:         [[CENTERED:%[0-9]+]] = subf
// CHECK:         mulf [[CENTERED]], [[CENTERED]]
// CHECK:         reduce
// CHECK:         maxf
// CHECK:         store_view_tko weak
// COMPARED: @normalization
func.func @normalization(%x: tensor<8x100xf32>, %g: tensor<100xf32>, %b: tensor<100xf32>) -> tensor<8x100xf32> {
  %0 = relax.nn.layer_norm %x, %g, %b {axes = [1]} : (tensor<8x100xf32>, tensor<100xf32>, tensor<100xf32>) -> tensor<8x100xf32>
  %1 = relax.nn.relu %0 : (tensor<8x100xf32>) -> tensor<8x100xf32>
  func.return %1 : tensor<8x100xf32>
}

// -----

// A loop hands on the sum of the tiles before.
// CHECK-LABEL: @scan(
// CHECK:       entry @fused_cumsum(
// CHECK:         for {{.*}} iter_values([[BEFORE:%[0-9]+]] = {{.*}}) -> (tile<{{.*}}xf32>) {
// CHECK:           scan {{.*}} dim=1 reverse=false
// CHECK:           broadcast [[BEFORE]]
// CHECK:           store_view_tko weak
// CHECK:           continue
// COMPARED: @scan
func.func @scan(%x: tensor<8x100xf32>) -> tensor<8x100xf32> {
  %0 = relax.cumsum %x {axis = 1} : (tensor<8x100xf32>) -> tensor<8x100xf32>
  func.return %0 : tensor<8x100xf32>
}

// -----

// One kernel: a block has some queries, and goes through the keys, with a maximum, a sum and the
// weighted values so far. Only the last of its two loops, over the keys on the diagonal, has a mask.
// CHECK-LABEL: @attention(
// CHECK:         tir.launch
// CHECK-NOT:     tir.launch
// CHECK:       entry @fused_attention(
// CHECK:         for {{.*}} -> (tile<{{[0-9]+}}x1xf32>, tile<{{[0-9]+}}x1xf32>, tile<{{[0-9]+}}x16xf32>) {
// CHECK:           mmaf
// CHECK-NOT:       cmpi
// CHECK:           exp2
// CHECK:           mmaf
// CHECK:         for {{.*}} -> (tile<{{[0-9]+}}x1xf32>, tile<{{[0-9]+}}x1xf32>, tile<{{[0-9]+}}x16xf32>) {
// CHECK:           mmaf
// CHECK:           cmpi less_than_or_equal
// CHECK:           exp2
// CHECK:           mmaf
// CHECK:         divf
// CHECK:         store_view_tko weak
// COMPARED: @attention
func.func @attention(%q: tensor<1x32x2x16xf16>, %k: tensor<1x32x2x16xf16>, %v: tensor<1x32x2x16xf16>) -> tensor<1x32x2x16xf16> {
  %0 = relax.nn.attention %q, %k, %v {causal_mask = "TopLeft"} : (tensor<1x32x2x16xf16>, tensor<1x32x2x16xf16>, tensor<1x32x2x16xf16>) -> tensor<1x32x2x16xf16>
  func.return %0 : tensor<1x32x2x16xf16>
}
