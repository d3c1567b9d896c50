// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: axis 2 is out of range for a tensor of rank 2: expected -2 to 1
%a = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.nn.softmax %a {axis = 2} : (tensor<2x3xf32>) -> tensor<*xf32>

// -----

// CHECK: element type i32 is not one of f16, bf16, f32, f64
%a = "test.op"() : () -> tensor<2x3xi32>
%0 = relax.nn.log_softmax %a : (tensor<2x3xi32>) -> tensor<*xi32>

// -----

// CHECK: bias has shape 4, expected 3, the shape of data along axis 1
%a, %b = "test.op"() : () -> (tensor<2x3x4xf32>, tensor<4xf32>)
%0 = relax.nn.bias_add %a, %b : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<*xf32>

// -----

// CHECK: pad_width [1, 1] has 2 widths, expected 4: two for each of 2 dimensions
%a = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.nn.pad %a {pad_width = [1, 1]} : (tensor<2x3xf32>) -> tensor<*xf32>

// -----

// CHECK: pad_width [1, 1, 1] has 3 widths, expected 2: two for each of 1 dimensions
%a = "test.op"() : () -> tensor<*xf32>
%0 = relax.nn.pad %a {pad_width = [1, 1, 1]} : (tensor<*xf32>) -> tensor<*xf32>

// -----

// CHECK: pad_mode "mirror" is not one of "constant", "reflect", "edge", "circular"
%a = "test.op"() : () -> tensor<2xf32>
%0 = relax.nn.pad %a {pad_width = [1, 1], pad_mode = "mirror"} : (tensor<2xf32>) -> tensor<*xf32>

// -----

// CHECK: dimension 0 is 2, but padding of -2 and -1 removes more
%a = "test.op"() : () -> tensor<2xf32>
%0 = relax.nn.pad %a {pad_width = [-2, -1]} : (tensor<2xf32>) -> tensor<*xf32>

// -----

// CHECK: dimension 0 has no elements that pad_mode "edge" could copy
%a = "test.op"() : () -> tensor<2xf32>
%0 = relax.nn.pad %a {pad_width = [-2, 1], pad_mode = "edge"} : (tensor<2xf32>) -> tensor<*xf32>

// -----

// CHECK: pad_value 0.5 is not an element of tensor<2xi32>
%a = "test.op"() : () -> tensor<2xi32>
%0 = relax.nn.pad %a {pad_width = [1, 1], pad_value = 0.5 : f64} : (tensor<2xi32>) -> tensor<*xi32>

// -----

// CHECK: data is a scalar, expected at least one dimension
%a = "test.op"() : () -> tensor<f32>
%0 = relax.nn.batch_flatten %a : (tensor<f32>) -> tensor<*xf32>

// -----

// CHECK: data has 3 elements along its last dimension, but weight has 4
%a, %b = "test.op"() : () -> (tensor<2x3xf32>, tensor<5x4xf32>)
%0 = relax.nn.dense %a, %b : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<*xf32>

// -----

// CHECK: weight has shape 3, expected 2 dimensions
%a, %b = "test.op"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
%0 = relax.nn.dense %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>

// -----

// CHECK: data is a scalar, expected at least one dimension
%a, %b = "test.op"() : () -> (tensor<f32>, tensor<5x4xf32>)
%0 = relax.nn.dense %a, %b : (tensor<f32>, tensor<5x4xf32>) -> tensor<*xf32>

// -----

// CHECK: shapes 2x3x4 and 2x5x4 do not multiply: 4 columns on the left, 5 rows on the right
%a, %b = "test.op"() : () -> (tensor<2x3x4xf32>, tensor<2x4x5xf32>)
%0 = relax.nn.batch_matmul %a, %b : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<*xf32>

// -----

// CHECK: lhs has shape 4, expected at least 2 dimensions
%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<2x4x5xf32>)
%0 = relax.nn.batch_matmul %a, %b : (tensor<4xf32>, tensor<2x4x5xf32>) -> tensor<*xf32>
