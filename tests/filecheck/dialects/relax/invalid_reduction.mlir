// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: axis 2 is out of range for a tensor of rank 2: expected -2 to 1
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.sum %x {axis = [0, 2]} : (tensor<2x3xf32>) -> tensor<3xf32>

// -----

// CHECK: axes [1, -1] name axis 1 twice
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.sum %x {axis = [1, -1]} : (tensor<2x3xf32>) -> tensor<2xf32>

// -----

// CHECK: axis 0 is out of range for a tensor of rank 0
%x = "test.op"() : () -> tensor<f32>
%0 = relax.max %x {axis = [0]} : (tensor<f32>) -> tensor<f32>

// -----

// CHECK: result type tensor<2xf32> does not match inferred tensor<2x1xf32>
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.mean %x {axis = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2xf32>

// -----

// CHECK: result type tensor<i64> does not match inferred tensor<i8> for operands tensor<4xi8>
%x = "test.op"() : () -> tensor<4xi8>
%0 = relax.sum %x : (tensor<4xi8>) -> tensor<i64>

// -----

// CHECK: element type f32 is not i1
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.any %x : (tensor<2x3xf32>) -> tensor<f32>

// -----

// CHECK: axis -3 is out of range for a tensor of rank 2: expected -2 to 1
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.argmax %x {axis = -3} : (tensor<2x3xf32>) -> tensor<2xi64>

// -----

// CHECK: result type tensor<2xi32> does not match inferred tensor<2xi64>
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.argmax %x {axis = 1} : (tensor<2x3xf32>) -> tensor<2xi32>

// -----

// CHECK: shape 2x0 has no elements along axis -1
%x = "test.op"() : () -> tensor<2x0xf32>
%0 = relax.argmax %x {axis = -1} : (tensor<2x0xf32>) -> tensor<2xi64>

// -----

// CHECK: shape ?x0 has no elements
%x = "test.op"() : () -> tensor<?x0xf32>
%0 = relax.argmin %x : (tensor<?x0xf32>) -> tensor<i64>

// -----

// CHECK: axis 2 is out of range for a tensor of rank 2: expected -2 to 1
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.cumsum %x {axis = 2} : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

// CHECK: result type tensor<2x3xf32> does not match inferred tensor<6xf32>
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.cumsum %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
