// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: subscripts "ij;jk" are not of the form "ij,jk->ik"
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.einsum %x {subscripts = "ij;jk"} : (tensor<2x3xf32>) -> tensor<*xf32>

// -----

// CHECK: subscripts of 2 operands, but there are 1
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.einsum %x {subscripts = "ij,jk"} : (tensor<2x3xf32>) -> tensor<*xf32>

// -----

// CHECK: expected at least one operand
%0 = relax.einsum {subscripts = ""} : () -> tensor<f32>

// -----

// CHECK: index j has size 3 and 2
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.einsum %x, %x {subscripts = "ij,jk"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>

// -----

// CHECK: subscripts "ijk" do not fit shape 2x3
%x = "test.op"() : () -> tensor<2x3xf32>
%0 = relax.einsum %x {subscripts = "ijk"} : (tensor<2x3xf32>) -> tensor<*xf32>

// -----

// CHECK: element types f32 and f16 differ
%x, %y = "test.op"() : () -> (tensor<2x3xf32>, tensor<3xf16>)
%0 = relax.einsum %x, %y {subscripts = "ij,j"} : (tensor<2x3xf32>, tensor<3xf16>) -> tensor<2xf32>
