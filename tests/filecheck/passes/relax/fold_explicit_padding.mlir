// RUN: passline-opt %s -p fold-explicit-padding | filecheck %s

// The widths are added to those of the convolution, in any layout.
// CHECK-LABEL: @conv
func.func @conv(%x : tensor<1x2x5x4xf32>, %y : tensor<1x5x4x2xf32>, %w : tensor<3x2x3x3xf32>) -> (tensor<1x3x8x9xf32>, tensor<1x3x5x3xf32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.nn.conv2d %x, %w {padding = [2, 3, 3, 4]} : (tensor<1x2x5x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x8x9xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.nn.conv2d %y, %w {padding = [1, 0, 1, 1], data_layout = "NHWC", out_layout = "NCHW"}
  // CHECK-NEXT: func.return [[A]], [[B]]
  %0 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 2, 3, 4]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x8x11xf32>
  %1 = relax.nn.conv2d %0, %w {padding = [1, 0]} : (tensor<1x2x8x11xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x8x9xf32>
  %2 = relax.nn.pad %y {pad_width = [0, 0, 1, 1, 0, 1, 0, 0]} : (tensor<1x5x4x2xf32>) -> tensor<1x7x5x2xf32>
  %3 = relax.nn.conv2d %2, %w {data_layout = "NHWC", out_layout = "NCHW"} : (tensor<1x7x5x2xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x5x3xf32>
  return %1, %3 : tensor<1x3x8x9xf32>, tensor<1x3x5x3xf32>
}

// One and three dimensions, blocks of channels, groups; a padded tensor with other uses stays for these.
// CHECK-LABEL: @spatial
func.func @spatial(%a : tensor<1x2x5xf32>, %v : tensor<3x2x3xf32>, %b : tensor<1x1x3x3x3xf32>, %w : tensor<2x1x2x2x2xf32>, %c : tensor<1x1x3x3x4xf32>, %u : tensor<8x1x1x1xf32>) -> (tensor<1x3x5xf32>, tensor<1x2x7xf32>, tensor<1x2x3x3x2xf32>, tensor<1x2x4x3x4xf32>) {
  // CHECK-NEXT: [[P:%.*]] = relax.nn.pad %a
  // CHECK-NEXT: [[A:%.*]] = relax.nn.conv1d %a, %v {padding = [1, 1]}
  // CHECK-NEXT: [[B:%.*]] = relax.nn.conv3d %b, %w {padding = [1, 0, 0, 0, 1, 0]}
  // CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %c, %u {padding = [0, 0, 1, 0], data_layout = "NCHW4c", groups = 4}
  // CHECK-NEXT: func.return [[A]], [[P]], [[B]], [[C]]
  %0 = relax.nn.pad %a {pad_width = [0, 0, 0, 0, 1, 1]} : (tensor<1x2x5xf32>) -> tensor<1x2x7xf32>
  %1 = relax.nn.conv1d %0, %v : (tensor<1x2x7xf32>, tensor<3x2x3xf32>) -> tensor<1x3x5xf32>
  %2 = relax.nn.pad %b {pad_width = [0, 0, 0, 0, 1, 0, 0, 1, 0, 0]} : (tensor<1x1x3x3x3xf32>) -> tensor<1x1x4x4x3xf32>
  %3 = relax.nn.conv3d %2, %w : (tensor<1x1x4x4x3xf32>, tensor<2x1x2x2x2xf32>) -> tensor<1x2x3x3x2xf32>
  %4 = relax.nn.pad %c {pad_width = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]} : (tensor<1x1x3x3x4xf32>) -> tensor<1x1x4x3x4xf32>
  %5 = relax.nn.conv2d %4, %u {groups = 4, data_layout = "NCHW4c"} : (tensor<1x1x4x3x4xf32>, tensor<8x1x1x1xf32>) -> tensor<1x2x4x3x4xf32>
  return %1, %0, %3, %5 : tensor<1x3x5xf32>, tensor<1x2x7xf32>, tensor<1x2x3x3x2xf32>, tensor<1x2x4x3x4xf32>
}

// Pads of pads, integers, and unknown sizes.
// CHECK-LABEL: @nested
func.func @nested(%x : tensor<1x1x3x?xi8>, %w : tensor<1x1x1x1xi8>) -> tensor<1x1x7x?xi32> {
  // CHECK-NEXT: relax.nn.conv2d %x, %w {padding = [1, 2, 3, 4], out_dtype = i32}
  // CHECK-NEXT: func.return
  %0 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 1, 2, 2]} : (tensor<1x1x3x?xi8>) -> tensor<1x1x5x?xi8>
  %1 = relax.nn.pad %0 {pad_width = [0, 0, 0, 0, 0, 2, 0, 2]} : (tensor<1x1x5x?xi8>) -> tensor<1x1x7x?xi8>
  %2 = relax.nn.conv2d %1, %w {out_dtype = i32} : (tensor<1x1x7x?xi8>, tensor<1x1x1x1xi8>) -> tensor<1x1x7x?xi32>
  return %2 : tensor<1x1x7x?xi32>
}

