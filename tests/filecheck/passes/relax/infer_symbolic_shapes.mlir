// RUN: passline-opt %s -p infer-symbolic-shapes | filecheck %s
// RUN: passline-opt %s -p infer-symbolic-shapes,infer-symbolic-shapes | filecheck %s

// Names go through operations, and are computed with; what is written is read back.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %x: tensor<?x3x?x?xf32> {onnx.dims = ["batch", unit, "2*h", "w"]})
// CHECK-SAME: -> (tensor<?x3x?x?xf32> {onnx.dims = ["batch", unit, "h + 1", "w // 2"]}, tensor<?x?xf32> {onnx.dims = ["batch", "6 * h * w"]})
func.func @main(%x: tensor<?x3x?x?xf32> {onnx.dims = ["batch", unit, "2*h", "w"]})
    -> (tensor<?x3x?x?xf32>, tensor<?x?xf32>) {
  // CHECK: relax.nn.max_pool2d %x {pool_size = [2, 2], strides = [2, 2], onnx.dims = {{\[\[}}"batch", unit, "h", "w // 2"]]}
  %0 = relax.nn.max_pool2d %x {pool_size = [2, 2], strides = [2, 2]} : (tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  // CHECK: relax.nn.pad {{.*}}onnx.dims = {{\[\[}}"batch", unit, "h + 1", "w // 2"]]}
  %1 = relax.nn.pad %0 {pad_width = [0, 0, 0, 0, 0, 1, 0, 0]} : (tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  // CHECK: relax.reshape {{.*}}onnx.dims = {{\[\[}}"batch", "6 * h * w"]]}
  %2 = relax.reshape %x {newshape = [0, -1]} : (tensor<?x3x?x?xf32>) -> tensor<?x?xf32>
  return %1, %2 : tensor<?x3x?x?xf32>, tensor<?x?xf32>
}

// Known sizes become part of the types; several results have a row each.
// CHECK-LABEL: func.func @known(
// CHECK-SAME: -> (tensor<?x4xf32> {onnx.dims = ["n", unit]})
func.func @known(%x: tensor<?x4xf32> {onnx.dims = ["n", unit]}) -> tensor<?x?xf32> {
  %s = relax.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  // CHECK: relax.dyn.reshape %x, %s {onnx.dims = {{\[\[}}"n", unit]]} : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %0 = relax.dyn.reshape %x, %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: relax.split {{.*}}onnx.dims = {{\[\[}}"n", unit], ["n", unit]]}
  %1, %2 = relax.split %0 {sections = 2, axis = 1} : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %0 : tensor<?x?xf32>
}

// Other names may broadcast: the result has none. A name that a result has stays if nothing is known.
// UNCHANGED: @unsure
func.func @unsure(%x: tensor<?xf32> {onnx.dims = ["n"]}, %y: tensor<?xf32> {onnx.dims = ["m"]})
    -> (tensor<?xf32> {onnx.dims = ["k"]}) {
  %0 = relax.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// An annotation that is out of date goes.
// CHECK-LABEL: func.func @old(
func.func @old(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: relax.exp %x : (tensor<?xf32>)
  %0 = relax.exp %x {onnx.dims = [["n"]]} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Nothing is unknown, or the function is not to be touched.
// UNCHANGED: @static
func.func @static(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
// UNCHANGED: @skipped
func.func @skipped(%x: tensor<?xf32> {onnx.dims = ["n"]}) -> tensor<?xf32> attributes {passline.skip_optimization} {
  return %x : tensor<?xf32>
}
