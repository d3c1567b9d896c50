// RUN: passline-opt %s -p canonicalize | filecheck %s

// Masks of constant sizes, which are at most those of the vector.
// CHECK-LABEL: @constant_sizes(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant dense<false> : vector<4x3xi1>
// CHECK-NEXT:    [[V1:%\w+]] = arith.constant dense<true> : vector<i1>
// CHECK-NEXT:    [[V2:%\w+]] = vector.constant_mask [4, 2] : vector<4x3xi1>
// CHECK-NEXT:    func.return [[V2]], [[V0]], [[V1]] : vector<4x3xi1>, vector<4x3xi1>, vector<i1>
func.func @constant_sizes() -> (vector<4x3xi1>, vector<4x3xi1>, vector<i1>) {
  %two = arith.constant 2 : index
  %nine = arith.constant 9 : index
  %minus = arith.constant -1 : index
  %0 = vector.create_mask %nine, %two : vector<4x3xi1>
  %1 = vector.create_mask %two, %minus : vector<4x3xi1>
  %2 = vector.constant_mask [1] : vector<i1>
  func.return %0, %1, %2 : vector<4x3xi1>, vector<4x3xi1>, vector<i1>
}

// A multiple of the size of a scalable dimension.
// CHECK-LABEL: @scalable(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant dense<true> : vector<8x[16]xi1>
// CHECK-NEXT:    func.return [[V0]] : vector<8x[16]xi1>
func.func @scalable() -> vector<8x[16]xi1> {
  %eight = arith.constant 8 : index
  %sixteen = arith.constant 16 : index
  %0 = vector.vscale
  %1 = arith.muli %0, %sixteen : index
  %2 = vector.create_mask %eight, %1 : vector<8x[16]xi1>
  func.return %2 : vector<8x[16]xi1>
}

// A part of a scalable dimension, a scalable size of a fixed one, a size that is not known.
// UNCHANGED: @unknown_masks
func.func @unknown_masks(%n: index) -> (vector<8x[16]xi1>, vector<[4]xi1>, vector<4xi1>, vector<3x4xi1>) {
  %eight = arith.constant 8 : index
  %0 = vector.vscale
  %1 = arith.muli %0, %eight : index
  %2 = vector.create_mask %eight, %1 : vector<8x[16]xi1>
  %3 = vector.create_mask %eight : vector<[4]xi1>
  %4 = vector.create_mask %1 : vector<4xi1>
  %5 = vector.create_mask %eight, %n : vector<3x4xi1>
  func.return %2, %3, %4, %5 : vector<8x[16]xi1>, vector<[4]xi1>, vector<4xi1>, vector<3x4xi1>
}

// Masks that are permuted.
// CHECK-LABEL: @transposed(
// CHECK-NEXT:    [[V0:%\w+]] = vector.create_mask %c, %a, %b : vector<4x2x3xi1>
// CHECK-NEXT:    [[V1:%\w+]] = vector.constant_mask [3, 1, 2] : vector<4x2x3xi1>
// CHECK-NEXT:    func.return [[V0]], [[V1]] : vector<4x2x3xi1>, vector<4x2x3xi1>
func.func @transposed(%a: index, %b: index, %c: index) -> (vector<4x2x3xi1>, vector<4x2x3xi1>) {
  %0 = vector.create_mask %a, %b, %c : vector<2x3x4xi1>
  %1 = vector.transpose %0, [2, 0, 1] : vector<2x3x4xi1> to vector<4x2x3xi1>
  %2 = vector.constant_mask [1, 2, 3] : vector<2x3x4xi1>
  %3 = vector.transpose %2, [2, 0, 1] : vector<2x3x4xi1> to vector<4x2x3xi1>
  func.return %1, %3 : vector<4x2x3xi1>, vector<4x2x3xi1>
}

// 0, 1, ... compared with a number that is greater.
// CHECK-LABEL: @steps(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant dense<true> : vector<3xi1>
// CHECK-NEXT:    [[V1:%\w+]] = arith.constant dense<false> : vector<3xi1>
// CHECK-NEXT:    func.return [[V0]], [[V1]], [[V1]], [[V0]] : vector<3xi1>, vector<3xi1>, vector<3xi1>, vector<3xi1>
func.func @steps() -> (vector<3xi1>, vector<3xi1>, vector<3xi1>, vector<3xi1>) {
  %0 = vector.step : vector<3xindex>
  %two = arith.constant dense<2> : vector<3xindex>
  %three = arith.constant dense<3> : vector<3xindex>
  %1 = arith.cmpi ult, %0, %three : vector<3xindex>
  %2 = arith.cmpi ugt, %0, %two : vector<3xindex>
  %3 = arith.cmpi eq, %three, %0 : vector<3xindex>
  %4 = arith.cmpi uge, %three, %0 : vector<3xindex>
  func.return %1, %2, %3, %4 : vector<3xi1>, vector<3xi1>, vector<3xi1>, vector<3xi1>
}

// Numbers that some are equal to or less than, numbers that differ, and an unknown number of them.
// UNCHANGED: @steps_that_differ
func.func @steps_that_differ() -> (vector<3xi1>, vector<3xi1>, vector<3xi1>, vector<[3]xi1>) {
  %two = arith.constant dense<2> : vector<3xindex>
  %mixed = arith.constant dense<[4, 0, 4]> : vector<3xindex>
  %three = arith.constant dense<3> : vector<[3]xindex>
  %0 = vector.step : vector<3xindex>
  %1 = vector.step : vector<[3]xindex>
  %2 = arith.cmpi ult, %0, %two : vector<3xindex>
  %3 = arith.cmpi eq, %0, %two : vector<3xindex>
  %4 = arith.cmpi ult, %0, %mixed : vector<3xindex>
  %5 = arith.cmpi ult, %1, %three : vector<[3]xindex>
  func.return %2, %3, %4, %5 : vector<3xi1>, vector<3xi1>, vector<3xi1>, vector<[3]xi1>
}
