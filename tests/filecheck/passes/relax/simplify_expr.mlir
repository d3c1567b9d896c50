// RUN: passline-opt %s -p simplify-expr | filecheck %s

// Sums with constants are one sum, and products one product, on whichever side the constant is.
// CHECK-LABEL: @consecutive
func.func @consecutive(%x : tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.constant dense<{{.*}}6.000000e+00{{.*}}, {{.*}}7.000000e+00{{.*}}> : tensor<2x1xf32>
  // CHECK-NEXT: [[S:%.*]] = relax.add %x, [[A]] : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<{{.*}}8.000000e+00{{.*}}, {{.*}}1.600000e+01{{.*}}> : tensor<2x1xf32>
  // CHECK-NEXT: [[P:%.*]] = relax.multiply %x, [[B]]
  // CHECK-NEXT: func.return [[S]], [[P]]
  %a = relax.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %two = relax.full 2.0 : tensor<f32>
  %three = relax.full 3.0 : tensor<2xf32>
  %0 = relax.add %a, %x : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.add %0, %two : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = relax.add %three, %1 : (tensor<2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = relax.multiply %x, %two : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %4 = relax.multiply %3, %a : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %5 = relax.full 4.0 : tensor<2x2xf32>
  %6 = relax.multiply %4, %5 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2, %6 : tensor<2x2xf32>, tensor<2x2xf32>
}

// Other associative and commutative operations; integers wrap around.
// CHECK-LABEL: @others
func.func @others(%x : tensor<2xi8>, %y : tensor<2xi1>) -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi1>) {
  // CHECK-NEXT: [[A:%.*]] = relax.full -56 : tensor<i8>
  // CHECK-NEXT: relax.add %x, [[A]]
  // CHECK-NEXT: [[B:%.*]] = relax.full 100 : tensor<i8>
  // CHECK-NEXT: relax.minimum %x, [[B]]
  // CHECK-NEXT: [[C:%.*]] = relax.full 4 : tensor<i8>
  // CHECK-NEXT: relax.bitwise_and %x, [[C]]
  // CHECK-NEXT: [[D:%.*]] = relax.constant dense<[true, false]> : tensor<2xi1>
  // CHECK-NEXT: relax.logical_xor %y, [[D]]
  // CHECK-NEXT: func.return
  %a = relax.full 100 : tensor<i8>
  %b = relax.full 101 : tensor<i8>
  %c = relax.full 6 : tensor<i8>
  %t = relax.full true : tensor<2xi1>
  %u = relax.constant dense<[false, true]> : tensor<2xi1>
  %0 = relax.add %x, %a : (tensor<2xi8>, tensor<i8>) -> tensor<2xi8>
  %1 = relax.add %0, %a : (tensor<2xi8>, tensor<i8>) -> tensor<2xi8>
  %2 = relax.minimum %x, %a : (tensor<2xi8>, tensor<i8>) -> tensor<2xi8>
  %3 = relax.minimum %2, %b : (tensor<2xi8>, tensor<i8>) -> tensor<2xi8>
  %4 = relax.bitwise_and %x, %a : (tensor<2xi8>, tensor<i8>) -> tensor<2xi8>
  %5 = relax.bitwise_and %4, %c : (tensor<2xi8>, tensor<i8>) -> tensor<2xi8>
  %6 = relax.logical_xor %y, %t : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %7 = relax.logical_xor %6, %u : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return %1, %3, %5, %7 : tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi1>
}

// A difference with a constant is a sum.
// CHECK-LABEL: @subtract
func.func @subtract(%x : tensor<2xf32>, %y : tensor<2xui8>) -> (tensor<2xf32>, tensor<2xui8>) {
  // CHECK-NEXT: [[A:%.*]] = relax.constant dense<[2.000000e+00, 1.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT: [[X:%.*]] = relax.add %x, [[A]]
  // CHECK-NEXT: [[B:%.*]] = relax.full 255 : tensor<ui8>
  // CHECK-NEXT: [[Y:%.*]] = relax.add %y, [[B]]
  %a = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = relax.full 3.0 : tensor<f32>
  %c = relax.full 1 : tensor<ui8>
  %0 = relax.subtract %x, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = relax.add %0, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = relax.subtract %y, %c : (tensor<2xui8>, tensor<ui8>) -> tensor<2xui8>
  return %1, %2 : tensor<2xf32>, tensor<2xui8>
}

