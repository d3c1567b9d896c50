// RUN: passline-opt %s -p canonicalize | filecheck %s

// Bitcasts of bitcasts.
// CHECK-LABEL: @bitcasts(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.bitcast %a : tensor<4xi32> to tensor<4xf32>
// CHECK-NEXT:    func.return %a, [[V0]] : tensor<4xi32>, tensor<4xf32>
func.func @bitcasts(%a: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %0 = tensor.bitcast %a : tensor<4xi32> to tensor<4xui32>
  %1 = tensor.bitcast %0 : tensor<4xui32> to tensor<4xi32>
  %2 = tensor.bitcast %0 : tensor<4xui32> to tensor<4xf32>
  func.return %1, %2 : tensor<4xi32>, tensor<4xf32>
}

// A bitcast of a cast.
// UNCHANGED: @cast
func.func @cast(%a: tensor<?xi32>) -> tensor<4xf32> {
  %0 = tensor.cast %a : tensor<?xi32> to tensor<4xi32>
  %1 = tensor.bitcast %0 : tensor<4xi32> to tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// What the type, or the operation that makes a tensor, says of its sizes.
// CHECK-LABEL: @sizes(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 2 : index
// CHECK-NEXT:    func.return [[V0]], %n : index, index
func.func @sizes(%a: tensor<?x3xi32>, %n: index) -> (index, index) {
  %one = arith.constant 1 : index
  %0 = tensor.rank %a : tensor<?x3xi32>
  %1 = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    tensor.yield %i : index
  } : tensor<3x?xindex>
  %2 = tensor.dim %1, %one : tensor<3x?xindex>
  func.return %0, %2 : index, index
}

// A rank and a size that nothing says.
// UNCHANGED: @unknown
func.func @unknown(%a: tensor<*xi32>, %b: tensor<?xi32>) -> (index, index) {
  %zero = arith.constant 0 : index
  %0 = tensor.rank %a : tensor<*xi32>
  %1 = tensor.dim %b, %zero : tensor<?xi32>
  func.return %0, %1 : index, index
}

// An element of a computed tensor.
// CHECK-LABEL: @element(
// CHECK-NEXT:    [[V0:%\w+]] = arith.muli %i, %n : index
// CHECK-NEXT:    func.return [[V0]] : index
func.func @element(%n: index, %i: index) -> index {
  %0 = tensor.generate %n {
  ^bb0(%j: index):
    %1 = arith.muli %j, %n : index
    tensor.yield %1 : index
  } : tensor<?xindex>
  %2 = tensor.extract %0[%i] : tensor<?xindex>
  func.return %2 : index
}

// The computation has an effect.
// UNCHANGED: @element_with_effect
func.func @element_with_effect(%n: index, %i: index) -> index {
  %0 = tensor.generate %n {
  ^bb0(%j: index):
    %1 = func.call @print(%j) : (index) -> index
    tensor.yield %1 : index
  } : tensor<?xindex>
  %2 = tensor.extract %0[%i] : tensor<?xindex>
  func.return %2 : index
}
func.func private @print(index) -> index

// A computed tensor of constant sizes.
// CHECK-LABEL: @constant_sizes(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.generate %n {
// CHECK-NEXT:    ^bb0([[V1:%\w+]]: index, [[V2:%\w+]]: index):
// CHECK-NEXT:      tensor.yield [[V1]] : index
// CHECK-NEXT:    } : tensor<4x?xindex>
// CHECK-NEXT:    [[V3:%\w+]] = tensor.cast [[V0]] : tensor<4x?xindex> to tensor<?x?xindex>
// CHECK-NEXT:    func.return [[V3]] : tensor<?x?xindex>
func.func @constant_sizes(%n: index) -> tensor<?x?xindex> {
  %four = arith.constant 4 : index
  %0 = tensor.generate %four, %n {
  ^bb0(%i: index, %j: index):
    tensor.yield %i : index
  } : tensor<?x?xindex>
  func.return %0 : tensor<?x?xindex>
}

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
