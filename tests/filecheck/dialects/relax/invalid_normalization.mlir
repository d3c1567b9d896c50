// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: beta has shape 4, expected 3, the shape of data along axis 1
%a, %b, %c, %d, %e = "test.op"() : () -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>)
%0 = relax.nn.batch_norm %a, %b, %c, %d, %e : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>

// -----

// CHECK: moving_var has shape 3x1, expected 3, the shape of data along axis 1
%a, %b, %c, %d, %e = "test.op"() : () -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>)
%0 = relax.nn.batch_norm %a, %b, %c, %d, %e : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>) -> tensor<*xf32>

// -----

// CHECK: gamma has element type f32, but data has f16
%a, %b, %c, %d, %e = "test.op"() : () -> (tensor<2x3x4xf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
%0 = relax.nn.batch_norm %a, %b, %c, %d, %e : (tensor<2x3x4xf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf16>

// -----

// CHECK: axis 3 is out of range for a tensor of rank 3: expected -3 to 2
%a, %b, %c, %d, %e = "test.op"() : () -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
%0 = relax.nn.batch_norm %a, %b, %c, %d, %e {axis = 3} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>

// -----

// CHECK: element type i32 is not one of f16, bf16, f32, f64
%a, %b, %c, %d, %e = "test.op"() : () -> (tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>)
%0 = relax.nn.batch_norm %a, %b, %c, %d, %e : (tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<*xi32>

// -----

// CHECK: gamma has shape 4x3, expected 3x4, the shape of data along axes 1, 2
%a, %b, %c = "test.op"() : () -> (tensor<2x3x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>)
%0 = relax.nn.layer_norm %a, %b, %c {axes = [1, 2]} : (tensor<2x3x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<*xf32>

// -----

// CHECK: axes [2, -1] name axis 2 twice
%a, %b, %c = "test.op"() : () -> (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
%0 = relax.nn.layer_norm %a, %b, %c {axes = [2, -1]} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<*xf32>

// -----

// CHECK: 6 channels do not split into 4 groups
%a, %b, %c = "test.op"() : () -> (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>)
%0 = relax.nn.group_norm %a, %b, %c {num_groups = 4} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xf32>

// -----

// CHECK: num_groups is 0, expected at least 1
%a, %b, %c = "test.op"() : () -> (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>)
%0 = relax.nn.group_norm %a, %b, %c {num_groups = 0} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xf32>

// -----

// CHECK: axes [1, 1, 2] name axis 1 twice
%a, %b, %c = "test.op"() : () -> (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>)
%0 = relax.nn.group_norm %a, %b, %c {num_groups = 3, axes = [1, 2]} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<*xf32>

// -----

// CHECK: axis 0 is the batch, not the channels
%a, %b, %c = "test.op"() : () -> (tensor<2x6x4xf32>, tensor<2xf32>, tensor<2xf32>)
%0 = relax.nn.instance_norm %a, %b, %c {axis = -3} : (tensor<2x6x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>

// -----

// CHECK: weight has shape 6, expected 4, the shape of data along axis 2
%a, %b = "test.op"() : () -> (tensor<2x6x4xf32>, tensor<6xf32>)
%0 = relax.nn.rms_norm %a, %b : (tensor<2x6x4xf32>, tensor<6xf32>) -> tensor<*xf32>

// -----

// CHECK: axis 2 is out of range for a tensor of rank 2: expected -2 to 1
%a = "test.op"() : () -> tensor<2x6xf32>
%0 = relax.nn.l2_normalize %a {eps = 0.0 : f64, axis = [2]} : (tensor<2x6xf32>) -> tensor<*xf32>

// -----

// CHECK: size is 0, expected at least 1
%a = "test.op"() : () -> tensor<2x6x4x4xf32>
%0 = relax.nn.lrn %a {size = 0} : (tensor<2x6x4x4xf32>) -> tensor<*xf32>
