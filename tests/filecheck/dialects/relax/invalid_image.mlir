// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: size [4]: expected 2 numbers of at least 1, for H, W
%a = "test.op"() : () -> tensor<1x3x8x8xf32>
%0 = relax.image.resize2d %a {size = [4]} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>

// -----

// CHECK: dimension H is 0, but resizing needs at least one element
%a = "test.op"() : () -> tensor<1x3x0x8xf32>
%0 = relax.image.resize2d %a {size = [4, 4]} : (tensor<1x3x0x8xf32>) -> tensor<*xf32>

// -----

// CHECK: method "bilinear" is not one of "nearest_neighbor", "linear", "cubic"
%a = "test.op"() : () -> tensor<1x3x8xf32>
%0 = relax.image.resize1d %a {size = [4], method = "bilinear"} : (tensor<1x3x8xf32>) -> tensor<*xf32>

// -----

// CHECK: coordinate_transformation_mode "half" is not one of "half_pixel", "half_pixel_symmetric"
%a = "test.op"() : () -> tensor<1x3x8xf32>
%0 = relax.image.resize1d %a {size = [4], coordinate_transformation_mode = "half"} : (tensor<1x3x8xf32>) -> tensor<*xf32>

// -----

// CHECK: rounding_method "" is not one of "round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"
%a = "test.op"() : () -> tensor<1x3x8xf32>
%0 = relax.image.resize1d %a {size = [4], rounding_method = ""} : (tensor<1x3x8xf32>) -> tensor<*xf32>

// -----

// CHECK: coordinate_transformation_mode "tf_crop_and_resize" needs roi
%a = "test.op"() : () -> tensor<1x3x8xf32>
%0 = relax.image.resize1d %a {size = [4], coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x3x8xf32>) -> tensor<*xf32>

// -----

// CHECK: roi has 2 numbers, expected 4
%a = "test.op"() : () -> tensor<1x3x8x8xf32>
%0 = relax.image.resize2d %a {size = [4, 4], roi = [0.0 : f64, 1.0 : f64]} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>

// -----

// CHECK: scales has 1 numbers, expected 2
%a = "test.op"() : () -> tensor<1x3x8x8xf32>
%0 = relax.image.resize2d %a {size = [4, 4], scales = [0.5 : f64]} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>

// -----

// CHECK: scales [0.0] are not all positive
%a = "test.op"() : () -> tensor<1x3x8xf32>
%0 = relax.image.resize1d %a {size = [4], scales = [0.0 : f64]} : (tensor<1x3x8xf32>) -> tensor<*xf32>

// -----

// CHECK: layout "NCHW" has 4 dimensions, shape 1x3x8 has 3
%a = "test.op"() : () -> tensor<1x3x8xf32>
%0 = relax.nn.upsampling %a : (tensor<1x3x8xf32>) -> tensor<*xf32>

// -----

// CHECK: scale_w is 0.0, expected a positive number
%a = "test.op"() : () -> tensor<1x3x8x8xf32>
%0 = relax.nn.upsampling %a {scale_w = 0.0 : f64} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>

// -----

// CHECK: method "linear" is not one of "nearest_neighbor", "bilinear", "bicubic"
%a = "test.op"() : () -> tensor<1x3x8x8xf32>
%0 = relax.nn.upsampling %a {method = "linear"} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>

// -----

// CHECK: dimension W is 7, but block_size 2 requires a multiple of 2
%a = "test.op"() : () -> tensor<1x3x8x7xf32>
%0 = relax.nn.space_to_depth %a {block_size = 2} : (tensor<1x3x8x7xf32>) -> tensor<*xf32>

// -----

// CHECK: dimension C is 6, but block_size 2 requires a multiple of 4
%a = "test.op"() : () -> tensor<1x6x8x8xf32>
%0 = relax.nn.depth_to_space %a {block_size = 2} : (tensor<1x6x8x8xf32>) -> tensor<*xf32>

// -----

// CHECK: block_size is 0, expected at least 1
%a = "test.op"() : () -> tensor<1x6x8x8xf32>
%0 = relax.nn.depth_to_space %a {block_size = 0} : (tensor<1x6x8x8xf32>) -> tensor<*xf32>

// -----

// CHECK: mode "DRC" is not one of "DCR", "CRD"
%a = "test.op"() : () -> tensor<1x4x8x8xf32>
%0 = relax.nn.depth_to_space %a {block_size = 2, mode = "DRC"} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
