// RUN: passline-opt %s -p fuse-transpose-matmul | filecheck %s

// The weight of a linear layer, of one matrix for all rows.
// CHECK-LABEL: @linear
// CHECK-NEXT: [[A:%.*]] = relax.nn.dense %x, %w : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: func.return [[A]]
func.func @linear(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>) -> tensor<2x3x5xf32> {
  %0 = relax.transpose %w : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %1 = relax.matmul %x, %0 : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  func.return %1 : tensor<2x3x5xf32>
}

// Batches of matrices of unknown size, and sums of another type.
// CHECK-LABEL: @batches
// CHECK-NEXT: [[A:%.*]] = relax.nn.batch_matmul %q, %k {out_dtype = f32} : (tensor<?x2x?x4xf16>, tensor<?x2x?x4xf16>) -> tensor<?x2x?x?xf32>
// CHECK-NEXT: func.return [[A]]
func.func @batches(%q: tensor<?x2x?x4xf16>, %k: tensor<?x2x?x4xf16>) -> tensor<?x2x?x?xf32> {
  %0 = relax.transpose %k {axes = [0, 1, -1, -2]} : (tensor<?x2x?x4xf16>) -> tensor<?x2x4x?xf16>
  %1 = relax.matmul %q, %0 {out_dtype = f32} : (tensor<?x2x?x4xf16>, tensor<?x2x4x?xf16>) -> tensor<?x2x?x?xf32>
  func.return %1 : tensor<?x2x?x?xf32>
}

// On the left, on both sides, and a matrix times its own transpose.
// CHECK-LABEL: @left
// CHECK-NEXT: [[A:%.*]] = relax.nn.batch_matmul %x, %y {transpose_a = true, transpose_b = false} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: [[B:%.*]] = relax.nn.batch_matmul %x, %z {transpose_a = true} : (tensor<4x3xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: [[C:%.*]] = relax.nn.batch_matmul %x, %x {transpose_a = true, transpose_b = false} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
// CHECK-NEXT: func.return [[A]], [[B]], [[C]]
func.func @left(%x: tensor<4x3xf32>, %y: tensor<4x5xf32>, %z: tensor<5x4xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x3xf32>) {
  %0 = relax.transpose %x : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = relax.transpose %z : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %2 = relax.matmul %0, %y : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %3 = relax.matmul %0, %1 : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %4 = relax.matmul %0, %x : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  func.return %2, %3, %4 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x3xf32>
}

// Both operands are the same transpose.
// CHECK-LABEL: @square
// CHECK-NEXT: [[A:%.*]] = relax.nn.batch_matmul %x, %x {transpose_a = true} : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
// CHECK-NEXT: func.return [[A]]
func.func @square(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = relax.transpose %x : (tensor<4x4xi32>) -> tensor<4x4xi32>
  %1 = relax.matmul %0, %0 : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  func.return %1 : tensor<4x4xi32>
}

