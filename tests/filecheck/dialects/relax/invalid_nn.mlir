// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: axis 2 is out of range for a tensor of rank 2: expected -2 to 1
func.func @softmax_axis(%a : tensor<2x3xf32>) {
  %0 = relax.nn.softmax %a {axis = 2} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: element type i32 is not one of f16, bf16, f32, f64
func.func @softmax_integers(%a : tensor<2x3xi32>) {
  %0 = relax.nn.log_softmax %a : (tensor<2x3xi32>) -> tensor<*xi32>
  return
}

// -----

// CHECK: bias has shape 4, expected 3, the shape of data along axis 1
func.func @bias(%a : tensor<2x3x4xf32>, %b : tensor<4xf32>) {
  %0 = relax.nn.bias_add %a, %b : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: pad_width [1, 1] has 2 widths, expected 4: two for each of 2 dimensions
func.func @pad_count(%a : tensor<2x3xf32>) {
  %0 = relax.nn.pad %a {pad_width = [1, 1]} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: pad_width [1, 1, 1] has 3 widths, expected 2: two for each of 1 dimensions
func.func @pad_odd(%a : tensor<*xf32>) {
  %0 = relax.nn.pad %a {pad_width = [1, 1, 1]} : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: pad_mode "mirror" is not one of "constant", "reflect", "edge", "circular"
func.func @pad_mode(%a : tensor<2xf32>) {
  %0 = relax.nn.pad %a {pad_width = [1, 1], pad_mode = "mirror"} : (tensor<2xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: dimension 0 is 2, but padding of -2 and -1 removes more
func.func @pad_cuts(%a : tensor<2xf32>) {
  %0 = relax.nn.pad %a {pad_width = [-2, -1]} : (tensor<2xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: dimension 0 has no elements that pad_mode "edge" could copy
func.func @pad_nothing(%a : tensor<2xf32>) {
  %0 = relax.nn.pad %a {pad_width = [-2, 1], pad_mode = "edge"} : (tensor<2xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: pad_value 0.5 is not an element of tensor<2xi32>
func.func @pad_value(%a : tensor<2xi32>) {
  %0 = relax.nn.pad %a {pad_width = [1, 1], pad_value = 0.5 : f64} : (tensor<2xi32>) -> tensor<*xi32>
  return
}

// -----

// CHECK: data is a scalar, expected at least one dimension
func.func @flatten_scalar(%a : tensor<f32>) {
  %0 = relax.nn.batch_flatten %a : (tensor<f32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: data has 3 elements along its last dimension, but weight has 4
func.func @dense(%a : tensor<2x3xf32>, %b : tensor<5x4xf32>) {
  %0 = relax.nn.dense %a, %b : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: weight has shape 3, expected 2 dimensions
func.func @dense_weight(%a : tensor<2x3xf32>, %b : tensor<3xf32>) {
  %0 = relax.nn.dense %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: data is a scalar, expected at least one dimension
func.func @dense_scalar(%a : tensor<f32>, %b : tensor<5x4xf32>) {
  %0 = relax.nn.dense %a, %b : (tensor<f32>, tensor<5x4xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: shapes 2x3x4 and 2x5x4 do not multiply: 4 columns on the left, 5 rows on the right
func.func @batch_matmul(%a : tensor<2x3x4xf32>, %b : tensor<2x4x5xf32>) {
  %0 = relax.nn.batch_matmul %a, %b : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: lhs has shape 3x4, expected 3 dimensions
func.func @batch_matmul_rank(%a : tensor<3x4xf32>, %b : tensor<2x4x5xf32>) {
  %0 = relax.nn.batch_matmul %a, %b : (tensor<3x4xf32>, tensor<2x4x5xf32>) -> tensor<*xf32>
  return
}
