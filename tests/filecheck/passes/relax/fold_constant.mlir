// RUN: passline-opt %s -p fold-constant | filecheck %s

// A chain of operations on constants folds; nothing is reassociated.
// CHECK-LABEL: @chain
func.func @chain(%x : tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: [[C:%.*]] = relax.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK-NEXT: [[K:%.*]] = relax.constant dense<[4.000000e+00, 8.000000e+00]> : tensor<2xf32>
  %two = relax.full 2.0 : tensor<2xf32>
  %y = relax.add %c, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %k = relax.multiply %y, %two : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: [[Y:%.*]] = relax.add %x, [[K]]
  %z = relax.add %x, %k : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: relax.add [[Y]], [[C]]
  %w = relax.add %z, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: func.return
  return %w : tensor<2xf32>
}

// Integers.
// CHECK-LABEL: @integers
func.func @integers() -> tensor<2xi32> {
  // CHECK-NEXT: relax.constant dense<[-3, 3]> : tensor<2xi32>
  // CHECK-NEXT: func.return
  %0 = relax.constant dense<[-7, 7]> : tensor<2xi32>
  %1 = relax.constant dense<2> : tensor<2xi32>
  %2 = relax.divide %0, %1 : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %2 : tensor<2xi32>
}

// Operations that are not element-wise.
// CHECK-LABEL: @others
func.func @others() -> (tensor<f32>, tensor<2x2xf32>) {
  // CHECK-NEXT: relax.constant dense<1.100000e+01> : tensor<f32>
  // CHECK-NEXT: relax.constant dense<{{.*}}1.000000e+00, 3.000000e+00{{.*}}, {{.*}}2.000000e+00, 4.000000e+00{{.*}}> : tensor<2x2xf32>
  // CHECK-NEXT: func.return
  %0 = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = relax.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %2 = relax.matmul %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  %3 = relax.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %4 = relax.layout_transform %3 {src_layout = "HW", dst_layout = "WH"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2, %4 : tensor<f32>, tensor<2x2xf32>
}

// An operation with too large a result stays.
// UNCHANGED: @too_big
func.func @too_big() -> tensor<5000x5000xf32> {
  %0 = relax.constant dense<[4.0]> : tensor<1xf32>
  %1 = relax.full 2.0 : tensor<5000x5000xf32>
  %2 = relax.add %0, %1 : (tensor<1xf32>, tensor<5000x5000xf32>) -> tensor<5000x5000xf32>
  return %2 : tensor<5000x5000xf32>
}

// Operations without operands stay, and so do constants that were unused before.
// UNCHANGED: @no_operand
func.func @no_operand() {
  %0 = relax.full 0.0 : tensor<2048xf32>
  %1 = relax.constant dense<1.0> : tensor<2xf32>
  return
}

// A constant that is still used stays.
// CHECK-LABEL: @used
func.func @used() -> (tensor<f32>, tensor<f32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.constant dense<2.000000e+00> : tensor<f32>
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<4.000000e+00> : tensor<f32>
  // CHECK-NEXT: func.return [[A]], [[B]]
  %0 = relax.constant dense<2.0> : tensor<f32>
  %1 = relax.add %0, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// An operand that is not constant.
// UNCHANGED: @not_constant
func.func @not_constant(%x : tensor<f32>) -> tensor<f32> {
  %0 = relax.constant dense<2.0> : tensor<f32>
  %1 = relax.add %0, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// Unknown operations stay.
// UNCHANGED: @unknown_operation
func.func @unknown_operation() -> tensor<f32> {
  %0 = relax.constant dense<2.0> : tensor<f32>
  %1 = "test.op"(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// Nothing is folded in primitive functions.
// UNCHANGED: @primitive
func.func @primitive() -> tensor<f32> attributes {relax.primitive} {
  %0 = relax.constant dense<2.0> : tensor<f32>
  %1 = relax.add %0, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// An element of a tuple is replaced by its operand; the unused tuple is erased.
// CHECK-LABEL: @tuple
func.func @tuple(%x : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: [[C:%.*]] = relax.constant dense<4.000000e+00> : tensor<f32>
  // CHECK-NEXT: [[A:%.*]] = relax.add [[C]], %x
  // CHECK-NEXT: func.return [[A]]
  %c = relax.constant dense<2.0> : tensor<f32>
  %t = relax.tuple %x, %c : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  %0 = relax.tuple_get_item %t {index = 1} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %1 = relax.add %0, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = relax.tuple_get_item %t {index = 0} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %3 = relax.add %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// Nested tuples; tuples with other uses and tuples that are parameters stay.
// CHECK-LABEL: @tuples
func.func @tuples(%x : tensor<f32>, %u : tuple<tensor<f32>>) {
  // CHECK-NEXT: [[T:%.*]] = relax.tuple %x
  // CHECK-NEXT: [[U:%.*]] = relax.tuple_get_item %u
  // CHECK-NEXT: "test.op"([[T]], %x, [[U]])
  // CHECK-NEXT: func.return
  %t = relax.tuple %x : (tensor<f32>) -> tuple<tensor<f32>>
  %n = relax.tuple %t : (tuple<tensor<f32>>) -> tuple<tuple<tensor<f32>>>
  %0 = relax.tuple_get_item %n {index = 0} : (tuple<tuple<tensor<f32>>>) -> tuple<tensor<f32>>
  %1 = relax.tuple_get_item %0 {index = 0} : (tuple<tensor<f32>>) -> tensor<f32>
  %2 = relax.tuple_get_item %u {index = 0} : (tuple<tensor<f32>>) -> tensor<f32>
  "test.op"(%t, %1, %2) : (tuple<tensor<f32>>, tensor<f32>, tensor<f32>) -> ()
  return
}

// A placement on a device stays; constants fold through it.
// CHECK-LABEL: @devices
func.func @devices(%x : tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK-NEXT: [[C:%.*]] = relax.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: [[K:%.*]] = relax.constant dense<2.000000e+00> : tensor<f32>
  // CHECK-NEXT: [[D:%.*]] = relax.on_device [[K]] {device = #relax.device<cuda>}
  // CHECK-NEXT: [[A:%.*]] = relax.add [[D]], %x
  // CHECK-NEXT: [[M:%.*]] = relax.device_copy [[C]]
  // CHECK-NEXT: [[E:%.*]] = relax.exp [[M]]
  // CHECK-NEXT: func.return [[A]], [[E]]
  %c = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.on_device %c {device = #relax.device<cuda>} : (tensor<f32>) -> tensor<f32>
  %1 = relax.add %0, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = relax.on_device %1 {device = #relax.device<cuda>} : (tensor<f32>) -> tensor<f32>
  %3 = relax.add %2, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = relax.device_copy %c {src = #relax.device<cpu>, dst = #relax.device<cuda>} : (tensor<f32>) -> tensor<f32>
  %5 = relax.exp %4 : (tensor<f32>) -> tensor<f32>
  return %3, %5 : tensor<f32>, tensor<f32>
}

// A static shape folds.
// CHECK-LABEL: @shapes
func.func @shapes(%x : tensor<2x0x4xf32>, %y : tensor<?x0xf32>, %z : tensor<f32>) -> (tensor<?xi64>, tensor<i64>, tensor<i64>, tensor<0xi64>) {
  // CHECK-NEXT: [[A:%.*]] = relax.constant dense<[2, 0, 4]> : tensor<3xi64>
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<0> : tensor<i64>
  // CHECK-NEXT: [[C:%.*]] = relax.constant dense<0> : tensor<i64>
  // CHECK-NEXT: [[D:%.*]] = relax.constant dense<> : tensor<0xi64>
  // CHECK-NEXT: func.return [[A]], [[B]], [[C]], [[D]]
  %0 = relax.shape_of %x : (tensor<2x0x4xf32>) -> tensor<?xi64>
  %1 = relax.size_of %x : (tensor<2x0x4xf32>) -> tensor<i64>
  %2 = relax.size_of %y : (tensor<?x0xf32>) -> tensor<i64>
  %3 = relax.shape_of %z : (tensor<f32>) -> tensor<0xi64>
  return %0, %1, %2, %3 : tensor<?xi64>, tensor<i64>, tensor<i64>, tensor<0xi64>
}

// Computations on shapes fold; a constant used only for its shape is erased.
// CHECK-LABEL: @of_shapes
func.func @of_shapes(%x : tensor<2x3xf32>) -> (tensor<2xi64>, tensor<1xi64>) {
  // CHECK-NEXT: [[A:%.*]] = relax.constant dense<[4, 6]> : tensor<2xi64>
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<5000> : tensor<1xi64>
  // CHECK-NEXT: func.return [[A]], [[B]]
  %0 = relax.shape_of %x : (tensor<2x3xf32>) -> tensor<2xi64>
  %1 = relax.add %0, %0 : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %2 = relax.full 1.0 : tensor<5000xf32>
  %3 = relax.shape_of %2 : (tensor<5000xf32>) -> tensor<1xi64>
  return %1, %3 : tensor<2xi64>, tensor<1xi64>
}

// An unknown shape stays, even if part of it is known.
// UNCHANGED: @unknown_shape
func.func @unknown_shape(%x : tensor<2x?xf32>, %y : tensor<*xf32>) -> (tensor<2xi64>, tensor<i64>, tensor<?xi64>) {
  %0 = relax.shape_of %x : (tensor<2x?xf32>) -> tensor<2xi64>
  %1 = relax.size_of %x : (tensor<2x?xf32>) -> tensor<i64>
  %2 = relax.shape_of %y : (tensor<*xf32>) -> tensor<?xi64>
  return %0, %1, %2 : tensor<2xi64>, tensor<i64>, tensor<?xi64>
}

// Views, joins and indices of constants fold; scattering does, in order.
// CHECK-LABEL: @manipulation
func.func @manipulation() -> (tensor<2x2xi32>, tensor<3xi32>, tensor<3xi32>) {
  // CHECK-NEXT: relax.constant dense<{{.*}}1, 3{{.*}}, {{.*}}2, 4{{.*}}> : tensor<2x2xi32>
  // CHECK-NEXT: relax.constant dense<[4, 1, 4]> : tensor<3xi32>
  // CHECK-NEXT: relax.constant dense<[4, 1, 13]> : tensor<3xi32>
  // CHECK-NEXT: func.return
  %0 = relax.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %1 = relax.reshape %0 {newshape = [2, -1]} : (tensor<4xi32>) -> tensor<2x2xi32>
  %2 = relax.transpose %1 : (tensor<2x2xi32>) -> tensor<2x2xi32>
  %3 = relax.constant dense<[3, 0, -1]> : tensor<3xi64>
  %4 = relax.take %0, %3 {mode = "wrap"} : (tensor<4xi32>, tensor<3xi64>) -> tensor<3xi32>
  %5 = relax.constant dense<2> : tensor<2xi64>
  %6 = relax.constant dense<[4, 5]> : tensor<2xi32>
  %7 = relax.scatter_elements %4, %5, %6 {reduction = "add"} : (tensor<3xi32>, tensor<2xi64>, tensor<2xi32>) -> tensor<3xi32>
  return %2, %4, %7 : tensor<2x2xi32>, tensor<3xi32>, tensor<3xi32>
}

// An operation with an index out of range stays.
// UNCHANGED: @out_of_range
func.func @out_of_range() -> tensor<1xi32> {
  %0 = relax.constant dense<[1, 2]> : tensor<2xi32>
  %1 = relax.constant dense<[5]> : tensor<1xi64>
  %2 = relax.gather %0, %1 : (tensor<2xi32>, tensor<1xi64>) -> tensor<1xi32>
  return %2 : tensor<1xi32>
}

// Concatenations, reductions to indices, and operations with several results.
// CHECK-LABEL: @several
func.func @several() -> (tensor<6xf32>, tensor<2x4xf32>, tensor<i64>, tensor<2xf32>, tensor<1xf32>) {
  // CHECK-NEXT: relax.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<6xf32>
  // CHECK-NEXT: relax.constant dense<{{.*}}1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00{{.*}}, {{.*}}3.000000e+00, 4.000000e+00, 3.000000e+00, 4.000000e+00{{.*}}> : tensor<2x4xf32>
  // CHECK-NEXT: relax.constant dense<2> : tensor<i64>
  // CHECK-NEXT: relax.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT: relax.constant dense<3.000000e+00> : tensor<1xf32>
  // CHECK-NEXT: func.return
  %c = relax.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %d = relax.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = relax.concatenate %c, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  %1 = relax.concatenate %d, %d {axis = 1} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %2 = relax.argmax %c : (tensor<3xf32>) -> tensor<i64>
  %3, %4 = relax.split %c {indices = [2]} : (tensor<3xf32>) -> (tensor<2xf32>, tensor<1xf32>)
  return %0, %1, %2, %3, %4 : tensor<6xf32>, tensor<2x4xf32>, tensor<i64>, tensor<2xf32>, tensor<1xf32>
}

// A known part of an unknown shape, and computations on it.
// CHECK-LABEL: @part_of_shape
func.func @part_of_shape(%x : tensor<5x4x3x2xf32>) -> tensor<1x1xi64> {
  // CHECK-NEXT: relax.exp
  // CHECK-NEXT: [[C:%.*]] = relax.constant dense<5> : tensor<1x1xi64>
  // CHECK-NEXT: func.return [[C]]
  %0 = relax.exp %x : (tensor<5x4x3x2xf32>) -> tensor<5x4x3x2xf32>
  %1 = relax.shape_of %0 : (tensor<5x4x3x2xf32>) -> tensor<4xi64>
  %i = relax.constant dense<[0]> : tensor<1xi64>
  %2 = relax.take %1, %i {axis = 0} : (tensor<4xi64>, tensor<1xi64>) -> tensor<1xi64>
  %3 = relax.expand_dims %2 {axis = [0]} : (tensor<1xi64>) -> tensor<1x1xi64>
  %4 = relax.concatenate %3 : (tensor<1x1xi64>) -> tensor<1x1xi64>
  return %4 : tensor<1x1xi64>
}

// Dropout is that of inference, and folds.
// CHECK-LABEL: @dropout
func.func @dropout() -> tensor<2xf32> {
  // CHECK-NEXT: [[C:%.*]] = relax.constant dense<[2.000000e+00, 3.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT: func.return [[C]]
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %one = relax.full 1.0 : tensor<2xf32>
  %0 = relax.nn.dropout %c : (tensor<2xf32>) -> tensor<2xf32>
  %1 = relax.add %0, %one : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// A call of a kernel stays: its result is unknown.
// UNCHANGED: @kernel
func.func private @written(memref<2xf32>, memref<2xf32>)
func.func @kernel() -> tensor<2xf32> {
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relax.call_tir @written(%c) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
