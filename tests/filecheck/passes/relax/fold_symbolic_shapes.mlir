// RUN: passline-opt %s -p fold-symbolic-shapes,dead-code-elimination | filecheck %s

// The shape that an exporter computes: the reshape becomes static, and its result has known sizes.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME: -> tensor<?x?x12x64xf32>
// CHECK-NEXT: %0 = relax.reshape %x {newshape = [0, 0, 12, 64]} : (tensor<?x?x768xf32>) -> tensor<?x?x12x64xf32>
// CHECK-NEXT: func.return %0 : tensor<?x?x12x64xf32>
func.func @heads(%x: tensor<?x?x768xf32> {onnx.dims = ["batch", "length", unit]}) -> tensor<?x?x?x?xf32> {
  %s = relax.shape_of %x : (tensor<?x?x768xf32>) -> tensor<3xi64>
  %i = relax.constant dense<[0, 1]> : tensor<2xi64>
  %b = relax.take %s, %i {axis = 0} : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
  %h = relax.constant dense<[12, 64]> : tensor<2xi64>
  %t = relax.concatenate %b, %h {axis = 0} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %0 = relax.dyn.reshape %x, %t : (tensor<?x?x768xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  return %0 : tensor<?x?x?x?xf32>
}

// Reshapes that end where they began, an expand and a slice to the same shape are removed; sizes
// need no name for that.
// CHECK-LABEL: func.func @same(
// CHECK-NEXT: %0 = relax.exp %x
// CHECK-NEXT: func.return %0
func.func @same(%x: tensor<?x?x6xf32>) -> tensor<?x?x6xf32> {
  %s = relax.shape_of %x : (tensor<?x?x6xf32>) -> tensor<3xi64>
  %0 = relax.exp %x : (tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  %1 = relax.reshape %0 {newshape = [0, -1, 3]} : (tensor<?x?x6xf32>) -> tensor<?x?x3xf32>
  %2 = relax.dyn.reshape %1, %s : (tensor<?x?x3xf32>, tensor<3xi64>) -> tensor<?x?x6xf32>
  %3 = relax.dyn.expand %2, %s : (tensor<?x?x6xf32>, tensor<3xi64>) -> tensor<?x?x6xf32>
  %4 = relax.strided_slice %3 {begin = [0], end = [9223372036854775807]} : (tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  return %4 : tensor<?x?x6xf32>
}

// An operand of a less precise type gets a cast.
// CHECK-LABEL: func.func @cast(
// CHECK-NEXT: [[C:%.*]] = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
// CHECK-NEXT: func.return [[C]]
func.func @cast(%x: tensor<?xf32> {onnx.dims = ["n"]}) -> tensor<4xf32> {
  %s = relax.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %0 = relax.dyn.broadcast_to %x, %s : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Keys that an exporter transposes as matrices of one batch dimension.
// CHECK-LABEL: func.func @matrices(
// CHECK-NEXT: %0 = relax.transpose %x {axes = [0, 1, 3, 2]} : (tensor<?x12x?x64xf32>) -> tensor<?x12x64x?xf32>
// CHECK-NEXT: func.return %0
func.func @matrices(%x: tensor<?x12x?x64xf32> {onnx.dims = ["b", unit, "s", unit]}) -> tensor<?x12x64x?xf32> {
  %shape = relax.shape_of %x : (tensor<?x12x?x64xf32>) -> tensor<4xi64>
  %first = relax.strided_slice %shape {begin = [0], end = [2]} : (tensor<4xi64>) -> tensor<2xi64>
  %s = relax.strided_slice %shape {begin = [2], end = [3]} : (tensor<4xi64>) -> tensor<1xi64>
  %c = relax.constant dense<-1> : tensor<1xi64>
  %d = relax.constant dense<64> : tensor<1xi64>
  %m = relax.concatenate %c, %s, %d : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %0 = relax.dyn.reshape %x, %m : (tensor<?x12x?x64xf32>, tensor<3xi64>) -> tensor<?x?x64xf32>
  %1 = relax.transpose %0 {axes = [0, 2, 1]} : (tensor<?x?x64xf32>) -> tensor<?x64x?xf32>
  %t = relax.concatenate %first, %d, %s : (tensor<2xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %2 = relax.dyn.reshape %1, %t : (tensor<?x64x?xf32>, tensor<4xi64>) -> tensor<?x12x64x?xf32>
  return %2 : tensor<?x12x64x?xf32>
}

// Known elements of a shape become a constant.
// CHECK-LABEL: func.func @constant(
// CHECK-NEXT: [[C:%.*]] = relax.constant dense<12> : tensor<1xi64>
// CHECK-NEXT: func.return [[C]]
func.func @constant(%x: tensor<?x4xf32>) -> tensor<1xi64> {
  %s = relax.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %n = relax.strided_slice %s {begin = [1], end = [2]} : (tensor<2xi64>) -> tensor<1xi64>
  %c = relax.constant dense<3> : tensor<1xi64>
  %0 = relax.multiply %n, %c : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  return %0 : tensor<1xi64>
}

// Must not fire: other names may differ; a size of 0 copies another dimension; two sizes that
// neither copy nor are known; every second element; a function that is not to be touched.
// UNCHANGED: @different
func.func @different(%x: tensor<?xf32> {onnx.dims = ["n"]}, %y: tensor<?xf32> {onnx.dims = ["m"]}) -> tensor<?xf32> {
  %s = relax.shape_of %y : (tensor<?xf32>) -> tensor<1xi64>
  %0 = relax.dyn.expand %x, %s : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// UNCHANGED: @copies
func.func @copies(%x: tensor<?x?xf32> {onnx.dims = ["n", "m"]}) -> tensor<?x?xf32> {
  %s = relax.shape_of %x : (tensor<?x?xf32>) -> tensor<2xi64>
  %m = relax.strided_slice %s {begin = [1], end = [2]} : (tensor<2xi64>) -> tensor<1xi64>
  %c = relax.constant dense<-1> : tensor<1xi64>
  %t = relax.concatenate %m, %c : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %0 = relax.dyn.reshape %x, %t : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// UNCHANGED: @second
func.func @second(%x: tensor<?xf32> {onnx.dims = ["n"]}) -> tensor<?xf32> {
  %0 = relax.strided_slice %x {begin = [0], end = [9223372036854775807], strides = [2]} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// UNCHANGED: @reversed
func.func @reversed(%x: tensor<?xf32> {onnx.dims = ["n"]}) -> tensor<?xf32> {
  %0 = relax.strided_slice %x {begin = [-1], end = [-9223372036854775808], strides = [-1]} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// UNCHANGED: @skipped
func.func @skipped(%x: tensor<?xf32>) -> tensor<?xf32> attributes {passline.skip_optimization} {
  %0 = relax.reshape %x {newshape = [-1]} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// The number of heads may be 0, which copies a dimension; the dimensions end in another order.
// UNCHANGED: @heads_may_be_none
func.func @heads_may_be_none(%x: tensor<?x?x?x64xf32> {onnx.dims = ["b", "h", "s", unit]}) -> tensor<?x?x64x?xf32> {
  %shape = relax.shape_of %x : (tensor<?x?x?x64xf32>) -> tensor<4xi64>
  %first = relax.strided_slice %shape {begin = [0], end = [2]} : (tensor<4xi64>) -> tensor<2xi64>
  %s = relax.strided_slice %shape {begin = [2], end = [3]} : (tensor<4xi64>) -> tensor<1xi64>
  %c = relax.constant dense<-1> : tensor<1xi64>
  %d = relax.constant dense<64> : tensor<1xi64>
  %m = relax.concatenate %c, %s, %d : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %0 = relax.dyn.reshape %x, %m : (tensor<?x?x?x64xf32>, tensor<3xi64>) -> tensor<?x?x64xf32>
  %1 = relax.transpose %0 {axes = [0, 2, 1]} : (tensor<?x?x64xf32>) -> tensor<?x64x?xf32>
  %t = relax.concatenate %first, %d, %s : (tensor<2xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %2 = relax.dyn.reshape %1, %t : (tensor<?x64x?xf32>, tensor<4xi64>) -> tensor<?x?x64x?xf32>
  return %2 : tensor<?x?x64x?xf32>
}

// UNCHANGED: @other_order
func.func @other_order(%x: tensor<?x12x?x64xf32> {onnx.dims = ["b", unit, "s", unit]}) -> tensor<?x64x12x?xf32> {
  %shape = relax.shape_of %x : (tensor<?x12x?x64xf32>) -> tensor<4xi64>
  %b = relax.strided_slice %shape {begin = [0], end = [1]} : (tensor<4xi64>) -> tensor<1xi64>
  %s = relax.strided_slice %shape {begin = [2], end = [3]} : (tensor<4xi64>) -> tensor<1xi64>
  %c = relax.constant dense<-1> : tensor<1xi64>
  %d = relax.constant dense<64> : tensor<1xi64>
  %h = relax.constant dense<12> : tensor<1xi64>
  %m = relax.concatenate %c, %s, %d : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %0 = relax.dyn.reshape %x, %m : (tensor<?x12x?x64xf32>, tensor<3xi64>) -> tensor<?x?x64xf32>
  %1 = relax.transpose %0 {axes = [0, 2, 1]} : (tensor<?x?x64xf32>) -> tensor<?x64x?xf32>
  %t = relax.concatenate %b, %d, %h, %s : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %2 = relax.dyn.reshape %1, %t : (tensor<?x64x?xf32>, tensor<4xi64>) -> tensor<?x64x12x?xf32>
  return %2 : tensor<?x64x12x?xf32>
}
