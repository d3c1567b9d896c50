// RUN: passline-opt %s -p 'symbol-privatize{exclude=main}' | filecheck %s

// All symbols but those named become private, other kinds than functions too.
// CHECK: func.func @main
// CHECK: func.func private @f
// CHECK: func.func private @g
// CHECK: memref.global
// CHECK-SAME: private
func.func @main() {
  return
}
func.func @f() {
  return
}
func.func private @g()
"memref.global"() {sym_name = "data", type = memref<1xi32>, initial_value, sym_visibility = "public"} : () -> ()
