// RUN: passline-opt %s -p canonicalize | filecheck %s

// Floats are rounded to infinity.
// CHECK-LABEL: @floats
// CHECK-DAG:     [[F:%.*]] = arith.constant 0x7f800000 : f32
// CHECK-DAG:     [[H:%.*]] = arith.constant 0x7c00 : f16
// CHECK-DAG:     [[B:%.*]] = arith.constant 0xff80 : bf16
// CHECK:         func.return [[F]], [[H]], [[B]] : f32, f16, bf16
func.func @floats() -> (f32, f16, bf16) {
  %a = arith.constant 3.0e+38 : f32
  %b = arith.mulf %a, %a : f32
  %c = arith.constant 6.0e+4 : f16
  %d = arith.addf %c, %c : f16
  %e = arith.constant 3.0e+38 : bf16
  %f = arith.constant -1.0e-38 : bf16
  %g = arith.divf %e, %f : bf16
  func.return %b, %d, %g : f32, f16, bf16
}

// Index constants wrap at 64 bits.
// CHECK-LABEL: @indices
// CHECK-NEXT:    [[C:%.*]] = arith.constant 9223372036854775805 : index
// CHECK-NEXT:    [[D:%.*]] = arith.constant -3 : i8
// CHECK-NEXT:    func.return [[C]], [[D]] : index, i8
func.func @indices() -> (index, i8) {
  %a = arith.constant 9223372036854775807 : index
  %b = arith.constant 3 : index
  %c = arith.muli %a, %b : index
  %d = arith.index_cast %c : index to i8
  func.return %c, %d : index, i8
}

// Constants are reassociated where that loses nothing.
// CHECK-LABEL: @reassociate
// CHECK-NEXT:    [[D:%.*]] = arith.constant {{3.*}} : f32
// CHECK-NEXT:    [[C:%.*]] = arith.constant 6.000000e+00 : f32
// CHECK-NEXT:    [[X:%.*]] = arith.mulf %x, [[C]] fastmath<reassoc> : f32
// CHECK-NEXT:    [[Y:%.*]] = arith.mulf %x, [[D]] fastmath<reassoc> : f32
// CHECK-NEXT:    [[Z:%.*]] = arith.mulf [[Y]], [[D]] fastmath<reassoc> : f32
// CHECK-NEXT:    func.return [[X]], [[Z]]
func.func @reassociate(%x: f32) -> (f32, f32) {
  %a = arith.constant 2.0 : f32
  %b = arith.constant 3.0 : f32
  %c = arith.constant 3.0e+38 : f32
  %0 = arith.mulf %a, %x fastmath<reassoc> : f32
  %1 = arith.mulf %0, %b fastmath<reassoc> : f32
  %2 = arith.mulf %x, %c fastmath<reassoc> : f32
  %3 = arith.mulf %2, %c fastmath<reassoc> : f32
  func.return %1, %3 : f32, f32
}
