// RUN: passline-opt %s -p remove-unused-functions --split-input-file | filecheck %s

// Functions reachable from main by calls and attributes stay; others are removed, public ones too.
// CHECK-LABEL: module
// CHECK-NEXT: func.func @main
// CHECK: func.func @called
// CHECK: func.func private @through
// CHECK: func.func private @named
// CHECK-NEXT: memref.global
// CHECK-NEXT: }
func.func @main(%c : i1) {
  scf.if %c {
    func.call @called() : () -> ()
  }
  "test.op"() {callees = [@named]} : () -> ()
  return
}
func.func @called() {
  func.call @through() : () -> ()
  return
}
func.func private @through() {
  return
}
func.func private @named()
func.func @second() {
  func.call @of_second() : () -> ()
  return
}
func.func private @of_second() {
  return
}
func.func @public() {
  return
}
func.func private @recursive() {
  func.call @recursive() : () -> ()
  return
}
"memref.global"() {sym_name = "data", type = memref<1xi32>, initial_value, sym_visibility = "private"} : () -> ()

// -----

// Other symbols stay, with the functions they refer to.
// CHECK: module
// CHECK-NEXT: @main
// CHECK: "test.op"() {callee = @kept}
// CHECK-NEXT: @kept
func.func @unused() {
  return
}
func.func @main() {
  return
}
"test.op"() {callee = @kept} : () -> ()
func.func private @kept()

// -----

// Must not fire: a reachable function refers to an undefined symbol.
// CHECK: @other
func.func @main() {
  "test.op"() {callee = @missing} : () -> ()
  return
}
func.func @other() {
  return
}
