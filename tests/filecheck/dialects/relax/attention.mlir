// RUN: passline-opt %s --split-input-file | passline-opt --split-input-file | filecheck %s

// CHECK-LABEL: @attention
func.func @attention(%q : tensor<2x3x4x8xf32>, %k : tensor<2x5x4x8xf32>, %v : tensor<2x5x4x6xf32>,
    %bias : tensor<4x1x5xf32>, %mask : tensor<2x1x3x5xi1>) {
  // CHECK: relax.nn.attention %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>) -> tensor<2x3x4x6xf32>
  %0 = relax.nn.attention %q, %k, %v : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>) -> tensor<2x3x4x6xf32>
  // CHECK-NEXT: relax.nn.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64, causal_mask = "TopLeft"}
  %1 = relax.nn.attention %q, %k, %v, %bias {scale = 0.5, causal_mask = "TopLeft"} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<4x1x5xf32>) -> tensor<2x3x4x6xf32>
  // CHECK-NEXT: relax.nn.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {causal_mask = "BottomRight", masked_value = -1.000000e+09 : f64}
  %2 = relax.nn.attention %q, %k, %v, %mask {causal_mask = "BottomRight", masked_value = -1.0e+09} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>, tensor<2x1x3x5xi1>) -> tensor<2x3x4x6xf32>
  return
}

// -----

// Grouped queries, and sizes that are not known.
// CHECK-LABEL: @grouped
func.func @grouped(%q : tensor<2x3x4x8xf16>, %k : tensor<2x5x2x8xf16>, %q2 : tensor<?x?x4x8xf16>, %q3 : tensor<*xf16>) {
  // CHECK: relax.nn.attention {{.*}} -> tensor<2x3x4x8xf16>
  %0 = relax.nn.attention %q, %k, %k : (tensor<2x3x4x8xf16>, tensor<2x5x2x8xf16>, tensor<2x5x2x8xf16>) -> tensor<2x3x4x8xf16>
  // CHECK-NEXT: relax.nn.attention {{.*}} -> tensor<2x?x4x8xf16>
  %1 = relax.nn.attention %q2, %k, %k : (tensor<?x?x4x8xf16>, tensor<2x5x2x8xf16>, tensor<2x5x2x8xf16>) -> tensor<2x?x4x8xf16>
  // CHECK-NEXT: relax.nn.attention {{.*}} -> tensor<*xf16>
  %2 = relax.nn.attention %q3, %q3, %q3 : (tensor<*xf16>, tensor<*xf16>, tensor<*xf16>) -> tensor<*xf16>
  return
}
