// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: shape 2x3 of 6 elements does not reshape to [4, 2] of 8 elements
func.func @reshape_counts(%x : tensor<2x3xf32>) {
  %0 = relax.reshape %x {newshape = [4, 2]} : (tensor<2x3xf32>) -> tensor<4x2xf32>
  return
}

// -----

// CHECK: shape 2x3 of 6 elements does not reshape to [4, -1] of a multiple of 4 elements
func.func @reshape_rest(%x : tensor<2x3xf32>) {
  %0 = relax.reshape %x {newshape = [4, -1]} : (tensor<2x3xf32>) -> tensor<4x?xf32>
  return
}

// -----

// CHECK: shape ?x3 of a multiple of 3 elements does not reshape to [4, 2] of 8 elements
func.func @reshape_unknown(%x : tensor<?x3xf32>) {
  %0 = relax.reshape %x {newshape = [4, 2]} : (tensor<?x3xf32>) -> tensor<4x2xf32>
  return
}

// -----

// CHECK: newshape [-1, -1] has more than one -1
func.func @reshape_two(%x : tensor<2x3xf32>) {
  %0 = relax.reshape %x {newshape = [-1, -1]} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return
}

// -----

// CHECK: newshape [-1, 0] copies dimension 1, but shape 6 has 1 dimensions
func.func @reshape_copy(%x : tensor<6xf32>) {
  %0 = relax.reshape %x {newshape = [-1, 0]} : (tensor<6xf32>) -> tensor<?x?xf32>
  return
}

// -----

// CHECK: newshape [-1, 0] has both -1 and a dimension of size 0
func.func @reshape_zero(%x : tensor<0xf32>) {
  %0 = relax.reshape %x {newshape = [-1, 0], allowzero = true} : (tensor<0xf32>) -> tensor<?x?xf32>
  return
}

// -----

