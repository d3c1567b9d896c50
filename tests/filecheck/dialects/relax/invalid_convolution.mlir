// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: data has 3 channels, but weight has 4 input channels for each of 1 groups
%a, %b = "test.op"() : () -> (tensor<1x3x8x8xf32>, tensor<4x4x3x3xf32>)
%0 = relax.nn.conv2d %a, %b : (tensor<1x3x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: data has 6 channels, but weight has 2 input channels for each of 2 groups
%a, %b = "test.op"() : () -> (tensor<1x6x8x8xf32>, tensor<4x2x3x3xf32>)
%0 = relax.nn.conv2d %a, %b {groups = 2} : (tensor<1x6x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: 4 output channels of weight do not split into 3 groups
%a, %b = "test.op"() : () -> (tensor<1x6x8x8xf32>, tensor<4x2x3x3xf32>)
%0 = relax.nn.conv2d %a, %b {groups = 3} : (tensor<1x6x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: groups is 0, expected at least 1
%a, %b = "test.op"() : () -> (tensor<1x6x8x8xf32>, tensor<4x2x3x3xf32>)
%0 = relax.nn.conv2d %a, %b {groups = 0} : (tensor<1x6x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: dimension W is 3, padded 0 before and 1 after, which is smaller than a window of 5
%a, %b = "test.op"() : () -> (tensor<1x3x8x3xf32>, tensor<4x3x3x3xf32>)
%0 = relax.nn.conv2d %a, %b {padding = [0, 0, 0, 1], dilation = [1, 2]} : (tensor<1x3x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: layout "NCHW" has 4 dimensions, shape 1x3x8 has 3
%a, %b = "test.op"() : () -> (tensor<1x3x8xf32>, tensor<4x3x3x3xf32>)
%0 = relax.nn.conv2d %a, %b : (tensor<1x3x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: strides [1]: expected 2 numbers of at least 1, for H, W
%a, %b = "test.op"() : () -> (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
%0 = relax.nn.conv2d %a, %b {strides = [1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: dilation [0]: expected 1 numbers of at least 1, for W
%a, %b = "test.op"() : () -> (tensor<1x3x8xf32>, tensor<4x3x3xf32>)
%0 = relax.nn.conv1d %a, %b {dilation = [0]} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: padding [1, 1, 1]: expected 2 or 4 widths of at least 0
%a, %b = "test.op"() : () -> (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
%0 = relax.nn.conv2d %a, %b {padding = [1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: padding [-1]: expected 1 or 2 widths of at least 0
%a, %b = "test.op"() : () -> (tensor<1x3x8xf32>, tensor<4x3x3xf32>)
%0 = relax.nn.conv1d %a, %b {padding = [-1]} : (tensor<1x3x8xf32>, tensor<4x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: layout "NCDW" does not have the axes N, C, H, W
%a, %b = "test.op"() : () -> (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
%0 = relax.nn.conv2d %a, %b {data_layout = "NCDW"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: layout "NCHW" does not have the axes O, I, H, W
%a, %b = "test.op"() : () -> (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
%0 = relax.nn.conv2d %a, %b {kernel_layout = "NCHW"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: axis C of size 6 does not split into blocks of 4, as layout "NCHW4c" requires
%a, %b = "test.op"() : () -> (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>)
%0 = relax.nn.conv2d %a, %b {out_layout = "NCHW4c"} : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: element types i8 and i32 differ
%a, %b = "test.op"() : () -> (tensor<1x3x8x8xi8>, tensor<4x3x3x3xi32>)
%0 = relax.nn.conv2d %a, %b : (tensor<1x3x8x8xi8>, tensor<4x3x3x3xi32>) -> tensor<*xi8>

// -----

// CHECK: element types f16 and f32 differ
%a, %b = "test.op"() : () -> (tensor<1x3x8x8xf16>, tensor<4x3x3x3xf32>)
%0 = relax.nn.conv2d %a, %b {out_dtype = f32} : (tensor<1x3x8x8xf16>, tensor<4x3x3x3xf32>) -> tensor<*xf16>

// -----

// CHECK: out_dtype index is not a type of numbers
%a, %b = "test.op"() : () -> (tensor<1x3x8x8xf16>, tensor<4x3x3x3xf16>)
%0 = relax.nn.conv2d %a, %b {out_dtype = index} : (tensor<1x3x8x8xf16>, tensor<4x3x3x3xf16>) -> tensor<*xf16>

// -----

// CHECK: data has 3 channels, but weight has 4 input channels
%a, %b = "test.op"() : () -> (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
%0 = relax.nn.conv2d_transpose %a, %b : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: 3 channels of data do not split into 2 groups
%a, %b = "test.op"() : () -> (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>)
%0 = relax.nn.conv2d_transpose %a, %b {groups = 2} : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>) -> tensor<*xf32>

// -----

// CHECK: dimension W of the result is 0: 3 less padding of 2 and 2, plus 1
%a, %b = "test.op"() : () -> (tensor<1x3x1xf32>, tensor<3x4x3xf32>)
%0 = relax.nn.conv1d_transpose %a, %b {padding = [2], output_padding = [1]} : (tensor<1x3x1xf32>, tensor<3x4x3xf32>) -> tensor<*xf32>

// -----

// CHECK: output_padding [-1]: expected 1 numbers of at least 0, for W
%a, %b = "test.op"() : () -> (tensor<1x3x1xf32>, tensor<3x4x3xf32>)
%0 = relax.nn.conv1d_transpose %a, %b {output_padding = [-1]} : (tensor<1x3x1xf32>, tensor<3x4x3xf32>) -> tensor<*xf32>

// -----

// CHECK: windows of shape 0x2 have no elements
%a, %b = "test.op"() : () -> (tensor<1x3x4x4xf32>, tensor<3x3x0x2xf32>)
%0 = relax.nn.conv2d_transpose %a, %b : (tensor<1x3x4x4xf32>, tensor<3x3x0x2xf32>) -> tensor<*xf32>
