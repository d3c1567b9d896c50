// REQUIRES: numpy
// RUN: passline-run %s | filecheck %s
// RUN: my-compiler-opt %s -p my-compiler-expand | passline-run | filecheck %s

// CHECK:      a: int64 scalar
// CHECK-NEXT: -1000
// CHECK-NEXT: b: int64 scalar
// CHECK-NEXT: -9223372036854775808
func.func @main() -> (i64, i64) {
  %x = arith.constant -10 : i64
  %y = arith.constant 2 : i64
  %a = my_compiler.power %x, 3
  %b = my_compiler.power %y, 63
  func.return %a, %b : i64, i64
}
