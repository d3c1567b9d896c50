// RUN: passline-opt %s -p recognize-ops | filecheck %s

// CHECK-LABEL: @gelu
func.func @gelu(%x : tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: [[A:%.*]] = relax.nn.gelu %x
  // CHECK: [[B:%.*]] = relax.nn.gelu %x
  // CHECK: [[C:%.*]] = relax.nn.gelu %x
  // CHECK: [[D:%.*]] = relax.nn.gelu %x
  // CHECK-NEXT: func.return [[A]], [[B]], [[C]], [[D]]
  %half = relax.full 0.5 : tensor<f32>
  %one = relax.full 1.0 : tensor<f32>
  %two = relax.full 2.0 : tensor<f32>
  %r = relax.full 1.41421354 : tensor<f32>
  %i = relax.full 0.707106769 : tensor<f32>
  %0 = relax.divide %x, %r : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = relax.erf %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = relax.add %1, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = relax.multiply %x, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = relax.multiply %3, %half : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = relax.multiply %i, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = relax.erf %4 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = relax.add %one, %5 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = relax.multiply %half, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = relax.multiply %6, %7 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = relax.multiply %i, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = relax.erf %m : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = relax.add %one, %8 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = relax.multiply %half, %9 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = relax.multiply %10, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = relax.multiply %i, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %12 = relax.erf %11 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %13 = relax.add %one, %12 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %14 = relax.multiply %x, %13 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = relax.divide %14, %two : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %a, %b, %c, %d : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// Another factor, another operand, a sum with other uses, a constant with several elements.
// UNCHANGED: @no_gelu
func.func @no_gelu(%x : tensor<2x3xf32>, %y : tensor<2x3xf32>, %z : tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %half = relax.full 0.5 : tensor<f32>
  %halves = relax.constant dense<[0.5, 0.25, 0.5]> : tensor<3xf32>
  %wide = relax.full 0.5 : tensor<2x1xf32>
  %one = relax.full 1.0 : tensor<f32>
  %r = relax.full 1.5 : tensor<f32>
  %i = relax.full 0.707106769 : tensor<f32>
  %0 = relax.divide %x, %r : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = relax.erf %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = relax.add %1, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = relax.multiply %x, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = relax.multiply %3, %half : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = relax.multiply %i, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = relax.erf %4 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = relax.add %one, %5 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = relax.multiply %half, %y : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = relax.multiply %6, %7 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = relax.multiply %6, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = relax.multiply %8, %half : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %9 = relax.multiply %i, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = relax.erf %9 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = relax.add %one, %10 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %12 = relax.multiply %x, %11 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = relax.multiply %12, %halves : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // The constant makes the result larger.
  %13 = relax.multiply %i, %z : (tensor<f32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  %14 = relax.erf %13 : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %15 = relax.add %one, %14 : (tensor<f32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  %16 = relax.multiply %z, %15 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  %e = relax.multiply %16, %wide : (tensor<1x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %a, %b, %c, %d, %e : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @gelu_tanh
func.func @gelu_tanh(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: [[A:%.*]] = relax.nn.gelu_tanh %x
  // CHECK: [[B:%.*]] = relax.nn.gelu_tanh %x
  // CHECK-NEXT: func.return [[A]], [[B]]
  %half = relax.full 0.5 : tensor<f32>
  %one = relax.full 1.0 : tensor<f32>
  %c = relax.full 4.471500e-02 : tensor<f32>
  %s = relax.full 0.797884583 : tensor<f32>
  %three = relax.full 3.0 : tensor<f32>
  %0 = relax.power %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relax.multiply %c, %0 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.add %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.multiply %s, %2 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.tanh %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = relax.add %4, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %6 = relax.multiply %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a = relax.multiply %6, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // x * s * (1 + c * x * x)
  %7 = relax.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %8 = relax.multiply %7, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %9 = relax.add %8, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %10 = relax.multiply %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %11 = relax.multiply %10, %9 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %12 = relax.tanh %11 : (tensor<4xf32>) -> tensor<4xf32>
  %13 = relax.add %one, %12 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %14 = relax.multiply %x, %13 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = relax.multiply %14, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @silu
func.func @silu(%x : tensor<4xf32>, %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: [[A:%.*]] = relax.nn.silu %x
  // CHECK: [[B:%.*]] = relax.nn.silu %x
  // CHECK-NEXT: [[C:%.*]] = relax.sigmoid %x
  // CHECK-NEXT: [[D:%.*]] = relax.multiply %y, [[C]]
  // CHECK-NEXT: func.return [[A]], [[B]], [[D]]
  %one = relax.full 1.0 : tensor<f32>
  %0 = relax.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %a = relax.multiply %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.add %2, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = relax.divide %x, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = relax.multiply %y, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Not without the maximum, along two axes, or with a sum along another axis.
// CHECK-LABEL: @softmax
func.func @softmax(%x : tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: [[A:%.*]] = relax.nn.softmax %x {{.*}}tensor<2x3xf32>
  // CHECK-NOT: softmax
  // CHECK: func.return [[A]]
  %0 = relax.max %x {axis = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = relax.subtract %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = relax.exp %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = relax.sum %2 {axis = [-1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %a = relax.divide %2, %3 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %4 = relax.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = relax.sum %4 {axis = [0], keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %b = relax.divide %4, %5 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %6 = relax.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = relax.sum %6 {axis = [0, 1], keepdims = true} : (tensor<2x3xf32>) -> tensor<1x1xf32>
  %c = relax.divide %6, %7 : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %8 = relax.max %x {axis = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %9 = relax.subtract %x, %8 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %10 = relax.exp %9 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = relax.sum %10 {axis = [0], keepdims = true} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %d = relax.divide %10, %11 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %a, %b, %c, %d : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// With both parameters, and with beta alone, which has a dimension of size 1 more.
// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x : tensor<2x3xf32>, %g : tensor<3xf32>, %b : tensor<3xf32>, %b2 : tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: [[A:%.*]] = relax.nn.layer_norm %x, %g, %b {axes = [1], epsilon = {{.*}}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: [[R:%.*]] = relax.reshape %b2 {{.*}} -> tensor<3xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.nn.layer_norm %x, %{{.*}}, [[R]] {axes = [1], epsilon = {{.*}}, scale = false}
  // CHECK-NEXT: func.return [[A]], [[B]]
  %two = relax.full 2.0 : tensor<f32>
  %e = relax.full 0.5 : tensor<f32>
  %f32 = relax.full 1.0e-3 : tensor<1xf32>
  %0 = relax.mean %x {axis = [-1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = relax.subtract %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = relax.power %1, %two : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = relax.mean %2 {axis = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = relax.add %3, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %5 = relax.sqrt %4 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %6 = relax.divide %1, %5 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %7 = relax.multiply %6, %g : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %a = relax.add %7, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %8 = relax.mean %x {axis = [-1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %9 = relax.subtract %x, %8 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %10 = relax.subtract %x, %8 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %11 = relax.multiply %9, %9 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %12 = relax.mean %11 {axis = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %13 = relax.add %f32, %12 : (tensor<1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %14 = relax.rsqrt %13 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %15 = relax.multiply %10, %14 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %16 = relax.add %15, %b2 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %a, %16 : tensor<2x3xf32>, tensor<2x3xf32>
}

// As TensorFlow writes it: x * factor + (beta - mean * factor).
// CHECK-LABEL: @folded
func.func @folded(%x : tensor<2x3xf32>, %b : tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: [[G:%.*]] = relax.constant
  // CHECK: [[A:%.*]] = relax.nn.layer_norm %x, [[G]], %b {axes = [1], epsilon = 5.000000e-01 : f64}
  // CHECK-NEXT: func.return [[A]]
  %g = relax.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %e = relax.full 0.5 : tensor<f32>
  %0 = relax.mean %x {axis = [-1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = relax.subtract %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = relax.square %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = relax.mean %2 {axis = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = relax.add %3, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %5 = relax.rsqrt %4 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %6 = relax.multiply %5, %g : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %7 = relax.multiply %x, %6 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = relax.multiply %0, %6 : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = relax.subtract %b, %8 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = relax.add %7, %9 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %a : tensor<2x3xf32>
}

// A factor that may be infinite.
// UNCHANGED: @folded_unknown
func.func @folded_unknown(%x : tensor<2x3xf32>, %g : tensor<3xf32>, %b : tensor<3xf32>) -> tensor<2x3xf32> {
  %e = relax.full 0.5 : tensor<f32>
  %0 = relax.mean %x {axis = [-1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = relax.subtract %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = relax.square %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = relax.mean %2 {axis = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = relax.add %3, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %5 = relax.rsqrt %4 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %6 = relax.multiply %5, %g : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %7 = relax.multiply %x, %6 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = relax.multiply %0, %6 : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = relax.subtract %b, %8 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = relax.add %7, %9 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %a : tensor<2x3xf32>
}

// A shift along another dimension, beside a factor with a dimension of size 1 more.
// UNCHANGED: @folded_other
func.func @folded_other(%x : tensor<2x3xf32>, %b : tensor<2x1xf32>) -> tensor<2x3xf32> {
  %g = relax.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  %e = relax.full 0.5 : tensor<f32>
  %0 = relax.mean %x {axis = [-1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = relax.subtract %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = relax.square %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = relax.mean %2 {axis = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = relax.add %3, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %5 = relax.rsqrt %4 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %6 = relax.multiply %5, %g : (tensor<2x1xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %7 = relax.multiply %x, %6 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = relax.multiply %0, %6 : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = relax.subtract %b, %8 : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = relax.add %7, %9 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %a : tensor<2x3xf32>
}

// Parameters along another axis, or of other shapes, stay beside the normalization.
// CHECK-LABEL: @parameters
func.func @parameters(%x : tensor<3x3xf32>, %g : tensor<3x1xf32>, %h : tensor<f32>, %y : tensor<2x3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x3x3xf32>) {
  // CHECK-COUNT-3: relax.nn.layer_norm {{.*}}center = false, scale = false}
  // CHECK-NOT: relax.nn.layer_norm
  %e = relax.full 0.5 : tensor<f32>
  %0 = relax.mean %x {axis = [-1], keepdims = true} : (tensor<3x3xf32>) -> tensor<3x1xf32>
  %1 = relax.subtract %x, %0 : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %2 = relax.square %1 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %3 = relax.mean %2 {axis = [1], keepdims = true} : (tensor<3x3xf32>) -> tensor<3x1xf32>
  %4 = relax.add %3, %e : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %5 = relax.rsqrt %4 : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %6 = relax.multiply %1, %5 : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %a = relax.multiply %6, %g : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %m = relax.mean %x {axis = [-1], keepdims = true} : (tensor<3x3xf32>) -> tensor<3x1xf32>
  %7 = relax.subtract %x, %m : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %8 = relax.square %7 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %9 = relax.mean %8 {axis = [1], keepdims = true} : (tensor<3x3xf32>) -> tensor<3x1xf32>
  %10 = relax.add %9, %e : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %11 = relax.rsqrt %10 : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %12 = relax.mean %x {axis = [-1], keepdims = true} : (tensor<3x3xf32>) -> tensor<3x1xf32>
  %13 = relax.subtract %x, %12 : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %14 = relax.multiply %13, %11 : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %b = relax.add %14, %h : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  %15 = relax.mean %x {axis = [-1], keepdims = true} : (tensor<3x3xf32>) -> tensor<3x1xf32>
  %16 = relax.subtract %x, %15 : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %17 = relax.square %16 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %18 = relax.mean %17 {axis = [1], keepdims = true} : (tensor<3x3xf32>) -> tensor<3x1xf32>
  %19 = relax.add %18, %e : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %20 = relax.rsqrt %19 : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %21 = relax.multiply %16, %20 : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %c = relax.add %21, %y : (tensor<3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  return %a, %b, %c : tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x3x3xf32>
}

// An epsilon for each row.
// UNCHANGED: @epsilon
func.func @epsilon(%x : tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = relax.constant dense<[[0.5], [0.25]]> : tensor<2x1xf32>
  %0 = relax.mean %x {axis = [-1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = relax.subtract %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = relax.square %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = relax.mean %2 {axis = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = relax.add %3, %e : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %5 = relax.rsqrt %4 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %6 = relax.multiply %1, %5 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %6 : tensor<2x3xf32>
}

// Epsilon outside of the root.
// UNCHANGED: @outside
func.func @outside(%x : tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = relax.full 0.5 : tensor<f32>
  %0 = relax.mean %x {axis = [-1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = relax.subtract %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %2 = relax.square %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = relax.mean %2 {axis = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %4 = relax.sqrt %3 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %5 = relax.add %4, %e : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %6 = relax.divide %1, %5 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %6 : tensor<2x3xf32>
}

// A mean along another axis, a variance without its dimension (of 3), a deviation used elsewhere.
// UNCHANGED: @axes
func.func @axes(%x : tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x1xf32>) {
  %e = relax.full 0.5 : tensor<f32>
  %0 = relax.mean %x {axis = [0], keepdims = true} : (tensor<3x3xf32>) -> tensor<1x3xf32>
  %1 = relax.subtract %x, %0 : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  %2 = relax.square %1 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %3 = relax.mean %2 {axis = [1], keepdims = true} : (tensor<3x3xf32>) -> tensor<3x1xf32>
  %4 = relax.add %3, %e : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %5 = relax.sqrt %4 : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %more = relax.exp %1 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %6 = relax.divide %more, %5 : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %7 = relax.square %x : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %8 = relax.mean %7 {axis = [1]} : (tensor<3x3xf32>) -> tensor<3xf32>
  %9 = relax.add %8, %e : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %10 = relax.sqrt %9 : (tensor<3xf32>) -> tensor<3xf32>
  %11 = relax.divide %x, %10 : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  %12 = relax.square %x : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %13 = relax.mean %12 {axis = [1], keepdims = true} : (tensor<3x3xf32>) -> tensor<3x1xf32>
  %14 = relax.add %13, %e : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  %15 = relax.sqrt %14 : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %16 = relax.divide %x, %15 : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  return %6, %11, %16, %15 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x1xf32>
}

// Rounded in between: the elements are of another type than the result.
// UNCHANGED: @rounded
func.func @rounded(%x : tensor<2x3xf32>) -> tensor<2x3xf16> {
  %e = relax.full 0.5 : tensor<f16>
  %h = relax.astype %x {dtype = f16} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  %s = relax.square %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = relax.mean %s {axis = [1], keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %n = relax.astype %m {dtype = f16} : (tensor<2x1xf32>) -> tensor<2x1xf16>
  %0 = relax.add %n, %e : (tensor<2x1xf16>, tensor<f16>) -> tensor<2x1xf16>
  %1 = relax.sqrt %0 : (tensor<2x1xf16>) -> tensor<2x1xf16>
  %2 = relax.divide %h, %1 : (tensor<2x3xf16>, tensor<2x1xf16>) -> tensor<2x3xf16>
  return %2 : tensor<2x3xf16>
}

// Over two axes, with a weight, and a second factor that stays.
// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x : tensor<2x3x4xf32>, %w : tensor<3x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK: [[A:%.*]] = relax.nn.rms_norm %x, %w {axes = [1, 2], epsilon = 5.000000e-01 : f64}
  // CHECK-NEXT: [[B:%.*]] = relax.multiply [[A]], %w
  // CHECK-NEXT: func.return [[B]]
  %e = relax.full 0.5 : tensor<f32>
  %one = relax.full 1.0 : tensor<f32>
  %two = relax.full 2.0 : tensor<f32>
  %0 = relax.power %x, %two : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %1 = relax.mean %0 {axis = [1, 2], keepdims = true} : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
  %2 = relax.add %1, %e : (tensor<2x1x1xf32>, tensor<f32>) -> tensor<2x1x1xf32>
  %3 = relax.sqrt %2 : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %4 = relax.divide %one, %3 : (tensor<f32>, tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %5 = relax.multiply %4, %x : (tensor<2x1x1xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %6 = relax.multiply %w, %5 : (tensor<3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %7 = relax.multiply %6, %w : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  return %7 : tensor<2x3x4xf32>
}
