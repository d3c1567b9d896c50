// RUN: passline-opt %s -p "cse,func.func(canonicalize)" --log-actions-to=- --no-print | filecheck %s
// RUN: passline-opt %s -p "cse,func.func(canonicalize)" --log-actions-to=- --log-actions-filter=%s:16 --no-print | filecheck %s --check-prefix=FILTERED

// CHECK:      [thread {{\d+}}] begins Action `pass-execution` running `cse` on Operation `builtin.module` (builtin.module {...})
// CHECK-NEXT: completed `pass-execution`
// CHECK-NEXT: running `canonicalize` on Operation `func.func` (func.func @f() {...})
// CHECK-NEXT: completed `pass-execution`
// CHECK-NEXT: running `canonicalize` on Operation `func.func` (func.func @g() {...})
// CHECK-NEXT: completed `pass-execution`

func.func @f() {
  func.return
}
// FILTERED-NOT:  @f
// FILTERED:      running `canonicalize` on Operation `func.func` (func.func @g() {...})
func.func @g() {
  func.return
}
// FILTERED-NEXT: completed `pass-execution`
// FILTERED-NOT:  Action
