// RUN: not passline-opt %s -p 'bind-shapes{shapes="x=2x3" dims=batch=2}' --split-input-file 2>&1 | filecheck %s

// CHECK: error: there is no parameter 'x', did you mean 'xs'?
func.func @main(%xs: tensor<?x3xf32>) { return }

// -----

// CHECK: error: no parameter has a dimension 'batch', did you mean 'batch_size'?
func.func @main(%x: tensor<?x3xf32> {onnx.dims = ["batch_size", unit]}) { return }

// -----

// CHECK: error: parameter 'x' has 3 dimensions, batchx?x4, not the 2 of 2x3
func.func @main(%x: tensor<?x?x4xf32> {onnx.dims = ["batch", unit, unit]}) { return }

// -----

// CHECK: error: dimension 1 of parameter 'x' is 4, not 3
func.func @main(%x: tensor<?x4xf32> {onnx.dims = ["batch", unit]}) { return }

// -----

// CHECK: error: dimension 1 of parameter 'x' is 'batch', which is 2 by the size given for 'batch', not 3
func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["batch", "batch"]}) { return }

// -----

// CHECK: error: dimension 1 of parameter 'x' is '2 * batch', which is 4 by the size given for 'batch', not 3
func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["batch", "2 * batch"]}) { return }

// -----

// CHECK: error: function @main is called in the module
func.func @main(%x: tensor<?x3xf32> {onnx.dims = ["batch", unit]}) { return }
func.func @caller(%x: tensor<?x3xf32>) {
  func.call @main(%x) : (tensor<?x3xf32>) -> ()
  return
}

// -----

// CHECK: error: function @main has no body
func.func private @main(tensor<?x3xf32>)

// -----

// CHECK: error: function @main does not exist, did you mean 'mein'?
func.func @mein(%x: tensor<?x3xf32>) { return }

// -----

// The size is known, and is not that of its name.
// CHECK: error: dimension 0 of parameter 'y' is 'batch * n', which is 6 by the size given for 'batch' and dimension 1 of parameter 'x', not 7
func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["batch", "n"]}, %y: tensor<7xf32> {onnx.dims = ["batch * n"]}) { return }
