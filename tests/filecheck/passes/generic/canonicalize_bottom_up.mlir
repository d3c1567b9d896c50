// Operations are visited from the last to the first.
// RUN: passline-opt %s -p 'canonicalize{top-down=false}' | filecheck %s

// Constants that stand first stay in their order; the others follow them.
// CHECK-LABEL: @constants(
// CHECK-NEXT:    {{%.*}} = arith.constant 1 : i32
// CHECK-NEXT:    {{%.*}} = arith.constant 2 : i32
// CHECK-NEXT:    {{%.*}} = arith.constant 3 : i32
// CHECK-NEXT:    "test.op"
func.func @constants() {
  %1 = arith.constant 1 : i32
  %2 = arith.constant 2 : i32
  "test.op"(%1, %2) : (i32, i32) -> ()
  %3 = arith.constant 3 : i32
  %again = arith.constant 2 : i32
  "test.op"(%3, %again) : (i32, i32) -> ()
  func.return
}
