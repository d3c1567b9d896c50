// RUN: passline-opt %s -p fold-scale-axis --split-input-file | filecheck %s
// RUN: passline-opt %s -p fold-scale-axis --split-input-file --config relax.fastmath=reassoc | filecheck %s --check-prefix=FAST

// Must not fire: a scaled weight would be infinite.
// CHECK-LABEL: @weight
// FAST-LABEL: @weight
func.func @weight(%x : tensor<1x1x3xf16>) -> tensor<1x1x3xf16> {
  // CHECK: relax.nn.conv1d
  // CHECK: relax.multiply
  // FAST-NOT: relax.multiply
  %w = relax.constant dense<[[[1000.0]]]> : tensor<1x1x1xf16>
  %s = relax.full 100.0 : tensor<f16>
  %0 = relax.nn.conv1d %x, %w : (tensor<1x1x3xf16>, tensor<1x1x1xf16>) -> tensor<1x1x3xf16>
  %1 = relax.multiply %0, %s : (tensor<1x1x3xf16>, tensor<f16>) -> tensor<1x1x3xf16>
  return %1 : tensor<1x1x3xf16>
}

// -----

// Must not fire: (y - 150) * 400, where y * 400 may be infinite.
// CHECK-LABEL: @summand
// FAST-LABEL: @summand
func.func @summand(%x : tensor<1x1x3xf16>) -> tensor<1x1x3xf16> {
  // CHECK: relax.add
  // CHECK: relax.multiply
  // FAST-NOT: relax.multiply
  %w = relax.constant dense<[[[1.0]]]> : tensor<1x1x1xf16>
  %a = relax.full -150.0 : tensor<f16>
  %s = relax.full 400.0 : tensor<f16>
  %0 = relax.nn.conv1d %x, %w : (tensor<1x1x3xf16>, tensor<1x1x1xf16>) -> tensor<1x1x3xf16>
  %1 = relax.add %0, %a : (tensor<1x1x3xf16>, tensor<f16>) -> tensor<1x1x3xf16>
  %2 = relax.multiply %1, %s : (tensor<1x1x3xf16>, tensor<f16>) -> tensor<1x1x3xf16>
  return %2 : tensor<1x1x3xf16>
}

// -----

// Must not fire: x * s + a, where x + a / s may be infinite.
// CHECK-LABEL: @quotient
// FAST-LABEL: @quotient
func.func @quotient(%x : tensor<1x1x3xf16>) -> tensor<1x1x3xf16> {
  // CHECK: relax.multiply %x
  // CHECK: relax.add
  // FAST-NOT: relax.multiply
  %w = relax.constant dense<[[[1.0]]]> : tensor<1x1x1xf16>
  %a = relax.full 600.0 : tensor<f16>
  %s = relax.full 0.01 : tensor<f16>
  %0 = relax.multiply %x, %s : (tensor<1x1x3xf16>, tensor<f16>) -> tensor<1x1x3xf16>
  %1 = relax.add %0, %a : (tensor<1x1x3xf16>, tensor<f16>) -> tensor<1x1x3xf16>
  %2 = relax.nn.conv1d %1, %w : (tensor<1x1x3xf16>, tensor<1x1x1xf16>) -> tensor<1x1x3xf16>
  return %2 : tensor<1x1x3xf16>
}

// -----

// Must not fire: two scales whose product is infinite, or subnormal.
// CHECK-LABEL: @scales
// FAST-LABEL: @scales
func.func @scales(%x : tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: relax.multiply %x
  // CHECK-NEXT: relax.multiply
  // CHECK-NEXT: relax.multiply %x
  // CHECK-NEXT: relax.multiply
  // FAST-COUNT-2: relax.multiply %x
  // FAST-NOT: relax.multiply
  %a = relax.full 1.0e30 : tensor<f32>
  %b = relax.full 1.0e-30 : tensor<f32>
  %0 = relax.multiply %x, %a : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = relax.multiply %0, %a : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = relax.multiply %x, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = relax.multiply %2, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %1, %3 : tensor<2xf32>, tensor<2xf32>
}

// -----

// What fires: a scale of at most 1, and summands that are absorbed.
// CHECK-LABEL: @fires
// FAST-LABEL: @fires
func.func @fires(%x : tensor<1x1x3xf16>) -> (tensor<1x1x3xf16>, tensor<1x1x3xf16>) {
  // CHECK-NOT: relax.multiply
  // CHECK: return
  %w = relax.constant dense<[[[1.0]]]> : tensor<1x1x1xf16>
  %a = relax.full -150.0 : tensor<f16>
  %s = relax.full 0.5 : tensor<f16>
  %b = relax.full 2.0 : tensor<f16>
  %0 = relax.nn.conv1d %x, %w : (tensor<1x1x3xf16>, tensor<1x1x1xf16>) -> tensor<1x1x3xf16>
  %1 = relax.add %0, %a : (tensor<1x1x3xf16>, tensor<f16>) -> tensor<1x1x3xf16>
  %2 = relax.multiply %1, %s : (tensor<1x1x3xf16>, tensor<f16>) -> tensor<1x1x3xf16>
  %3 = relax.nn.conv1d %x, %w : (tensor<1x1x3xf16>, tensor<1x1x1xf16>) -> tensor<1x1x3xf16>
  %4 = relax.add %3, %b : (tensor<1x1x3xf16>, tensor<f16>) -> tensor<1x1x3xf16>
  %5 = relax.multiply %4, %b : (tensor<1x1x3xf16>, tensor<f16>) -> tensor<1x1x3xf16>
  return %2, %5 : tensor<1x1x3xf16>, tensor<1x1x3xf16>
}
