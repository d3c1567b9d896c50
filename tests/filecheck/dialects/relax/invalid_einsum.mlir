// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: subscripts "ij;jk" are not of the form "ij,jk->ik"
func.func @text(%x : tensor<2x3xf32>) {
  %0 = relax.einsum %x {subscripts = "ij;jk"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: subscripts of 2 operands, but there are 1
func.func @operands(%x : tensor<2x3xf32>) {
  %0 = relax.einsum %x {subscripts = "ij,jk"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: expected at least one operand
func.func @no_operands() {
  %0 = relax.einsum {subscripts = ""} : () -> tensor<f32>
  return
}

// -----

// CHECK: index j has size 3 and 2
func.func @size(%x : tensor<2x3xf32>) {
  %0 = relax.einsum %x, %x {subscripts = "ij,jk"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: subscripts "ijk" do not fit shape 2x3
func.func @rank(%x : tensor<2x3xf32>) {
  %0 = relax.einsum %x {subscripts = "ijk"} : (tensor<2x3xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: element types f32 and f16 differ
func.func @elements(%x : tensor<2x3xf32>, %y : tensor<3xf16>) {
  %0 = relax.einsum %x, %y {subscripts = "ij,j"} : (tensor<2x3xf32>, tensor<3xf16>) -> tensor<2xf32>
  return
}