// A normalization with a product and a sum after it becomes one product and one sum.
// CHECK-LABEL: @scales
func.func @scales(%x : tensor<2x2x1xf32>) -> tensor<2x2x1xf32> {
  // CHECK-NEXT: [[A:%.*]] = relax.constant dense<{{.*}}6.000000e+00{{.*}}, {{.*}}1.200000e+01{{.*}}> : tensor<2x1xf32>
  // CHECK-NEXT: [[M:%.*]] = relax.multiply %x, [[A]]
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<{{.*}}3.100000e+01{{.*}}, {{.*}}6.100000e+01{{.*}}> : tensor<2x1xf32>
  // CHECK-NEXT: [[S:%.*]] = relax.add [[M]], [[B]]
  // CHECK-NEXT: func.return [[S]]
  %a = relax.constant dense<[[2.0], [4.0]]> : tensor<2x1xf32>
  %b = relax.constant dense<[[10.0], [20.0]]> : tensor<2x1xf32>
  %c = relax.full 3.0 : tensor<2x1xf32>
  %d = relax.full 1.0 : tensor<2x1xf32>
  %0 = relax.multiply %x, %a : (tensor<2x2x1xf32>, tensor<2x1xf32>) -> tensor<2x2x1xf32>
  %1 = relax.add %0, %b : (tensor<2x2x1xf32>, tensor<2x1xf32>) -> tensor<2x2x1xf32>
  %2 = relax.multiply %1, %c : (tensor<2x2x1xf32>, tensor<2x1xf32>) -> tensor<2x2x1xf32>
  %3 = relax.add %2, %d : (tensor<2x2x1xf32>, tensor<2x1xf32>) -> tensor<2x2x1xf32>
  return %3 : tensor<2x2x1xf32>
}

// Fills stay fills, and a constant gets no larger than needed.
// CHECK-LABEL: @sizes
func.func @sizes(%x : tensor<64x64xf32>, %y : tensor<2x2xf32>) -> (tensor<64x64xf32>, tensor<2x2xf32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.full 5.000000e+00 : tensor<64x64xf32>
  // CHECK-NEXT: relax.add %x, [[A]]
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<{{.*}}3.000000e+00, 4.000000e+00{{.*}}> : tensor<1x2xf32>
  // CHECK-NEXT: relax.add %y, [[B]]
  %a = relax.full 2.0 : tensor<64x64xf32>
  %b = relax.full 3.0 : tensor<64x1xf32>
  %c = relax.full 2.0 : tensor<2x2xf32>
  %d = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relax.add %x, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = relax.add %0, %b : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %2 = relax.add %y, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = relax.add %2, %d : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %1, %3 : tensor<64x64xf32>, tensor<2x2xf32>
}

// Operations with their identity element.
// CHECK-LABEL: @neutral
func.func @neutral(%x : tensor<2xf32>, %i : tensor<2xi32>, %c : tensor<2xi1>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xi1>) {
  // CHECK-NEXT: func.return %x, %i, %c
  %0 = relax.full 0.0 : tensor<f32>
  %1 = relax.constant dense<1.0> : tensor<2xf32>
  %2 = relax.add %x, %0 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = relax.multiply %1, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = relax.subtract %3, %0 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = relax.divide %4, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %6 = relax.power %5, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %7 = relax.full 0 : tensor<i32>
  %8 = relax.left_shift %i, %7 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %9 = relax.right_shift %8, %7 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %10 = relax.bitwise_or %7, %9 : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  %11 = relax.bitwise_xor %10, %7 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %12 = relax.full true : tensor<i1>
  %13 = relax.full false : tensor<i1>
  %14 = relax.logical_and %12, %c : (tensor<i1>, tensor<2xi1>) -> tensor<2xi1>
  %15 = relax.logical_or %14, %13 : (tensor<2xi1>, tensor<i1>) -> tensor<2xi1>
  %16 = relax.logical_xor %13, %15 : (tensor<i1>, tensor<2xi1>) -> tensor<2xi1>
  return %6, %11, %16 : tensor<2xf32>, tensor<2xi32>, tensor<2xi1>
}

