// RUN: passline-opt %s -p canonicalize | filecheck %s

// A collapse back to the type before an expansion, with one unknown size in each group.
// CHECK-LABEL: @back(
// CHECK-NEXT:    func.return %a : tensor<?x4x?xf32>
func.func @back(%a: tensor<?x4x?xf32>, %n: index, %m: index) -> tensor<?x4x?xf32> {
  %0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<?x4x?xf32> into tensor<?x?xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [%n, 4, %m] : tensor<?x?xf32> into tensor<?x4x?xf32>
  func.return %1 : tensor<?x4x?xf32>
}

// Two unknown sizes in a group: the new ones may be others.
// UNCHANGED: @ambiguous
func.func @ambiguous(%a: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  func.return %1 : tensor<?x?xf32>
}

// An expansion of whole groups of a collapse, which keeps the last dimensions together.
// CHECK-LABEL: @expansion_of_collapse(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.collapse_shape %a [[0 : i64], [1 : i64], [2 : i64], [3 : i64, 4 : i64]] : tensor<4x?x10x64x2xf32> into tensor<4x?x10x128xf32>
// CHECK-NEXT:    func.return [[V0]] : tensor<4x?x10x128xf32>
func.func @expansion_of_collapse(%a: tensor<4x?x10x64x2xf32>, %n: index) -> tensor<4x?x10x128xf32> {
  %0 = tensor.collapse_shape %a [[0, 1], [2], [3, 4]] : tensor<4x?x10x64x2xf32> into tensor<?x10x128xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2], [3]] output_shape [4, %n, 10, 128] : tensor<?x10x128xf32> into tensor<4x?x10x128xf32>
  func.return %1 : tensor<4x?x10x128xf32>
}

// The unknown size gets what the known ones at both sides leave.
// CHECK-LABEL: @known_sides(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.collapse_shape %a [[0 : i64, 1 : i64], [2 : i64, 3 : i64], [4 : i64]] : tensor<2x3x?x4x5xf32> into tensor<6x?x5xf32>
// CHECK-NEXT:    func.return [[V0]] : tensor<6x?x5xf32>
func.func @known_sides(%a: tensor<2x3x?x4x5xf32>, %n: index) -> tensor<6x?x5xf32> {
  %0 = tensor.collapse_shape %a [[0, 1, 2, 3, 4]] : tensor<2x3x?x4x5xf32> into tensor<?xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2]] output_shape [6, %n, 5] : tensor<?xf32> into tensor<6x?x5xf32>
  func.return %1 : tensor<6x?x5xf32>
}

// A collapse of more groups than were expanded, and of less.
// CHECK-LABEL: @collapse_of_expansion(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 2 : index
// CHECK-NEXT:    [[V1:%\w+]] = tensor.collapse_shape %a [[0 : i64, 1 : i64], [2 : i64]] : tensor<?x?x?xf32> into tensor<?x?xf32>
// CHECK-NEXT:    [[V2:%\w+]] = arith.muli %k, [[V0]] : index
// CHECK-NEXT:    [[V3:%\w+]] = tensor.expand_shape %a [[0 : i64], [1 : i64], [2 : i64, 3 : i64]] output_shape [%n, %m, [[V2]], 1] : tensor<?x?x?xf32> into tensor<?x?x?x1xf32>
// CHECK-NEXT:    func.return [[V1]], [[V3]] : tensor<?x?xf32>, tensor<?x?x?x1xf32>
func.func @collapse_of_expansion(%a: tensor<?x?x?xf32>, %n: index, %m: index, %k: index) -> (tensor<?x?xf32>, tensor<?x?x?x1xf32>) {
  %0 = tensor.expand_shape %a [[0], [1], [2, 3, 4]] output_shape [%n, %m, %k, 2, 1] : tensor<?x?x?xf32> into tensor<?x?x?x2x1xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2, 3, 4]] : tensor<?x?x?x2x1xf32> into tensor<?x?xf32>
  %2 = tensor.collapse_shape %0 [[0], [1], [2, 3], [4]] : tensor<?x?x?x2x1xf32> into tensor<?x?x?x1xf32>
  func.return %1, %2 : tensor<?x?xf32>, tensor<?x?x?x1xf32>
}

// Groups of which neither is made of the other ones.
// UNCHANGED: @crossed
func.func @crossed(%a: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [%n, 2, %m] : tensor<?x?xf32> into tensor<?x2x?xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<?x2x?xf32> into tensor<?x?xf32>
  func.return %1 : tensor<?x?xf32>
}

// A part of the sizes that were cast away is known.
// CHECK-LABEL: @partly_known(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.cast %a : tensor<10x10xf32> to tensor<?x10xf32>
// CHECK-NEXT:    [[V1:%\w+]] = tensor.expand_shape [[V0]] [[0 : i64, 1 : i64], [2 : i64]] output_shape [%n, %m, 10] : tensor<?x10xf32> into tensor<?x?x10xf32>
// CHECK-NEXT:    [[V2:%\w+]] = tensor.cast [[V1]] : tensor<?x?x10xf32> to tensor<?x?x?xf32>
// CHECK-NEXT:    func.return [[V2]] : tensor<?x?x?xf32>
func.func @partly_known(%a: tensor<10x10xf32>, %n: index, %m: index) -> tensor<?x?x?xf32> {
  %ten = arith.constant 10 : index
  %0 = tensor.cast %a : tensor<10x10xf32> to tensor<?x?xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [%n, %m, %ten] : tensor<?x?xf32> into tensor<?x?x?xf32>
  func.return %1 : tensor<?x?x?xf32>
}

// The last of reshapes, also without a known number of dimensions.
// CHECK-LABEL: @reshapes(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.reshape %a(%t) : (tensor<*xf32>, tensor<?xindex>) -> tensor<*xf32>
// CHECK-NEXT:    func.return [[V0]] : tensor<*xf32>
func.func @reshapes(%a: tensor<*xf32>, %s: tensor<?xindex>, %t: tensor<?xindex>) -> tensor<*xf32> {
  %0 = tensor.reshape %a(%s) : (tensor<*xf32>, tensor<?xindex>) -> tensor<*xf32>
  %1 = tensor.reshape %0(%t) : (tensor<*xf32>, tensor<?xindex>) -> tensor<*xf32>
  func.return %1 : tensor<*xf32>
}

// Unranked tensors of one type may differ in their sizes.
// UNCHANGED: @unranked
func.func @unranked(%a: tensor<*xf32>, %s: tensor<?xindex>) -> tensor<*xf32> {
  %0 = tensor.reshape %a(%s) : (tensor<*xf32>, tensor<?xindex>) -> tensor<*xf32>
  func.return %0 : tensor<*xf32>
}

// The size of a reshaped tensor.
// CHECK-LABEL: @size(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.extract %s[%i] : tensor<?xi32>
// CHECK-NEXT:    [[V1:%\w+]] = arith.index_cast [[V0]] : i32 to index
// CHECK-NEXT:    func.return [[V1]] : index
func.func @size(%a: tensor<*xf32>, %s: tensor<?xi32>, %i: index) -> index {
  %0 = tensor.reshape %a(%s) : (tensor<*xf32>, tensor<?xi32>) -> tensor<*xf32>
  %1 = tensor.dim %0, %i : tensor<*xf32>
  func.return %1 : index
}
