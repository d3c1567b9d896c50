// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: @reductions
func.func @reductions(%x : tensor<2x?x4xf16>, %b : tensor<2x3xi1>) {
  // CHECK: relax.sum %{{.*}} : (tensor<2x?x4xf16>) -> tensor<f16>
  %0 = relax.sum %x : (tensor<2x?x4xf16>) -> tensor<f16>
  // CHECK-NEXT: relax.mean %{{.*}} : (tensor<2x?x4xf16>) -> tensor<f16>
  %1 = relax.mean %x : (tensor<2x?x4xf16>) -> tensor<f16>
  // CHECK-NEXT: relax.max %{{.*}} : (tensor<2x?x4xf16>) -> tensor<f16>
  %2 = relax.max %x : (tensor<2x?x4xf16>) -> tensor<f16>
  // CHECK-NEXT: relax.min %{{.*}} : (tensor<2x?x4xf16>) -> tensor<f16>
  %3 = relax.min %x : (tensor<2x?x4xf16>) -> tensor<f16>
  // CHECK-NEXT: relax.prod %{{.*}} : (tensor<2x?x4xf16>) -> tensor<f16>
  %4 = relax.prod %x : (tensor<2x?x4xf16>) -> tensor<f16>
  // CHECK-NEXT: relax.sum %{{.*}} {axis = [-1]} : (tensor<2x?x4xf16>) -> tensor<2x?xf16>
  %5 = relax.sum %x {axis = [-1]} : (tensor<2x?x4xf16>) -> tensor<2x?xf16>
  // CHECK-NEXT: relax.sum %{{.*}} {axis = [0, 2], keepdims = true} : (tensor<2x?x4xf16>) -> tensor<1x?x1xf16>
  %6 = relax.sum %x {axis = [0, 2], keepdims = true} : (tensor<2x?x4xf16>) -> tensor<1x?x1xf16>
  // CHECK-NEXT: relax.mean %{{.*}} {axis = []} : (tensor<2x?x4xf16>) -> tensor<2x?x4xf16>
  %7 = relax.mean %x {axis = [], keepdims = false} : (tensor<2x?x4xf16>) -> tensor<2x?x4xf16>
  // CHECK-NEXT: relax.any %{{.*}} {axis = [1]} : (tensor<2x3xi1>) -> tensor<2xi1>
  %8 = relax.any %b {axis = [1]} : (tensor<2x3xi1>) -> tensor<2xi1>
  // CHECK-NEXT: relax.all %{{.*}} : (tensor<2x3xi1>) -> tensor<i1>
  %9 = relax.all %b : (tensor<2x3xi1>) -> tensor<i1>
  return
}

func.func @indices(%x: tensor<2x?x4xf16>) {
  %0 = relax.argmax %x : (tensor<2x?x4xf16>) -> tensor<i64>
  %1 = relax.argmax %x {axis = 1, select_last_index = true} : (tensor<2x?x4xf16>) -> tensor<2x4xi64>
  %2 = relax.argmin %x {axis = -1, keepdims = true} : (tensor<2x?x4xf16>) -> tensor<2x?x1xi64>
  func.return
}

func.func @scans(%x: tensor<2x?x4xf16>, %y: tensor<2x3xi8>) {
  %0 = relax.cumsum %x : (tensor<2x?x4xf16>) -> tensor<?xf16>
  %1 = relax.cumsum %y {axis = 0, exclusive = true, reverse = true} : (tensor<2x3xi8>) -> tensor<2x3xi8>
  %2 = relax.cumprod %y : (tensor<2x3xi8>) -> tensor<6xi8>
  func.return
}

func.func @unranked(%x: tensor<*xf32>) {
  %0 = relax.max %x : (tensor<*xf32>) -> tensor<f32>
  %1 = relax.max %x {axis = [0]} : (tensor<*xf32>) -> tensor<*xf32>
  %2 = relax.argmin %x {keepdims = true} : (tensor<*xf32>) -> tensor<1x1xi64>
  %3 = relax.cumprod %x {axis = 3} : (tensor<*xf32>) -> tensor<*xf32>
  func.return
}
