// RUN: passline-opt %s -p canonicalize-ops | filecheck %s

// A bias is expanded to broadcast along its axis, which may be negative.
// CHECK-LABEL: @bias_add
func.func @bias_add(%x : tensor<2x3x2x2xf32>, %b : tensor<3xf32>) -> tensor<2x3x2x2xf32> {
  // CHECK-NEXT: [[E:%.*]] = relax.expand_dims %b {axis = [1, 2]} : (tensor<3xf32>) -> tensor<3x1x1xf32>
  // CHECK-NEXT: [[A:%.*]] = relax.add %x, [[E]]
  // CHECK-NEXT: [[F:%.*]] = relax.expand_dims %b {axis = [1, 2]}
  // CHECK-NEXT: [[B:%.*]] = relax.add [[A]], [[F]]
  // CHECK-NEXT: func.return [[B]]
  %0 = relax.nn.bias_add %x, %b : (tensor<2x3x2x2xf32>, tensor<3xf32>) -> tensor<2x3x2x2xf32>
  %1 = relax.nn.bias_add %0, %b {axis = -3} : (tensor<2x3x2x2xf32>, tensor<3xf32>) -> tensor<2x3x2x2xf32>
  return %1 : tensor<2x3x2x2xf32>
}

// Along the last axis no expansion is needed.
// CHECK-LABEL: @last
func.func @last(%x : tensor<2x3xf16>, %b : tensor<3xf16>) -> tensor<2x3xf16> {
  // CHECK-NEXT: relax.add %x, %b : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xf16>
  %0 = relax.nn.bias_add %x, %b : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xf16>
  return %0 : tensor<2x3xf16>
}

// Constants have the shape that they need, with the same elements; fills stay fills.
// CHECK-LABEL: @constants
func.func @constants(%x : tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<{{.*}}1.000000e+00{{.*}}, {{.*}}2.000000e+00{{.*}}> : tensor<2x1xf32>
  // CHECK-NEXT: [[A:%.*]] = relax.add %x, [[B]]
  // CHECK-NEXT: [[C:%.*]] = relax.full 5.000000e-01 : tensor<2x1xf32>
  // CHECK-NEXT: relax.add [[A]], [[C]]
  %b = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c = relax.full 0.5 : tensor<2xf32>
  %0 = relax.nn.bias_add %x, %b : (tensor<2x2x2xf32>, tensor<2xf32>) -> tensor<2x2x2xf32>
  %1 = relax.nn.bias_add %0, %c : (tensor<2x2x2xf32>, tensor<2xf32>) -> tensor<2x2x2xf32>
  return %1 : tensor<2x2x2xf32>
}

// A constant with other uses stays for these.
// CHECK-LABEL: @used
func.func @used(%x : tensor<2x2x2xi32>) -> (tensor<2x2x2xi32>, tensor<2xi32>) {
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK-NEXT: [[C:%.*]] = relax.constant {{.*}} : tensor<2x1xi32>
  // CHECK-NEXT: [[A:%.*]] = relax.add %x, [[C]]
  // CHECK-NEXT: func.return [[A]], [[B]]
  %b = relax.constant dense<[1, 2]> : tensor<2xi32>
  %0 = relax.nn.bias_add %x, %b : (tensor<2x2x2xi32>, tensor<2xi32>) -> tensor<2x2x2xi32>
  return %0, %b : tensor<2x2x2xi32>, tensor<2xi32>
}

// Flattening is a reshape, for known and unknown shapes.
// CHECK-LABEL: @flatten
func.func @flatten(%x : tensor<?x3x2xf32>, %y : tensor<*xf32>, %z : tensor<f32>) -> (tensor<?x6xf32>, tensor<?xf32>, tensor<1xf32>) {
  // CHECK-NEXT: [[X:%.*]] = relax.reshape %x {newshape = [0, -1]} : (tensor<?x3x2xf32>) -> tensor<?x6xf32>
  // CHECK-NEXT: [[Y:%.*]] = relax.reshape %y {newshape = [-1]} : (tensor<*xf32>) -> tensor<?xf32>
  // CHECK-NEXT: [[Z:%.*]] = relax.reshape %z {newshape = [-1]} : (tensor<f32>) -> tensor<1xf32>
  // CHECK-NEXT: func.return [[X]], [[Y]], [[Z]]
  %0 = relax.nn.batch_flatten %x : (tensor<?x3x2xf32>) -> tensor<?x6xf32>
  %1 = relax.flatten %y : (tensor<*xf32>) -> tensor<?xf32>
  %2 = relax.flatten %z : (tensor<f32>) -> tensor<1xf32>
  return %0, %1, %2 : tensor<?x6xf32>, tensor<?xf32>, tensor<1xf32>
}

// Must not fire: the rank is unknown.
// UNCHANGED: @unranked
func.func @unranked(%x : tensor<*xf32>, %b : tensor<3xf32>) -> tensor<*xf32> {
  %0 = relax.nn.bias_add %x, %b : (tensor<*xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Must not fire: prelu has slopes, not a bias.
// UNCHANGED: @prelu
func.func @prelu(%x : tensor<2x3xf32>, %b : tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = relax.nn.prelu %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
