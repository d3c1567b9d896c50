// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: beta has shape 4, expected 3, the shape of data along axis 1
func.func @parameter(%a : tensor<2x3x4xf32>, %b : tensor<3xf32>, %c : tensor<4xf32>, %d : tensor<3xf32>, %e : tensor<3xf32>) {
  %0 = relax.nn.batch_norm %a, %b, %c, %d, %e : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: moving_var has shape 3x1, expected 3, the shape of data along axis 1
func.func @parameter_rank(%a : tensor<2x3x4xf32>, %b : tensor<3xf32>, %c : tensor<3xf32>, %d : tensor<3xf32>, %e : tensor<3x1xf32>) {
  %0 = relax.nn.batch_norm %a, %b, %c, %d, %e : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: gamma has element type f32, but data has f16
func.func @parameter_element(%a : tensor<2x3x4xf16>, %b : tensor<3xf32>, %c : tensor<3xf32>, %d : tensor<3xf32>, %e : tensor<3xf32>) {
  %0 = relax.nn.batch_norm %a, %b, %c, %d, %e : (tensor<2x3x4xf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf16>
  return
}

// -----

// CHECK: axis 3 is out of range for a tensor of rank 3: expected -3 to 2
func.func @axis(%a : tensor<2x3x4xf32>, %b : tensor<3xf32>, %c : tensor<3xf32>, %d : tensor<3xf32>, %e : tensor<3xf32>) {
  %0 = relax.nn.batch_norm %a, %b, %c, %d, %e {axis = 3} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: element type i32 is not one of f16, bf16, f32, f64
func.func @integers(%a : tensor<2x3xi32>, %b : tensor<3xi32>, %c : tensor<3xi32>, %d : tensor<3xi32>, %e : tensor<3xi32>) {
  %0 = relax.nn.batch_norm %a, %b, %c, %d, %e : (tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<*xi32>
  return
}

// -----

// CHECK: gamma has shape 4x3, expected 3x4, the shape of data along axes 1, 2
func.func @axes(%a : tensor<2x3x4xf32>, %b : tensor<4x3xf32>, %c : tensor<4x3xf32>) {
  %0 = relax.nn.layer_norm %a, %b, %c {axes = [1, 2]} : (tensor<2x3x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: axes [2, -1] name axis 2 twice
func.func @axes_twice(%a : tensor<2x3x4xf32>, %b : tensor<4x4xf32>, %c : tensor<4x4xf32>) {
  %0 = relax.nn.layer_norm %a, %b, %c {axes = [2, -1]} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: 6 channels do not split into 4 groups
func.func @groups(%a : tensor<2x6x4x4xf32>, %b : tensor<6xf32>, %c : tensor<6xf32>) {
  %0 = relax.nn.group_norm %a, %b, %c {num_groups = 4} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: num_groups is 0, expected at least 1
func.func @no_groups(%a : tensor<2x6x4x4xf32>, %b : tensor<6xf32>, %c : tensor<6xf32>) {
  %0 = relax.nn.group_norm %a, %b, %c {num_groups = 0} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: axes [1, 1, 2] name axis 1 twice
func.func @group_axes(%a : tensor<2x6x4x4xf32>, %b : tensor<6xf32>, %c : tensor<6xf32>) {
  %0 = relax.nn.group_norm %a, %b, %c {num_groups = 3, axes = [1, 2]} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: axis 0 is the batch, not the channels
func.func @batch(%a : tensor<2x6x4xf32>, %b : tensor<2xf32>, %c : tensor<2xf32>) {
  %0 = relax.nn.instance_norm %a, %b, %c {axis = -3} : (tensor<2x6x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: weight has shape 6, expected 4, the shape of data along axis 2
func.func @weight(%a : tensor<2x6x4xf32>, %b : tensor<6xf32>) {
  %0 = relax.nn.rms_norm %a, %b : (tensor<2x6x4xf32>, tensor<6xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: axis 2 is out of range for a tensor of rank 2: expected -2 to 1
func.func @l2_axis(%a : tensor<2x6xf32>) {
  %0 = relax.nn.l2_normalize %a {eps = 0.0 : f64, axis = [2]} : (tensor<2x6xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: size is 0, expected at least 1
func.func @lrn_size(%a : tensor<2x6x4x4xf32>) {
  %0 = relax.nn.lrn %a {size = 0} : (tensor<2x6x4x4xf32>) -> tensor<*xf32>
  return
}
