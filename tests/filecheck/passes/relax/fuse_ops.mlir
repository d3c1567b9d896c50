// RUN: passline-opt %s -p fuse-ops --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'fuse-ops{max-depth=11}' --split-input-file | filecheck %s --check-prefix=DEPTH
// RUN: passline-opt %s -p 'fuse-ops{fuse-opt-level=0}' --split-input-file | filecheck %s --check-prefix=LEVEL0

// A chain; the scalar is in the function, and nothing of it is left outside.
// CHECK-LABEL: @simple
// CHECK-NEXT: [[R:%.*]] = func.call @fused_add_exp_squeeze(%x) : (tensor<1x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: func.return [[R]] : tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @fused_add_exp_squeeze(%x: tensor<1x4xf32>) -> tensor<4xf32> attributes {relax.primitive} {
// CHECK-NEXT: [[C:%.*]] = relax.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: [[A:%.*]] = relax.add %x, [[C]]
// CHECK-NEXT: [[B:%.*]] = relax.exp [[A]]
// CHECK-NEXT: [[D:%.*]] = relax.squeeze [[B]]
// CHECK-NEXT: func.return [[D]]
// CHECK-NEXT: }
// LEVEL0-LABEL: @simple
// LEVEL0-NEXT: func.call @fused_add(%x)
// LEVEL0-NEXT: func.call @fused_exp
// LEVEL0-NEXT: relax.squeeze
func.func @simple(%x : tensor<1x4xf32>) -> tensor<4xf32> {
  %c = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.add %x, %c : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %1 = relax.exp %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = relax.squeeze %1 : (tensor<1x4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Other constants are parameters.
// CHECK-LABEL: @constants
// CHECK-NEXT: [[C:%.*]] = relax.constant
// CHECK-NEXT: [[F:%.*]] = relax.full
// CHECK-NEXT: func.call @fused_add_multiply(%x, [[C]], [[F]])
func.func @constants(%x : tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %f = relax.full 0.5 : tensor<2x2xf32>
  %0 = relax.add %x, %c : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %1 = relax.multiply %0, %f : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

// The sum of two products goes with one of them, the later.
// CHECK-LABEL: @two_anchors
// CHECK-NEXT: [[X:%.*]] = func.call @fused_add(%x)
// CHECK-NEXT: [[Y:%.*]] = func.call @fused_matmul_add_add([[X]], %w1)
// CHECK-NEXT: [[Z2:%.*]] = func.call @fused_matmul([[Y]], %w2)
// CHECK-NEXT: [[Z:%.*]] = func.call @fused_matmul_add([[Y]], %w3, [[Z2]])
// CHECK-NEXT: func.return [[Z]]
func.func @two_anchors(%x : tensor<4x4xf32>, %w1 : tensor<4x4xf32>, %w2 : tensor<4x4xf32>, %w3 : tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = relax.constant dense<1.0> : tensor<f32>
  %x1 = relax.add %x, %c : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %y = relax.matmul %x1, %w1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y1 = relax.add %c, %y : (tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y2 = relax.add %y, %y1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %z2 = relax.matmul %y2, %w2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %z3 = relax.matmul %y2, %w3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = relax.add %z2, %z3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}

// -----

// Residual blocks: bias, sum and relu go with the later product; x is used around it.
// CHECK-LABEL: @residual
// CHECK-NEXT: [[A:%.*]] = func.call @fused_matmul_add_relu(%x, %w, %b)
// CHECK-NEXT: [[B:%.*]] = func.call @fused_matmul_add_add_relu([[A]], %w, %b, %x)
// CHECK-NEXT: [[C:%.*]] = func.call @fused_matmul_add_relu([[B]], %w, %b)
// CHECK-NEXT: [[D:%.*]] = func.call @fused_matmul_add_add_relu([[C]], %w, %b, [[B]])
// CHECK-NEXT: func.return [[D]]
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @fused_matmul_add_relu(
// CHECK: func.func private @fused_matmul_add_add_relu(
// CHECK-NOT: func.func private
func.func @residual(%x : tensor<4x4xf32>, %w : tensor<4x4xf32>, %b : tensor<4xf32>) -> tensor<4x4xf32> {
  %0 = relax.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relax.add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = relax.nn.relu %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = relax.matmul %2, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = relax.add %3, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %5 = relax.add %4, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = relax.nn.relu %5 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = relax.matmul %6, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = relax.add %7, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %9 = relax.nn.relu %8 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %10 = relax.matmul %9, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %11 = relax.add %10, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %12 = relax.add %11, %6 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %13 = relax.nn.relu %12 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %13 : tensor<4x4xf32>
}

// -----

// An anchor takes what is element-wise on its result: not what makes it larger, or moves it.
// CHECK-LABEL: @not_elementwise
// CHECK-NEXT: [[M:%.*]] = func.call @fused_matmul(%x, %y)
// CHECK-NEXT: [[A:%.*]] = func.call @fused_add([[M]], %z)
// CHECK-NEXT: [[N:%.*]] = func.call @fused_matmul1([[A]], %x)
// CHECK-NEXT: [[T:%.*]] = func.call @fused_transpose([[N]])
// CHECK-NEXT: func.return [[T]]
func.func @not_elementwise(%x : tensor<1x4xf32>, %y : tensor<4x1xf32>, %z : tensor<4x1xf32>) -> tensor<4x4xf32> {
  %0 = relax.matmul %x, %y : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
  %1 = relax.add %0, %z : (tensor<1x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = relax.matmul %1, %x : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %3 = relax.transpose %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Moves go with what follows that is not more than a move, in two branches too.
// CHECK-LABEL: @concatenate
// CHECK-NEXT: [[M:%.*]] = func.call @fused_matmul(%x)
// CHECK-NEXT: [[C:%.*]] = func.call @fused_tile_concatenate_add([[M]])
// CHECK-NEXT: func.return [[C]]
func.func @concatenate(%x : tensor<2x2xf32>) -> tensor<6x2xf32> {
  %c = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.tile %0 {reps = [2, 1]} : (tensor<2x2xf32>) -> tensor<4x2xf32>
  %2 = relax.concatenate %1, %0 : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<6x2xf32>
  %3 = relax.add %2, %c : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x2xf32>
  return %3 : tensor<6x2xf32>
}

// -----

// A tuple is made outside.
// CHECK-LABEL: @tuple_root
// CHECK-NEXT: [[M:%.*]] = func.call @fused_matmul(%x)
// CHECK-NEXT: [[T:%.*]] = func.call @fused_tile([[M]])
// CHECK-NEXT: [[R:%.*]] = relax.tuple [[T]], %x
// CHECK-NEXT: func.return [[R]]
func.func @tuple_root(%x : tensor<2x2xf32>) -> tuple<tensor<4x2xf32>, tensor<2x2xf32>> {
  %0 = relax.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.tile %0 {reps = [2, 1]} : (tensor<2x2xf32>) -> tensor<4x2xf32>
  %2 = relax.tuple %1, %x : (tensor<4x2xf32>, tensor<2x2xf32>) -> tuple<tensor<4x2xf32>, tensor<2x2xf32>>
  return %2 : tuple<tensor<4x2xf32>, tensor<2x2xf32>>
}

// -----

// Of a tuple that comes from elsewhere the elements are passed that are used.
// CHECK-LABEL: @tuple_parameter
// CHECK-NEXT: [[A:%.*]] = relax.tuple_get_item %t {index = 1}
// CHECK-NEXT: [[B:%.*]] = func.call @fused_exp_negative([[A]])
// CHECK-NEXT: func.return [[B]]
func.func @tuple_parameter(%t : tuple<tensor<2xf32>, tensor<4xf32>>) -> tensor<4xf32> {
  %0 = relax.tuple_get_item %t {index = 1} : (tuple<tensor<2xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.negative %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// What is not to be fused, and the mark is gone.
// CHECK-LABEL: @stop_fusion
// CHECK-NEXT: [[A:%.*]] = func.call @fused_add(%x)
// CHECK-NEXT: [[B:%.*]] = func.call @fused_exp([[A]])
// CHECK-NEXT: func.return [[B]]
// CHECK-NOT: relax.stop_fusion
func.func @stop_fusion(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.stop_fusion %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Nothing is fused across the border of a branch; in it as elsewhere.
// CHECK-LABEL: @branches
// CHECK-NEXT: [[A:%.*]] = func.call @fused_exp(%x)
// CHECK-NEXT: scf.if
// CHECK-NEXT: func.call @fused_negative_add([[A]])
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield [[A]]
// CHECK-NEXT: }
// CHECK-NEXT: func.call @fused_exp(
func.func @branches(%c : i1, %x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = scf.if %c -> (tensor<4xf32>) {
    %3 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = relax.add %3, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %4 : tensor<4xf32>
  } else {
    scf.yield %0 : tensor<4xf32>
  }
  %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// The parts of a split go on together.
// CHECK-LABEL: @split
// CHECK-NEXT: [[M:%.*]] = func.call @fused_matmul(%x, %w)
// CHECK-NEXT: [[R:%.*]] = func.call @fused_split_sigmoid_tanh_exp_multiply_add([[M]])
// CHECK-NEXT: func.return [[R]]
func.func @split(%x : tensor<1x4xf32>, %w : tensor<4x6xf32>) -> tensor<1x2xf32> {
  %0 = relax.matmul %x, %w : (tensor<1x4xf32>, tensor<4x6xf32>) -> tensor<1x6xf32>
  %a, %b, %c = relax.split %0 {sections = 3, axis = 1} : (tensor<1x6xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>)
  %1 = relax.sigmoid %a : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = relax.tanh %b : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %3 = relax.exp %c : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %4 = relax.multiply %2, %3 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %5 = relax.add %1, %4 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %5 : tensor<1x2xf32>
}

// -----

// Only the results that are used are results of the function.
// CHECK-LABEL: @split_and_product
// CHECK-NEXT: [[S:%.*]] = func.call @fused_split(%x) : (tensor<4x4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: [[M:%.*]] = func.call @fused_matmul([[S]], %w)
// CHECK-NEXT: func.return [[M]]
// CHECK: func.return %a : tensor<4x2xf32>
func.func @split_and_product(%x : tensor<4x4xf32>, %w : tensor<2x4xf32>) -> tensor<4x4xf32> {
  %a, %b = relax.split %x {sections = 2, axis = 1} : (tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  %0 = relax.matmul %a, %w : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Several operations joined, twice.
// CHECK-LABEL: @joined
// CHECK-NEXT: [[R:%.*]] = func.call @fused_squeeze_add_squeeze_add_add_concatenate_squeeze_add(%x)
// CHECK-NEXT: func.return [[R]]
func.func @joined(%x : tensor<1x4xf32>) -> tensor<12xf32> {
  %c = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.squeeze %x : (tensor<1x4xf32>) -> tensor<4xf32>
  %1 = relax.add %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relax.squeeze %0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.add %2, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = relax.add %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = relax.concatenate %1, %3, %4 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
  %6 = relax.squeeze %5 : (tensor<12xf32>) -> tensor<12xf32>
  %7 = relax.add %6, %c : (tensor<12xf32>, tensor<f32>) -> tensor<12xf32>
  return %7 : tensor<12xf32>
}

// -----

// Concatenations of concatenations; what is a result too ends its function.
// CHECK-LABEL: @consecutive
// CHECK-NEXT: [[C:%.*]] = func.call @fused_add_add_concatenate_add_add_add_concatenate_add_concatenate(%x)
// CHECK-NEXT: [[P:%.*]] = func.call @fused_matmul_add([[C]], %w)
// CHECK-NEXT: [[R:%.*]] = func.call @fused_add([[P]])
// CHECK-NEXT: func.return [[P]], [[R]]
func.func @consecutive(%x : tensor<2x2xf32>, %w : tensor<2x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>) {
  %c = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.add %x, %c : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %1 = relax.add %x, %c : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = relax.concatenate %0, %1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %3 = relax.add %2, %c : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %4 = relax.add %x, %c : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %5 = relax.add %x, %c : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %6 = relax.concatenate %4, %5 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %7 = relax.add %6, %c : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %8 = relax.concatenate %3, %7 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %9 = relax.matmul %8, %w : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %10 = relax.add %9, %c : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  %11 = relax.add %10, %c : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  return %10, %11 : tensor<8x2xf32>, tensor<8x2xf32>
}

// -----

// An inception block: each product with its relu, and the concatenation, which no product takes.
// CHECK-LABEL: @inception
// CHECK-NEXT: [[A:%.*]] = func.call @fused_matmul_relu(%x, %w)
// CHECK-NEXT: [[B:%.*]] = func.call @fused_matmul_relu(%x, %v)
// CHECK-NEXT: [[C:%.*]] = func.call @fused_concatenate([[A]], [[B]])
// CHECK-NEXT: [[D:%.*]] = func.call @fused_matmul_relu1([[C]], %w)
// CHECK-NEXT: [[E:%.*]] = func.call @fused_matmul_relu1([[C]], %v)
// CHECK-NEXT: [[F:%.*]] = func.call @fused_concatenate1([[D]], [[E]])
// CHECK-NEXT: func.return [[F]]
func.func @inception(%x : tensor<2x2xf32>, %w : tensor<2x2xf32>, %v : tensor<2x2xf32>) -> tensor<8x2xf32> {
  %0 = relax.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.nn.relu %0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = relax.matmul %x, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = relax.nn.relu %2 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = relax.concatenate %1, %3 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %5 = relax.matmul %4, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %6 = relax.nn.relu %5 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %7 = relax.matmul %4, %v : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %8 = relax.nn.relu %7 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %9 = relax.concatenate %6, %8 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  return %9 : tensor<8x2xf32>
}

// -----

// Moves beside each other.
// CHECK-LABEL: @parallel_injective
// CHECK-NEXT: func.call @fused_add_squeeze_transpose_left_shift(%x)
// CHECK-NEXT: func.return
func.func @parallel_injective(%x : tensor<4x4xi32>) -> tensor<4x4xi32> {
  %c = relax.constant dense<1> : tensor<i32>
  %0 = relax.add %x, %c : (tensor<4x4xi32>, tensor<i32>) -> tensor<4x4xi32>
  %1 = relax.squeeze %0 : (tensor<4x4xi32>) -> tensor<4x4xi32>
  %2 = relax.transpose %0 {axes = [1, 0]} : (tensor<4x4xi32>) -> tensor<4x4xi32>
  %3 = relax.left_shift %1, %2 : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  return %3 : tensor<4x4xi32>
}

// -----

// Three diamonds of 11 operations.
// DEPTH-LABEL: @diamonds
// DEPTH-NEXT: [[A:%.*]] = func.call @fused_exp_exp_exp_exp_exp_exp_exp_exp_exp_exp_add(%x)
// DEPTH-NEXT: [[B:%.*]] = func.call @fused_exp_exp_exp_exp_exp_exp_exp_exp_exp_exp_add([[A]])
// DEPTH-NEXT: [[C:%.*]] = func.call @fused_exp_exp_exp_exp_exp_exp_exp_exp_exp_exp_add([[B]])
// DEPTH-NEXT: func.return [[C]]
func.func @diamonds(%x : tensor<2xf64>) -> tensor<2xf64> {
  %a1 = relax.exp %x : (tensor<2xf64>) -> tensor<2xf64>
  %a2 = relax.exp %a1 : (tensor<2xf64>) -> tensor<2xf64>
  %a3 = relax.exp %a2 : (tensor<2xf64>) -> tensor<2xf64>
  %a4 = relax.exp %a3 : (tensor<2xf64>) -> tensor<2xf64>
  %a5 = relax.exp %a4 : (tensor<2xf64>) -> tensor<2xf64>
  %b1 = relax.exp %x : (tensor<2xf64>) -> tensor<2xf64>
  %b2 = relax.exp %b1 : (tensor<2xf64>) -> tensor<2xf64>
  %b3 = relax.exp %b2 : (tensor<2xf64>) -> tensor<2xf64>
  %b4 = relax.exp %b3 : (tensor<2xf64>) -> tensor<2xf64>
  %b5 = relax.exp %b4 : (tensor<2xf64>) -> tensor<2xf64>
  %c = relax.add %a5, %b5 : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  %d1 = relax.exp %c : (tensor<2xf64>) -> tensor<2xf64>
  %d2 = relax.exp %d1 : (tensor<2xf64>) -> tensor<2xf64>
  %d3 = relax.exp %d2 : (tensor<2xf64>) -> tensor<2xf64>
  %d4 = relax.exp %d3 : (tensor<2xf64>) -> tensor<2xf64>
  %d5 = relax.exp %d4 : (tensor<2xf64>) -> tensor<2xf64>
  %e1 = relax.exp %c : (tensor<2xf64>) -> tensor<2xf64>
  %e2 = relax.exp %e1 : (tensor<2xf64>) -> tensor<2xf64>
  %e3 = relax.exp %e2 : (tensor<2xf64>) -> tensor<2xf64>
  %e4 = relax.exp %e3 : (tensor<2xf64>) -> tensor<2xf64>
  %e5 = relax.exp %e4 : (tensor<2xf64>) -> tensor<2xf64>
  %f = relax.add %d5, %e5 : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  %g1 = relax.exp %f : (tensor<2xf64>) -> tensor<2xf64>
  %g2 = relax.exp %g1 : (tensor<2xf64>) -> tensor<2xf64>
  %g3 = relax.exp %g2 : (tensor<2xf64>) -> tensor<2xf64>
  %g4 = relax.exp %g3 : (tensor<2xf64>) -> tensor<2xf64>
  %g5 = relax.exp %g4 : (tensor<2xf64>) -> tensor<2xf64>
  %h1 = relax.exp %f : (tensor<2xf64>) -> tensor<2xf64>
  %h2 = relax.exp %h1 : (tensor<2xf64>) -> tensor<2xf64>
  %h3 = relax.exp %h2 : (tensor<2xf64>) -> tensor<2xf64>
  %h4 = relax.exp %h3 : (tensor<2xf64>) -> tensor<2xf64>
  %h5 = relax.exp %h4 : (tensor<2xf64>) -> tensor<2xf64>
  %i = relax.add %g5, %h5 : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  return %i : tensor<2xf64>
}

// -----

// Indices that are constant are a parameter.
// CHECK-LABEL: @take
// CHECK-NEXT: [[I:%.*]] = relax.constant dense<[0, 2]>
// CHECK-NEXT: func.call @fused_concatenate_take(%x, [[I]])
func.func @take(%x : tensor<2xf32>) -> tensor<2xf32> {
  %i = relax.constant dense<[0, 2]> : tensor<2xi64>
  %0 = relax.concatenate %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = relax.take %0, %i {axis = 0} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// A reduction takes what comes before it, and nothing after it.
// CHECK-LABEL: @reduction
// CHECK-NEXT: [[A:%.*]] = func.call @fused_less_min(%x)
// CHECK-NEXT: func.call @fused_logical_not([[A]])
func.func @reduction(%x : tensor<4xi32>) -> tensor<i1> {
  %c = relax.constant dense<2> : tensor<i32>
  %0 = relax.less %x, %c : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
  %1 = relax.min %0 : (tensor<4xi1>) -> tensor<i1>
  %2 = relax.logical_not %1 : (tensor<i1>) -> tensor<i1>
  return %2 : tensor<i1>
}

// -----

// Sizes that are not known.
// CHECK-LABEL: @dynamic
// CHECK-NEXT: func.call @fused_squeeze_exp(%x) : (tensor<?x1xf32>) -> tensor<?xf32>
func.func @dynamic(%x : tensor<?x1xf32>) -> tensor<?xf32> {
  %0 = relax.squeeze %x {axis = [1]} : (tensor<?x1xf32>) -> tensor<?xf32>
  %1 = relax.exp %0 : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// A shape that depends on data is computed outside.
// CHECK-LABEL: @data_dependent
// CHECK-NEXT: [[A:%.*]] = func.call @fused_exp(%x)
// CHECK-NEXT: [[B:%.*]] = relax.dyn.reshape [[A]], %s
// CHECK-NEXT: func.call @fused_exp1([[B]])
func.func @data_dependent(%x : tensor<4xf32>, %s : tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.dyn.reshape %0, %s : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %2 = relax.exp %1 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// -----

// A cast of a size is between two kernels, and stays there (TVM #20195).
// CHECK-LABEL: @cast
// CHECK-NEXT: [[A:%.*]] = func.call @fused_exp(%x)
// CHECK-NEXT: [[B:%.*]] = tensor.cast [[A]]
// CHECK-NEXT: func.call @fused_exp_add([[B]])
func.func @cast(%x : tensor<?xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<4xf32>
  %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.add %2, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// What something opaque uses too ends its function, and is computed once.
// CHECK-LABEL: @opaque
// CHECK-NEXT: [[A:%.*]] = func.call @fused_exp(%x)
// CHECK-NEXT: [[B:%.*]] = "test.op"([[A]])
// CHECK-NEXT: func.call @fused_negative_add([[A]], [[B]])
func.func @opaque(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "test.op"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.add %2, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// Nobody needs what is not used.
// CHECK-LABEL: @dead
// CHECK-NEXT: func.call @fused_matmul_relu(%x)
// CHECK-NEXT: func.return
func.func @dead(%x : tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = relax.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relax.exp %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = relax.negative %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = relax.nn.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// A view alone is no kernel; a transposition with views around it is one.
// CHECK-LABEL: @views
// CHECK-NEXT: [[M:%.*]] = func.call @fused_matmul(%x)
// CHECK-NEXT: [[R:%.*]] = relax.reshape [[M]] {newshape = [2, 8]}
// CHECK-NEXT: [[N:%.*]] = func.call @fused_matmul1([[R]], %y)
// CHECK-NEXT: func.call @fused_reshape_transpose_reshape([[N]])
func.func @views(%x : tensor<4x4xf32>, %y : tensor<8x8xf32>) -> tensor<16xf32> {
  %0 = relax.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relax.reshape %0 {newshape = [2, 8]} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  %2 = relax.matmul %1, %y : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %3 = relax.reshape %2 {newshape = [2, 4, 2]} : (tensor<2x8xf32>) -> tensor<2x4x2xf32>
  %4 = relax.transpose %3 {axes = [0, 2, 1]} : (tensor<2x4x2xf32>) -> tensor<2x2x4xf32>
  %5 = relax.reshape %4 {newshape = [16]} : (tensor<2x2x4xf32>) -> tensor<16xf32>
  return %5 : tensor<16xf32>
}

// -----

// Functions share what is equal; what differs in a constant, an attribute, a type or the order of
// its operands is not.
// CHECK-LABEL: @first
// CHECK-NEXT: func.call @fused_exp_add(%x)
// CHECK-NEXT: func.return
// CHECK-LABEL: @second
// CHECK-NEXT: func.call @fused_exp_add(%x)
// CHECK-NEXT: func.call @fused_exp_add1(%x)
// CHECK-NEXT: func.call @fused_exp_add2(%x)
// CHECK-NEXT: func.call @fused_exp_add3(%y)
// CHECK-NEXT: func.call @fused_subtract_exp(%x, %z)
// CHECK-NEXT: func.call @fused_subtract_exp(%z, %x)
// CHECK-NEXT: func.call @fused_exp_subtract(%x, %z)
// CHECK-NEXT: func.call @fused_exp_subtract1(%x, %z)
// CHECK-NEXT: func.return
func.func @first(%x : tensor<4xf32>) -> tensor<4xf32> {
  %c = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.add %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @second(%x : tensor<4xf32>, %y : tensor<2xf32>, %z : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c = relax.constant dense<1.0> : tensor<f32>
  %d = relax.constant dense<2.0> : tensor<f32>
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.add %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.add %2, %d : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = relax.add %4, %c {device = 1 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %6 = relax.exp %y : (tensor<2xf32>) -> tensor<2xf32>
  %7 = relax.add %6, %c : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %8 = relax.subtract %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %9 = relax.exp %8 : (tensor<4xf32>) -> tensor<4xf32>
  %10 = relax.subtract %z, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %11 = relax.exp %10 : (tensor<4xf32>) -> tensor<4xf32>
  %12 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %13 = relax.subtract %12, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %14 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %15 = relax.subtract %z, %14 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %3, %5, %7, %9, %11, %13, %15 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Not entered: kernels, and functions to be left alone. A name that is taken is not used again.
// CHECK-LABEL: @fused_exp_exp
// CHECK-NEXT: relax.exp
// CHECK-LABEL: @skipped
// CHECK-NEXT: relax.exp
// CHECK-LABEL: @composite
// CHECK-NEXT: relax.exp
// CHECK-LABEL: @main
// CHECK-NEXT: func.call @fused_exp_exp(%x)
// CHECK-NEXT: func.call @fused_exp_exp1
func.func private @fused_exp_exp(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @skipped(%x : tensor<4xf32>) -> tensor<4xf32> attributes {passline.skip_optimization} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @composite(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.composite = "a"} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @fused_exp_exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Operations in any order are to be put in order first.
// CHECK-LABEL: @graph
// CHECK-NEXT: relax.graph
// CHECK-NEXT: relax.exp
// CHECK-NEXT: relax.negative
func.func @graph(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.graph -> tensor<4xf32> {
    %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = relax.negative %x : (tensor<4xf32>) -> tensor<4xf32>
    relax.output %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A lambda computes with what it captures; its body is its own.
// CHECK-LABEL: @lambda
// CHECK-NEXT: [[A:%.*]] = func.call @fused_exp(%x)
// CHECK-NEXT: relax.lambda
// CHECK: func.call @fused_add_exp(%{{.*}}, [[A]])
func.func @lambda(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %f = relax.lambda (%y : tensor<4xf32>) -> tensor<4xf32> {
    %2 = relax.add %y, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = relax.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %3 : tensor<4xf32>
  }
  %1 = relax.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A convolution with its bias, sum and activation; where two convolutions meet, the later has them.
// CHECK-LABEL: @convolutions
// CHECK-NEXT: [[A:%.*]] = func.call @fused_conv2d_bias_add(%x, %w, %b)
// CHECK-NEXT: [[B:%.*]] = func.call @fused_conv2d_bias_add_prelu(%x, %w, %b)
// CHECK-NEXT: [[C:%.*]] = func.call @fused_conv2d_bias_add_add_relu([[B]], %w, %b, [[A]])
// CHECK-NEXT: func.return [[C]]
func.func @convolutions(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %b : tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.bias_add %0, %b : (tensor<1x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.nn.bias_add %2, %b : (tensor<1x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.nn.prelu %3, %b : (tensor<1x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.nn.conv2d %4, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %6 = relax.nn.bias_add %5, %b : (tensor<1x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %7 = relax.add %1, %6 : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = relax.nn.relu %7 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %8 : tensor<1x2x3x3xf32>
}

// -----

// CHECK-LABEL: @pool_and_upsampling
// CHECK-NEXT: [[P:%.*]] = func.call @fused_max_pool2d(%x)
// CHECK-NEXT: [[C:%.*]] = func.call @fused_upsampling_concatenate_add([[P]], %x)
// CHECK-NEXT: func.return [[C]]
func.func @pool_and_upsampling(%x : tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %c = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.nn.max_pool2d %x {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %1 = relax.nn.upsampling %0 {scale_h = 2.0, scale_w = 2.0} : (tensor<1x2x2x2xf32>) -> tensor<1x2x4x4xf32>
  %2 = relax.concatenate %1, %x {axis = 1} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32>
  %3 = relax.add %2, %c : (tensor<1x4x4x4xf32>, tensor<f32>) -> tensor<1x4x4x4xf32>
  return %3 : tensor<1x4x4x4xf32>
}

// -----

// CHECK-LABEL: @softmax
// CHECK-NEXT: func.call @fused_softmax_astype(%x)
// CHECK-NEXT: func.return
func.func @softmax(%x : tensor<2x4xf32>) -> tensor<2x4xf16> {
  %0 = relax.nn.softmax %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = relax.astype %0 {dtype = f16} : (tensor<2x4xf32>) -> tensor<2x4xf16>
  return %1 : tensor<2x4xf16>
}

// -----

// CHECK-LABEL: @layer_norm
// CHECK-NEXT: func.call @fused_layer_norm_silu(%x, %g)
// CHECK-NEXT: func.return
func.func @layer_norm(%x : tensor<2x4xf32>, %g : tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = relax.nn.layer_norm %x, %g, %g : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = relax.nn.silu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
