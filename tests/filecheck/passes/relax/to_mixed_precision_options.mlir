// RUN: passline-opt %s -p 'to-mixed-precision{always=relax.nn.softmax follow=relax.exp never=relax.matmul}' | filecheck %s
// RUN: not passline-opt %s -p 'to-mixed-precision{always=relax.nn.softmux}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not passline-opt %s -p 'to-mixed-precision{always=func.call}' 2>&1 | filecheck %s --check-prefix=KIND
// RUN: not passline-opt %s -p 'to-mixed-precision{always=relax.exp never=relax.exp}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not passline-opt %s -p 'to-mixed-precision{dtype=f8}' 2>&1 | filecheck %s --check-prefix=DTYPE

// NAME: error: always: unknown operation 'relax.nn.softmux', did you mean 'relax.nn.softmax'?
// KIND: error: always: the types are not inferred of 'func.call'
// TWICE: error: 'relax.exp' is in the lists always and never
// DTYPE: dtype

// CHECK-LABEL: @lists
// CHECK: relax.nn.softmax {{.*}} -> tensor<2x2xf16>
// CHECK-NEXT: relax.exp {{.*}} -> tensor<2x2xf16>
// CHECK: relax.matmul {{.*}} -> tensor<2x2xf32>
func.func @lists(%x : tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = relax.nn.softmax %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.exp %0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = relax.matmul %1, %1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
