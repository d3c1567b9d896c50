// RUN: passline-opt %s -p canonicalize | filecheck %s

// Transposes of transposes and of broadcasts, broadcasts of broadcasts, and those that move nothing.
// CHECK-LABEL: @moved(
// CHECK-NEXT:    [[V0:%\w+]] = linalg.transpose ins(%a:tensor<5x4x3xf32>) outs(%c:tensor<3x4x5xf32>) permutation = [2, 1, 0]
// CHECK-NEXT:    [[V1:%\w+]] = linalg.broadcast ins(%d:tensor<2xf32>) outs(%f:tensor<4x2xf32>) dimensions = [0]
// CHECK-NEXT:    [[V2:%\w+]] = linalg.broadcast ins(%d:tensor<2xf32>) outs(%g:tensor<4x2x3xf32>) dimensions = [0, 2]
// CHECK-NEXT:    func.return [[V0]], %a, [[V1]], [[V2]], %e : tensor<3x4x5xf32>, tensor<5x4x3xf32>, tensor<4x2xf32>, tensor<4x2x3xf32>, tensor<2x4xf32>
func.func @moved(%a: tensor<5x4x3xf32>, %b: tensor<4x3x5xf32>, %c: tensor<3x4x5xf32>, %d: tensor<2xf32>, %e: tensor<2x4xf32>, %f: tensor<4x2xf32>, %g: tensor<4x2x3xf32>) -> (tensor<3x4x5xf32>, tensor<5x4x3xf32>, tensor<4x2xf32>, tensor<4x2x3xf32>, tensor<2x4xf32>) {
  %0 = linalg.transpose ins(%a : tensor<5x4x3xf32>) outs(%b : tensor<4x3x5xf32>) permutation = [1, 2, 0]
  %1 = linalg.transpose ins(%0 : tensor<4x3x5xf32>) outs(%c : tensor<3x4x5xf32>) permutation = [1, 0, 2]
  %2 = linalg.transpose ins(%0 : tensor<4x3x5xf32>) outs(%a : tensor<5x4x3xf32>) permutation = [2, 0, 1]
  %3 = linalg.broadcast ins(%d : tensor<2xf32>) outs(%e : tensor<2x4xf32>) dimensions = [1]
  %4 = linalg.transpose ins(%3 : tensor<2x4xf32>) outs(%f : tensor<4x2xf32>) permutation = [1, 0]
  %5 = linalg.broadcast ins(%4 : tensor<4x2xf32>) outs(%g : tensor<4x2x3xf32>) dimensions = [2]
  %6 = linalg.broadcast ins(%e : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) dimensions = []
  func.return %1, %2, %4, %5, %6 : tensor<3x4x5xf32>, tensor<5x4x3xf32>, tensor<4x2xf32>, tensor<4x2x3xf32>, tensor<2x4xf32>
}

// Filled tensors.
// CHECK-LABEL: @fills(
// CHECK-NEXT:    [[V0:%\w+]] = linalg.fill ins(%x : f32) outs(%b : tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT:    [[V1:%\w+]] = linalg.fill ins(%x : f32) outs(%b : tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT:    [[V2:%\w+]] = linalg.copy ins(%b : tensor<?x?xf32>) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT:    func.return [[V0]], [[V1]], [[V2]], %x : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, f32
func.func @fills(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %x: f32, %i: index) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, f32) {
  %0 = linalg.fill ins(%x : f32) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.copy ins(%0 : tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = linalg.transpose ins(%0 : tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) permutation = [1, 0]
  %3 = linalg.copy ins(%b : tensor<?x?xf32>) outs(%0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %4 = tensor.extract %0[%i, %i] : tensor<?x?xf32>
  func.return %1, %2, %3, %4 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, f32
}

// Elements that are passed on, and a loop of one iteration.
// CHECK-LABEL: @loops(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 0 : index
// CHECK-NEXT:    [[V1:%\w+]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%b : tensor<?x1xf32>) {
// CHECK-NEXT:    ^bb0([[V2:%\w+]]: f32):
// CHECK-NEXT:      [[V3:%\w+]] = "test.op"([[V0]]) : (index) -> f32
// CHECK-NEXT:      linalg.yield [[V3]] : f32
// CHECK-NEXT:    } -> tensor<?x1xf32>
// CHECK-NEXT:    func.return %a, [[V1]] : tensor<?x1xf32>, tensor<?x1xf32>
func.func @loops(%a: tensor<?x1xf32>, %b: tensor<?x1xf32>, %c: memref<4xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x1xf32>) outs(%b : tensor<?x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x1xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%b : tensor<?x1xf32>) {
  ^bb0(%out: f32):
    %2 = linalg.index 1 : index
    %3 = "test.op"(%2) : (index) -> f32
    linalg.yield %3 : f32
  } -> tensor<?x1xf32>
  linalg.copy ins(%c : memref<4xf32>) outs(%c : memref<4xf32>)
  func.return %0, %1 : tensor<?x1xf32>, tensor<?x1xf32>
}

// Maps that differ, a value from outside, and a buffer that is written with others.
// UNCHANGED: @kept
func.func @kept(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: memref<4xf32>, %d: memref<4xf32>, %x: f32) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x?xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%b : tensor<?x?xf32>) {
  ^bb0(%out: f32):
    linalg.yield %x : f32
  } -> tensor<?x?xf32>
  linalg.copy ins(%c : memref<4xf32>) outs(%d : memref<4xf32>)
  func.return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// Tensors that were cast, and the size of a result.
// CHECK-LABEL: @casts(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 1 : index
// CHECK-NEXT:    [[V1:%\w+]] = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x?xf32>) outs(%c : tensor<3x?xf32>) -> tensor<3x?xf32>
// CHECK-NEXT:    [[V2:%\w+]] = tensor.dim %c, [[V0]] : tensor<3x?xf32>
// CHECK-NEXT:    func.return [[V1]], [[V2]] : tensor<3x?xf32>, index
func.func @casts(%a: tensor<3x4xf32>, %b: tensor<4x?xf32>, %c: tensor<3x?xf32>) -> (tensor<3x?xf32>, index) {
  %one = arith.constant 1 : index
  %0 = tensor.cast %a : tensor<3x4xf32> to tensor<?x?xf32>
  %1 = tensor.cast %b : tensor<4x?xf32> to tensor<?x?xf32>
  %2 = tensor.cast %c : tensor<3x?xf32> to tensor<?x?xf32>
  %3 = linalg.matmul ins(%0, %1 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %4 = tensor.cast %3 : tensor<?x?xf32> to tensor<3x?xf32>
  %5 = tensor.dim %3, %one : tensor<?x?xf32>
  func.return %4, %5 : tensor<3x?xf32>, index
}

// Operations on tensors whose results nobody uses.
// CHECK-LABEL: @dead(
// CHECK-NEXT:    func.return
func.func @dead(%a: tensor<?x?xf32>, %x: f32) {
  %0 = linalg.fill ins(%x : f32) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.copy ins(%0 : tensor<?x?xf32>) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return
}
