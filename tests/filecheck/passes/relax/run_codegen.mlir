// RUN: passline-opt %s -p run-codegen --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'fuse-ops-by-pattern{codegens=onnxruntime},merge-composite-functions,run-codegen' --split-input-file | filecheck %s --check-prefix=ALL
// RUN: passline-opt %s -p 'fuse-ops-by-pattern{codegens=onnxruntime annotate-codegen=true}' --split-input-file | filecheck %s --check-prefix=SINGLE

// A function with a back end becomes a declaration with what the back end made of it; a composite
// function that nothing else calls goes. Functions without one stay.
// CHECK-LABEL: @region
// CHECK-NEXT: [[A:%.*]] = func.call @computed(%x)
// CHECK-NEXT: [[B:%.*]] = func.call @kept([[A]])
// CHECK-NEXT: func.return [[B]]
// CHECK: func.func private @computed(tensor<4xf32>) -> tensor<4xf32> attributes {relax.codegen = "onnxruntime", relax.external = dense<{{.*}}> : tensor<{{[0-9]+}}xi8>, relax.pure}
// CHECK-NOT: @tanh
// CHECK: func.func private @kept(%x: tensor<4xf32>)
func.func @region(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @computed(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @kept(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @computed(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.codegen = "onnxruntime"} {
  %0 = func.call @tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @tanh(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "onnxruntime.tanh"} {
  %0 = relax.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @kept(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.composite = "onnxruntime.other"} {
  return %x : tensor<4xf32>
}

// -----

// From operations to regions in three passes. What the back end does not compute stays: other
// operations, other types.
// ALL-LABEL: @patterns
// ALL-NEXT: [[A:%.*]] = func.call @onnxruntime_region(%x)
// ALL-NEXT: [[B:%.*]] = relax.floor [[A]]
// ALL-NEXT: [[C:%.*]] = relax.exp %i
// ALL-NEXT: func.return [[B]], [[C]]
// ALL: func.func private @onnxruntime_region(tensor<2x3xf32>) -> tensor<2x4xf32>
// ALL-NOT: relax.composite
// SINGLE-LABEL: @patterns
// SINGLE-NEXT: [[D:%.*]] = func.call @onnxruntime_region(%x)
// SINGLE-NEXT: [[R:%.*]] = func.call @onnxruntime_region1([[D]])
// SINGLE: func.func private @onnxruntime_region(%x: tensor<2x3xf32>) -> tensor<2x4xf32> attributes {relax.codegen = "onnxruntime"} {
// SINGLE-NEXT: func.call @fused_dense(%x)
func.func @patterns(%x : tensor<2x3xf32>, %i : tensor<2xf64>) -> (tensor<2x4xf32>, tensor<2xf64>) {
  %w = relax.full 0.5 : tensor<4x3xf32>
  %0 = relax.nn.dense %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %1 = relax.nn.relu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = relax.floor %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = relax.exp %i : (tensor<2xf64>) -> tensor<2xf64>
  return %2, %3 : tensor<2x4xf32>, tensor<2xf64>
}
