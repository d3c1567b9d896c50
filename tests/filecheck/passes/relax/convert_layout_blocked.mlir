// RUN: passline-opt %s -p 'convert-layout{desired=relax.nn.conv2d:NCHW4c}' | filecheck %s

// Must not fire: channels that are no multiple of 4, in the data or the result, or are not known.
// UNCHANGED: @not_divisible
func.func @not_divisible(%x: tensor<1x3x5x4xf32>, %w: tensor<4x3x1x1xf32>, %v: tensor<3x4x1x1xf32>, %a: tensor<1x?x5x4xf32>, %u: tensor<4x?x1x1xf32>) -> (tensor<1x3x5x4xf32>, tensor<1x4x5x4xf32>) {
  %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x4xf32>
  %z = relax.nn.conv2d %y, %v : (tensor<1x4x5x4xf32>, tensor<3x4x1x1xf32>) -> tensor<1x3x5x4xf32>
  %t = relax.nn.conv2d %a, %u : (tensor<1x?x5x4xf32>, tensor<4x?x1x1xf32>) -> tensor<1x4x5x4xf32>
  return %z, %t : tensor<1x3x5x4xf32>, tensor<1x4x5x4xf32>
}

// Must not fire: it is in the layout.
// UNCHANGED: @already
func.func @already(%x: tensor<1x1x5x4x4xf32>, %w: tensor<1x1x1x1x4x4xf32>, %b: tensor<1x1x1x1x4xf32>, %c: tensor<1x1x1x1x1xf32>) -> tensor<1x1x5x4x4xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x1x5x4x4xf32>, tensor<1x1x1x1x4x4xf32>) -> tensor<1x1x5x4x4xf32>
  %z = relax.add %y, %b : (tensor<1x1x5x4x4xf32>, tensor<1x1x1x1x4xf32>) -> tensor<1x1x5x4x4xf32>
  %m = relax.multiply %z, %c : (tensor<1x1x5x4x4xf32>, tensor<1x1x1x1x1xf32>) -> tensor<1x1x5x4x4xf32>
  return %m : tensor<1x1x5x4x4xf32>
}

// Data, weight, bias, pooling and cast in blocks; what flattens gets it as it was.
// CHECK-LABEL: @chain(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x4x5x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "OIHW", dst_layout = "OIHW4i4o"} : (tensor<8x4x3x3xf32>) -> tensor<2x1x3x3x4x4xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] {padding = [1, 1], data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x1x5x4x4xf32>, tensor<2x1x3x3x4x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.expand_dims %b {axis = [0, 2, 3]} : (tensor<8xf32>) -> tensor<1x8x1x1xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[V2]] {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x8x1x1xf32>) -> tensor<1x2x1x1x4xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.add [[Y]], [[V3]] : (tensor<1x2x5x4x4xf32>, tensor<1x2x1x1x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[Z]] : (tensor<1x2x5x4x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[T:%.*]] = relax.add [[R]], %s : (tensor<1x2x5x4x4xf32>, tensor<f32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[P:%.*]] = relax.nn.max_pool2d [[T]] {pool_size = [2, 2], strides = [2, 2], padding = [1, 0], layout = "NCHW4c"} : (tensor<1x2x5x4x4xf32>) -> tensor<1x2x3x2x4xf32>
// CHECK-NEXT: [[Q:%.*]] = relax.nn.avg_pool2d [[P]] {pool_size = [1, 2], layout = "NCHW4c"} : (tensor<1x2x3x2x4xf32>) -> tensor<1x2x3x1x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.astype [[Q]] {dtype = f64} : (tensor<1x2x3x1x4xf32>) -> tensor<1x2x3x1x4xf64>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x3x1x4xf64>) -> tensor<1x8x3x1xf64>
// CHECK-NEXT: [[F:%.*]] = relax.nn.batch_flatten [[V4]] : (tensor<1x8x3x1xf64>) -> tensor<1x24xf64>
// CHECK-NEXT: func.return [[F]] : tensor<1x24xf64>
func.func @chain(%x: tensor<1x4x5x4xf32>, %w: tensor<8x4x3x3xf32>, %b: tensor<8xf32>, %s: tensor<f32>) -> tensor<1x24xf64> {
  %y = relax.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x4x5x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x5x4xf32>
  %z = relax.nn.bias_add %y, %b : (tensor<1x8x5x4xf32>, tensor<8xf32>) -> tensor<1x8x5x4xf32>
  %r = relax.nn.relu %z : (tensor<1x8x5x4xf32>) -> tensor<1x8x5x4xf32>
  %t = relax.add %r, %s : (tensor<1x8x5x4xf32>, tensor<f32>) -> tensor<1x8x5x4xf32>
  %p = relax.nn.max_pool2d %t {pool_size = [2, 2], strides = [2, 2], padding = [1, 0]} : (tensor<1x8x5x4xf32>) -> tensor<1x8x3x2xf32>
  %q = relax.nn.avg_pool2d %p {pool_size = [1, 2]} : (tensor<1x8x3x2xf32>) -> tensor<1x8x3x1xf32>
  %c = relax.astype %q {dtype = f64} : (tensor<1x8x3x1xf32>) -> tensor<1x8x3x1xf64>
  %f = relax.nn.batch_flatten %c : (tensor<1x8x3x1xf64>) -> tensor<1x24xf64>
  return %f : tensor<1x24xf64>
}

