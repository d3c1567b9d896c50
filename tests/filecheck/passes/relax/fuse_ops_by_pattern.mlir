// RUN: passline-opt %s -p 'fuse-ops-by-pattern{patterns="x.matmul_relu=relax.nn.relu(relax.add(relax.matmul(*, const), const))","x.matmul_relu=relax.nn.relu(relax.matmul(*, const))","silu=relax.multiply(%x, relax.sigmoid(%x))"}' --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'fuse-ops-by-pattern{patterns="x.matmul_relu=relax.nn.relu(relax.matmul(*, const))" bind-constants=false},fuse-ops' --split-input-file | filecheck %s --check-prefix=PASSED
// RUN: not passline-opt %s -p 'fuse-ops-by-pattern{patterns="a=relax.add(*, const"}' 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not passline-opt %s -p 'fuse-ops-by-pattern{patterns="a=const"}' 2>&1 | filecheck %s --check-prefix=END

// SYNTAX: 'a': pattern 'relax.add(*, const': expected ',' or ')', got 'the end'
// END: 'a': a pattern ends with an operation

// Constants go with what matches; equal matches are one function, the rest stays.
// CHECK-LABEL: @alternatives
// CHECK-NEXT: [[A:%.*]] = func.call @fused_matmul_relu(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: [[B:%.*]] = func.call @fused_matmul_add_relu([[A]]) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: [[C:%.*]] = func.call @fused_matmul_relu([[B]]) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: [[D:%.*]] = relax.exp [[C]]
// CHECK-NEXT: func.return [[D]]
// CHECK: func.func private @fused_matmul_relu(%{{.*}}: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {relax.primitive, relax.composite = "x.matmul_relu"} {
// CHECK-NEXT: relax.constant
// CHECK-NEXT: relax.matmul
// CHECK-NEXT: relax.nn.relu
// CHECK-NEXT: func.return
// PASSED-LABEL: @alternatives
// PASSED-NEXT: [[W:%.*]] = relax.constant
// PASSED-NEXT: [[A:%.*]] = func.call @fused_matmul_relu(%x, [[W]])
// PASSED-NEXT: [[B:%.*]] = func.call @fused_matmul_add_relu([[A]], [[W]])
// PASSED-NEXT: [[C:%.*]] = func.call @fused_matmul_relu([[B]], [[W]])
// PASSED-NEXT: [[D:%.*]] = func.call @fused_exp([[C]])
// PASSED-NEXT: func.return [[D]]
func.func @alternatives(%x : tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = relax.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = relax.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.nn.relu %0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = relax.matmul %1, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = relax.add %2, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = relax.nn.relu %3 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = relax.matmul %4, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = relax.nn.relu %5 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %7 = relax.exp %6 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %7 : tensor<2x2xf32>
}

// -----

// The same value twice, in either order of a product; not two values.
// CHECK-LABEL: @same_value
// CHECK-NEXT: [[A:%.*]] = func.call @fused_sigmoid_multiply(%x)
// CHECK-NEXT: [[B:%.*]] = func.call @fused_sigmoid_multiply1([[A]])
// CHECK-NEXT: [[C:%.*]] = relax.sigmoid [[B]]
// CHECK-NEXT: [[D:%.*]] = relax.multiply [[C]], %x
// CHECK-NEXT: func.return [[D]]
func.func @same_value(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.multiply %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.sigmoid %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.multiply %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.sigmoid %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = relax.multiply %4, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}

// -----

// What is used outside, or in another block, is not moved.
// CHECK-LABEL: @used_outside
// CHECK-NOT: func.call
// CHECK: func.return
func.func @used_outside(%c : i1, %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = relax.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.multiply %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.sigmoid %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = scf.if %c -> (tensor<4xf32>) {
    %4 = relax.multiply %2, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %4 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0, %1, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
