// RUN: passline-opt %s -p 'fixpoint(infer-type,fold-constant,dynamic-to-static),dead-code-elimination' --verify-preserves | filecheck %s

// Shapes computed from shapes: each known one makes the next one known.
// CHECK-LABEL: func.func @chain(%x: tensor<2x3x4xf32>) -> tensor<24x1xf32>
func.func @chain(%x : tensor<2x3x4xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: [[R:%.*]] = relax.reshape %x {newshape = [2, -1]} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  // CHECK-NEXT: [[S:%.*]] = relax.reshape [[R]] {newshape = [24, 1]} : (tensor<2x12xf32>) -> tensor<24x1xf32>
  // CHECK-NEXT: return [[S]]
  %shape = relax.shape_of %x : (tensor<2x3x4xf32>) -> tensor<?xi64>
  %zero = relax.constant dense<[0]> : tensor<1xi64>
  %rest = relax.constant dense<[-1]> : tensor<1xi64>
  %batch = relax.take %shape, %zero {axis = 0} : (tensor<?xi64>, tensor<1xi64>) -> tensor<?xi64>
  %rows = relax.concatenate %batch, %rest : (tensor<?xi64>, tensor<1xi64>) -> tensor<?xi64>
  %0 = relax.dyn.reshape %x, %rows : (tensor<2x3x4xf32>, tensor<?xi64>) -> tensor<*xf32>
  %size = relax.size_of %0 : (tensor<*xf32>) -> tensor<i64>
  %one = relax.constant dense<1> : tensor<i64>
  %column = relax.stack %size, %one : (tensor<i64>, tensor<i64>) -> tensor<2xi64>
  %1 = relax.dyn.reshape %0, %column : (tensor<*xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}
