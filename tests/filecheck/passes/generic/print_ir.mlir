// RUN: passline-opt %s -p 'print-ir{header="before"},fold-constant,PrintIR' 2>&1 >/dev/null | filecheck %s --check-prefix=PRINTED
// RUN: passline-opt %s -p print-ir 2>/dev/null | filecheck %s

// The module is printed on stderr, and is not changed.

// PRINTED:      PrintIR(before):
// PRINTED:        relax.add
// PRINTED:      PrintIR():
// PRINTED-NOT:    relax.add

// CHECK-LABEL: @main
// CHECK-NEXT:    relax.constant
// CHECK-NEXT:    relax.add
// CHECK-NEXT:    func.return
func.func @main() -> tensor<2xf32> {
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = relax.add %c, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %s : tensor<2xf32>
}
