// RUN: passline-opt %s --verify-roundtrip
// RUN: passline-opt %s --print-op-generic --verify-roundtrip
// RUN: passline-opt %s -p infer-type --verify-roundtrip

func.func @normalizations(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>, %c: tensor<?xf32>, %d: tensor<*xf32>, %e: tensor<4xf32>, %f: tensor<2x3x4xf16>, %g: tensor<4xf16>, %h: tensor<3x4xf16>, %i: tensor<2x6x4x4xf32>, %j: tensor<6xf32>, %k: tensor<2x4x6xf32>, %l: tensor<2x6x?xf32>, %m: tensor<*xbf16>, %n: tensor<4xbf16>, %o: tensor<2x3xf32>, %p: tensor<2x3x4x4xf32>) {
  %0 = relax.nn.batch_norm %a, %b, %b, %c, %d : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<?xf32>, tensor<*xf32>) -> tensor<2x3x4xf32>
  %1 = relax.nn.batch_norm %a, %e, %e, %e, %e {axis = -1, epsilon = 1.000000e-03 : f64, center = false, scale = false} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %2 = relax.nn.layer_norm %f, %g, %g : (tensor<2x3x4xf16>, tensor<4xf16>, tensor<4xf16>) -> tensor<2x3x4xf16>
  %3 = relax.nn.layer_norm %f, %h, %h {axes = [1, 2]} : (tensor<2x3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>) -> tensor<2x3x4xf16>
  %4 = relax.nn.group_norm %i, %j, %j {num_groups = 3} : (tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x4x4xf32>
  %5 = relax.nn.group_norm %k, %j, %j {num_groups = 3, channel_axis = 2, axes = [1]} : (tensor<2x4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x4x6xf32>
  %6 = relax.nn.instance_norm %l, %j, %j : (tensor<2x6x?xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x?xf32>
  %7 = relax.nn.rms_norm %m, %n : (tensor<*xbf16>, tensor<4xbf16>) -> tensor<*xbf16>
  %8 = relax.nn.l2_normalize %o {eps = 1.000000e-12 : f64, axis = [1]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = relax.nn.lrn %p {size = 3, alpha = 1.000000e-04 : f64} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  func.return
}
