// RUN: passline-opt %s -p topological-sort --split-input-file | filecheck %s

// In a graph region, such as that of a module, definitions go before uses.
// CHECK: builtin.module {
// CHECK-NEXT: %[[C:.*]] = arith.constant
// CHECK-NEXT: %[[A:.*]] = arith.addi %[[C]], %[[C]]
// CHECK-NEXT: "test.op"(%[[A]])
"test.op"(%1) : (i32) -> ()
%1 = arith.addi %0, %0 : i32
%0 = arith.constant 1 : i32

// -----

// Must not fire: an order in which nothing is used before its definition; a function.
// CHECK: builtin.module {
// CHECK-NEXT: arith.constant 2
// CHECK-NEXT: arith.constant 1
// CHECK-NEXT: func.func @f
%0 = arith.constant 2 : i32
%1 = arith.constant 1 : i32
func.func @f() {
  return
}
