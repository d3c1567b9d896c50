// RUN: passline-opt %s --split-input-file -p cancel-transposes | filecheck %s

// CHECK-LABEL: func.func @between(%x: tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32> {
// CHECK-NEXT:   %bias = relax.constant dense<{{.*}}> : tensor<1x3x1x1xf32>
// CHECK-NEXT:   %0 = relax.add %x, %bias : (tensor<1x3x5x4xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x5x4xf32>
// CHECK-NEXT:   %1 = relax.nn.relu %0 : (tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32>
// CHECK-NEXT:   func.return %1 : tensor<1x3x5x4xf32>
func.func @between(%x: tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32> {
  %bias = relax.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = relax.transpose %x {axes = [0, 2, 3, 1]} : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
  %1 = relax.add %0, %bias : (tensor<1x5x4x3xf32>, tensor<3xf32>) -> tensor<1x5x4x3xf32>
  %2 = relax.nn.relu %1 : (tensor<1x5x4x3xf32>) -> tensor<1x5x4x3xf32>
  %3 = relax.transpose %2 {axes = [0, 3, 1, 2]} : (tensor<1x5x4x3xf32>) -> tensor<1x3x5x4xf32>
  func.return %3 : tensor<1x3x5x4xf32>
}

// -----

// CHECK-LABEL: func.func @alternately(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:   %0 = relax.nn.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   %1 = relax.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   %2 = relax.sum %1 {axis = [0], keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT:   %3 = relax.exp %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   %4 = relax.add %3, %2 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   func.return %4 : tensor<2x3xf32>
func.func @alternately(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = relax.transpose %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = relax.nn.relu %0 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = relax.transpose %1 : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %3 = relax.exp %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = relax.transpose %3 : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %5 = relax.sum %4 {axis = [1], keepdims = true} : (tensor<3x2xf32>) -> tensor<3x1xf32>
  %6 = relax.exp %4 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %7 = relax.transpose %6 : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %8 = relax.transpose %5 : (tensor<3x1xf32>) -> tensor<1x3xf32>
  %9 = relax.add %7, %8 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return %9 : tensor<2x3xf32>
}

// -----

// A function along an axis stays.
// CHECK-LABEL: func.func @along_an_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:   %0 = relax.transpose %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:   %1 = relax.nn.softmax %0 {axis = 1} : (tensor<3x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:   %2 = relax.transpose %1 : (tensor<3x2xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:   func.return %2 : tensor<2x3xf32>
func.func @along_an_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = relax.transpose %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = relax.nn.softmax %0 {axis = 1} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = relax.transpose %1 : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// -----

// The second operand is not transposed back, but it is needed beside the first one.
// CHECK-LABEL: func.func @beside(%x: tensor<1x3x5xf32>, %y: tensor<1x4x5xf32>) -> (tensor<1x3x5xf32>, tensor<1x7xf32>) {
// CHECK-NEXT:   %0 = relax.nn.relu %x : (tensor<1x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT:   %1 = relax.concatenate %0, %y {axis = 1} : (tensor<1x3x5xf32>, tensor<1x4x5xf32>) -> tensor<1x7x5xf32>
// CHECK-NEXT:   %2 = relax.mean %1 {axis = [2]} : (tensor<1x7x5xf32>) -> tensor<1x7xf32>
// CHECK-NEXT:   func.return %0, %2 : tensor<1x3x5xf32>, tensor<1x7xf32>
func.func @beside(%x: tensor<1x3x5xf32>, %y: tensor<1x4x5xf32>) -> (tensor<1x3x5xf32>, tensor<1x7xf32>) {
  %0 = relax.transpose %x {axes = [0, 2, 1]} : (tensor<1x3x5xf32>) -> tensor<1x5x3xf32>
  %1 = relax.nn.relu %0 : (tensor<1x5x3xf32>) -> tensor<1x5x3xf32>
  %2 = relax.transpose %1 {axes = [0, 2, 1]} : (tensor<1x5x3xf32>) -> tensor<1x3x5xf32>
  %3 = relax.transpose %y {axes = [0, 2, 1]} : (tensor<1x4x5xf32>) -> tensor<1x5x4xf32>
  %4 = relax.concatenate %1, %3 {axis = 2} : (tensor<1x5x3xf32>, tensor<1x5x4xf32>) -> tensor<1x5x7xf32>
  %5 = relax.mean %4 {axis = [1]} : (tensor<1x5x7xf32>) -> tensor<1x7xf32>
  func.return %2, %5 : tensor<1x3x5xf32>, tensor<1x7xf32>
}

// -----

// Another user gets a transposed tensor, if two others are saved.
// CHECK-LABEL: func.func @other_users(%x: tensor<?x3x5xf32>) -> (tensor<?x3x5xf32>, tensor<?x3x5xf32>, tensor<?x15xf32>) {
// CHECK-NEXT:   %0 = relax.nn.relu %x : (tensor<?x3x5xf32>) -> tensor<?x3x5xf32>
// CHECK-NEXT:   %1 = relax.exp %0 : (tensor<?x3x5xf32>) -> tensor<?x3x5xf32>
// CHECK-NEXT:   %2 = relax.layout_transform %0 {src_layout = "ABC", dst_layout = "ACB"} : (tensor<?x3x5xf32>) -> tensor<?x5x3xf32>
// CHECK-NEXT:   %3 = relax.nn.batch_flatten %2 : (tensor<?x5x3xf32>) -> tensor<?x15xf32>
// CHECK-NEXT:   func.return %0, %1, %3 : tensor<?x3x5xf32>, tensor<?x3x5xf32>, tensor<?x15xf32>
func.func @other_users(%x: tensor<?x3x5xf32>) -> (tensor<?x3x5xf32>, tensor<?x3x5xf32>, tensor<?x15xf32>) {
  %0 = relax.transpose %x {axes = [0, 2, 1]} : (tensor<?x3x5xf32>) -> tensor<?x5x3xf32>
  %1 = relax.nn.relu %0 : (tensor<?x5x3xf32>) -> tensor<?x5x3xf32>
  %2 = relax.transpose %1 {axes = [0, 2, 1]} : (tensor<?x5x3xf32>) -> tensor<?x3x5xf32>
  %3 = relax.exp %1 : (tensor<?x5x3xf32>) -> tensor<?x5x3xf32>
  %4 = relax.transpose %3 {axes = [0, 2, 1]} : (tensor<?x5x3xf32>) -> tensor<?x3x5xf32>
  %5 = relax.nn.batch_flatten %1 : (tensor<?x5x3xf32>) -> tensor<?x15xf32>
  func.return %2, %4, %5 : tensor<?x3x5xf32>, tensor<?x3x5xf32>, tensor<?x15xf32>
}

// -----

// Nothing transposes these back.
// CHECK-LABEL: func.func @stay(%x: tensor<2x3x4xf32>, %y: tensor<*xf32>) -> (tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<*xf32>) {
// CHECK-NEXT:   %0 = relax.transpose %x {axes = [0, 2, 1]} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT:   %1 = relax.nn.relu %0 : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT:   %2 = relax.transpose %x {axes = [1, 2, 0]} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
// CHECK-NEXT:   %3 = relax.transpose %2 {axes = [2, 1, 0]} : (tensor<3x4x2xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT:   %4 = relax.transpose %y : (tensor<*xf32>) -> tensor<*xf32>
// CHECK-NEXT:   %5 = relax.transpose %4 : (tensor<*xf32>) -> tensor<*xf32>
// CHECK-NEXT:   func.return %1, %3, %5 : tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<*xf32>
func.func @stay(%x: tensor<2x3x4xf32>, %y: tensor<*xf32>) -> (tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<*xf32>) {
  %0 = relax.transpose %x {axes = [0, 2, 1]} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = relax.nn.relu %0 : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %2 = relax.transpose %x {axes = [1, 2, 0]} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %3 = relax.transpose %2 {axes = [2, 1, 0]} : (tensor<3x4x2xf32>) -> tensor<2x4x3xf32>
  %4 = relax.transpose %y : (tensor<*xf32>) -> tensor<*xf32>
  %5 = relax.transpose %4 : (tensor<*xf32>) -> tensor<*xf32>
  func.return %1, %3, %5 : tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @other_operands(%x: tensor<1x3x5xf32>, %y: tensor<1x5x3xf32>) -> tensor<1x3x5xf32> {
// CHECK-NEXT:   %0 = relax.transpose %x {axes = [0, 2, 1]} : (tensor<1x3x5xf32>) -> tensor<1x5x3xf32>
// CHECK-NEXT:   %1 = relax.add %0, %y : (tensor<1x5x3xf32>, tensor<1x5x3xf32>) -> tensor<1x5x3xf32>
// CHECK-NEXT:   %2 = relax.transpose %1 {axes = [0, 2, 1]} : (tensor<1x5x3xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT:   func.return %2 : tensor<1x3x5xf32>
func.func @other_operands(%x: tensor<1x3x5xf32>, %y: tensor<1x5x3xf32>) -> tensor<1x3x5xf32> {
  %0 = relax.transpose %x {axes = [0, 2, 1]} : (tensor<1x3x5xf32>) -> tensor<1x5x3xf32>
  %1 = relax.add %0, %y : (tensor<1x5x3xf32>, tensor<1x5x3xf32>) -> tensor<1x5x3xf32>
  %2 = relax.transpose %1 {axes = [0, 2, 1]} : (tensor<1x5x3xf32>) -> tensor<1x3x5xf32>
  func.return %2 : tensor<1x3x5xf32>
}
