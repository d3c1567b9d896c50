// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

func.func @reshape(%x: tensor<2x1x6xf32>, %y: tensor<*xf32>) {
  %0 = relax.reshape %x {newshape = [0, -1, 3]} : (tensor<2x1x6xf32>) -> tensor<2x2x3xf32>
  %1 = relax.reshape %y {newshape = [0, 3], allowzero = true} : (tensor<*xf32>) -> tensor<0x3xf32>
  %2 = relax.flatten %x : (tensor<2x1x6xf32>) -> tensor<12xf32>
  %3 = relax.transpose %x {axes = [2, 0, 1]} : (tensor<2x1x6xf32>) -> tensor<6x2x1xf32>
  %4 = relax.transpose %x : (tensor<2x1x6xf32>) -> tensor<6x1x2xf32>
  %5 = relax.squeeze %x : (tensor<2x1x6xf32>) -> tensor<2x6xf32>
  %6 = relax.squeeze %x {axis = [-2]} : (tensor<2x1x6xf32>) -> tensor<2x6xf32>
  %7 = relax.squeeze %x {axis = []} : (tensor<2x1x6xf32>) -> tensor<2x1x6xf32>
  %8 = relax.expand_dims %x {axis = [0, -1]} : (tensor<2x1x6xf32>) -> tensor<1x2x1x6x1xf32>
  %9 = relax.flip %x {axis = [0]} : (tensor<2x1x6xf32>) -> tensor<2x1x6xf32>
  %10 = relax.broadcast_to %x {shape = [2, 4, 6]} : (tensor<2x1x6xf32>) -> tensor<2x4x6xf32>
  %11 = relax.tile %x {reps = [2, 1]} : (tensor<2x1x6xf32>) -> tensor<2x2x6xf32>
  %12 = relax.repeat %x {repeats = 2, axis = 1} : (tensor<2x1x6xf32>) -> tensor<2x2x6xf32>
  func.return
}

