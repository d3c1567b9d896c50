// RUN: passline-opt %s --verify-roundtrip
// RUN: passline-opt %s --print-op-generic --verify-roundtrip
// RUN: passline-opt %s -p infer-type --verify-roundtrip

func.func @softmax(%a: tensor<2x3xf32>, %b: tensor<*xf16>) {
  %0 = relax.nn.softmax %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relax.nn.log_softmax %b {axis = 1} : (tensor<*xf16>) -> tensor<*xf16>
  func.return
}

func.func @dropout(%a: tensor<2x3xf32>) {
  %0 = relax.nn.dropout %a {rate = 2.500000e-01 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

func.func @bias_add(%a: tensor<2x3x?xi32>, %b: tensor<3xi32>, %c: tensor<2x3x4xf32>, %d: tensor<4xf32>) {
  %0 = relax.nn.bias_add %a, %b : (tensor<2x3x?xi32>, tensor<3xi32>) -> tensor<2x3x?xi32>
  %1 = relax.nn.bias_add %c, %d {axis = -1} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  func.return
}

func.func @pad(%a: tensor<2x?x4xf32>, %b: tensor<*xi8>) {
  %0 = relax.nn.pad %a {pad_width = [0, 0, 1, 1, 2, -1], pad_value = 1.000000e+00 : f64} : (tensor<2x?x4xf32>) -> tensor<2x?x5xf32>
  %1 = relax.nn.pad %b {pad_width = [1, 1, 1, 1], pad_mode = "reflect"} : (tensor<*xi8>) -> tensor<?x?xi8>
  func.return
}

func.func @batch_flatten(%a: tensor<2x3x4xf32>, %b: tensor<?x3x?xf32>, %c: tensor<*xf32>) {
  %0 = relax.nn.batch_flatten %a : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %1 = relax.nn.batch_flatten %b : (tensor<?x3x?xf32>) -> tensor<?x?xf32>
  %2 = relax.nn.batch_flatten %c : (tensor<*xf32>) -> tensor<?x?xf32>
  func.return
}

func.func @dense(%a: tensor<2x3x4xf32>, %b: tensor<5x4xf32>, %c: tensor<4xi8>, %d: tensor<5x4xi8>, %e: tensor<2x4xf32>, %f: tensor<*xf32>) {
  %0 = relax.nn.dense %a, %b : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
  %1 = relax.nn.dense %c, %d {out_dtype = i32} : (tensor<4xi8>, tensor<5x4xi8>) -> tensor<5xi32>
  %2 = relax.nn.dense %e, %f : (tensor<2x4xf32>, tensor<*xf32>) -> tensor<2x?xf32>
  func.return
}

func.func @batch_matmul(%a: tensor<2x3x4xf32>, %b: tensor<1x5x4xf32>, %c: tensor<?x4x3xf16>, %d: tensor<2x4x5xf16>, %e: tensor<*xf32>, %f: tensor<7x1x4x3xf32>, %g: tensor<5x4xf32>) {
  %0 = relax.nn.batch_matmul %a, %b : (tensor<2x3x4xf32>, tensor<1x5x4xf32>) -> tensor<2x3x5xf32>
  %1 = relax.nn.batch_matmul %c, %d {transpose_a = true, transpose_b = false, out_dtype = f32} : (tensor<?x4x3xf16>, tensor<2x4x5xf16>) -> tensor<2x3x5xf32>
  %2 = relax.nn.batch_matmul %e, %e : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %3 = relax.nn.batch_matmul %f, %g {transpose_a = true} : (tensor<7x1x4x3xf32>, tensor<5x4xf32>) -> tensor<7x1x3x5xf32>
  func.return
}
