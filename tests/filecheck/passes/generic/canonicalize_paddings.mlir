// RUN: passline-opt %s -p canonicalize | filecheck %s
// REQUIRES-XDSL: 0.70 (the custom form of `tensor.extract_slice`)

// Widths that are constants.
// CHECK-LABEL: @constant_widths(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.pad %a low[1, 0] high[2, 1] {
// CHECK-NEXT:    ^bb0([[V1:%\w+]]: index, [[V2:%\w+]]: index):
// CHECK-NEXT:      tensor.yield %f : f32
// CHECK-NEXT:    } : tensor<2x?xf32> to tensor<5x?xf32>
// CHECK-NEXT:    [[V3:%\w+]] = tensor.cast [[V0]] : tensor<5x?xf32> to tensor<?x?xf32>
// CHECK-NEXT:    func.return [[V3]] : tensor<?x?xf32>
func.func @constant_widths(%a: tensor<2x?xf32>, %f: f32) -> tensor<?x?xf32> {
  %one = arith.constant 1 : index
  %0 = tensor.pad %a low[%one, 0] high[2, %one] {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<2x?xf32> to tensor<?x?xf32>
  func.return %0 : tensor<?x?xf32>
}

// A result that knows more than follows from the widths.
// UNCHANGED: @known_result
func.func @known_result(%a: tensor<?x6xf32>, %n: index, %f: f32) -> tensor<5x6xf32> {
  %0 = tensor.pad %a nofold low[%n, 0] high[0, %n] {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<?x6xf32> to tensor<5x6xf32>
  func.return %0 : tensor<5x6xf32>
}

// The only user casts the result to a type that knows more.
// CHECK-LABEL: @cast_of_padding(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.pad %a low[%n] high[0] {
// CHECK-NEXT:    ^bb0([[V1:%\w+]]: index):
// CHECK-NEXT:      tensor.yield %f : f32
// CHECK-NEXT:    } : tensor<?xf32> to tensor<8xf32>
// CHECK-NEXT:    func.return [[V0]] : tensor<8xf32>
func.func @cast_of_padding(%a: tensor<?xf32>, %n: index, %f: f32) -> tensor<8xf32> {
  %0 = tensor.pad %a low[%n] high[0] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<?xf32> to tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<8xf32>
  func.return %1 : tensor<8xf32>
}

// The cast is not the only user.
// UNCHANGED: @padding_with_users
func.func @padding_with_users(%a: tensor<?xf32>, %n: index, %f: f32) -> (tensor<8xf32>, tensor<?xf32>) {
  %0 = tensor.pad %a low[%n] high[0] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<?xf32> to tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<8xf32>
  func.return %1, %0 : tensor<8xf32>, tensor<?xf32>
}

// Two paddings with one value: the widths are added.
// CHECK-LABEL: @merged(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.pad %a low[2, 1] high[5, 1] {
// CHECK-NEXT:    ^bb0([[V1:%\w+]]: index, [[V2:%\w+]]: index):
// CHECK-NEXT:      tensor.yield %f : f32
// CHECK-NEXT:    } : tensor<2x3xf32> to tensor<9x5xf32>
// CHECK-NEXT:    func.return [[V0]] : tensor<9x5xf32>
func.func @merged(%a: tensor<2x3xf32>, %f: f32) -> tensor<9x5xf32> {
  %0 = tensor.pad %a low[1, 0] high[2, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<2x3xf32> to tensor<5x4xf32>
  %1 = tensor.pad %0 low[1, 1] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<5x4xf32> to tensor<9x5xf32>
  func.return %1 : tensor<9x5xf32>
}

// Widths that are values.
// CHECK-LABEL: @merged_values(
// CHECK-NEXT:    [[V0:%\w+]] = affine.apply affine_map<()[s0] -> ((s0 + 2))> ()[%n]
// CHECK-NEXT:    [[V1:%\w+]] = affine.apply affine_map<()[s0, s1] -> ((s0 + s1))> ()[%m, %n]
// CHECK-NEXT:    [[V2:%\w+]] = tensor.pad %a low[[[V0]]] high[[[V1]]] {
// CHECK-NEXT:    ^bb0([[V3:%\w+]]: index):
// CHECK-NEXT:      tensor.yield %f : f32
// CHECK-NEXT:    } : tensor<?xf32> to tensor<?xf32>
// CHECK-NEXT:    func.return [[V2]] : tensor<?xf32>
func.func @merged_values(%a: tensor<?xf32>, %n: index, %m: index, %f: f32) -> tensor<?xf32> {
  %0 = tensor.pad %a low[%n] high[%n] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<?xf32> to tensor<?xf32>
  %1 = tensor.pad %0 low[2] high[%m] {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<?xf32> to tensor<?xf32>
  func.return %1 : tensor<?xf32>
}

// Paddings with different values, of which one is computed inside, or that are to stay.
// UNCHANGED: @not_merged
func.func @not_merged(%a: tensor<2xindex>, %m: index, %n: index) -> (tensor<6xindex>, tensor<6xindex>, tensor<6xindex>) {
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %m : index
  } : tensor<2xindex> to tensor<4xindex>
  %1 = tensor.pad %0 low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %n : index
  } : tensor<4xindex> to tensor<6xindex>
  %2 = tensor.pad %0 low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<4xindex> to tensor<6xindex>
  %3 = tensor.pad %0 nofold low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %m : index
  } : tensor<4xindex> to tensor<6xindex>
  func.return %1, %2, %3 : tensor<6xindex>, tensor<6xindex>, tensor<6xindex>
}

// Parts that are padded at the end, in one dimension and then in the other.
// CHECK-LABEL: @orthogonal(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    [[V1:%\w+]] = tensor.extract_slice %a[8, 3] [%s0, %s1] [1, 1] : tensor<32x32xf32> to tensor<?x?xf32>
// CHECK-NEXT:    [[V2:%\w+]] = tensor.pad [[V1]] low[0, 0] high[%w0, %w1] {
// CHECK-NEXT:    ^bb0([[V3:%\w+]]: index, [[V4:%\w+]]: index):
// CHECK-NEXT:      tensor.yield [[V0]] : f32
// CHECK-NEXT:    } : tensor<?x?xf32> to tensor<4x2xf32>
// CHECK-NEXT:    func.return [[V2]] : tensor<4x2xf32>
func.func @orthogonal(%a: tensor<32x32xf32>, %s0: index, %s1: index, %w0: index, %w1: index) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.extract_slice %a[8, 0] [%s0, 32] [1, 1] : tensor<32x32xf32> to tensor<?x32xf32>
  %1 = tensor.pad %0 low[0, 0] high[%w0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x32xf32> to tensor<4x32xf32>
  %2 = tensor.extract_slice %1[0, 3] [4, %s1] [1, 1] : tensor<4x32xf32> to tensor<4x?xf32>
  %3 = tensor.pad %2 low[0, 0] high[0, %w1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x?xf32> to tensor<4x2xf32>
  func.return %3 : tensor<4x2xf32>
}

// Both dimensions start somewhere, a dimension is padded twice, a part of what was padded is taken.
// UNCHANGED: @not_orthogonal
func.func @not_orthogonal(%a: tensor<32x32xf32>, %s0: index, %s1: index, %w0: index, %w1: index) -> (tensor<4x2xf32>, tensor<4x32xf32>, tensor<3x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.extract_slice %a[8, 0] [%s0, 32] [1, 1] : tensor<32x32xf32> to tensor<?x32xf32>
  %1 = tensor.pad %0 low[0, 0] high[%w0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x32xf32> to tensor<4x32xf32>
  %2 = tensor.extract_slice %1[%s0, 3] [4, %s1] [1, 1] : tensor<4x32xf32> to tensor<4x?xf32>
  %3 = tensor.pad %2 low[0, 0] high[0, %w1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x?xf32> to tensor<4x2xf32>
  %4 = tensor.extract_slice %1[0, 0] [%s1, 32] [1, 1] : tensor<4x32xf32> to tensor<?x32xf32>
  %5 = tensor.pad %4 low[0, 0] high[%w1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x32xf32> to tensor<4x32xf32>
  %6 = tensor.extract_slice %1[0, 3] [3, %s1] [1, 1] : tensor<4x32xf32> to tensor<3x?xf32>
  %7 = tensor.pad %6 low[0, 0] high[0, %w1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x?xf32> to tensor<3x2xf32>
  func.return %3, %5, %7 : tensor<4x2xf32>, tensor<4x32xf32>, tensor<3x2xf32>
}
