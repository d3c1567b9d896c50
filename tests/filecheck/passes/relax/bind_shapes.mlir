// RUN: passline-opt %s -p 'bind-shapes{shapes="x=2x3"}' --split-input-file | filecheck %s

// The size of a named dimension holds for each dimension of the name; results lose the name.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %x: tensor<2x3xf32>, %y: tensor<2x?xf32> {onnx.dims = [unit, "length"]}, %n: i32)
// CHECK-SAME: -> (tensor<?x?xf32> {onnx.dims = [unit, "length"]}, tensor<2x3xf32>)
func.func @main(%x: tensor<?x3xf32> {onnx.dims = ["batch", unit]}, %y: tensor<?x?xf32> {onnx.dims = ["batch", "length"]}, %n: i32)
    -> (tensor<?x?xf32> {onnx.dims = ["batch", "length"]}, tensor<?x3xf32>) {
  // CHECK-NEXT: relax.exp %y : (tensor<2x?xf32>) -> tensor<?x?xf32>
  %0 = relax.exp %y : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0, %x : tensor<?x?xf32>, tensor<?x3xf32>
}

// -----

// A parameter without a rank gets one; an operation that is not ours gets the declared type.
// CHECK-LABEL: func.func @main(%x: tensor<2x3xf32>)
func.func @main(%x: tensor<*xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: [[CAST:%.*]] = tensor.cast %x : tensor<2x3xf32> to tensor<*xf32>
  // CHECK-NEXT: builtin.unrealized_conversion_cast [[CAST]]
  %0 = builtin.unrealized_conversion_cast %x : tensor<*xf32> to tensor<*xf32>
  // CHECK-NEXT: relax.exp %x : (tensor<2x3xf32>) -> tensor<*xf32>
  %1 = relax.exp %x : (tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// Nothing is unknown, and other functions stay.
// CHECK-LABEL: func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @other(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
func.func @other(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %x : tensor<?x3xf32>
}

// -----

// Expressions follow from their names, also in attributes of results and operations; a name follows
// from an expression.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %x: tensor<2x3xf32>, %y: tensor<4x?xf32> {onnx.dims = [unit, "3 * k"]}, %z: tensor<1xf32>)
// CHECK-SAME: -> (tensor<?xf32> {onnx.dims = ["k + 2"]})
func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["n", "m"]}, %y: tensor<?x?xf32> {onnx.dims = ["2*n", "m * k"]}, %z: tensor<?xf32> {onnx.dims = ["n // 2"]})
    -> (tensor<?xf32> {onnx.dims = ["k + n"]}) {
  // CHECK-NEXT: relax.exp %y {onnx.dims = {{\[\[}}unit, "6 * k"]]}
  %0 = relax.exp %y {onnx.dims = [["2 * n", "m * n * k"]]} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = "test.op"() : () -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @main(%x: tensor<2x3xf32>, %y: tensor<6xf32>)
func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["4*n + 2", unit]}, %y: tensor<?xf32> {onnx.dims = ["n + 6"]}) {
  return
}

// -----

// A size of which no name follows stays a fact about its names, for a later choice.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %x: tensor<2x3xf32>, %y: tensor<?x?xf32> {onnx.dims = ["k", "m"]}, %z: tensor<6xf32> {onnx.dims = ["k * m"]})
func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["n", unit]}, %y: tensor<?x?xf32> {onnx.dims = ["k", "m"]}, %z: tensor<6xf32> {onnx.dims = ["k * m"]}) {
  return
}

// -----

// The name of a known size gives the sizes of others.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %x: tensor<2x3xf32>, %y: tensor<7x?xf32> {onnx.dims = [unit, "m"]}, %z: tensor<14xf32>)
func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["n", unit]}, %y: tensor<?x?xf32> {onnx.dims = ["k", "m"]}, %z: tensor<14xf32> {onnx.dims = ["k * n"]}) {
  return
}
