// RUN: passline-opt %s -p 'combine-parallel-conv2d{min-num-branches=2}' | filecheck %s
// RUN: passline-opt %s -p combine-parallel-conv2d | filecheck %s --check-prefix=THREE

// Weights and biases of different numbers of channels; a convolution in between.
// CHECK-LABEL: @bias_relu
// CHECK-NEXT: [[W:%.*]] = relax.concatenate %a, %c : (tensor<2x3x1x1xf32>, tensor<1x3x1x1xf32>) -> tensor<3x3x1x1xf32>
// CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %x, [[W]] {strides = [2, 1], padding = [1, 0]}
// CHECK-NEXT: [[B:%.*]] = relax.concatenate %d, %e : (tensor<2x1x1xf32>, tensor<1x1x1xf32>) -> tensor<3x1x1xf32>
// CHECK-NEXT: [[S:%.*]] = relax.add [[B]], [[C]]
// CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[S]]
// CHECK-NEXT: [[P:%.*]], [[Q:%.*]] = relax.split [[R]] {indices = [2], axis = 1} : (tensor<1x3x3x2xf32>) -> (tensor<1x2x3x2xf32>, tensor<1x1x3x2xf32>)
// CHECK-NEXT: [[O:%.*]] = relax.nn.conv2d %x, %a :
// CHECK-NEXT: func.return [[P]], [[Q]], [[O]]
// Two are too few by default.
// THREE-LABEL: @bias_relu
// THREE-COUNT-3: relax.nn.conv2d
// THREE-NOT: relax.split
func.func @bias_relu(%x : tensor<1x3x4x2xf32>, %a : tensor<2x3x1x1xf32>, %c : tensor<1x3x1x1xf32>, %d : tensor<2x1x1xf32>, %e : tensor<1x1x1xf32>) -> (tensor<1x2x3x2xf32>, tensor<1x1x3x2xf32>, tensor<1x2x4x2xf32>) {
  %0 = relax.nn.conv2d %x, %a {strides = [2, 1], padding = [1, 0]} : (tensor<1x3x4x2xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x3x2xf32>
  %1 = relax.add %d, %0 : (tensor<2x1x1xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
  %2 = relax.nn.relu %1 : (tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
  %3 = relax.nn.conv2d %x, %a : (tensor<1x3x4x2xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x2xf32>
  %4 = relax.nn.conv2d %x, %c {strides = [2, 1], padding = [1, 0, 1, 0]} : (tensor<1x3x4x2xf32>, tensor<1x3x1x1xf32>) -> tensor<1x1x3x2xf32>
  %5 = relax.add %e, %4 : (tensor<1x1x1xf32>, tensor<1x1x3x2xf32>) -> tensor<1x1x3x2xf32>
  %6 = relax.nn.relu %5 : (tensor<1x1x3x2xf32>) -> tensor<1x1x3x2xf32>
  return %2, %6, %3 : tensor<1x2x3x2xf32>, tensor<1x1x3x2xf32>, tensor<1x2x4x2xf32>
}

// Constants are concatenated at once, fills of one number stay fills, and constants move up.
// CHECK-LABEL: @constants
// CHECK-NEXT: [[W:%.*]] = relax.constant dense<{{.*1.0.*2.0.*2.0.*}}> : tensor<3x1x1x1xf32>
// CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %x, [[W]]
// CHECK-NEXT: [[F:%.*]] = relax.full 3.{{0+}}{{.*}} : tensor<3x1x1xf32>
// CHECK-NEXT: [[M:%.*]] = relax.multiply [[C]], [[F]]
// CHECK-NEXT: [[H:%.*]] = relax.full {{.*}} : tensor<f32>
// CHECK-NEXT: [[N:%.*]] = relax.add [[M]], [[H]]
// CHECK-NEXT: [[P:%.*]], [[Q:%.*]] = relax.split [[N]] {indices = [1], axis = 1}
// CHECK-NEXT: func.return [[P]], [[Q]]
func.func @constants(%x : tensor<1x1x2x2xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x2x2x2xf32>) {
  %a = relax.constant dense<1.0> : tensor<1x1x1x1xf32>
  %0 = relax.nn.conv2d %x, %a : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %b = relax.full 3.0 : tensor<1x1x1xf32>
  %1 = relax.multiply %0, %b : (tensor<1x1x2x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %h = relax.full 0.5 : tensor<f32>
  %2 = relax.add %1, %h : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  %c = relax.full 2.0 : tensor<2x1x1x1xf32>
  %3 = relax.nn.conv2d %x, %c : (tensor<1x1x2x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %d = relax.full 3.0 : tensor<2x1x1xf32>
  %4 = relax.multiply %3, %d : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %i = relax.full 0.5 : tensor<f32>
  %5 = relax.add %4, %i : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  return %2, %5 : tensor<1x1x2x2xf32>, tensor<1x2x2x2xf32>
}

// Other layouts, an unknown batch, in a region; three branches, one of which ends earlier.
// CHECK-LABEL: @layouts
// CHECK: scf.if
// CHECK-NEXT: [[W:%.*]] = relax.concatenate %w, %w, %w {axis = 3}
// CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d %x, [[W]] {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<?x2x2x3xf32>, tensor<1x1x3x6xf32>) -> tensor<?x2x2x6xf32>
// CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[C]]
// CHECK-NEXT: [[P:%.*]], [[Q:%.*]], [[S:%.*]] = relax.split [[R]] {indices = [2, 4], axis = 3}
// CHECK-NEXT: [[E:%.*]] = relax.exp [[P]]
// CHECK-NEXT: [[F:%.*]] = relax.exp [[Q]]
// CHECK-NEXT: scf.yield [[E]], [[F]], [[S]]
// THREE-LABEL: @layouts
// THREE: relax.split
func.func @layouts(%c : i1, %x : tensor<?x2x2x3xf32>, %w : tensor<1x1x3x2xf32>, %o : tensor<?x2x2x2xf32>) -> (tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>) {
  %r, %s, %t = scf.if %c -> (tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>) {
    %0 = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<?x2x2x3xf32>, tensor<1x1x3x2xf32>) -> tensor<?x2x2x2xf32>
    %1 = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<?x2x2x3xf32>, tensor<1x1x3x2xf32>) -> tensor<?x2x2x2xf32>
    %2 = relax.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO"} : (tensor<?x2x2x3xf32>, tensor<1x1x3x2xf32>) -> tensor<?x2x2x2xf32>
    %3 = relax.nn.relu %0 : (tensor<?x2x2x2xf32>) -> tensor<?x2x2x2xf32>
    %4 = relax.nn.relu %1 : (tensor<?x2x2x2xf32>) -> tensor<?x2x2x2xf32>
    %5 = relax.nn.relu %2 : (tensor<?x2x2x2xf32>) -> tensor<?x2x2x2xf32>
    %6 = relax.exp %3 : (tensor<?x2x2x2xf32>) -> tensor<?x2x2x2xf32>
    %7 = relax.exp %4 : (tensor<?x2x2x2xf32>) -> tensor<?x2x2x2xf32>
    scf.yield %6, %7, %5 : tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>
  } else {
    scf.yield %o, %o, %o : tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>
  }
  return %r, %s, %t : tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>, tensor<?x2x2x2xf32>
}

// The following operations stay apart if they differ, have several uses, use each other, or another
// tensor that is not a vector along the channels.
// CHECK-LABEL: @following
// CHECK: [[A:%.*]], [[B:%.*]] = relax.split
// CHECK-NEXT: relax.nn.relu [[A]]
// CHECK-NEXT: relax.exp [[B]]
// CHECK: [[A:%.*]], [[B:%.*]] = relax.split
// CHECK-NEXT: relax.nn.leaky_relu [[A]] {alpha = 1.0
// CHECK-NEXT: relax.nn.leaky_relu [[B]] {alpha = 2.0
// CHECK: [[A:%.*]], [[B:%.*]] = relax.split
// CHECK-NEXT: relax.add [[A]], [[B]]
// CHECK: [[A:%.*]], [[B:%.*]] = relax.split
// CHECK-NEXT: relax.multiply [[A]], [[A]]
// CHECK-NEXT: relax.multiply [[B]], [[B]]
// CHECK: [[A:%.*]], [[B:%.*]] = relax.split
// CHECK-NEXT: relax.add [[A]], %x
// CHECK-NEXT: relax.add [[B]], %x
func.func @following(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %v : tensor<2x2x1x1xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.conv2d %x, %v : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.relu %0 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.exp %1 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %4 = relax.nn.conv2d %2, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %5 = relax.nn.conv2d %2, %v : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %6 = relax.nn.leaky_relu %4 {alpha = 0.1} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %7 = relax.nn.leaky_relu %5 {alpha = 0.2} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %8 = relax.nn.conv2d %3, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %9 = relax.nn.conv2d %3, %v : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %10 = relax.add %8, %9 : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %11 = relax.nn.conv2d %10, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %12 = relax.nn.conv2d %10, %v : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %13 = relax.multiply %11, %11 : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %14 = relax.multiply %12, %12 : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %15 = relax.nn.conv2d %13, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %16 = relax.nn.conv2d %13, %v : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %17 = relax.add %15, %x : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %18 = relax.add %16, %x : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  return %2, %3, %6, %7, %10, %13, %14, %17, %18 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// Scales of one number that differ, and biases that are defined too late, stay apart.
// CHECK-LABEL: @scalars
// CHECK: [[A:%.*]], [[B:%.*]] = relax.split
// CHECK: relax.multiply [[A]]
// CHECK: relax.multiply [[B]]
// CHECK-LABEL: @late
// CHECK: [[A:%.*]], [[B:%.*]] = relax.split
// CHECK: relax.add [[A]]
// CHECK: relax.add [[B]]
func.func @scalars(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %s : tensor<f32>, %t : tensor<f32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.multiply %0, %s : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %3 = relax.multiply %1, %t : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  return %2, %3 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}
func.func @late(%x : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %s : tensor<2x1x1xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %t = relax.exp %s : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %2 = relax.add %0, %s : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %3 = relax.add %1, %t : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %2, %3 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// Must not fire: other data, strides, padding, dilation, sizes, layouts, element types of the result, groups.
// UNCHANGED: @different
func.func @different(%x : tensor<1x2x3x3xf32>, %y : tensor<1x2x3x3xf32>, %w : tensor<2x2x1x1xf32>, %v : tensor<2x2x2x2xf32>, %g : tensor<2x1x1x1xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x2x2xf32>, tensor<1x2x5x5xf32>, tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>, tensor<1x3x3x2xf32>, tensor<1x2x3x3xf64>, tensor<1x2x3x3xf32>) {
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %1 = relax.nn.conv2d %y, %w : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %2 = relax.nn.conv2d %x, %w {strides = [2, 2]} : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %3 = relax.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x5xf32>
  %4 = relax.nn.conv2d %x, %v : (tensor<1x2x3x3xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %5 = relax.nn.conv2d %x, %v {dilation = [2, 2]} : (tensor<1x2x3x3xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x1x1xf32>
  %6 = relax.nn.conv2d %x, %w {out_layout = "NHWC"} : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x3x3x2xf32>
  %7 = relax.nn.conv2d %x, %w {out_dtype = f64} : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf64>
  %8 = relax.nn.conv2d %x, %g {groups = 2} : (tensor<1x2x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x2x2xf32>, tensor<1x2x5x5xf32>, tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>, tensor<1x3x3x2xf32>, tensor<1x2x3x3xf64>, tensor<1x2x3x3xf32>
}

// Must not fire: groups, a weight that depends on the first convolution, weights and channels in blocks.
// UNCHANGED: @unable
func.func @unable(%x : tensor<1x2x1x2xf32>, %g : tensor<2x1x1x1xf32>, %w : tensor<2x2x1x1xf32>, %b : tensor<1x1x1x1x2x2xf32>, %y : tensor<1x1x1x2x2xf32>) -> (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x1x1x2x2xf32>, tensor<1x1x1x2x2xf32>) {
  %0 = relax.nn.conv2d %x, %g {groups = 2} : (tensor<1x2x1x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x1x2xf32>
  %1 = relax.nn.conv2d %x, %g {groups = 2} : (tensor<1x2x1x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x1x2xf32>
  %2 = relax.nn.conv2d %x, %w : (tensor<1x2x1x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x1x2xf32>
  %3 = relax.reshape %2 {newshape = [2, 2, 1, 1]} : (tensor<1x2x1x2xf32>) -> tensor<2x2x1x1xf32>
  %4 = relax.nn.conv2d %x, %3 : (tensor<1x2x1x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x1x2xf32>
  %5 = relax.nn.conv2d %y, %b {data_layout = "NCHW2c", kernel_layout = "OIHW2i2o"} : (tensor<1x1x1x2x2xf32>, tensor<1x1x1x1x2x2xf32>) -> tensor<1x1x1x2x2xf32>
  %6 = relax.nn.conv2d %y, %b {data_layout = "NCHW2c", kernel_layout = "OIHW2i2o"} : (tensor<1x1x1x2x2xf32>, tensor<1x1x1x1x2x2xf32>) -> tensor<1x1x1x2x2xf32>
  return %0, %1, %2, %4, %5, %6 : tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>, tensor<1x1x1x2x2xf32>, tensor<1x1x1x2x2xf32>
}

// Must not fire: two blocks, a graph, a kernel.
// UNCHANGED: @places
func.func @places(%c : i1, %x : tensor<1x2x2x2xf32>, %w : tensor<2x2x1x1xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %1 = scf.if %c -> (tensor<1x2x2x2xf32>) {
    %2 = relax.nn.conv2d %x, %w : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32>
    scf.yield %2 : tensor<1x2x2x2xf32>
  } else {
    %3 = relax.graph -> tensor<1x2x2x2xf32> {
      %6 = relax.add %4, %5 : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
      %4 = relax.nn.conv2d %x, %w : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32>
      %5 = relax.nn.conv2d %x, %w : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32>
      relax.output %6 : tensor<1x2x2x2xf32>
    }
    scf.yield %3 : tensor<1x2x2x2xf32>
  }
  return %0, %1 : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}
func.func private @kernel(%x : tensor<1x2x2x2xf32>, %w : tensor<2x2x1x1xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) attributes {relax.primitive} {
  %0 = relax.nn.conv2d %x, %w : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %1 = relax.nn.conv2d %x, %w : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  return %0, %1 : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}
