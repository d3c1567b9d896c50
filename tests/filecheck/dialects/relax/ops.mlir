// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: @constants
func.func @constants() {
  // CHECK-NEXT: relax.constant dense<[1.000000e+00, -0.000000e+00]> : tensor<2xf32>
  %0 = relax.constant dense<[1.0, -0.0]> : tensor<2xf32>
  // CHECK-NEXT: relax.constant dense<[true, false]> : tensor<2xi1>
  %1 = relax.constant dense<[true, false]> : tensor<2xi1>
  // CHECK-NEXT: relax.constant dense<3> : tensor<2x2xi64>
  %2 = relax.constant dense<3> : tensor<2x2xi64>
  // CHECK-NEXT: relax.constant dense<> : tensor<0x4xf16>
  %3 = relax.constant dense<> : tensor<0x4xf16>
  // CHECK-NEXT: relax.constant {tag = "w"} dense<2.500000e+00> : tensor<f64>
  %4 = relax.constant {tag = "w"} dense<2.5> : tensor<f64>
  // CHECK-NEXT: relax.constant dense<[1.401300e-45, 1.000000e+00]> : tensor<2xf32>
  %5 = relax.constant dense<[1.4e-45, 1.0]> : tensor<2xf32>
  return
}

// CHECK-LABEL: @fills
func.func @fills() {
  // CHECK-NEXT: relax.full 5.000000e-01 : tensor<64x64xf32>
  %0 = relax.full 0.5 : tensor<64x64xf32>
  // CHECK-NEXT: relax.full 0x7fc00000 : tensor<4xf32>
  %1 = relax.full 0x7FC00000 : tensor<4xf32>
  // CHECK-NEXT: relax.full -0.000000e+00 : tensor<bf16>
  %2 = relax.full -0.0 : tensor<bf16>
  // CHECK-NEXT: relax.full 0xff80 : tensor<1xbf16>
  %3 = relax.full 0xFF80 : tensor<1xbf16>
  // CHECK-NEXT: relax.full 1.000000e+00 : tensor<2xf16>
  %4 = relax.full 1 : tensor<2xf16>
  // CHECK-NEXT: relax.full 0x4CEB79A3 : tensor<2xf32>
  %5 = relax.full 123456789 : tensor<2xf32>
  // CHECK-NEXT: relax.full -7 : tensor<3xi8>
  %6 = relax.full -7 : tensor<3xi8>
  // CHECK-NEXT: relax.full true : tensor<3xi1>
  %7 = relax.full true : tensor<3xi1>
  // CHECK-NEXT: relax.full {tag = "zero"} 0 : tensor<0xui8>
  %8 = relax.full {tag = "zero"} 0 : tensor<0xui8>
  return
}

// CHECK-LABEL: @unary
func.func @unary(%x : tensor<4x?xf32>, %i : tensor<4xi32>) {
  // CHECK: relax.abs %{{.*}} : (tensor<4xi32>) -> tensor<4xi32>
  %0 = relax.abs %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: relax.negative %{{.*}} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = relax.negative %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK-NEXT: relax.exp %{{.*}} {fast} : (tensor<4x?xf32>) -> tensor<*xf32>
  %2 = relax.exp %x {fast} : (tensor<4x?xf32>) -> tensor<*xf32>
  // CHECK-NEXT: relax.log %{{.*}} : (tensor<*xf32>) -> tensor<*xf32>
  %3 = relax.log %2 : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK-NEXT: relax.sqrt %{{.*}} : (tensor<4x?xf32>) -> tensor<?x?xf32>
  %4 = relax.sqrt %x : (tensor<4x?xf32>) -> tensor<?x?xf32>
  // CHECK-NEXT: relax.tanh %{{.*}} : (tensor<4x?xf32>) -> tensor<4x8xf32>
  %5 = relax.tanh %x : (tensor<4x?xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: relax.sigmoid %{{.*}} : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %6 = relax.sigmoid %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK-NEXT: relax.nn.relu %{{.*}} : (tensor<4xi32>) -> tensor<4xi32>
  %7 = relax.nn.relu %i : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// CHECK-LABEL: @binary
func.func @binary(%x : tensor<4x8xf32>, %y : tensor<8xf32>, %z : tensor<?x1xf32>) {
  // CHECK: relax.add %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %0 = relax.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: relax.subtract %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %1 = relax.subtract %y, %z : (tensor<8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: relax.multiply %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<?x1xf32>) -> tensor<4x8xf32>
  %2 = relax.multiply %x, %z : (tensor<4x8xf32>, tensor<?x1xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: relax.divide %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<?xf32>
  %3 = relax.divide %y, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<?xf32>
  // CHECK-NEXT: relax.maximum
  %4 = relax.maximum %y, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: relax.minimum
  %5 = relax.minimum %y, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: relax.power
  %6 = relax.power %y, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: @matmul
func.func @matmul(%a : tensor<2x1x3x4xf16>, %b : tensor<5x4x6xf16>, %v : tensor<4xf16>) {
  // CHECK: relax.matmul %{{.*}}, %{{.*}} : (tensor<2x1x3x4xf16>, tensor<5x4x6xf16>) -> tensor<2x5x3x6xf16>
  %0 = relax.matmul %a, %b : (tensor<2x1x3x4xf16>, tensor<5x4x6xf16>) -> tensor<2x5x3x6xf16>
  // CHECK-NEXT: relax.matmul %{{.*}}, %{{.*}} : (tensor<4xf16>, tensor<5x4x6xf16>) -> tensor<5x6xf16>
  %1 = relax.matmul %v, %b : (tensor<4xf16>, tensor<5x4x6xf16>) -> tensor<5x6xf16>
  // CHECK-NEXT: relax.matmul %{{.*}}, %{{.*}} : (tensor<4xf16>, tensor<4xf16>) -> tensor<f16>
  %2 = relax.matmul %v, %v : (tensor<4xf16>, tensor<4xf16>) -> tensor<f16>
  return
}

// CHECK-LABEL: @layout_transform
func.func @layout_transform(%x : tensor<1x8x5x6xf32>, %y : tensor<1x5x?x8xf32>) {
  // CHECK: relax.layout_transform %{{.*}} {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x8x5x6xf32>) -> tensor<1x2x5x6x4xf32>
  %0 = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x8x5x6xf32>) -> tensor<1x2x5x6x4xf32>
  // CHECK-NEXT: relax.layout_transform %{{.*}} {src_layout = "NCHW4c", dst_layout = "NHWC"} : (tensor<1x2x5x6x4xf32>) -> tensor<1x5x6x8xf32>
  %1 = relax.layout_transform %0 {src_layout = "NCHW4c", dst_layout = "NHWC"} : (tensor<1x2x5x6x4xf32>) -> tensor<1x5x6x8xf32>
  // CHECK-NEXT: relax.layout_transform %{{.*}} {src_layout = "NHWC", dst_layout = "NCHW2w"} : (tensor<1x5x?x8xf32>) -> tensor<1x8x5x?x2xf32>
  %2 = relax.layout_transform %y {src_layout = "NHWC", dst_layout = "NCHW2w"} : (tensor<1x5x?x8xf32>) -> tensor<1x8x5x?x2xf32>
  return
}
