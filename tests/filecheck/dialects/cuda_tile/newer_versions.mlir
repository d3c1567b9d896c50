// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// Operations and properties that came in versions 13.4 and 13.5 of the bytecode.

// CHECK-LABEL: cuda_tile.module @newer {
cuda_tile.module @newer {
  // CHECK-LABEL: entry @all(
  entry @all(%x: tile<f32>, %n: tile<i32>, %p: tile<ptr<f32>>) {
    // CHECK-NEXT: %0 = fpowi %x, %n : tile<f32>, tile<i32>
    %0 = fpowi %x, %n : tile<f32>, tile<i32>
    // CHECK-NEXT: %1 = ftoi %x signed saturating : tile<f32> -> tile<i32>
    %1 = ftoi %x signed saturating : tile<f32> -> tile<i32>
    // CHECK-NEXT: %part = reshape %x : tile<f32> -> tile<1x1xf32>
    %part = reshape %x : tile<f32> -> tile<1x1xf32>
    // CHECK-NEXT: %whole = broadcast %part : tile<1x1xf32> -> tile<16x8xf32>
    %whole = broadcast %part : tile<1x1xf32> -> tile<16x8xf32>
    // CHECK-NEXT: %2 = insert %part, %whole[%n, %n] : tile<1x1xf32>, tile<16x8xf32>
    %2 = insert %part, %whole[%n, %n] : tile<1x1xf32>, tile<16x8xf32>
    // CHECK-NEXT: %3 = gdc_wait_tko -> token
    %3 = gdc_wait_tko -> token
    // CHECK-NEXT: %4 = gdc_wait_tko token = %3 -> token
    %4 = gdc_wait_tko token = %3 -> token
    // CHECK-NEXT: %5 = memory_fence_alias_tko %4
    %5 = memory_fence_alias_tko %4
    // CHECK-NEXT: %6 = gdc_launch_dependents_tko token = %5 -> token
    %6 = gdc_launch_dependents_tko token = %5 -> token
    // CHECK-NEXT: %tensor = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %tensor = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    // CHECK-NEXT: %view = make_partition_view %tensor : partition_view<tile=(16x8), tensor_view<64x64xf32, strides=[64,1]>>
    %view = make_partition_view %tensor : partition_view<tile=(16x8), tensor_view<64x64xf32, strides=[64,1]>>
    // CHECK-NEXT: %tile, %7 = load_view_tko weak %view[%n, %n] inbounds = [true, false] : partition_view<tile=(16x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<16x8xf32>, token
    %tile, %7 = load_view_tko weak %view[%n, %n] inbounds = [true, false] : partition_view<tile=(16x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<16x8xf32>, token
    // CHECK-NEXT: %8 = store_view_tko weak %tile, %view[%n, %n] token = %7 inbounds = [true, true] : tile<16x8xf32>, partition_view<tile=(16x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %8 = store_view_tko weak %tile, %view[%n, %n] token = %7 inbounds = [true, true] : tile<16x8xf32>, partition_view<tile=(16x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    // CHECK-NEXT: %9 = atomic_red_view_tko relaxed device %view[%n, %n], addf, %tile inbounds = [false, true] : tile<16x8xf32>, partition_view<tile=(16x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %9 = atomic_red_view_tko relaxed device %view[%n, %n], addf, %tile inbounds = [false, true] : tile<16x8xf32>, partition_view<tile=(16x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    // CHECK-NEXT: return
    return
  }
}
