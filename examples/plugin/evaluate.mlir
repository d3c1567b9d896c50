func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %two = relax.full 2.0 : tensor<3xf32>
  %one = relax.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  // (1 + 2)^2 and so on: the program folds
  %c = stackvm.evaluate "+ dup *"(%one, %two) : (tensor<3xf32>, tensor<3xf32>) -> tensor<?xf32>
  // c - x^2
  %y = stackvm.evaluate "swap dup * -"(%x, %c) : (tensor<2x3xf32>, tensor<?xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