// From channels last.
// CHECK-LABEL: @channels_last(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NHWC", dst_layout = "NCHW4c"} : (tensor<1x5x4x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "HWIO", dst_layout = "OIHW4i4o"} : (tensor<3x3x4x8xf32>) -> tensor<2x1x3x3x4x4xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] {padding = [1, 1], data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x1x5x4x4xf32>, tensor<2x1x3x3x4x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.expand_dims %b {axis = [0, 1, 2]} : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[V2]] {src_layout = "NHWC", dst_layout = "NCHW4c"} : (tensor<1x1x1x8xf32>) -> tensor<1x2x1x1x4xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.add [[Y]], [[V3]] : (tensor<1x2x5x4x4xf32>, tensor<1x2x1x1x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.concatenate [[Z]], [[Z]] {axis = 1} : (tensor<1x2x5x4x4xf32>, tensor<1x2x5x4x4xf32>) -> tensor<1x4x5x4x4xf32>
// CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[C]] : (tensor<1x4x5x4x4xf32>) -> tensor<1x4x5x4x4xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[R]] {src_layout = "NCHW4c", dst_layout = "NHWC"} : (tensor<1x4x5x4x4xf32>) -> tensor<1x5x4x16xf32>
// CHECK-NEXT: func.return [[V4]] : tensor<1x5x4x16xf32>
func.func @channels_last(%x: tensor<1x5x4x4xf32>, %w: tensor<3x3x4x8xf32>, %b: tensor<8xf32>) -> tensor<1x5x4x16xf32> {
  %y = relax.nn.conv2d %x, %w {padding = [1, 1], data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x5x4x8xf32>
  %z = relax.nn.bias_add %y, %b {axis = -1} : (tensor<1x5x4x8xf32>, tensor<8xf32>) -> tensor<1x5x4x8xf32>
  %c = relax.concatenate %z, %z {axis = 3} : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>) -> tensor<1x5x4x16xf32>
  %r = relax.nn.relu %c : (tensor<1x5x4x16xf32>) -> tensor<1x5x4x16xf32>
  return %r : tensor<1x5x4x16xf32>
}

