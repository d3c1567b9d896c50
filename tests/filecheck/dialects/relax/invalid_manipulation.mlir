// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: shape 2x3 of 6 elements does not reshape to [4, 2] of 8 elements
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.reshape %x {newshape = [4, 2]} : (tensor<2x3xf32>) -> tensor<4x2xf32>

// -----

// CHECK: shape 2x3 of 6 elements does not reshape to [4, -1] of a multiple of 4 elements
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.reshape %x {newshape = [4, -1]} : (tensor<2x3xf32>) -> tensor<4x?xf32>

// -----

// CHECK: shape ?x3 of a multiple of 3 elements does not reshape to [4, 2] of 8 elements
%x = "test.op"() : () -> tensor<?x3xf32>
%0 = relax.reshape %x {newshape = [4, 2]} : (tensor<?x3xf32>) -> tensor<4x2xf32>

// -----

// CHECK: newshape [-1, -1] has more than one -1
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.reshape %x {newshape = [-1, -1]} : (tensor<2x3xf32>) -> tensor<?x?xf32>

// -----

// CHECK: newshape [-1, 0] copies dimension 1, but shape 6 has 1 dimensions
%x = "test.op"() : () -> tensor<6xf32>
%0 = relax.reshape %x {newshape = [-1, 0]} : (tensor<6xf32>) -> tensor<?x?xf32>

// -----

// CHECK: newshape [-1, 0] has both -1 and a dimension of size 0
%x = "test.op"() : () -> tensor<0xf32>
%0 = relax.reshape %x {newshape = [-1, 0], allowzero = true} : (tensor<0xf32>) -> tensor<?x?xf32>

// -----

// CHECK: axes [0] are not a permutation of [0, 1]
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.transpose %x {axes = [0]} : (tensor<2x3xf32>) -> tensor<2xf32>

// -----

// CHECK: axes [0, -2] name axis 0 twice
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.transpose %x {axes = [0, -2]} : (tensor<2x3xf32>) -> tensor<2x2xf32>

// -----

// CHECK: dimension 1 of shape 2x3 is 3, not 1
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.squeeze %x {axis = [1]} : (tensor<2x3xf32>) -> tensor<2xf32>

// -----

// CHECK: axis 2 is out of range for a tensor of rank 2: expected -2 to 1
%x = "test.op"() : () -> tensor<2xf32>
%0 = relax.expand_dims %x {axis = [2]} : (tensor<2xf32>) -> tensor<2x1xf32>

// -----

// CHECK: shape 2x3 does not broadcast to 2x4
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.broadcast_to %x {shape = [2, 4]} : (tensor<2x3xf32>) -> tensor<2x4xf32>

// -----

// CHECK: shape 2x3 does not broadcast to 3
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.broadcast_to %x {shape = [3]} : (tensor<2x3xf32>) -> tensor<3xf32>

// -----

// CHECK: reps [-2] has -2, expected at least 0
%x = "test.op"() : () -> tensor<2xf32>
%0 = relax.tile %x {reps = [-2]} : (tensor<2xf32>) -> tensor<?xf32>

// -----

// CHECK: shapes 2x3 and 2x4 do not concatenate along axis 0
%x, %y = "test.op"() : () -> (tensor<2x3xf32>, tensor<2x4xf32>)
%0 = relax.concatenate %x, %y : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>

// -----

// CHECK: shapes 2x3 and 2 do not concatenate along axis 0
%x, %y = "test.op"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
%0 = relax.concatenate %x, %y : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>

// -----

// CHECK: expected at least one operand
%0 = relax.concatenate : () -> tensor<4xf32>

// -----

// CHECK: shapes 2 and 3 do not stack: they differ
%x, %y = "test.op"() : () -> (tensor<2xf32>, tensor<3xf32>)
%0 = relax.stack %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2x2xf32>

// -----

// CHECK: element types f32 and f16 differ
%x, %y = "test.op"() : () -> (tensor<2xf32>, tensor<2xf16>)
%0 = relax.stack %x, %y : (tensor<2xf32>, tensor<2xf16>) -> tensor<2x2xf32>

// -----

// CHECK: has 2 results, but splits into 3
%x = "test.op"() : () -> tensor<6xf32>
%0, %1 = relax.split %x {sections = 3} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>)

// -----

// CHECK: dimension of size 5 does not split into 4 parts
%x = "test.op"() : () -> tensor<5xf32>
%0, %1, %2, %3 = relax.split %x {sections = 4} : (tensor<5xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)

// -----

// CHECK: expected either indices or sections
%x = "test.op"() : () -> tensor<5xf32>
%0 = relax.split %x : (tensor<5xf32>) -> tensor<5xf32>

// -----

// CHECK: result type tensor<2xf32> does not match inferred tensor<3xf32> for operands tensor<5xf32>
%x = "test.op"() : () -> tensor<5xf32>
%0, %1 = relax.split %x {indices = [2]} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xf32>)

// -----

// CHECK: seq_lengths has shape 3, but dimension 0 of shape 2x3 needs 2
%x, %n = "test.op"() : () -> (tensor<2x3xf32>, tensor<3xi64>)
%0 = relax.reverse_sequence %x, %n : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>

// -----

// CHECK: begin [0], end [1, 2], strides [1] and axes [0] do not have the same length
%x = "test.op"() : () -> tensor<5xf32>
%0 = relax.strided_slice %x {begin = [0], end = [1, 2]} : (tensor<5xf32>) -> tensor<?xf32>

// -----

// CHECK: strides [0] contains 0
%x = "test.op"() : () -> tensor<5xf32>
%0 = relax.strided_slice %x {begin = [0], end = [1], strides = [0]} : (tensor<5xf32>) -> tensor<?xf32>

