// RUN: passline-opt %s -p canonicalize | filecheck %s

// Sizes that end alike; the last index in parts.
// CHECK-LABEL: @tails(
// CHECK-NEXT:    [[V0:%\w+]], [[V1:%\w+]] = affine.delinearize_index %b into (6, 2) : index, index
// CHECK-NEXT:    func.return %b, %a, [[V0]], [[V1]], %a : index, index, index, index, index
func.func @tails(%a: index, %b: index, %c: index, %n: index) -> (index, index, index, index, index) {
  %0 = affine.linearize_index disjoint [%a, %b, %c] by (%n, 6) : index
  %1:3 = affine.delinearize_index %0 into (%n, 6) : index, index, index
  %2 = affine.linearize_index disjoint [%a, %b] by (3, 12) : index
  %3:3 = affine.delinearize_index %2 into (3, 6, 2) : index, index, index
  %4:2 = affine.delinearize_index %2 into (12) : index, index
  func.return %1#1, %3#0, %3#1, %3#2, %4#0 : index, index, index, index, index
}

// Indices that may be larger than the sizes, sizes that end otherwise, and a part of an index.
// UNCHANGED: @other_tails
func.func @other_tails(%a: index, %b: index, %m: index, %n: index) -> (index, index, index, index, index) {
  %0 = affine.linearize_index [%a, %b] by (3, 12) : index
  %1:2 = affine.delinearize_index %0 into (3, 12) : index, index
  %2 = affine.linearize_index disjoint [%a, %b] by (%m, %n) : index
  %3:2 = affine.delinearize_index %2 into (%n, %m) : index, index
  %4 = affine.linearize_index disjoint [%a, %b] by (3, 12) : index
  %5:3 = affine.delinearize_index %4 into (3, 3, 5) : index, index, index
  func.return %1#0, %1#1, %3#1, %5#1, %5#2 : index, index, index, index, index
}

// All indices of one, or some of them.
// CHECK-LABEL: @runs(
// CHECK-NEXT:    [[V0:%\w+]] = affine.linearize_index [%b, %a] by (3, 32) : index
// CHECK-NEXT:    [[V1:%\w+]], [[V2:%\w+]] = affine.delinearize_index %a into (3, 32) : index, index
// CHECK-NEXT:    [[V3:%\w+]] = affine.linearize_index [[[V2]], %b] by (32, 2) : index
// CHECK-NEXT:    func.return %a, [[V0]], [[V3]], [[V1]] : index, index, index, index
func.func @runs(%a: index, %b: index, %n: index) -> (index, index, index, index) {
  %0:3 = affine.delinearize_index %a into (%n, 4, %n) : index, index, index
  %1 = affine.linearize_index [%0#0, %0#1, %0#2] by (4, %n) : index
  %2:2 = affine.delinearize_index %a into (4, 8) : index, index
  %3 = affine.linearize_index [%b, %2#0, %2#1] by (3, 4, 8) : index
  %4:3 = affine.delinearize_index %a into (3, 4, 8) : index, index, index
  %5 = affine.linearize_index [%4#1, %4#2, %b] by (4, 8, 2) : index
  func.return %1, %3, %5, %4#0 : index, index, index, index
}

// Results in another order, into other sizes, or without a bound that matters.
// UNCHANGED: @other_runs
func.func @other_runs(%a: index, %b: index) -> (index, index, index) {
  %0:2 = affine.delinearize_index %a into (4, 8) : index, index
  %1 = affine.linearize_index [%0#1, %0#0] by (8, 4) : index
  %2 = affine.linearize_index [%0#0, %0#1] by (4, 9) : index
  %3:2 = affine.delinearize_index %a into (8) : index, index
  %4 = affine.linearize_index [%b, %3#0, %3#1] by (2, 4, 8) : index
  func.return %1, %2, %4 : index, index, index
}

// Dimensions of size 1, and a first index of zero.
// CHECK-LABEL: @units(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 0 : index
// CHECK-NEXT:    [[V1:%\w+]], [[V2:%\w+]] = affine.delinearize_index %a into (2, 4) : index, index
// CHECK-NEXT:    [[V3:%\w+]] = affine.linearize_index [%a, %b] by (2, 4) : index
// CHECK-NEXT:    [[V4:%\w+]] = affine.linearize_index [%a, %b] by (2, 4) : index
// CHECK-NEXT:    func.return [[V0]], [[V2]], [[V3]], %a, [[V4]] : index, index, index, index, index
func.func @units(%a: index, %b: index) -> (index, index, index, index, index) {
  %zero = arith.constant 0 : index
  %0:3 = affine.delinearize_index %a into (2, 1, 4) : index, index, index
  %1 = affine.linearize_index [%a, %zero, %b] by (2, 1, 4) : index
  %2 = affine.linearize_index disjoint [%a, %b] by (2, 1) : index
  %3 = affine.linearize_index [%zero, %a, %b] by (7, 2, 4) : index
  func.return %0#1, %0#2, %1, %2, %3 : index, index, index, index, index
}

// An index into a dimension of size 1 that is not known to be zero, and a zero in the middle.
// UNCHANGED: @other_units
func.func @other_units(%a: index, %b: index) -> (index, index) {
  %zero = arith.constant 0 : index
  %0 = affine.linearize_index [%a, %b] by (2, 1) : index
  %1 = affine.linearize_index [%a, %zero, %b] by (2, 3, 4) : index
  func.return %0, %1 : index, index
}

// Constants, and sizes that are.
// CHECK-LABEL: @numbers(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 1 : index
// CHECK-NEXT:    [[V1:%\w+]] = arith.constant -1 : index
// CHECK-NEXT:    [[V2:%\w+]] = arith.constant 13 : index
// CHECK-NEXT:    [[V3:%\w+]] = arith.constant 5 : index
// CHECK-NEXT:    func.return [[V1]], [[V0]], [[V2]], [[V3]], %a : index, index, index, index, index
func.func @numbers(%a: index) -> (index, index, index, index, index) {
  %four = arith.constant 4 : index
  %negative = arith.constant -3 : index
  %place = arith.constant 23 : index
  %0:2 = affine.delinearize_index %negative into (%four) : index, index
  %1 = affine.linearize_index [%four, %negative] by (%four) : index
  %2:2 = affine.delinearize_index %place into (3, 9) : index, index
  %3 = affine.linearize_index [%a] by (%four) : index
  func.return %0#0, %0#1, %1, %2#1, %3 : index, index, index, index, index
}

// A number into unknown sizes.
// UNCHANGED: @other_numbers
func.func @other_numbers(%n: index) -> (index, index) {
  %place = arith.constant 23 : index
  %0:2 = affine.delinearize_index %place into (%n) : index, index
  %1 = affine.linearize_index [%place, %place] by (%n) : index
  func.return %0#0, %1 : index, index
}
