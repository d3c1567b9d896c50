// RUN: my-compiler-opt %s -p my-compiler-expand | filecheck %s
// RUN: my-compiler-opt %s -p 'my-compiler-expand{max-exponent=2}' | filecheck %s --check-prefix=TWO

// CHECK-LABEL: @third
// CHECK-NEXT:    [[S:%.+]] = arith.muli %x, %x : i64
// CHECK-NEXT:    [[C:%.+]] = arith.muli [[S]], %x : i64
// CHECK-NEXT:    func.return [[C]]
// TWO-LABEL:   @third
// TWO-NEXT:      my_compiler.power %x, 3
func.func @third(%x: i64) -> i64 {
  %y = my_compiler.power %x, 3
  func.return %y : i64
}

// CHECK-LABEL: @zeroth
// CHECK-NEXT:    arith.constant 1 : i64
func.func @zeroth(%x: i64) -> i64 {
  %y = my_compiler.power %x, 0
  func.return %y : i64
}

// The requirement runs first: one power, not two.
// CHECK-LABEL: @required
// CHECK-COUNT-2: arith.muli
// CHECK-NEXT:    func.return
func.func @required(%x: i64) -> i64 {
  %a = my_compiler.power %x, 2
  %b = my_compiler.power %a, 2
  func.return %b : i64
}
