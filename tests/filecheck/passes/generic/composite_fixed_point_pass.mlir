// RUN: passline-opt %s -p 'composite-fixed-point-pass{pipeline=cse,symbol-dce max-iterations=20}' | filecheck %s

// Each round makes the next one possible.
// CHECK: builtin.module {
// CHECK-NEXT: func.func @main
// CHECK-NEXT: func.return
func.func private @a()
func.func @main() {
  %0 = arith.constant 1 : i32
  %1 = arith.addi %0, %0 : i32
  return
}
