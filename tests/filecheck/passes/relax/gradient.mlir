// RUN: passline-opt %s -p gradient --split-input-file | filecheck %s

// The function stays; the adjoint function has its parameters, and returns its results first.
// UNCHANGED: @main
// CHECK-LABEL: func.func @main_adjoint(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> (tensor<f32>, tensor<2x3xf32>, tensor<3x4xf32>)
// CHECK-NEXT:    [[Y:%.*]] = relax.matmul %x, %w
// CHECK-NEXT:    [[S:%.*]] = relax.sum [[Y]]
// CHECK-NEXT:    [[ONE:%.*]] = relax.full 1.000000e+00 : tensor<f32>
// CHECK-NEXT:    [[R:%.*]] = relax.reshape [[ONE]] {newshape = [1, 1]}
// CHECK-NEXT:    [[G:%.*]] = relax.broadcast_to [[R]] {shape = [2, 4]}
// CHECK-NEXT:    [[WT:%.*]] = relax.transpose %w
// CHECK-NEXT:    [[DX:%.*]] = relax.matmul [[G]], [[WT]]
// CHECK-NEXT:    [[XT:%.*]] = relax.transpose %x
// CHECK-NEXT:    [[DW:%.*]] = relax.matmul [[XT]], [[G]]
// CHECK-NEXT:    func.return [[S]], [[DX]], [[DW]]
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<f32> {
  %0 = relax.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = relax.sum %0 : (tensor<2x4xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// Integers have no gradient; what the target does not depend on has one of zeros.
// CHECK-LABEL: @main_adjoint
// CHECK-SAME:    -> (tensor<f32>, tensor<f32>, tensor<4xf16>)
// CHECK-NEXT:    [[ONE:%.*]] = relax.full 1.000000e+00 : tensor<f32>
// CHECK-NEXT:    [[Z:%.*]] = relax.full 0.000000e+00 : tensor<4xf16>
// CHECK-NEXT:    func.return %x, [[ONE]], [[Z]]
func.func @main(%x: tensor<f32>, %i: tensor<4xi64>, %y: tensor<4xf16>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// Values converted to another floating-point type and back; comparisons have no gradient.
// CHECK-LABEL: @main_adjoint
// CHECK:         [[D:%.*]] = relax.full 1.000000e+00 : tensor<f64>
// CHECK:         [[M:%.*]] = relax.where %{{.*}}, [[D]]
// CHECK-NEXT:    [[A:%.*]] = relax.astype [[M]] {dtype = f16} : (tensor<f64>) -> tensor<f16>
// CHECK-NEXT:    func.return %{{.*}}, [[A]] : tensor<f64>, tensor<f16>
func.func @main(%x: tensor<f16>) -> tensor<f64> {
  %0 = relax.astype %x {dtype = f64} : (tensor<f16>) -> tensor<f64>
  %zero = relax.full 0.0 : tensor<f64>
  %1 = relax.greater %0, %zero : (tensor<f64>, tensor<f64>) -> tensor<i1>
  %2 = relax.where %1, %0, %zero : (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %2 : tensor<f64>
}

// -----

// Both branches yield the adjoints of what one of them uses; a private function is inlined, and its
// adjoint function is public.
// CHECK-LABEL: func.func @main_adjoint
// CHECK:         scf.if %c
// CHECK:         [[ONE:%.*]] = relax.full 1.000000e+00 : tensor<f32>
// CHECK-NEXT:    [[G:%.*]], [[H:%.*]] = scf.if %c -> (tensor<f32>, tensor<f32>) {
// CHECK:           relax.multiply [[ONE]], %y
// CHECK:           relax.multiply [[ONE]], %x
// CHECK:           scf.yield
// CHECK-NEXT:    } else {
// CHECK:           [[N:%.*]] = relax.negative [[ONE]]
// CHECK-NEXT:      [[Z:%.*]] = relax.full 0.000000e+00 : tensor<f32>
// CHECK-NEXT:      scf.yield [[N]], [[Z]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %{{.*}}, [[G]], [[H]]
func.func private @negated(%v: tensor<f32>) -> tensor<f32> {
  %0 = relax.negative %v : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @main(%c: i1, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = scf.if %c -> (tensor<f32>) {
    %1 = relax.multiply %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %1 : tensor<f32>
  } else {
    %2 = func.call @negated(%x) : (tensor<f32>) -> tensor<f32>
    scf.yield %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// An operation without a rule is no error where the target does not depend on a parameter through
// it: an argmax, what is computed of constants, and what does not reach the target.
// CHECK-LABEL: @main_adjoint
// CHECK:         relax.nonzero
// CHECK:         func.return
func.func @main(%x: tensor<4xf32>) -> (tensor<f32>, tensor<?x?xi64>) {
  %0 = relax.nonzero %x : (tensor<4xf32>) -> tensor<?x?xi64>
  %1 = relax.reinterpret %x {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
  %2 = relax.reinterpret %1 {dtype = f32} : (tensor<4xi32>) -> tensor<4xf32>
  %3 = relax.add %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.sum %3 : (tensor<4xf32>) -> tensor<f32>
  return %4, %0 : tensor<f32>, tensor<?x?xi64>
}
