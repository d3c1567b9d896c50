// RUN: passline-opt %s -p symbol-dce --split-input-file | filecheck %s

// A symbol is live if a live operation refers to it, directly or through others.
// CHECK: func.func private @through
// CHECK-NEXT: func.func private @used
// CHECK-NOT: @unused
// CHECK-NOT: @circle
// CHECK: func.func @main
func.func private @through()
func.func private @used() {
  func.call @through() : () -> ()
  return
}
func.func private @unused() {
  func.call @used() : () -> ()
  return
}
func.func private @circle() {
  func.call @circle() : () -> ()
  return
}
func.func @main() {
  func.call @used() : () -> ()
  return
}

// -----

// An operation that is no symbol is live.
// CHECK: func.func private @used
// CHECK-NOT: @unused
// CHECK: "test.op"
func.func private @used()
func.func private @unused()
"test.op"() {user = [@used]} : () -> ()

// -----

// In nested modules too: a path makes all symbols on it live.
// CHECK: builtin.module @inner
// CHECK-NOT: @gone
// CHECK: func.func private @named
// CHECK: func.func @public
// CHECK: "test.op"
builtin.module @inner {
  func.func private @gone()
  func.func private @named()
  func.func @public() {
    return
  }
}
"test.op"() {user = @inner::@named} : () -> ()
