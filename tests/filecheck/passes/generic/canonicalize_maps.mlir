// RUN: passline-opt %s -p canonicalize | filecheck %s
// REQUIRES-XDSL: 0.70 (the custom form of `affine.apply` with dimensions apart)

// Maps of maps.
// CHECK-LABEL: @maps(
// CHECK-NEXT:    {{%.*}} = arith.constant 4 : index
// CHECK-NEXT:    {{%.*}} = affine.apply affine_map<(d0) -> (((d0 * 2) + 6))> (%n)
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}} : index, index
func.func @maps(%n: index) -> (index, index) {
  %0 = arith.constant 4 : index
  %1 = affine.apply affine_map<(d0) -> (d0 + 1)> (%n)
  %2 = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)> (%1)[%0]
  %3 = affine.min affine_map<(d0) -> (7, d0)> (%0)
  func.return %2, %3 : index, index
}

// A second branch that does nothing, but not one that does, or yields a value.
// CHECK-LABEL: @branches(
// CHECK-NEXT:    "affine.if"(%n) <{condition = affine_set<(d0) : ((d0 + -2) >= 0)>}> ({
// CHECK-NEXT:      "test.op"() : () -> ()
// CHECK-NEXT:      affine.yield
// CHECK-NEXT:    }, {
// CHECK-NEXT:    }) : (index) -> ()
// CHECK-NEXT:    "affine.if"(%n) <{condition = affine_set<(d0) : ((d0 + -2) >= 0)>}> ({
// CHECK-NEXT:      "test.op"() : () -> ()
// CHECK-NEXT:      affine.yield
// CHECK-NEXT:    }, {
// CHECK-NEXT:      "test.op"(%n) : (index) -> ()
// CHECK-NEXT:      affine.yield
// CHECK-NEXT:    }) : (index) -> ()
// CHECK-NEXT:    {{%.*}} = "affine.if"(%n) <{condition = affine_set<(d0) : ((d0 + -2) >= 0)>}> ({
// CHECK-NEXT:      {{%.*}} = "test.op"() : () -> index
// CHECK-NEXT:      affine.yield {{%.*}} : index
// CHECK-NEXT:    }, {
// CHECK-NEXT:      affine.yield %n : index
// CHECK-NEXT:    }) : (index) -> index
// CHECK-NEXT:    func.return {{%.*}} : index
func.func @branches(%n: index) -> index {
  affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%n) {
    "test.op"() : () -> ()
  } else {
  }
  affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%n) {
    "test.op"() : () -> ()
  } else {
    "test.op"(%n) : (index) -> ()
  }
  %r = affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%n) -> index {
    %1 = "test.op"() : () -> index
    affine.yield %1 : index
  } else {
    affine.yield %n : index
  }
  func.return %r : index
}

// Divisions by a value.
// UNCHANGED: @divided
func.func @divided(%a: index, %b: index) -> index {
  %1 = affine.apply affine_map<()[s0, s1] -> (s0 ceildiv s1)>()[%a, %b]
  func.return %1 : index
}

// Products with symbols, and quotients by them.
// CHECK-LABEL: @symbols(
// CHECK-NEXT:    [[blocks:%.*]] = affine.apply affine_map<(d0)[s0] -> ((((d0 * s0) + 1) ceildiv s0))> (%x)[%m]
// CHECK-NEXT:    [[rest:%.*]] = affine.apply affine_map<(d0) -> ((d0 + ((d0 floordiv 4) * -3)))> (%x)
// CHECK-NEXT:    func.return [[blocks]], [[rest]] : index, index
func.func @symbols(%m: index, %x: index) -> (index, index) {
  %0 = arith.constant 4 : index
  %1 = affine.apply affine_map<(d0)[s0] -> (d0 * s0 + 1)> (%x)[%m]
  %2 = affine.apply affine_map<(d0)[s0] -> (d0 ceildiv s0)> (%1)[%m]
  %3 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0 + d0 floordiv s0)> (%x)[%0]
  func.return %2, %3 : index, index
}
// UNCHANGED: @by_symbol
func.func @by_symbol(%m: index, %x: index) -> index {
  %0 = affine.apply affine_map<(d0)[s0] -> ((d0 mod s0))> (%x)[%m]
  func.return %0 : index
}