// -----

// CHECK: axis 1 is out of range for a tensor of rank 1: expected -1 to 0
%x = "test.op"() : () -> tensor<5xf32>
%0 = relax.strided_slice %x {begin = [0], end = [1], axes = [1]} : (tensor<5xf32>) -> tensor<?xf32>

// -----

// CHECK: indices has element type f32, expected an integer type
%x, %i = "test.op"() : () -> (tensor<5xf32>, tensor<5xf32>)
%0 = relax.take %x, %i : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>

// -----

// CHECK: mode "warp" is not one of "clip", "wrap", "raise", "fast"
%x, %i = "test.op"() : () -> (tensor<5xf32>, tensor<5xi8>)
%0 = relax.take %x, %i {mode = "warp"} : (tensor<5xf32>, tensor<5xi8>) -> tensor<5xf32>

// -----

// CHECK: dimension 0 has no elements to take
%x, %i = "test.op"() : () -> (tensor<0xf32>, tensor<5xi8>)
%0 = relax.take %x, %i {axis = 0} : (tensor<0xf32>, tensor<5xi8>) -> tensor<5xf32>

// -----

// CHECK: indices of shape 3x3 do not match shape 2x3 along axis 1: no other dimension may be larger
%x, %i = "test.op"() : () -> (tensor<2x3xf32>, tensor<3x3xi64>)
%0 = relax.gather %x, %i {axis = 1} : (tensor<2x3xf32>, tensor<3x3xi64>) -> tensor<3x3xf32>

// -----

// CHECK: indices of shape 4x3 are coordinates of 3 dimensions, but there are 2
%x, %i = "test.op"() : () -> (tensor<2x3xf32>, tensor<4x3xi64>)
%0 = relax.gather_nd %x, %i : (tensor<2x3xf32>, tensor<4x3xi64>) -> tensor<4xf32>

// -----

// CHECK: the first 1 dimensions of shapes 2x3 and 4x1 differ
%x, %i = "test.op"() : () -> (tensor<2x3xf32>, tensor<4x1xi64>)
%0 = relax.gather_nd %x, %i {batch_dims = 1} : (tensor<2x3xf32>, tensor<4x1xi64>) -> tensor<4xf32>

// -----

// CHECK: updates have shape 2x3, expected 1x3
%x, %i, %u = "test.op"() : () -> (tensor<2x3xf32>, tensor<1x3xi64>, tensor<2x3xf32>)
%0 = relax.scatter_elements %x, %i, %u : (tensor<2x3xf32>, tensor<1x3xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

// CHECK: reduction "sum" is not one of "update", "add", "mul", "min", "max"
%x, %i, %u = "test.op"() : () -> (tensor<2xf32>, tensor<1xi64>, tensor<1xf32>)
%0 = relax.scatter_elements %x, %i, %u {reduction = "sum"} : (tensor<2xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<2xf32>

// -----

// CHECK: updates have shape 4, expected 4x3
%x, %i, %u = "test.op"() : () -> (tensor<2x3xf32>, tensor<4x1xi64>, tensor<4xf32>)
%0 = relax.scatter_nd %x, %i, %u : (tensor<2x3xf32>, tensor<4x1xi64>, tensor<4xf32>) -> tensor<2x3xf32>

// -----

// CHECK: expected a scalar, got a tensor of shape 1
%i, %f = "test.op"() : () -> (tensor<2xi64>, tensor<1xf32>)
%0 = relax.one_hot %i, %f, %f {depth = 2} : (tensor<2xi64>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x2xf32>

// -----

// CHECK: element types f32 and i32 differ
%a, %b = "test.op"() : () -> (tensor<f32>, tensor<i32>)
%0 = relax.arange %a, %b, %a : (tensor<f32>, tensor<i32>, tensor<f32>) -> tensor<?xf32>

// -----

// CHECK: shape 2 has less than two dimensions
%x, %k = "test.op"() : () -> (tensor<2xf32>, tensor<i64>)
%0 = relax.trilu %x, %k : (tensor<2xf32>, tensor<i64>) -> tensor<2xf32>

// -----

// CHECK: parameter has shape 1x1, expected a vector
%x, %s = "test.op"() : () -> (tensor<2xf32>, tensor<1x1xi64>)
%0 = relax.dyn.reshape %x, %s : (tensor<2xf32>, tensor<1x1xi64>) -> tensor<*xf32>

// -----

// CHECK: shape 2 of 2 elements does not reshape to [3, 1] of 3 elements
%x = "test.op"() : () -> tensor<2xf32>
%s = relax.constant dense<[3, 1]> : tensor<2xi64>
%0 = relax.dyn.reshape %x, %s : (tensor<2xf32>, tensor<2xi64>) -> tensor<?x?xf32>

// -----

// CHECK: dimension of size 4 does not split into [3, 2]
%x = "test.op"() : () -> tensor<4xf32>
%s = relax.constant dense<[3, 2]> : tensor<2xi64>
%0, %1 = relax.dyn.split %x, %s : (tensor<4xf32>, tensor<2xi64>) -> (tensor<3xf32>, tensor<?xf32>)

// -----

// CHECK: has 2 results, but splits into 3
%x, %s = "test.op"() : () -> (tensor<4xf32>, tensor<3xi64>)
%0, %1 = relax.dyn.split %x, %s : (tensor<4xf32>, tensor<3xi64>) -> (tensor<?xf32>, tensor<?xf32>)

// -----

// CHECK: expected a scalar, got a tensor of shape 1
%x, %s = "test.op"() : () -> (tensor<1xf32>, tensor<3xi64>)
%0 = relax.dyn.full %x, %s : (tensor<1xf32>, tensor<3xi64>) -> tensor<*xf32>
