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

// A product takes the transposition of a constant, which callers of its kernel pass transposed: not
// that of another value, nor one that two operations use.
// CHECK-LABEL: @transposed_constant
// CHECK-NEXT: [[W:%.*]] = relax.constant
// CHECK-NEXT: [[M:%.*]] = func.call @fused_transpose_matmul([[W]], %x)
// CHECK-NEXT: [[T:%.*]] = func.call @fused_transpose([[M]])
// CHECK-NEXT: [[N:%.*]] = func.call @fused_matmul([[T]], %x)
// CHECK-NEXT: [[U:%.*]] = func.call @fused_transpose([[W]])
// CHECK-NEXT: [[A:%.*]] = func.call @fused_matmul([[N]], [[U]])
// CHECK-NEXT: [[B:%.*]] = func.call @fused_matmul([[A]], [[U]])
// CHECK-NEXT: func.return [[B]]
func.func @transposed_constant(%x : tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = relax.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = relax.transpose %w : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.matmul %x, %0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = relax.transpose %1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = relax.matmul %2, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = relax.transpose %w : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = relax.matmul %3, %4 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = relax.matmul %5, %4 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %6 : tensor<2x2xf32>
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

// An operation is dead if its only users are dead operations in a region.
// CHECK-LABEL: @dead_in_region
// CHECK-NEXT: [[R:%.*]] = scf.if %p
// CHECK-NEXT:   scf.yield %x
// CHECK-NEXT: } else {
// CHECK-NEXT:   [[A:%.*]] = func.call @fused_abs(%x)
// CHECK-NEXT:   scf.yield [[A]]
// CHECK-NEXT: }
// CHECK-NEXT: func.return [[R]]
// CHECK-NOT:  relax.exp
func.func @dead_in_region(%x : tensor<4xf32>, %p : i1) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = scf.if %p -> (tensor<4xf32>) {
    %2 = relax.square %0 : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %x : tensor<4xf32>
  } else {
    %3 = relax.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

// What may have one column is not read in the epilogue of a product.
// CHECK-LABEL: @columns
// CHECK-NEXT: [[S:%.*]] = func.call @fused_add(%a, %c)
// CHECK-NEXT: [[M:%.*]] = func.call @fused_matmul(%w, [[S]])
// CHECK-NEXT: [[A:%.*]] = func.call @fused_add([[M]], %c)
// CHECK-NEXT: [[B:%.*]] = func.call @fused_matmul_add(%w, [[A]], [[S]])
// CHECK-NEXT: func.return [[B]]
func.func @columns(%w : tensor<?x?xf32> {onnx.dims = ["n", "n"]}, %a : tensor<?x?xf32> {onnx.dims = ["n", "m"]}, %c : tensor<?x?xf32> {onnx.dims = ["n", "k"]}) -> tensor<?x?xf32> {
  %0 = relax.add %a, %c : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = relax.matmul %w, %0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = relax.add %1, %c : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = relax.matmul %w, %2 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %4 = relax.add %3, %0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %4 : tensor<?x?xf32>
}
