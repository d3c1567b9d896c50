// RUN: passline-opt %s -p dynamic-to-static --split-input-file | filecheck %s

// Every operation, each with its parameters.
// CHECK-LABEL: @all
func.func @all(%x : tensor<2x1x4xf32>, %f : tensor<f32>, %i : tensor<2xi64>) {
  %s = relax.constant dense<[2, 3, 4]> : tensor<3xi64>
  %one = relax.constant dense<1> : tensor<1xi64>
  %ones = relax.full 1 : tensor<2xi64>
  %value = relax.constant dense<2.5> : tensor<f32>
  %depth = relax.constant dense<3> : tensor<i64>
  %last = relax.constant dense<[8, -1]> : tensor<2xi32>
  // CHECK: relax.reshape %x {newshape = [8, -1], allowzero = true} : (tensor<2x1x4xf32>) -> tensor<8x1xf32>
  %0 = relax.dyn.reshape %x, %last {allowzero = true} : (tensor<2x1x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK-NEXT: relax.broadcast_to %x {shape = [2, 3, 4]} : (tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  %1 = relax.dyn.broadcast_to %x, %s : (tensor<2x1x4xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: relax.broadcast_to %x {shape = [2, 1, 4]} : (tensor<2x1x4xf32>) -> tensor<2x1x4xf32>
  %2 = relax.dyn.expand %x, %ones : (tensor<2x1x4xf32>, tensor<2xi64>) -> tensor<2x1x4xf32>
  // CHECK-NEXT: relax.tile %x {reps = [2, 3, 4]} : (tensor<2x1x4xf32>) -> tensor<4x3x16xf32>
  %3 = relax.dyn.tile %x, %s : (tensor<2x1x4xf32>, tensor<3xi64>) -> tensor<*xf32>
  // CHECK-NEXT: relax.broadcast_to %f {shape = [2, 3, 4]} : (tensor<f32>) -> tensor<2x3x4xf32>
  %4 = relax.dyn.full %f, %s : (tensor<f32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: relax.strided_slice %x {begin = [1], end = [1], strides = [1], axes = [1]} : (tensor<2x1x4xf32>) -> tensor<2x0x4xf32>
  %5 = relax.dyn.strided_slice %x, %one, %one, %one, %one : (tensor<2x1x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x?x4xf32>
  // CHECK-NEXT: relax.squeeze %x {axis = [1]} : (tensor<2x1x4xf32>) -> tensor<2x4xf32>
  %6 = relax.dyn.squeeze %x, %one : (tensor<2x1x4xf32>, tensor<1xi64>) -> tensor<2x4xf32>
  // CHECK-NEXT: relax.expand_dims %x {axis = [1]} : (tensor<2x1x4xf32>) -> tensor<2x1x1x4xf32>
  %7 = relax.dyn.expand_dims %x, %one : (tensor<2x1x4xf32>, tensor<1xi64>) -> tensor<2x1x1x4xf32>
  // CHECK-NEXT: relax.one_hot %i, %f, %f {depth = 3, axis = 0} : (tensor<2xi64>, tensor<f32>, tensor<f32>) -> tensor<3x2xf32>
  %8 = relax.dyn.one_hot %i, %f, %f, %depth {axis = 0} : (tensor<2xi64>, tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<3x2xf32>
  // CHECK-NEXT: {{%.*}}, {{%.*}} = relax.split %x {indices = [1]} : (tensor<2x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>)
  %9, %10 = relax.dyn.split %x, %ones : (tensor<2x1x4xf32>, tensor<2xi64>) -> (tensor<1x1x4xf32>, tensor<?x1x4xf32>)
  // CHECK-NEXT: relax.mean %x {axis = [1]} : (tensor<2x1x4xf32>) -> tensor<2x4xf32>
  %11 = relax.dyn.reduce %x, %one {reduction = "mean", keepdims = false} : (tensor<2x1x4xf32>, tensor<1xi64>) -> tensor<2x4xf32>
  // CHECK-NEXT: relax.cumsum %x {axis = 1, reverse = true} : (tensor<2x1x4xf32>) -> tensor<2x1x4xf32>
  %12 = relax.dyn.cumsum %x, %one {reverse = true} : (tensor<2x1x4xf32>, tensor<1xi64>) -> tensor<2x1x4xf32>
  // CHECK-NEXT: relax.cumprod %x {axis = 1} : (tensor<2x1x4xf32>) -> tensor<2x1x4xf32>
  %13 = relax.dyn.cumprod %x, %one : (tensor<2x1x4xf32>, tensor<1xi64>) -> tensor<2x1x4xf32>
  // CHECK-NEXT: {{%.*}}, {{%.*}} = relax.topk %x {k = 3, largest = false} : (tensor<2x1x4xf32>) -> (tensor<2x1x3xf32>, tensor<2x1x3xi64>)
  %14, %15 = relax.dyn.topk %x, %depth {largest = false} : (tensor<2x1x4xf32>, tensor<i64>) -> (tensor<2x1x3xf32>, tensor<2x1x?xi64>)
  // CHECK-NEXT: relax.nn.pad %x {pad_width = [0, 0, 1, 1, 0, 0], pad_value = 2.500000e+00 : f64} : (tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  %16 = relax.dyn.pad %x, %ones, %value, %one : (tensor<2x1x4xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: relax.image.resize1d %x {layout = "NWC", size = [3], method = "nearest_neighbor"} : (tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  %17 = relax.dyn.resize %x, %depth {method = "nearest_neighbor", layout = "NWC"} : (tensor<2x1x4xf32>, tensor<i64>) -> tensor<2x3x4xf32>
  return
}

// -----

// REQUIRES-XDSL: 0.64 (dense constants of bf16)
// A fill of a constant is a fill; its parameters may be fills too.
// CHECK-LABEL: @fill
func.func @fill() -> tensor<7x7xbf16> {
  // CHECK: [[F:%.*]] = relax.full 2.500000e+00 : tensor<7x7xbf16>
  // CHECK-NEXT: return [[F]]
  %f = relax.constant dense<2.5> : tensor<bf16>
  %s = relax.full 7 : tensor<2xi64>
  %0 = relax.dyn.full %f, %s : (tensor<bf16>, tensor<2xi64>) -> tensor<7x7xbf16>
  return %0 : tensor<7x7xbf16>
}

// -----

// Attributes stay.
// CHECK-LABEL: @attributes
func.func @attributes(%x : tensor<4xf32>) -> tensor<2x2xf32> {
  // CHECK: relax.reshape %x {newshape = [2, 2], tag = "a"}
  %s = relax.constant dense<2> : tensor<2xi64>
  %0 = relax.dyn.reshape %x, %s {tag = "a"} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// Must not fire: an unknown parameter.
// UNCHANGED: @not_constant
func.func @not_constant(%x : tensor<4xf32>, %s : tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = relax.dyn.reshape %x, %s : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Must not fire: some parameters are unknown.
// CHECK-LABEL: @some
func.func @some(%x : tensor<4x5xf32>, %end : tensor<1xi64>) -> tensor<?x?xf32> {
  // CHECK: relax.dyn.strided_slice %x, %{{.*}}, %end, %{{.*}}, %{{.*}} : {{.*}} -> tensor<4x?xf32>
  %zero = relax.constant dense<0> : tensor<1xi64>
  %one = relax.constant dense<1> : tensor<1xi64>
  %0 = relax.dyn.strided_slice %x, %zero, %end, %one, %one : (tensor<4x5xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Must not fire: the broadcast shape is unknown.
// UNCHANGED: @expand
func.func @expand(%x : tensor<?x4xf32>) -> tensor<?x4xf32> {
  %s = relax.constant dense<1> : tensor<2xi64>
  %0 = relax.dyn.expand %x, %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// Must not fire: the padding value is unknown.
// CHECK-LABEL: @pad
func.func @pad(%x : tensor<3xf32>, %value : tensor<f32>) -> tensor<?xf32> {
  // CHECK: relax.dyn.pad %x, %{{.*}}, %value, %{{.*}} -> tensor<5xf32>
  %one = relax.constant dense<1> : tensor<2xi64>
  %zero = relax.constant dense<0> : tensor<1xi64>
  %0 = relax.dyn.pad %x, %one, %value, %zero : (tensor<3xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Must not fire: there is no static operation.
// CHECK-LABEL: @compress
func.func @compress(%x : tensor<3xf32>) -> tensor<?xf32> {
  // CHECK: relax.dyn.compress %x, %{{.*}} -> tensor<2xf32>
  %c = relax.constant dense<[true, false, true]> : tensor<3xi1>
  %0 = relax.dyn.compress %x, %c : (tensor<3xf32>, tensor<3xi1>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Must not fire: a parameter that fold-constant would compute.
// CHECK-LABEL: @computed
func.func @computed(%x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK: relax.dyn.reshape
  %one = relax.constant dense<1> : tensor<2xi64>
  %two = relax.add %one, %one : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %0 = relax.dyn.reshape %x, %two : (tensor<4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
