// RUN: passline-opt %s -p fold-constant | filecheck %s

// Fills stay fills, whatever their size.
// CHECK-LABEL: @fills
func.func @fills() -> tensor<5000x5000xf32> {
  // CHECK-NEXT: relax.full 2.000000e+00 : tensor<5000x5000xf32>
  // CHECK-NEXT: func.return
  %0 = relax.full 4.0 : tensor<5000x1xf32>
  %1 = relax.full 2.0 : tensor<1x5000xf32>
  %2 = relax.divide %0, %1 : (tensor<5000x1xf32>, tensor<1x5000xf32>) -> tensor<5000x5000xf32>
  return %2 : tensor<5000x5000xf32>
}

// Other operations on fills would expand them: they stay.
// UNCHANGED: @matmul_of_fills
func.func @matmul_of_fills() -> tensor<64x64xf32> {
  %0 = relax.full 4.0 : tensor<64x64xf32>
  %1 = relax.matmul %0, %0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// A fill of known shape is not expanded.
// CHECK-LABEL: @dynamic_fill
func.func @dynamic_fill() -> tensor<9000x9000xf32> {
  // CHECK-NEXT: relax.full 2.500000e+00 : tensor<9000x9000xf32>
  // CHECK-NEXT: func.return
  %0 = relax.constant dense<2.5> : tensor<f32>
  %1 = relax.full 9000 : tensor<2xi64>
  %2 = relax.dyn.full %0, %1 : (tensor<f32>, tensor<2xi64>) -> tensor<9000x9000xf32>
  return %2 : tensor<9000x9000xf32>
}

// A view of a fill is a fill; an operation that adds elements is no view.
// CHECK-LABEL: @views_of_fills
func.func @views_of_fills() -> (tensor<2x1x2xf32>, tensor<6xf32>) {
  // CHECK-NEXT: [[F:%.*]] = relax.full 5.000000e-01 : tensor<4xf32>
  // CHECK-NEXT: [[V:%.*]] = relax.full 5.000000e-01 : tensor<2x1x2xf32>
  // CHECK-NEXT: [[P:%.*]] = relax.nn.pad [[F]]
  // CHECK-NEXT: func.return [[V]], [[P]]
  %0 = relax.full 0.5 : tensor<4xf32>
  %1 = relax.reshape %0 {newshape = [2, 2]} : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = relax.expand_dims %1 {axis = [1]} : (tensor<2x2xf32>) -> tensor<2x1x2xf32>
  %3 = relax.nn.pad %0 {pad_width = [1, 1]} : (tensor<4xf32>) -> tensor<6xf32>
  return %2, %3 : tensor<2x1x2xf32>, tensor<6xf32>
}
