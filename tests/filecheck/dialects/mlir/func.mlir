// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: func.func @values(%a: i32) -> i32 {
func.func @values(%a: i32) -> i32 {
  // CHECK-NEXT: %f = func.constant @values : (i32) -> i32
  %f = func.constant @values : (i32) -> i32
  // CHECK-NEXT: %0 = func.call_indirect %f(%a) {note} : (i32) -> i32
  %0 = func.call_indirect %f(%a) {note} : (i32) -> i32
  // CHECK-NEXT: func.return %0 : i32
  func.return %0 : i32
}
