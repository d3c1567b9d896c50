// RUN: passline-opt %s -p 'legalize-ops{target=sm_90}' --split-input-file | filecheck %s

// Rows that fit into a tile are loaded once. The host computes the grid: 2 rows for each block.
// CHECK-LABEL: func.func @softmax
// CHECK:       tir.prim_func private @fused_softmax(%x: memref<?x1000xf32>, [[OUT:%.*]]: memref<?x1000xf32>) {
// CHECK:         [[ROWS:%.*]] = memref.dim %x
// CHECK:         tir.launch @kernels::@fused_softmax[{{%.*}}, {{%.*}}, {{%.*}}] (%x, [[OUT]], [[ROWS]])
// CHECK:       entry @fused_softmax([[X:%.*]]: tile<ptr<f32>>, [[Y:%.*]]: tile<ptr<f32>>, [[N:%.*]]: tile<i32>) {
// CHECK:         [[BLOCK:%.*]], {{%.*}}, {{%.*}} = get_tile_block_id : tile<i32>
// CHECK:         make_tensor_view {{%.*}}, shape = [[[N]], 1000], strides = [1000, 1]
// CHECK:         [[TILE:%.*]], {{%.*}} = load_view_tko weak {{%.*}}[[[BLOCK]], {{%.*}}]{{.*}} -> tile<2x1024xf32>, token
// CHECK-NOT:     load_view_tko
// CHECK:         [[MAX:%.*]] = reduce {{%.*}} dim=1 identities=[0xFF800000 : f32] : tile<2x1024xf32> -> tile<2xf32>
// CHECK:           maxf {{%.*}}, {{%.*}} propagate_nan : tile<f32>
// CHECK:         [[LESS:%.*]] = subf [[TILE]], {{%.*}} : tile<2x1024xf32>
// CHECK:         [[POWERS:%.*]] = exp [[LESS]] : tile<2x1024xf32>
// CHECK:         reduce {{%.*}} dim=1 identities=[0.000000e+00 : f32]
// CHECK:         [[RESULT:%.*]] = mulf [[POWERS]], {{%.*}} : tile<2x1024xf32>
// CHECK:         store_view_tko weak [[RESULT]], {{%.*}}[[[BLOCK]], {{%.*}}]
// CHECK-NOT:     exp
// CHECK:         return
func.func @softmax(%x: tensor<?x1000xf32>) -> tensor<?x1000xf32> {
  %0 = relax.nn.softmax %x : (tensor<?x1000xf32>) -> tensor<?x1000xf32>
  return %0 : tensor<?x1000xf32>
}

// -----

// Two long rows keep few multiprocessors busy: blocks reduce parts of them, in f32, and others
// combine these.
// CHECK-LABEL: func.func @long_sum
// CHECK:       tir.prim_func private @fused_sum(%x: memref<2x100000xf16>, [[OUT:%.*]]: memref<2xf16>) {
// CHECK:         [[PARTS:%.*]] = memref.alloc() {{.*}} : memref<2x64xf32>
// CHECK:         tir.launch @kernels::@fused_sum_parts[{{%.*}}, {{%.*}}, {{%.*}}] (%x, [[PARTS]])
// CHECK:         tir.launch @kernels::@fused_sum[{{%.*}}, {{%.*}}, {{%.*}}] (%x, [[OUT]], [[PARTS]])
// CHECK:       entry @fused_sum_parts
// CHECK:         for {{%.*}} in ({{%.*}} to {{%.*}}, step {{%.*}}) : tile<i32> iter_values([[SUM:%.*]] = {{%.*}}) -> (tile<1x2048xf32>) {
// CHECK:           [[TILE:%.*]] = ftof {{%.*}} : tile<1x2048xf16> -> tile<1x2048xf32>
// CHECK:           [[INSIDE:%.*]] = select {{%.*}}, [[TILE]], {{%.*}} : tile<1x2048xi1>, tile<1x2048xf32>
// CHECK:           addf [[SUM]], [[INSIDE]] : tile<1x2048xf32>
// CHECK:       entry @fused_sum(
// CHECK:         [[TOTAL:%.*]] = reduce {{%.*}} dim=1 {{.*}} : tile<1x64xf32> -> tile<1xf32>
// CHECK:         ftof {{%.*}} : tile<1x1xf32> -> tile<1x1xf16>
func.func @long_sum(%x: tensor<2x100000xf16>) -> tensor<2xf16> {
  %0 = relax.sum %x {axis = [1]} : (tensor<2x100000xf16>) -> tensor<2xf16>
  return %0 : tensor<2xf16>
}

// -----

// Attention: all tiles of keys that are seen whole, then those with a mask.
// CHECK-LABEL: func.func @attention
// CHECK:       entry @fused_attention
// CHECK:         for {{%.*}} in {{.*}} -> (tile<128x1xf32>, tile<128x1xf32>, tile<128x64xf32>) {
// CHECK:           [[KEYS:%.*]] = permute {{%.*}} [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
// CHECK:           mmaf {{%.*}}, [[KEYS]], {{%.*}} : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
// CHECK-NOT:       cmpi
// CHECK:           reduce {{.*}} identities=[0xFF800000 : f32]
// CHECK:           exp2
// CHECK:           [[WEIGHTS:%.*]] = ftof {{%.*}} : tile<128x64xf32> -> tile<128x64xf16>
// CHECK:           mmaf [[WEIGHTS]], {{%.*}}, {{%.*}} : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
// CHECK:           continue
// CHECK:         for
// CHECK:           cmpi less_than_or_equal
// CHECK:           mmaf
// CHECK:         store_view_tko
func.func @attention(%q: tensor<1x1024x8x64xf16>, %k: tensor<1x1024x2x64xf16>) -> tensor<1x1024x8x64xf16> {
  %0 = relax.nn.attention %q, %k, %k {causal_mask = "TopLeft"} : (tensor<1x1024x8x64xf16>, tensor<1x1024x2x64xf16>, tensor<1x1024x2x64xf16>) -> tensor<1x1024x8x64xf16>
  return %0 : tensor<1x1024x8x64xf16>
}