// Divisions by what a map computes, a dimension that is also a symbol, equal remainders, and parts
// of an index put together.
// CHECK-LABEL: @by_symbols(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 0 : index
// CHECK-NEXT:    [[V1:%\w+]] = affine.apply affine_map<(d0)[s0] -> (((d0 floordiv ((s0 * 2) + 1)) + (((s0 * 2) + 1) * ((s0 * 2) + 1))))> (%a)[%n]
// CHECK-NEXT:    [[V2:%\w+]] = affine.apply affine_map<(d0)[s0] -> ((d0 + (s0 * -1)))> (%a)[%n]
// CHECK-NEXT:    [[V3:%\w+]], [[V4:%\w+]], [[V5:%\w+]] = affine.delinearize_index %a into (4, 8) : index, index, index
// CHECK-NEXT:    [[V6:%\w+]] = affine.apply affine_map<(d0, d1) -> ((d0 + (d1 floordiv 3)))> ([[V3]], %a)
// CHECK-NEXT:    func.return [[V1]], [[V2]], [[V0]], [[V6]] : index, index, index, index
func.func @by_symbols(%a: index, %n: index, %m: index) -> (index, index, index, index) {
  %0 = affine.apply affine_map<()[s0] -> (s0 * 2 + 1)>()[%n]
  %1 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0 + s0 * s0)>(%a)[%0]
  %2 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%a)[%n]
  %3 = affine.apply affine_map<(d0, d1) -> (d1 - d0 * 2)>(%n, %2)
  %4 = affine.apply affine_map<()[s0, s1] -> ((s0 - (s0 - s1) mod s1 - s1) mod s1)>()[%n, %m]
  %5:3 = affine.delinearize_index %a into (4, 8) : index, index, index
  %6 = affine.apply affine_map<(d0, d1, d2) -> ((d1 * 8 + d0 * 32 + d2) floordiv 3 + d0)>(%5#0, %5#1, %5#2)
  func.return %1, %3, %4, %6 : index, index, index, index
}

// Remainders by another number, parts with other factors, and not all parts.
// UNCHANGED: @other_sums
func.func @other_sums(%a: index, %n: index, %m: index) -> (index, index, index) {
  %0 = affine.apply affine_map<()[s0, s1] -> ((s0 + (s0 mod s1) * -1) mod (s1 + 1))>()[%n, %m]
  %1:2 = affine.delinearize_index %a into (4, 8) : index, index
  %2 = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%1#0, %1#1)
  %3 = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%1#0, %a)
  func.return %0, %2, %3 : index, index, index
}

// Maximums of maximums; equal results and constants.
// CHECK-LABEL: @maximums(
// CHECK-NEXT:    [[V0:%\w+]] = affine.max affine_map<(d0)[s0] -> ((s0 * 3), 16, (d0 + (s0 * -1)))>(%a)[%b]
// CHECK-NEXT:    [[V1:%\w+]] = affine.min affine_map<(d0, d1) -> (d0, d1, 7)> (%a, %b)
// CHECK-NEXT:    func.return [[V0]], %a, [[V1]] : index, index, index
func.func @maximums(%a: index, %b: index) -> (index, index, index) {
  %0 = affine.max affine_map<(d0)[s0] -> (16, d0 - s0)>(%a)[%b]
  %1 = affine.max affine_map<(d0, d1) -> (d1 * 3, d0, 7)>(%0, %b)
  %2 = affine.max affine_map<(d0) -> (d0, d0)>(%a)
  %3 = affine.min affine_map<(d0, d1) -> (d0, d1, d0, 7, 9)>(%a, %b)
  func.return %1, %2, %3 : index, index, index
}

