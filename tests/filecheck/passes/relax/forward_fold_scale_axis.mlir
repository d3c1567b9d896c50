// RUN: passline-opt %s -p forward-fold-scale-axis | filecheck %s

// Must not fire: another user of the product cannot absorb the scale.
// UNCHANGED: @second_user
func.func @second_user(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.multiply %x, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.leaky_relu %0 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.conv2d %1, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.add %2, %0 : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %3 : tensor<1x2x3x3xf32>
}

// Must not fire: after relu, a scale that is not known to be above zero.
// UNCHANGED: @behind_relu
func.func @behind_relu(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %v : tensor<2x1x1xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %s = relax.constant dense<[[[2.0]], [[-4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.multiply %x, %v : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.relu %0 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.conv2d %1, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.multiply %x, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.nn.relu %3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.nn.conv2d %4, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %2, %5 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// Must not fire: the added term would be divided by zero, by an unknown number, or by one so small that the
// quotient is infinite.
// UNCHANGED: @division
func.func @division(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %v : tensor<2x1x1xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %z = relax.constant dense<[[[2.0]], [[0.0]]]> : tensor<2x1x1xf32>
  %b = relax.constant dense<[[[2.0]], [[1000.0]]]> : tensor<2x1x1xf32>
  %tiny = relax.constant dense<[[[2.0]], [[1.0e-37]]]> : tensor<2x1x1xf32>
  %0 = relax.multiply %x, %z : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.multiply %x, %v : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.multiply %x, %tiny : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.subtract %0, %b : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.add %1, %b : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.add %2, %b : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %6 = relax.nn.conv2d %3, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %7 = relax.nn.conv2d %4, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %8 = relax.nn.conv2d %5, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %6, %7, %8 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// Must not fire: the product is used in another block, is not the data of the convolution, or is returned.
// UNCHANGED: @elsewhere
func.func @elsewhere(%p : i1, %x : tensor<1x2x1x1xf32>, %w : tensor<1x2x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x2x1x1xf32>) {
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.multiply %x, %s : (tensor<1x2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %1 = relax.multiply %w, %s : (tensor<1x2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %2 = relax.multiply %x, %s : (tensor<1x2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %3 = scf.if %p -> (tensor<1x1x1x1xf32>) {
    %4 = relax.nn.conv2d %0, %w : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x1x1xf32>
    scf.yield %4 : tensor<1x1x1x1xf32>
  } else {
    %5 = relax.full 1.0 : tensor<1x1x1x1xf32>
    scf.yield %5 : tensor<1x1x1x1xf32>
  }
  %6 = relax.nn.conv2d %x, %1 : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %3, %6, %2 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x2x1x1xf32>
}

// Must not fire: scales along the columns.
// UNCHANGED: @columns
func.func @columns(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %s = relax.constant dense<[2.0, 4.0, 8.0]> : tensor<3xf32>
  %0 = relax.multiply %x, %s : (tensor<1x2x3x3xf32>, tensor<3xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.conv2d %0, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %1 : tensor<1x2x3x3xf32>
}

// Through relu and a sum, whose constant is divided.
// CHECK-LABEL: @relu_add_conv
func.func @relu_add_conv(%x : tensor<1x2x3x3xf32>, %b : tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK-NEXT: [[R:%.*]] = relax.nn.relu %x
  // CHECK-NEXT: [[C:%.*]] = relax.constant dense<{{\[\[\[5.0.*\]\], \[\[-1.0.*\]\]\]}}> : tensor<2x1x1xf32>
  // CHECK-NEXT: [[A:%.*]] = relax.add [[C]], [[R]]
  // CHECK-NEXT: [[S:%.*]] = relax.constant dense<{{\[\[\[2.0.*\]\], \[\[4.0.*\]\]\]}}> : tensor<2x1x1xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.divide %b, [[S]]
  // CHECK-NEXT: [[D:%.*]] = relax.subtract [[A]], [[B]]
  // CHECK-NEXT: [[W:%.*]] = relax.constant dense<{{\[\[\[\[2.0.*\]\], \[\[8.0.*\]\]\], \[\[\[6.0.*\]\], \[\[1.6.*e\+01\]\]\]\]}}> : tensor<2x2x1x1xf32>
  // CHECK-NEXT: [[E:%.*]] = relax.nn.conv2d [[D]], [[W]]
  // CHECK-NEXT: return [[E]]
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %c = relax.constant dense<[[[1.0]], [[-4.0]]]> : tensor<2x1x1xf32>
  %w = relax.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %0 = relax.multiply %s, %x : (tensor<2x1x1xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.relu %0 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.add %c, %1 : (tensor<2x1x1xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.subtract %2, %b : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.nn.conv2d %3, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %4 : tensor<1x2x3x3xf32>
}

// The blocks of channels of data and of weights need not be the same.
// CHECK-LABEL: @blocked
func.func @blocked(%x : tensor<1x2x3x3x2xf32>, %w : tensor<2x1x1x1x4x4xf32>, %s : tensor<2x1x1x2xf32>) -> tensor<1x4x3x3x2xf32> {
  // CHECK-NEXT: [[S:%.*]] = relax.reshape %s {newshape = [1, 1, 1, 4, 1]}
  // CHECK-NEXT: [[W:%.*]] = relax.multiply %w, [[S]]
  // CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %x, [[W]]
  // CHECK-NEXT: return [[C]]
  %0 = relax.multiply %x, %s : (tensor<1x2x3x3x2xf32>, tensor<2x1x1x2xf32>) -> tensor<1x2x3x3x2xf32>
  %1 = relax.nn.conv2d %0, %w {data_layout = "NCHW2c", kernel_layout = "OIHW4i4o"} : (tensor<1x2x3x3x2xf32>, tensor<2x1x1x1x4x4xf32>) -> tensor<1x4x3x3x2xf32>
  return %1 : tensor<1x4x3x3x2xf32>
}

// Two depthwise convolutions absorb it: both weights are multiplied, and the difference is shared.
// CHECK-LABEL: @depthwise
func.func @depthwise(%x : tensor<1x3x3x2xf32>, %w : tensor<1x1x2x1xf32>, %v : tensor<4x1x1x1xf32>) -> tensor<1x3x3x2xf32> {
  // CHECK: [[R:%.*]] = relax.nn.relu %x
  // CHECK-NEXT: relax.constant
  // CHECK-NEXT: [[D:%.*]] = relax.subtract [[R]]
  // CHECK-NEXT: relax.constant dense<{{.*}}> : tensor<2x1xf32>
  // CHECK-NEXT: [[W:%.*]] = relax.multiply %w
  // CHECK-NEXT: [[A:%.*]] = relax.nn.conv2d [[D]], [[W]]
  // CHECK-NEXT: [[V:%.*]] = relax.reshape %v {newshape = [2, 2, 1, 1, 1]}
  // CHECK-NEXT: relax.constant dense<{{.*}}> : tensor<2x1x1x1x1xf32>
  // CHECK-NEXT: [[U:%.*]] = relax.multiply [[V]]
  // CHECK-NEXT: [[T:%.*]] = relax.reshape [[U]] {newshape = [4, 1, 1, 1]}
  // CHECK-NEXT: relax.nn.conv2d [[D]], [[T]]
  // CHECK-NOT: relax.multiply
  %s = relax.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %b = relax.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %0 = relax.multiply %x, %s : (tensor<1x3x3x2xf32>, tensor<2xf32>) -> tensor<1x3x3x2xf32>
  %1 = relax.nn.relu %0 : (tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  %2 = relax.subtract %1, %b : (tensor<1x3x3x2xf32>, tensor<2xf32>) -> tensor<1x3x3x2xf32>
  %3 = relax.nn.conv2d %2, %w {data_layout = "NHWC", kernel_layout = "HWOI", groups = 2} : (tensor<1x3x3x2xf32>, tensor<1x1x2x1xf32>) -> tensor<1x3x3x2xf32>
  %4 = relax.nn.conv2d %2, %v {data_layout = "NHWC", kernel_layout = "OIHW", groups = 2} : (tensor<1x3x3x2xf32>, tensor<4x1x1x1xf32>) -> tensor<1x3x3x4xf32>
  %5 = relax.strided_slice %4 {begin = [0], end = [2], axes = [3]} : (tensor<1x3x3x4xf32>) -> tensor<1x3x3x2xf32>
  %6 = relax.add %3, %5 : (tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  return %6 : tensor<1x3x3x2xf32>
}

// A negative scale is valid without relu, a zero without a sum. Groups, three dimensions, transposed.
// CHECK-LABEL: @convolutions
func.func @convolutions(%x : tensor<1x4x3x3xf32>, %y : tensor<1x2x2x2x2xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x2x2x2xf32>) {
  // CHECK-NOT: relax.multiply
  // CHECK-COUNT-4: relax.nn.conv
  %s = relax.constant dense<[[[2.0]], [[-4.0]], [[0.5]], [[0.0]]]> : tensor<4x1x1xf32>
  %s3 = relax.constant dense<[[[[2.0]]], [[[-4.0]]]]> : tensor<2x1x1x1xf32>
  %w = relax.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %v = relax.constant dense<[[[[1.0, 3.0], [2.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %t = relax.constant dense<[[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]]> : tensor<4x1x1x1xf32>
  %w3 = relax.constant dense<[[[[[1.0]]], [[[2.0]]]], [[[[3.0]]], [[[4.0]]]]]> : tensor<2x2x1x1x1xf32>
  %0 = relax.multiply %x, %s : (tensor<1x4x3x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %1 = relax.nn.conv2d %0, %w {groups = 2} : (tensor<1x4x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.conv2d %0, %v {groups = 2, kernel_layout = "HWIO"} : (tensor<1x4x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.nn.conv2d_transpose %0, %t {groups = 2} : (tensor<1x4x3x3xf32>, tensor<4x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.multiply %y, %s3 : (tensor<1x2x2x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2x2xf32>
  %5 = relax.nn.conv3d %4, %w3 : (tensor<1x2x2x2x2xf32>, tensor<2x2x1x1x1xf32>) -> tensor<1x2x2x2x2xf32>
  return %1, %2, %3, %5 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x2x2x2xf32>
}

// Weights that are not constant, with the dimensions in another order, are scaled by operations.
// CHECK-LABEL: @transposed_groups
func.func @transposed_groups(%x : tensor<1x4x3x3xf32>, %v : tensor<1x1x2x2xf32>, %s : tensor<4x1x1xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK-NEXT: relax.reshape %v {newshape = [1, 1, 2, 2, 1]}
  // CHECK-NEXT: relax.reshape %s {newshape = [2, 2]}
  // CHECK-NEXT: relax.transpose {{%.*}} {axes = [1, 0]}
  // CHECK-NEXT: relax.reshape {{%.*}} {newshape = [2, 2, 1]}
  // CHECK-NEXT: relax.multiply
  // CHECK-NEXT: [[W:%.*]] = relax.reshape {{%.*}} {newshape = [1, 1, 2, 2]}
  // CHECK-NEXT: relax.nn.conv2d %x, [[W]]
  %0 = relax.multiply %x, %s : (tensor<1x4x3x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %1 = relax.nn.conv2d %0, %v {groups = 2, kernel_layout = "HWIO"} : (tensor<1x4x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x2x3x3xf32>
  return %1 : tensor<1x2x3x3xf32>
}

// Dense and matrix products, through a bias.
// CHECK-LABEL: @dense
func.func @dense(%x : tensor<2x3xf32>, %w : tensor<2x3xf32>) -> tensor<2x2xf32> {
  // CHECK: relax.nn.relu %x
  // CHECK: relax.constant dense<[5.000000e-01, 5.000000e-01, 3.750000e-01]> : tensor<3xf32>
  // CHECK: relax.nn.bias_add
  // CHECK: relax.multiply %w
  // CHECK: relax.nn.dense
  // CHECK-NOT: relax.multiply
  // CHECK: relax.matmul
  %s = relax.constant dense<[2.0, 4.0, 8.0]> : tensor<3xf32>
  %b = relax.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %t = relax.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %m = relax.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = relax.multiply %x, %s : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = relax.nn.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = relax.nn.bias_add %1, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = relax.nn.dense %2, %w : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %4 = relax.tanh %3 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = relax.multiply %4, %t : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %6 = relax.matmul %5, %m : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %6 : tensor<2x2xf32>
}

// A scale that reaches another one becomes part of it: the maximum cannot absorb both.
// CHECK-LABEL: @scale_of_scale
func.func @scale_of_scale(%x : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK-NEXT: relax.nn.relu %x
  // CHECK-NEXT: relax.constant dense<{{\[\[\[-6.*\]\], \[\[-1.2.*e\+01\]\]\]}}>
  // CHECK-NEXT: relax.multiply
  // CHECK-NEXT: relax.exp
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %t = relax.full -3.0 : tensor<f32>
  %0 = relax.multiply %x, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.relu %0 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.multiply %1, %t : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %3 = relax.exp %2 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %3 : tensor<1x2x3x3xf32>
}

// A scale that is not known to be finite does not move into a padded convolution: the first and the last window of the
// padding are 0, and 0 * NaN would be NaN. Without padding it moves.
// CHECK-LABEL: func.func @padded
func.func @padded(%x: tensor<1x2x4xf32>, %w: tensor<2x2x1xf32>, %s: tensor<2x1xf32>) -> (tensor<1x2x6xf32>, tensor<1x2x4xf32>) {
  // CHECK-NEXT: [[P:%.*]] = relax.multiply %x, %s
  // CHECK-NEXT: relax.nn.conv1d [[P]], %w {padding = [1]}
  // CHECK-NOT: relax.multiply %x
  // CHECK: relax.multiply %w
  // CHECK: relax.nn.conv1d %x
  %0 = relax.multiply %x, %s : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %1 = relax.nn.conv1d %0, %w {padding = [1]} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x6xf32>
  %2 = relax.multiply %x, %s : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %3 = relax.nn.conv1d %2, %w : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
  return %1, %3 : tensor<1x2x6xf32>, tensor<1x2x4xf32>
}

// Must not fire: a scale that is computed, into weights that are constant. Their product would be computed in each call,
// and the weights could not be packed when the function is compiled.
// UNCHANGED: @computed
func.func @computed(%x: tensor<1x2x4xf32>, %s: tensor<2x1xf32>) -> tensor<1x2x4xf32> {
  %w = relax.constant dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf32>
  %0 = relax.multiply %x, %s : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %1 = relax.nn.conv1d %0, %w : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
  return %1 : tensor<1x2x4xf32>
}
