// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: func.func @tensors(%u: tensor<*xf32>, %t: tensor<4xf32>, %n: index, %x: f32, %s: tensor<?xindex>) {
func.func @tensors(%u: tensor<*xf32>, %t: tensor<4xf32>, %n: index, %x: f32, %s: tensor<?xindex>) {
  // CHECK-NEXT: %0 = tensor.rank %u : tensor<*xf32>
  %0 = tensor.rank %u : tensor<*xf32>
  // CHECK-NEXT: %1 = tensor.bitcast %t : tensor<4xf32> to tensor<4xi32>
  %1 = tensor.bitcast %t : tensor<4xf32> to tensor<4xi32>
  // CHECK-NEXT: %2 = tensor.generate %n {
  %2 = tensor.generate %n {
  // CHECK-NEXT: ^bb0(%i: index):
  ^bb0(%i: index):
    // CHECK-NEXT: tensor.yield %x : f32
    tensor.yield %x : f32
  // CHECK-NEXT: } : tensor<?xf32>
  } : tensor<?xf32>
  // CHECK-NEXT: %3 = tensor.reshape %u(%s) : (tensor<*xf32>, tensor<?xindex>) -> tensor<*xf32>
  %3 = tensor.reshape %u(%s) : (tensor<*xf32>, tensor<?xindex>) -> tensor<*xf32>
  // CHECK-NEXT: %4 = tensor.pad %t low[%n] high[0] {
  %4 = tensor.pad %t low[%n] high[0] {
  // CHECK-NEXT: ^bb0(%j: index):
    // CHECK-NEXT: tensor.yield %x : f32
  ^bb0(%j: index):
    tensor.yield %x : f32
  // CHECK-NEXT: } : tensor<4xf32> to tensor<8xf32>
  } : tensor<4xf32> to tensor<8xf32>
  func.return
}
