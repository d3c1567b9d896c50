// RUN: passline-opt %s --verify-roundtrip
// RUN: passline-opt %s --print-op-generic --verify-roundtrip

func.func @non_max_suppression(%b: tensor<1x9x4xf32>, %s: tensor<1x?x9xf32>, %n: tensor<i64>, %t: tensor<f32>) -> tensor<?x3xi64> {
  %0 = relax.vision.non_max_suppression %b, %s, %n, %t : (tensor<1x9x4xf32>, tensor<1x?x9xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
  %1 = relax.vision.non_max_suppression %b, %s, %n, %t, %t {center_point_box = true} : (tensor<1x9x4xf32>, tensor<1x?x9xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x3xi64>
  func.return %1 : tensor<?x3xi64>
}