// CHECK-LABEL: @root
func.func @root(%x : tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: [[R:%.*]] = relax.rsqrt %x
  // CHECK-NEXT: func.return [[R]]
  %0 = relax.full 1.0 : tensor<2xf32>
  %1 = relax.sqrt %x : (tensor<2xf32>) -> tensor<2xf32>
  %2 = relax.divide %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// Reshapes by whatever operation are one, and none if the shape is as it was.
// CHECK-LABEL: @reshapes
func.func @reshapes(%x : tensor<2x3x4xf32>, %y : tensor<?x4xf32>) -> (tensor<6x4xf32>, tensor<2x3x4xf32>, tensor<?x4xf32>, tensor<4x?xf32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.reshape %x {newshape = [6, 4]} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.reshape %y {newshape = [4, -1]} : (tensor<?x4xf32>) -> tensor<4x?xf32>
  // CHECK-NEXT: func.return [[A]], %x, %y, [[B]]
  %0 = relax.nn.batch_flatten %x : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %1 = relax.expand_dims %0 {axis = [1]} : (tensor<2x12xf32>) -> tensor<2x1x12xf32>
  %2 = relax.reshape %1 {newshape = [-1, 4]} : (tensor<2x1x12xf32>) -> tensor<6x4xf32>
  %3 = relax.expand_dims %x {axis = [0, 2]} : (tensor<2x3x4xf32>) -> tensor<1x2x1x3x4xf32>
  %4 = relax.squeeze %3 : (tensor<1x2x1x3x4xf32>) -> tensor<2x3x4xf32>
  %5 = relax.flatten %y : (tensor<?x4xf32>) -> tensor<?xf32>
  %6 = relax.reshape %5 {newshape = [-1, 4]} : (tensor<?xf32>) -> tensor<?x4xf32>
  %7 = relax.reshape %6 {newshape = [4, -1]} : (tensor<?x4xf32>) -> tensor<4x?xf32>
  return %2, %4, %6, %7 : tensor<6x4xf32>, tensor<2x3x4xf32>, tensor<?x4xf32>, tensor<4x?xf32>
}

// Dimensions of size 0 are sizes.
// CHECK-LABEL: @empty
func.func @empty(%x : tensor<0x3xf32>) -> tensor<2x0xf32> {
  // CHECK-NEXT: relax.reshape %x {newshape = [2, 0], allowzero = true} : (tensor<0x3xf32>) -> tensor<2x0xf32>
  %0 = relax.flatten %x : (tensor<0x3xf32>) -> tensor<0xf32>
  %1 = relax.reshape %0 {newshape = [2, 0], allowzero = true} : (tensor<0xf32>) -> tensor<2x0xf32>
  return %1 : tensor<2x0xf32>
}

// A transposition of dimensions that are merged before it and split after it.
// CHECK-LABEL: @merged_transposes
// CHECK-NEXT: relax.transpose %x {axes = [0, 1, 3, 2]} : (tensor<2x1x4x5xf32>) -> tensor<2x1x5x4xf32>
// CHECK-NEXT: [[V:%.*]] = relax.reshape %y {newshape = [6, 4, 5]} : (tensor<2x3x2x2x5xf32>) -> tensor<6x4x5xf32>
// CHECK-NEXT: relax.transpose [[V]] {axes = [1, 2, 0]} : (tensor<6x4x5xf32>) -> tensor<4x5x6xf32>
// CHECK-NEXT: [[W:%.*]] = relax.reshape %y {newshape = [6, 4, 5]} : (tensor<2x3x2x2x5xf32>) -> tensor<6x4x5xf32>
// CHECK-NEXT: [[T:%.*]] = relax.transpose [[W]] {axes = [1, 0, 2]}
// CHECK-NEXT: relax.reshape [[T]] {newshape = [8, 15]}
func.func @merged_transposes(%x : tensor<2x1x4x5xf32>, %y : tensor<2x3x2x2x5xf32>) -> (tensor<2x1x5x4xf32>, tensor<4x5x6xf32>, tensor<8x15xf32>) {
  %0 = relax.reshape %x {newshape = [2, 4, 5]} : (tensor<2x1x4x5xf32>) -> tensor<2x4x5xf32>
  %1 = relax.transpose %0 {axes = [0, 2, 1]} : (tensor<2x4x5xf32>) -> tensor<2x5x4xf32>
  %2 = relax.reshape %1 {newshape = [2, 1, 5, 4]} : (tensor<2x5x4xf32>) -> tensor<2x1x5x4xf32>
  %3 = relax.reshape %y {newshape = [6, 20]} : (tensor<2x3x2x2x5xf32>) -> tensor<6x20xf32>
  %4 = relax.transpose %3 {axes = [1, 0]} : (tensor<6x20xf32>) -> tensor<20x6xf32>
  %5 = relax.reshape %4 {newshape = [4, 5, 6]} : (tensor<20x6xf32>) -> tensor<4x5x6xf32>
  %6 = relax.reshape %y {newshape = [6, 4, 5]} : (tensor<2x3x2x2x5xf32>) -> tensor<6x4x5xf32>
  %7 = relax.transpose %6 {axes = [1, 0, 2]} : (tensor<6x4x5xf32>) -> tensor<4x6x5xf32>
  %8 = relax.reshape %7 {newshape = [8, 15]} : (tensor<4x6x5xf32>) -> tensor<8x15xf32>
  return %2, %5, %8 : tensor<2x1x5x4xf32>, tensor<4x5x6xf32>, tensor<8x15xf32>
}

// CHECK-LABEL: @transposes
func.func @transposes(%x : tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.transpose %x {axes = [2, 0, 1]} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  // CHECK-NEXT: func.return [[A]], %x, %x
  %0 = relax.transpose %x {axes = [1, 0, -1]} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = relax.transpose %0 {axes = [2, 1, 0]} : (tensor<3x2x4xf32>) -> tensor<4x2x3xf32>
  %2 = relax.transpose %x : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %3 = relax.transpose %2 : (tensor<4x3x2xf32>) -> tensor<2x3x4xf32>
  %4 = relax.transpose %x {axes = [0, 1, 2]} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %1, %3, %4 : tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: @layouts
func.func @layouts(%x : tensor<1x4x2x2xf32>) -> (tensor<1x2x2x4xf32>, tensor<1x4x2x2xf32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x4x2x2xf32>) -> tensor<1x2x2x4xf32>
  // CHECK-NEXT: func.return [[A]], %x
  %0 = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW2c"} : (tensor<1x4x2x2xf32>) -> tensor<1x2x2x2x2xf32>
  %1 = relax.layout_transform %0 {src_layout = "NCHW2c", dst_layout = "NHWC"} : (tensor<1x2x2x2x2xf32>) -> tensor<1x2x2x4xf32>
  %2 = relax.layout_transform %0 {src_layout = "NCHW2c", dst_layout = "NCHW"} : (tensor<1x2x2x2x2xf32>) -> tensor<1x4x2x2xf32>
  return %1, %2 : tensor<1x2x2x4xf32>, tensor<1x4x2x2xf32>
}

// Conversions by way of a type that holds all.
// CHECK-LABEL: @casts
func.func @casts(%x : tensor<2xf16>, %i : tensor<2xi8>, %u : tensor<2xui8>, %b : tensor<2xi1>) -> (tensor<2xf16>, tensor<2xi8>, tensor<2xf64>, tensor<2xi1>) {
  // CHECK-NEXT: [[U:%.*]] = relax.astype %u {dtype = f64} : (tensor<2xui8>) -> tensor<2xf64>
  // CHECK-NEXT: func.return %x, %i, [[U]], %b
  %0 = relax.astype %x {dtype = f32} : (tensor<2xf16>) -> tensor<2xf32>
  %1 = relax.astype %0 {dtype = f64} : (tensor<2xf32>) -> tensor<2xf64>
  %2 = relax.astype %1 {dtype = f16} : (tensor<2xf64>) -> tensor<2xf16>
  %3 = relax.astype %i {dtype = f16} : (tensor<2xi8>) -> tensor<2xf16>
  %4 = relax.astype %3 {dtype = i8} : (tensor<2xf16>) -> tensor<2xi8>
  %5 = relax.astype %u {dtype = i16} : (tensor<2xui8>) -> tensor<2xi16>
  %6 = relax.astype %5 {dtype = f64} : (tensor<2xi16>) -> tensor<2xf64>
  %7 = relax.astype %b {dtype = i8} : (tensor<2xi1>) -> tensor<2xi8>
  %8 = relax.astype %7 {dtype = i1} : (tensor<2xi8>) -> tensor<2xi1>
  %9 = relax.astype %8 {dtype = i1} : (tensor<2xi1>) -> tensor<2xi1>
  return %2, %4, %6, %9 : tensor<2xf16>, tensor<2xi8>, tensor<2xf64>, tensor<2xi1>
}

// Must not fire: the inner operation has another use.
// UNCHANGED: @used
func.func @used(%x : tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relax.add %x, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = relax.add %0, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = relax.multiply %0, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Must not fire: no constant operand, or only constant operands (see fold-constant).
// UNCHANGED: @no_constants
func.func @no_constants(%x : tensor<2xf32>, %y : tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = relax.constant dense<[3.0, 2.0]> : tensor<2xf32>
  %0 = relax.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = relax.add %0, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = relax.subtract %a, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = relax.multiply %2, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1, %3 : tensor<2xf32>, tensor<2xf32>
}

// Must not fire: a product of constants that overflows or is subnormal.
// UNCHANGED: @range
func.func @range(%x : tensor<2xf32>, %h : tensor<2xf16>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf16>) {
  %a = relax.full 1.0e30 : tensor<f32>
  %b = relax.full 1.0e-30 : tensor<f32>
  %m = relax.full 3.0e38 : tensor<f32>
  %0 = relax.multiply %x, %a : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = relax.multiply %0, %a : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = relax.multiply %x, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = relax.multiply %2, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %4 = relax.add %x, %m : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = relax.add %4, %m : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %c = relax.full 0.005 : tensor<f16>
  %6 = relax.multiply %h, %c : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %7 = relax.multiply %6, %c : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  return %1, %3, %5, %7 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf16>
}

// Must not fire: a row and a column, which together are a matrix.
// UNCHANGED: @outer
func.func @outer(%x : tensor<2x2xf32>) -> tensor<2x2xf32> {
  %a = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = relax.constant dense<[[3.0], [4.0]]> : tensor<2x1xf32>
  %0 = relax.add %x, %a : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %1 = relax.add %0, %b : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// Must not fire: identity elements of a larger shape, and those of the other side only.
// UNCHANGED: @not_neutral
func.func @not_neutral(%x : tensor<2xf32>, %y : tensor<?xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = relax.full 0.0 : tensor<3x2xf32>
  %zero = relax.full 0.0 : tensor<f32>
  %one = relax.full 1.0 : tensor<f32>
  %1 = relax.add %x, %0 : (tensor<2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = relax.subtract %zero, %x : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = relax.divide %one, %x : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = relax.full 0.0 : tensor<2xf32>
  %5 = relax.add %y, %4 : (tensor<?xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1, %2, %3, %5 : tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Must not fire: shapes that the number of elements does not determine.
// UNCHANGED: @unknown
func.func @unknown(%x : tensor<?x?xf32>, %y : tensor<*xf32>) -> (tensor<1x1x?x?xf32>, tensor<?x?xf32>, tensor<*xf32>) {
  %0 = relax.expand_dims %x {axis = [0]} : (tensor<?x?xf32>) -> tensor<1x?x?xf32>
  %1 = relax.expand_dims %0 {axis = [0]} : (tensor<1x?x?xf32>) -> tensor<1x1x?x?xf32>
  %2 = relax.reshape %x {newshape = [0, -1]} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = relax.transpose %y : (tensor<*xf32>) -> tensor<*xf32>
  %4 = relax.transpose %3 : (tensor<*xf32>) -> tensor<*xf32>
  return %1, %2, %4 : tensor<1x1x?x?xf32>, tensor<?x?xf32>, tensor<*xf32>
}

// Must not fire: lossy conversions.
// UNCHANGED: @lossy
func.func @lossy(%x : tensor<2xf32>, %i : tensor<2xi32>, %h : tensor<2xbf16>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xbf16>, tensor<2xf32>) {
  %0 = relax.astype %x {dtype = f16} : (tensor<2xf32>) -> tensor<2xf16>
  %1 = relax.astype %0 {dtype = f32} : (tensor<2xf16>) -> tensor<2xf32>
  %2 = relax.astype %i {dtype = f32} : (tensor<2xi32>) -> tensor<2xf32>
  %3 = relax.astype %2 {dtype = i32} : (tensor<2xf32>) -> tensor<2xi32>
  %4 = relax.astype %i {dtype = ui64} : (tensor<2xi32>) -> tensor<2xui64>
  %5 = relax.astype %4 {dtype = i32} : (tensor<2xui64>) -> tensor<2xi32>
  %6 = relax.astype %h {dtype = f16} : (tensor<2xbf16>) -> tensor<2xf16>
  %7 = relax.astype %6 {dtype = bf16} : (tensor<2xf16>) -> tensor<2xbf16>
  %8 = relax.astype %x {dtype = i64} : (tensor<2xf32>) -> tensor<2xi64>
  %9 = relax.astype %8 {dtype = f32} : (tensor<2xi64>) -> tensor<2xf32>
  return %1, %3, %5, %7, %9 : tensor<2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xbf16>, tensor<2xf32>
}

// (x + a) * b: factors of at most 1, and a product that is absorbed by results near overflow.
// CHECK-LABEL: @distributed
func.func @distributed(%h : tensor<2xf16>, %x : tensor<2xf32>, %b : tensor<2xbf16>) -> (tensor<2xf16>, tensor<2xf16>, tensor<2xf32>, tensor<2xbf16>, tensor<2xf16>) {
  // CHECK: relax.multiply %h
  // CHECK: relax.multiply %h
  // CHECK: relax.multiply %x
  // CHECK: relax.multiply %b
  // CHECK: relax.multiply %h
  %a0 = relax.full 60000.0 : tensor<f16>
  %b0 = relax.full -0.5 : tensor<f16>
  %0 = relax.add %h, %a0 : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %1 = relax.multiply %0, %b0 : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %a1 = relax.full 0.0078125 : tensor<f16>
  %b1 = relax.full 1000.0 : tensor<f16>
  %2 = relax.add %h, %a1 : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %3 = relax.multiply %2, %b1 : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %a2 = relax.full 1.0e15 : tensor<f32>
  %b2 = relax.full 1.0e15 : tensor<f32>
  %4 = relax.add %x, %a2 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %5 = relax.multiply %4, %b2 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %a3 = relax.full 150.0 : tensor<bf16>
  %b3 = relax.full 400.0 : tensor<bf16>
  %6 = relax.subtract %b, %a3 : (tensor<2xbf16>, tensor<bf16>) -> tensor<2xbf16>
  %7 = relax.multiply %6, %b3 : (tensor<2xbf16>, tensor<bf16>) -> tensor<2xbf16>
  // Each element meets its own condition.
  %a4 = relax.constant dense<[60000.0, 0.0078125]> : tensor<2xf16>
  %b4 = relax.constant dense<[0.5, 1000.0]> : tensor<2xf16>
  %8 = relax.add %h, %a4 : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %9 = relax.multiply %8, %b4 : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  return %1, %3, %5, %7, %9 : tensor<2xf16>, tensor<2xf16>, tensor<2xf32>, tensor<2xbf16>, tensor<2xf16>
}

// (x + a) * b of a bounded x: of an activation, and of converted integers.
// CHECK-LABEL: @bounded
func.func @bounded(%h : tensor<4xf16>, %u : tensor<4xui8>) -> (tensor<2x2xf16>, tensor<4xf16>, tensor<4xf16>) {
  // CHECK: [[S:%.*]] = relax.sigmoid %h
  // CHECK: [[R:%.*]] = relax.reshape [[S]]
  // CHECK: relax.multiply [[R]]
  // CHECK: [[C:%.*]] = relax.clip %h
  // CHECK: relax.multiply [[C]]
  // CHECK: [[U:%.*]] = relax.astype %u
  // CHECK: relax.multiply [[U]]
  %a = relax.full -15.0 : tensor<f16>
  %b = relax.full 40.0 : tensor<f16>
  %0 = relax.sigmoid %h : (tensor<4xf16>) -> tensor<4xf16>
  %1 = relax.reshape %0 {newshape = [2, 2]} : (tensor<4xf16>) -> tensor<2x2xf16>
  %2 = relax.add %1, %a : (tensor<2x2xf16>, tensor<f16>) -> tensor<2x2xf16>
  %3 = relax.multiply %2, %b : (tensor<2x2xf16>, tensor<f16>) -> tensor<2x2xf16>
  %4 = relax.clip %h {min = -3.0, max = 6.0} : (tensor<4xf16>) -> tensor<4xf16>
  %5 = relax.add %4, %a : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %6 = relax.multiply %5, %b : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %7 = relax.astype %u {dtype = f16} : (tensor<4xui8>) -> tensor<4xf16>
  %8 = relax.add %7, %a : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %9 = relax.multiply %8, %b : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  return %3, %6, %9 : tensor<2x2xf16>, tensor<4xf16>, tensor<4xf16>
}

// Must not fire: a float out of range becomes the nearest integer, an integer wraps around.
// CHECK-LABEL: @saturating_cast
// CHECK-NEXT:    [[A:%.*]] = relax.astype %i {dtype = f32}
// CHECK-NEXT:    [[B:%.*]] = relax.astype [[A]] {dtype = ui8}
// CHECK-NEXT:    [[C:%.*]] = relax.astype %i {dtype = i1}
// CHECK-NEXT:    func.return [[B]], [[C]]
func.func @saturating_cast(%i : tensor<2xi8>) -> (tensor<2xui8>, tensor<2xi1>) {
  %0 = relax.astype %i {dtype = f32} : (tensor<2xi8>) -> tensor<2xf32>
  %1 = relax.astype %0 {dtype = ui8} : (tensor<2xf32>) -> tensor<2xui8>
  %2 = relax.astype %0 {dtype = i1} : (tensor<2xf32>) -> tensor<2xi1>
  return %1, %2 : tensor<2xui8>, tensor<2xi1>
}

// Must not fire: x * b may be infinite where (x + a) * b is not.
// UNCHANGED: @overflow
func.func @overflow(%h : tensor<2xf16>, %x : tensor<2xf32>, %i : tensor<2xi32>) -> (tensor<2xf16>, tensor<2xf32>, tensor<2xf16>, tensor<2xf16>) {
  %a0 = relax.full -150.0 : tensor<f16>
  %b0 = relax.full 400.0 : tensor<f16>
  %0 = relax.add %h, %a0 : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %1 = relax.multiply %0, %b0 : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %a1 = relax.full 1.0e38 : tensor<f32>
  %b1 = relax.full 3.0 : tensor<f32>
  %2 = relax.add %x, %a1 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = relax.multiply %2, %b1 : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // One element is enough.
  %a2 = relax.constant dense<[1.0, -150.0]> : tensor<2xf16>
  %b2 = relax.constant dense<[0.5, 400.0]> : tensor<2xf16>
  %4 = relax.add %h, %a2 : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %5 = relax.multiply %4, %b2 : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %6 = relax.astype %i {dtype = f16} : (tensor<2xi32>) -> tensor<2xf16>
  %7 = relax.add %6, %a0 : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  %8 = relax.multiply %7, %b0 : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  return %1, %3, %5, %8 : tensor<2xf16>, tensor<2xf32>, tensor<2xf16>, tensor<2xf16>
}

// Taps that read padding alone, wherever the window is, are removed: the first and the last rows of this one, which read
// at rows -4 to -1 and 4 to 7 of 4. The columns are 3 apart, of 5, and all read elements.
// CHECK-LABEL: func.func @taps
// CHECK-NEXT: [[W:%.*]] = relax.constant dense<{{\[\[\[\[}}4.000000e+00, 5.000000e+00, 6.000000e+00]]]]> : tensor<1x1x1x3xf32>
// CHECK-NEXT: relax.nn.conv2d %x, [[W]] {padding = [0, 3, 0, 3], dilation = [4, 3]} : (tensor<1x1x4x5xf32>, tensor<1x1x1x3xf32>) -> tensor<1x1x4x5xf32>
func.func @taps(%x: tensor<1x1x4x5xf32>) -> tensor<1x1x4x5xf32> {
  %w = relax.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %0 = relax.nn.conv2d %x, %w {padding = [4, 3, 4, 3], dilation = [4, 3]} : (tensor<1x1x4x5xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x5xf32>
  func.return %0 : tensor<1x1x4x5xf32>
}

// The windows of a part of the taps are at the same places, 2 apart; of a fill the rest is one.
// CHECK-LABEL: func.func @part
// CHECK-NEXT: [[W:%.*]] = relax.full 2.000000e+00 : tensor<2x1x1xf32>
// CHECK-NEXT: relax.nn.conv1d %x, [[W]] {strides = [2], padding = [1, 0], dilation = [5]} : (tensor<1x1x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3xf32>
func.func @part(%x: tensor<1x1x4xf32>) -> tensor<1x2x3xf32> {
  %w = relax.full 2.0 : tensor<2x1x3xf32>
  %0 = relax.nn.conv1d %x, %w {strides = [2], padding = [6, 5], dilation = [5]} : (tensor<1x1x4xf32>, tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  func.return %0 : tensor<1x2x3xf32>
}

// Must not fire: the padding after the last tap would be negative; all taps read padding; an unknown number of columns; a
// weight that is not finite, as its product with the padding is NaN, or not known.
// UNCHANGED: @all_taps
func.func @all_taps(%x: tensor<1x1x4xf32>, %y: tensor<1x1x?xf32>, %v: tensor<1x1x3xf32>) -> (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x?xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %w = relax.full 2.0 : tensor<1x1x3xf32>
  %u = relax.full 2.0 : tensor<1x1x2xf32>
  %i = relax.constant dense<[[[1.0, 2.0, 0x7F800000]]]> : tensor<1x1x3xf32>
  %0 = relax.nn.conv1d %x, %w {padding = [4, 1], dilation = [4]} : (tensor<1x1x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x1xf32>
  %1 = relax.nn.conv1d %x, %u {strides = [5], padding = [6, 6], dilation = [11]} : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  %2 = relax.nn.conv1d %y, %w {padding = [4, 4], dilation = [4]} : (tensor<1x1x?xf32>, tensor<1x1x3xf32>) -> tensor<1x1x?xf32>
  %3 = relax.nn.conv1d %x, %i {padding = [4, 4], dilation = [4]} : (tensor<1x1x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  %4 = relax.nn.conv1d %x, %v {padding = [4, 4], dilation = [4]} : (tensor<1x1x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  func.return %0, %1, %2, %3, %4 : tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x?xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// Must not fire: constants that cancel round to integers, or to a few digits.
// CHECK-LABEL: @rounds_on_purpose
func.func @rounds_on_purpose(%x : tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK-COUNT-4: relax.add
  // CHECK: relax.multiply
  // CHECK: relax.multiply
  // CHECK-NEXT: relax.multiply
  %m = relax.full 12582912.0 : tensor<f32>
  %0 = relax.add %x, %m : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = relax.subtract %0, %m : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %v = relax.constant dense<[1.0, 12582912.0]> : tensor<2xf32>
  %w = relax.constant dense<[2.0, -12582912.0]> : tensor<2xf32>
  %2 = relax.add %x, %v : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = relax.add %2, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %s = relax.full 3.0 : tensor<f32>
  %4 = relax.multiply %3, %s : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %a = relax.full 1.0e-30 : tensor<f32>
  %b = relax.full 1.0e30 : tensor<f32>
  %5 = relax.multiply %x, %a : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %6 = relax.multiply %5, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %1, %4, %6 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
