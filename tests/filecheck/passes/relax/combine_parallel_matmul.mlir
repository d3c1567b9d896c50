// RUN: passline-opt %s -p combine-parallel-matmul | filecheck %s
// RUN: passline-opt %s -p 'combine-parallel-matmul{min-num-branches=4}' | filecheck %s --check-prefix=FOUR

// Queries, keys and values of attention: batched data, biases, an activation.
// CHECK-LABEL: @qkv
// CHECK-NEXT: [[W:%.*]] = relax.concatenate %q, %k, %v {axis = 1} : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x6xf32>) -> tensor<4x10xf32>
// CHECK-NEXT: [[P:%.*]] = relax.matmul %x, [[W]] : (tensor<3x5x4xf32>, tensor<4x10xf32>) -> tensor<3x5x10xf32>
// CHECK-NEXT: [[B:%.*]] = relax.concatenate %a, %b, %c :
// CHECK-NEXT: [[S:%.*]] = relax.add [[P]], [[B]] : (tensor<3x5x10xf32>, tensor<10xf32>) -> tensor<3x5x10xf32>
// CHECK-NEXT: [[G:%.*]] = relax.nn.gelu [[S]]
// CHECK-NEXT: {{.*}} = relax.split [[G]] {indices = [2, 4], axis = 2}
// CHECK-NEXT: func.return
// FOUR-LABEL: @qkv
// FOUR-NOT: relax.split
func.func @qkv(%x : tensor<3x5x4xf32>, %q : tensor<4x2xf32>, %k : tensor<4x2xf32>, %v : tensor<4x6xf32>, %a : tensor<2xf32>, %b : tensor<2xf32>, %c : tensor<6xf32>) -> (tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<3x5x6xf32>) {
  %0 = relax.matmul %x, %q : (tensor<3x5x4xf32>, tensor<4x2xf32>) -> tensor<3x5x2xf32>
  %1 = relax.add %0, %a : (tensor<3x5x2xf32>, tensor<2xf32>) -> tensor<3x5x2xf32>
  %2 = relax.nn.gelu %1 : (tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
  %3 = relax.matmul %x, %k : (tensor<3x5x4xf32>, tensor<4x2xf32>) -> tensor<3x5x2xf32>
  %4 = relax.add %3, %b : (tensor<3x5x2xf32>, tensor<2xf32>) -> tensor<3x5x2xf32>
  %5 = relax.nn.gelu %4 : (tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
  %6 = relax.matmul %x, %v : (tensor<3x5x4xf32>, tensor<4x6xf32>) -> tensor<3x5x6xf32>
  %7 = relax.add %6, %c : (tensor<3x5x6xf32>, tensor<6xf32>) -> tensor<3x5x6xf32>
  %8 = relax.nn.gelu %7 : (tensor<3x5x6xf32>) -> tensor<3x5x6xf32>
  return %2, %5, %8 : tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<3x5x6xf32>
}

// A bias at one of two branches only; a scale that both have.
// CHECK-LABEL: @one_bias
// CHECK: [[P:%.*]], [[Q:%.*]] = relax.split
// CHECK-NEXT: relax.add [[P]], %a
// CHECK-NEXT: relax.multiply [[Q]], %s
// CHECK-LABEL: @scaled
// CHECK: [[M:%.*]] = relax.matmul
// CHECK-NEXT: [[N:%.*]] = relax.multiply [[M]], %s
// CHECK-NEXT: [[P:%.*]], [[Q:%.*]] = relax.split [[N]]
func.func @one_bias(%x : tensor<5x4xf32>, %q : tensor<4x2xf32>, %k : tensor<4x2xf32>, %a : tensor<2xf32>, %s : tensor<f32>) -> (tensor<5x2xf32>, tensor<5x2xf32>) {
  %0 = relax.matmul %x, %q : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  %1 = relax.add %0, %a : (tensor<5x2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  %2 = relax.matmul %x, %k : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  %3 = relax.multiply %2, %s : (tensor<5x2xf32>, tensor<f32>) -> tensor<5x2xf32>
  return %1, %3 : tensor<5x2xf32>, tensor<5x2xf32>
}
func.func @scaled(%x : tensor<5x4xf32>, %q : tensor<4x2xf32>, %k : tensor<4x3xf32>, %s : tensor<f32>) -> (tensor<5x2xf32>, tensor<5x3xf32>) {
  %0 = relax.matmul %x, %q : (tensor<5x4xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  %1 = relax.multiply %0, %s : (tensor<5x2xf32>, tensor<f32>) -> tensor<5x2xf32>
  %2 = relax.matmul %x, %k : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  %3 = relax.multiply %2, %s : (tensor<5x3xf32>, tensor<f32>) -> tensor<5x3xf32>
  return %1, %3 : tensor<5x2xf32>, tensor<5x3xf32>
}

// dense, batch_matmul in both forms, batches of matrices, a vector, unknown rows.
// CHECK-LABEL: @kinds
// CHECK: relax.concatenate %w, %w : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: [[D:%.*]] = relax.nn.dense %x
// CHECK-NEXT: relax.split [[D]] {indices = [2], axis = 1} : (tensor<?x4xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>)
// CHECK: relax.concatenate %b, %b {axis = 1}
// CHECK-NEXT: relax.nn.batch_matmul %y
// CHECK: relax.concatenate %c, %c {axis = 2}
// CHECK-NEXT: relax.nn.batch_matmul %y, {{.*}} {transpose_b = false}
// CHECK: relax.concatenate %c, %c {axis = 2}
// CHECK-NEXT: relax.matmul %z
// CHECK: relax.concatenate %m, %m {axis = 1}
// CHECK-NEXT: [[V:%.*]] = relax.matmul %v
// CHECK-NEXT: relax.split [[V]] {indices = [2]}
func.func @kinds(%x : tensor<?x4xf32>, %w : tensor<2x4xf32>, %y : tensor<3x5x4xf32>, %b : tensor<3x2x4xf32>, %c : tensor<3x4x2xf32>, %z : tensor<5x4xf32>, %v : tensor<4xf32>, %m : tensor<4x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = relax.nn.dense %x, %w : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x2xf32>
  %1 = relax.nn.dense %x, %w : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x2xf32>
  %2 = relax.nn.batch_matmul %y, %b : (tensor<3x5x4xf32>, tensor<3x2x4xf32>) -> tensor<3x5x2xf32>
  %3 = relax.nn.batch_matmul %y, %b : (tensor<3x5x4xf32>, tensor<3x2x4xf32>) -> tensor<3x5x2xf32>
  %4 = relax.nn.batch_matmul %y, %c {transpose_b = false} : (tensor<3x5x4xf32>, tensor<3x4x2xf32>) -> tensor<3x5x2xf32>
  %5 = relax.nn.batch_matmul %y, %c {transpose_b = false} : (tensor<3x5x4xf32>, tensor<3x4x2xf32>) -> tensor<3x5x2xf32>
  %6 = relax.matmul %z, %c : (tensor<5x4xf32>, tensor<3x4x2xf32>) -> tensor<3x5x2xf32>
  %7 = relax.matmul %z, %c : (tensor<5x4xf32>, tensor<3x4x2xf32>) -> tensor<3x5x2xf32>
  %8 = relax.matmul %v, %m : (tensor<4xf32>, tensor<4x2xf32>) -> tensor<2xf32>
  %9 = relax.matmul %v, %m : (tensor<4xf32>, tensor<4x2xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<3x5x2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Must not fire: other data, the data as the matrix, a vector as the matrix, unknown columns, other
// batches, other kinds, another type of the sums.
// UNCHANGED: @different
func.func @different(%x : tensor<4x4xf32>, %y : tensor<4x4xf32>, %w : tensor<4x4xf32>, %v : tensor<4xf32>, %u : tensor<4x?xf32>, %b : tensor<2x4x4xf32>, %i : tensor<4x4xi8>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x?xf32>, tensor<4x?xf32>, tensor<2x4x4xf32>, tensor<4x4xf32>, tensor<4x4xi8>, tensor<4x4xi32>) {
  %0 = relax.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relax.matmul %y, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = relax.matmul %x, %v : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.matmul %x, %v : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.matmul %x, %u : (tensor<4x4xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %5 = relax.matmul %x, %u : (tensor<4x4xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %6 = relax.matmul %x, %b : (tensor<4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %7 = relax.nn.dense %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = relax.nn.dense %i, %i : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi8>
  %9 = relax.nn.dense %i, %i {out_dtype = i32} : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x?xf32>, tensor<4x?xf32>, tensor<2x4x4xf32>, tensor<4x4xf32>, tensor<4x4xi8>, tensor<4x4xi32>
}
