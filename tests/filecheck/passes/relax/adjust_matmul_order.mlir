// RUN: passline-opt %s -p adjust-matmul-order | filecheck %s

// A product of low rank, for any number of rows.
// CHECK-LABEL: @low_rank
// CHECK-NEXT: [[A:%.*]] = relax.matmul %x, %a : (tensor<?x?x16xf32>, tensor<16x2xf32>) -> tensor<?x?x2xf32>
// CHECK-NEXT: [[B:%.*]] = relax.matmul [[A]], %b : (tensor<?x?x2xf32>, tensor<2x8xf32>) -> tensor<?x?x8xf32>
// CHECK-NEXT: func.return [[B]]
func.func @low_rank(%x : tensor<?x?x16xf32>, %a : tensor<16x2xf32>, %b : tensor<2x8xf32>) -> tensor<?x?x8xf32> {
  %0 = relax.matmul %a, %b : (tensor<16x2xf32>, tensor<2x8xf32>) -> tensor<16x8xf32>
  %1 = relax.matmul %x, %0 : (tensor<?x?x16xf32>, tensor<16x8xf32>) -> tensor<?x?x8xf32>
  return %1 : tensor<?x?x8xf32>
}

// Matrices that are small beside the number of rows.
// CHECK-LABEL: @many_rows
// CHECK-NEXT: [[A:%.*]] = relax.matmul %a, %b : (tensor<2x9xi32>, tensor<9x3xi32>) -> tensor<2x3xi32>
// CHECK-NEXT: [[B:%.*]] = relax.matmul %x, [[A]] : (tensor<50x2xi32>, tensor<2x3xi32>) -> tensor<50x3xi32>
// CHECK-NEXT: func.return [[B]]
func.func @many_rows(%x : tensor<50x2xi32>, %a : tensor<2x9xi32>, %b : tensor<9x3xi32>) -> tensor<50x3xi32> {
  %0 = relax.matmul %x, %a : (tensor<50x2xi32>, tensor<2x9xi32>) -> tensor<50x9xi32>
  %1 = relax.matmul %0, %b : (tensor<50x9xi32>, tensor<9x3xi32>) -> tensor<50x3xi32>
  return %1 : tensor<50x3xi32>
}

// A vector has one row. A chain of three is computed from the left.
// CHECK-LABEL: @vector
// CHECK-NEXT: [[A:%.*]] = relax.matmul %x, %a : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<8xf32>
// CHECK-NEXT: [[B:%.*]] = relax.matmul [[A]], %a
// CHECK-NEXT: [[C:%.*]] = relax.matmul [[B]], %a
// CHECK-NEXT: func.return [[C]]
func.func @vector(%x : tensor<8xf32>, %a : tensor<8x8xf32>) -> tensor<8xf32> {
  %0 = relax.matmul %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = relax.matmul %a, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = relax.matmul %x, %1 : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Must not fire: the better order depends on the number of rows.
// UNCHANGED: @unknown
func.func @unknown(%x : tensor<?x8xf32>, %a : tensor<8x8xf32>, %b : tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = relax.matmul %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = relax.matmul %x, %0 : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// Must not fire: as many multiplications in both orders.
// UNCHANGED: @equal
func.func @equal(%a : tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = relax.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relax.matmul %a, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Must not fire: the inner product has another use.
// UNCHANGED: @used
func.func @used(%x : tensor<1x16xf32>, %a : tensor<16x2xf32>, %b : tensor<2x8xf32>) -> (tensor<1x8xf32>, tensor<16x8xf32>) {
  %0 = relax.matmul %a, %b : (tensor<16x2xf32>, tensor<2x8xf32>) -> tensor<16x8xf32>
  %1 = relax.matmul %x, %0 : (tensor<1x16xf32>, tensor<16x8xf32>) -> tensor<1x8xf32>
  return %1, %0 : tensor<1x8xf32>, tensor<16x8xf32>
}

// Must not fire: sums of another type; batches of matrices.
// UNCHANGED: @others
func.func @others(%x : tensor<1x16xf16>, %a : tensor<16x2xf16>, %b : tensor<2x8xf16>, %c : tensor<3x16x2xf16>, %d : tensor<3x2x8xf16>) -> (tensor<1x8xf32>, tensor<3x1x8xf16>) {
  %0 = relax.matmul %a, %b : (tensor<16x2xf16>, tensor<2x8xf16>) -> tensor<16x8xf16>
  %1 = relax.matmul %x, %0 {out_dtype = f32} : (tensor<1x16xf16>, tensor<16x8xf16>) -> tensor<1x8xf32>
  %2 = relax.matmul %c, %d : (tensor<3x16x2xf16>, tensor<3x2x8xf16>) -> tensor<3x16x8xf16>
  %3 = relax.matmul %x, %2 : (tensor<1x16xf16>, tensor<3x16x8xf16>) -> tensor<3x1x8xf16>
  return %1, %3 : tensor<1x8xf32>, tensor<3x1x8xf16>
}
