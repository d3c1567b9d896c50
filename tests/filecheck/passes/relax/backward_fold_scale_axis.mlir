// RUN: passline-opt %s -p backward-fold-scale-axis | filecheck %s

// Must not fire: the convolution has two users, relu and the multiplication.
// UNCHANGED: @two_uses
func.func @two_uses(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.relu %0 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.multiply %0, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %1, %2 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// Must not fire: a scale that is not known to be above zero, after relu.
// UNCHANGED: @variable_behind_relu
func.func @variable_behind_relu(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %s : tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.relu %0 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.multiply %1, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %2 : tensor<1x2x3x3xf32>
}

// Must not fire: a negative scale after relu, and one with a zero before a maximum.
// UNCHANGED: @negative_behind_relu
func.func @negative_behind_relu(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %s = relax.constant dense<[[[2.0]], [[-4.0]]]> : tensor<2x1x1xf32>
  %z = relax.constant dense<[[[2.0]], [[0.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.relu %0 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.multiply %1, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.nn.conv2d %2, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.nn.max_pool2d %3 {pool_size = [1, 1]} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.multiply %4, %z : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %5 : tensor<1x2x3x3xf32>
}

// Must not fire: the results of two branches have different layouts: the scale is along the channels of one only.
// UNCHANGED: @layouts_differ
func.func @layouts_differ(%x : tensor<2x2x3x3xf32>, %w : tensor<2x2x1x1xf32>) -> tensor<2x2x3x3xf32> {
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<2x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x3x3xf32>
  %1 = relax.nn.conv2d %x, %w {out_layout = "CNHW"} : (tensor<2x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<2x2x3x3xf32>
  %2 = relax.add %0, %1 : (tensor<2x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %3 = relax.multiply %2, %s : (tensor<2x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<2x2x3x3xf32>
  return %3 : tensor<2x2x3x3xf32>
}

// Must not fire: an added tensor would need a multiplication of its own.
// UNCHANGED: @residual
func.func @residual(%x : tensor<1x2x3x3xf32>, %y : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.add %0, %y : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.multiply %1, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %2 : tensor<1x2x3x3xf32>
}

// Must not fire: scales of columns, of a factor that broadcasts the data, of integers, of unknown size, and
// infinite ones.
// UNCHANGED: @no_scale
func.func @no_scale(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %i : tensor<1x1x1x1xi32>, %d : tensor<1x2x3x?xf32>, %u : tensor<1x?x3x3xf32>, %v : tensor<?x2x1x1xf32>) {
  %s = relax.constant dense<[2.0, 4.0, 8.0]> : tensor<3xf32>
  %t = relax.constant dense<[[[[2.0]]], [[[4.0]]]]> : tensor<2x1x1x1xf32>
  %n = relax.constant dense<[[[2]]]> : tensor<1x1x1xi32>
  %c = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %e = relax.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %inf = relax.full 0x7f800000 : tensor<f32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.conv2d %i, %i : (tensor<1x1x1x1xi32>, tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32>
  %3 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.nn.conv2d %d, %w : (tensor<1x2x3x?xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x?xf32>
  %5 = relax.nn.conv2d %u, %v : (tensor<1x?x3x3xf32>, tensor<?x2x1x1xf32>) -> tensor<1x?x3x3xf32>
  %6 = relax.multiply %0, %s : (tensor<1x2x3x3xf32>, tensor<3xf32>) -> tensor<1x2x3x3xf32>
  %7 = relax.multiply %1, %t : (tensor<1x2x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<2x2x3x3xf32>
  %8 = relax.multiply %2, %n : (tensor<1x1x1x1xi32>, tensor<1x1x1xi32>) -> tensor<1x1x1x1xi32>
  %9 = relax.multiply %3, %inf : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %10 = relax.multiply %4, %e : (tensor<1x2x3x?xf32>, tensor<2xf32>) -> tensor<1x2x3x2xf32>
  %11 = relax.multiply %5, %c : (tensor<1x?x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return
}

// Must not fire: nothing crosses regions.
// UNCHANGED: @branch
func.func @branch(%p : i1, %x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = scf.if %p -> (tensor<1x2x3x3xf32>) {
    %2 = relax.multiply %0, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
    scf.yield %2 : tensor<1x2x3x3xf32>
  } else {
    scf.yield %x : tensor<1x2x3x3xf32>
  }
  return %1 : tensor<1x2x3x3xf32>
}

// Must not fire: the scale depends on the convolution, or is computed after it.
// UNCHANGED: @too_late
func.func @too_late(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %s : tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.exp %s : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %2 = relax.multiply %0, %1 : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %2 : tensor<1x2x3x3xf32>
}

// Must not fire: in a kernel.
// UNCHANGED: @primitive
func.func @primitive(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32> attributes {relax.primitive} {
  %s = relax.full 2.0 : tensor<f32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.multiply %0, %s : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  return %1 : tensor<1x2x3x3xf32>
}

// Constants are computed at once, and the old ones go.
// CHECK-LABEL: @conv_add_relu
func.func @conv_add_relu(%x : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK-NEXT: [[W:%.*]] = relax.constant dense<{{\[\[\[\[2.0+e\+00\]\], \[\[4.0+e\+00\]\]\], \[\[\[1.2+0*e\+01\]\], \[\[1.6+0*e\+01\]\]\]\]}}> : tensor<2x2x1x1xf32>
  // CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %x, [[W]]
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<{{\[\[\[2.0+e\+00\]\], \[\[-4.0+e\+00\]\]\]}}> : tensor<2x1x1xf32>
  // CHECK-NEXT: [[A:%.*]] = relax.add [[C]], [[B]]
  // CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[A]]
  // CHECK-NEXT: return [[R]]
  %w = relax.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %b = relax.constant dense<[[[1.0]], [[-1.0]]]> : tensor<2x1x1xf32>
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.add %0, %b : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.relu %1 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.multiply %2, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %3 : tensor<1x2x3x3xf32>
}

// Weights that are not constant are scaled by operations; a negative scale is valid without relu.
// CHECK-LABEL: @variable
func.func @variable(%x : tensor<?x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %b : tensor<2x1x1xf32>, %v : tensor<2x1x1xf32>) -> (tensor<?x2x3x3xf32>, tensor<?x2x3x3xf32>) {
  // CHECK-NEXT: [[S:%.*]] = relax.constant dense<{{.*}}> : tensor<2x1x1x1xf32>
  // CHECK-NEXT: [[W:%.*]] = relax.multiply %w, [[S]]
  // CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %x, [[W]]
  // CHECK-NEXT: [[T:%.*]] = relax.constant dense<{{.*}}> : tensor<2x1x1xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.multiply %b, [[T]]
  // CHECK-NEXT: [[A:%.*]] = relax.add [[C]], [[B]]
  // CHECK-NEXT: [[R:%.*]] = relax.reshape %v {newshape = [2, 1, 1, 1]}
  // CHECK-NEXT: [[V:%.*]] = relax.multiply %w, [[R]]
  // CHECK-NEXT: [[D:%.*]] = relax.nn.conv2d %x, [[V]]
  // CHECK-NEXT: return [[A]], [[D]]
  %s = relax.constant dense<[[[2.0]], [[-4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<?x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<?x2x3x3xf32>
  %1 = relax.add %0, %b : (tensor<?x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<?x2x3x3xf32>
  %2 = relax.multiply %1, %s : (tensor<?x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<?x2x3x3xf32>
  %3 = relax.nn.conv2d %x, %w : (tensor<?x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<?x2x3x3xf32>
  %4 = relax.multiply %v, %3 : (tensor<2x1x1xf32>, tensor<?x2x3x3xf32>) -> tensor<?x2x3x3xf32>
  return %2, %4 : tensor<?x2x3x3xf32>, tensor<?x2x3x3xf32>
}

// A chain of batch normalizations: one convolution, and one sum.
// CHECK-LABEL: @chain
func.func @chain(%x : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK-NEXT: [[W:%.*]] = relax.constant dense<{{\[\[\[\[4.0+e\+00\]\], \[\[8.0+e\+00\]\]\], \[\[\[2.4+0*e\+01\]\], \[\[3.2+0*e\+01\]\]\]\]}}> : tensor<2x2x1x1xf32>
  // CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %x, [[W]]
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<[1.300000e+01, 6.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT: [[A:%.*]] = relax.nn.bias_add [[C]], [[B]]
  // CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[A]]
  // CHECK-NEXT: return [[R]]
  %w = relax.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %b0 = relax.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %s1 = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %b1 = relax.constant dense<[[[[3.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>
  %s2 = relax.full 2.0 : tensor<2x1x1xf32>
  %b2 = relax.constant dense<[[[3.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.bias_add %0, %b0 : (tensor<1x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.multiply %1, %s1 : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.add %2, %b1 : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.multiply %3, %s2 : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.add %b2, %4 : (tensor<2x1x1xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %6 = relax.nn.relu %5 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %6 : tensor<1x2x3x3xf32>
}

// A scale that cannot move on is absorbed by another (as after the concatenations of DenseNet).
// CHECK-LABEL: @scale_of_scale
func.func @scale_of_scale(%x : tensor<1x2x3x3xf32>, %v : tensor<2x1x1xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  // CHECK-NEXT: [[S:%.*]] = relax.constant dense<{{\[\[\[1.0+e\+01\]\], \[\[-2.8.*e\+01\]\]\]}}>
  // CHECK-NEXT: [[M:%.*]] = relax.multiply %x, [[S]]
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<{{\[\[\[1.6.*e\+01\]\], \[\[2.2.*e\+01\]\]\]}}>
  // CHECK-NEXT: [[A:%.*]] = relax.add [[M]], [[B]]
  // CHECK-NEXT: [[N:%.*]] = relax.full 4.0
  // CHECK-NEXT: [[V:%.*]] = relax.multiply %v, [[N]]
  // CHECK-NEXT: [[P:%.*]] = relax.multiply %x, [[V]]
  // CHECK-NEXT: return [[A]], [[P]]
  %s1 = relax.constant dense<[[[2.0]], [[-4.0]]]> : tensor<2x1x1xf32>
  %b1 = relax.constant dense<[[[3.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %s2 = relax.constant dense<[[[5.0]], [[7.0]]]> : tensor<2x1x1xf32>
  %b2 = relax.constant dense<[[[1.0]], [[8.0]]]> : tensor<2x1x1xf32>
  %four = relax.full 4.0 : tensor<f32>
  %0 = relax.multiply %x, %s1 : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.add %0, %b1 : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.multiply %1, %s2 : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.add %2, %b2 : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.multiply %x, %v : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.multiply %4, %four : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  return %3, %5 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// Both branches of a sum absorb the scale.
// CHECK-LABEL: @two_branches
func.func @two_branches(%x : tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK: relax.constant dense<{{\[\[\[\[2.0+e\+00\]\], \[\[4.0+e\+00\]\]\], \[\[\[1.2+0*e\+01\]\], \[\[1.6+0*e\+01\]\]\]\]}}>
  // CHECK: relax.constant dense<{{\[\[\[\[2.0+e\+00\]\], \[\[4.0+e\+00\]\]\], \[\[\[1.2+0*e\+01\]\], \[\[1.6+0*e\+01\]\]\]\]}}>
  // CHECK-NOT: relax.multiply
  %w = relax.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.relu %0 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.nn.relu %2 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.add %1, %3 : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.multiply %4, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %5 : tensor<1x2x3x3xf32>
}

// Two levels: the weights of all three convolutions are scaled, and a weight of two is copied.
// CHECK-LABEL: @two_levels
func.func @two_levels(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK-COUNT-3: relax.multiply %w, {{%.*}} : (tensor<2x2x1x1xf32>, tensor<2x1x1x1xf32>)
  // CHECK-NOT: relax.multiply
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.multiply %0, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.relu %1 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.nn.conv2d %2, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.multiply %3, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.nn.relu %4 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %6 = relax.nn.conv2d %2, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %7 = relax.multiply %6, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %8 = relax.nn.relu %7 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %9 = relax.add %5, %8 : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %9 : tensor<1x2x3x3xf32>
}

// The blocks of channels of results and of weights need not be the same.
// CHECK-LABEL: @blocked
func.func @blocked(%x : tensor<1x2x3x3x2xf32>, %w : tensor<2x2x1x1x2x4xf32>, %b : tensor<4x1x1x2xf32>, %s : tensor<4x1x1x2xf32>) -> tensor<1x4x3x3x2xf32> {
  // CHECK-NEXT: [[S:%.*]] = relax.reshape %s {newshape = [2, 1, 1, 1, 1, 4]}
  // CHECK-NEXT: [[W:%.*]] = relax.multiply %w, [[S]]
  // CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %x, [[W]]
  // CHECK-NEXT: [[B:%.*]] = relax.multiply %b, %s
  // CHECK-NEXT: [[A:%.*]] = relax.add [[C]], [[B]]
  // CHECK-NEXT: return [[A]]
  %0 = relax.nn.conv2d %x, %w {data_layout = "NCHW2c", kernel_layout = "OIHW2i4o"} : (tensor<1x2x3x3x2xf32>, tensor<2x2x1x1x2x4xf32>) -> tensor<1x4x3x3x2xf32>
  %1 = relax.add %0, %b : (tensor<1x4x3x3x2xf32>, tensor<4x1x1x2xf32>) -> tensor<1x4x3x3x2xf32>
  %2 = relax.multiply %1, %s : (tensor<1x4x3x3x2xf32>, tensor<4x1x1x2xf32>) -> tensor<1x4x3x3x2xf32>
  return %2 : tensor<1x4x3x3x2xf32>
}

// Dense: the rows of the weights are the columns of the result.
// CHECK-LABEL: @dense
func.func @dense(%x : tensor<1x3xf32>, %w : tensor<2x3xf32>, %b : tensor<2xf32>) -> tensor<1x2xf32> {
  // CHECK-NEXT: relax.constant dense<{{.*}}> : tensor<2x1xf32>
  // CHECK-NEXT: [[W:%.*]] = relax.multiply %w
  // CHECK-NEXT: [[D:%.*]] = relax.nn.dense %x, [[W]]
  // CHECK-NEXT: relax.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.multiply %b
  // CHECK-NEXT: [[A:%.*]] = relax.add [[D]], [[B]]
  // CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[A]]
  // CHECK-NEXT: return [[R]]
  %s = relax.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %0 = relax.nn.dense %x, %w : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
  %1 = relax.add %0, %b : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %2 = relax.nn.relu %1 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %3 = relax.multiply %2, %s : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
}

// A bias is a vector.
// CHECK-LABEL: @bias_add
func.func @bias_add(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %b : tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  // CHECK: [[S:%.*]] = relax.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.multiply %b, [[S]]
  // CHECK-NEXT: relax.nn.bias_add {{%.*}}, [[B]]
  // CHECK-NEXT: relax.nn.relu
  // CHECK-NEXT: return
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.bias_add %0, %b : (tensor<1x2x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.relu %1 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.multiply %2, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %3 : tensor<1x2x3x3xf32>
}

// One and three spatial dimensions, channels last, groups, transposed.
// CHECK-LABEL: @convolutions
func.func @convolutions(%a : tensor<1x2x4xf32>, %b : tensor<1x2x2x2x2xf32>, %c : tensor<1x3x3x4xf32>, %d : tensor<1x4x3x3xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x2x2x2xf32>, tensor<1x3x3x4xf32>, tensor<1x4x3x3xf32>) {
  // CHECK-NOT: relax.multiply
  %s2 = relax.constant dense<[[2.0], [-4.0]]> : tensor<2x1xf32>
  %s3 = relax.constant dense<[[[[2.0]]], [[[-4.0]]]]> : tensor<2x1x1x1xf32>
  %s4 = relax.constant dense<[2.0, -4.0, 8.0, 0.5]> : tensor<4xf32>
  %s5 = relax.constant dense<[[[2.0]], [[-4.0]], [[8.0]], [[0.5]]]> : tensor<4x1x1xf32>
  %w1 = relax.constant dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf32>
  %w3 = relax.constant dense<[[[[[1.0]]], [[[2.0]]]], [[[[3.0]]], [[[4.0]]]]]> : tensor<2x2x1x1x1xf32>
  %w2 = relax.constant dense<[[[[1.0, 2.0, 3.0, 4.0]]]]> : tensor<1x1x1x4xf32>
  %wt = relax.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]], [[[7.0]], [[8.0]]]]> : tensor<4x2x1x1xf32>
  %0 = relax.nn.conv1d %a, %w1 : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
  %1 = relax.multiply %0, %s2 : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  %2 = relax.nn.conv3d %b, %w3 : (tensor<1x2x2x2x2xf32>, tensor<2x2x1x1x1xf32>) -> tensor<1x2x2x2x2xf32>
  %3 = relax.multiply %2, %s3 : (tensor<1x2x2x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2x2xf32>
  %4 = relax.nn.conv2d %c, %w2 {data_layout = "NHWC", kernel_layout = "HWIO", groups = 4} : (tensor<1x3x3x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x3x3x4xf32>
  %5 = relax.multiply %4, %s4 : (tensor<1x3x3x4xf32>, tensor<4xf32>) -> tensor<1x3x3x4xf32>
  %6 = relax.nn.conv2d_transpose %d, %wt {groups = 2} : (tensor<1x4x3x3xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x3x3xf32>
  %7 = relax.multiply %6, %s5 : (tensor<1x4x3x3xf32>, tensor<4x1x1xf32>) -> tensor<1x4x3x3xf32>
  return %1, %3, %5, %7 : tensor<1x2x4xf32>, tensor<1x2x2x2x2xf32>, tensor<1x3x3x4xf32>, tensor<1x4x3x3xf32>
}

// A fill stays one, or a broadcast of a small constant.
// CHECK-LABEL: @fills
func.func @fills(%x : tensor<1x2x3x3xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  // CHECK-NEXT: [[W:%.*]] = relax.full 1.000000e+00 : tensor<2x2x3x3xf32>
  // CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %x, [[W]]
  // CHECK-NEXT: [[S:%.*]] = relax.constant dense<{{.*}}> : tensor<2x1x1x1xf32>
  // CHECK-NEXT: [[V:%.*]] = relax.broadcast_to [[S]] {shape = [2, 2, 3, 3]}
  // CHECK-NEXT: [[D:%.*]] = relax.nn.conv2d %x, [[V]]
  // CHECK-NEXT: return [[C]], [[D]]
  %w = relax.full 0.5 : tensor<2x2x3x3xf32>
  %two = relax.full 2.0 : tensor<2x1x1xf32>
  %s = relax.constant dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.multiply %0, %two : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.multiply %2, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %1, %3 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// Through operations on each channel: pooling, padding, transposition, activations.
// CHECK-LABEL: @through
func.func @through(%x : tensor<1x2x4x4xf32>, %a : tensor<2xf32>, %w : tensor<2x2x1x1xf32>) -> tensor<1x1x1x2xf32> {
  // CHECK: [[W:%.*]] = relax.multiply %w
  // CHECK-NEXT: relax.nn.conv2d %x, [[W]]
  // CHECK-NOT: relax.multiply
  %s = relax.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = relax.nn.prelu %0, %a : (tensor<1x2x4x4xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %2 = relax.nn.leaky_relu %1 {alpha = 0.5 : f64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = relax.nn.pad %2 {pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x6xf32>
  %4 = relax.nn.max_pool2d %3 {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.nn.avg_pool2d %4 {pool_size = [2, 2], out_layout = "NHWC"} : (tensor<1x2x3x3xf32>) -> tensor<1x2x2x2xf32>
  %6 = relax.transpose %5 {axes = [0, 3, 1, 2]} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %7 = relax.transpose %6 {axes = [0, 2, 3, 1]} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %8 = relax.nn.global_avg_pool2d %7 {layout = "NHWC"} : (tensor<1x2x2x2xf32>) -> tensor<1x1x1x2xf32>
  %9 = relax.multiply %8, %s : (tensor<1x1x1x2xf32>, tensor<2xf32>) -> tensor<1x1x1x2xf32>
  return %9 : tensor<1x1x1x2xf32>
}

// In a graph and in a branch.
// CHECK-LABEL: @graph
func.func @graph(%p : i1, %x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %s : tensor<2x1x1xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  // CHECK: relax.graph
  // CHECK-NEXT: [[E:%.*]] = relax.exp %s
  // CHECK-NEXT: [[R:%.*]] = relax.reshape [[E]]
  // CHECK-NEXT: [[W:%.*]] = relax.multiply %w, [[R]]
  // CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %x, [[W]]
  // CHECK-NEXT: relax.output [[C]]
  // CHECK: scf.if
  // CHECK: [[V:%.*]] = relax.multiply %w
  // CHECK-NEXT: [[D:%.*]] = relax.nn.conv2d %x, [[V]]
  // CHECK-NEXT: scf.yield [[D]]
  %0 = relax.graph -> tensor<1x2x3x3xf32> {
    %e = relax.exp %s : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
    %2 = relax.multiply %1, %e : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
    %1 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
    relax.output %2 : tensor<1x2x3x3xf32>
  }
  %3 = scf.if %p -> (tensor<1x2x3x3xf32>) {
    %4 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
    %5 = relax.multiply %4, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
    scf.yield %5 : tensor<1x2x3x3xf32>
  } else {
    scf.yield %x : tensor<1x2x3x3xf32>
  }
  return %0, %3 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}
// Must not fire: a scale that is computed, into weights that are constant.
// UNCHANGED: @computed
func.func @computed(%x: tensor<1x2x3x3xf32>, %s: tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %w = relax.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.multiply %0, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %1 : tensor<1x2x3x3xf32>
}
