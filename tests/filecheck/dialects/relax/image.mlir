// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s
// RUN: passline-opt %s -p infer-type | filecheck %s

// CHECK-LABEL: @resize
func.func @resize(%a : tensor<1x2x4xf32>, %b : tensor<1x?x?x3xui8>, %c : tensor<1x3x8x8xf32>, %d : tensor<*xf32>) {
  // CHECK: relax.image.resize1d %{{.*}} {size = [8]} : (tensor<1x2x4xf32>) -> tensor<1x2x8xf32>
  %0 = relax.image.resize1d %a {size = [8]} : (tensor<1x2x4xf32>) -> tensor<1x2x8xf32>
  // CHECK-NEXT: relax.image.resize2d %{{.*}} {layout = "NHWC", size = [224, 224], method = "nearest_neighbor", coordinate_transformation_mode = "asymmetric", rounding_method = "floor"} : (tensor<1x?x?x3xui8>) -> tensor<1x224x224x3xui8>
  %1 = relax.image.resize2d %b {layout = "NHWC", size = [224, 224], method = "nearest_neighbor", coordinate_transformation_mode = "asymmetric", rounding_method = "floor"} : (tensor<1x?x?x3xui8>) -> tensor<1x224x224x3xui8>
  // CHECK-NEXT: relax.image.resize2d %{{.*}} {size = [4, 4], roi = [0.000000e+00 : f64, 2.500000e-01 : f64, 1.000000e+00 : f64, 7.500000e-01 : f64], coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %2 = relax.image.resize2d %c {size = [4, 4], roi = [0, 0.25, 1, 0.75], coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  // CHECK-NEXT: relax.image.resize2d %{{.*}} {size = [4, 4], scales = [6.000000e-01 : f64, 5.000000e-01 : f64], method = "cubic", cubic_alpha = -5.000000e-01 : f64, cubic_exclude = 1, antialias = true} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %3 = relax.image.resize2d %c {size = [4, 4], scales = [6.000000e-01 : f64, 5.000000e-01 : f64], method = "cubic", cubic_alpha = -5.000000e-01 : f64, cubic_exclude = 1, antialias = true} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  // CHECK-NEXT: relax.image.resize3d %{{.*}} {size = [4, 4, 4]} : (tensor<*xf32>) -> tensor<?x?x4x4x4xf32>
  %4 = relax.image.resize3d %d {size = [4, 4, 4]} : (tensor<*xf32>) -> tensor<?x?x4x4x4xf32>
  return
}

func.func @upsampling(%a: tensor<1x8x5x?xf32>, %b: tensor<1x5x5x8xf32>) {
  %0 = relax.nn.upsampling %a {scale_h = 2.000000e+00 : f64, scale_w = 2.000000e+00 : f64} : (tensor<1x8x5x?xf32>) -> tensor<1x8x10x?xf32>
  %1 = relax.nn.upsampling %b {scale_h = 1.500000e+00 : f64, method = "bilinear", align_corners = true, layout = "NHWC"} : (tensor<1x5x5x8xf32>) -> tensor<1x8x5x8xf32>
  func.return
}

func.func @blocks(%a: tensor<1x2x4x6xf32>, %b: tensor<1x8x2x?xf32>, %c: tensor<1x2x3x8xf32>) {
  %0 = relax.nn.space_to_depth %a {block_size = 2} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
  %1 = relax.nn.depth_to_space %b {block_size = 2} : (tensor<1x8x2x?xf32>) -> tensor<1x2x4x?xf32>
  %2 = relax.nn.depth_to_space %c {mode = "CRD", block_size = 2, layout = "NHWC"} : (tensor<1x2x3x8xf32>) -> tensor<1x4x6x2xf32>
  func.return
}
