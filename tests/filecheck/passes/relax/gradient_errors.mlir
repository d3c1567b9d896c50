// RUN: not passline-opt %s -p gradient --split-input-file 2>&1 | filecheck %s

// All operations without a gradient on the way to the target are named.
// CHECK: gradient_errors.mlir:8:8: error: 'relax.scatter_elements' op cannot be differentiated: reduction "mul" has no gradient, only "update" and "add" have one
// CHECK: gradient_errors.mlir:7:8: error: 'relax.einsum' op cannot be differentiated: operand 0 has an index twice
func.func @main(%x: tensor<2x2xf32>, %i: tensor<1x2xi64>, %u: tensor<1x2xf32>) -> tensor<f32> {
  %0 = relax.einsum %x {subscripts = "ii->i"} : (tensor<2x2xf32>) -> tensor<2xf32>
  %1 = relax.scatter_elements %x, %i, %u {reduction = "mul"} : (tensor<2x2xf32>, tensor<1x2xi64>, tensor<1x2xf32>) -> tensor<2x2xf32>
  %2 = relax.add %0, %1 : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = relax.sum %2 : (tensor<2x2xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// -----

// CHECK: error: 'relax.reinterpret' op cannot be differentiated: has no rule: an operation of your own derives from Differentiable (docs/howto/gradient.md)
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = relax.reinterpret %x {dtype = f32} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK: error: 'relax.sum' op cannot be differentiated: the gradient needs the sizes of tensor<?xf32>: bind-shapes gives unknown dimensions their sizes
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
  %0 = relax.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = relax.sum %0 : (tensor<?xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// CHECK: error: 'relax.call_tir' op cannot be differentiated: is a kernel: differentiate before legalize-ops
func.func private @k(memref<f32>, memref<f32>)
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = relax.call_tir @k(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK: error: 'func.call' op cannot be differentiated: calls a recursive function, or one without a body or with several blocks
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @main(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK: error: 'scf.for' op cannot be differentiated: is control flow without a gradient, only scf.if has one
func.func @main(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %0 = scf.for %i = %n to %n step %n iter_args(%v = %x) -> (tensor<f32>) {
    %1 = relax.multiply %v, %v : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// CHECK: error: result 0 of function @main is tensor<4xf32>, expected a floating-point scalar: a sum or mean makes it one
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }

// -----

// CHECK: error: result 0 of function @main is tensor<i64>, expected a floating-point scalar
func.func @main(%x: tensor<i64>) -> tensor<i64> { return %x : tensor<i64> }

// -----

// CHECK: error: function @main: the gradient needs the sizes of tensor<?xf32>
func.func @main(%x: tensor<?xf32>, %s: tensor<f32>) -> tensor<f32> { return %s : tensor<f32> }

// -----

// CHECK: error: function @main does not exist, did you mean 'main1'?
func.func @main1(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }

// -----

// CHECK: error: function @main has no body, so it cannot be differentiated
func.func private @main(tensor<f32>) -> tensor<f32>

// -----

// CHECK: error: there is a symbol @main_adjoint already, which is not a gradient
func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @main_adjoint(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }

// -----

// CHECK: error: 'relax.dyn.reshape' op cannot be differentiated: takes a shape at run time: dynamic-to-static replaces it where that is known
func.func @main(%x: tensor<4xf32>, %n: tensor<1xi64>) -> tensor<f32> {
  %0 = relax.dyn.reshape %x, %n : (tensor<4xf32>, tensor<1xi64>) -> tensor<4xf32>
  %1 = relax.sum %0 : (tensor<4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
