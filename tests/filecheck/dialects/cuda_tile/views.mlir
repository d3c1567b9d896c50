// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// Views of tensors: how they are made, loaded from and stored to.

// CHECK-LABEL: cuda_tile.module @views {
cuda_tile.module @views {
  // CHECK-LABEL: entry @kernel(%p: tile<ptr<f32>>, %n: tile<i64>, %i: tile<i32>) {
  entry @kernel(%p: tile<ptr<f32>>, %n: tile<i64>, %i: tile<i32>) {
    // CHECK: %t = make_token : token
    %t = make_token : token
    // CHECK: %fixed = make_tensor_view %p, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
    %fixed = make_tensor_view %p, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
    // CHECK: %view = make_tensor_view %p, shape = [%n, 32], strides = [%n, 1] : tile<i64> -> tensor_view<?x32xf32, strides=[?,1]>
    %view = make_tensor_view %p, shape = [%n, 32], strides = [%n, 1] : tile<i64> -> tensor_view<?x32xf32, strides=[?,1]>
    // CHECK: %point = make_tensor_view %p, shape = [], strides = [] : tensor_view<f32>
    %point = make_tensor_view %p, shape = [], strides = [] : tensor_view<f32>
    // CHECK: %sizes, %sizes_1 = get_tensor_shape %view : tensor_view<?x32xf32, strides=[?,1]> -> tile<i64>
    %sizes, %sizes_1 = get_tensor_shape %view : tensor_view<?x32xf32, strides=[?,1]> -> tile<i64>
    // CHECK: %grid = make_partition_view %view : partition_view<tile=(8x16), padding_value = nan, tensor_view<?x32xf32, strides=[?,1]>, dim_map=[1, 0]>
    %grid = make_partition_view %view : partition_view<tile=(8x16), padding_value = nan, tensor_view<?x32xf32, strides=[?,1]>, dim_map=[1, 0]>
    // CHECK: %count, %count_1 = get_index_space_shape %grid : partition_view<tile=(8x16), padding_value = nan, tensor_view<?x32xf32, strides=[?,1]>, dim_map=[1, 0]> -> tile<i32>
    %count, %count_1 = get_index_space_shape %grid : partition_view<tile=(8x16), padding_value = nan, tensor_view<?x32xf32, strides=[?,1]>, dim_map=[1, 0]> -> tile<i32>
    // CHECK: %windows = make_strided_view %view : strided_view<tile=(4x4), traversal_strides=[3,1], tensor_view<?x32xf32, strides=[?,1]>>
    %windows = make_strided_view %view : strided_view<tile=(4x4), traversal_strides=[3,1], tensor_view<?x32xf32, strides=[?,1]>>
    // CHECK: %rows = make_gather_scatter_view %view : gather_scatter_view<tile=(4x8), padding_value = zero, tensor_view<?x32xf32, strides=[?,1]>, sparse_dim=0>
    %rows = make_gather_scatter_view %view : gather_scatter_view<tile=(4x8), padding_value = zero, tensor_view<?x32xf32, strides=[?,1]>, sparse_dim=0>
    // CHECK: %a, %ta = load_view_tko weak %grid[%i, %i] : partition_view<tile=(8x16), padding_value = nan, tensor_view<?x32xf32, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> tile<8x16xf32>, token
    %a, %ta = load_view_tko weak %grid[%i, %i] : partition_view<tile=(8x16), padding_value = nan, tensor_view<?x32xf32, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> tile<8x16xf32>, token
    // CHECK: %b, %tb = load_view_tko acquire device %windows[%i, %i] token = %t optimization_hints = <default = {allow_tma = false, latency = 2}> : strided_view<tile=(4x4), traversal_strides=[3,1], tensor_view<?x32xf32, strides=[?,1]>>, tile<i32> -> tile<4x4xf32>, token
    %b, %tb = load_view_tko acquire device %windows[%i, %i] token = %t optimization_hints = <default = {allow_tma = false, latency = 2}> : strided_view<tile=(4x4), traversal_strides=[3,1], tensor_view<?x32xf32, strides=[?,1]>>, tile<i32> -> tile<4x4xf32>, token
    // CHECK: %j = iota : tile<4xi32>
    %j = iota : tile<4xi32>
    // CHECK: %c, %tc = load_view_tko weak %rows[%j, %i] token = %t : gather_scatter_view<tile=(4x8), padding_value = zero, tensor_view<?x32xf32, strides=[?,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<4x8xf32>, token
    %c, %tc = load_view_tko weak %rows[%j, %i] token = %t : gather_scatter_view<tile=(4x8), padding_value = zero, tensor_view<?x32xf32, strides=[?,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<4x8xf32>, token
    // CHECK: %d = store_view_tko weak %b, %windows[%i, %i] : tile<4x4xf32>, strided_view<tile=(4x4), traversal_strides=[3,1], tensor_view<?x32xf32, strides=[?,1]>>, tile<i32> -> token
    %d = store_view_tko weak %b, %windows[%i, %i] : tile<4x4xf32>, strided_view<tile=(4x4), traversal_strides=[3,1], tensor_view<?x32xf32, strides=[?,1]>>, tile<i32> -> token
    // CHECK: %e = store_view_tko relaxed sys %c, %rows[%j, %i] token = %t : tile<4x8xf32>, gather_scatter_view<tile=(4x8), padding_value = zero, tensor_view<?x32xf32, strides=[?,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> token
    %e = store_view_tko relaxed sys %c, %rows[%j, %i] token = %t : tile<4x8xf32>, gather_scatter_view<tile=(4x8), padding_value = zero, tensor_view<?x32xf32, strides=[?,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> token
    // CHECK: %f = atomic_red_view_tko relaxed device %windows[%i, %i], addf, %b token = %t : tile<4x4xf32>, strided_view<tile=(4x4), traversal_strides=[3,1], tensor_view<?x32xf32, strides=[?,1]>>, tile<i32> -> token
    %f = atomic_red_view_tko relaxed device %windows[%i, %i], addf, %b token = %t : tile<4x4xf32>, strided_view<tile=(4x4), traversal_strides=[3,1], tensor_view<?x32xf32, strides=[?,1]>>, tile<i32> -> token
    // CHECK: return
    return
  }
}
