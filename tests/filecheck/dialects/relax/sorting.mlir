// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

func.func @sorting(%x: tensor<2x?xi8>) {
  %0 = relax.sort %x : (tensor<2x?xi8>) -> tensor<2x?xi8>
  %1 = relax.sort %x {axis = 0, descending = true} : (tensor<2x?xi8>) -> tensor<2x?xi8>
  %2 = relax.argsort %x : (tensor<2x?xi8>) -> tensor<2x?xi64>
  %3 = relax.argsort %x {axis = 1, descending = true} : (tensor<2x?xi8>) -> tensor<2x5xi64>
  func.return
}

// CHECK-LABEL: @topk
func.func @topk(%x : tensor<2x?xi8>, %y : tensor<*xf32>) {
  // CHECK: relax.topk %{{.*}} : (tensor<2x?xi8>) -> (tensor<2x1xi8>, tensor<2x1xi64>)
  %0, %1 = relax.topk %x : (tensor<2x?xi8>) -> (tensor<2x1xi8>, tensor<2x1xi64>)
  // CHECK-NEXT: relax.topk %{{.*}} : (tensor<2x?xi8>) -> (tensor<2x1xi8>, tensor<2x1xi64>)
  %2, %3 = relax.topk %x {k = 1, axis = -1, largest = true, sorted = true} : (tensor<2x?xi8>) -> (tensor<2x1xi8>, tensor<2x1xi64>)
  // CHECK-NEXT: relax.topk %{{.*}} {k = 2, axis = 0, largest = false, sorted = false} : (tensor<2x?xi8>) -> (tensor<2x?xi8>, tensor<2x?xi64>)
  %4, %5 = relax.topk %x {k = 2, axis = 0, largest = false, sorted = false} : (tensor<2x?xi8>) -> (tensor<2x?xi8>, tensor<2x?xi64>)
  // CHECK-NEXT: relax.topk %{{.*}} {k = 3} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<?x3xi64>)
  %6, %7 = relax.topk %y {k = 3} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<?x3xi64>)
  return
}
