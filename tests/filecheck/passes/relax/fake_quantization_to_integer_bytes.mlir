// RUN: passline-opt %s -p fake-quantization-to-integer,dead-code-elimination --split-input-file | filecheck %s

// The dot products of this target take unsigned data: 128 more, and a zero point of 130 for that of 2.
// CHECK-LABEL: @matmul
builtin.module attributes {tir.target = "x86-64-v4{features=\"+avx512vnni\"}"} {
  func.func @matmul(%q : tensor<3x4xi8>) -> tensor<3x2xi8> {
    // CHECK: [[HALF:%.*]] = relax.full -128 : tensor<i8>
    // CHECK-NEXT: [[X:%.*]] = relax.add %q, [[HALF]]
    // CHECK-NEXT: [[U:%.*]] = relax.astype [[X]] {{.*}} -> tensor<3x4xui8>
    // CHECK-NEXT: [[S:%.*]] = relax.matmul [[U]], %v {out_dtype = i32}
    // CHECK-NEXT: [[C:%.*]] = relax.constant dense<[2080, 2600]> : tensor<2xi32>
    // CHECK-NEXT: relax.subtract [[S]], [[C]]
    %s = relax.full 0.5 : tensor<f32>
    %z = relax.full 2 : tensor<i8>
    %wz = relax.full 0 : tensor<i8>
    %v = relax.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>
    %x = relax.dequantize %q, %s, %z : (tensor<3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<3x4xf32>
    %w = relax.dequantize %v, %s, %wz : (tensor<4x2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2xf32>
    %y = relax.matmul %x, %w : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
    %r = relax.quantize %y, %s, %z : (tensor<3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<3x2xi8>
    return %r : tensor<3x2xi8>
  }
}

// -----

// Unsigned data are taken as they are.
// CHECK-LABEL: @unsigned
// CHECK-NOT: relax.add
// CHECK: relax.matmul %q, %v
builtin.module attributes {tir.target = "x86-64-v4{features=\"+avx512vnni\"}"} {
  func.func @unsigned(%q : tensor<3x4xui8>) -> tensor<3x2xui8> {
    %s = relax.full 0.5 : tensor<f32>
    %z = relax.full 2 : tensor<ui8>
    %wz = relax.full 0 : tensor<i8>
    %v = relax.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>
    %x = relax.dequantize %q, %s, %z : (tensor<3x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<3x4xf32>
    %w = relax.dequantize %v, %s, %wz : (tensor<4x2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2xf32>
    %y = relax.matmul %x, %w : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
    %r = relax.quantize %y, %s, %z : (tensor<3x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<3x2xui8>
    return %r : tensor<3x2xui8>
  }
}
