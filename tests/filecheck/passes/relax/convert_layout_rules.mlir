// RUN: passline-opt %s -p 'convert-layout{desired=relax.nn.conv2d:NCHW}' | filecheck %s

// Batch norm along the channels.
// CHECK-LABEL: @batch_norm(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x5x4x3xf32>) -> tensor<1x3x5x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "HWIO", dst_layout = "OIHW"} : (tensor<1x1x3x2xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[N:%.*]] = relax.nn.batch_norm [[Y]], %g, %g, %g, %g : (tensor<1x2x5x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[N]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: func.return [[V2]] : tensor<1x5x4x2xf32>
func.func @batch_norm(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %g: tensor<2xf32>) -> tensor<1x5x4x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %n = relax.nn.batch_norm %y, %g, %g, %g, %g {axis = 3} : (tensor<1x5x4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x5x4x2xf32>
  return %n : tensor<1x5x4x2xf32>
}

// Other normalizations, wherever their axes go.
// CHECK-LABEL: @norms(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x5x4x3xf32>) -> tensor<1x3x5x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "HWIO", dst_layout = "OIHW"} : (tensor<1x1x3x2xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[A:%.*]] = relax.nn.layer_norm [[Y]], %g, %g {axes = [1]} : (tensor<1x2x5x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.nn.layer_norm [[A]], %h, %h {axes = [2, 3]} : (tensor<1x2x5x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.nn.instance_norm [[B]], %g, %g : (tensor<1x2x5x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.nn.group_norm [[C]], %g, %g {num_groups = 2} : (tensor<1x2x5x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[E:%.*]] = relax.nn.rms_norm [[D]], %k {axes = [1, 2]} : (tensor<1x2x5x4xf32>, tensor<2x5xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[F:%.*]] = relax.nn.lrn [[E]] {size = 3} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[P:%.*]] = relax.nn.prelu [[F]], %g : (tensor<1x2x5x4xf32>, tensor<2xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[P]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: func.return [[V2]] : tensor<1x5x4x2xf32>
func.func @norms(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %g: tensor<2xf32>, %h: tensor<5x4xf32>, %k: tensor<2x5xf32>) -> tensor<1x5x4x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.nn.layer_norm %y, %g, %g {axes = [3]} : (tensor<1x5x4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x5x4x2xf32>
  %b = relax.nn.layer_norm %a, %h, %h {axes = [1, 2]} : (tensor<1x5x4x2xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<1x5x4x2xf32>
  %c = relax.nn.instance_norm %b, %g, %g {axis = 3} : (tensor<1x5x4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x5x4x2xf32>
  %d = relax.nn.group_norm %c, %g, %g {num_groups = 2, channel_axis = 3, axes = [1, 2]} : (tensor<1x5x4x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x5x4x2xf32>
  %e = relax.nn.rms_norm %d, %k {axes = [3, 1]} : (tensor<1x5x4x2xf32>, tensor<2x5xf32>) -> tensor<1x5x4x2xf32>
  %f = relax.nn.lrn %e {size = 3, axis = 3} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %p = relax.nn.prelu %f, %g {axis = 3} : (tensor<1x5x4x2xf32>, tensor<2xf32>) -> tensor<1x5x4x2xf32>
  return %p : tensor<1x5x4x2xf32>
}

// CHECK-LABEL: @l2_normalize(
// CHECK:      [[A:%.*]] = relax.nn.l2_normalize [[Y:%\w+]] {eps = 1.000000e-01 : f64, axis = [1]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.nn.l2_normalize [[A]] {eps = 1.000000e-01 : f64, axis = [1]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.nn.l2_normalize [[B]] {eps = 1.000000e-01 : f64, axis = [3, 1]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: func.return [[V2]] : tensor<1x5x4x2xf32>
func.func @l2_normalize(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.nn.l2_normalize %y {eps = 1.000000e-01 : f64, axis = [3]} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %b = relax.nn.l2_normalize %a {eps = 1.000000e-01 : f64, axis = [-1]} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %c = relax.nn.l2_normalize %b {eps = 1.000000e-01 : f64, axis = [2, 3]} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  return %c : tensor<1x5x4x2xf32>
}

// A transposition gives what it gave, by other axes.
// CHECK-LABEL: @transpose(
// CHECK:      [[V2:%.*]] = relax.expand_dims %z {axis = [0]} : (tensor<5x4x2xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[V2]] {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x5x4x2xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[A:%.*]] = relax.add [[Y:%\w+]], [[V3]] : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[F:%.*]] = relax.nn.batch_flatten [[A]] : (tensor<1x2x5x4xf32>) -> tensor<1x40xf32>
// CHECK-NEXT: [[U:%.*]] = relax.transpose [[A]] {axes = [1, 3, 2, 0]} : (tensor<1x2x5x4xf32>) -> tensor<2x4x5x1xf32>
// CHECK-NEXT: [[V:%.*]] = relax.transpose [[A]] {axes = [3, 0, 1, 2]} : (tensor<1x2x5x4xf32>) -> tensor<4x1x2x5xf32>
// CHECK-NEXT: func.return [[F]], [[U]], [[V]] : tensor<1x40xf32>, tensor<2x4x5x1xf32>, tensor<4x1x2x5xf32>
func.func @transpose(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %z: tensor<5x4x2xf32>) -> (tensor<1x40xf32>, tensor<2x4x5x1xf32>, tensor<4x1x2x5xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.add %y, %z : (tensor<1x5x4x2xf32>, tensor<5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %t = relax.transpose %a {axes = [0, -1, 1, 2]} : (tensor<1x5x4x2xf32>) -> tensor<1x2x5x4xf32>
  %f = relax.nn.batch_flatten %t : (tensor<1x2x5x4xf32>) -> tensor<1x40xf32>
  %u = relax.transpose %a : (tensor<1x5x4x2xf32>) -> tensor<2x4x5x1xf32>
  %v = relax.transpose %a {axes = [2, 0, 3, 1]} : (tensor<1x5x4x2xf32>) -> tensor<4x1x2x5xf32>
  return %f, %u, %v : tensor<1x40xf32>, tensor<2x4x5x1xf32>, tensor<4x1x2x5xf32>
}

// Dimensions away: a transform is needed where the order of what is left has changed only.
// CHECK-LABEL: @squeeze(
// CHECK:      [[A:%.*]] = relax.squeeze [[Y:%\w+]] {axis = [2]} : (tensor<1x2x1x4xf32>) -> tensor<1x2x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.squeeze [[Y]] {axis = [0, 2]} : (tensor<1x2x1x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.squeeze [[Y]] {axis = []} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform %v {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x4x3x1xf32>) -> tensor<1x1x4x3xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform %k {src_layout = "HWIO", dst_layout = "OIHW"} : (tensor<4x1x1x2xf32>) -> tensor<2x1x4x1xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.nn.conv2d [[V2]], [[V3]] : (tensor<1x1x4x3xf32>, tensor<2x1x4x1xf32>) -> tensor<1x2x1x3xf32>
// CHECK-NEXT: [[D:%.*]] = relax.squeeze [[Z]] {axis = [0, 2]} : (tensor<1x2x1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[A]] {src_layout = "NCW", dst_layout = "NWC"} : (tensor<1x2x4xf32>) -> tensor<1x4x2xf32>
// CHECK-NEXT: [[V5:%.*]] = relax.layout_transform [[B]] {src_layout = "CW", dst_layout = "WC"} : (tensor<2x4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: [[V6:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x1x4xf32>) -> tensor<1x1x4x2xf32>
// CHECK-NEXT: [[V7:%.*]] = relax.layout_transform [[D]] {src_layout = "CW", dst_layout = "WC"} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: func.return [[V4]], [[V5]], [[V6]], [[V7]] : tensor<1x4x2xf32>, tensor<4x2xf32>, tensor<1x1x4x2xf32>, tensor<3x2xf32>
func.func @squeeze(%x: tensor<1x1x4x3xf32>, %w: tensor<1x1x3x2xf32>, %v: tensor<1x4x3x1xf32>, %k: tensor<4x1x1x2xf32>) -> (tensor<1x4x2xf32>, tensor<4x2xf32>, tensor<1x1x4x2xf32>, tensor<3x2xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x1x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x1x4x2xf32>
  %a = relax.squeeze %y {axis = [-3]} : (tensor<1x1x4x2xf32>) -> tensor<1x4x2xf32>
  %b = relax.squeeze %y : (tensor<1x1x4x2xf32>) -> tensor<4x2xf32>
  %c = relax.squeeze %y {axis = []} : (tensor<1x1x4x2xf32>) -> tensor<1x1x4x2xf32>
  %z = relax.nn.conv2d %v, %k {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x4x3x1xf32>, tensor<4x1x1x2xf32>) -> tensor<1x1x3x2xf32>
  %d = relax.squeeze %z : (tensor<1x1x3x2xf32>) -> tensor<3x2xf32>
  return %a, %b, %c, %d : tensor<1x4x2xf32>, tensor<4x2xf32>, tensor<1x1x4x2xf32>, tensor<3x2xf32>
}

// CHECK-LABEL: @expand_dims(
// CHECK:      [[A:%.*]] = relax.expand_dims [[Y:%\w+]] {axis = [0, 5]} : (tensor<1x2x5x4xf32>) -> tensor<1x1x2x5x4x1xf32>
// CHECK-NEXT: [[B:%.*]] = relax.expand_dims [[Y]] {axis = [3]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x1x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.squeeze [[B]] {axis = [3]} : (tensor<1x2x5x1x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[A]] {src_layout = "ANCHWB", dst_layout = "ANHWCB"} : (tensor<1x1x2x5x4x1xf32>) -> tensor<1x1x5x4x2x1xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[B]] {src_layout = "NCHAW", dst_layout = "NHAWC"} : (tensor<1x2x5x1x4xf32>) -> tensor<1x5x1x4x2xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: func.return [[V2]], [[V3]], [[V4]] : tensor<1x1x5x4x2x1xf32>, tensor<1x5x1x4x2xf32>, tensor<1x5x4x2xf32>
func.func @expand_dims(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> (tensor<1x1x5x4x2x1xf32>, tensor<1x5x1x4x2xf32>, tensor<1x5x4x2xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.expand_dims %y {axis = [0, -1]} : (tensor<1x5x4x2xf32>) -> tensor<1x1x5x4x2x1xf32>
  %b = relax.expand_dims %y {axis = [2]} : (tensor<1x5x4x2xf32>) -> tensor<1x5x1x4x2xf32>
  %c = relax.squeeze %b {axis = [2]} : (tensor<1x5x1x4x2xf32>) -> tensor<1x5x4x2xf32>
  return %a, %b, %c : tensor<1x1x5x4x2x1xf32>, tensor<1x5x1x4x2xf32>, tensor<1x5x4x2xf32>
}

// Sums: no transform is left where the order has no meaning any more.
// CHECK-LABEL: @sums(
// CHECK:      [[A:%.*]] = relax.sum [[Y:%\w+]] {axis = [2, 3]} : (tensor<1x2x5x4xf32>) -> tensor<1x2xf32>
// CHECK-NEXT: [[B:%.*]] = relax.sum [[A]] {axis = [1]} : (tensor<1x2xf32>) -> tensor<1xf32>
// CHECK-NEXT: [[C:%.*]] = relax.sum [[B]] : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: [[D:%.*]] = relax.sum [[Y]] : (tensor<1x2x5x4xf32>) -> tensor<f32>
// CHECK-NEXT: func.return [[C]], [[D]] : tensor<f32>, tensor<f32>
func.func @sums(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> (tensor<f32>, tensor<f32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.sum %y {axis = [1, 2]} : (tensor<1x5x4x2xf32>) -> tensor<1x2xf32>
  %b = relax.sum %a {axis = [1]} : (tensor<1x2xf32>) -> tensor<1xf32>
  %c = relax.sum %b : (tensor<1xf32>) -> tensor<f32>
  %d = relax.sum %y : (tensor<1x5x4x2xf32>) -> tensor<f32>
  return %c, %d : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @reductions(
// CHECK:      [[A:%.*]] = relax.max [[Y:%\w+]] {axis = [1], keepdims = true} : (tensor<1x2x5x4xf32>) -> tensor<1x1x5x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.mean [[A]] {axis = []} : (tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.min [[Y]] {axis = [1]} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.prod [[Y]] {keepdims = true} : (tensor<1x2x5x4xf32>) -> tensor<1x1x1x1xf32>
// CHECK-NEXT: [[E:%.*]] = relax.sum [[Y]] {axis = [0, 2, 3, 1]} : (tensor<1x2x5x4xf32>) -> tensor<f32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[B]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x1x5x4xf32>) -> tensor<1x5x4x1xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[D]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
// CHECK-NEXT: func.return [[V2]], [[C]], [[V3]], [[E]] : tensor<1x5x4x1xf32>, tensor<1x5x4xf32>, tensor<1x1x1x1xf32>, tensor<f32>
func.func @reductions(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> (tensor<1x5x4x1xf32>, tensor<1x5x4xf32>, tensor<1x1x1x1xf32>, tensor<f32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.max %y {axis = [-1], keepdims = true} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x1xf32>
  %b = relax.mean %a {axis = []} : (tensor<1x5x4x1xf32>) -> tensor<1x5x4x1xf32>
  %c = relax.min %y {axis = [3]} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4xf32>
  %d = relax.prod %y {keepdims = true} : (tensor<1x5x4x2xf32>) -> tensor<1x1x1x1xf32>
  %e = relax.sum %y {axis = [0, 1, 2, 3]} : (tensor<1x5x4x2xf32>) -> tensor<f32>
  return %b, %c, %d, %e : tensor<1x5x4x1xf32>, tensor<1x5x4xf32>, tensor<1x1x1x1xf32>, tensor<f32>
}

// CHECK-LABEL: @arg_reductions(
// CHECK:      [[A:%.*]] = relax.argmax [[Y:%\w+]] {axis = 1} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4xi64>
// CHECK-NEXT: [[B:%.*]] = relax.argmin [[Y]] {axis = 3, keepdims = true} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x1xi64>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[C:%.*]] = relax.argmax [[V2]] : (tensor<1x5x4x2xf32>) -> tensor<i64>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[B]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x1xi64>) -> tensor<1x5x1x2xi64>
// CHECK-NEXT: func.return [[A]], [[V3]], [[C]] : tensor<1x5x4xi64>, tensor<1x5x1x2xi64>, tensor<i64>
func.func @arg_reductions(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> (tensor<1x5x4xi64>, tensor<1x5x1x2xi64>, tensor<i64>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.argmax %y {axis = 3} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4xi64>
  %b = relax.argmin %y {axis = -2, keepdims = true} : (tensor<1x5x4x2xf32>) -> tensor<1x5x1x2xi64>
  %c = relax.argmax %y : (tensor<1x5x4x2xf32>) -> tensor<i64>
  return %a, %b, %c : tensor<1x5x4xi64>, tensor<1x5x1x2xi64>, tensor<i64>
}

// Of the least along two dimensions, which then are broadcast to each other.
// CHECK-LABEL: @broadcast_reductions(
// CHECK:      [[A:%.*]] = relax.min [[Y:%\w+]] {axis = [3]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5xf32>
// CHECK-NEXT: [[B:%.*]] = relax.min [[Y]] {axis = [1]} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.min [[B]] {axis = [2], keepdims = true} : (tensor<1x5x4xf32>) -> tensor<1x5x1xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[C]] {src_layout = "NHC", dst_layout = "NCH"} : (tensor<1x5x1xf32>) -> tensor<1x1x5xf32>
// CHECK-NEXT: [[D:%.*]] = relax.add [[A]], [[V2]] : (tensor<1x2x5xf32>, tensor<1x1x5xf32>) -> tensor<1x2x5xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[D]] {src_layout = "NCH", dst_layout = "NHC"} : (tensor<1x2x5xf32>) -> tensor<1x5x2xf32>
// CHECK-NEXT: func.return [[V3]] : tensor<1x5x2xf32>
func.func @broadcast_reductions(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> tensor<1x5x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.min %y {axis = [2]} : (tensor<1x5x4x2xf32>) -> tensor<1x5x2xf32>
  %b = relax.min %y {axis = [3]} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4xf32>
  %c = relax.min %b {axis = [2], keepdims = true} : (tensor<1x5x4xf32>) -> tensor<1x5x1xf32>
  %d = relax.add %a, %c : (tensor<1x5x2xf32>, tensor<1x5x1xf32>) -> tensor<1x5x2xf32>
  return %d : tensor<1x5x2xf32>
}

// CHECK-LABEL: @slices(
// CHECK:      [[A:%.*]] = relax.strided_slice [[Y:%\w+]] {begin = [0, 1, 1, 0], end = [1, 5, -1, 10], strides = [1, 1, 1, 2]} : (tensor<1x6x5x4xf32>) -> tensor<1x4x3x2xf32>
// CHECK-NEXT: [[B:%.*]] = relax.strided_slice [[Y]] {begin = [0, 2], end = [1, 5], axes = [0, 1]} : (tensor<1x6x5x4xf32>) -> tensor<1x3x5x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.strided_slice [[Y]] {begin = [0, 1], end = [1, 5], axes = [0, 2]} : (tensor<1x6x5x4xf32>) -> tensor<1x6x4x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[A]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x4x3x2xf32>) -> tensor<1x3x2x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[B]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x6x4x4xf32>) -> tensor<1x4x4x6xf32>
// CHECK-NEXT: func.return [[V2]], [[V3]], [[V4]] : tensor<1x3x2x4xf32>, tensor<1x5x4x3xf32>, tensor<1x4x4x6xf32>
func.func @slices(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x6xf32>) -> (tensor<1x3x2x4xf32>, tensor<1x5x4x3xf32>, tensor<1x4x4x6xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x6xf32>) -> tensor<1x5x4x6xf32>
  %a = relax.strided_slice %y {begin = [0, 1, 0, 1], end = [1, -1, 10, 5], strides = [1, 1, 2, 1]} : (tensor<1x5x4x6xf32>) -> tensor<1x3x2x4xf32>
  %b = relax.strided_slice %y {begin = [0, 2], end = [1, 5], axes = [0, 3]} : (tensor<1x5x4x6xf32>) -> tensor<1x5x4x3xf32>
  %c = relax.strided_slice %y {begin = [0, 1], end = [1, 5]} : (tensor<1x5x4x6xf32>) -> tensor<1x4x4x6xf32>
  return %a, %b, %c : tensor<1x3x2x4xf32>, tensor<1x5x4x3xf32>, tensor<1x4x4x6xf32>
}

// CHECK-LABEL: @split(
// CHECK:      [[A:%.*]], [[B:%.*]] = relax.split [[Y:%\w+]] {sections = 2, axis = 1} : (tensor<1x6x5x4xf32>) -> (tensor<1x3x5x4xf32>, tensor<1x3x5x4xf32>)
// CHECK-NEXT: [[C:%.*]], [[D:%.*]], [[E:%.*]] = relax.split [[Y]] {indices = [1, 3], axis = 1} : (tensor<1x6x5x4xf32>) -> (tensor<1x1x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x3x5x4xf32>)
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[A]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[B]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x1x5x4xf32>) -> tensor<1x5x4x1xf32>
// CHECK-NEXT: [[V5:%.*]] = relax.layout_transform [[D]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[V6:%.*]] = relax.layout_transform [[E]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
// CHECK-NEXT: func.return [[V2]], [[V3]], [[V4]], [[V5]], [[V6]] : tensor<1x5x4x3xf32>, tensor<1x5x4x3xf32>, tensor<1x5x4x1xf32>, tensor<1x5x4x2xf32>, tensor<1x5x4x3xf32>
func.func @split(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x6xf32>) -> (tensor<1x5x4x3xf32>, tensor<1x5x4x3xf32>, tensor<1x5x4x1xf32>, tensor<1x5x4x2xf32>, tensor<1x5x4x3xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x6xf32>) -> tensor<1x5x4x6xf32>
  %a, %b = relax.split %y {sections = 2, axis = -1} : (tensor<1x5x4x6xf32>) -> (tensor<1x5x4x3xf32>, tensor<1x5x4x3xf32>)
  %c, %d, %e = relax.split %y {indices = [1, 3], axis = 3} : (tensor<1x5x4x6xf32>) -> (tensor<1x5x4x1xf32>, tensor<1x5x4x2xf32>, tensor<1x5x4x3xf32>)
  return %a, %b, %c, %d, %e : tensor<1x5x4x3xf32>, tensor<1x5x4x3xf32>, tensor<1x5x4x1xf32>, tensor<1x5x4x2xf32>, tensor<1x5x4x3xf32>
}

// CHECK-LABEL: @topk(
// CHECK:      [[V:%.*]], [[I:%.*]] = relax.topk [[Y:%\w+]] {k = 2, axis = 3} : (tensor<1x2x5x4xf32>) -> (tensor<1x2x5x2xf32>, tensor<1x2x5x2xi64>)
// CHECK-NEXT: [[A:%.*]] = relax.nn.relu [[V]] : (tensor<1x2x5x2xf32>) -> tensor<1x2x5x2xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[A]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x2xf32>) -> tensor<1x5x2x2xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[V]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x2xf32>) -> tensor<1x5x2x2xf32>
// CHECK-NEXT: func.return [[V2]], [[V3]] : tensor<1x5x2x2xf32>, tensor<1x5x2x2xf32>
func.func @topk(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> (tensor<1x5x2x2xf32>, tensor<1x5x2x2xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %v, %i = relax.topk %y {k = 2, axis = 2} : (tensor<1x5x4x2xf32>) -> (tensor<1x5x2x2xf32>, tensor<1x5x2x2xi64>)
  %a = relax.nn.relu %v : (tensor<1x5x2x2xf32>) -> tensor<1x5x2x2xf32>
  return %a, %v : tensor<1x5x2x2xf32>, tensor<1x5x2x2xf32>
}

// Along an axis each.
// CHECK-LABEL: @axes(
// CHECK:      [[A:%.*]] = relax.nn.softmax [[Y:%\w+]] {axis = 1} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.nn.log_softmax [[A]] {axis = 2} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[C:%.*]] = relax.cumsum [[B]] {axis = 3} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.sort [[C]] {axis = 1} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[E:%.*]] = relax.flip [[D]] {axis = [1, 2]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[F:%.*]] = relax.repeat [[E]] {repeats = 2, axis = 2} : (tensor<1x2x5x4xf32>) -> tensor<1x2x10x4xf32>
// CHECK-NEXT: [[G:%.*]] = relax.nn.dropout [[F]] : (tensor<1x2x10x4xf32>) -> tensor<1x2x10x4xf32>
// CHECK-NEXT: [[H:%.*]] = relax.stop_fusion [[G]] : (tensor<1x2x10x4xf32>) -> tensor<1x2x10x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[H]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x10x4xf32>) -> tensor<1x10x4x2xf32>
// CHECK-NEXT: func.return [[V2]] : tensor<1x10x4x2xf32>
func.func @axes(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> tensor<1x10x4x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.nn.softmax %y : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %b = relax.nn.log_softmax %a {axis = 1} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %c = relax.cumsum %b {axis = 2} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %d = relax.sort %c {axis = 3} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %e = relax.flip %d {axis = [3, 1]} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %f = relax.repeat %e {repeats = 2, axis = 1} : (tensor<1x5x4x2xf32>) -> tensor<1x10x4x2xf32>
  %g = relax.nn.dropout %f : (tensor<1x10x4x2xf32>) -> tensor<1x10x4x2xf32>
  %h = relax.stop_fusion %g : (tensor<1x10x4x2xf32>) -> tensor<1x10x4x2xf32>
  return %h : tensor<1x10x4x2xf32>
}

// All elements in a row: as they were.
// CHECK-LABEL: @flattened(
// CHECK:      [[A:%.*]] = relax.cumsum [[V2:%\w+]] : (tensor<1x5x4x2xf32>) -> tensor<40xf32>
// CHECK-NEXT: [[B:%.*]] = relax.repeat [[V2]] {repeats = 2} : (tensor<1x5x4x2xf32>) -> tensor<80xf32>
// CHECK-NEXT: [[C:%.*]] = relax.reshape [[V2]] {newshape = [5, 8]} : (tensor<1x5x4x2xf32>) -> tensor<5x8xf32>
// CHECK-NEXT: func.return [[A]], [[B]], [[C]] : tensor<40xf32>, tensor<80xf32>, tensor<5x8xf32>
func.func @flattened(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> (tensor<40xf32>, tensor<80xf32>, tensor<5x8xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.cumsum %y : (tensor<1x5x4x2xf32>) -> tensor<40xf32>
  %b = relax.repeat %y {repeats = 2} : (tensor<1x5x4x2xf32>) -> tensor<80xf32>
  %c = relax.reshape %y {newshape = [5, 8]} : (tensor<1x5x4x2xf32>) -> tensor<5x8xf32>
  return %a, %b, %c : tensor<40xf32>, tensor<80xf32>, tensor<5x8xf32>
}

// CHECK-LABEL: @pads(
// CHECK:      [[A:%.*]] = relax.nn.pad [[Y:%\w+]] {pad_width = [0, 0, 0, 1, 1, 2, 3, 4]} : (tensor<1x2x5x4xf32>) -> tensor<1x3x8x11xf32>
// CHECK-NEXT: [[B:%.*]] = relax.tile [[A]] {reps = [1, 3, 1, 2]} : (tensor<1x3x8x11xf32>) -> tensor<1x9x8x22xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[B]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x9x8x22xf32>) -> tensor<1x8x22x9xf32>
// CHECK-NEXT: [[C:%.*]] = relax.tile [[V2]] {reps = [2, 1, 1, 1, 1]} : (tensor<1x8x22x9xf32>) -> tensor<2x1x8x22x9xf32>
// CHECK-NEXT: [[D:%.*]] = relax.broadcast_to [[Y]] {shape = [3, 2, 5, 4]} : (tensor<1x2x5x4xf32>) -> tensor<3x2x5x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[E:%.*]] = relax.broadcast_to [[V3]] {shape = [2, 1, 5, 4, 2]} : (tensor<1x5x4x2xf32>) -> tensor<2x1x5x4x2xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[D]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<3x2x5x4xf32>) -> tensor<3x5x4x2xf32>
// CHECK-NEXT: func.return [[C]], [[V4]], [[E]] : tensor<2x1x8x22x9xf32>, tensor<3x5x4x2xf32>, tensor<2x1x5x4x2xf32>
func.func @pads(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> (tensor<2x1x8x22x9xf32>, tensor<3x5x4x2xf32>, tensor<2x1x5x4x2xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.nn.pad %y {pad_width = [0, 0, 1, 2, 3, 4, 0, 1]} : (tensor<1x5x4x2xf32>) -> tensor<1x8x11x3xf32>
  %b = relax.tile %a {reps = [1, 2, 3]} : (tensor<1x8x11x3xf32>) -> tensor<1x8x22x9xf32>
  %c = relax.tile %b {reps = [2, 1, 1, 1, 1]} : (tensor<1x8x22x9xf32>) -> tensor<2x1x8x22x9xf32>
  %d = relax.broadcast_to %y {shape = [3, 5, 4, 2]} : (tensor<1x5x4x2xf32>) -> tensor<3x5x4x2xf32>
  %e = relax.broadcast_to %y {shape = [2, 1, 5, 4, 2]} : (tensor<1x5x4x2xf32>) -> tensor<2x1x5x4x2xf32>
  return %c, %d, %e : tensor<2x1x8x22x9xf32>, tensor<3x5x4x2xf32>, tensor<2x1x5x4x2xf32>
}

// CHECK-LABEL: @stack(
// CHECK:      [[Z:%.*]] = relax.nn.relu [[Y:%\w+]] : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[A:%.*]] = relax.stack [[Y]], [[Z]] {axis = 1} : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x2x5x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.stack [[Y]], [[Z]] {axis = 4} : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4x2xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[A]] {src_layout = "NACHW", dst_layout = "NHWAC"} : (tensor<1x2x2x5x4xf32>) -> tensor<1x5x4x2x2xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[B]] {src_layout = "NCHWA", dst_layout = "NHWCA"} : (tensor<1x2x5x4x2xf32>) -> tensor<1x5x4x2x2xf32>
// CHECK-NEXT: func.return [[V2]], [[V3]] : tensor<1x5x4x2x2xf32>, tensor<1x5x4x2x2xf32>
func.func @stack(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> (tensor<1x5x4x2x2xf32>, tensor<1x5x4x2x2xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %z = relax.nn.relu %y : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.stack %y, %z {axis = 3} : (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> tensor<1x5x4x2x2xf32>
  %b = relax.stack %y, %z {axis = -1} : (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> tensor<1x5x4x2x2xf32>
  return %a, %b : tensor<1x5x4x2x2xf32>, tensor<1x5x4x2x2xf32>
}

// CHECK-LABEL: @takes(
// CHECK:      [[A:%.*]] = relax.take [[Y:%\w+]], %i {axis = 2} : (tensor<1x2x5x4xf32>, tensor<2xi64>) -> tensor<1x2x2x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.take [[Y]], %j {axis = 2} : (tensor<1x2x5x4xf32>, tensor<i64>) -> tensor<1x2x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[C:%.*]] = relax.take [[V2]], %k {axis = 1} : (tensor<1x5x4x2xf32>, tensor<2x2xi64>) -> tensor<1x2x2x4x2xf32>
// CHECK-NEXT: [[D:%.*]] = relax.take [[V2]], %i : (tensor<1x5x4x2xf32>, tensor<2xi64>) -> tensor<2xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[A]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x2x4xf32>) -> tensor<1x2x4x2xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[B]] {src_layout = "NCW", dst_layout = "NWC"} : (tensor<1x2x4xf32>) -> tensor<1x4x2xf32>
// CHECK-NEXT: func.return [[V3]], [[V4]], [[C]], [[D]] : tensor<1x2x4x2xf32>, tensor<1x4x2xf32>, tensor<1x2x2x4x2xf32>, tensor<2xf32>
func.func @takes(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %i: tensor<2xi64>, %j: tensor<i64>, %k: tensor<2x2xi64>) -> (tensor<1x2x4x2xf32>, tensor<1x4x2xf32>, tensor<1x2x2x4x2xf32>, tensor<2xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.take %y, %i {axis = 1} : (tensor<1x5x4x2xf32>, tensor<2xi64>) -> tensor<1x2x4x2xf32>
  %b = relax.take %y, %j {axis = 1} : (tensor<1x5x4x2xf32>, tensor<i64>) -> tensor<1x4x2xf32>
  %c = relax.take %y, %k {axis = 1} : (tensor<1x5x4x2xf32>, tensor<2x2xi64>) -> tensor<1x2x2x4x2xf32>
  %d = relax.take %y, %i : (tensor<1x5x4x2xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %a, %b, %c, %d : tensor<1x2x4x2xf32>, tensor<1x4x2xf32>, tensor<1x2x2x4x2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @gathers(
// CHECK:      [[V2:%.*]] = relax.layout_transform %i {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x2x4x2xi64>) -> tensor<1x2x2x4xi64>
// CHECK-NEXT: [[A:%.*]] = relax.gather [[Y:%\w+]], [[V2]] {axis = 2} : (tensor<1x2x5x4xf32>, tensor<1x2x2x4xi64>) -> tensor<1x2x2x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform %u {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x2x4x2xf32>) -> tensor<1x2x2x4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.scatter_elements [[Y]], [[V2]], [[V3]] {axis = 2} : (tensor<1x2x5x4xf32>, tensor<1x2x2x4xi64>, tensor<1x2x2x4xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[C:%.*]] = relax.scatter_nd [[V4]], %n, %m : (tensor<1x5x4x2xf32>, tensor<2x4xi64>, tensor<2xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[V5:%.*]] = relax.layout_transform [[A]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x2x4xf32>) -> tensor<1x2x4x2xf32>
// CHECK-NEXT: [[V6:%.*]] = relax.layout_transform [[B]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x2x5x4xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: func.return [[V5]], [[V6]], [[C]] : tensor<1x2x4x2xf32>, tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>
func.func @gathers(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %i: tensor<1x2x4x2xi64>, %u: tensor<1x2x4x2xf32>, %n: tensor<2x4xi64>, %m: tensor<2xf32>) -> (tensor<1x2x4x2xf32>, tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>) {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %a = relax.gather %y, %i {axis = 1} : (tensor<1x5x4x2xf32>, tensor<1x2x4x2xi64>) -> tensor<1x2x4x2xf32>
  %b = relax.scatter_elements %y, %i, %u {axis = 1} : (tensor<1x5x4x2xf32>, tensor<1x2x4x2xi64>, tensor<1x2x4x2xf32>) -> tensor<1x5x4x2xf32>
  %c = relax.scatter_nd %y, %n, %m : (tensor<1x5x4x2xf32>, tensor<2x4xi64>, tensor<2xf32>) -> tensor<1x5x4x2xf32>
  return %a, %b, %c : tensor<1x2x4x2xf32>, tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>
}

// Resized, pooled and rearranged, in its layout.
// CHECK-LABEL: @images(
// CHECK:      [[A:%.*]] = relax.image.resize2d [[Y:%\w+]] {size = [6, 8]} : (tensor<1x4x5x4xf32>) -> tensor<1x4x6x8xf32>
// CHECK-NEXT: [[B:%.*]] = relax.nn.upsampling [[A]] {scale_h = 2.000000e+00 : f64} : (tensor<1x4x6x8xf32>) -> tensor<1x4x12x8xf32>
// CHECK-NEXT: [[C:%.*]] = relax.nn.avg_pool2d [[B]] {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x4x12x8xf32>) -> tensor<1x4x6x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.layout_transform [[C]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x4x6x4xf32>) -> tensor<1x6x4x4xf32>
// CHECK-NEXT: [[E:%.*]] = relax.nn.adaptive_avg_pool2d [[D]] {layout = "NHWC", output_size = [2, 4]} : (tensor<1x6x4x4xf32>) -> tensor<1x2x4x4xf32>
// CHECK-NEXT: [[F:%.*]] = relax.nn.depth_to_space [[E]] {block_size = 2, layout = "NHWC"} : (tensor<1x2x4x4xf32>) -> tensor<1x4x8x1xf32>
// CHECK-NEXT: [[G:%.*]] = relax.nn.space_to_depth [[F]] {block_size = 2, layout = "NHWC"} : (tensor<1x4x8x1xf32>) -> tensor<1x2x4x4xf32>
// CHECK-NEXT: [[H:%.*]] = relax.nn.global_avg_pool2d [[G]] {layout = "NHWC"} : (tensor<1x2x4x4xf32>) -> tensor<1x1x1x4xf32>
// CHECK-NEXT: func.return [[H]] : tensor<1x1x1x4xf32>
func.func @images(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x4xf32>) -> tensor<1x1x1x4xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x4xf32>) -> tensor<1x5x4x4xf32>
  %a = relax.image.resize2d %y {layout = "NHWC", size = [6, 8]} : (tensor<1x5x4x4xf32>) -> tensor<1x6x8x4xf32>
  %b = relax.nn.upsampling %a {scale_h = 2.000000e+00 : f64, layout = "NHWC"} : (tensor<1x6x8x4xf32>) -> tensor<1x12x8x4xf32>
  %c = relax.nn.avg_pool2d %b {pool_size = [2, 2], strides = [2, 2], layout = "NHWC", out_layout = "NCHW"} : (tensor<1x12x8x4xf32>) -> tensor<1x4x6x4xf32>
  %d = relax.layout_transform %c {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x4x6x4xf32>) -> tensor<1x6x4x4xf32>
  %e = relax.nn.adaptive_avg_pool2d %d {layout = "NHWC", output_size = [2, 4]} : (tensor<1x6x4x4xf32>) -> tensor<1x2x4x4xf32>
  %f = relax.nn.depth_to_space %e {block_size = 2, layout = "NHWC"} : (tensor<1x2x4x4xf32>) -> tensor<1x4x8x1xf32>
  %g = relax.nn.space_to_depth %f {block_size = 2, layout = "NHWC"} : (tensor<1x4x8x1xf32>) -> tensor<1x2x4x4xf32>
  %h = relax.nn.global_avg_pool2d %g {layout = "NHWC"} : (tensor<1x2x4x4xf32>) -> tensor<1x1x1x4xf32>
  return %h : tensor<1x1x1x4xf32>
}

// Only along new dimensions: as it was.
// CHECK-LABEL: @new_dimensions(
// CHECK:      [[B:%.*]] = relax.add %a, [[V2:%\w+]] : (tensor<2x1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> tensor<2x1x5x4x2xf32>
// CHECK-NEXT: func.return [[B]] : tensor<2x1x5x4x2xf32>
func.func @new_dimensions(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %a: tensor<2x1x5x4x2xf32>) -> tensor<2x1x5x4x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %b = relax.add %a, %y : (tensor<2x1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> tensor<2x1x5x4x2xf32>
  return %b : tensor<2x1x5x4x2xf32>
}

// An image of which the batch is gone has the layout of what is left.
// CHECK-LABEL: @mean_then_resize(
// CHECK:      [[M:%.*]] = relax.mean [[Y:%\w+]] {axis = [0]} : (tensor<2x2x5x4xf32>) -> tensor<2x5x4xf32>
// CHECK-NEXT: [[R:%.*]] = relax.image.resize1d [[M]] {layout = "CNW", size = [6]} : (tensor<2x5x4xf32>) -> tensor<2x5x6xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[R]] {src_layout = "CNW", dst_layout = "NWC"} : (tensor<2x5x6xf32>) -> tensor<5x6x2xf32>
// CHECK-NEXT: func.return [[V2]] : tensor<5x6x2xf32>
func.func @mean_then_resize(%x: tensor<2x5x4x3xf32>, %w: tensor<1x1x3x2xf32>) -> tensor<5x6x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<2x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<2x5x4x2xf32>
  %m = relax.mean %y {axis = [0]} : (tensor<2x5x4x2xf32>) -> tensor<5x4x2xf32>
  %r = relax.image.resize1d %m {layout = "NWC", size = [6]} : (tensor<5x4x2xf32>) -> tensor<5x6x2xf32>
  return %r : tensor<5x6x2xf32>
}

// What a transposition between two convolutions gives is another image.
// CHECK-LABEL: @transpose_between(
// CHECK:      [[V2:%.*]] = relax.layout_transform [[Y:%\w+]] {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x2x5x4xf32>) -> tensor<1x4x2x5xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform %v {src_layout = "HWIO", dst_layout = "OIHW"} : (tensor<1x1x4x3xf32>) -> tensor<3x4x1x1xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.nn.conv2d [[V2]], [[V3]] : (tensor<1x4x2x5xf32>, tensor<3x4x1x1xf32>) -> tensor<1x3x2x5xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform [[Z]] {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x2x5xf32>) -> tensor<1x2x5x3xf32>
// CHECK-NEXT: func.return [[V4]] : tensor<1x2x5x3xf32>
func.func @transpose_between(%x: tensor<1x5x4x3xf32>, %w: tensor<1x1x3x2xf32>, %v: tensor<1x1x4x3xf32>) -> tensor<1x2x5x3xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x5x4x2xf32>
  %t = relax.transpose %y {axes = [0, 3, 1, 2]} : (tensor<1x5x4x2xf32>) -> tensor<1x2x5x4xf32>
  %z = relax.nn.conv2d %t, %v {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x2x5x4xf32>, tensor<1x1x4x3xf32>) -> tensor<1x2x5x3xf32>
  return %z : tensor<1x2x5x3xf32>
}
