// RUN: passline-opt %s -p lower-scf --no-print --check-conditions=never
// RUN: not passline-opt %s -p canonicalize,lower-func --check-conditions 2>&1 | filecheck %s
// RUN: not passline-opt %s -p canonicalize,lower-func --check-conditions=always 2>&1 | filecheck %s
// RUN: not passline-opt %s --check-conditions=sometimes 2>&1 | filecheck %s --check-prefix=CHOICE
// RUN: passline-opt --help-pass=lower-func | filecheck %s --check-prefix=HELP

// CHECK:      error: pass 'lower-func' requires 'llvm-signatures' (the parameters and results of functions have a form in llvm),
// CHECK-SAME: but @f has tensor<4xf32> as a parameter or result: plan-memory makes buffers of tensors
// CHECK:      note: no pass has changed it
// CHECK:      note: in pass 'lower-func' (2 of 2)

// CHOICE: argument --check-conditions: invalid choice: 'sometimes' (choose from 'never', 'changed', 'always')

// HELP: requires that the parameters and results of functions have a form in llvm (llvm-signatures)

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
