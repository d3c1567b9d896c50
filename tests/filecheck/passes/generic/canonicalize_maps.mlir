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
