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
