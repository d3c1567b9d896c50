// RUN: passline-opt %s -p "**func.func(cse)" | filecheck %s --check-prefix=ALL
// RUN: passline-opt %s -p "func.func{name=\"[fg]\"}(cse)" | filecheck %s --check-prefix=NAMED
// RUN: passline-opt %s -p "func.func(cse,canonicalize),**func.func{name=\"g\"}(cse)" --dump-pass-pipeline 2>&1 >/dev/null | filecheck %s --check-prefix=TREE
// RUN: passline-opt %s -p "func.func(cse)" --print-ir-after-change 2>&1 >/dev/null | filecheck %s --check-prefix=CHANGED
// RUN: passline-opt %s -p "func.func(cse),builtin.module(builtin.module(func.func(cse)))" --pass-statistics=pipeline 2>&1 >/dev/null | filecheck %s --check-prefix=COUNTS
// RUN: not passline-opt --pass-pipeline=cse --canonicalize %s 2>&1 | filecheck %s --check-prefix=BOTH

// Which functions a pass visits, and what reports say of it.

// ALL:          func.func @f
// ALL-NEXT:       arith.constant
// ALL-NEXT:       func.return
// ALL:          func.func @other
// ALL-NEXT:       arith.constant
// ALL-NEXT:       func.return
// ALL:          func.func @g
// ALL-NEXT:       arith.constant
// ALL-NEXT:       func.return

// NAMED:        func.func @f
// NAMED-NEXT:     arith.constant
// NAMED-NEXT:     func.return
// NAMED:        func.func @other
// NAMED-COUNT-2:  arith.constant
// NAMED:        func.func @g
// NAMED-COUNT-2:  arith.constant

// TREE:      builtin.module(
// TREE-NEXT:   func.func(
// TREE-NEXT:     cse,
// TREE-NEXT:     canonicalize{{{.*}}}
// TREE-NEXT:   ),
// TREE-NEXT:   **func.func{name="g"}(
// TREE-NEXT:     cse
// TREE-NEXT:   )
// TREE-NEXT: )

// CHANGED:      IR Dump At Start
// CHANGED:      IR Dump After cse: func.func(cse)
// CHANGED-NEXT: func.func @f
// CHANGED:      IR Dump After cse: func.func(cse)
// CHANGED-NEXT: func.func @other
// CHANGED-NOT:  IR Dump

// COUNTS:      'func.func' Pipeline
// COUNTS-NEXT:   cse: 1 run, 1 changed
// COUNTS-NEXT:     (S) 2 merged
// COUNTS-NEXT: 'builtin.module' Pipeline
// COUNTS-NEXT:   'func.func' Pipeline
// COUNTS-NEXT:     cse: 1 run, 1 changed
// COUNTS-NEXT:       (S) 1 merged

// BOTH: --pass-pipeline gives the whole pipeline, and cannot stand beside --canonicalize

func.func @f() -> (i32, i32) {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 1 : i32
  func.return %0, %1 : i32, i32
}
func.func @other() -> (i32, i32) {
  %0 = arith.constant 2 : i32
  %1 = arith.constant 2 : i32
  func.return %0, %1 : i32, i32
}
func.func @same() {
  func.return
}
builtin.module @inner {
  func.func @g() -> (i32, i32) {
    %0 = arith.constant 3 : i32
    %1 = arith.constant 3 : i32
    func.return %0, %1 : i32, i32
  }
}
