// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: element type i32 is not one of f16, bf16, f32, f64
%x = "test.op"() : () -> tensor<4xi32>
%0 = relax.erf %x : (tensor<4xi32>) -> tensor<4xi32>

// -----

// CHECK: element type i32 is not one of f16, bf16, f32, f64
%x = "test.op"() : () -> tensor<4xi32>
%0 = relax.isnan %x : (tensor<4xi32>) -> tensor<4xi1>

// -----

// CHECK: element type i1 is not one of f16, bf16, f32, f64
%x = "test.op"() : () -> tensor<4xi1>
%0 = relax.atan2 %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>

// -----

// CHECK: element type f32 is not an integer type of 1 to 64 bits
%x = "test.op"() : () -> tensor<4xf32>
%0 = relax.left_shift %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: element type f32 is not an integer type of 1 to 64 bits
%x = "test.op"() : () -> tensor<4xf32>
%0 = relax.bitwise_not %x : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: element type i8 is not i1
%x = "test.op"() : () -> tensor<4xi8>
%0 = relax.logical_and %x, %x : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>

// -----

// CHECK: element type i8 is not i1
%x = "test.op"() : () -> tensor<4xi8>
%0 = relax.logical_not %x : (tensor<4xi8>) -> tensor<4xi8>

// -----

// CHECK: result type tensor<4xf32> does not match inferred tensor<4xi1> for operands tensor<4xf32>, tensor<4xf32>
%x = "test.op"() : () -> tensor<4xf32>
%0 = relax.less %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: element types f32 and f16 differ
%x, %y = "test.op"() : () -> (tensor<4xf32>, tensor<4xf16>)
%0 = relax.equal %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xi1>

// -----

// CHECK: element type f32 is not i1
%x = "test.op"() : () -> tensor<4xf32>
%0 = relax.where %x, %x, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: shapes 3 and 4 do not broadcast: dimension 0 is 3 and 4
%c, %x = "test.op"() : () -> (tensor<3xi1>, tensor<4xf32>)
%0 = relax.where %c, %x, %x : (tensor<3xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: property 'max' expected
%x = "test.op"() : () -> tensor<4xf32>
%0 = relax.clip %x {min = 0.0} : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: min or max is NaN
%x = "test.op"() : () -> tensor<4xf32>
%0 = relax.clip %x {min = 0.0, max = 0x7FF8000000000000 : f64} : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: element type index is not one of f16, bf16, f32, f64 and integers of 1 to 64 bits
%x = "test.op"() : () -> tensor<4xf32>
%0 = relax.astype %x {dtype = index} : (tensor<4xf32>) -> tensor<4xindex>

// -----

// CHECK: result type tensor<4xi8> does not match inferred tensor<4xi32> for operands tensor<4xf32>
%x = "test.op"() : () -> tensor<4xf32>
%0 = relax.astype %x {dtype = i32} : (tensor<4xf32>) -> tensor<4xi8>

// -----

// CHECK: f32 has 32 bits, i16 has 16
%x = "test.op"() : () -> tensor<4xf32>
%0 = relax.reinterpret %x {dtype = i16} : (tensor<4xf32>) -> tensor<4xi16>

// -----

// CHECK: alpha has size 4, axis 1 of 2x3 has size 3
%x, %a = "test.op"() : () -> (tensor<2x3xf32>, tensor<4xf32>)
%0 = relax.nn.prelu %x, %a : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>

// -----

// CHECK: alpha has shape 3x1, expected a vector
%x, %a = "test.op"() : () -> (tensor<2x3xf32>, tensor<3x1xf32>)
%0 = relax.nn.prelu %x, %a : (tensor<2x3xf32>, tensor<3x1xf32>) -> tensor<2x3xf32>

// -----

// CHECK: axis 1 is out of range for a tensor of rank 1: expected -1 to 0
%x = "test.op"() : () -> tensor<3xf32>
%0 = relax.nn.prelu %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>

// -----

// CHECK: element types f32 and f16 differ
%x, %a = "test.op"() : () -> (tensor<2x3xf32>, tensor<3xf16>)
%0 = relax.nn.prelu %x, %a : (tensor<2x3xf32>, tensor<3xf16>) -> tensor<2x3xf32>
