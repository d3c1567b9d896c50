// RUN: passline-opt %s -p reorder-take-after-matmul | filecheck %s

// Columns of a matrix, for any number of rows.
// CHECK-LABEL: @columns
// CHECK-NEXT: [[A:%.*]] = relax.matmul %x, %table : (tensor<?x2x4xf32>, tensor<4x5xf32>) -> tensor<?x2x5xf32>
// CHECK-NEXT: [[B:%.*]] = relax.take [[A]], %i {axis = 2, mode = "wrap"} : (tensor<?x2x5xf32>, tensor<3xi64>) -> tensor<?x2x3xf32>
// CHECK-NEXT: func.return [[B]]
func.func @columns(%x: tensor<?x2x4xf32>, %table: tensor<4x5xf32>, %i: tensor<3xi64>) -> tensor<?x2x3xf32> {
  %0 = relax.take %table, %i {axis = -1, mode = "wrap"} : (tensor<4x5xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  %1 = relax.matmul %x, %0 : (tensor<?x2x4xf32>, tensor<4x3xf32>) -> tensor<?x2x3xf32>
  func.return %1 : tensor<?x2x3xf32>
}

// Of a batch of matrices; rows of the weight of a dense layer; sums of another type.
// CHECK-LABEL: @others
// CHECK-NEXT: [[A:%.*]] = relax.matmul %x, %table : (tensor<4xi8>, tensor<2x4x5xi8>) -> tensor<2x5xi8>
// CHECK-NEXT: [[B:%.*]] = relax.take [[A]], %i {axis = 1} : (tensor<2x5xi8>, tensor<3xi32>) -> tensor<2x3xi8>
// CHECK-NEXT: [[C:%.*]] = relax.nn.dense %x, %rows {out_dtype = i32} : (tensor<4xi8>, tensor<5x4xi8>) -> tensor<5xi32>
// CHECK-NEXT: [[D:%.*]] = relax.take [[C]], %i {axis = 0} : (tensor<5xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT: func.return [[B]], [[D]]
func.func @others(%x: tensor<4xi8>, %table: tensor<2x4x5xi8>, %rows: tensor<5x4xi8>, %i: tensor<3xi32>) -> (tensor<2x3xi8>, tensor<3xi32>) {
  %0 = relax.take %table, %i {axis = 2} : (tensor<2x4x5xi8>, tensor<3xi32>) -> tensor<2x4x3xi8>
  %1 = relax.matmul %x, %0 : (tensor<4xi8>, tensor<2x4x3xi8>) -> tensor<2x3xi8>
  %2 = relax.take %rows, %i {axis = 0} : (tensor<5x4xi8>, tensor<3xi32>) -> tensor<3x4xi8>
  %3 = relax.nn.dense %x, %2 {out_dtype = i32} : (tensor<4xi8>, tensor<3x4xi8>) -> tensor<3xi32>
  func.return %1, %3 : tensor<2x3xi8>, tensor<3xi32>
}

// A matrix for each batch: one product with all matrices, of which each batch takes its part.
// CHECK-LABEL: @lora
// CHECK-NEXT: [[T:%.*]] = relax.transpose %table {axes = [1, 0, 2]} : (tensor<3x4x2xf32>) -> tensor<4x3x2xf32>
// CHECK-NEXT: [[M:%.*]] = relax.reshape [[T]] {newshape = [4, 6]}
// CHECK-NEXT: [[P:%.*]] = relax.matmul %x, [[M]] : (tensor<5x7x4xf32>, tensor<4x6xf32>) -> tensor<5x7x6xf32>
// CHECK-NEXT: [[R:%.*]] = relax.reshape [[P]] {newshape = [5, 7, 3, 2]}
// CHECK-NEXT: [[N:%.*]] = relax.constant dense<[0, 1, 2]>
// CHECK-NEXT: [[V:%.*]] = relax.take [[N]], %i {axis = 0, mode = "wrap"}
// CHECK-NEXT: relax.reshape [[V]] {newshape = [5, 1, 1, 1]}
// CHECK-NEXT: [[B:%.*]] = relax.broadcast_to
// CHECK-NEXT: [[G:%.*]] = relax.gather [[R]], [[B]] {axis = 2}
// CHECK-NEXT: [[Z:%.*]] = relax.reshape [[G]] {newshape = [5, 7, 2]}
// CHECK-NEXT: func.return [[Z]]
func.func @lora(%x: tensor<5x7x4xf32>, %table: tensor<3x4x2xf32>, %i: tensor<5xi64>) -> tensor<5x7x2xf32> {
  %0 = relax.take %table, %i {axis = 0, mode = "wrap"} : (tensor<3x4x2xf32>, tensor<5xi64>) -> tensor<5x4x2xf32>
  %1 = relax.matmul %x, %0 : (tensor<5x7x4xf32>, tensor<5x4x2xf32>) -> tensor<5x7x2xf32>
  func.return %1 : tensor<5x7x2xf32>
}

// Must not fire: the matrix is needed itself.
// UNCHANGED: @needed
func.func @needed(%x: tensor<2x4xf32>, %table: tensor<4x5xf32>, %i: tensor<3xi64>) -> (tensor<2x3xf32>, tensor<4x3xf32>) {
  %0 = relax.take %table, %i {axis = 1} : (tensor<4x5xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  %1 = relax.matmul %x, %0 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  func.return %1, %0 : tensor<2x3xf32>, tensor<4x3xf32>
}

// Must not fire: the terms are taken; the indices are a scalar, or a matrix; the table is flat.
// UNCHANGED: @other_axes
func.func @other_axes(%x: tensor<2x3xf32>, %table: tensor<5x4xf32>, %i: tensor<3xi64>, %s: tensor<i64>, %m: tensor<3x4xi64>) -> (tensor<2x4xf32>, tensor<2xf32>, tensor<2x4xf32>) {
  %0 = relax.take %table, %i {axis = 0} : (tensor<5x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %1 = relax.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = relax.transpose %0 : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %3 = relax.take %2, %s {axis = 0} : (tensor<4x3xf32>, tensor<i64>) -> tensor<3xf32>
  %4 = relax.matmul %x, %3 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  %5 = relax.take %table, %m : (tensor<5x4xf32>, tensor<3x4xi64>) -> tensor<3x4xf32>
  %6 = relax.matmul %x, %5 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %1, %4, %6 : tensor<2x4xf32>, tensor<2xf32>, tensor<2x4xf32>
}

// Must not fire: the data has one matrix for all batches, or the shapes are unknown.
// UNCHANGED: @other_batches
func.func @other_batches(%x: tensor<7x4xf32>, %y: tensor<?x7x4xf32>, %table: tensor<3x4x2xf32>, %i: tensor<5xi64>, %j: tensor<?xi64>) -> (tensor<5x7x2xf32>, tensor<?x7x2xf32>) {
  %0 = relax.take %table, %i {axis = 0} : (tensor<3x4x2xf32>, tensor<5xi64>) -> tensor<5x4x2xf32>
  %1 = relax.matmul %x, %0 : (tensor<7x4xf32>, tensor<5x4x2xf32>) -> tensor<5x7x2xf32>
  %2 = relax.take %table, %j {axis = 0} : (tensor<3x4x2xf32>, tensor<?xi64>) -> tensor<?x4x2xf32>
  %3 = relax.matmul %y, %2 : (tensor<?x7x4xf32>, tensor<?x4x2xf32>) -> tensor<?x7x2xf32>
  func.return %1, %3 : tensor<5x7x2xf32>, tensor<?x7x2xf32>
}
