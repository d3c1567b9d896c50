// RUN: passline-opt %s -p canonicalize | filecheck %s
// REQUIRES-XDSL: 0.70 (the custom form of `tensor.extract_slice`)

// Casts through an unranked type or a part of the sizes, and a part of known size.
// CHECK-LABEL: @casts(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.cast %a : tensor<*xi32> to tensor<4x8xi32>
// CHECK-NEXT:    [[V1:%\w+]] = tensor.extract_slice %b[%i, 0] [3, 1] [1, 1] : tensor<9x4xi32> to tensor<3xi32>
// CHECK-NEXT:    func.return [[V0]], [[V1]] : tensor<4x8xi32>, tensor<3xi32>
func.func @casts(%a: tensor<*xi32>, %b: tensor<9x4xi32>, %i: index, %n: index) -> (tensor<4x8xi32>, tensor<3xi32>) {
  %0 = tensor.cast %a : tensor<*xi32> to tensor<4x?xi32>
  %1 = tensor.cast %0 : tensor<4x?xi32> to tensor<4x8xi32>
  %2 = tensor.extract_slice %b[%i, 0] [%n, 1] [1, 1] : tensor<9x4xi32> to tensor<?xi32>
  %3 = tensor.cast %2 : tensor<?xi32> to tensor<3xi32>
  func.return %1, %3 : tensor<4x8xi32>, tensor<3xi32>
}

// The type in between checks a size that no other type has; the part would be outside.
// UNCHANGED: @checked
func.func @checked(%a: tensor<*xi32>, %b: tensor<9x4xi32>, %n: index) -> (tensor<?x8xi32>, tensor<3x1xi32>) {
  %0 = tensor.cast %a : tensor<*xi32> to tensor<4x?xi32>
  %1 = tensor.cast %0 : tensor<4x?xi32> to tensor<?x8xi32>
  %2 = tensor.extract_slice %b[7, 0] [%n, 1] [1, 1] : tensor<9x4xi32> to tensor<?x1xi32>
  %3 = tensor.cast %2 : tensor<?x1xi32> to tensor<3x1xi32>
  func.return %1, %3 : tensor<?x8xi32>, tensor<3x1xi32>
}

// One tensor, and sizes that follow from other ones.
// CHECK-LABEL: @concatenations(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.cast %a : tensor<2x?xi32> to tensor<2x3xi32>
// CHECK-NEXT:    [[V1:%\w+]] = tensor.cast %a : tensor<2x?xi32> to tensor<2x3xi32>
// CHECK-NEXT:    [[V2:%\w+]] = tensor.concat dim(0) [[V1]], %b : (tensor<2x3xi32>, tensor<?x3xi32>) -> tensor<?x3xi32>
// CHECK-NEXT:    [[V3:%\w+]] = tensor.cast [[V2]] : tensor<?x3xi32> to tensor<?x?xi32>
// CHECK-NEXT:    func.return [[V0]], [[V3]] : tensor<2x3xi32>, tensor<?x?xi32>
func.func @concatenations(%a: tensor<2x?xi32>, %b: tensor<?x3xi32>) -> (tensor<2x3xi32>, tensor<?x?xi32>) {
  %0 = tensor.concat dim(0) %a : (tensor<2x?xi32>) -> tensor<2x3xi32>
  %1 = tensor.concat dim(0) %a, %b : (tensor<2x?xi32>, tensor<?x3xi32>) -> tensor<?x?xi32>
  func.return %0, %1 : tensor<2x3xi32>, tensor<?x?xi32>
}

// The size of what was inserted into.
// CHECK-LABEL: @size_of_destination(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 0 : index
// CHECK-NEXT:    [[V1:%\w+]] = tensor.dim %a, [[V0]] : tensor<?xi32>
// CHECK-NEXT:    func.return [[V1]] : index
func.func @size_of_destination(%a: tensor<?xi32>, %b: tensor<2xi32>, %i: index) -> index {
  %zero = arith.constant 0 : index
  %0 = tensor.insert_slice %b into %a[%i] [2] [1] : tensor<2xi32> into tensor<?xi32>
  %1 = tensor.dim %0, %zero : tensor<?xi32>
  func.return %1 : index
}
