// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: boxes have 5 coordinates, expected 4
%b, %s, %n, %t = "test.op"() : () -> (tensor<1x9x5xf32>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>)
%0 = relax.vision.non_max_suppression %b, %s, %n, %t : (tensor<1x9x5xf32>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>

// -----

// CHECK: 9 boxes of coordinates, but 8 boxes of scores
%b, %s, %n, %t = "test.op"() : () -> (tensor<1x9x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>)
%0 = relax.vision.non_max_suppression %b, %s, %n, %t : (tensor<1x9x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>

// -----

// CHECK: scores have shape 2x9, expected 3 dimensions
%b, %s, %n, %t = "test.op"() : () -> (tensor<1x9x4xf32>, tensor<2x9xf32>, tensor<i64>, tensor<f32>)
%0 = relax.vision.non_max_suppression %b, %s, %n, %t : (tensor<1x9x4xf32>, tensor<2x9xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>

// -----

// CHECK: boxes are f32, but scores are f64
%b, %s, %n, %t = "test.op"() : () -> (tensor<1x9x4xf32>, tensor<1x2x9xf64>, tensor<i64>, tensor<f32>)
%0 = relax.vision.non_max_suppression %b, %s, %n, %t : (tensor<1x9x4xf32>, tensor<1x2x9xf64>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>

// -----

// CHECK: expected a scalar, got a tensor of shape 1
%b, %s, %n, %t = "test.op"() : () -> (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<i64>, tensor<1xf32>)
%0 = relax.vision.non_max_suppression %b, %s, %n, %t : (tensor<1x9x4xf32>, tensor<1x2x9xf32>, tensor<i64>, tensor<1xf32>) -> tensor<?x3xi64>
