// RUN: my-compiler-opt %s -p my-compiler-simplify | filecheck %s

// CHECK-LABEL: @power_of_power
// CHECK-NEXT:    [[R:%.+]] = my_compiler.power %x, 6
// CHECK-NEXT:    func.return [[R]]
func.func @power_of_power(%x: i64) -> i64 {
  %a = my_compiler.power %x, 2
  %b = my_compiler.power %a, 3
  func.return %b : i64
}

// CHECK-LABEL: @first_power
// CHECK-NEXT:    func.return %x
func.func @first_power(%x: i64) -> i64 {
  %a = my_compiler.power %x, 1
  func.return %a : i64
}

// The product of the exponents is 2^63, which is no i64.
// CHECK-LABEL: @too_large
// CHECK-NEXT:    my_compiler.power %x, 4611686018427387904
// CHECK-NEXT:    my_compiler.power %a, 2
func.func @too_large(%x: i64) -> i64 {
  %a = my_compiler.power %x, 4611686018427387904
  %b = my_compiler.power %a, 2
  func.return %b : i64
}
