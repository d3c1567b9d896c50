// RUN: passline-opt %s -p 'convert-layout{desired=relax.nn.conv1d:NWC,relax.nn.conv2d:NHWC,relax.nn.conv3d:NDHWC,relax.nn.conv2d_transpose:NHWC:HWOI,relax.nn.max_pool2d:NCHW,relax.image.resize2d:NHWC}' | filecheck %s

// Must not fire: it is in the layout.
// UNCHANGED: @already
func.func @already(%x: tensor<1x5x4x3xf32>, %w: tensor<3x3x3x2xf32>) -> tensor<1x3x2x2xf32> {
  %y = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x3x2x2xf32>
  %p = relax.nn.max_pool2d %y : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  return %p : tensor<1x3x2x2xf32>
}

// Each by its entry: one, two and three dimensions, and a transposed one.
// CHECK-LABEL: @each(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %a {src_layout = "NCW", dst_layout = "NWC"} : (tensor<1x3x5xf32>) -> tensor<1x5x3xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %b {src_layout = "OIW", dst_layout = "WIO"} : (tensor<2x3x3xf32>) -> tensor<3x3x2xf32>
// CHECK-NEXT: [[X:%.*]] = relax.nn.conv1d [[V0]], [[V1]] {data_layout = "NWC", kernel_layout = "WIO"} : (tensor<1x5x3xf32>, tensor<3x3x2xf32>) -> tensor<1x3x2xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform %c {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform %d {src_layout = "OIHW", dst_layout = "HWIO"} : (tensor<2x3x3x3xf32>) -> tensor<3x3x3x2xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V2]], [[V3]] {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x3x2x2xf32>
// CHECK-NEXT: [[V4:%.*]] = relax.layout_transform %e {src_layout = "NCDHW", dst_layout = "NDHWC"} : (tensor<1x2x3x3x3xf32>) -> tensor<1x3x3x3x2xf32>
// CHECK-NEXT: [[V5:%.*]] = relax.layout_transform %f {src_layout = "OIDHW", dst_layout = "DHWIO"} : (tensor<3x2x2x2x2xf32>) -> tensor<2x2x2x2x3xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.nn.conv3d [[V4]], [[V5]] {data_layout = "NDHWC", kernel_layout = "DHWIO"} : (tensor<1x3x3x3x2xf32>, tensor<2x2x2x2x3xf32>) -> tensor<1x2x2x2x3xf32>
// CHECK-NEXT: [[V6:%.*]] = relax.layout_transform %g {src_layout = "IOHW", dst_layout = "HWOI"} : (tensor<2x3x2x2xf32>) -> tensor<2x2x3x2xf32>
// CHECK-NEXT: [[T:%.*]] = relax.nn.conv2d_transpose [[Y]], [[V6]] {data_layout = "NHWC", kernel_layout = "HWOI"} : (tensor<1x3x2x2xf32>, tensor<2x2x3x2xf32>) -> tensor<1x4x3x3xf32>
// CHECK-NEXT: [[V7:%.*]] = relax.layout_transform [[X]] {src_layout = "NWC", dst_layout = "NCW"} : (tensor<1x3x2xf32>) -> tensor<1x2x3xf32>
// CHECK-NEXT: [[V8:%.*]] = relax.layout_transform [[T]] {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x4x3x3xf32>) -> tensor<1x3x4x3xf32>
// CHECK-NEXT: [[V9:%.*]] = relax.layout_transform [[Z]] {src_layout = "NDHWC", dst_layout = "NCDHW"} : (tensor<1x2x2x2x3xf32>) -> tensor<1x3x2x2x2xf32>
// CHECK-NEXT: func.return [[V7]], [[V8]], [[V9]] : tensor<1x2x3xf32>, tensor<1x3x4x3xf32>, tensor<1x3x2x2x2xf32>
func.func @each(%a: tensor<1x3x5xf32>, %b: tensor<2x3x3xf32>, %c: tensor<1x3x5x4xf32>, %d: tensor<2x3x3x3xf32>, %e: tensor<1x2x3x3x3xf32>, %f: tensor<3x2x2x2x2xf32>, %g: tensor<2x3x2x2xf32>) -> (tensor<1x2x3xf32>, tensor<1x3x4x3xf32>, tensor<1x3x2x2x2xf32>) {
  %x = relax.nn.conv1d %a, %b : (tensor<1x3x5xf32>, tensor<2x3x3xf32>) -> tensor<1x2x3xf32>
  %y = relax.nn.conv2d %c, %d : (tensor<1x3x5x4xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x3x2xf32>
  %z = relax.nn.conv3d %e, %f : (tensor<1x2x3x3x3xf32>, tensor<3x2x2x2x2xf32>) -> tensor<1x3x2x2x2xf32>
  %t = relax.nn.conv2d_transpose %y, %g : (tensor<1x2x3x2xf32>, tensor<2x3x2x2xf32>) -> tensor<1x3x4x3xf32>
  return %x, %t, %z : tensor<1x2x3xf32>, tensor<1x3x4x3xf32>, tensor<1x3x2x2x2xf32>
}

// The usual weights: by channel, and those of a convolution of each channel by itself.
// CHECK-LABEL: @kernels(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x4x5x4xf32>) -> tensor<1x5x4x4xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "OIHW", dst_layout = "HWOI"} : (tensor<4x1x3x3xf32>) -> tensor<3x3x4x1xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] {data_layout = "NHWC", kernel_layout = "HWOI", groups = 4} : (tensor<1x5x4x4xf32>, tensor<3x3x4x1xf32>) -> tensor<1x3x2x4xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform %v {src_layout = "OIHW", dst_layout = "HWIO"} : (tensor<3x4x2x1xf32>) -> tensor<2x1x4x3xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.nn.conv2d [[Y]], [[V2]] {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x3x2x4xf32>, tensor<2x1x4x3xf32>) -> tensor<1x2x2x3xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[Z]] {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x2x2x3xf32>) -> tensor<1x3x2x2xf32>
// CHECK-NEXT: func.return [[V3]] : tensor<1x3x2x2xf32>
func.func @kernels(%x: tensor<1x4x5x4xf32>, %w: tensor<4x1x3x3xf32>, %v: tensor<3x4x2x1xf32>) -> tensor<1x3x2x2xf32> {
  %y = relax.nn.conv2d %x, %w {groups = 4} : (tensor<1x4x5x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x3x2xf32>
  %z = relax.nn.conv2d %y, %v : (tensor<1x4x3x2xf32>, tensor<3x4x2x1xf32>) -> tensor<1x3x2x2xf32>
  return %z : tensor<1x3x2x2xf32>
}

// An operation with an entry of its own gets what that says.
// CHECK-LABEL: @own_entry(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "OIHW", dst_layout = "HWIO"} : (tensor<2x3x3x3xf32>) -> tensor<3x3x3x2xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] {padding = [1, 1], data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[Y]] {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x5x4x2xf32>) -> tensor<1x2x5x4xf32>
// CHECK-NEXT: [[P:%.*]] = relax.nn.max_pool2d [[V2]] {pool_size = [2, 2]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x3xf32>
// CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[P]] : (tensor<1x2x4x3xf32>) -> tensor<1x2x4x3xf32>
// CHECK-NEXT: [[Q:%.*]] = relax.nn.avg_pool2d [[R]] {pool_size = [2, 2]} : (tensor<1x2x4x3xf32>) -> tensor<1x2x3x2xf32>
// CHECK-NEXT: func.return [[Q]] : tensor<1x2x3x2xf32>
func.func @own_entry(%x: tensor<1x3x5x4xf32>, %w: tensor<2x3x3x3xf32>) -> tensor<1x2x3x2xf32> {
  %y = relax.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x3x5x4xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x5x4xf32>
  %p = relax.nn.max_pool2d %y {pool_size = [2, 2]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x3xf32>
  %r = relax.nn.relu %p : (tensor<1x2x4x3xf32>) -> tensor<1x2x4x3xf32>
  %q = relax.nn.avg_pool2d %r {pool_size = [2, 2]} : (tensor<1x2x4x3xf32>) -> tensor<1x2x3x2xf32>
  return %q : tensor<1x2x3x2xf32>
}

// Resizing alone, and after a convolution.
// CHECK-LABEL: @resize(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
// CHECK-NEXT: [[A:%.*]] = relax.image.resize2d [[V0]] {layout = "NHWC", size = [6, 8]} : (tensor<1x5x4x3xf32>) -> tensor<1x6x8x3xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "OIHW", dst_layout = "HWIO"} : (tensor<2x3x3x3xf32>) -> tensor<3x3x3x2xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[A]], [[V1]] {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x6x8x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x4x6x2xf32>
// CHECK-NEXT: [[B:%.*]] = relax.image.resize2d [[Y]] {layout = "NHWC", size = [3, 7], method = "nearest_neighbor"} : (tensor<1x4x6x2xf32>) -> tensor<1x3x7x2xf32>
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform [[B]] {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x3x7x2xf32>) -> tensor<1x2x3x7xf32>
// CHECK-NEXT: func.return [[V2]] : tensor<1x2x3x7xf32>
func.func @resize(%x: tensor<1x3x5x4xf32>, %w: tensor<2x3x3x3xf32>) -> tensor<1x2x3x7xf32> {
  %a = relax.image.resize2d %x {size = [6, 8]} : (tensor<1x3x5x4xf32>) -> tensor<1x3x6x8xf32>
  %y = relax.nn.conv2d %a, %w : (tensor<1x3x6x8xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x4x6xf32>
  %b = relax.image.resize2d %y {size = [3, 7], method = "nearest_neighbor"} : (tensor<1x2x4x6xf32>) -> tensor<1x2x3x7xf32>
  return %b : tensor<1x2x3x7xf32>
}

// A split result, of which a part goes to one that has another layout.
// CHECK-LABEL: @split(
// CHECK-NEXT: [[V0:%.*]] = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
// CHECK-NEXT: [[V1:%.*]] = relax.layout_transform %w {src_layout = "OIHW", dst_layout = "HWIO"} : (tensor<4x3x1x1xf32>) -> tensor<1x1x3x4xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[V0]], [[V1]] {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x3xf32>, tensor<1x1x3x4xf32>) -> tensor<1x5x4x4xf32>
// CHECK-NEXT: [[A:%.*]], [[B:%.*]] = relax.split [[Y]] {sections = 2, axis = 3} : (tensor<1x5x4x4xf32>) -> (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>)
// CHECK-NEXT: [[V2:%.*]] = relax.layout_transform %v {src_layout = "OIHW", dst_layout = "HWIO"} : (tensor<2x2x1x1xf32>) -> tensor<1x1x2x2xf32>
// CHECK-NEXT: [[Z:%.*]] = relax.nn.conv2d [[A]], [[V2]] {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<1x5x4x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x5x4x2xf32>
// CHECK-NEXT: [[C:%.*]] = relax.concatenate [[Z]], [[B]] {axis = 3} : (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> tensor<1x5x4x4xf32>
// CHECK-NEXT: [[V3:%.*]] = relax.layout_transform [[C]] {src_layout = "NHWC", dst_layout = "NCHW"} : (tensor<1x5x4x4xf32>) -> tensor<1x4x5x4xf32>
// CHECK-NEXT: func.return [[V3]] : tensor<1x4x5x4xf32>
func.func @split(%x: tensor<1x3x5x4xf32>, %w: tensor<4x3x1x1xf32>, %v: tensor<2x2x1x1xf32>) -> tensor<1x4x5x4xf32> {
  %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x5x4xf32>
  %a, %b = relax.split %y {sections = 2, axis = 1} : (tensor<1x4x5x4xf32>) -> (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>)
  %z = relax.nn.conv2d %a, %v : (tensor<1x2x5x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x4xf32>
  %c = relax.concatenate %z, %b {axis = 1} : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x4x5x4xf32>
  return %c : tensor<1x4x5x4xf32>
}