// A maximum pads the least number of its type; windows may be in the padding alone.
// CHECK-LABEL: @maximum
func.func @maximum(%x : tensor<1x1x3x3xf32>, %y : tensor<1x1x4xi8>, %z : tensor<1x1x4xui8>) -> (tensor<1x1x7x4xf32>, tensor<1x1x3xi8>, tensor<1x1x3xui8>) {
  // CHECK-NEXT: [[A:%.*]] = relax.nn.max_pool2d %x {pool_size = [2, 2], padding = [2, 1, 3, 1]}
  // CHECK-NEXT: [[B:%.*]] = relax.nn.max_pool1d %y {pool_size = [2], strides = [2], padding = [1, 1]}
  // CHECK-NEXT: [[C:%.*]] = relax.nn.max_pool1d %z {pool_size = [2], strides = [2], padding = [1, 1]}
  // CHECK-NEXT: func.return [[A]], [[B]], [[C]]
  %0 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 2, 3, 0, 0], pad_value = 0xFFF0000000000000 : f64} : (tensor<1x1x3x3xf32>) -> tensor<1x1x8x3xf32>
  %1 = relax.nn.max_pool2d %0 {padding = [0, 1], pool_size = [2, 2]} : (tensor<1x1x8x3xf32>) -> tensor<1x1x7x4xf32>
  %2 = relax.nn.pad %y {pad_width = [0, 0, 0, 0, 1, 1], pad_value = -128.0} : (tensor<1x1x4xi8>) -> tensor<1x1x6xi8>
  %3 = relax.nn.max_pool1d %2 {strides = [2], pool_size = [2]} : (tensor<1x1x6xi8>) -> tensor<1x1x3xi8>
  %4 = relax.nn.pad %z {pad_width = [0, 0, 0, 0, 1, 1]} : (tensor<1x1x4xui8>) -> tensor<1x1x6xui8>
  %5 = relax.nn.max_pool1d %4 {strides = [2], pool_size = [2]} : (tensor<1x1x6xui8>) -> tensor<1x1x3xui8>
  return %1, %3, %5 : tensor<1x1x7x4xf32>, tensor<1x1x3xi8>, tensor<1x1x3xui8>
}

// A mean then counts the padding; its own padding must be counted or none.
// CHECK-LABEL: @mean
func.func @mean(%x : tensor<1x1x4x4xf32>) -> (tensor<1x1x5x5xf32>, tensor<1x1x7x7xf32>, tensor<1x1x5x5xf32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.nn.avg_pool2d %x {pool_size = [2, 2], padding = [1, 1, 1, 1], count_include_pad = true}
  // CHECK-NEXT: [[B:%.*]] = relax.nn.avg_pool2d %x {pool_size = [2, 2], padding = [2, 2, 2, 2], count_include_pad = true}
  // CHECK-NEXT: [[C:%.*]] = relax.nn.avg_pool2d %x {pool_size = [2, 2], padding = [1, 1, 1, 1], count_include_pad = true, ceil_mode = true}
  // CHECK-NEXT: func.return [[A]], [[B]], [[C]]
  %0 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x1x4x4xf32>) -> tensor<1x1x6x6xf32>
  %1 = relax.nn.avg_pool2d %0 {pool_size = [2, 2]} : (tensor<1x1x6x6xf32>) -> tensor<1x1x5x5xf32>
  %2 = relax.nn.avg_pool2d %0 {pool_size = [2, 2], padding = [1, 1], count_include_pad = true} : (tensor<1x1x6x6xf32>) -> tensor<1x1x7x7xf32>
  %3 = relax.nn.avg_pool2d %0 {pool_size = [2, 2], ceil_mode = true} : (tensor<1x1x6x6xf32>) -> tensor<1x1x5x5xf32>
  return %1, %2, %3 : tensor<1x1x5x5xf32>, tensor<1x1x7x7xf32>, tensor<1x1x5x5xf32>
}

// Must not fire: another number than that of the operation.
// UNCHANGED: @number
func.func @number(%x : tensor<1x1x3xf32>, %w : tensor<1x1x1xf32>, %i : tensor<1x1x3xi8>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xi8>) {
  %0 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 0], pad_value = 1.0} : (tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  %1 = relax.nn.conv1d %0, %w : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %2 = relax.nn.avg_pool1d %0 : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %3 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 0], pad_value = -0.0} : (tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  %4 = relax.nn.conv1d %3, %w : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %5 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 0]} : (tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  %6 = relax.nn.max_pool1d %5 : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  // The least finite number: the maximum of a window of -inf and padding would differ.
  %7 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 0], pad_value = -3.4028234663852886e+38} : (tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  %8 = relax.nn.max_pool1d %7 : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %9 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 0], pad_value = 0x7FF8000000000000 : f64} : (tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  %10 = relax.nn.max_pool1d %9 : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %11 = relax.nn.pad %i {pad_width = [0, 0, 0, 0, 1, 0], pad_value = -127.0} : (tensor<1x1x3xi8>) -> tensor<1x1x4xi8>
  %12 = relax.nn.max_pool1d %11 : (tensor<1x1x4xi8>) -> tensor<1x1x4xi8>
  return %1, %2, %4, %6, %8, %10, %12 : tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xi8>
}

