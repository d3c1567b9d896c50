// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: func.func @weights(%c: i1, %a: i32) {
func.func @weights(%c: i1, %a: i32) {
  // CHECK-NEXT: cf.cond_br %c weights([30, 70]), ^bb1, ^bb2(%a : i32)
  cf.cond_br %c weights([30, 70]), ^bb1, ^bb2(%a : i32)
// CHECK-NEXT: ^bb1:
^bb1:
  // CHECK-NEXT: cf.cond_br %c, ^bb3(%a, %a : i32, i32), ^bb2(%a : i32) {note}
  cf.cond_br %c, ^bb3(%a, %a : i32, i32), ^bb2(%a : i32) {note}
// CHECK-NEXT: ^bb2(%x: i32):
^bb2(%x: i32):
  // CHECK-NEXT: func.return
  func.return
// CHECK-NEXT: ^bb3(%y: i32, %z: i32):
^bb3(%y: i32, %z: i32):
  // CHECK-NEXT: func.return
  func.return
}