// The first of a network has channels that do not split: the rest goes on after its pooling.
// CHECK-LABEL: @network(
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: [[P:%.*]] = relax.nn.max_pool2d [[Y]] {pool_size = [2, 2]} : (tensor<1x4x5x4xf32>) -> tensor<1x4x4x3xf32>
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform [[P]] {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x4x4x3xf32>) -> tensor<1x1x4x3x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %v {src_layout = "OIHW", dst_layout = "OIHW4i4o"} : (tensor<4x4x1x1xf32>) -> tensor<1x1x1x1x4x4xf32>
// CHECK-NEXT: [[A:%.*]] = relax.nn.conv2d [[V0]], [[V1]] {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x1x4x3x4xf32>, tensor<1x1x1x1x4x4xf32>) -> tensor<1x1x4x3x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.nn.relu [[A]] : (tensor<1x1x4x3x4xf32>) -> tensor<1x1x4x3x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.add [[B]], [[V0]] : (tensor<1x1x4x3x4xf32>, tensor<1x1x4x3x4xf32>) -> tensor<1x1x4x3x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform %u {src_layout = "OIHW", dst_layout = "OIHW4i4o"} : (tensor<8x4x1x1xf32>) -> tensor<2x1x1x1x4x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.nn.conv2d [[C]], [[V2]] {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x1x4x3x4xf32>, tensor<2x1x1x1x4x4xf32>) -> tensor<1x2x4x3x4xf32>
// CHECK-NEXT: [[E:%.*]] = relax.nn.global_avg_pool2d [[D]] {layout = "NCHW4c"} : (tensor<1x2x4x3x4xf32>) -> tensor<1x2x1x1x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[E]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x1x1x4xf32>) -> tensor<1x8x1x1xf32>
// CHECK-NEXT: func.return [[V3]] : tensor<1x8x1x1xf32>
func.func @network(%x: tensor<1x3x5x4xf32>, %w: tensor<4x3x1x1xf32>, %v: tensor<4x4x1x1xf32>, %u: tensor<8x4x1x1xf32>) -> tensor<1x8x1x1xf32> {
  %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x4xf32>
  %p = relax.nn.max_pool2d %y {pool_size = [2, 2]} : (tensor<1x4x5x4xf32>) -> tensor<1x4x4x3xf32>
  %a = relax.nn.conv2d %p, %v : (tensor<1x4x4x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x3xf32>
  %b = relax.nn.relu %a : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %c = relax.add %b, %p : (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %d = relax.nn.conv2d %c, %u : (tensor<1x4x4x3xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x4x3xf32>
  %e = relax.nn.global_avg_pool2d %d : (tensor<1x8x4x3xf32>) -> tensor<1x8x1x1xf32>
  return %e : tensor<1x8x1x1xf32>
}

// A convolution of each channel by itself, and one of groups.
// CHECK-LABEL: @groups(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x8x5x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "OIHW", dst_layout = "OIHW1i4o"} : (tensor<8x1x3x3xf32>) -> tensor<2x1x3x3x1x4xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] {data_layout = "NCHW4c", kernel_layout = "OIHW1i4o", groups = 8} : (tensor<1x2x5x4x4xf32>, tensor<2x1x3x3x1x4xf32>) -> tensor<1x2x3x2x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform %v {src_layout = "OIHW", dst_layout = "OIHW4i4o"} : (tensor<8x4x1x1xf32>) -> tensor<2x1x1x1x4x4xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.nn.conv2d [[Y]], [[V2]] {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o", groups = 2} : (tensor<1x2x3x2x4xf32>, tensor<2x1x1x1x4x4xf32>) -> tensor<1x2x3x2x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[Z]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x3x2x4xf32>) -> tensor<1x8x3x2xf32>
// CHECK-NEXT: func.return [[V3]] : tensor<1x8x3x2xf32>
func.func @groups(%x: tensor<1x8x5x4xf32>, %w: tensor<8x1x3x3xf32>, %v: tensor<8x4x1x1xf32>) -> tensor<1x8x3x2xf32> {
  %y = relax.nn.conv2d %x, %w {groups = 8} : (tensor<1x8x5x4xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x3x2xf32>
  %z = relax.nn.conv2d %y, %v {groups = 2} : (tensor<1x8x3x2xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x3x2xf32>
  return %z : tensor<1x8x3x2xf32>
}

// Not in blocks: batch norm, a parameter for each channel, what normalizes channels.
// CHECK-LABEL: @along_channels(
// CHECK:      [[V1:%.*]] = relax.layout_transform %w {src_layout = "OIHW", dst_layout = "OIHW4i4o"} : (tensor<4x4x1x1xf32>) -> tensor<1x1x1x1x4x4xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0:%\w+]], [[V1]] {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x1x5x4x4xf32>, tensor<1x1x1x1x4x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x1x5x4x4xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: [[N:%.*]] = relax.nn.batch_norm [[V2]], %g, %g, %g, %g : (tensor<1x4x5x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[N]] {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x4x5x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.nn.conv2d [[V3]], [[V1]] {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x1x5x4x4xf32>, tensor<1x1x1x1x4x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[Z]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x1x5x4x4xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: [[P:%.*]] = relax.nn.prelu [[V4]], %g : (tensor<1x4x5x4xf32>, tensor<4xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: [[V5:%.*]] = relax.layout_transform [[P]] {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x4x5x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[U:%.*]] = relax.nn.conv2d [[V5]], [[V1]] {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x1x5x4x4xf32>, tensor<1x1x1x1x4x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[L:%.*]] = relax.nn.max_pool2d [[U]] {pool_size = [2, 2], layout = "NCHW4c"} : (tensor<1x1x5x4x4xf32>) -> tensor<1x1x4x3x4xf32>
// CHECK-NEXT: [[V6:%.*]] = relax.layout_transform [[L]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x1x4x3x4xf32>) -> tensor<1x4x4x3xf32>
// CHECK-NEXT: [[R:%.*]] = relax.nn.lrn [[V6]] {size = 3} : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
// CHECK-NEXT: [[V7:%.*]] = relax.layout_transform [[R]] {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x4x4x3xf32>) -> tensor<1x1x4x3x4xf32>
// CHECK-NEXT: [[V:%.*]] = relax.nn.conv2d [[V7]], [[V1]] {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x1x4x3x4xf32>, tensor<1x1x1x1x4x4xf32>) -> tensor<1x1x4x3x4xf32>
// CHECK-NEXT: [[V8:%.*]] = relax.layout_transform [[V]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x1x4x3x4xf32>) -> tensor<1x4x4x3xf32>
// CHECK-NEXT: [[S:%.*]] = relax.nn.softmax [[V8]] {axis = 1} : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
// CHECK-NEXT: func.return [[S]] : tensor<1x4x4x3xf32>
func.func @along_channels(%x: tensor<1x4x5x4xf32>, %w: tensor<4x4x1x1xf32>, %g: tensor<4xf32>) -> tensor<1x4x4x3xf32> {
  %y = relax.nn.conv2d %x, %w : (tensor<1x4x5x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x5x4xf32>
  %n = relax.nn.batch_norm %y, %g, %g, %g, %g : (tensor<1x4x5x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x5x4xf32>
  %z = relax.nn.conv2d %n, %w : (tensor<1x4x5x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x5x4xf32>
  %p = relax.nn.prelu %z, %g : (tensor<1x4x5x4xf32>, tensor<4xf32>) -> tensor<1x4x5x4xf32>
  %u = relax.nn.conv2d %p, %w : (tensor<1x4x5x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x5x4xf32>
  %l = relax.nn.max_pool2d %u {pool_size = [2, 2]} : (tensor<1x4x5x4xf32>) -> tensor<1x4x4x3xf32>
  %r = relax.nn.lrn %l {size = 3} : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %v = relax.nn.conv2d %r, %w : (tensor<1x4x4x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x3xf32>
  %s = relax.nn.softmax %v {axis = 1} : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  return %s : tensor<1x4x4x3xf32>
}

// Along other axes blocks do not matter.
// CHECK-LABEL: @along_others(
// CHECK:      [[A:%.*]] = relax.nn.softmax [[Y:%\w+]] {axis = 3} : (tensor<1x1x5x4x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.nn.layer_norm [[A]], %h, %h {axes = [2, 3]} : (tensor<1x1x5x4x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.nn.l2_normalize [[B]] {eps = 1.000000e-01 : f64, axis = [1, 4, 3]} : (tensor<1x1x5x4x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.flip [[C]] {axis = [1, 4]} : (tensor<1x1x5x4x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[E:%.*]] = relax.tile [[D]] {reps = [1, 2, 1, 3, 1]} : (tensor<1x1x5x4x4xf32>) -> tensor<1x2x5x12x4xf32>
// CHECK-NEXT: [[F:%.*]] = relax.image.resize2d [[E]] {layout = "NCHW4c", size = [7, 8]} : (tensor<1x2x5x12x4xf32>) -> tensor<1x2x7x8x4xf32>
// CHECK-NEXT: [[G:%.*]] = relax.nn.upsampling [[F]] {scale_w = 2.000000e+00 : f64, layout = "NCHW4c"} : (tensor<1x2x7x8x4xf32>) -> tensor<1x2x7x16x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[G]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x7x16x4xf32>) -> tensor<1x8x7x16xf32>
// CHECK-NEXT: func.return [[V2]] : tensor<1x8x7x16xf32>
func.func @along_others(%x: tensor<1x4x5x4xf32>, %w: tensor<4x4x1x1xf32>, %h: tensor<5x4xf32>) -> tensor<1x8x7x16xf32> {
  %y = relax.nn.conv2d %x, %w : (tensor<1x4x5x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x5x4xf32>
  %a = relax.nn.softmax %y {axis = 3} : (tensor<1x4x5x4xf32>) -> tensor<1x4x5x4xf32>
  %b = relax.nn.layer_norm %a, %h, %h {axes = [2, 3]} : (tensor<1x4x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<1x4x5x4xf32>
  %c = relax.nn.l2_normalize %b {eps = 1.000000e-01 : f64, axis = [1, 3]} : (tensor<1x4x5x4xf32>) -> tensor<1x4x5x4xf32>
  %d = relax.flip %c {axis = [1]} : (tensor<1x4x5x4xf32>) -> tensor<1x4x5x4xf32>
  %e = relax.tile %d {reps = [2, 1, 3]} : (tensor<1x4x5x4xf32>) -> tensor<1x8x5x12xf32>
  %f = relax.image.resize2d %e {size = [7, 8]} : (tensor<1x8x5x12xf32>) -> tensor<1x8x7x8xf32>
  %g = relax.nn.upsampling %f {scale_w = 2.000000e+00 : f64} : (tensor<1x8x7x8xf32>) -> tensor<1x8x7x16xf32>
  return %g : tensor<1x8x7x16xf32>
}

// Padding of pixels; of channels it is not.
// CHECK-LABEL: @pads(
// CHECK:      [[A:%.*]] = relax.nn.pad [[Y:%\w+]] {pad_width = [0, 0, 0, 0, 1, 2, 3, 4, 0, 0]} : (tensor<1x1x5x4x4xf32>) -> tensor<1x1x8x11x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[A]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x1x8x11x4xf32>) -> tensor<1x4x8x11xf32>
// CHECK-NEXT: [[B:%.*]] = relax.nn.pad [[V2]] {pad_width = [0, 0, 0, 4, 0, 0, 0, 0]} : (tensor<1x4x8x11xf32>) -> tensor<1x8x8x11xf32>
// CHECK-NEXT: func.return [[V2]], [[B]] : tensor<1x4x8x11xf32>, tensor<1x8x8x11xf32>
func.func @pads(%x: tensor<1x4x5x4xf32>, %w: tensor<4x4x1x1xf32>) -> (tensor<1x4x8x11xf32>, tensor<1x8x8x11xf32>) {
  %y = relax.nn.conv2d %x, %w : (tensor<1x4x5x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x5x4xf32>
  %a = relax.nn.pad %y {pad_width = [0, 0, 0, 0, 1, 2, 3, 4]} : (tensor<1x4x5x4xf32>) -> tensor<1x4x8x11xf32>
  %b = relax.nn.pad %a {pad_width = [0, 0, 0, 4, 0, 0, 0, 0]} : (tensor<1x4x8x11xf32>) -> tensor<1x8x8x11xf32>
  return %a, %b : tensor<1x4x8x11xf32>, tensor<1x8x8x11xf32>
}

// Over channels: a result of blocks of 1, which is broadcast.
// CHECK-LABEL: @sums(
// CHECK:      [[A:%.*]] = relax.sum [[Y:%\w+]] {axis = [1, 4], keepdims = true} : (tensor<1x2x5x4x4xf32>) -> tensor<1x1x5x4x1xf32>
// CHECK-NEXT: [[B:%.*]] = relax.divide [[Y]], [[A]] : (tensor<1x2x5x4x4xf32>, tensor<1x1x5x4x1xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.sum [[B]] {axis = [1, 4]} : (tensor<1x2x5x4x4xf32>) -> tensor<1x5x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.mean [[Y]] {axis = [2, 3], keepdims = true} : (tensor<1x2x5x4x4xf32>) -> tensor<1x2x1x1x4xf32>
// CHECK-NEXT: [[E:%.*]] = relax.multiply [[D]], [[B]] : (tensor<1x2x1x1x4xf32>, tensor<1x2x5x4x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[F:%.*]] = relax.max [[E]] {axis = [2, 3]} : (tensor<1x2x5x4x4xf32>) -> tensor<1x2x4xf32>
// CHECK-NEXT: [[G:%.*]] = relax.min [[E]] : (tensor<1x2x5x4x4xf32>) -> tensor<f32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[A]] {src_layout = "NCHW1c", dst_layout = "NCHW"} : (tensor<1x1x5x4x1xf32>) -> tensor<1x1x5x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[F]] {src_layout = "NC4c", dst_layout = "NC"} : (tensor<1x2x4xf32>) -> tensor<1x8xf32>
// CHECK-NEXT: func.return [[V2]], [[C]], [[V3]], [[G]] : tensor<1x1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x8xf32>, tensor<f32>
func.func @sums(%x: tensor<1x4x5x4xf32>, %w: tensor<8x4x1x1xf32>) -> (tensor<1x1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x8xf32>, tensor<f32>) {
  %y = relax.nn.conv2d %x, %w : (tensor<1x4x5x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x5x4xf32>
  %a = relax.sum %y {axis = [1], keepdims = true} : (tensor<1x8x5x4xf32>) -> tensor<1x1x5x4xf32>
  %b = relax.divide %y, %a : (tensor<1x8x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x8x5x4xf32>
  %c = relax.sum %b {axis = [1]} : (tensor<1x8x5x4xf32>) -> tensor<1x5x4xf32>
  %d = relax.mean %y {axis = [2, 3], keepdims = true} : (tensor<1x8x5x4xf32>) -> tensor<1x8x1x1xf32>
  %e = relax.multiply %d, %b : (tensor<1x8x1x1xf32>, tensor<1x8x5x4xf32>) -> tensor<1x8x5x4xf32>
  %f = relax.max %e {axis = [2, 3]} : (tensor<1x8x5x4xf32>) -> tensor<1x8xf32>
  %g = relax.min %e : (tensor<1x8x5x4xf32>) -> tensor<f32>
  return %a, %c, %f, %g : tensor<1x1x5x4xf32>, tensor<1x5x4xf32>, tensor<1x8xf32>, tensor<f32>
}

// What is broadcast along the channels has blocks of 1.
// CHECK-LABEL: @broadcast(
// CHECK:      [[V2:%.*]] = relax.expand_dims %z {axis = [0]} : (tensor<1x5x4xf32>) -> tensor<1x1x5x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[V2]] {src_layout = "NCHW", dst_layout = "NCHW1c"} : (tensor<1x1x5x4xf32>) -> tensor<1x1x5x4x1xf32>
// CHECK-NEXT: [[A:%.*]] = relax.add [[Y:%\w+]], [[V3]] : (tensor<1x2x5x4x4xf32>, tensor<1x1x5x4x1xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.multiply %t, [[A]] : (tensor<1x1xf32>, tensor<1x2x5x4x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.expand_dims %u {axis = [0]} : (tensor<8x1x4xf32>) -> tensor<1x8x1x4xf32>
// CHECK-NEXT: [[V5:%.*]] = relax.layout_transform [[V4]] {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x8x1x4xf32>) -> tensor<1x2x1x4x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.subtract [[V5]], [[B]] : (tensor<1x2x1x4x4xf32>, tensor<1x2x5x4x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V6:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x5x4x4xf32>) -> tensor<1x8x5x4xf32>
// CHECK-NEXT: func.return [[V6]] : tensor<1x8x5x4xf32>
func.func @broadcast(%x: tensor<1x4x5x4xf32>, %w: tensor<8x4x1x1xf32>, %z: tensor<1x5x4xf32>, %t: tensor<1x1xf32>, %u: tensor<8x1x4xf32>) -> tensor<1x8x5x4xf32> {
  %y = relax.nn.conv2d %x, %w : (tensor<1x4x5x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x5x4xf32>
  %a = relax.add %y, %z : (tensor<1x8x5x4xf32>, tensor<1x5x4xf32>) -> tensor<1x8x5x4xf32>
  %b = relax.multiply %t, %a : (tensor<1x1xf32>, tensor<1x8x5x4xf32>) -> tensor<1x8x5x4xf32>
  %c = relax.subtract %u, %b : (tensor<8x1x4xf32>, tensor<1x8x5x4xf32>) -> tensor<1x8x5x4xf32>
  return %c : tensor<1x8x5x4xf32>
}

// Slices and parts of whole blocks; others are not taken from blocks.
// CHECK-LABEL: @slices(
// CHECK:      [[A:%.*]] = relax.strided_slice [[Y:%\w+]] {begin = [0, 1], end = [1, 4], strides = [1, 1]} : (tensor<1x4x5x4x4xf32>) -> tensor<1x3x5x4x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.strided_slice [[A]] {begin = [0, 2], end = [2, 3], axes = [2, 1]} : (tensor<1x3x5x4x4xf32>) -> tensor<1x1x2x4x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[A]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x3x5x4x4xf32>) -> tensor<1x12x5x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.strided_slice [[V2]] {begin = [3], end = [8], axes = [1]} : (tensor<1x12x5x4xf32>) -> tensor<1x5x5x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.strided_slice [[V2]] {begin = [0], end = [12], strides = [3], axes = [1]} : (tensor<1x12x5x4xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: [[E:%.*]] = relax.strided_slice [[A]] {begin = [2], end = [3], axes = [1]} : (tensor<1x3x5x4x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[B]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x1x2x4x4xf32>) -> tensor<1x4x2x4xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[E]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x1x5x4x4xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: func.return [[V3]], [[C]], [[D]], [[V4]] : tensor<1x4x2x4xf32>, tensor<1x5x5x4xf32>, tensor<1x4x5x4xf32>, tensor<1x4x5x4xf32>
func.func @slices(%x: tensor<1x4x5x4xf32>, %w: tensor<16x4x1x1xf32>) -> (tensor<1x4x2x4xf32>, tensor<1x5x5x4xf32>, tensor<1x4x5x4xf32>, tensor<1x4x5x4xf32>) {
  %y = relax.nn.conv2d %x, %w : (tensor<1x4x5x4xf32>, tensor<16x4x1x1xf32>) -> tensor<1x16x5x4xf32>
  %a = relax.strided_slice %y {begin = [0, 4], end = [1, 33], strides = [1, 1]} : (tensor<1x16x5x4xf32>) -> tensor<1x12x5x4xf32>
  %b = relax.strided_slice %a {begin = [0, 8], end = [2, 12], axes = [2, 1]} : (tensor<1x12x5x4xf32>) -> tensor<1x4x2x4xf32>
  %c = relax.strided_slice %a {begin = [3], end = [8], axes = [1]} : (tensor<1x12x5x4xf32>) -> tensor<1x5x5x4xf32>
  %d = relax.strided_slice %a {begin = [0], end = [12], strides = [3], axes = [1]} : (tensor<1x12x5x4xf32>) -> tensor<1x4x5x4xf32>
  %e = relax.strided_slice %a {begin = [-4], end = [9223372036854775807], axes = [1]} : (tensor<1x12x5x4xf32>) -> tensor<1x4x5x4xf32>
  return %b, %c, %d, %e : tensor<1x4x2x4xf32>, tensor<1x5x5x4xf32>, tensor<1x4x5x4xf32>, tensor<1x4x5x4xf32>
}

// CHECK-LABEL: @splits(
// CHECK:      [[A:%.*]], [[B:%.*]] = relax.split [[Y:%\w+]] {sections = 2, axis = 1} : (tensor<1x4x5x4x4xf32>) -> (tensor<1x2x5x4x4xf32>, tensor<1x2x5x4x4xf32>)
// CHECK-NEXT: [[C:%.*]], [[D:%.*]] = relax.split [[Y]] {indices = [3], axis = 1} : (tensor<1x4x5x4x4xf32>) -> (tensor<1x3x5x4x4xf32>, tensor<1x1x5x4x4xf32>)
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x4x5x4x4xf32>) -> tensor<1x16x5x4xf32>
// CHECK-NEXT: [[E:%.*]], [[F:%.*]] = relax.split [[V2]] {indices = [6], axis = 1} : (tensor<1x16x5x4xf32>) -> (tensor<1x6x5x4xf32>, tensor<1x10x5x4xf32>)
// CHECK-NEXT: [[G:%.*]], [[H:%.*]], [[I:%.*]] = relax.split [[V2]] {sections = 3, axis = 1} : (tensor<1x16x5x4xf32>) -> (tensor<1x6x5x4xf32>, tensor<1x6x5x4xf32>, tensor<1x4x5x4xf32>)
// CHECK-NEXT: [[J:%.*]], [[K:%.*]] = relax.split [[Y]] {sections = 2, axis = 3} : (tensor<1x4x5x4x4xf32>) -> (tensor<1x4x5x2x4xf32>, tensor<1x4x5x2x4xf32>)
// CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[A]] : (tensor<1x2x5x4x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[R]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x5x4x4xf32>) -> tensor<1x8x5x4xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[D]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x1x5x4x4xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: [[V5:%.*]] = relax.layout_transform [[J]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x4x5x2x4xf32>) -> tensor<1x16x5x2xf32>
// CHECK-NEXT: func.return [[V3]], [[V4]], [[E]], [[G]], [[V5]] : tensor<1x8x5x4xf32>, tensor<1x4x5x4xf32>, tensor<1x6x5x4xf32>, tensor<1x6x5x4xf32>, tensor<1x16x5x2xf32>
func.func @splits(%x: tensor<1x4x5x4xf32>, %w: tensor<16x4x1x1xf32>) -> (tensor<1x8x5x4xf32>, tensor<1x4x5x4xf32>, tensor<1x6x5x4xf32>, tensor<1x6x5x4xf32>, tensor<1x16x5x2xf32>) {
  %y = relax.nn.conv2d %x, %w : (tensor<1x4x5x4xf32>, tensor<16x4x1x1xf32>) -> tensor<1x16x5x4xf32>
  %a, %b = relax.split %y {sections = 2, axis = 1} : (tensor<1x16x5x4xf32>) -> (tensor<1x8x5x4xf32>, tensor<1x8x5x4xf32>)
  %c, %d = relax.split %y {indices = [12], axis = 1} : (tensor<1x16x5x4xf32>) -> (tensor<1x12x5x4xf32>, tensor<1x4x5x4xf32>)
  %e, %f = relax.split %y {indices = [6], axis = 1} : (tensor<1x16x5x4xf32>) -> (tensor<1x6x5x4xf32>, tensor<1x10x5x4xf32>)
  %g, %h, %i = relax.split %y {sections = 3, axis = 1} : (tensor<1x16x5x4xf32>) -> (tensor<1x6x5x4xf32>, tensor<1x6x5x4xf32>, tensor<1x4x5x4xf32>)
  %j, %k = relax.split %y {sections = 2, axis = 3} : (tensor<1x16x5x4xf32>) -> (tensor<1x16x5x2xf32>, tensor<1x16x5x2xf32>)
  %r = relax.nn.relu %a : (tensor<1x8x5x4xf32>) -> tensor<1x8x5x4xf32>
  return %r, %d, %e, %g, %j : tensor<1x8x5x4xf32>, tensor<1x4x5x4xf32>, tensor<1x6x5x4xf32>, tensor<1x6x5x4xf32>, tensor<1x16x5x2xf32>
}

// Whole blocks after one another; 3 channels have none.
// CHECK-LABEL: @concatenate(
// CHECK:      [[C:%.*]] = relax.concatenate [[V2:%\w+]], %a {axis = 1} : (tensor<1x8x5x4xf32>, tensor<1x3x5x4xf32>) -> tensor<1x11x5x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform %b {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x4x5x4xf32>) -> tensor<1x1x5x4x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.concatenate [[V3]], [[Y:%\w+]] {axis = 1} : (tensor<1x1x5x4x4xf32>, tensor<1x2x5x4x4xf32>) -> tensor<1x3x5x4x4xf32>
// CHECK-NEXT: [[E:%.*]] = relax.concatenate [[D]], [[D]] {axis = 2} : (tensor<1x3x5x4x4xf32>, tensor<1x3x5x4x4xf32>) -> tensor<1x3x10x4x4xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[E]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x3x10x4x4xf32>) -> tensor<1x12x10x4xf32>
// CHECK-NEXT: func.return [[C]], [[V4]] : tensor<1x11x5x4xf32>, tensor<1x12x10x4xf32>
func.func @concatenate(%x: tensor<1x4x5x4xf32>, %w: tensor<8x4x1x1xf32>, %a: tensor<1x3x5x4xf32>, %b: tensor<1x4x5x4xf32>) -> (tensor<1x11x5x4xf32>, tensor<1x12x10x4xf32>) {
  %y = relax.nn.conv2d %x, %w : (tensor<1x4x5x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x5x4xf32>
  %c = relax.concatenate %y, %a {axis = 1} : (tensor<1x8x5x4xf32>, tensor<1x3x5x4xf32>) -> tensor<1x11x5x4xf32>
  %d = relax.concatenate %b, %y {axis = 1} : (tensor<1x4x5x4xf32>, tensor<1x8x5x4xf32>) -> tensor<1x12x5x4xf32>
  %e = relax.concatenate %d, %d {axis = 2} : (tensor<1x12x5x4xf32>, tensor<1x12x5x4xf32>) -> tensor<1x12x10x4xf32>
  return %c, %e : tensor<1x11x5x4xf32>, tensor<1x12x10x4xf32>
}

// CHECK-LABEL: @dimensions(
// CHECK:      [[A:%.*]] = relax.squeeze [[Y:%\w+]] {axis = [3]} : (tensor<1x2x5x1x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.expand_dims [[A]] {axis = [3]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x1x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.stack [[Y]], [[B]] {axis = 1} : (tensor<1x2x5x1x4xf32>, tensor<1x2x5x1x4xf32>) -> tensor<1x2x2x5x1x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.nn.global_max_pool2d [[Y]] {layout = "NCHW4c"} : (tensor<1x2x5x1x4xf32>) -> tensor<1x2x1x1x4xf32>
// CHECK-NEXT: [[E:%.*]] = relax.squeeze [[D]] {axis = [0, 2, 3]} : (tensor<1x2x1x1x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x5x1x4xf32>) -> tensor<1x8x5x1xf32>
// CHECK-NEXT: [[F:%.*]] = relax.transpose [[V2]] : (tensor<1x8x5x1xf32>) -> tensor<1x5x8x1xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[A]] {src_layout = "NCH4c", dst_layout = "NCH"} : (tensor<1x2x5x4xf32>) -> tensor<1x8x5xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[C]] {src_layout = "NACHW4c", dst_layout = "NACHW"} : (tensor<1x2x2x5x1x4xf32>) -> tensor<1x2x8x5x1xf32>
// CHECK-NEXT: [[V5:%.*]] = relax.layout_transform [[E]] {src_layout = "C4c", dst_layout = "C"} : (tensor<2x4xf32>) -> tensor<8xf32>
// CHECK-NEXT: func.return [[V3]], [[V4]], [[V5]], [[F]] : tensor<1x8x5xf32>, tensor<1x2x8x5x1xf32>, tensor<8xf32>, tensor<1x5x8x1xf32>
func.func @dimensions(%x: tensor<1x4x5x1xf32>, %w: tensor<8x4x1x1xf32>) -> (tensor<1x8x5xf32>, tensor<1x2x8x5x1xf32>, tensor<8xf32>, tensor<1x5x8x1xf32>) {
  %y = relax.nn.conv2d %x, %w : (tensor<1x4x5x1xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x5x1xf32>
  %a = relax.squeeze %y {axis = [3]} : (tensor<1x8x5x1xf32>) -> tensor<1x8x5xf32>
  %b = relax.expand_dims %a {axis = [3]} : (tensor<1x8x5xf32>) -> tensor<1x8x5x1xf32>
  %c = relax.stack %y, %b {axis = 1} : (tensor<1x8x5x1xf32>, tensor<1x8x5x1xf32>) -> tensor<1x2x8x5x1xf32>
  %d = relax.nn.global_max_pool2d %y : (tensor<1x8x5x1xf32>) -> tensor<1x8x1x1xf32>
  %e = relax.squeeze %d : (tensor<1x8x1x1xf32>) -> tensor<8xf32>
  %f = relax.transpose %y : (tensor<1x8x5x1xf32>) -> tensor<1x5x8x1xf32>
  return %a, %c, %e, %f : tensor<1x8x5xf32>, tensor<1x2x8x5x1xf32>, tensor<8xf32>, tensor<1x5x8x1xf32>
}

// CHECK-LABEL: @indices(
// CHECK:      [[V2:%.*]] = relax.layout_transform %i {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x4x2x4xi64>) -> tensor<1x1x2x4x4xi64>
// CHECK-NEXT: [[A:%.*]] = relax.gather [[Y:%\w+]], [[V2]] {axis = 2} : (tensor<1x2x5x4x4xf32>, tensor<1x1x2x4x4xi64>) -> tensor<1x1x2x4x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x5x4x4xf32>) -> tensor<1x8x5x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.gather [[V3]], %j {axis = 2} : (tensor<1x8x5x4xf32>, tensor<1x3x2x4xi64>) -> tensor<1x3x2x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.take [[Y]], %k {axis = 2} : (tensor<1x2x5x4x4xf32>, tensor<2xi64>) -> tensor<1x2x2x4x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.take [[V3]], %k {axis = 1} : (tensor<1x8x5x4xf32>, tensor<2xi64>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[E:%.*]] = relax.argmax [[V3]] {axis = 1} : (tensor<1x8x5x4xf32>) -> tensor<1x5x4xi64>
// CHECK-NEXT: [[F:%.*]] = relax.argmin [[Y]] {axis = 3} : (tensor<1x2x5x4x4xf32>) -> tensor<1x2x5x4xi64>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[A]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x1x2x4x4xf32>) -> tensor<1x4x2x4xf32>
// CHECK-NEXT: [[V5:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW4c", dst_layout = "NCHW"} : (tensor<1x2x2x4x4xf32>) -> tensor<1x8x2x4xf32>
// CHECK-NEXT: [[V6:%.*]] = relax.layout_transform [[F]] {src_layout = "NCH4c", dst_layout = "NCH"} : (tensor<1x2x5x4xi64>) -> tensor<1x8x5xi64>
// CHECK-NEXT: func.return [[V4]], [[B]], [[V5]], [[D]], [[E]], [[V6]] : tensor<1x4x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x2x5x4xf32>, tensor<1x5x4xi64>, tensor<1x8x5xi64>
func.func @indices(%x: tensor<1x4x5x4xf32>, %w: tensor<8x4x1x1xf32>, %i: tensor<1x4x2x4xi64>, %j: tensor<1x3x2x4xi64>, %k: tensor<2xi64>) -> (tensor<1x4x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x2x5x4xf32>, tensor<1x5x4xi64>, tensor<1x8x5xi64>) {
  %y = relax.nn.conv2d %x, %w : (tensor<1x4x5x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x5x4xf32>
  %a = relax.gather %y, %i {axis = 2} : (tensor<1x8x5x4xf32>, tensor<1x4x2x4xi64>) -> tensor<1x4x2x4xf32>
  %b = relax.gather %y, %j {axis = 2} : (tensor<1x8x5x4xf32>, tensor<1x3x2x4xi64>) -> tensor<1x3x2x4xf32>
  %c = relax.take %y, %k {axis = 2} : (tensor<1x8x5x4xf32>, tensor<2xi64>) -> tensor<1x8x2x4xf32>
  %d = relax.take %y, %k {axis = 1} : (tensor<1x8x5x4xf32>, tensor<2xi64>) -> tensor<1x2x5x4xf32>
  %e = relax.argmax %y {axis = 1} : (tensor<1x8x5x4xf32>) -> tensor<1x5x4xi64>
  %f = relax.argmin %y {axis = 3} : (tensor<1x8x5x4xf32>) -> tensor<1x8x5xi64>
  return %a, %b, %c, %d, %e, %f : tensor<1x4x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x2x5x4xf32>, tensor<1x5x4xi64>, tensor<1x8x5xi64>
}

// From blocks of 2 to blocks of 4: what goes along blocks is put into others at once.
// CHECK-LABEL: @other_blocks(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NCHW2c", dst_layout = "NCHW4c"} : (tensor<1x4x5x4x2xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "OIHW2i2o", dst_layout = "OIHW4i4o"} : (tensor<4x4x1x1x2x2xf32>) -> tensor<2x2x1x1x4x4xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x2x5x4x4xf32>, tensor<2x2x1x1x4x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform %b {src_layout = "NCHW2c", dst_layout = "NCHW4c"} : (tensor<1x4x1x1x2xf32>) -> tensor<1x2x1x1x4xf32>
// CHECK-NEXT: [[A:%.*]] = relax.add [[Y]], [[V2]] : (tensor<1x2x5x4x4xf32>, tensor<1x2x1x1x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[M:%.*]] = relax.multiply [[A]], %c : (tensor<1x2x5x4x4xf32>, tensor<1x1x1x1x1xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[P:%.*]] = relax.nn.max_pool2d [[M]] {pool_size = [2, 2], layout = "NCHW4c"} : (tensor<1x2x5x4x4xf32>) -> tensor<1x2x4x3x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[P]] {src_layout = "NCHW4c", dst_layout = "NCHW2c"} : (tensor<1x2x4x3x4xf32>) -> tensor<1x4x4x3x2xf32>
// CHECK-NEXT: func.return [[V3]] : tensor<1x4x4x3x2xf32>
func.func @other_blocks(%x: tensor<1x4x5x4x2xf32>, %w: tensor<4x4x1x1x2x2xf32>, %b: tensor<1x4x1x1x2xf32>, %c: tensor<1x1x1x1x1xf32>) -> tensor<1x4x4x3x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NCHW2c", kernel_layout = "OIHW2i2o"} : (tensor<1x4x5x4x2xf32>, tensor<4x4x1x1x2x2xf32>) -> tensor<1x4x5x4x2xf32>
  %a = relax.add %y, %b : (tensor<1x4x5x4x2xf32>, tensor<1x4x1x1x2xf32>) -> tensor<1x4x5x4x2xf32>
  %m = relax.multiply %a, %c : (tensor<1x4x5x4x2xf32>, tensor<1x1x1x1x1xf32>) -> tensor<1x4x5x4x2xf32>
  %p = relax.nn.max_pool2d %m {pool_size = [2, 2], layout = "NCHW2c"} : (tensor<1x4x5x4x2xf32>) -> tensor<1x4x4x3x2xf32>
  return %p : tensor<1x4x4x3x2xf32>
}

// Blocks of 2 with an operand that is the same for each block: not in blocks of 4.
// CHECK-LABEL: @same_for_each_block(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NCHW2c", dst_layout = "NCHW4c"} : (tensor<1x4x5x4x2xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "OIHW2i2o", dst_layout = "OIHW4i4o"} : (tensor<4x4x1x1x2x2xf32>) -> tensor<2x2x1x1x4x4xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x2x5x4x4xf32>, tensor<2x2x1x1x4x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW4c", dst_layout = "NCHW2c"} : (tensor<1x2x5x4x4xf32>) -> tensor<1x4x5x4x2xf32>
// CHECK-NEXT: [[A:%.*]] = relax.add [[V2]], %z : (tensor<1x4x5x4x2xf32>, tensor<5x4x2xf32>) -> tensor<1x4x5x4x2xf32>
// CHECK-NEXT: func.return [[A]] : tensor<1x4x5x4x2xf32>
func.func @same_for_each_block(%x: tensor<1x4x5x4x2xf32>, %w: tensor<4x4x1x1x2x2xf32>, %z: tensor<5x4x2xf32>) -> tensor<1x4x5x4x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NCHW2c", kernel_layout = "OIHW2i2o"} : (tensor<1x4x5x4x2xf32>, tensor<4x4x1x1x2x2xf32>) -> tensor<1x4x5x4x2xf32>
  %a = relax.add %y, %z : (tensor<1x4x5x4x2xf32>, tensor<5x4x2xf32>) -> tensor<1x4x5x4x2xf32>
  return %a : tensor<1x4x5x4x2xf32>
}

// Slices, sums and the like are of dimensions, which blocks of 2 were.
// CHECK-LABEL: @dimensions_of_blocks(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NCHW2c", dst_layout = "NCHW4c"} : (tensor<1x4x5x4x2xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "OIHW2i2o", dst_layout = "OIHW4i4o"} : (tensor<4x4x1x1x2x2xf32>) -> tensor<2x2x1x1x4x4xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] {data_layout = "NCHW4c", kernel_layout = "OIHW4i4o"} : (tensor<1x2x5x4x4xf32>, tensor<2x2x1x1x4x4xf32>) -> tensor<1x2x5x4x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW4c", dst_layout = "NCHW2c"} : (tensor<1x2x5x4x4xf32>) -> tensor<1x4x5x4x2xf32>
// CHECK-NEXT: [[A:%.*]] = relax.strided_slice [[V2]] {begin = [0, 0], end = [1, 4], strides = [1, 2]} : (tensor<1x4x5x4x2xf32>) -> tensor<1x2x5x4x2xf32>
// CHECK-NEXT: [[B:%.*]] = relax.sum [[V2]] {axis = [4]} : (tensor<1x4x5x4x2xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.sum [[V2]] : (tensor<1x4x5x4x2xf32>) -> tensor<f32>
// CHECK-NEXT: func.return [[A]], [[B]], [[C]] : tensor<1x2x5x4x2xf32>, tensor<1x4x5x4xf32>, tensor<f32>
func.func @dimensions_of_blocks(%x: tensor<1x4x5x4x2xf32>, %w: tensor<4x4x1x1x2x2xf32>) -> (tensor<1x2x5x4x2xf32>, tensor<1x4x5x4xf32>, tensor<f32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NCHW2c", kernel_layout = "OIHW2i2o"} : (tensor<1x4x5x4x2xf32>, tensor<4x4x1x1x2x2xf32>) -> tensor<1x4x5x4x2xf32>
  %a = relax.strided_slice %y {begin = [0, 0], end = [1, 4], strides = [1, 2]} : (tensor<1x4x5x4x2xf32>) -> tensor<1x2x5x4x2xf32>
  %b = relax.sum %y {axis = [4]} : (tensor<1x4x5x4x2xf32>) -> tensor<1x4x5x4xf32>
  %c = relax.sum %y : (tensor<1x4x5x4x2xf32>) -> tensor<f32>
  return %a, %b, %c : tensor<1x2x5x4x2xf32>, tensor<1x4x5x4xf32>, tensor<f32>
}
