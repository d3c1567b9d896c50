// RUN: passline-opt %s -p 'print-ir{header="before"},dead-code-elimination,PrintIR' 2>&1 >/dev/null | filecheck %s --check-prefix=PRINTED
// RUN: passline-opt %s -p 'print-ir{label=now}' 2>&1 >/dev/null | filecheck %s --check-prefix=LABEL
// RUN: passline-opt %s -p print-ir 2>/dev/null | filecheck %s

// The module is printed on stderr, and is not changed.

// PRINTED:      PrintIR(before):
// PRINTED:        arith.addi
// PRINTED:      PrintIR():
// PRINTED-NOT:    arith.addi

// With a label the line before it is that of mlir-opt.
// LABEL:      // -----// IR Dump now //----- //
// LABEL-NEXT: builtin.module

// CHECK-LABEL: @main
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    func.return
func.func @main(%x : i32) -> i32 {
  %s = arith.addi %x, %x : i32
  func.return %x : i32
}
