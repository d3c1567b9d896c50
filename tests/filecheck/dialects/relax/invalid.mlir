// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: shapes 4x8 and 3 do not broadcast: dimension 1 is 8 and 3
%x, %y = "test.op"() : () -> (tensor<4x8xf32>, tensor<3xf32>)
%0 = relax.add %x, %y : (tensor<4x8xf32>, tensor<3xf32>) -> tensor<4x8xf32>

// -----

// CHECK: shapes 2x0 and 2x3 do not broadcast: dimension 1 is 0 and 3
%x, %y = "test.op"() : () -> (tensor<2x0xf32>, tensor<2x3xf32>)
%0 = relax.add %x, %y : (tensor<2x0xf32>, tensor<2x3xf32>) -> tensor<2x0xf32>

// -----

// CHECK: result type tensor<4xf32> does not match inferred tensor<4x8xf32> for operands tensor<4x8xf32>, tensor<8xf32>
%x, %y = "test.op"() : () -> (tensor<4x8xf32>, tensor<8xf32>)
%0 = relax.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>

// -----

// CHECK: result type tensor<*xf16> does not match inferred tensor<4xf32> for operands tensor<4xf32>
%x = "test.op"() : () -> tensor<4xf32>
%0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf16>

// -----

// CHECK: element types f32 and f16 differ
%x, %y = "test.op"() : () -> (tensor<4xf32>, tensor<4xf16>)
%0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>

// -----

// CHECK: element type index is not one of f16, bf16, f32, f64 and integers of 1 to 64 bits
%x = "test.op"() : () -> tensor<4xindex>
%0 = relax.abs %x : (tensor<4xindex>) -> tensor<4xindex>

// -----

// CHECK: element type i32 is not one of f16, bf16, f32, f64
%x = "test.op"() : () -> tensor<4xi32>
%0 = relax.exp %x : (tensor<4xi32>) -> tensor<4xi32>

// -----

// CHECK: operand 'input' at position 0 does not verify
%x = "test.op"() : () -> f32
%0 = "relax.exp"(%x) : (f32) -> tensor<4xf32>

// -----

// CHECK: shapes 4x8 and 4x8 do not multiply: 8 columns on the left, 4 rows on the right
%x = "test.op"() : () -> tensor<4x8xf32>
%0 = relax.matmul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

// CHECK: shapes scalar and 4 do not multiply: each operand needs at least one dimension
%x, %y = "test.op"() : () -> (tensor<f32>, tensor<4xf32>)
%0 = relax.matmul %x, %y : (tensor<f32>, tensor<4xf32>) -> tensor<f32>

// -----

// CHECK: shapes 2 and 3 do not broadcast: dimension 0 is 2 and 3
%x, %y = "test.op"() : () -> (tensor<2x4x4xf32>, tensor<3x4x4xf32>)
%0 = relax.matmul %x, %y : (tensor<2x4x4xf32>, tensor<3x4x4xf32>) -> tensor<*xf32>

// -----

// CHECK: layout "NC4" is not a sequence of axes such as NCHW or NCHW4c
%x = "test.op"() : () -> tensor<1x8xf32>
%0 = relax.layout_transform %x {src_layout = "NC", dst_layout = "NC4"} : (tensor<1x8xf32>) -> tensor<*xf32>

// -----

// CHECK: layout "NCHN" is not a sequence of axes such as NCHW or NCHW4c
%x = "test.op"() : () -> tensor<1x8x1x1xf32>
%0 = relax.layout_transform %x {src_layout = "NCHN", dst_layout = "NCHW"} : (tensor<1x8x1x1xf32>) -> tensor<*xf32>

// -----

// CHECK: layout "N4c" splits C, which is not an axis of it
%x = "test.op"() : () -> tensor<1x4xf32>
%0 = relax.layout_transform %x {src_layout = "N4c", dst_layout = "NC"} : (tensor<1x4xf32>) -> tensor<*xf32>

// -----

// CHECK: layouts "NCHW" and "NCW" do not have the same axes
%x = "test.op"() : () -> tensor<1x8x1x1xf32>
%0 = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NCW"} : (tensor<1x8x1x1xf32>) -> tensor<*xf32>

// -----

// CHECK: layout "NCHW" has 4 dimensions, shape 1x8 has 2
%x = "test.op"() : () -> tensor<1x8xf32>
%0 = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NHWC"} : (tensor<1x8xf32>) -> tensor<*xf32>

// -----

// CHECK: dimension 2 is 3, but 4 in layout "NC4c"
%x = "test.op"() : () -> tensor<1x2x3xf32>
%0 = relax.layout_transform %x {src_layout = "NC4c", dst_layout = "NC"} : (tensor<1x2x3xf32>) -> tensor<*xf32>

// -----

// CHECK: axis C of size 6 does not split into blocks of 4, as layout "NC4c" requires
%x = "test.op"() : () -> tensor<1x6xf32>
%0 = relax.layout_transform %x {src_layout = "NC", dst_layout = "NC4c"} : (tensor<1x6xf32>) -> tensor<*xf32>

// -----

// CHECK: expected a dense constant
%0 = relax.constant 1.0 : f32

// -----

// CHECK: element type index is not one of f16, bf16, f32, f64 and integers of 1 to 64 bits
%0 = relax.constant dense<1> : tensor<2xindex>

// -----

// CHECK: result type tensor<?xf32> has unknown dimensions
%0 = relax.full 1.0 : tensor<?xf32>

// -----

// CHECK: value 1.000000e+00 : f64 is not an element of tensor<2xf32>
%0 = "relax.full"() <{value = 1.0 : f64}> : () -> tensor<2xf32>

// -----

// CHECK: not an element of tensor<2xi32>
%0 = relax.full 1.5 : tensor<2xi32>

// -----

// CHECK: not an element of tensor<2xi8>
%0 = relax.full 300 : tensor<2xi8>

// -----

// CHECK: not an element of tensor<2xf16>
%0 = relax.full 0x1FFFF : tensor<2xf16>

// -----

// CHECK: not an element of tensor<2xf16>
%0 = relax.full 1.0e10 : tensor<2xf16>

// -----

// CHECK: expected a ranked tensor type
%0 = relax.full 1.5 : tensor<*xf32>
