// RUN: passline-opt %s --verify-roundtrip
// RUN: passline-opt %s --print-op-generic --verify-roundtrip
// RUN: passline-opt %s -p infer-type --verify-roundtrip

func.func @max_pool(%a: tensor<1x2x?xi8>, %b: tensor<1x64x112x112xf32>, %c: tensor<1x9x9x64xf16>, %d: tensor<*xf32>) {
  %0 = relax.nn.max_pool1d %a {pool_size = [2], strides = [2]} : (tensor<1x2x?xi8>) -> tensor<1x2x?xi8>
  %1 = relax.nn.max_pool2d %b {pool_size = [3, 3], strides = [2, 2], padding = [1, 1]} : (tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32>
  %2 = relax.nn.max_pool2d %c {pool_size = [2, 2], strides = [2, 2], dilation = [2, 1], layout = "NHWC", ceil_mode = true, out_layout = "NCHW4c"} : (tensor<1x9x9x64xf16>) -> tensor<1x16x4x5x4xf16>
  %3 = relax.nn.max_pool3d %d {pool_size = [2, 2, 2]} : (tensor<*xf32>) -> tensor<?x?x?x?x?xf32>
  func.return
}

func.func @avg_pool(%a: tensor<1x2x6xf32>, %b: tensor<1x16x8x8x4xf32>, %c: tensor<1x2x4x4x4xf32>) {
  %0 = relax.nn.avg_pool1d %a {pool_size = [4], padding = [0, 1]} : (tensor<1x2x6xf32>) -> tensor<1x2x4xf32>
  %1 = relax.nn.avg_pool2d %b {pool_size = [3, 3], padding = [1, 1], layout = "NCHW4c", count_include_pad = true} : (tensor<1x16x8x8x4xf32>) -> tensor<1x16x8x8x4xf32>
  %2 = relax.nn.avg_pool3d %c {pool_size = [2, 2, 2], strides = [2, 2, 2]} : (tensor<1x2x4x4x4xf32>) -> tensor<1x2x2x2x2xf32>
  func.return
}

func.func @adaptive(%a: tensor<1x2x?xf32>, %b: tensor<1x7x7x8xf32>, %c: tensor<1x2x4x4x4xf32>, %d: tensor<1x2x4xf32>, %e: tensor<*xf32>) {
  %0 = relax.nn.adaptive_max_pool1d %a {output_size = [3]} : (tensor<1x2x?xf32>) -> tensor<1x2x3xf32>
  %1 = relax.nn.adaptive_max_pool2d %b {layout = "NHWC", output_size = [3, 2]} : (tensor<1x7x7x8xf32>) -> tensor<1x3x2x8xf32>
  %2 = relax.nn.adaptive_max_pool3d %c {output_size = [1, 1, 1]} : (tensor<1x2x4x4x4xf32>) -> tensor<1x2x1x1x1xf32>
  %3 = relax.nn.adaptive_avg_pool1d %d {output_size = [8]} : (tensor<1x2x4xf32>) -> tensor<1x2x8xf32>
  %4 = relax.nn.adaptive_avg_pool2d %e {output_size = [7, 7]} : (tensor<*xf32>) -> tensor<?x?x7x7xf32>
  %5 = relax.nn.adaptive_avg_pool3d %c {output_size = [2, 2, 2]} : (tensor<1x2x4x4x4xf32>) -> tensor<1x2x2x2x2xf32>
  func.return
}

func.func @global(%a: tensor<1x2048x7x7xf32>, %b: tensor<1x7x7x?xf32>) {
  %0 = relax.nn.global_max_pool2d %a : (tensor<1x2048x7x7xf32>) -> tensor<1x2048x1x1xf32>
  %1 = relax.nn.global_avg_pool2d %b {layout = "NHWC"} : (tensor<1x7x7x?xf32>) -> tensor<1x1x1x?xf32>
  func.return
}
