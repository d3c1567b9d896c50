// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: query has shape 3x4x8, expected batch, length, heads, dim
%q, %k = "test.op"() : () -> (tensor<3x4x8xf32>, tensor<2x5x4x8xf32>)
%0 = relax.nn.attention %q, %k, %k : (tensor<3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) -> tensor<*xf32>

// -----

// CHECK: query has shape 1x3x4x8, key 2x5x4x8: batch or dim differ
%q, %k = "test.op"() : () -> (tensor<1x3x4x8xf32>, tensor<2x5x4x8xf32>)
%0 = relax.nn.attention %q, %k, %k : (tensor<1x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) -> tensor<*xf32>

// -----

// CHECK: 4 heads of query are not a multiple of 3 of key
%q, %k = "test.op"() : () -> (tensor<2x3x4x8xf32>, tensor<2x5x3x8xf32>)
%0 = relax.nn.attention %q, %k, %k : (tensor<2x3x4x8xf32>, tensor<2x5x3x8xf32>, tensor<2x5x3x8xf32>) -> tensor<*xf32>

// -----

// CHECK: key has shape 2x5x4x8, value 2x6x4x8: batch, length and heads differ
%q, %k, %v = "test.op"() : () -> (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x6x4x8xf32>)
%0 = relax.nn.attention %q, %k, %v : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<*xf32>

// -----

// CHECK: bias of shape 3x3x5 does not broadcast to the scores, 2x4x3x5
%q, %k, %b = "test.op"() : () -> (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<3x3x5xf32>)
%0 = relax.nn.attention %q, %k, %k, %b : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<3x3x5xf32>) -> tensor<*xf32>

// -----

// CHECK: bias has elements i8, not f32 or i1
%q, %k, %b = "test.op"() : () -> (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<3x5xi8>)
%0 = relax.nn.attention %q, %k, %k, %b : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<3x5xi8>) -> tensor<*xf32>

// -----

// CHECK: value has elements f16, expected f32 as in query
%q, %k = "test.op"() : () -> (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf16>)
%0 = relax.nn.attention %q, %q, %k : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x5x4x8xf16>) -> tensor<*xf32>

// -----

// CHECK: causal_mask "Left" is not one of "none", "TopLeft", "BottomRight"
%q = "test.op"() : () -> tensor<2x3x4x8xf32>
%0 = relax.nn.attention %q, %q, %q {causal_mask = "Left"} : (tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>) -> tensor<*xf32>
