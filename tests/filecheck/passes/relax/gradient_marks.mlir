// RUN: passline-opt %s -p gradient | filecheck %s

// The values of a checkpoint are computed again in reverse, of arguments that passes do not take
// for those of the call. What is not to be differentiated is a constant.

// CHECK-LABEL: func.func @main_adjoint
// CHECK-NEXT: [[Y:%.*]] = func.call @layer(%x) {relax.checkpoint}
// CHECK-NEXT: [[C:%.*]] = relax.cos [[Y]] {relax.no_grad}
// CHECK-NEXT: [[S:%.*]] = func.call @scale(%x) {relax.no_grad}
// CHECK-NEXT: [[P:%.*]] = relax.multiply [[Y]], [[C]]
// CHECK-NEXT: [[Q:%.*]] = relax.multiply [[P]], [[S]]
// CHECK-NEXT: [[T:%.*]] = relax.sum [[Q]]
// CHECK: [[A:%.*]] = relax.stop_fusion %x
// CHECK-NEXT: [[E:%.*]] = relax.exp [[A]]
// CHECK-NEXT: relax.cos [[E]]
// CHECK: [[G:%.*]] = relax.multiply {{.*}}, [[E]]
// CHECK: func.return [[T]], [[G]]

func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.checkpoint} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.sin %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
func.func private @scale(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.no_grad} {
  %0 = relax.argmax %x {axis = 0, keepdims = true} : (tensor<4xf32>) -> tensor<1xi64>
  %1 = relax.astype %0 {dtype = f32} : (tensor<1xi64>) -> tensor<1xf32>
  %2 = relax.multiply %1, %x : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = func.call @layer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.cos %0 {relax.no_grad} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @scale(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.multiply %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.multiply %3, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = relax.sum %4 : (tensor<4xf32>) -> tensor<f32>
  func.return %5 : tensor<f32>
}
