// RUN: passline-opt %s -p infer-type,dead-code-elimination,infer-type,infer-type --debug-pass-manager 2>&1 >/dev/null | filecheck %s --check-prefix=LOG --match-full-lines --strict-whitespace
// RUN: passline-opt %s -p infer-type,dead-code-elimination --timing 2>&1 >/dev/null | filecheck %s --check-prefix=TIMING

// An analysis is computed when a pass asks for it, and kept until a pass changes what it is about.

//      LOG:Running pass: sequential on builtin.module
// LOG-NEXT:  Running pass: infer-type on builtin.module
// LOG-NEXT:    Running analysis: CallGraph on builtin.module
// LOG-NEXT:  Running pass: dead-code-elimination on builtin.module
// LOG-NEXT:    Running analysis: Purity on builtin.module
// LOG-NEXT:    Invalidating analysis: CallGraph on builtin.module
// LOG-NEXT:    Invalidating analysis: Purity on builtin.module
// LOG-NEXT:  Running pass: infer-type on builtin.module
// LOG-NEXT:    Running analysis: CallGraph on builtin.module
// LOG-NEXT:  Running pass: infer-type on builtin.module
//  LOG-NOT:{{.}}

// TIMING:      {{[0-9.]+ \( *[0-9.]+%\) +[0-9.]+    infer-type$}}
// TIMING-NEXT: {{[0-9.]+ \( *[0-9.]+%\) +[0-9.]+      \(A\) CallGraph$}}

// The branch keeps infer-type from seeing at once that all types are settled.
func.func @f(%x : tensor<2xf32>, %c : i1) -> tensor<2xf32> {
  %0 = relax.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = scf.if %c -> (tensor<2xf32>) {
    %2 = relax.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %2 : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  return %1 : tensor<2xf32>
}