// A maximum in a minimum, and one in a sum.
// UNCHANGED: @other_maximums
func.func @other_maximums(%a: index, %b: index) -> (index, index) {
  %0 = affine.max affine_map<(d0) -> (16, d0)>(%a)
  %1 = affine.min affine_map<(d0, d1) -> (d0, d1)>(%0, %b)
  %2 = affine.max affine_map<(d0) -> (d0 + 1, 40)>(%0)
  func.return %1, %2 : index, index
}

// Conditions that are known, or partly so.
// CHECK-LABEL: @conditions(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 4 : index
// CHECK-NEXT:    [[V1:%\w+]] = "affine.if"(%a) <{condition = affine_set<(d0) : ((d0 + -4) >= 0)>}> ({
// CHECK-NEXT:      affine.yield [[V0]] : index
// CHECK-NEXT:    }, {
// CHECK-NEXT:      affine.yield %a : index
// CHECK-NEXT:    }) : (index) -> index
// CHECK-NEXT:    [[V2:%\w+]] = "test.op"() {kept} : () -> index
// CHECK-NEXT:    "test.op"() {kept} : () -> ()
// CHECK-NEXT:    func.return [[V1]], [[V2]] : index, index
func.func @conditions(%a: index) -> (index, index) {
  %four = arith.constant 4 : index
  %0 = affine.if affine_set<(d0, d1) : (d0 - d1 >= 0, d1 - 4 == 0)>(%a, %four) -> index {
    affine.yield %four : index
  } else {
    affine.yield %a : index
  }
  %1 = affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%four) -> index {
    %2 = "test.op"() {kept} : () -> index
    affine.yield %2 : index
  } else {
    affine.yield %a : index
  }
  affine.if affine_set<(d0, d1) : (d0 >= 0, d1 - 5 >= 0)>(%a, %four) {
    "test.op"() {gone} : () -> ()
  }
  affine.if affine_set<(d0) : (d0 - 5 == 0)>(%four) {
    "test.op"() {gone} : () -> ()
  } else {
    "test.op"() {kept} : () -> ()
  }
  func.return %0, %1 : index, index
}

// Bounds of parallel loops.
// CHECK-LABEL: @parallel(
// CHECK-NEXT:    "affine.parallel"(%n, %n) <{reductions = [], lowerBoundsMap = affine_map<(d0) -> (0, d0, 0)>, lowerBoundsGroups = dense<[2, 1]> : tensor<2xi32>, upperBoundsMap = affine_map<(d0) -> (4, ((d0 * 2) + 4))>, upperBoundsGroups = dense<1> : tensor<2xi32>, steps = [1 : i64, 1 : i64]}> ({
// CHECK-NEXT:    ^bb0([[V0:%\w+]]: index, [[V1:%\w+]]: index):
// CHECK-NEXT:      "test.op"([[V0]], [[V1]]) : (index, index) -> ()
// CHECK-NEXT:      affine.yield
// CHECK-NEXT:    }) : (index, index) -> ()
// CHECK-NEXT:    func.return
func.func @parallel(%n: index) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %0 = affine.apply affine_map<(d0) -> (d0 * 2)>(%n)
  affine.parallel (%i, %j) = (max(%zero, %n), 0) to (%four, %0 + %four) {
    "test.op"(%i, %j) : (index, index) -> ()
  }
  func.return
}

// A value of each iteration that is the one before, and one from outside.
// CHECK-LABEL: @idle(
// CHECK-NEXT:    func.return %b, %b : index, index
func.func @idle(%a: index, %b: index) -> (index, index) {
  %0, %1 = affine.for %i = 0 to 9 iter_args(%x = %a, %y = %b) -> (index, index) {
    affine.yield %b, %y : index, index
  }
  func.return %0, %1 : index, index
}

// Values that change places.
// UNCHANGED: @busy
func.func @busy(%a: index, %b: index) -> (index, index) {
  %0, %1 = affine.for %i = 0 to 9 iter_args(%x = %a, %y = %b) -> (index, index) {
    affine.yield %y, %x : index, index
  }
  func.return %0, %1 : index, index
}
