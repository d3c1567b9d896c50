// RUN: passline-opt %s -p recognize-ops | filecheck %s

// Without a scale, 1; keys and values as batch, length, heads, dim.
// CHECK-LABEL: @plain
// CHECK: relax.transpose %q {axes = [0, 2, 1, 3]}
// CHECK-NEXT: relax.transpose %k {axes = [0, 3, 1, 2]}
// CHECK-NEXT: relax.transpose %v {axes = [0, 2, 1, 3]}
// CHECK-NEXT: [[A:%.*]] = relax.nn.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.000000e+00 : f64} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT: relax.transpose [[A]] {axes = [0, 2, 1, 3]}
// CHECK-NEXT: func.return
func.func @plain(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Scales of the products, the queries and the keys are one; a mask is added.
// CHECK-LABEL: @scales
// CHECK: relax.nn.attention {{.*}}%mask {scale = 1.562500e-02 : f64}
func.func @scales(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>, %mask : tensor<2x1x1x5xf32>) -> tensor<2x4x3x6xf32> {
  %c = relax.full 0.5 : tensor<f32>
  %d = relax.full 8.0 : tensor<f32>
  %q1 = relax.multiply %c, %q : (tensor<f32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  %k1 = relax.divide %k, %d : (tensor<2x4x8x5xf32>, tensor<f32>) -> tensor<2x4x8x5xf32>
  %0 = relax.matmul %q1, %k1 : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.multiply %0, %c : (tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %2 = relax.divide %1, %c : (tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %3 = relax.multiply %2, %c : (tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %4 = relax.multiply %3, %c : (tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %5 = relax.add %mask, %4 : (tensor<2x1x1x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %6 = relax.nn.softmax %5 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %6, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// The transpositions of projections are undone: batch, length, heads, dim.
// CHECK-LABEL: @transposed
// CHECK-NOT: relax.transpose
// CHECK: [[A:%.*]] = relax.nn.attention %q, %k, %v
// CHECK-NEXT: relax.transpose [[A]]
func.func @transposed(%q : tensor<2x3x4x8xf32>, %k : tensor<2x5x4x8xf32>, %v : tensor<2x5x4x6xf32>) -> tensor<2x4x3x6xf32> {
  %qt = relax.transpose %q {axes = [0, 2, 1, 3]} : (tensor<2x3x4x8xf32>) -> tensor<2x4x3x8xf32>
  %kt = relax.transpose %k {axes = [0, 2, 1, 3]} : (tensor<2x5x4x8xf32>) -> tensor<2x4x5x8xf32>
  %ktt = relax.transpose %kt {axes = [0, 1, 3, 2]} : (tensor<2x4x5x8xf32>) -> tensor<2x4x8x5xf32>
  %vt = relax.transpose %v {axes = [0, 2, 1, 3]} : (tensor<2x5x4x6xf32>) -> tensor<2x4x5x6xf32>
  %0 = relax.matmul %qt, %ktt : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %vt : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// A condition; where it is true, of the negated one.
// CHECK-LABEL: @where
// CHECK: relax.nn.attention {{.*}}%m {scale = 1.000000e+00 : f64, masked_value = -1.000000e+09 : f64}
// CHECK: [[N:%.*]] = relax.logical_not %m
// CHECK: relax.nn.attention {{.*}}[[N]] {scale = 1.000000e+00 : f64} 
func.func @where(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>, %m : tensor<1x1x3x5xi1>) -> tensor<2x4x3x6xf32> {
  %f = relax.full -1.0e9 : tensor<f32>
  %g = relax.full 0xFF800000 : tensor<f32>
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.where %m, %0, %f : (tensor<1x1x3x5xi1>, tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %2 = relax.nn.softmax %1 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %3 = relax.matmul %2, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  %4 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %5 = relax.where %m, %g, %4 : (tensor<1x1x3x5xi1>, tensor<f32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %6 = relax.nn.softmax %5 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %7 = relax.matmul %6, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  %r = relax.add %3, %7 : (tensor<2x4x3x6xf32>, tensor<2x4x3x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Constant masks that are causal, by a condition or added.
// CHECK-LABEL: @causal
// CHECK: relax.nn.attention %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {scale = 1.000000e+00 : f64, causal_mask = "TopLeft"}
// CHECK: relax.nn.attention %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {scale = 1.000000e+00 : f64, causal_mask = "BottomRight"}
func.func @causal(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32> {
  %m = relax.constant dense<[[true, false, false, false, false], [true, true, false, false, false], [true, true, true, false, false]]> : tensor<3x5xi1>
  %b = relax.constant dense<[[0.0, 0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, -3.4e38], [0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<3x5xf32>
  %g = relax.full 0xFF800000 : tensor<f32>
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.where %m, %0, %g : (tensor<3x5xi1>, tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %2 = relax.nn.softmax %1 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %3 = relax.matmul %2, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  %4 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %5 = relax.add %4, %b : (tensor<2x4x3x5xf32>, tensor<3x5xf32>) -> tensor<2x4x3x5xf32>
  %6 = relax.nn.softmax %5 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %7 = relax.matmul %6, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  %r = relax.add %3, %7 : (tensor<2x4x3x6xf32>, tensor<2x4x3x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Not causal: masked scores are finite, or the mask is another. They stay masks.
// CHECK-LABEL: @not_causal
// CHECK: relax.nn.attention %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %m {scale = 1.000000e+00 : f64, masked_value = -1.000000e+04 : f64}
// CHECK: relax.nn.attention %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %b {scale = 1.000000e+00 : f64}
func.func @not_causal(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32> {
  %m = relax.constant dense<[[true, false, false, false, false], [true, true, false, false, false], [true, true, true, false, false]]> : tensor<3x5xi1>
  %b = relax.constant dense<[[0.0, 0.0, 0.0, 0xFF800000, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<3x5xf32>
  %g = relax.full -1.0e4 : tensor<f32>
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.where %m, %0, %g : (tensor<3x5xi1>, tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %2 = relax.nn.softmax %1 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %3 = relax.matmul %2, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  %4 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %5 = relax.add %4, %b : (tensor<2x4x3x5xf32>, tensor<3x5xf32>) -> tensor<2x4x3x5xf32>
  %6 = relax.nn.softmax %5 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %7 = relax.matmul %6, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  %r = relax.add %3, %7 : (tensor<2x4x3x6xf32>, tensor<2x4x3x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Heads of keys and values that queries share are not repeated.
// CHECK-LABEL: @grouped
// CHECK-NOT: relax.broadcast_to
// CHECK: relax.nn.attention {{.*}} : (tensor<2x3x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x8xf32>) -> tensor<2x3x4x8xf32>
func.func @grouped(%q : tensor<2x4x3x8xf32>, %k : tensor<2x2x5x8xf32>, %v : tensor<2x2x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %k1 = relax.expand_dims %k {axis = [2]} : (tensor<2x2x5x8xf32>) -> tensor<2x2x1x5x8xf32>
  %k2 = relax.broadcast_to %k1 {shape = [2, 2, 2, 5, 8]} : (tensor<2x2x1x5x8xf32>) -> tensor<2x2x2x5x8xf32>
  %k3 = relax.reshape %k2 {newshape = [2, 4, 5, 8]} : (tensor<2x2x2x5x8xf32>) -> tensor<2x4x5x8xf32>
  %v1 = relax.expand_dims %v {axis = [2]} : (tensor<2x2x5x8xf32>) -> tensor<2x2x1x5x8xf32>
  %v2 = relax.broadcast_to %v1 {shape = [2, 2, 2, 5, 8]} : (tensor<2x2x1x5x8xf32>) -> tensor<2x2x2x5x8xf32>
  %v3 = relax.reshape %v2 {newshape = [2, 4, 5, 8]} : (tensor<2x2x2x5x8xf32>) -> tensor<2x4x5x8xf32>
  %kt = relax.transpose %k3 {axes = [0, 1, 3, 2]} : (tensor<2x4x5x8xf32>) -> tensor<2x4x8x5xf32>
  %0 = relax.matmul %q, %kt : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v3 : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// All heads one after the other, twice: each query has the keys of another head.
// CHECK-LABEL: @repeated_all
// CHECK: relax.broadcast_to
// CHECK: relax.nn.attention {{.*}} : (tensor<2x3x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>)
func.func @repeated_all(%q : tensor<2x4x3x8xf32>, %k : tensor<2x2x5x8xf32>, %v : tensor<2x2x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %k1 = relax.expand_dims %k {axis = [1]} : (tensor<2x2x5x8xf32>) -> tensor<2x1x2x5x8xf32>
  %k2 = relax.broadcast_to %k1 {shape = [2, 2, 2, 5, 8]} : (tensor<2x1x2x5x8xf32>) -> tensor<2x2x2x5x8xf32>
  %k3 = relax.reshape %k2 {newshape = [2, 4, 5, 8]} : (tensor<2x2x2x5x8xf32>) -> tensor<2x4x5x8xf32>
  %v1 = relax.expand_dims %v {axis = [1]} : (tensor<2x2x5x8xf32>) -> tensor<2x1x2x5x8xf32>
  %v2 = relax.broadcast_to %v1 {shape = [2, 2, 2, 5, 8]} : (tensor<2x1x2x5x8xf32>) -> tensor<2x2x2x5x8xf32>
  %v3 = relax.reshape %v2 {newshape = [2, 4, 5, 8]} : (tensor<2x2x2x5x8xf32>) -> tensor<2x4x5x8xf32>
  %kt = relax.transpose %k3 {axes = [0, 1, 3, 2]} : (tensor<2x4x5x8xf32>) -> tensor<2x4x8x5xf32>
  %0 = relax.matmul %q, %kt : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v3 : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// One head of keys and values for all queries.
// CHECK-LABEL: @one_head
// CHECK: relax.nn.attention {{.*}} : (tensor<2x3x4x8xf32>, tensor<2x5x1x8xf32>, tensor<2x5x1x6xf32>)
func.func @one_head(%q : tensor<2x4x3x8xf32>, %k : tensor<2x1x8x5xf32>, %v : tensor<2x1x5x6xf32>) -> tensor<2x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x1x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x1x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Three dimensions are batch, length, dim.
// CHECK-LABEL: @batches
// CHECK: relax.nn.attention {{.*}} : (tensor<6x3x1x8xf32>, tensor<6x5x1x8xf32>, tensor<6x5x1x8xf32>, tensor<6x1x3x5xf32>)
func.func @batches(%q : tensor<6x3x8xf32>, %k : tensor<6x5x8xf32>, %v : tensor<6x5x8xf32>, %m : tensor<6x3x5xf32>) -> tensor<6x3x8xf32> {
  %0 = relax.nn.batch_matmul %q, %k : (tensor<6x3x8xf32>, tensor<6x5x8xf32>) -> tensor<6x3x5xf32>
  %1 = relax.add %0, %m : (tensor<6x3x5xf32>, tensor<6x3x5xf32>) -> tensor<6x3x5xf32>
  %2 = relax.nn.softmax %1 : (tensor<6x3x5xf32>) -> tensor<6x3x5xf32>
  %r = relax.nn.batch_matmul %2, %v {transpose_b = false} : (tensor<6x3x5xf32>, tensor<6x5x8xf32>) -> tensor<6x3x8xf32>
  return %r : tensor<6x3x8xf32>
}

// The first of three dimensions is that of heads, if it is transposed from the second.
// CHECK-LABEL: @by_heads
// CHECK-NOT: relax.transpose
// CHECK: relax.nn.attention {{.*}} : (tensor<1x3x6x8xf32>, tensor<1x5x6x8xf32>, tensor<1x5x6x8xf32>)
func.func @by_heads(%q : tensor<3x6x8xf32>, %k : tensor<5x6x8xf32>, %v : tensor<5x6x8xf32>) -> tensor<6x3x8xf32> {
  %qt = relax.transpose %q {axes = [1, 0, 2]} : (tensor<3x6x8xf32>) -> tensor<6x3x8xf32>
  %kt = relax.transpose %k {axes = [1, 2, 0]} : (tensor<5x6x8xf32>) -> tensor<6x8x5xf32>
  %vt = relax.transpose %v {axes = [1, 0, 2]} : (tensor<5x6x8xf32>) -> tensor<6x5x8xf32>
  %0 = relax.matmul %qt, %kt : (tensor<6x3x8xf32>, tensor<6x8x5xf32>) -> tensor<6x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<6x3x5xf32>) -> tensor<6x3x5xf32>
  %r = relax.matmul %1, %vt : (tensor<6x3x5xf32>, tensor<6x5x8xf32>) -> tensor<6x3x8xf32>
  return %r : tensor<6x3x8xf32>
}

// One head of one batch element.
// CHECK-LABEL: @matrices
// CHECK: relax.nn.attention {{.*}} : (tensor<1x3x1x8xf32>, tensor<1x5x1x8xf32>, tensor<1x5x1x8xf32>)
func.func @matrices(%q : tensor<3x8xf32>, %k : tensor<8x5xf32>, %v : tensor<5x8xf32>) -> tensor<3x8xf32> {
  %0 = relax.matmul %q, %k : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %r = relax.matmul %1, %v : (tensor<3x5xf32>, tensor<5x8xf32>) -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}

// PyTorch replaces weights that are NaN by zeros.
// CHECK-LABEL: @zeros
// CHECK: relax.nn.attention {{.*}} {scale = 1.000000e+00 : f64, nan_to_zero = true}
// CHECK-NOT: relax.isnan
func.func @zeros(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32> {
  %z = relax.full 0.0 : tensor<f32>
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %2 = relax.isnan %1 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xi1>
  %3 = relax.where %2, %z, %1 : (tensor<2x4x3x5xi1>, tensor<f32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %3, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// PyTorch transposes keys with batch and heads as one dimension, here heads that are repeated.
// CHECK-LABEL: @matrices_of_keys
// CHECK: [[K:%.*]] = relax.transpose %k {axes = [0, 2, 1, 3]}
// CHECK-NEXT: [[V:%.*]] = relax.transpose %v {axes = [0, 2, 1, 3]}
// CHECK-NEXT: relax.nn.attention %{{.*}}, [[K]], [[V]] {{.*}} (tensor<2x3x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x8xf32>)
func.func @matrices_of_keys(%q : tensor<2x4x3x8xf32>, %k : tensor<2x2x5x8xf32>, %v : tensor<2x2x5x8xf32>) -> tensor<2x4x3x8xf32> {
  %k0 = relax.expand_dims %k {axis = [2]} : (tensor<2x2x5x8xf32>) -> tensor<2x2x1x5x8xf32>
  %k1 = relax.broadcast_to %k0 {shape = [2, 2, 2, 5, 8]} : (tensor<2x2x1x5x8xf32>) -> tensor<2x2x2x5x8xf32>
  %k2 = relax.reshape %k1 {newshape = [8, 5, 8]} : (tensor<2x2x2x5x8xf32>) -> tensor<8x5x8xf32>
  %k3 = relax.transpose %k2 {axes = [0, 2, 1]} : (tensor<8x5x8xf32>) -> tensor<8x8x5xf32>
  %k4 = relax.reshape %k3 {newshape = [2, 4, 8, 5]} : (tensor<8x8x5xf32>) -> tensor<2x4x8x5xf32>
  %v0 = relax.expand_dims %v {axis = [2]} : (tensor<2x2x5x8xf32>) -> tensor<2x2x1x5x8xf32>
  %v1 = relax.broadcast_to %v0 {shape = [2, 2, 2, 5, 8]} : (tensor<2x2x1x5x8xf32>) -> tensor<2x2x2x5x8xf32>
  %v2 = relax.reshape %v1 {newshape = [2, 4, 5, 8]} : (tensor<2x2x2x5x8xf32>) -> tensor<2x4x5x8xf32>
  %0 = relax.matmul %q, %k4 : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v2 : (tensor<2x4x3x5xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

// Must not: another number than zero, and weights that are used elsewhere.
// UNCHANGED: @not_zeros
func.func @not_zeros(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>) -> (tensor<2x4x3x6xf32>, tensor<2x4x3x6xf32>, tensor<2x4x3x5xi1>) {
  %z = relax.full 0.0 : tensor<f32>
  %o = relax.full 1.0 : tensor<f32>
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %2 = relax.isnan %1 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xi1>
  %3 = relax.where %2, %o, %1 : (tensor<2x4x3x5xi1>, tensor<f32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %3, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  %4 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %5 = relax.nn.softmax %4 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %6 = relax.isnan %5 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xi1>
  %7 = relax.where %6, %z, %5 : (tensor<2x4x3x5xi1>, tensor<f32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %s = relax.matmul %7, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r, %s, %6 : tensor<2x4x3x6xf32>, tensor<2x4x3x6xf32>, tensor<2x4x3x5xi1>
}

// Must not: a softmax along another axis.
// UNCHANGED: @axis
func.func @axis(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 {axis = 2} : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Must not: probabilities that have other uses.
// UNCHANGED: @probabilities
func.func @probabilities(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>) -> (tensor<2x4x3x6xf32>, tensor<2x4x3x5xf32>) {
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r, %1 : tensor<2x4x3x6xf32>, tensor<2x4x3x5xf32>
}

// Must not: scores that have other uses.
// UNCHANGED: @scores
func.func @scores(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>) -> (tensor<2x4x3x6xf32>, tensor<2x4x3x5xf32>) {
  %c = relax.full 0.5 : tensor<f32>
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %s = relax.multiply %0, %c : (tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %s : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r, %0 : tensor<2x4x3x6xf32>, tensor<2x4x3x5xf32>
}

// Must not: a scale for each key.
// UNCHANGED: @vector_scale
func.func @vector_scale(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>, %c : tensor<5xf32>) -> tensor<2x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %s = relax.multiply %0, %c : (tensor<2x4x3x5xf32>, tensor<5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %s : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Must not: a scale that is not known.
// UNCHANGED: @unknown_scale
func.func @unknown_scale(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>, %c : tensor<f32>) -> tensor<2x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %s = relax.multiply %0, %c : (tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %s : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Must not: a scale above 1, by which queries may become infinite.
// UNCHANGED: @great_scale
func.func @great_scale(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32> {
  %c = relax.full 2.0 : tensor<f32>
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %s = relax.multiply %0, %c : (tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %s : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Must not: a scale after the mask.
// UNCHANGED: @scale_after_mask
func.func @scale_after_mask(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>, %m : tensor<2x4x3x5xf32>) -> tensor<2x4x3x6xf32> {
  %c = relax.full 0.5 : tensor<f32>
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %a = relax.add %0, %m : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %s = relax.multiply %a, %c : (tensor<2x4x3x5xf32>, tensor<f32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %s : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Must not: two masks, whose sum may be infinite.
// UNCHANGED: @two_masks
func.func @two_masks(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>, %m : tensor<2x4x3x5xf32>) -> tensor<2x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %a = relax.add %0, %m : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %s = relax.add %a, %m : (tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %s : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Must not: a fill for each key.
// UNCHANGED: @fills
func.func @fills(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf32>, %m : tensor<3x5xi1>, %f : tensor<5xf32>) -> tensor<2x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %a = relax.where %m, %0, %f : (tensor<3x5xi1>, tensor<2x4x3x5xf32>, tensor<5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %a : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Must not: a mask that broadcasts the scores.
// UNCHANGED: @larger
func.func @larger(%q : tensor<1x4x3x8xf32>, %k : tensor<1x4x8x5xf32>, %v : tensor<2x4x5x6xf32>, %m : tensor<2x1x1x5xf32>) -> tensor<2x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<1x4x3x8xf32>, tensor<1x4x8x5xf32>) -> tensor<1x4x3x5xf32>
  %a = relax.add %0, %m : (tensor<1x4x3x5xf32>, tensor<2x1x1x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %a : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Must not: keys that all batch elements share.
// UNCHANGED: @broadcast_keys
func.func @broadcast_keys(%q : tensor<2x4x3x8xf32>, %k : tensor<1x4x8x5xf32>, %v : tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<1x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<2x4x3x5xf32>, tensor<2x4x5x6xf32>) -> tensor<2x4x3x6xf32>
  return %r : tensor<2x4x3x6xf32>
}

// Must not: leading dimensions that may broadcast at run time.
// UNCHANGED: @unknown_batch
func.func @unknown_batch(%q : tensor<?x4x3x8xf32>, %k : tensor<?x4x8x5xf32>, %v : tensor<?x4x5x6xf32>) -> tensor<?x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<?x4x3x8xf32>, tensor<?x4x8x5xf32>) -> tensor<?x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<?x4x3x5xf32>) -> tensor<?x4x3x5xf32>
  %r = relax.matmul %1, %v : (tensor<?x4x3x5xf32>, tensor<?x4x5x6xf32>) -> tensor<?x4x3x6xf32>
  return %r : tensor<?x4x3x6xf32>
}

// Batches of equal names do not broadcast, nor does a mask of one batch.
// CHECK-LABEL: @equal_batch
// CHECK: relax.nn.attention {{.*}} : (tensor<?x3x4x8xf32>, tensor<?x5x4x8xf32>, tensor<?x5x4x6xf32>, tensor<1x3x5xf32>) -> tensor<?x3x4x6xf32>
func.func @equal_batch(%q : tensor<?x4x3x8xf32> {onnx.dims = ["b", unit, unit, unit]}, %k : tensor<?x4x8x5xf32> {onnx.dims = ["b", unit, unit, unit]}, %v : tensor<?x4x5x6xf32> {onnx.dims = ["b", unit, unit, unit]}, %mask : tensor<1x3x5xf32>) -> tensor<?x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<?x4x3x8xf32>, tensor<?x4x8x5xf32>) -> tensor<?x4x3x5xf32>
  %1 = relax.add %0, %mask : (tensor<?x4x3x5xf32>, tensor<1x3x5xf32>) -> tensor<?x4x3x5xf32>
  %2 = relax.nn.softmax %1 : (tensor<?x4x3x5xf32>) -> tensor<?x4x3x5xf32>
  %r = relax.matmul %2, %v : (tensor<?x4x3x5xf32>, tensor<?x4x5x6xf32>) -> tensor<?x4x3x6xf32>
  return %r : tensor<?x4x3x6xf32>
}

// The mask may make the scores larger.
// UNCHANGED: @mask_of_other_batch
func.func @mask_of_other_batch(%q : tensor<?x4x3x8xf32> {onnx.dims = ["b", unit, unit, unit]}, %k : tensor<?x4x8x5xf32> {onnx.dims = ["b", unit, unit, unit]}, %v : tensor<?x4x5x6xf32> {onnx.dims = ["b", unit, unit, unit]}, %mask : tensor<?x1x3x5xf32> {onnx.dims = ["n", unit, unit, unit]}) -> tensor<?x4x3x6xf32> {
  %0 = relax.matmul %q, %k : (tensor<?x4x3x8xf32>, tensor<?x4x8x5xf32>) -> tensor<?x4x3x5xf32>
  %1 = relax.add %0, %mask : (tensor<?x4x3x5xf32>, tensor<?x1x3x5xf32>) -> tensor<?x4x3x5xf32>
  %2 = relax.nn.softmax %1 : (tensor<?x4x3x5xf32>) -> tensor<?x4x3x5xf32>
  %r = relax.matmul %2, %v : (tensor<?x4x3x5xf32>, tensor<?x4x5x6xf32>) -> tensor<?x4x3x6xf32>
  return %r : tensor<?x4x3x6xf32>
}

// Must not: probabilities rounded to another type.
// UNCHANGED: @rounded
func.func @rounded(%q : tensor<2x4x3x8xf32>, %k : tensor<2x4x8x5xf32>, %v : tensor<2x4x5x6xf16>) -> tensor<2x4x3x6xf16> {
  %0 = relax.matmul %q, %k : (tensor<2x4x3x8xf32>, tensor<2x4x8x5xf32>) -> tensor<2x4x3x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
  %2 = relax.astype %1 {dtype = f16} : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf16>
  %r = relax.matmul %2, %v : (tensor<2x4x3x5xf16>, tensor<2x4x5x6xf16>) -> tensor<2x4x3x6xf16>
  return %r : tensor<2x4x3x6xf16>
}
