// RUN: passline-opt %s -p simplify-inference | filecheck %s

// Constant parameters: one product and one sum, with one constant each along the axis.
// CHECK-LABEL: @batch_norm
func.func @batch_norm(%x : tensor<2x2x1x3xf32>) -> tensor<2x2x1x3xf32> {
  // CHECK-NEXT: [[S:%.*]] = relax.constant dense<{{.*}}1.000000e+00{{.*}}, {{.*}}6.000000e+00{{.*}}> : tensor<2x1x1xf32>
  // CHECK-NEXT: [[Y:%.*]] = relax.multiply %x, [[S]] : (tensor<2x2x1x3xf32>, tensor<2x1x1xf32>) -> tensor<2x2x1x3xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<{{.*}}9.000000e+00{{.*}}, {{.*}}8.000000e+00{{.*}}> : tensor<2x1x1xf32>
  // CHECK-NEXT: [[Z:%.*]] = relax.add [[Y]], [[B]]
  // CHECK-NEXT: func.return [[Z]]
  %gamma = relax.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %beta = relax.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %mean = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %var = relax.constant dense<[4.0, 0.25]> : tensor<2xf32>
  %0 = relax.nn.batch_norm %x, %gamma, %beta, %mean, %var {epsilon = 0.0} : (tensor<2x2x1x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x1x3xf32>
  return %0 : tensor<2x2x1x3xf32>
}

// Fills stay fills; a last axis, also counted from the end, needs no other shape.
// CHECK-LABEL: @fills
func.func @fills(%x : tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: [[S:%.*]] = relax.full 5.000000e-01 : tensor<4xf32>
  // CHECK-NEXT: [[Y:%.*]] = relax.multiply %x, [[S]]
  // CHECK-NEXT: [[B:%.*]] = relax.full 5.000000e-01 : tensor<4xf32>
  // CHECK-NEXT: relax.add [[Y]], [[B]]
  %one = relax.full 1.0 : tensor<4xf32>
  %var = relax.full 3.0 : tensor<4xf32>
  %0 = relax.nn.batch_norm %x, %one, %one, %one, %var {axis = -1, epsilon = 1.0} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Without gamma and beta; some parameters are fills.
// CHECK-LABEL: @neither
func.func @neither(%x : tensor<2x4xf32>, %gamma : tensor<2xf32>, %beta : tensor<2xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: [[S:%.*]] = relax.full 5.000000e-01 : tensor<2x1xf32>
  // CHECK-NEXT: [[Y:%.*]] = relax.multiply %x, [[S]]
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<{{.*}}-1.000000e+00{{.*}}, {{.*}}-2.000000e+00{{.*}}> : tensor<2x1xf32>
  // CHECK-NEXT: relax.add [[Y]], [[B]]
  %mean = relax.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %var = relax.full 4.0 : tensor<2xf32>
  %0 = relax.nn.batch_norm %x, %gamma, %beta, %mean, %var {axis = 0, epsilon = 0.0, center = false, scale = false} : (tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Parameters that are not constant: operations on the vectors.
// CHECK-LABEL: @parameters
func.func @parameters(%x : tensor<2x3x4xf32>, %gamma : tensor<3xf32>, %beta : tensor<3xf32>, %mean : tensor<3xf32>, %var : tensor<3xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: [[E:%.*]] = relax.full 1.000000e-05 : tensor<f32>
  // CHECK-NEXT: [[V:%.*]] = relax.add %var, [[E]] : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  // CHECK-NEXT: [[R:%.*]] = relax.rsqrt [[V]]
  // CHECK-NEXT: [[S:%.*]] = relax.multiply [[R]], %gamma
  // CHECK-NEXT: [[M:%.*]] = relax.multiply %mean, [[S]]
  // CHECK-NEXT: [[B:%.*]] = relax.subtract %beta, [[M]]
  // CHECK-NEXT: [[SX:%.*]] = relax.expand_dims [[S]] {axis = [1]} : (tensor<3xf32>) -> tensor<3x1xf32>
  // CHECK-NEXT: [[Y:%.*]] = relax.multiply %x, [[SX]]
  // CHECK-NEXT: [[BX:%.*]] = relax.expand_dims [[B]] {axis = [1]}
  // CHECK-NEXT: [[Z:%.*]] = relax.add [[Y]], [[BX]]
  // CHECK-NEXT: func.return [[Z]]
  %0 = relax.nn.batch_norm %x, %gamma, %beta, %mean, %var : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// Constants among others are computed on as far as they go.
// CHECK-LABEL: @some
func.func @some(%x : tensor<2x3xf32>, %beta : tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: [[M:%.*]] = relax.full 1.000000e+00 : tensor<3xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.subtract %beta, [[M]]
  // CHECK-NEXT: [[S:%.*]] = relax.full 5.000000e-01 : tensor<3xf32>
  // CHECK-NEXT: [[Y:%.*]] = relax.multiply %x, [[S]]
  // CHECK-NEXT: relax.add [[Y]], [[B]]
  %one = relax.full 1.0 : tensor<3xf32>
  %two = relax.full 2.0 : tensor<3xf32>
  %var = relax.full 4.0 : tensor<3xf32>
  %0 = relax.nn.batch_norm %x, %one, %beta, %two, %var {epsilon = 0.0} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// f16: the factors are computed in f32 and rounded once.
// CHECK-LABEL: @half
func.func @half(%x : tensor<2x2xf16>) -> tensor<2x2xf16> {
  // CHECK-NEXT: [[S:%.*]] = relax.constant dense<[2.000000e+00, 5.000000e-01]> : tensor<2xf16>
  // CHECK-NEXT: [[Y:%.*]] = relax.multiply %x, [[S]] : (tensor<2x2xf16>, tensor<2xf16>) -> tensor<2x2xf16>
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<[-1.000000e+00, 5.000000e-01]> : tensor<2xf16>
  // CHECK-NEXT: relax.add [[Y]], [[B]]
  %one = relax.full 1.0 : tensor<2xf16>
  %var = relax.constant dense<[0.25, 4.0]> : tensor<2xf16>
  %0 = relax.nn.batch_norm %x, %one, %one, %one, %var {epsilon = 0.0} : (tensor<2x2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<2x2xf16>
  return %0 : tensor<2x2xf16>
}

// Three nested ones.
// CHECK-LABEL: @nested
// CHECK-NOT: batch_norm
// CHECK: func.return
func.func @nested(%x : tensor<3x2xf32>, %p : tensor<3xf32>, %q : tensor<3xf32>) -> tensor<3x2xf32> {
  %0 = relax.nn.batch_norm %x, %p, %q, %p, %q {axis = 0} : (tensor<3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x2xf32>
  %1 = relax.nn.batch_norm %0, %q, %q, %p, %q {axis = 0} : (tensor<3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x2xf32>
  %2 = relax.nn.batch_norm %1, %p, %q, %q, %p {axis = 0} : (tensor<3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// Dropout is replaced by its operand.
// CHECK-LABEL: @dropout
func.func @dropout(%x : tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: [[Y:%.*]] = relax.exp %x
  // CHECK-NEXT: func.return [[Y]]
  %0 = relax.nn.dropout %x {rate = 0.1} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = relax.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// A type that is more precise than the inferred one stays.
// CHECK-LABEL: @declared
func.func @declared(%x : tensor<?xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: [[Y:%.*]] = tensor.cast %x : tensor<?xf32> to tensor<2xf32>
  // CHECK-NEXT: relax.exp [[Y]]
  %0 = relax.nn.dropout %x : (tensor<?xf32>) -> tensor<2xf32>
  %1 = relax.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x : tensor<2x3x4xf32>, %gamma : tensor<4x3xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: [[M:%.*]] = relax.mean %x {axis = [2, 1], keepdims = true} : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
  // CHECK-NEXT: [[C:%.*]] = relax.subtract %x, [[M]]
  // CHECK-NEXT: [[Q:%.*]] = relax.multiply [[C]], [[C]]
  // CHECK-NEXT: [[V:%.*]] = relax.mean [[Q]] {axis = [2, 1], keepdims = true}
  // CHECK-NEXT: [[E:%.*]] = relax.full 5.000000e-01 : tensor<f32>
  // CHECK-NEXT: [[W:%.*]] = relax.add [[V]], [[E]]
  // CHECK-NEXT: [[R:%.*]] = relax.rsqrt [[W]]
  // CHECK-NEXT: [[N:%.*]] = relax.multiply [[C]], [[R]]
  // CHECK-NEXT: [[G:%.*]] = relax.transpose %gamma {axes = [1, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: [[S:%.*]] = relax.multiply [[N]], [[G]]
  // CHECK-NEXT: [[B:%.*]] = relax.constant
  // CHECK-SAME: tensor<3x4xf32>
  // CHECK-NEXT: [[Z:%.*]] = relax.add [[S]], [[B]]
  // CHECK-NEXT: func.return [[Z]]
  %beta = relax.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]> : tensor<4x3xf32>
  %0 = relax.nn.layer_norm %x, %gamma, %beta {epsilon = 0.5, axes = [2, 1]} : (tensor<2x3x4xf32>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// Sums of f16 are f32, and the result is rounded once, as it was.
// CHECK-LABEL: @layer_norm_of_half
func.func @layer_norm_of_half(%x : tensor<2x?xf16>, %gamma : tensor<?xf16>, %beta : tensor<?xf16>) -> tensor<2x?xf16> {
  // CHECK-NEXT: [[W:%.*]] = relax.astype %x {dtype = f32}
  // CHECK-NEXT: relax.mean [[W]]
  // CHECK: [[Z:%.*]] = relax.astype %{{.*}} {dtype = f16} : (tensor<2x?xf32>) -> tensor<2x?xf16>
  // CHECK-NEXT: func.return [[Z]]
  %0 = relax.nn.layer_norm %x, %gamma, %beta : (tensor<2x?xf16>, tensor<?xf16>, tensor<?xf16>) -> tensor<2x?xf16>
  return %0 : tensor<2x?xf16>
}

// CHECK-LABEL: @instance_norm
func.func @instance_norm(%x : tensor<2x3x2x2xf32>, %beta : tensor<3xf32>) -> tensor<2x3x2x2xf32> {
  // CHECK-NEXT: relax.mean %x {axis = [2, 3], keepdims = true}
  // CHECK-NOT: instance_norm
  // CHECK: [[G:%.*]] = relax.full 2.000000e+00 : tensor<3x1x1xf32>
  // CHECK-NEXT: [[S:%.*]] = relax.multiply %{{.*}}, [[G]]
  // CHECK-NEXT: [[B:%.*]] = relax.expand_dims %beta {axis = [1, 2]}
  // CHECK-NEXT: relax.add [[S]], [[B]]
  %gamma = relax.full 2.0 : tensor<3xf32>
  %0 = relax.nn.instance_norm %x, %gamma, %beta : (tensor<2x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x2x2xf32>
  return %0 : tensor<2x3x2x2xf32>
}

// Channels are split into groups; one dimension that is not known is what is left of a reshape.
// CHECK-LABEL: @group_norm
func.func @group_norm(%x : tensor<?x4x2x3xf32>, %gamma : tensor<4xf32>, %beta : tensor<4xf32>) -> tensor<?x4x2x3xf32> {
  // CHECK-NEXT: [[G:%.*]] = relax.reshape %x {newshape = [-1, 2, 2, 2, 3]} : (tensor<?x4x2x3xf32>) -> tensor<?x2x2x2x3xf32>
  // CHECK-NEXT: relax.mean [[G]] {axis = [2, 3, 4], keepdims = true}
  // CHECK: [[R:%.*]] = relax.reshape %{{.*}} {newshape = [-1, 4, 2, 3]} : (tensor<?x2x2x2x3xf32>) -> tensor<?x4x2x3xf32>
  // CHECK-NEXT: [[E:%.*]] = relax.expand_dims %gamma {axis = [1, 2]}
  // CHECK-NEXT: relax.multiply [[R]], [[E]]
  // CHECK-NEXT: func.return
  %0 = relax.nn.group_norm %x, %gamma, %beta {num_groups = 2, center = false} : (tensor<?x4x2x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x2x3xf32>
  return %0 : tensor<?x4x2x3xf32>
}

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x : tensor<2x4xf32>, %weight : tensor<4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: [[Q:%.*]] = relax.multiply %x, %x
  // CHECK-NEXT: [[M:%.*]] = relax.mean [[Q]] {axis = [1], keepdims = true}
  // CHECK-NEXT: relax.full
  // CHECK-NEXT: relax.add [[M]]
  // CHECK-NEXT: [[R:%.*]] = relax.rsqrt
  // CHECK-NEXT: [[N:%.*]] = relax.multiply %x, [[R]]
  // CHECK-NEXT: relax.multiply [[N]], %weight
  %0 = relax.nn.rms_norm %x, %weight : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: @l2_normalize
func.func @l2_normalize(%x : tensor<2x4xbf16>) -> tensor<2x4xbf16> {
  // CHECK-NEXT: [[X:%.*]] = relax.astype %x {dtype = f32}
  // CHECK-NEXT: [[Q:%.*]] = relax.multiply [[X]], [[X]]
  // CHECK-NEXT: [[S:%.*]] = relax.sum [[Q]] {axis = [1], keepdims = true}
  // CHECK-NEXT: [[E:%.*]] = relax.full 2.500000e-01 : tensor<f32>
  // CHECK-NEXT: [[M:%.*]] = relax.maximum [[S]], [[E]]
  // CHECK-NEXT: [[R:%.*]] = relax.rsqrt [[M]]
  // CHECK-NEXT: [[N:%.*]] = relax.multiply [[X]], [[R]]
  // CHECK-NEXT: relax.astype [[N]] {dtype = bf16}
  %0 = relax.nn.l2_normalize %x {eps = 0.25, axis = [-1]} : (tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %0 : tensor<2x4xbf16>
}

// Must not fire: the rank is not known.
// UNCHANGED: @unranked
func.func @unranked(%x : tensor<*xf32>, %p : tensor<3xf32>) {
  %0 = relax.nn.batch_norm %x, %p, %p, %p, %p : (tensor<*xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  %1 = relax.nn.layer_norm %x, %p, %p : (tensor<*xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  %2 = relax.nn.instance_norm %x, %p, %p : (tensor<*xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  %3 = relax.nn.group_norm %x, %p, %p {num_groups = 1} : (tensor<*xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  %4 = relax.nn.rms_norm %x, %p : (tensor<*xf32>, tensor<3xf32>) -> tensor<*xf32>
  %5 = relax.nn.l2_normalize %x {eps = 0.5, axis = [0]} : (tensor<*xf32>) -> tensor<*xf32>
  "test.op"(%0, %1, %2, %3, %4, %5) : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) -> ()
  return
}

// Must not fire: shapes that relax.reshape cannot express.
// UNCHANGED: @group_norm_of_unknown
func.func @group_norm_of_unknown(%x : tensor<?x4x?x3xf32>, %y : tensor<2x?x1x1xf32>, %z : tensor<0x4x1x1xf32>, %p : tensor<4xf32>, %q : tensor<2xf32>) {
  %0 = relax.nn.group_norm %x, %p, %p {num_groups = 2} : (tensor<?x4x?x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x?x3xf32>
  %1 = relax.nn.group_norm %y, %q, %q {num_groups = 2} : (tensor<2x?x1x1xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x?x1x1xf32>
  %2 = relax.nn.group_norm %z, %p, %p {num_groups = 2} : (tensor<0x4x1x1xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<0x4x1x1xf32>
  "test.op"(%0, %1, %2) : (tensor<?x4x?x3xf32>, tensor<2x?x1x1xf32>, tensor<0x4x1x1xf32>) -> ()
  return
}

// Must not fire: images of unknown size, of which a kernel computes the statistics in one go. An
// unknown batch is decomposed.
// CHECK-LABEL: @instance_norm_of_unknown
func.func @instance_norm_of_unknown(%x : tensor<2x3x?x2xf32>, %y : tensor<?x3x2x2xf32>, %p : tensor<3xf32>) {
  // CHECK-NEXT: relax.nn.instance_norm %x
  // CHECK-NEXT: relax.mean %y
  %0 = relax.nn.instance_norm %x, %p, %p : (tensor<2x3x?x2xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x?x2xf32>
  %1 = relax.nn.instance_norm %y, %p, %p : (tensor<?x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3x2x2xf32>
  "test.op"(%0, %1) : (tensor<2x3x?x2xf32>, tensor<?x3x2x2xf32>) -> ()
  return
}

// Must not fire: local response normalization.
// UNCHANGED: @lrn
func.func @lrn(%x : tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = relax.nn.lrn %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// f16: in f32 if the product may be infinite where the sum is not, or is not known not to be.
// CHECK-LABEL: @wide
func.func @wide(%x : tensor<1x1xf16>, %v : tensor<1xf16>) -> (tensor<1x1xf16>, tensor<1x1xf16>) {
  // CHECK: [[X:%.*]] = relax.astype %x {dtype = f32}
  // CHECK: [[M:%.*]] = relax.multiply [[X]], {{.*}} -> tensor<1x1xf32>
  // CHECK: [[S:%.*]] = relax.add [[M]], {{.*}} -> tensor<1x1xf32>
  // CHECK-NEXT: relax.astype [[S]] {dtype = f16}
  // CHECK: relax.multiply {{.*}} -> tensor<1x1xf32>
  // CHECK-NOT: relax.nn.batch_norm
  %one = relax.full 1.0 : tensor<1xf16>
  %zero = relax.full 0.0 : tensor<1xf16>
  %mean = relax.full 150.0 : tensor<1xf16>
  %gamma = relax.full 400.0 : tensor<1xf16>
  %0 = relax.nn.batch_norm %x, %gamma, %zero, %mean, %one {epsilon = 0.0} : (tensor<1x1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x1xf16>
  %1 = relax.nn.batch_norm %x, %one, %zero, %zero, %v : (tensor<1x1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x1xf16>
  return %0, %1 : tensor<1x1xf16>, tensor<1x1xf16>
}

// Must not fire: in a primitive function.
// UNCHANGED: @primitive
func.func private @primitive(%x: tensor<2x3xf32>, %g: tensor<3xf32>) -> tensor<2x3xf32> attributes {relax.primitive} {
  %0 = relax.nn.layer_norm %x, %g, %g {axes = [1]} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
