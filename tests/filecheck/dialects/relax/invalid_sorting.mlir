// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: axis -1 is out of range for a tensor of rank 0
%x = "test.op"() : () -> tensor<f32>
%0 = relax.sort %x : (tensor<f32>) -> tensor<f32>

// -----

// CHECK: axis 2 is out of range for a tensor of rank 2: expected -2 to 1
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.argsort %x {axis = 2} : (tensor<2x3xf32>) -> tensor<2x3xi64>

// -----

// CHECK: k is 4, but axis 1 of 2x3 has size 3
%x = "test.op"() : () -> tensor<2x3xf32>
%0, %1 = relax.topk %x {k = 4} : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)

// -----

// CHECK: result type tensor<2x2xi32> does not match inferred tensor<2x2xi64>
%x = "test.op"() : () -> tensor<2x3xf32>
%0, %1 = relax.topk %x {k = 2} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
