// RUN: passline-opt %s --verify-roundtrip
// RUN: passline-opt %s --print-op-generic --verify-roundtrip

func.func @einsum(%a: tensor<2x3xf32>, %b: tensor<?x4xf32>, %c: tensor<*xf32>) {
  %0 = relax.einsum %a, %b {subscripts = "ij,jk->ik"} : (tensor<2x3xf32>, tensor<?x4xf32>) -> tensor<2x4xf32>
  %1 = relax.einsum %a {subscripts = "ji"} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = relax.einsum %a, %a, %a {subscripts = "ij,ij,ij->"} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  %3 = relax.einsum %c, %b {subscripts = "...j, jk"} : (tensor<*xf32>, tensor<?x4xf32>) -> tensor<*xf32>
  func.return
}