// Products that transpose an operand themselves.
// CHECK-LABEL: @transposed_twice
// CHECK-NEXT: [[A:%.*]] = relax.matmul %x, %w : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: [[B:%.*]] = relax.nn.batch_matmul %y, %w {transpose_a = true, transpose_b = false} : (tensor<2x4x3xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: func.return [[A]], [[B]]
func.func @transposed_twice(%x: tensor<3x4xf32>, %y: tensor<2x4x3xf32>, %w: tensor<4x5xf32>) -> (tensor<3x5xf32>, tensor<2x3x5xf32>) {
  %0 = relax.transpose %w : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %1 = relax.nn.dense %x, %0 : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %2 = relax.nn.batch_matmul %y, %0 {transpose_a = true} : (tensor<2x4x3xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
  func.return %1, %2 : tensor<3x5xf32>, tensor<2x3x5xf32>
}

// A vector changes sides.
// CHECK-LABEL: @vectors
// CHECK-NEXT: [[A:%.*]] = relax.nn.dense %u, %w : (tensor<4xf32>, tensor<5x4xf32>) -> tensor<5xf32>
// CHECK-NEXT: [[B:%.*]] = relax.matmul %v, %w : (tensor<5xf32>, tensor<5x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: func.return [[A]], [[B]]
func.func @vectors(%u: tensor<4xf32>, %v: tensor<5xf32>, %w: tensor<5x4xf32>) -> (tensor<5xf32>, tensor<4xf32>) {
  %0 = relax.transpose %w : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %1 = relax.matmul %u, %0 : (tensor<4xf32>, tensor<4x5xf32>) -> tensor<5xf32>
  %2 = relax.matmul %0, %v : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4xf32>
  func.return %1, %2 : tensor<5xf32>, tensor<4xf32>
}

// In a branch.
// CHECK-LABEL: @branch
// CHECK: scf.if
// CHECK-NEXT: [[A:%.*]] = relax.nn.dense %x, %w
func.func @branch(%c: i1, %x: tensor<3x4xf32>, %w: tensor<3x4xf32>) -> tensor<3x3xf32> {
  %0 = relax.transpose %w : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = scf.if %c -> (tensor<3x3xf32>) {
    %2 = relax.matmul %x, %0 : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
    scf.yield %2 : tensor<3x3xf32>
  } else {
    %3 = relax.matmul %w, %0 : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
    scf.yield %3 : tensor<3x3xf32>
  }
  func.return %1 : tensor<3x3xf32>
}

// Must not fire: the transpose is a result too.
// UNCHANGED: @needed
func.func @needed(%x: tensor<3x4xf32>, %w: tensor<5x4xf32>) -> (tensor<3x5xf32>, tensor<4x5xf32>) {
  %0 = relax.transpose %w : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %1 = relax.matmul %x, %0 : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  func.return %1, %0 : tensor<3x5xf32>, tensor<4x5xf32>
}

// Must not fire: another order of the dimensions, or too few.
// UNCHANGED: @others
func.func @others(%x: tensor<2x3x4xf32>, %w: tensor<4x5x2xf32>, %v: tensor<4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>) {
  %0 = relax.transpose %w {axes = [2, 0, 1]} : (tensor<4x5x2xf32>) -> tensor<2x4x5xf32>
  %1 = relax.matmul %x, %0 : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %2 = relax.transpose %v : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.matmul %x, %2 : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3x5xf32>, tensor<2x3xf32>
}

// Must not fire: a vector and a batch of matrices.
// UNCHANGED: @vector_and_batch
func.func @vector_and_batch(%v: tensor<4xf32>, %w: tensor<2x5x4xf32>) -> tensor<2x5xf32> {
  %0 = relax.transpose %w {axes = [0, 2, 1]} : (tensor<2x5x4xf32>) -> tensor<2x4x5xf32>
  %1 = relax.matmul %v, %0 : (tensor<4xf32>, tensor<2x4x5xf32>) -> tensor<2x5xf32>
  func.return %1 : tensor<2x5xf32>
}

// Must not fire: the transpose of a constant is computed once.
// UNCHANGED: @constant
func.func @constant(%x: tensor<1x2xf32>) -> tensor<1x3xf32> {
  %w = relax.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %0 = relax.transpose %w : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %1 = relax.matmul %x, %0 : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<1x3xf32>
  func.return %1 : tensor<1x3xf32>
}

// Must not fire: the rank is not known.
// UNCHANGED: @rank
func.func @rank(%x: tensor<*xf32>, %y: tensor<*xf32>, %w: tensor<5x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = relax.transpose %y : (tensor<*xf32>) -> tensor<*xf32>
  %1 = relax.matmul %x, %0 : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %2 = relax.transpose %w : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %3 = relax.matmul %x, %2 : (tensor<*xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  func.return %1, %3 : tensor<*xf32>, tensor<*xf32>
}
