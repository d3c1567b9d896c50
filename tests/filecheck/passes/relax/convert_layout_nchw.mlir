// RUN: passline-opt %s -p 'convert-layout{desired=relax.nn.conv2d:NCHW}' | filecheck %s

// Must not fire: it is in the layout.
// UNCHANGED: @already
func.func @already(%x: tensor<1x3x5x4xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x3x2xf32> {
  %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x3x2xf32>
  %r = relax.nn.relu %y : (tensor<1x4x3x2xf32>) -> tensor<1x4x3x2xf32>
  return %r : tensor<1x4x3x2xf32>
}

// Must not fire: a convolution without an entry, and one over other dimensions.
// UNCHANGED: @no_entry
func.func @no_entry(%x: tensor<1x5x3xf32>, %w: tensor<3x3x4xf32>, %v: tensor<1x5x4x3xf32>, %k: tensor<2x2x3x2xf32>) -> (tensor<1x3x4xf32>, tensor<1x6x5x2xf32>) {
  %y = relax.nn.conv1d %x, %w {data_layout = "NWC", kernel_layout = "WIO"} : (tensor<1x5x3xf32>, tensor<3x3x4xf32>) -> tensor<1x3x4xf32>
  %z = relax.nn.conv2d_transpose %v, %k {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<2x2x3x2xf32>) -> tensor<1x6x5x2xf32>
  return %y, %z : tensor<1x3x4xf32>, tensor<1x6x5x2xf32>
}

// Must not fire: it is not known which dimensions there are.
// UNCHANGED: @unranked
func.func @unranked(%x: tensor<*xf32>, %w: tensor<3x3x3x2xf32>) -> tensor<?x?x?x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<*xf32>, tensor<3x3x3x2xf32>) -> tensor<?x?x?x2xf32>
  return %y : tensor<?x?x?x2xf32>
}

// Must not fire: an operation that no convolution comes before.
// UNCHANGED: @agnostic
func.func @agnostic(%x: tensor<1x5x4x3xf32>, %y: tensor<3xf32>) -> tensor<1x4x3x1xf32> {
  %a = relax.add %x, %y : (tensor<1x5x4x3xf32>, tensor<3xf32>) -> tensor<1x5x4x3xf32>
  %b = relax.sum %a {axis = [3], keepdims = true} : (tensor<1x5x4x3xf32>) -> tensor<1x5x4x1xf32>
  %c = relax.nn.max_pool2d %b {pool_size = [2, 2], layout = "NHWC"} : (tensor<1x5x4x1xf32>) -> tensor<1x4x3x1xf32>
  return %c : tensor<1x4x3x1xf32>
}

// A convolution and what is done to each element; data and weights are transformed, and the result.
// CHECK-LABEL: @conv(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x5x4x3xf32>) -> tensor<1x3x5x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "HWIO", dst_layout = "OIHW"} : (tensor<3x3x3x2xf32>) -> tensor<2x3x3x3xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] {padding = [1, 0]} : (tensor<1x3x5x4xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x5x2xf32>
// CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[Y]] : (tensor<1x2x5x2xf32>) -> tensor<1x2x5x2xf32>
// CHECK-NEXT: [[T:%.*]] = relax.tanh [[R]] : (tensor<1x2x5x2xf32>) -> tensor<1x2x5x2xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[T]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x2xf32>) -> tensor<1x5x2x2xf32>
// CHECK-NEXT: func.return [[V2]] : tensor<1x5x2x2xf32>
func.func @conv(%x: tensor<1x5x4x3xf32>, %w: tensor<3x3x3x2xf32>) -> tensor<1x5x2x2xf32> {
  %y = relax.nn.conv2d %x, %w {padding = [1, 0], data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x5x2x2xf32>
  %r = relax.nn.relu %y : (tensor<1x5x2x2xf32>) -> tensor<1x5x2x2xf32>
  %t = relax.tanh %r : (tensor<1x5x2x2xf32>) -> tensor<1x5x2x2xf32>
  return %t : tensor<1x5x2x2xf32>
}

// The result of a convolution may have a layout of its own.
// CHECK-LABEL: @out_layout(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x5x4x3xf32>) -> tensor<1x3x5x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "HWIO", dst_layout = "OIHW"} : (tensor<3x3x3x2xf32>) -> tensor<2x3x3x3xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] : (tensor<1x3x5x4xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x3x2xf32>
// CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[Y]] : (tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[R]] {src_layout = "NCHW", dst_layout = "HWNC"} : (tensor<1x2x3x2xf32>) -> tensor<3x2x1x2xf32>
// CHECK-NEXT: func.return [[V2]] : tensor<3x2x1x2xf32>
func.func @out_layout(%x: tensor<1x5x4x3xf32>, %w: tensor<3x3x3x2xf32>) -> tensor<3x2x1x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO", out_layout = "HWNC"} : (tensor<1x5x4x3xf32>, tensor<3x3x3x2xf32>) -> tensor<3x2x1x2xf32>
  %r = relax.nn.relu %y : (tensor<3x2x1x2xf32>) -> tensor<3x2x1x2xf32>
  return %r : tensor<3x2x1x2xf32>
}

