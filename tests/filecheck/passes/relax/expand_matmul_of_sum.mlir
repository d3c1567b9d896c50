// RUN: passline-opt %s -p expand-matmul-of-sum | filecheck %s
// RUN: passline-opt %s -p expand-matmul-of-sum,adjust-matmul-order | filecheck %s --check-prefix=LORA

// A weight and its update of low rank: with adjust-matmul-order, without the matrix of the update.
// CHECK-LABEL: @lora
// CHECK-NEXT: [[D:%.*]] = relax.matmul %a, %b
// CHECK-NEXT: [[X:%.*]] = relax.matmul %x, %w : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: [[Y:%.*]] = relax.matmul %x, [[D]] : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: [[S:%.*]] = relax.add [[X]], [[Y]] : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: func.return [[S]]

// LORA-LABEL: @lora
// LORA-NEXT: relax.matmul %x, %w
// LORA-NEXT: [[A:%.*]] = relax.matmul %x, %a : (tensor<?x16xf32>, tensor<16x2xf32>) -> tensor<?x2xf32>
// LORA-NEXT: relax.matmul [[A]], %b
// LORA-NEXT: relax.add
func.func @lora(%x: tensor<?x16xf32>, %w: tensor<16x8xf32>, %a: tensor<16x2xf32>, %b: tensor<2x8xf32>) -> tensor<?x8xf32> {
  %0 = relax.matmul %a, %b : (tensor<16x2xf32>, tensor<2x8xf32>) -> tensor<16x8xf32>
  %1 = relax.add %w, %0 : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %2 = relax.matmul %x, %1 : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  func.return %2 : tensor<?x8xf32>
}

// A transposed sum; one of the summands is no weight.
// CHECK-LABEL: @transposed
// CHECK-NEXT: [[A:%.*]] = relax.transpose %w : (tensor<3x4xi8>) -> tensor<4x3xi8>
// CHECK-NEXT: [[X:%.*]] = relax.matmul %x, [[A]] : (tensor<2x4xi8>, tensor<4x3xi8>) -> tensor<2x3xi8>
// CHECK-NEXT: [[B:%.*]] = relax.transpose %d : (tensor<3x4xi8>) -> tensor<4x3xi8>
// CHECK-NEXT: [[Y:%.*]] = relax.matmul %x, [[B]] : (tensor<2x4xi8>, tensor<4x3xi8>) -> tensor<2x3xi8>
// CHECK-NEXT: [[S:%.*]] = relax.add [[X]], [[Y]]
// CHECK-NEXT: [[C:%.*]] = relax.nn.dense %x, %w
// CHECK-NEXT: [[D:%.*]] = relax.nn.dense %x, %d
// CHECK-NEXT: [[T:%.*]] = relax.add [[C]], [[D]]
// CHECK-NEXT: func.return [[S]], [[T]]
func.func @transposed(%x: tensor<2x4xi8>, %d: tensor<3x4xi8>, %w: tensor<3x4xi8>) -> (tensor<2x3xi8>, tensor<2x3xi8>) attributes {num_input = 2 : i64} {
  %0 = relax.add %w, %d : (tensor<3x4xi8>, tensor<3x4xi8>) -> tensor<3x4xi8>
  %1 = relax.transpose %0 : (tensor<3x4xi8>) -> tensor<4x3xi8>
  %2 = relax.matmul %x, %1 : (tensor<2x4xi8>, tensor<4x3xi8>) -> tensor<2x3xi8>
  %3 = relax.add %w, %d : (tensor<3x4xi8>, tensor<3x4xi8>) -> tensor<3x4xi8>
  %4 = relax.nn.dense %x, %3 : (tensor<2x4xi8>, tensor<3x4xi8>) -> tensor<2x3xi8>
  func.return %2, %4 : tensor<2x3xi8>, tensor<2x3xi8>
}

// Must not fire: the sum is computed of weights alone, once.
// UNCHANGED: @weights
func.func @weights(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>) -> tensor<2x3xf32> attributes {num_input = 1 : i64} {
  %c = relax.constant dense<1.0> : tensor<4x3xf32>
  %0 = relax.exp %w : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = relax.add %0, %c : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = relax.matmul %x, %1 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// Must not fire: a summand broadcasts, or may.
// UNCHANGED: @broadcast
func.func @broadcast(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>, %b: tensor<3xf32>, %y: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = relax.add %w, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = relax.matmul %x, %0 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %2 = relax.add %w, %y : (tensor<4x3xf32>, tensor<?x3xf32>) -> tensor<4x3xf32>
  %3 = relax.matmul %x, %2 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  func.return %1, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}

// Must not fire: the sum is needed itself; a sum of bytes would wrap around, its products not.
// UNCHANGED: @needed
func.func @needed(%x: tensor<2x4xi8>, %w: tensor<4x3xi8>, %d: tensor<4x3xi8>) -> (tensor<2x3xi8>, tensor<4x3xi8>, tensor<2x3xi32>) {
  %0 = relax.add %w, %d : (tensor<4x3xi8>, tensor<4x3xi8>) -> tensor<4x3xi8>
  %1 = relax.matmul %x, %0 : (tensor<2x4xi8>, tensor<4x3xi8>) -> tensor<2x3xi8>
  %2 = relax.add %w, %d : (tensor<4x3xi8>, tensor<4x3xi8>) -> tensor<4x3xi8>
  %3 = relax.matmul %x, %2 {out_dtype = i32} : (tensor<2x4xi8>, tensor<4x3xi8>) -> tensor<2x3xi32>
  func.return %1, %0, %3 : tensor<2x3xi8>, tensor<4x3xi8>, tensor<2x3xi32>
}