// CHECK: axes [0] are not a permutation of [0, 1]
func.func @transpose(%x : tensor<2x3xf32>) {
  %0 = relax.transpose %x {axes = [0]} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// CHECK: axes [0, -2] name axis 0 twice
func.func @transpose_twice(%x : tensor<2x3xf32>) {
  %0 = relax.transpose %x {axes = [0, -2]} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

// CHECK: dimension 1 of shape 2x3 is 3, not 1
func.func @squeeze(%x : tensor<2x3xf32>) {
  %0 = relax.squeeze %x {axis = [1]} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// CHECK: axis 2 is out of range for a tensor of rank 2: expected -2 to 1
func.func @expand_dims(%x : tensor<2xf32>) {
  %0 = relax.expand_dims %x {axis = [2]} : (tensor<2xf32>) -> tensor<2x1xf32>
  return
}

// -----

// CHECK: shape 2x3 does not broadcast to 2x4
func.func @broadcast_to(%x : tensor<2x3xf32>) {
  %0 = relax.broadcast_to %x {shape = [2, 4]} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// CHECK: shape 2x3 does not broadcast to 3
func.func @broadcast_to_less(%x : tensor<2x3xf32>) {
  %0 = relax.broadcast_to %x {shape = [3]} : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

// CHECK: reps [-2] has -2, expected at least 0
func.func @tile(%x : tensor<2xf32>) {
  %0 = relax.tile %x {reps = [-2]} : (tensor<2xf32>) -> tensor<?xf32>
  return
}

// -----

// CHECK: shapes 2x3 and 2x4 do not concatenate along axis 0
func.func @concatenate(%x : tensor<2x3xf32>, %y : tensor<2x4xf32>) {
  %0 = relax.concatenate %x, %y : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

// CHECK: shapes 2x3 and 2 do not concatenate along axis 0
func.func @concatenate_ranks(%x : tensor<2x3xf32>, %y : tensor<2xf32>) {
  %0 = relax.concatenate %x, %y : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>
  return
}

// -----

// CHECK: expected at least one operand
func.func @concatenate_nothing() {
  %0 = relax.concatenate : () -> tensor<4xf32>
  return
}

// -----

// CHECK: shapes 2 and 3 do not stack: they differ
func.func @stack(%x : tensor<2xf32>, %y : tensor<3xf32>) {
  %0 = relax.stack %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2x2xf32>
  return
}

// -----

// CHECK: element types f32 and f16 differ
func.func @stack_elements(%x : tensor<2xf32>, %y : tensor<2xf16>) {
  %0 = relax.stack %x, %y : (tensor<2xf32>, tensor<2xf16>) -> tensor<2x2xf32>
  return
}

// -----

// CHECK: has 2 results, but splits into 3
func.func @split_results(%x : tensor<6xf32>) {
  %0, %1 = relax.split %x {sections = 3} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

// CHECK: dimension of size 5 does not split into 4 parts
func.func @split_sections(%x : tensor<5xf32>) {
  %0, %1, %2, %3 = relax.split %x {sections = 4} : (tensor<5xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

// CHECK: expected either indices or sections
func.func @split_both(%x : tensor<5xf32>) {
  %0 = relax.split %x : (tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

// CHECK: result type tensor<2xf32> does not match inferred tensor<3xf32> for operands tensor<5xf32>
func.func @split_size(%x : tensor<5xf32>) {
  %0, %1 = relax.split %x {indices = [2]} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

// CHECK: seq_lengths has shape 3, but dimension 0 of shape 2x3 needs 2
func.func @reverse_sequence(%x : tensor<2x3xf32>, %n : tensor<3xi64>) {
  %0 = relax.reverse_sequence %x, %n : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  return
}

// -----

// CHECK: begin [0], end [1, 2], strides [1] and axes [0] do not have the same length
func.func @slice_lengths(%x : tensor<5xf32>) {
  %0 = relax.strided_slice %x {begin = [0], end = [1, 2]} : (tensor<5xf32>) -> tensor<?xf32>
  return
}

// -----

// CHECK: strides [0] contains 0
func.func @slice_stride(%x : tensor<5xf32>) {
  %0 = relax.strided_slice %x {begin = [0], end = [1], strides = [0]} : (tensor<5xf32>) -> tensor<?xf32>
  return
}

// -----

// CHECK: axis 1 is out of range for a tensor of rank 1: expected -1 to 0
func.func @slice_axis(%x : tensor<5xf32>) {
  %0 = relax.strided_slice %x {begin = [0], end = [1], axes = [1]} : (tensor<5xf32>) -> tensor<?xf32>
  return
}

// -----

// CHECK: indices has element type f32, expected an integer type
func.func @take_index(%x : tensor<5xf32>, %i : tensor<5xf32>) {
  %0 = relax.take %x, %i : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

// CHECK: mode "warp" is not one of "clip", "wrap", "raise", "fast"
func.func @take_mode(%x : tensor<5xf32>, %i : tensor<5xi8>) {
  %0 = relax.take %x, %i {mode = "warp"} : (tensor<5xf32>, tensor<5xi8>) -> tensor<5xf32>
  return
}

// -----

// CHECK: dimension 0 has no elements to take
func.func @take_nothing(%x : tensor<0xf32>, %i : tensor<5xi8>) {
  %0 = relax.take %x, %i {axis = 0} : (tensor<0xf32>, tensor<5xi8>) -> tensor<5xf32>
  return
}

// -----

// CHECK: indices of shape 3x3 do not match shape 2x3 along axis 1: no other dimension may be larger
func.func @gather(%x : tensor<2x3xf32>, %i : tensor<3x3xi64>) {
  %0 = relax.gather %x, %i {axis = 1} : (tensor<2x3xf32>, tensor<3x3xi64>) -> tensor<3x3xf32>
  return
}

// -----

// CHECK: indices of shape 4x3 are coordinates of 3 dimensions, but there are 2
func.func @gather_nd(%x : tensor<2x3xf32>, %i : tensor<4x3xi64>) {
  %0 = relax.gather_nd %x, %i : (tensor<2x3xf32>, tensor<4x3xi64>) -> tensor<4xf32>
  return
}

// -----

// CHECK: the first 1 dimensions of shapes 2x3 and 4x1 differ
func.func @gather_nd_batch(%x : tensor<2x3xf32>, %i : tensor<4x1xi64>) {
  %0 = relax.gather_nd %x, %i {batch_dims = 1} : (tensor<2x3xf32>, tensor<4x1xi64>) -> tensor<4xf32>
  return
}

// -----

// CHECK: updates have shape 2x3, expected 1x3
func.func @scatter_updates(%x : tensor<2x3xf32>, %i : tensor<1x3xi64>, %u : tensor<2x3xf32>) {
  %0 = relax.scatter_elements %x, %i, %u : (tensor<2x3xf32>, tensor<1x3xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// CHECK: reduction "sum" is not one of "update", "add", "mul", "min", "max"
func.func @scatter_reduction(%x : tensor<2xf32>, %i : tensor<1xi64>, %u : tensor<1xf32>) {
  %0 = relax.scatter_elements %x, %i, %u {reduction = "sum"} : (tensor<2xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

// CHECK: updates have shape 4, expected 4x3
func.func @scatter_nd(%x : tensor<2x3xf32>, %i : tensor<4x1xi64>, %u : tensor<4xf32>) {
  %0 = relax.scatter_nd %x, %i, %u : (tensor<2x3xf32>, tensor<4x1xi64>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

// CHECK: expected a scalar, got a tensor of shape 1
func.func @one_hot(%i : tensor<2xi64>, %f : tensor<1xf32>) {
  %0 = relax.one_hot %i, %f, %f {depth = 2} : (tensor<2xi64>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x2xf32>
  return
}

// -----

// CHECK: element types f32 and i32 differ
func.func @arange(%a : tensor<f32>, %b : tensor<i32>) {
  %0 = relax.arange %a, %b, %a : (tensor<f32>, tensor<i32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

// CHECK: shape 2 has less than two dimensions
func.func @trilu(%x : tensor<2xf32>, %k : tensor<i64>) {
  %0 = relax.trilu %x, %k : (tensor<2xf32>, tensor<i64>) -> tensor<2xf32>
  return
}

// -----

// CHECK: parameter has shape 1x1, expected a vector
func.func @dyn_parameter(%x : tensor<2xf32>, %s : tensor<1x1xi64>) {
  %0 = relax.dyn.reshape %x, %s : (tensor<2xf32>, tensor<1x1xi64>) -> tensor<*xf32>
  return
}

// -----

// CHECK: shape 2 of 2 elements does not reshape to [3, 1] of 3 elements
func.func @dyn_known(%x : tensor<2xf32>) {
  %s = relax.constant dense<[3, 1]> : tensor<2xi64>
  %0 = relax.dyn.reshape %x, %s : (tensor<2xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

// CHECK: dimension of size 4 does not split into [3, 2]
func.func @dyn_split(%x : tensor<4xf32>) {
  %s = relax.constant dense<[3, 2]> : tensor<2xi64>
  %0, %1 = relax.dyn.split %x, %s : (tensor<4xf32>, tensor<2xi64>) -> (tensor<3xf32>, tensor<?xf32>)
  return
}

// -----

// CHECK: has 2 results, but splits into 3
func.func @dyn_split_results(%x : tensor<4xf32>, %s : tensor<3xi64>) {
  %0, %1 = relax.dyn.split %x, %s : (tensor<4xf32>, tensor<3xi64>) -> (tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

// CHECK: expected a scalar, got a tensor of shape 1
func.func @dyn_full(%x : tensor<1xf32>, %s : tensor<3xi64>) {
  %0 = relax.dyn.full %x, %s : (tensor<1xf32>, tensor<3xi64>) -> tensor<*xf32>
  return
}
