// The "Python Sequential Example" of TVM's design document on passes, as IR.
// `c + c` and the multiplication are constant and become one constant; `z1` is the same as `z`.

func.func @main(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  %c = relax.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]> : tensor<1x2x3xf32>
  %two = relax.constant dense<2.0> : tensor<f32>
  %y0 = relax.add %c, %c : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %y1 = relax.multiply %y0, %two : (tensor<1x2x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
  %y2 = relax.add %x, %y1 : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %z = relax.add %y2, %c : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %z1 = relax.add %y2, %c : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %z2 = relax.add %z, %z1 : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  func.return %z2 : tensor<1x2x3xf32>
}
