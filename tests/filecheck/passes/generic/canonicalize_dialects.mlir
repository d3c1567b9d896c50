// RUN: passline-opt %s -p canonicalize | filecheck %s
// REQUIRES-XDSL: 0.75 (the dialects acc and shard)

// What is exchanged along no axis of a grid.
shard.grid @grid(shape = 2x4)
// CHECK-LABEL: @alone(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @alone(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = shard.all_reduce %a on @grid : tensor<4xf32> -> tensor<4xf32>
  %1 = shard.broadcast %0 on @grid root = [] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// Along an axis, and into another type.
// UNCHANGED: @exchanged
func.func @exchanged(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf64>) {
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  %1 = shard.all_reduce %a on @grid : tensor<4xf32> -> tensor<4xf64>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf64>
}

// Directives with constant conditions.
// CHECK-LABEL: @directives(
// CHECK-NEXT:    [[V0:%\w+]] = acc.create varPtr(%a : memref<f32>) -> memref<f32>
// CHECK-NEXT:    acc.enter_data dataOperands([[V0]] : memref<f32>)
// CHECK-NEXT:    func.return
func.func @directives(%a: memref<f32>) {
  %true = arith.constant true
  %false = arith.constant false
  %0 = acc.create varPtr(%a : memref<f32>) -> memref<f32>
  acc.enter_data if(%true) dataOperands(%0 : memref<f32>)
  acc.enter_data if(%false) dataOperands(%0 : memref<f32>)
  func.return
}

// A condition that is not known.
// UNCHANGED: @condition
func.func @condition(%a: memref<f32>, %c: i1) {
  %0 = acc.create varPtr(%a : memref<f32>) -> memref<f32>
  acc.enter_data if(%c) dataOperands(%0 : memref<f32>)
  func.return
}

// Conversions back.
// CHECK-LABEL: @conversions(
// CHECK-NEXT:    func.return %a, %b : i32, i32
func.func @conversions(%a: i32, %b: i32) -> (i32, i32) {
  %0, %1 = builtin.unrealized_conversion_cast %a, %b : i32, i32 to i64, i64
  %2, %3 = builtin.unrealized_conversion_cast %0, %1 : i64, i64 to i32, i32
  func.return %2, %3 : i32, i32
}

// Conversions in another order.
// UNCHANGED: @swapped
func.func @swapped(%a: i32, %b: i32) -> (i32, i32) {
  %0, %1 = builtin.unrealized_conversion_cast %a, %b : i32, i32 to i64, i64
  %2, %3 = builtin.unrealized_conversion_cast %1, %0 : i64, i64 to i32, i32
  func.return %2, %3 : i32, i32
}

// Logarithms and exponentials.
// CHECK-LABEL: @logarithms(
// CHECK-NEXT:    [[V0:%\w+]] = complex.constant [1.000000e+00 : f32, 3.000000e+00 : f32] : complex<f32>
// CHECK-NEXT:    func.return %a, [[V0]] : complex<f32>, complex<f32>
func.func @logarithms(%a: complex<f32>) -> (complex<f32>, complex<f32>) {
  %0 = complex.log %a : complex<f32>
  %1 = complex.exp %0 : complex<f32>
  %2 = complex.constant [1.0 : f32, 3.0 : f32] : complex<f32>
  %3 = complex.exp %2 : complex<f32>
  %4 = complex.log %3 : complex<f32>
  func.return %1, %4 : complex<f32>, complex<f32>
}

// An angle of more than half a circle, an overflow, and a value that is not known.
// UNCHANGED: @other_logarithms
func.func @other_logarithms(%a: complex<f32>) -> (complex<f32>, complex<f32>, complex<f32>) {
  %0 = complex.constant [1.0 : f32, 4.0 : f32] : complex<f32>
  %1 = complex.constant [100.0 : f32, 0.0 : f32] : complex<f32>
  %2 = complex.exp %0 : complex<f32>
  %3 = complex.log %2 : complex<f32>
  %4 = complex.exp %1 : complex<f32>
  %5 = complex.log %4 : complex<f32>
  %6 = complex.exp %a : complex<f32>
  %7 = complex.log %6 : complex<f32>
  func.return %3, %5, %7 : complex<f32>, complex<f32>, complex<f32>
}
