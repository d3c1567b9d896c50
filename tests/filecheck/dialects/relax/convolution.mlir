// RUN: passline-opt %s --verify-roundtrip
// RUN: passline-opt %s --print-op-generic --verify-roundtrip
// RUN: passline-opt %s -p infer-type --verify-roundtrip

func.func @conv1d(%a: tensor<2x6x?xf32>, %b: tensor<8x3x3xf32>, %c: tensor<2x10x6xbf16>, %d: tensor<3x6x8xbf16>) {
  %0 = relax.nn.conv1d %a, %b {padding = [1, 2], groups = 2} : (tensor<2x6x?xf32>, tensor<8x3x3xf32>) -> tensor<2x8x?xf32>
  %1 = relax.nn.conv1d %c, %d {data_layout = "NWC", kernel_layout = "WIO"} : (tensor<2x10x6xbf16>, tensor<3x6x8xbf16>) -> tensor<2x8x8xbf16>
  func.return
}

func.func @conv2d(%a: tensor<1x3x224x224xf32>, %b: tensor<64x3x7x7xf32>, %c: tensor<1x32x32x16xi8>, %d: tensor<3x3x16x8xi8>, %e: tensor<1x4x8x8x4xf32>, %f: tensor<2x4x1x1x4x8xf32>, %g: tensor<*xf32>, %h: tensor<8x4x3x3xf32>, %i: tensor<1x8x9x9xf32>, %j: tensor<1x8x9x9xui8>, %k: tensor<4x8x9x1xi8>) {
  %0 = relax.nn.conv2d %a, %b {strides = [2, 2], padding = [3, 3]} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  %1 = relax.nn.conv2d %a, %b {strides = [2, 2], padding = [2, 2, 3, 3]} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  %2 = relax.nn.conv2d %c, %d {dilation = [2, 2], data_layout = "NHWC", kernel_layout = "HWIO", out_layout = "NCHW", out_dtype = i32} : (tensor<1x32x32x16xi8>, tensor<3x3x16x8xi8>) -> tensor<1x8x28x28xi32>
  %3 = relax.nn.conv2d %e, %f {data_layout = "NCHW4c", kernel_layout = "OIHW4i8o", out_layout = "NCHW8c"} : (tensor<1x4x8x8x4xf32>, tensor<2x4x1x1x4x8xf32>) -> tensor<1x2x8x8x8xf32>
  %4 = relax.nn.conv2d %g, %h {padding = [1, 1]} : (tensor<*xf32>, tensor<8x4x3x3xf32>) -> tensor<?x8x?x?xf32>
  %5 = relax.nn.conv2d %i, %g : (tensor<1x8x9x9xf32>, tensor<*xf32>) -> tensor<1x?x?x?xf32>
  %6 = relax.nn.conv2d %j, %k {out_dtype = i32} : (tensor<1x8x9x9xui8>, tensor<4x8x9x1xi8>) -> tensor<1x4x1x9xi32>
  func.return
}

func.func @conv3d(%a: tensor<1x2x8x8x8xf64>, %b: tensor<4x2x3x3x3xf64>) {
  %0 = relax.nn.conv3d %a, %b {strides = [1, 2, 2]} : (tensor<1x2x8x8x8xf64>, tensor<4x2x3x3x3xf64>) -> tensor<1x4x6x3x3xf64>
  func.return
}

func.func @conv1d_transpose(%a: tensor<1x4x5xf32>, %b: tensor<4x2x3xf32>) {
  %0 = relax.nn.conv1d_transpose %a, %b {strides = [2], output_padding = [1], groups = 2} : (tensor<1x4x5xf32>, tensor<4x2x3xf32>) -> tensor<1x4x12xf32>
  func.return
}

func.func @conv2d_transpose(%a: tensor<1x4x5x?xf32>, %b: tensor<4x6x3x3xf32>, %c: tensor<1x5x5x4xf32>, %d: tensor<3x3x4x6xf32>) {
  %0 = relax.nn.conv2d_transpose %a, %b {strides = [2, 2], padding = [1, 1, 0, 1]} : (tensor<1x4x5x?xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x10x?xf32>
  %1 = relax.nn.conv2d_transpose %c, %d {dilation = [2, 1], data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x5x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x9x7x6xf32>
  func.return
}

func.func @conv3d_transpose(%a: tensor<1x4x2x2x2xf32>, %b: tensor<4x1x2x2x2xf32>) {
  %0 = relax.nn.conv3d_transpose %a, %b : (tensor<1x4x2x2x2xf32>, tensor<4x1x2x2x2xf32>) -> tensor<1x1x3x3x3xf32>
  func.return
}
