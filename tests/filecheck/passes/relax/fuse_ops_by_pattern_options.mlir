// RUN: passline-opt %s -p 'fuse-ops-by-pattern{patterns="relu=relax.nn.relu(*)" entry-functions=entry}' | filecheck %s

// CHECK-LABEL: func.func @entry
// CHECK-NEXT: func.call @fused_relu(%x)
func.func @entry(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// Must not fire: no entry function.
// UNCHANGED: @other
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
