// RUN: passline-opt %s -p legalize-ops{skip-ops=relax.exp} | filecheck %s

// What is skipped stays an operation, and other operations have kernels.
// CHECK-LABEL: func.func @skipped
// CHECK-NEXT: [[A:%.*]] = relax.call_tir @fused_sin(%x)
// CHECK-NEXT: [[B:%.*]] = relax.exp [[A]]
// CHECK-NEXT: [[C:%.*]] = relax.call_tir @fused_sin([[B]])
// CHECK-NEXT: func.return [[C]]
func.func @skipped(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relax.sin %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relax.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relax.sin %1 : (tensor<8xf32>) -> tensor<8xf32>
  func.return %2 : tensor<8xf32>
}

// Must not fire: a primitive function with an operation that is skipped.
// UNCHANGED: @fused
func.func private @fused(%x: tensor<8xf32>) -> tensor<8xf32> attributes {relax.primitive} {
  %0 = relax.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relax.sin %0 : (tensor<8xf32>) -> tensor<8xf32>
  func.return %1 : tensor<8xf32>
}
// UNCHANGED: @caller
func.func @caller(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @fused(%x) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
