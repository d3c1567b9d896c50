// RUN: passline-opt %s -p print-op-stats 2>&1 >/dev/null | filecheck %s --check-prefix=TEXT --match-full-lines --strict-whitespace
// RUN: passline-opt %s -p 'print-op-stats{json=true}' 2>&1 >/dev/null | filecheck %s --check-prefix=JSON
// RUN: passline-opt %s -p print-op-stats 2>/dev/null | filecheck %s

// The number of ops of each name is printed on stderr, as by mlir-opt; the module is not changed.

//       TEXT:Operations encountered:
//  TEXT-NEXT:-----------------------
//  TEXT-NEXT:    arith.addi     , 2
//  TEXT-NEXT:    arith.constant , 1
//  TEXT-NEXT:  builtin.module   , 1
//  TEXT-NEXT:     func.func     , 2
//  TEXT-NEXT:     func.return   , 1

// JSON:      {
// JSON-NEXT:   "arith.addi" : 2,
// JSON-NEXT:   "arith.constant" : 1,
// JSON-NEXT:   "builtin.module" : 1,
// JSON-NEXT:   "func.func" : 2,
// JSON-NEXT:   "func.return" : 1
// JSON-NEXT: }

// CHECK-LABEL: @f
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    func.return
func.func @f(%a: i32) -> i32 {
  %c = arith.constant 1 : i32
  %b = arith.addi %a, %c : i32
  %d = arith.addi %b, %c : i32
  func.return %d : i32
}
func.func private @g(i32)
