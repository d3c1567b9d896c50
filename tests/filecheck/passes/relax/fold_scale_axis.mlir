// RUN: passline-opt %s -O3 -p fold-scale-axis --split-input-file | filecheck %s
// RUN: passline-opt %s -O2 -p fold-scale-axis --split-input-file 2>&1 >/dev/null | filecheck %s --check-prefix LEVEL
// RUN: passline-opt %s -O3 -p fold-scale-axis --remarks-missed=scale --split-input-file 2>&1 >/dev/null | filecheck %s --check-prefix REMARK

// LEVEL: warning: pipeline 'sequential' ran none of its passes: opt_level 2 is below fold-scale-axis (3)

// A scalar after relu, with constant parameters.
// CHECK-LABEL: @bound
func.func @bound(%x : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK-NEXT: [[W:%.*]] = relax.constant dense<{{\[\[\[\[2.0.*\]\], \[\[4.0.*\]\]\], \[\[\[6.0.*\]\], \[\[8.0.*\]\]\]\]}}>
  // CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %x, [[W]]
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<{{\[\[\[2.0.*\]\], \[\[-4.0.*\]\]\]}}>
  // CHECK-NEXT: [[A:%.*]] = relax.add [[C]], [[B]]
  // CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[A]]
  // CHECK-NEXT: return [[R]]
  %w = relax.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %b = relax.constant dense<[[[1.0]], [[-2.0]]]> : tensor<2x1x1xf32>
  %s = relax.full 2.0 : tensor<f32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.add %0, %b : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.relu %1 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.multiply %2, %s : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  return %3 : tensor<1x2x3x3xf32>
}

// -----

// A layer of DenseNet: the concatenation has two uses, so the scales move forward.
// CHECK-LABEL: @dense_layer
func.func @dense_layer(%x : tensor<1x1x3x3xf32>, %y : tensor<1x1x3x3xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  // CHECK-NEXT: [[Y:%.*]] = relax.concatenate %x, %y
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<{{\[\[\[1.25.*\]\], \[\[-5.0.*e-01\]\]\]}}>
  // CHECK-NEXT: [[A:%.*]] = relax.add [[Y]], [[B]]
  // CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[A]]
  // CHECK-NEXT: [[W:%.*]] = relax.constant dense<{{\[\[\[\[8.0.*\]\], \[\[1.6.*e\+01\]\]\], \[\[\[2.4.*e\+01\]\], \[\[3.2.*e\+01\]\]\]\]}}>
  // CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d [[R]], [[W]]
  // CHECK-NEXT: return [[C]], [[Y]]
  %w = relax.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %s1 = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %b1 = relax.constant dense<[[[2.0]], [[-1.0]]]> : tensor<2x1x1xf32>
  %s2 = relax.constant dense<[[[[4.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>
  %b2 = relax.constant dense<[[[[2.0]], [[-2.0]]]]> : tensor<1x2x1x1xf32>
  %0 = relax.concatenate %x, %y {axis = 1} : (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.multiply %0, %s1 : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.add %1, %b1 : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.multiply %2, %s2 : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.add %3, %b2 : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.nn.relu %4 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %6 = relax.nn.conv2d %5, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %6, %0 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// -----

// CHECK-LABEL: @missed
func.func @missed(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK: relax.multiply
  // REMARK: [Missed] NotPositive | Category:backward-fold-scale-axis | Function=missed | {{.*}}the scale is not known to be above zero
  %s = relax.full -2.0 : tensor<f32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.relu %0 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.multiply %1, %s : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  return %2 : tensor<1x2x3x3xf32>
}
