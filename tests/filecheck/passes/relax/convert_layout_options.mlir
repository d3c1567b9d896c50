// RUN: passline-opt %s -p 'convert-layout{desired="relax.nn.conv2d:NCHW:OHWI"}' --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'convert-layout{desired=relax.nn.conv2d:NHWC skip-layers=1}' --split-input-file | filecheck %s --check-prefix=SKIP
// RUN: passline-opt %s -p 'convert-layout{desired=relax.nn.conv2d:NHWC:HWIO:NCHW}' --split-input-file | filecheck %s --check-prefix=OUT
// RUN: passline-opt %s -p 'convert-layout{desired="relax.nn.conv2d:NCHW1c"}' --split-input-file | filecheck %s --check-prefix=ONE

// Another layout of the weight alone; a layer that stays; the result in another layout than the
// data; blocks of one channel, into which three split.
// CHECK-LABEL: @main
// SKIP-LABEL: @main
// OUT-LABEL: @main
// ONE-LABEL: @main
func.func @main(%x : tensor<1x3x5x4xf32>, %w : tensor<3x3x1x1xf32>) -> tensor<1x3x5x4xf32> {
  // CHECK-NEXT: [[W:%.*]] = relax.layout_transform %w {src_layout = "OIHW", dst_layout = "OHWI"}
  // CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d %x, [[W]] {kernel_layout = "OHWI"}
  // CHECK-NEXT: [[Z:%.*]] = relax.nn.conv2d [[Y]], [[W]] {kernel_layout = "OHWI"}
  // CHECK-NEXT: func.return [[Z]]
  // SKIP: [[Y:%.*]] = relax.nn.conv2d {{.*}} {data_layout = "NHWC", kernel_layout = "HWIO"}
  // SKIP-NEXT: [[T:%.*]] = relax.layout_transform [[Y]] {src_layout = "NHWC", dst_layout = "NCHW"}
  // SKIP-NEXT: [[Z:%.*]] = relax.nn.conv2d [[T]], %w : (tensor<1x3x5x4xf32>, tensor<3x3x1x1xf32>)
  // SKIP-NEXT: func.return [[Z]]
  // OUT: [[Y:%.*]] = relax.nn.conv2d {{.*}} {data_layout = "NHWC", kernel_layout = "HWIO", out_layout = "NCHW"}
  // OUT-NEXT: [[T:%.*]] = relax.layout_transform [[Y]] {src_layout = "NCHW", dst_layout = "NHWC"}
  // OUT-NEXT: [[Z:%.*]] = relax.nn.conv2d [[T]], {{.*}} {data_layout = "NHWC", kernel_layout = "HWIO", out_layout = "NCHW"}
  // OUT-NEXT: func.return [[Z]]
  // ONE: relax.nn.conv2d {{.*}} {data_layout = "NCHW1c", kernel_layout = "OIHW1i1o"}
  // ONE-NEXT: [[Z:%.*]] = relax.nn.conv2d {{.*}} {data_layout = "NCHW1c", kernel_layout = "OIHW1i1o"}
  // ONE-NEXT: [[T:%.*]] = relax.layout_transform [[Z]] {src_layout = "NCHW1c", dst_layout = "NCHW"}
  // ONE-NEXT: func.return [[T]]
  %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x5x4xf32>
  %z = relax.nn.conv2d %y, %w : (tensor<1x3x5x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x5x4xf32>
  return %z : tensor<1x3x5x4xf32>
}
