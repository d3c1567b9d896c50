// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

func.func @unary(%x: tensor<4x?xf32>) {
  %0 = relax.abs %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = relax.negative %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %2 = relax.sign %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %3 = relax.square %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %4 = relax.ceil %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %5 = relax.floor %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %6 = relax.round %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %7 = relax.trunc %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %8 = relax.exp %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %9 = relax.expm1 %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %10 = relax.log %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %11 = relax.log2 %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %12 = relax.log1p %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %13 = relax.sqrt %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %14 = relax.rsqrt %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %15 = relax.sin %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %16 = relax.cos %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %17 = relax.tan %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %18 = relax.asin %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %19 = relax.acos %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %20 = relax.atan %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %21 = relax.sinh %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %22 = relax.cosh %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %23 = relax.tanh %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %24 = relax.asinh %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %25 = relax.acosh %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %26 = relax.atanh %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %27 = relax.erf %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %28 = relax.sigmoid %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %29 = relax.nn.relu %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %30 = relax.nn.gelu %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %31 = relax.nn.gelu_tanh %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %32 = relax.nn.silu %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  func.return
}

func.func @integers(%i: tensor<4xi32>, %b: tensor<*xi1>) {
  %0 = relax.abs %i : (tensor<4xi32>) -> tensor<4xi32>
  %1 = relax.ceil %i : (tensor<4xi32>) -> tensor<4xi32>
  %2 = relax.floor %i : (tensor<4xi32>) -> tensor<4xi32>
  %3 = relax.round %i : (tensor<4xi32>) -> tensor<4xi32>
  %4 = relax.trunc %i : (tensor<4xi32>) -> tensor<4xi32>
  %5 = relax.sign %i : (tensor<4xi32>) -> tensor<4xi32>
  %6 = relax.square %i : (tensor<4xi32>) -> tensor<4xi32>
  %7 = relax.nn.relu %i : (tensor<4xi32>) -> tensor<4xi32>
  %8 = relax.bitwise_not %i : (tensor<4xi32>) -> tensor<4xi32>
  %9 = relax.bitwise_not %b : (tensor<*xi1>) -> tensor<*xi1>
  %10 = relax.logical_not %b : (tensor<*xi1>) -> tensor<*xi1>
  func.return
}

func.func @predicates(%x: tensor<4x?xf32>) {
  %0 = relax.isnan %x : (tensor<4x?xf32>) -> tensor<4x?xi1>
  %1 = relax.isinf %x : (tensor<4x?xf32>) -> tensor<4x?xi1>
  %2 = relax.isfinite %x : (tensor<4x?xf32>) -> tensor<4x8xi1>
  func.return
}

// CHECK-LABEL: @activations
func.func @activations(%x : tensor<4x?xf32>, %a : tensor<?xf32>) {
  // CHECK: relax.nn.leaky_relu %{{.*}} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %0 = relax.nn.leaky_relu %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK-NEXT: relax.nn.leaky_relu %{{.*}} {alpha = 2.000000e-01 : f64} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = relax.nn.leaky_relu %x {alpha = 0.2} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK-NEXT: relax.nn.softplus %{{.*}} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %2 = relax.nn.softplus %x {beta = 1.0, threshold = 20.0} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK-NEXT: relax.nn.softplus %{{.*}} {beta = 2.000000e+00 : f64} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %3 = relax.nn.softplus %x {beta = 2.0} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK-NEXT: relax.nn.prelu %{{.*}}, %{{.*}} : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  %4 = relax.nn.prelu %x, %a : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  // CHECK-NEXT: relax.nn.prelu %{{.*}}, %{{.*}} {axis = -2} : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  %5 = relax.nn.prelu %x, %a {axis = -2} : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  return
}

func.func @binary(%x: tensor<4x1xf32>, %y: tensor<8xf32>) {
  %0 = relax.add %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = relax.subtract %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = relax.multiply %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %3 = relax.divide %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %4 = relax.floor_divide %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %5 = relax.mod %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %6 = relax.floor_mod %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %7 = relax.power %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %8 = relax.maximum %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %9 = relax.minimum %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %10 = relax.atan2 %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %11 = relax.log_add_exp %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %12 = relax.equal %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %13 = relax.not_equal %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %14 = relax.less %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %15 = relax.less_equal %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %16 = relax.greater %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %17 = relax.greater_equal %x, %y : (tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  func.return
}

func.func @bits(%i: tensor<?xui8>, %b: tensor<2x1xi1>) {
  %0 = relax.bitwise_and %i, %i : (tensor<?xui8>, tensor<?xui8>) -> tensor<?xui8>
  %1 = relax.bitwise_or %i, %i : (tensor<?xui8>, tensor<?xui8>) -> tensor<?xui8>
  %2 = relax.bitwise_xor %i, %i : (tensor<?xui8>, tensor<?xui8>) -> tensor<?xui8>
  %3 = relax.left_shift %i, %i : (tensor<?xui8>, tensor<?xui8>) -> tensor<?xui8>
  %4 = relax.right_shift %i, %i : (tensor<?xui8>, tensor<?xui8>) -> tensor<?xui8>
  %5 = relax.logical_and %b, %b : (tensor<2x1xi1>, tensor<2x1xi1>) -> tensor<2x1xi1>
  %6 = relax.logical_or %b, %b : (tensor<2x1xi1>, tensor<2x1xi1>) -> tensor<2x1xi1>
  %7 = relax.logical_xor %b, %b : (tensor<2x1xi1>, tensor<2x1xi1>) -> tensor<2x1xi1>
  %8 = relax.bitwise_and %b, %b : (tensor<2x1xi1>, tensor<2x1xi1>) -> tensor<2x1xi1>
  %9 = relax.less %b, %b : (tensor<2x1xi1>, tensor<2x1xi1>) -> tensor<2x1xi1>
  func.return
}

func.func @selection(%c: tensor<2x1xi1>, %x: tensor<3xf32>, %y: tensor<f32>) {
  %0 = relax.where %c, %x, %y : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = relax.clip %x {min = -1.000000e+00 : f64, max = 6.000000e+00 : f64} : (tensor<3xf32>) -> tensor<3xf32>
  %2 = relax.clip %x {min = 0.000000e+00 : f64, max = 0x7ff0000000000000 : f64} : (tensor<3xf32>) -> tensor<3xf32>
  %3 = relax.astype %x {dtype = i4} : (tensor<3xf32>) -> tensor<3xi4>
  %4 = relax.astype %c {dtype = bf16} : (tensor<2x1xi1>) -> tensor<2x1xbf16>
  %5 = relax.reinterpret %x {dtype = ui32} : (tensor<3xf32>) -> tensor<3xui32>
  func.return
}
