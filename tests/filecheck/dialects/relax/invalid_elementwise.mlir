// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: element type i32 is not one of f16, bf16, f32, f64
func.func @float_only(%x : tensor<4xi32>) {
  %0 = relax.erf %x : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// CHECK: element type i32 is not one of f16, bf16, f32, f64
func.func @float_predicate(%x : tensor<4xi32>) {
  %0 = relax.isnan %x : (tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

// CHECK: element type i1 is not one of f16, bf16, f32, f64
func.func @float_binary(%x : tensor<4xi1>) {
  %0 = relax.atan2 %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

// CHECK: element type f32 is not an integer type of 1 to 64 bits
func.func @integer_only(%x : tensor<4xf32>) {
  %0 = relax.left_shift %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: element type f32 is not an integer type of 1 to 64 bits
func.func @integer_unary(%x : tensor<4xf32>) {
  %0 = relax.bitwise_not %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: element type i8 is not i1
func.func @bool_only(%x : tensor<4xi8>) {
  %0 = relax.logical_and %x, %x : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

// CHECK: element type i8 is not i1
func.func @bool_unary(%x : tensor<4xi8>) {
  %0 = relax.logical_not %x : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

// CHECK: result type tensor<4xf32> does not match inferred tensor<4xi1> for operands tensor<4xf32>, tensor<4xf32>
func.func @comparison(%x : tensor<4xf32>) {
  %0 = relax.less %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: element types f32 and f16 differ
func.func @comparison_elements(%x : tensor<4xf32>, %y : tensor<4xf16>) {
  %0 = relax.equal %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xi1>
  return
}

// -----

// CHECK: element type f32 is not i1
func.func @where_condition(%x : tensor<4xf32>) {
  %0 = relax.where %x, %x, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: shapes 3 and 4 do not broadcast: dimension 0 is 3 and 4
func.func @where_shape(%c : tensor<3xi1>, %x : tensor<4xf32>) {
  %0 = relax.where %c, %x, %x : (tensor<3xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: property 'max' expected
func.func @clip_without_bound(%x : tensor<4xf32>) {
  %0 = relax.clip %x {min = 0.0} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: min or max is NaN
func.func @clip_nan(%x : tensor<4xf32>) {
  %0 = relax.clip %x {min = 0.0, max = 0x7FF8000000000000 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// CHECK: element type index is not one of f16, bf16, f32, f64 and integers of 1 to 64 bits
func.func @astype(%x : tensor<4xf32>) {
  %0 = relax.astype %x {dtype = index} : (tensor<4xf32>) -> tensor<4xindex>
  return
}

// -----

// CHECK: result type tensor<4xi8> does not match inferred tensor<4xi32> for operands tensor<4xf32>
func.func @astype_result(%x : tensor<4xf32>) {
  %0 = relax.astype %x {dtype = i32} : (tensor<4xf32>) -> tensor<4xi8>
  return
}

// -----

// CHECK: f32 has 32 bits, i16 has 16
func.func @reinterpret(%x : tensor<4xf32>) {
  %0 = relax.reinterpret %x {dtype = i16} : (tensor<4xf32>) -> tensor<4xi16>
  return
}

// -----

// CHECK: alpha has size 4, axis 1 of 2x3 has size 3
func.func @prelu_size(%x : tensor<2x3xf32>, %a : tensor<4xf32>) {
  %0 = relax.nn.prelu %x, %a : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

// CHECK: alpha has shape 3x1, expected a vector
func.func @prelu_rank(%x : tensor<2x3xf32>, %a : tensor<3x1xf32>) {
  %0 = relax.nn.prelu %x, %a : (tensor<2x3xf32>, tensor<3x1xf32>) -> tensor<2x3xf32>
  return
}

// -----

// CHECK: axis 1 is out of range for a tensor of rank 1: expected -1 to 0
func.func @prelu_axis(%x : tensor<3xf32>) {
  %0 = relax.nn.prelu %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

// CHECK: element types f32 and f16 differ
func.func @prelu_elements(%x : tensor<2x3xf32>, %a : tensor<3xf16>) {
  %0 = relax.nn.prelu %x, %a : (tensor<2x3xf32>, tensor<3xf16>) -> tensor<2x3xf32>
  return
}
