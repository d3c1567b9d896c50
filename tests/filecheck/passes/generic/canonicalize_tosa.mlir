// RUN: passline-opt %s -p canonicalize | filecheck %s

// Sums and products with neutral elements, which may be broadcast.
// CHECK-LABEL: @neutral(
// CHECK-NEXT:    func.return %a, %b : tensor<2x3xf32>, tensor<?x3xi32>
func.func @neutral(%a: tensor<2x3xf32>, %b: tensor<?x3xi32>) -> (tensor<2x3xf32>, tensor<?x3xi32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %four = "tosa.const"() <{values = dense<4> : tensor<1x1xi32>}> : () -> tensor<1x1xi32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %two = "tosa.const"() <{values = dense<2> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.add %a, %zero : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %1 = tosa.sub %0, %zero : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  %2 = tosa.mul %one, %1, %shift : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi8>) -> tensor<2x3xf32>
  %3 = tosa.mul %b, %four, %two : (tensor<?x3xi32>, tensor<1x1xi32>, tensor<1xi8>) -> tensor<?x3xi32>
  func.return %2, %3 : tensor<2x3xf32>, tensor<?x3xi32>
}

// A zero that is subtracted from, a neutral element that is broadcast to more elements, a shift that
// is not known, a product with zero of unknown size.
// UNCHANGED: @not_neutral
func.func @not_neutral(%a: tensor<1x3xi32>, %b: tensor<?x3xi32>, %s: tensor<1xi8>) -> (tensor<1x3xi32>, tensor<2x3xi32>, tensor<?x3xi32>, tensor<?x3xi32>) {
  %zero = "tosa.const"() <{values = dense<0> : tensor<1x1xi32>}> : () -> tensor<1x1xi32>
  %zeros = "tosa.const"() <{values = dense<0> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
  %one = "tosa.const"() <{values = dense<1> : tensor<1x1xi32>}> : () -> tensor<1x1xi32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.sub %zero, %a : (tensor<1x1xi32>, tensor<1x3xi32>) -> tensor<1x3xi32>
  %1 = tosa.add %a, %zeros : (tensor<1x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %2 = tosa.mul %b, %one, %s : (tensor<?x3xi32>, tensor<1x1xi32>, tensor<1xi8>) -> tensor<?x3xi32>
  %3 = tosa.mul %b, %zero, %shift : (tensor<?x3xi32>, tensor<1x1xi32>, tensor<1xi8>) -> tensor<?x3xi32>
  func.return %0, %1, %2, %3 : tensor<1x3xi32>, tensor<2x3xi32>, tensor<?x3xi32>, tensor<?x3xi32>
}

// Constants; a product of i32 is shifted to the right and rounded.
// CHECK-LABEL: @constants(
// CHECK-NEXT:    [[V0:%\w+]] = "tosa.const"() <{values = dense<10> : tensor<2xi32>}> : () -> tensor<2xi32>
// CHECK-NEXT:    [[V1:%\w+]] = "tosa.const"() <{values = dense<-5> : tensor<2xi32>}> : () -> tensor<2xi32>
// CHECK-NEXT:    [[V2:%\w+]] = "tosa.const"() <{values = dense<0.333333343> : tensor<2xf32>}> : () -> tensor<2xf32>
// CHECK-NEXT:    func.return [[V0]], [[V1]], [[V2]] : tensor<2xi32>, tensor<2xi32>, tensor<2xf32>
func.func @constants() -> (tensor<2xi32>, tensor<2xi32>, tensor<2xf32>) {
  %a = "tosa.const"() <{values = dense<7> : tensor<2xi32>}> : () -> tensor<2xi32>
  %b = "tosa.const"() <{values = dense<-3> : tensor<2xi32>}> : () -> tensor<2xi32>
  %c = "tosa.const"() <{values = dense<3.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %two = "tosa.const"() <{values = dense<2> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.sub %a, %b : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %1 = tosa.mul %a, %b, %two : (tensor<2xi32>, tensor<2xi32>, tensor<1xi8>) -> tensor<2xi32>
  %2 = tosa.reciprocal %c : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0, %1, %2 : tensor<2xi32>, tensor<2xi32>, tensor<2xf32>
}

// Clamps to all numbers, and to two ranges that overlap.
// CHECK-LABEL: @clamps(
// CHECK-NEXT:    [[V0:%\w+]] = tosa.clamp %a {max_val = 2 : i8, min_val = -2 : i8} : (tensor<4xi8>) -> tensor<4xi8>
// CHECK-NEXT:    func.return %a, [[V0]], %b : tensor<4xi8>, tensor<4xi8>, tensor<4xf16>
func.func @clamps(%a: tensor<4xi8>, %b: tensor<4xf16>) -> (tensor<4xi8>, tensor<4xi8>, tensor<4xf16>) {
  %0 = tosa.clamp %a {max_val = 127 : i8, min_val = -128 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  %1 = tosa.clamp %a {max_val = 4 : i8, min_val = -2 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  %2 = tosa.clamp %1 {max_val = 2 : i8, min_val = -4 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  %3 = tosa.clamp %b {max_val = 0x7C00 : f16, min_val = 0xFC00 : f16} : (tensor<4xf16>) -> tensor<4xf16>
  func.return %0, %2, %3 : tensor<4xi8>, tensor<4xi8>, tensor<4xf16>
}

// Ranges that do not overlap, and a range without the greatest number.
// UNCHANGED: @kept_clamps
func.func @kept_clamps(%a: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %0 = tosa.clamp %a {max_val = 126 : i8, min_val = -128 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  %1 = tosa.clamp %a {max_val = 4 : i8, min_val = 1 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  %2 = tosa.clamp %1 {max_val = -1 : i8, min_val = -4 : i8} : (tensor<4xi8>) -> tensor<4xi8>
  func.return %0, %2 : tensor<4xi8>, tensor<4xi8>
}

// One tensor, tensors of tensors along one axis, and reductions of one element.
// CHECK-LABEL: @others(
// CHECK-NEXT:    [[V0:%\w+]] = tensor.cast %a : tensor<?x1xf32> to tensor<?x?xf32>
// CHECK-NEXT:    [[V1:%\w+]] = tosa.concat %b, %b, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
// CHECK-NEXT:    func.return [[V0]], [[V1]], %a : tensor<?x?xf32>, tensor<1x6xf32>, tensor<?x1xf32>
func.func @others(%a: tensor<?x1xf32>, %b: tensor<1x2xf32>) -> (tensor<?x?xf32>, tensor<1x6xf32>, tensor<?x1xf32>) {
  %0 = tosa.concat %a {axis = 0 : i32} : (tensor<?x1xf32>) -> tensor<?x?xf32>
  %1 = tosa.concat %b, %b {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %2 = tosa.concat %b, %1 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x4xf32>) -> tensor<1x6xf32>
  %3 = tosa.reduce_max %a {axis = 1 : i32} : (tensor<?x1xf32>) -> tensor<?x1xf32>
  func.return %0, %2, %3 : tensor<?x?xf32>, tensor<1x6xf32>, tensor<?x1xf32>
}

// Tensors along another axis.
// UNCHANGED: @another_axis
func.func @another_axis(%b: tensor<1x2xf32>) -> tensor<1x2x2xf32> {
  %0 = tosa.concat %b, %b {axis = 0 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  %1 = tosa.concat %0, %0 {axis = 1 : i32} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %2 = "test.op"(%1) : (tensor<2x4xf32>) -> tensor<1x2x2xf32>
  func.return %2 : tensor<1x2x2xf32>
}