// Must not fire: elements of the tensor as padding.
// UNCHANGED: @modes
func.func @modes(%x : tensor<1x1x3xf32>, %w : tensor<1x1x1xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %0 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 0], pad_mode = "reflect"} : (tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  %1 = relax.nn.conv1d %0, %w : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %2 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 0], pad_mode = "edge"} : (tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  %3 = relax.nn.conv1d %2, %w : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %4 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 0], pad_mode = "circular"} : (tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  %5 = relax.nn.conv1d %4, %w : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  return %1, %3, %5 : tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// Must not fire: batch, channels, elements that are removed, blocks of a spatial dimension.
// UNCHANGED: @dimensions
func.func @dimensions(%x : tensor<1x1x3xf32>, %w : tensor<1x1x1xf32>, %v : tensor<1x2x1xf32>, %y : tensor<1x1x2x2xf32>) -> (tensor<2x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x2xf32>, tensor<1x1x3x2xf32>) {
  %0 = relax.nn.pad %x {pad_width = [1, 0, 0, 0, 0, 0]} : (tensor<1x1x3xf32>) -> tensor<2x1x3xf32>
  %1 = relax.nn.conv1d %0, %w : (tensor<2x1x3xf32>, tensor<1x1x1xf32>) -> tensor<2x1x3xf32>
  %2 = relax.nn.pad %x {pad_width = [0, 0, 0, 1, 0, 0]} : (tensor<1x1x3xf32>) -> tensor<1x2x3xf32>
  %3 = relax.nn.conv1d %2, %v : (tensor<1x2x3xf32>, tensor<1x2x1xf32>) -> tensor<1x1x3xf32>
  %4 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, -1, 0]} : (tensor<1x1x3xf32>) -> tensor<1x1x2xf32>
  %5 = relax.nn.conv1d %4, %w : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %6 = relax.nn.pad %y {pad_width = [0, 0, 0, 0, 1, 0, 0, 0]} : (tensor<1x1x2x2xf32>) -> tensor<1x1x3x2xf32>
  %7 = relax.nn.conv1d %6, %w {data_layout = "NCW2w"} : (tensor<1x1x3x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3x2xf32>
  return %1, %3, %5, %7 : tensor<2x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x2xf32>, tensor<1x1x3x2xf32>
}

// Must not fire: a mean that would not count one of two paddings, a last window that would begin in
// the padding, a transposed convolution (whose padding is cut off), the weight.
// UNCHANGED: @uses
func.func @uses(%x : tensor<1x1x4xf32>, %w : tensor<1x1x1xf32>, %y : tensor<1x1x?xf32>) -> (tensor<1x1x7xf32>, tensor<1x1x3xf32>, tensor<1x1x?xf32>, tensor<1x1x5xf32>, tensor<1x1x3xf32>) {
  %0 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 0]} : (tensor<1x1x4xf32>) -> tensor<1x1x5xf32>
  %1 = relax.nn.avg_pool1d %0 {padding = [1]} : (tensor<1x1x5xf32>) -> tensor<1x1x7xf32>
  %2 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 0, 1]} : (tensor<1x1x4xf32>) -> tensor<1x1x5xf32>
  %3 = relax.nn.avg_pool1d %2 {strides = [2], pool_size = [2], ceil_mode = true} : (tensor<1x1x5xf32>) -> tensor<1x1x3xf32>
  %4 = relax.nn.pad %y {pad_width = [0, 0, 0, 0, 0, 1]} : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
  %5 = relax.nn.avg_pool1d %4 {strides = [2], pool_size = [2], ceil_mode = true} : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
  %6 = relax.nn.pad %x {pad_width = [0, 0, 0, 0, 1, 0]} : (tensor<1x1x4xf32>) -> tensor<1x1x5xf32>
  %7 = relax.nn.conv1d_transpose %6, %w : (tensor<1x1x5xf32>, tensor<1x1x1xf32>) -> tensor<1x1x5xf32>
  %8 = relax.nn.pad %w {pad_width = [0, 0, 0, 0, 1, 0]} : (tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %9 = relax.nn.conv1d %x, %8 : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x3xf32>
  return %1, %3, %5, %7, %9 : tensor<1x1x7xf32>, tensor<1x1x3xf32>, tensor<1x1x?xf32>, tensor<1x1x5xf32>, tensor<1x1x3xf32>
}