func.func @several(%x: tensor<2x4xf32>, %y: tensor<?x4xf32>, %n: tensor<4xi32>) {
  %0 = relax.concatenate %x, %y, %x : (tensor<2x4xf32>, tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
  %1 = relax.stack %x, %y {axis = -1} : (tensor<2x4xf32>, tensor<?x4xf32>) -> tensor<2x4x2xf32>
  %2, %3, %4 = relax.split %x {indices = [1, 3], axis = 1} : (tensor<2x4xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>)
  %5, %6 = relax.split %x {sections = 2} : (tensor<2x4xf32>) -> (tensor<1x4xf32>, tensor<?x4xf32>)
  %7 = relax.reverse_sequence %x, %n {seq_axis = 0, batch_axis = 1} : (tensor<2x4xf32>, tensor<4xi32>) -> tensor<2x4xf32>
  func.return
}

func.func @indexing(%x: tensor<4x5xf32>, %i: tensor<4x2xi64>, %u: tensor<4x2xf32>, %v: tensor<4xf32>) {
  %0 = relax.strided_slice %x {begin = [-1], end = [-9223372036854775808], strides = [-2], axes = [1]} : (tensor<4x5xf32>) -> tensor<4x3xf32>
  %1 = relax.strided_slice %x {begin = [1, 0], end = [9223372036854775807, 2]} : (tensor<4x5xf32>) -> tensor<3x2xf32>
  %2 = relax.take %x, %i {axis = 0} : (tensor<4x5xf32>, tensor<4x2xi64>) -> tensor<4x2x5xf32>
  %3 = relax.take %x, %i {mode = "wrap"} : (tensor<4x5xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
  %4 = relax.gather %x, %i {axis = 1} : (tensor<4x5xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
  %5 = relax.gather_nd %x, %i : (tensor<4x5xf32>, tensor<4x2xi64>) -> tensor<4xf32>
  %6 = relax.scatter_elements %x, %i, %u {axis = 1, reduction = "add"} : (tensor<4x5xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<4x5xf32>
  %7 = relax.scatter_nd %x, %i, %v : (tensor<4x5xf32>, tensor<4x2xi64>, tensor<4xf32>) -> tensor<4x5xf32>
  %8 = relax.nonzero %x : (tensor<4x5xf32>) -> tensor<2x?xi64>
  func.return
}

func.func @creation(%x: tensor<4x?xf32>, %f: tensor<f32>, %i: tensor<3xui8>, %k: tensor<i64>) {
  %0 = relax.shape_of %x : (tensor<4x?xf32>) -> tensor<2xi64>
  %1 = relax.size_of %x : (tensor<4x?xf32>) -> tensor<i64>
  %2 = relax.arange %f, %f, %f : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  %3 = relax.one_hot %i, %f, %f {depth = 5, axis = 0} : (tensor<3xui8>, tensor<f32>, tensor<f32>) -> tensor<5x3xf32>
  %4 = relax.trilu %x, %k {upper = false} : (tensor<4x?xf32>, tensor<i64>) -> tensor<4x?xf32>
  func.return
}

// CHECK-LABEL: @dynamic
func.func @dynamic(%x : tensor<4x1xf32>, %s : tensor<2xi64>, %i : tensor<i64>, %f : tensor<f32>, %c : tensor<?xi1>) {
  // CHECK-NEXT: relax.dyn.reshape %x, %s {allowzero = true} : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %0 = relax.dyn.reshape %x, %s {allowzero = true} : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK-NEXT: relax.dyn.broadcast_to %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = relax.dyn.broadcast_to %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK-NEXT: relax.dyn.expand %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<4x?xf32>
  %2 = relax.dyn.expand %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<4x?xf32>
  // CHECK-NEXT: relax.dyn.tile %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %3 = relax.dyn.tile %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK-NEXT: relax.dyn.full %f, %s : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  %4 = relax.dyn.full %f, %s : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK-NEXT: relax.dyn.strided_slice %x, %s, %s, %s, %s : (tensor<4x1xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %5 = relax.dyn.strided_slice %x, %s, %s, %s, %s : (tensor<4x1xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK-NEXT: relax.dyn.squeeze %x, %i : (tensor<4x1xf32>, tensor<i64>) -> tensor<?xf32>
  %6 = relax.dyn.squeeze %x, %i : (tensor<4x1xf32>, tensor<i64>) -> tensor<?xf32>
  // CHECK-NEXT: relax.dyn.expand_dims %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<?x?x?x?xf32>
  %7 = relax.dyn.expand_dims %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<?x?x?x?xf32>
  // CHECK-NEXT: relax.dyn.one_hot %s, %f, %f, %i : (tensor<2xi64>, tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<2x?xf32>
  %8 = relax.dyn.one_hot %s, %f, %f, %i : (tensor<2xi64>, tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<2x?xf32>
  // CHECK-NEXT: {{%.*}}, {{%.*}} = relax.dyn.split %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
  %9, %10 = relax.dyn.split %x, %s : (tensor<4x1xf32>, tensor<2xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
  // CHECK-NEXT: relax.dyn.reduce %x, %s {reduction = "prod", noop_with_empty_axes = true} : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<?x1xf32>
  %12 = relax.dyn.reduce %x, %s {reduction = "prod", noop_with_empty_axes = true} : (tensor<4x1xf32>, tensor<2xi64>) -> tensor<?x1xf32>
  // CHECK-NEXT: relax.dyn.cumsum %x, %i {exclusive = true} : (tensor<4x1xf32>, tensor<i64>) -> tensor<4x1xf32>
  %13 = relax.dyn.cumsum %x, %i {exclusive = true} : (tensor<4x1xf32>, tensor<i64>) -> tensor<4x1xf32>
  // CHECK-NEXT: relax.dyn.cumprod %x, %i : (tensor<4x1xf32>, tensor<i64>) -> tensor<4x1xf32>
  %14 = relax.dyn.cumprod %x, %i : (tensor<4x1xf32>, tensor<i64>) -> tensor<4x1xf32>
  // CHECK-NEXT: {{%.*}}, {{%.*}} = relax.dyn.topk %x, %i {axis = 0} : (tensor<4x1xf32>, tensor<i64>) -> (tensor<?x1xf32>, tensor<?x1xi64>)
  %15, %16 = relax.dyn.topk %x, %i {axis = 0} : (tensor<4x1xf32>, tensor<i64>) -> (tensor<?x1xf32>, tensor<?x1xi64>)
  // CHECK-NEXT: relax.dyn.compress %x, %c {axis = 0} : (tensor<4x1xf32>, tensor<?xi1>) -> tensor<?x1xf32>
  %11 = relax.dyn.compress %x, %c {axis = 0} : (tensor<4x1xf32>, tensor<?xi1>) -> tensor<?x1xf32>
  return
}
