// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: dimension W is 2, padded 0 before and 0 after, which is smaller than a window of 3
%a = "test.op"() : () -> tensor<1x3x8x2xf32>
%0 = relax.nn.max_pool2d %a {pool_size = [3, 3]} : (tensor<1x3x8x2xf32>) -> tensor<*xf32>

// -----

// CHECK: pool_size [3]: expected 2 numbers of at least 1, for H, W
%a = "test.op"() : () -> tensor<1x3x8x8xf32>
%0 = relax.nn.max_pool2d %a {pool_size = [3]} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>

// -----

// CHECK: strides [0]: expected 1 numbers of at least 1, for W
%a = "test.op"() : () -> tensor<1x3x8xf32>
%0 = relax.nn.avg_pool1d %a {strides = [0]} : (tensor<1x3x8xf32>) -> tensor<*xf32>

// -----

// CHECK: layout "NCW" does not have the axes N, C, H, W
%a = "test.op"() : () -> tensor<1x3x8x8xf32>
%0 = relax.nn.avg_pool2d %a {layout = "NCW"} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>

// -----

// CHECK: layout "NCHW" has 4 dimensions, shape 1x3x8 has 3
%a = "test.op"() : () -> tensor<1x3x8xf32>
%0 = relax.nn.global_avg_pool2d %a : (tensor<1x3x8xf32>) -> tensor<*xf32>

// -----

// CHECK: output_size [0, 1]: expected 2 numbers of at least 1, for H, W
%a = "test.op"() : () -> tensor<1x3x8x8xf32>
%0 = relax.nn.adaptive_avg_pool2d %a {output_size = [0, 1]} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>

// -----

// CHECK: element type index is not one of f16, bf16, f32, f64 and integers of 1 to 64 bits
%a = "test.op"() : () -> tensor<1x3x8xindex>
%0 = relax.nn.max_pool1d %a : (tensor<1x3x8xindex>) -> tensor<*xindex>
