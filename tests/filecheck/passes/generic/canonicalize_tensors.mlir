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