// A bias, a tuple that is taken apart again, a pooling, a conversion; what flattens gets it as it was.
// CHECK-LABEL: @chain(
// CHECK:      [[Y:%.*]] = relax.nn.conv2d [[V0:%\w+]], [[V1:%\w+]] {padding = [1, 1]} : (tensor<1x3x5x4xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.nn.bias_add [[Y]], %b : (tensor<1x2x5x4xf32>, tensor<2xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[Z]] : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[P:%.*]] = relax.nn.max_pool2d [[R]] {pool_size = [2, 2]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x3xf32>
// CHECK-NEXT: [[C:%.*]] = relax.astype [[P]] {dtype = f64} : (tensor<1x2x4x3xf32>) -> tensor<1x2x4x3xf64>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x4x3xf64>) -> tensor<1x4x3x2xf64>
// CHECK-NEXT: [[F:%.*]] = relax.nn.batch_flatten [[V2]] : (tensor<1x4x3x2xf64>) -> tensor<1x24xf64>
// CHECK-NEXT: func.return [[F]] : tensor<1x24xf64>
func.func @chain(%x: tensor<1x5x4x3xf32>, %w: tensor<3x3x3x2xf32>, %b: tensor<2xf32>) -> tensor<1x24xf64> {
  %y = relax.nn.conv2d %x, %w {padding = [1, 1], data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x5x4x2xf32>
  %z = relax.nn.bias_add %y, %b {axis = 3} : (tensor<1x5x4x2xf32>, tensor<2xf32>) -> tensor<1x5x4x2xf32>
  %t = relax.tuple %z : (tensor<1x5x4x2xf32>) -> tuple<tensor<1x5x4x2xf32>>
  %e = relax.tuple_get_item %t {index = 0} : (tuple<tensor<1x5x4x2xf32>>) -> tensor<1x5x4x2xf32>
  %r = relax.nn.relu %e : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %p = relax.nn.max_pool2d %r {pool_size = [2, 2], layout = "NHWC"} : (tensor<1x5x4x2xf32>) -> tensor<1x4x3x2xf32>
  %c = relax.astype %p {dtype = f64} : (tensor<1x4x3x2xf32>) -> tensor<1x4x3x2xf64>
  %f = relax.nn.batch_flatten %c : (tensor<1x4x3x2xf64>) -> tensor<1x24xf64>
  return %f : tensor<1x24xf64>
}

// A tuple that is returned has its elements as they were.
// CHECK-LABEL: @tuple(
// CHECK:      [[Y:%.*]] = relax.nn.conv2d [[V0:%\w+]], [[V1:%\w+]] : (tensor<1x3x5x4xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x3x2xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x3x2xf32>) -> tensor<1x3x2x2xf32>
// CHECK-NEXT: [[T:%.*]] = relax.tuple [[V2]], %x : (tensor<1x3x2x2xf32>, tensor<1x5x4x3xf32>) -> tuple<tensor<1x3x2x2xf32>, tensor<1x5x4x3xf32>>
// CHECK-NEXT: [[E:%.*]] = relax.tuple_get_item [[T]] {index = 0} : (tuple<tensor<1x3x2x2xf32>, tensor<1x5x4x3xf32>>) -> tensor<1x3x2x2xf32>
// CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[E]] : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
// CHECK-NEXT: func.return [[T]], [[R]] : tuple<tensor<1x3x2x2xf32>, tensor<1x5x4x3xf32>>, tensor<1x3x2x2xf32>
func.func @tuple(%x: tensor<1x5x4x3xf32>, %w: tensor<3x3x3x2xf32>) -> (tuple<tensor<1x3x2x2xf32>, tensor<1x5x4x3xf32>>, tensor<1x3x2x2xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x3x2x2xf32>
  %t = relax.tuple %y, %x : (tensor<1x3x2x2xf32>, tensor<1x5x4x3xf32>) -> tuple<tensor<1x3x2x2xf32>, tensor<1x5x4x3xf32>>
  %e = relax.tuple_get_item %t {index = 0} : (tuple<tensor<1x3x2x2xf32>, tensor<1x5x4x3xf32>>) -> tensor<1x3x2x2xf32>
  %r = relax.nn.relu %e : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  return %t, %r : tuple<tensor<1x3x2x2xf32>, tensor<1x5x4x3xf32>>, tensor<1x3x2x2xf32>
}

// A bias of fewer dimensions: it is given more. Scalars stay.
// CHECK-LABEL: @biases(
// CHECK:      [[Y:%.*]] = relax.nn.conv2d [[V0:%\w+]], [[V1:%\w+]] {padding = [1, 1]} : (tensor<1x3x5x4xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.expand_dims %b {axis = [0, 1, 2]} : (tensor<2xf32>) -> tensor<1x1x1x2xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[V2]] {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x1x1x2xf32>) -> tensor<1x2x1x1xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.add [[Y]], [[V3]] : (tensor<1x2x5x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.expand_dims %c {axis = [0, 1]} : (tensor<4x2xf32>) -> tensor<1x1x4x2xf32>
// CHECK-NEXT: [[V5:%.*]] = relax.layout_transform [[V4]] {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x1x4x2xf32>) -> tensor<1x2x1x4xf32>
// CHECK-NEXT: [[M:%.*]] = relax.multiply [[V5]], [[Z]] : (tensor<1x2x1x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[N:%.*]] = relax.add [[M]], %s : (tensor<1x2x5x4xf32>, tensor<f32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[O:%.*]] = relax.multiply %t, [[N]] : (tensor<1x1xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[V6:%.*]] = relax.layout_transform [[O]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: func.return [[V6]] : tensor<1x5x4x2xf32>
func.func @biases(%x: tensor<1x5x4x3xf32>, %w: tensor<3x3x3x2xf32>, %b: tensor<2xf32>, %c: tensor<4x2xf32>, %s: tensor<f32>, %t: tensor<1x1xf32>) -> tensor<1x5x4x2xf32> {
  %y = relax.nn.conv2d %x, %w {padding = [1, 1], data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x5x4x2xf32>
  %z = relax.add %y, %b : (tensor<1x5x4x2xf32>, tensor<2xf32>) -> tensor<1x5x4x2xf32>
  %m = relax.multiply %c, %z : (tensor<4x2xf32>, tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %n = relax.add %m, %s : (tensor<1x5x4x2xf32>, tensor<f32>) -> tensor<1x5x4x2xf32>
  %o = relax.multiply %t, %n : (tensor<1x1xf32>, tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  return %o : tensor<1x5x4x2xf32>
}

// Constants are transformed at once; a fill stays one.
// CHECK-LABEL: @constants(
// CHECK-NEXT: [[W:%.*]] = relax.constant dense<[[[[1.000000e+00], [3.000000e+00]]], [[[2.000000e+00], [4.000000e+00]]]]> : tensor<2x1x2x1xf32>
// CHECK-NEXT: [[B:%.*]] = relax.constant dense<[[[[5.000000e+00]], [[6.000000e+00]]]]> : tensor<1x2x1x1xf32>
// CHECK-NEXT: [[F:%.*]] = relax.full 7.000000e+00 : tensor<1x2x2x3xf32>
// CHECK-NEXT: [[ONE:%.*]] = relax.full 1.000000e+00 : tensor<f32>
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x2x3x1xf32>) -> tensor<1x1x2x3xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[W]] {padding = [1, 0, 0, 0]} : (tensor<1x1x2x3xf32>, tensor<2x1x2x1xf32>) -> tensor<1x2x2x3xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.add [[Y]], [[B]] : (tensor<1x2x2x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x2x3xf32>
// CHECK-NEXT: [[U:%.*]] = relax.add [[Z]], [[F]] : (tensor<1x2x2x3xf32>, tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
// CHECK-NEXT: [[V:%.*]] = relax.add [[U]], [[ONE]] : (tensor<1x2x2x3xf32>, tensor<f32>) -> tensor<1x2x2x3xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform [[V]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x2x3xf32>) -> tensor<1x2x3x2xf32>
// CHECK-NEXT: func.return [[V1]] : tensor<1x2x3x2xf32>
func.func @constants(%x: tensor<1x2x3x1xf32>) -> tensor<1x2x3x2xf32> {
  %w = relax.constant dense<[[[[1.000000e+00, 2.000000e+00]]], [[[3.000000e+00, 4.000000e+00]]]]> : tensor<2x1x1x2xf32>
  %b = relax.constant dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>
  %f = relax.full 7.000000e+00 : tensor<2x3x2xf32>
  %one = relax.full 1.000000e+00 : tensor<f32>
  %y = relax.nn.conv2d %x, %w {padding = [1, 0, 0, 0], data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x2x3x1xf32>, tensor<2x1x1x2xf32>) -> tensor<1x2x3x2xf32>
  %z = relax.add %y, %b : (tensor<1x2x3x2xf32>, tensor<2xf32>) -> tensor<1x2x3x2xf32>
  %u = relax.add %z, %f : (tensor<1x2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<1x2x3x2xf32>
  %v = relax.add %u, %one : (tensor<1x2x3x2xf32>, tensor<f32>) -> tensor<1x2x3x2xf32>
  return %v : tensor<1x2x3x2xf32>
}

// Two convolutions of one tensor: it is transformed once; concatenated along the channels.
// CHECK-LABEL: @concatenate(
// CHECK:      [[V2:%.*]] = relax.layout_transform %v {src_layout = "HWIO", dst_layout = "OIHW"} : (tensor<1x1x3x4xf32>) -> tensor<4x3x1x1xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.nn.conv2d [[V0:%\w+]], [[V2]] : (tensor<1x3x5x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.concatenate [[Y:%\w+]], [[Z]] {axis = 1} : (tensor<1x2x5x4xf32>, tensor<1x4x5x4xf32>) -> tensor<1x6x5x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x6x5x4xf32>) -> tensor<1x5x4x6xf32>
// CHECK-NEXT: func.return [[V3]] : tensor<1x5x4x6xf32>
func.func @concatenate(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %v: tensor<1x1x3x4xf32>) -> tensor<1x5x4x6xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %z = relax.nn.conv2d %x, %v {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x4xf32>) -> tensor<1x5x4x4xf32>
  %c = relax.concatenate %y, %z {axis = 3} : (tensor<1x5x4x2xf32>, tensor<1x5x4x4xf32>) -> tensor<1x5x4x6xf32>
  return %c : tensor<1x5x4x6xf32>
}

// What most of the tensors concatenated are in, those of the others too are put in.
// CHECK-LABEL: @concatenate_argument(
// CHECK:      [[V2:%.*]] = relax.layout_transform %a {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x5x4x1xf32>) -> tensor<1x1x5x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.concatenate [[V2]], [[Y:%\w+]], [[Y]] {axis = 1} : (tensor<1x1x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x5x5x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x5x5x4xf32>) -> tensor<1x5x4x5xf32>
// CHECK-NEXT: func.return [[V3]] : tensor<1x5x4x5xf32>
func.func @concatenate_argument(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %a: tensor<1x5x4x1xf32>) -> tensor<1x5x4x5xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %c = relax.concatenate %a, %y, %y {axis = -1} : (tensor<1x5x4x1xf32>, tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> tensor<1x5x4x5xf32>
  return %c : tensor<1x5x4x5xf32>
}

// Two paths: each that needs it as it was gets the same.
// CHECK-LABEL: @dual_path(
// CHECK:      [[V2:%.*]] = relax.layout_transform %v {src_layout = "HWIO", dst_layout = "OIHW"} : (tensor<1x1x2x2xf32>) -> tensor<2x2x1x1xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.nn.conv2d [[R:%\w+]], [[V2]] : (tensor<1x2x5x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[Q:%.*]] = relax.nn.relu [[Z]] : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[R]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[F:%.*]] = relax.nn.batch_flatten [[V3]] : (tensor<1x5x4x2xf32>) -> tensor<1x40xf32>
// CHECK-NEXT: [[G:%.*]] = relax.nn.batch_flatten [[V3]] : (tensor<1x5x4x2xf32>) -> tensor<1x40xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[Q]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: func.return [[V4]], [[F]], [[G]] : tensor<1x5x4x2xf32>, tensor<1x40xf32>, tensor<1x40xf32>
func.func @dual_path(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %v: tensor<1x1x2x2xf32>) -> (tensor<1x5x4x2xf32>, tensor<1x40xf32>, tensor<1x40xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %r = relax.nn.relu %y : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %z = relax.nn.conv2d %r, %v {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x5x4x2xf32>
  %q = relax.nn.relu %z : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %f = relax.nn.batch_flatten %r : (tensor<1x5x4x2xf32>) -> tensor<1x40xf32>
  %g = relax.nn.batch_flatten %r : (tensor<1x5x4x2xf32>) -> tensor<1x40xf32>
  return %q, %f, %g : tensor<1x5x4x2xf32>, tensor<1x40xf32>, tensor<1x40xf32>
}

// A residual block: x is transformed once, and the result once.
// CHECK-LABEL: @residual(
// CHECK:      [[V2:%.*]] = relax.layout_transform %v {src_layout = "HWIO", dst_layout = "OIHW"} : (tensor<1x1x3x2xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.nn.conv2d [[V0:%\w+]], [[V2]] : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[A:%.*]] = relax.add [[R:%\w+]], [[Z]] : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[P:%.*]] = relax.nn.global_max_pool2d [[A]] : (tensor<1x2x5x4xf32>) -> tensor<1x2x1x1xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[P]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x1x1xf32>) -> tensor<1x1x1x2xf32>
// CHECK-NEXT: func.return [[V3]] : tensor<1x1x1x2xf32>
func.func @residual(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %v: tensor<1x1x3x2xf32>) -> tensor<1x1x1x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %r = relax.nn.relu %y : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %z = relax.nn.conv2d %x, %v {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.add %r, %z : (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %p = relax.nn.global_max_pool2d %a {layout = "NHWC"} : (tensor<1x5x4x2xf32>) -> tensor<1x1x1x2xf32>
  return %p : tensor<1x1x1x2xf32>
}

// A convolution that is in the layout between two that are not.
// CHECK-LABEL: @between(
// CHECK:      [[Z:%.*]] = relax.nn.conv2d [[Y:%\w+]], %v : (tensor<1x2x5x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x5x4xf32>
// CHECK-NEXT: [[K:%.*]] = relax.nn.conv2d [[Z]], [[V1:%\w+]] : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[K]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: func.return [[V2]] : tensor<1x5x4x2xf32>
func.func @between(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %v: tensor<3x2x1x1xf32>) -> tensor<1x5x4x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %t = relax.layout_transform %y {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x5x4x2xf32>) -> tensor<1x2x5x4xf32>
  %z = relax.nn.conv2d %t, %v : (tensor<1x2x5x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x5x4xf32>
  %u = relax.layout_transform %z {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
  %k = relax.nn.conv2d %u, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  return %k : tensor<1x5x4x2xf32>
}

// What was transformed already is transformed at once.
// CHECK-LABEL: @composed(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "CNHW", dst_layout = "NCHW"} : (tensor<3x1x5x4xf32>) -> tensor<1x3x5x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "HWIO", dst_layout = "OIHW"} : (tensor<1x1x3x2xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[U:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW", dst_layout = "HWNC"} : (tensor<1x2x5x4xf32>) -> tensor<5x4x1x2xf32>
// CHECK-NEXT: func.return [[U]] : tensor<5x4x1x2xf32>
func.func @composed(%x: tensor<3x1x5x4xf32>, %w: tensor<1x1x3x2xf32>) -> tensor<5x4x1x2xf32> {
  %t = relax.layout_transform %x {src_layout = "CNHW", dst_layout = "NHWC"} : (tensor<3x1x5x4xf32>) -> tensor<1x5x4x3xf32>
  %y = relax.nn.conv2d %t, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %u = relax.layout_transform %y {src_layout = "NHWC", dst_layout = "HWNC"} : (tensor<1x5x4x2xf32>) -> tensor<5x4x1x2xf32>
  return %u : tensor<5x4x1x2xf32>
}

// Where one use stays, so does the transform.
// CHECK-LABEL: @composed_used(
// CHECK-NEXT: [[T:%.*]] = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %w {src_layout = "HWIO", dst_layout = "OIHW"} : (tensor<1x1x3x2xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d %x, [[V0]] : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: func.return [[V1]], [[T]] : tensor<1x5x4x2xf32>, tensor<1x5x4x3xf32>
func.func @composed_used(%x: tensor<1x3x5x4xf32>, %w: tensor<1x1x3x2xf32>) -> (tensor<1x5x4x2xf32>, tensor<1x5x4x3xf32>) {
  %t = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
  %y = relax.nn.conv2d %t, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  return %y, %t : tensor<1x5x4x2xf32>, tensor<1x5x4x3xf32>
}

// Must not go on: another operand than the first, and an operation without a rule.
// CHECK-LABEL: @restored(
// CHECK:      [[I:%.*]] = relax.argmax [[Y:%\w+]] {axis = 1} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4xi64>
// CHECK-NEXT: [[T:%.*]] = relax.take %a, [[I]] {axis = 0} : (tensor<7x2xf32>, tensor<1x5x4xi64>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[P:%.*]] = relax.matmul [[V2]], %m : (tensor<1x5x4x2xf32>, tensor<2x6xf32>) -> tensor<1x5x4x6xf32>
// CHECK-NEXT: func.return [[T]], [[P]] : tensor<1x5x4x2xf32>, tensor<1x5x4x6xf32>
func.func @restored(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %a: tensor<7x2xf32>, %m: tensor<2x6xf32>) -> (tensor<1x5x4x2xf32>, tensor<1x5x4x6xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %i = relax.argmax %y {axis = 3} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4xi64>
  %t = relax.take %a, %i {axis = 0} : (tensor<7x2xf32>, tensor<1x5x4xi64>) -> tensor<1x5x4x2xf32>
  %p = relax.matmul %y, %m : (tensor<1x5x4x2xf32>, tensor<2x6xf32>) -> tensor<1x5x4x6xf32>
  return %t, %p : tensor<1x5x4x2xf32>, tensor<1x5x4x6xf32>
}

// Sizes that are not known; a cast to what is.
// CHECK-LABEL: @symbolic(
// CHECK:      [[C:%.*]] = relax.match_cast %b : (tensor<?xf32>) -> tensor<2xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.expand_dims [[C]] {axis = [0, 1, 2]} : (tensor<2xf32>) -> tensor<1x1x1x2xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[V2]] {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x1x1x2xf32>) -> tensor<1x2x1x1xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.add [[Y:%\w+]], [[V3]] : (tensor<?x2x?x?xf32>, tensor<1x2x1x1xf32>) -> tensor<?x2x?x?xf32>
// CHECK-NEXT: [[M:%.*]] = relax.match_cast [[Z]] : (tensor<?x2x?x?xf32>) -> tensor<1x2x4x5xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[M]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x4x5xf32>) -> tensor<1x4x5x2xf32>
// CHECK-NEXT: func.return [[V4]] : tensor<1x4x5x2xf32>
func.func @symbolic(%x: tensor<?x?x?x3xf32>, %w: tensor<1x1x3x2xf32>, %b: tensor<?xf32>) -> tensor<1x4x5x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<?x?x?x3xf32>, tensor<1x1x3x2xf32>) -> tensor<?x?x?x2xf32>
  %c = relax.match_cast %b : (tensor<?xf32>) -> tensor<2xf32>
  %z = relax.add %y, %c : (tensor<?x?x?x2xf32>, tensor<2xf32>) -> tensor<?x?x?x2xf32>
  %m = relax.match_cast %z : (tensor<?x?x?x2xf32>) -> tensor<1x4x5x2xf32>
  return %m : tensor<1x4x5x2xf32>
}

// A value of less than its type: its users get that.
// CHECK-LABEL: @less(
// CHECK:      [[F:%.*]] = relax.nn.batch_flatten [[V2:%\w+]] : (tensor<?x?x?x2xf32>) -> tensor<?x?xf32>
// CHECK-NEXT: func.return [[F]] : tensor<?x?xf32>
func.func @less(%x: tensor<?x?x?x3xf32>, %w: tensor<1x1x3x2xf32>) -> tensor<?x?xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<?x?x?x3xf32>, tensor<1x1x3x2xf32>) -> tensor<?x?x?x2xf32>
  %r = relax.nn.relu %y : (tensor<?x?x?x2xf32>) -> tensor<?x?x?x2xf32>
  %f = relax.nn.batch_flatten %r : (tensor<?x?x?x2xf32>) -> tensor<?x?xf32>
  return %f : tensor<?x?xf32>
}
