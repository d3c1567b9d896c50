// RUN: passline-opt %s -p 'check-conditions{conditions="static-shapes","no-op-of(arith.muli)","only-dialects(func, arith)"}' | filecheck %s
// RUN: passline-opt %s -p check-conditions | filecheck %s
// RUN: not passline-opt %s -p 'check-conditions{conditions="no-op-of(arith.muli, arith.addi)"}' 2>&1 | filecheck %s --check-prefix=BROKEN
// RUN: not passline-opt %s -p 'check-conditions{conditions="static-shape"}' 2>&1 | filecheck %s --check-prefix=UNKNOWN

// BROKEN:      {{.*}}:17:8: error: pass 'check-conditions' requires 'no-op-of(arith.muli, arith.addi)'
// BROKEN-SAME: (there is no arith.muli or arith.addi), which 'arith.addi' breaks
// UNKNOWN:     error: there is no condition 'static-shape', did you mean 'static-shapes'?

// The module does not change.

// CHECK-LABEL: @main
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    func.return
// UNCHANGED: @main
func.func @main(%x : i32) -> i32 {
  %s = arith.addi %x, %x : i32
  func.return %x : i32
}
