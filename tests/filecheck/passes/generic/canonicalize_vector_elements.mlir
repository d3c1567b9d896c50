// RUN: passline-opt %s -p 'canonicalize' | filecheck %s

// Shapes, parts and elements of vectors.

// A change of shape: none, of another one, of constants, of what is broadcast.
// CHECK-LABEL: @shapes(
// CHECK-NEXT:    [[V0:%.*]] = arith.constant dense<7> : vector<4xi8>
// CHECK-NEXT:    [[V1:%.*]] = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi8>
// CHECK-NEXT:    [[V2:%.*]] = vector.shape_cast %v : vector<2x3xf32> to vector<6xf32>
// CHECK-NEXT:    [[V3:%.*]] = vector.broadcast %x : f32 to vector<1x2xf32>
// CHECK-NEXT:    [[V4:%.*]] = vector.broadcast %w : vector<3xf32> to vector<6x3xf32>
// CHECK-NEXT:    [[V5:%.*]] = vector.shape_cast %w : vector<3xf32> to vector<3x1xf32>
// CHECK-NEXT:    func.return %v, [[V2]], [[V1]], [[V0]], [[V3]], [[V4]], %w, [[V5]] : vector<2x3xf32>, vector<6xf32>, vector<2x2xi8>, vector<4xi8>, vector<1x2xf32>, vector<6x3xf32>, vector<3xf32>, vector<3x1xf32>
func.func @shapes(%v: vector<2x3xf32>, %x: f32, %w: vector<3xf32>) -> (vector<2x3xf32>, vector<6xf32>, vector<2x2xi8>, vector<4xi8>, vector<1x2xf32>, vector<6x3xf32>, vector<3xf32>, vector<3x1xf32>) {
  %0 = vector.shape_cast %v : vector<2x3xf32> to vector<3x2xf32>
  %1 = vector.shape_cast %0 : vector<3x2xf32> to vector<2x3xf32>
  %2 = vector.shape_cast %0 : vector<3x2xf32> to vector<6xf32>
  %3 = arith.constant dense<[1, 2, 3, 4]> : vector<4xi8>
  %4 = vector.shape_cast %3 : vector<4xi8> to vector<2x2xi8>
  %5 = arith.constant dense<7> : vector<2x2xi8>
  %6 = vector.shape_cast %5 : vector<2x2xi8> to vector<4xi8>
  %7 = vector.broadcast %x : f32 to vector<2xf32>
  %8 = vector.shape_cast %7 : vector<2xf32> to vector<1x2xf32>
  %9 = vector.broadcast %w : vector<3xf32> to vector<2x3x3xf32>
  %10 = vector.shape_cast %9 : vector<2x3x3xf32> to vector<6x3xf32>
  %11 = vector.broadcast %w : vector<3xf32> to vector<1x3xf32>
  %12 = vector.shape_cast %11 : vector<1x3xf32> to vector<3xf32>
  %13 = vector.shape_cast %11 : vector<1x3xf32> to vector<3x1xf32>
  func.return %1, %2, %4, %6, %8, %10, %12, %13 : vector<2x3xf32>, vector<6xf32>, vector<2x2xi8>, vector<4xi8>, vector<1x2xf32>, vector<6x3xf32>, vector<3xf32>, vector<3x1xf32>
}

// The elements repeat in another order: the operand is stretched inside, or its rows are cut.
// UNCHANGED: @other_order
func.func @other_order(%v: vector<2x1xf32>, %w: vector<4xf32>) -> (vector<2x2x2xf32>, vector<4x2xf32>) {
  %0 = vector.broadcast %v : vector<2x1xf32> to vector<2x4xf32>
  %1 = vector.shape_cast %0 : vector<2x4xf32> to vector<2x2x2xf32>
  %2 = vector.broadcast %w : vector<4xf32> to vector<2x4xf32>
  %3 = vector.shape_cast %2 : vector<2x4xf32> to vector<4x2xf32>
  func.return %1, %3 : vector<2x2x2xf32>, vector<4x2xf32>
}

// A broadcast of what gets or loses leading dimensions of size 1.
// CHECK-LABEL: @broadcasts(
// CHECK-NEXT:    [[V0:%.*]] = vector.broadcast %v : vector<2xf32> to vector<3x2xf32>
// CHECK-NEXT:    [[V1:%.*]] = vector.broadcast %w : vector<1x2xf32> to vector<3x2xf32>
// CHECK-NEXT:    func.return [[V0]], [[V1]] : vector<3x2xf32>, vector<3x2xf32>
func.func @broadcasts(%v: vector<2xf32>, %w: vector<1x2xf32>) -> (vector<3x2xf32>, vector<3x2xf32>) {
  %0 = vector.shape_cast %v : vector<2xf32> to vector<1x2xf32>
  %1 = vector.broadcast %0 : vector<1x2xf32> to vector<3x2xf32>
  %2 = vector.shape_cast %w : vector<1x2xf32> to vector<2xf32>
  %3 = vector.broadcast %2 : vector<2xf32> to vector<3x2xf32>
  func.return %1, %3 : vector<3x2xf32>, vector<3x2xf32>
}

// An inner dimension of size 1 is another vector; one more leading dimension has no place.
// UNCHANGED: @other_dimension
func.func @other_dimension(%v: vector<2xf32>, %w: vector<1x1x2xf32>) -> (vector<2x3xf32>, vector<3x2xf32>) {
  %0 = vector.shape_cast %v : vector<2xf32> to vector<2x1xf32>
  %1 = vector.broadcast %0 : vector<2x1xf32> to vector<2x3xf32>
  %2 = vector.shape_cast %w : vector<1x1x2xf32> to vector<2xf32>
  %3 = vector.broadcast %2 : vector<2xf32> to vector<3x2xf32>
  func.return %1, %3 : vector<2x3xf32>, vector<3x2xf32>
}

// The trailing dimensions of a mask that are set.
// CHECK-LABEL: @mask_shapes(
// CHECK-NEXT:    [[V0:%.*]] = vector.create_mask %n : vector<4xi1>
// CHECK-NEXT:    [[V1:%.*]] = vector.constant_mask [2] : vector<4xi1>
// CHECK-NEXT:    func.return [[V0]], [[V1]] : vector<4xi1>, vector<4xi1>
func.func @mask_shapes(%n: index) -> (vector<4xi1>, vector<4xi1>) {
  %0 = arith.constant 1 : index
  %1 = vector.create_mask %n, %0 : vector<4x1xi1>
  %2 = vector.shape_cast %1 : vector<4x1xi1> to vector<4xi1>
  %3 = vector.constant_mask [2, 1] : vector<4x1xi1>
  %4 = vector.shape_cast %3 : vector<4x1xi1> to vector<4xi1>
  func.return %2, %4 : vector<4xi1>, vector<4xi1>
}

// The size of a trailing dimension is not known, or a leading one is dropped.
// UNCHANGED: @other_mask_shapes
func.func @other_mask_shapes(%n: index) -> (vector<4xi1>, vector<4xi1>) {
  %0 = arith.constant 1 : index
  %1 = vector.create_mask %n, %n : vector<4x1xi1>
  %2 = vector.shape_cast %1 : vector<4x1xi1> to vector<4xi1>
  %3 = vector.create_mask %0, %n : vector<1x4xi1>
  %4 = vector.shape_cast %3 : vector<1x4xi1> to vector<4xi1>
  func.return %2, %4 : vector<4xi1>, vector<4xi1>
}

// Transposes: of nothing, of one another, of equal elements, of elements.
// CHECK-LABEL: @transposes(
// CHECK-NEXT:    [[V0:%.*]] = arith.constant dense<5> : vector<3x2xi8>
// CHECK-NEXT:    [[V1:%.*]] = vector.broadcast %x : f32 to vector<3x2xf32>
// CHECK-NEXT:    [[V2:%.*]] = vector.from_elements %x, %y, %x, %y : vector<2x2xf32>
// CHECK-NEXT:    [[V3:%.*]] = vector.broadcast %u : vector<1x3xf32> to vector<4x2x3xf32>
// CHECK-NEXT:    func.return %v, %v, [[V1]], [[V0]], [[V2]], [[V3]] : vector<2x3xf32>, vector<2x3xf32>, vector<3x2xf32>, vector<3x2xi8>, vector<2x2xf32>, vector<4x2x3xf32>
func.func @transposes(%v: vector<2x3xf32>, %u: vector<1x3xf32>, %x: f32, %y: f32) -> (vector<2x3xf32>, vector<2x3xf32>, vector<3x2xf32>, vector<3x2xi8>, vector<2x2xf32>, vector<4x2x3xf32>) {
  %0 = vector.transpose %v, [0, 1] : vector<2x3xf32> to vector<2x3xf32>
  %1 = vector.transpose %v, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  %2 = vector.transpose %1, [1, 0] : vector<3x2xf32> to vector<2x3xf32>
  %3 = vector.broadcast %x : f32 to vector<2x3xf32>
  %4 = vector.transpose %3, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  %5 = arith.constant dense<5> : vector<2x3xi8>
  %6 = vector.transpose %5, [1, 0] : vector<2x3xi8> to vector<3x2xi8>
  %7 = vector.from_elements %x, %x, %y, %y : vector<2x2xf32>
  %8 = vector.transpose %7, [1, 0] : vector<2x2xf32> to vector<2x2xf32>
  %9 = vector.broadcast %u : vector<1x3xf32> to vector<2x4x3xf32>
  %10 = vector.transpose %9, [1, 0, 2] : vector<2x4x3xf32> to vector<4x2x3xf32>
  func.return %0, %2, %4, %6, %8, %10 : vector<2x3xf32>, vector<2x3xf32>, vector<3x2xf32>, vector<3x2xi8>, vector<2x2xf32>, vector<4x2x3xf32>
}

// A dimension of the operand of the broadcast is moved.
// UNCHANGED: @moved
func.func @moved(%v: vector<3xf32>, %w: vector<2x2xf32>) -> (vector<3x2xf32>, vector<2x2xf32>) {
  %0 = vector.broadcast %v : vector<3xf32> to vector<2x3xf32>
  %1 = vector.transpose %0, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  %2 = vector.transpose %w, [1, 0] : vector<2x2xf32> to vector<2x2xf32>
  func.return %1, %2 : vector<3x2xf32>, vector<2x2xf32>
}

// Parts: the whole, of constants, of broadcasts, of masks.
// CHECK-LABEL: @parts(
// CHECK-NEXT:    [[V0:%.*]] = arith.constant dense<[[5, 6]]> : vector<1x2xi8>
// CHECK-NEXT:    [[V1:%.*]] = arith.constant dense<false> : vector<2x1xi1>
// CHECK-NEXT:    [[V2:%.*]] = vector.broadcast %x : f32 to vector<2xf32>
// CHECK-NEXT:    [[V3:%.*]] = vector.broadcast %w : vector<3xf32> to vector<2x3xf32>
// CHECK-NEXT:    [[V4:%.*]] = vector.constant_mask [1, 2] : vector<2x2xi1>
// CHECK-NEXT:    [[V5:%.*]] = vector.extract %v[2] : vector<3xf32> from vector<4x3xf32>
// CHECK-NEXT:    func.return %v, [[V0]], [[V2]], [[V3]], [[V4]], [[V1]], [[V5]] : vector<4x3xf32>, vector<1x2xi8>, vector<2xf32>, vector<2x3xf32>, vector<2x2xi1>, vector<2x1xi1>, vector<3xf32>
func.func @parts(%v: vector<4x3xf32>, %x: f32, %w: vector<3xf32>) -> (vector<4x3xf32>, vector<1x2xi8>, vector<2xf32>, vector<2x3xf32>, vector<2x2xi1>, vector<2x1xi1>, vector<3xf32>) {
  %0 = vector.extract_strided_slice %v {offsets = [0, 0], sizes = [4, 3], strides = [1, 1]} : vector<4x3xf32> to vector<4x3xf32>
  %1 = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : vector<2x3xi8>
  %2 = vector.extract_strided_slice %1 {offsets = [1, 1], sizes = [1, 2], strides = [1, 1]} : vector<2x3xi8> to vector<1x2xi8>
  %3 = vector.broadcast %x : f32 to vector<8xf32>
  %4 = vector.extract_strided_slice %3 {offsets = [3], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
  %5 = vector.broadcast %w : vector<3xf32> to vector<4x3xf32>
  %6 = vector.extract_strided_slice %5 {offsets = [1], sizes = [2], strides = [1]} : vector<4x3xf32> to vector<2x3xf32>
  %7 = vector.constant_mask [2, 2] : vector<4x3xi1>
  %8 = vector.extract_strided_slice %7 {offsets = [1, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x3xi1> to vector<2x2xi1>
  %9 = vector.extract_strided_slice %7 {offsets = [0, 2], sizes = [2, 1], strides = [1, 1]} : vector<4x3xi1> to vector<2x1xi1>
  %10 = vector.extract_strided_slice %v {offsets = [2], sizes = [1], strides = [1]} : vector<4x3xf32> to vector<1x3xf32>
  %11 = vector.shape_cast %10 : vector<1x3xf32> to vector<3xf32>
  func.return %0, %2, %4, %6, %8, %9, %11 : vector<4x3xf32>, vector<1x2xi8>, vector<2xf32>, vector<2x3xf32>, vector<2x2xi1>, vector<2x1xi1>, vector<3xf32>
}

// A part of the operand of a broadcast; a part of more than one row.
// UNCHANGED: @other_parts
func.func @other_parts(%w: vector<3xf32>, %v: vector<4x3xf32>) -> (vector<2x2xf32>, vector<6xf32>) {
  %0 = vector.broadcast %w : vector<3xf32> to vector<4x3xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [1, 1], sizes = [2, 2], strides = [1, 1]} : vector<4x3xf32> to vector<2x2xf32>
  %2 = vector.extract_strided_slice %v {offsets = [1, 0], sizes = [2, 3], strides = [1, 1]} : vector<4x3xf32> to vector<2x3xf32>
  %3 = vector.shape_cast %2 : vector<2x3xf32> to vector<6xf32>
  func.return %1, %3 : vector<2x2xf32>, vector<6xf32>
}

// Inserted parts, and what is taken out of them again.
// CHECK-LABEL: @inserted(
// CHECK-NEXT:    [[V0:%.*]] = arith.constant dense<[1, 9, 3]> : vector<3xi8>
// CHECK-NEXT:    [[V1:%.*]] = vector.extract_strided_slice %p {offsets = [1 : i64, 0 : i64], sizes = [1 : i64, 1 : i64], strides = [1 : i64, 1 : i64]} : vector<2x2xf32> to vector<1x1xf32>
// CHECK-NEXT:    [[V2:%.*]] = vector.extract_strided_slice %v {offsets = [2 : i64, 0 : i64], sizes = [2 : i64, 2 : i64], strides = [1 : i64, 1 : i64]} : vector<4x4xf32> to vector<2x2xf32>
// CHECK-NEXT:    [[V3:%.*]] = vector.broadcast %x : f32 to vector<4x4xf32>
// CHECK-NEXT:    func.return %p, [[V1]], [[V2]], %v, %v, [[V3]], [[V0]] : vector<2x2xf32>, vector<1x1xf32>, vector<2x2xf32>, vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32>, vector<3xi8>
func.func @inserted(%p: vector<2x2xf32>, %v: vector<4x4xf32>, %x: f32) -> (vector<2x2xf32>, vector<1x1xf32>, vector<2x2xf32>, vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32>, vector<3xi8>) {
  %0 = vector.insert_strided_slice %p, %v {offsets = [1, 1], strides = [1, 1]} : vector<2x2xf32> into vector<4x4xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [1, 1], sizes = [2, 2], strides = [1, 1]} : vector<4x4xf32> to vector<2x2xf32>
  %2 = vector.extract_strided_slice %0 {offsets = [2, 1], sizes = [1, 1], strides = [1, 1]} : vector<4x4xf32> to vector<1x1xf32>
  %3 = vector.insert_strided_slice %p, %v {offsets = [0, 0], strides = [1, 1]} : vector<2x2xf32> into vector<4x4xf32>
  %4 = vector.extract_strided_slice %3 {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x4xf32> to vector<2x2xf32>
  %5 = vector.insert_strided_slice %v, %0 {offsets = [0, 0], strides = [1, 1]} : vector<4x4xf32> into vector<4x4xf32>
  %6 = vector.extract_strided_slice %v {offsets = [1, 2], sizes = [2, 2], strides = [1, 1]} : vector<4x4xf32> to vector<2x2xf32>
  %7 = vector.insert_strided_slice %6, %v {offsets = [1, 2], strides = [1, 1]} : vector<2x2xf32> into vector<4x4xf32>
  %8 = vector.broadcast %x : f32 to vector<2x2xf32>
  %9 = vector.broadcast %x : f32 to vector<4x4xf32>
  %10 = vector.insert_strided_slice %8, %9 {offsets = [1, 2], strides = [1, 1]} : vector<2x2xf32> into vector<4x4xf32>
  %11 = arith.constant dense<[1, 2, 3]> : vector<3xi8>
  %12 = arith.constant dense<9> : vector<1xi8>
  %13 = vector.insert_strided_slice %12, %11 {offsets = [1], strides = [1]} : vector<1xi8> into vector<3xi8>
  func.return %1, %2, %4, %5, %7, %10, %13 : vector<2x2xf32>, vector<1x1xf32>, vector<2x2xf32>, vector<4x4xf32>, vector<4x4xf32>, vector<4x4xf32>, vector<3xi8>
}

// The parts overlap, or are at another place; zeros of both signs are not one value.
// UNCHANGED: @overlap
func.func @overlap(%p: vector<2x2xf32>, %v: vector<4x4xf32>, %i: vector<2x4xf32>) -> (vector<2x2xf32>, vector<4x4xf32>, vector<4xf32>) {
  %0 = vector.insert_strided_slice %p, %v {offsets = [1, 1], strides = [1, 1]} : vector<2x2xf32> into vector<4x4xf32>
  %1 = vector.extract_strided_slice %0 {offsets = [0, 1], sizes = [2, 2], strides = [1, 1]} : vector<4x4xf32> to vector<2x2xf32>
  %2 = vector.extract_strided_slice %v {offsets = [1, 2], sizes = [2, 2], strides = [1, 1]} : vector<4x4xf32> to vector<2x2xf32>
  %3 = vector.insert_strided_slice %2, %v {offsets = [2, 2], strides = [1, 1]} : vector<2x2xf32> into vector<4x4xf32>
  %4 = vector.extract %0[1] : vector<4xf32> from vector<4x4xf32>
  func.return %1, %3, %4 : vector<2x2xf32>, vector<4x4xf32>, vector<4xf32>
}

// An element or a row is one of what a vector is made of.
// CHECK-LABEL: @extracts(
// CHECK-NEXT:    [[V0:%.*]] = vector.extract %v[1, 2] : f32 from vector<4x3xf32>
// CHECK-NEXT:    [[V1:%.*]] = vector.extract %v[%i, 2] : f32 from vector<4x3xf32>
// CHECK-NEXT:    [[V2:%.*]] = vector.extract %v[2] : vector<3xf32> from vector<4x3xf32>
// CHECK-NEXT:    [[V3:%.*]] = vector.extract %p[1, 1] : f32 from vector<2x2xf32>
// CHECK-NEXT:    [[V4:%.*]] = vector.extract %v[3] : vector<3xf32> from vector<4x3xf32>
// CHECK-NEXT:    [[V5:%.*]] = vector.extract %v[2, 2] : f32 from vector<4x3xf32>
// CHECK-NEXT:    [[V6:%.*]] = vector.extract %v[3] : vector<3xf32> from vector<4x3xf32>
// CHECK-NEXT:    [[V7:%.*]] = vector.shape_cast %v : vector<4x3xf32> to vector<12xf32>
// CHECK-NEXT:    func.return [[V0]], [[V1]], [[V2]], [[V3]], [[V4]], [[V5]], [[V6]], [[V7]] : f32, f32, vector<3xf32>, f32, vector<3xf32>, f32, vector<3xf32>, vector<12xf32>
func.func @extracts(%v: vector<4x3xf32>, %p: vector<2x2xf32>, %i: index) -> (f32, f32, vector<3xf32>, f32, vector<3xf32>, f32, vector<3xf32>, vector<12xf32>) {
  %0 = vector.transpose %v, [1, 0] : vector<4x3xf32> to vector<3x4xf32>
  %1 = vector.extract %0[2, 1] : f32 from vector<3x4xf32>
  %2 = vector.extract %0[2, %i] : f32 from vector<3x4xf32>
  %3 = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]} : vector<4x3xf32> to vector<2x3xf32>
  %4 = vector.extract %3[1] : vector<3xf32> from vector<2x3xf32>
  %5 = vector.insert_strided_slice %p, %v {offsets = [1, 0], strides = [1, 1]} : vector<2x2xf32> into vector<4x3xf32>
  %6 = vector.extract %5[2, 1] : f32 from vector<4x3xf32>
  %7 = vector.extract %5[3] : vector<3xf32> from vector<4x3xf32>
  %8 = vector.shape_cast %v : vector<4x3xf32> to vector<2x2x3xf32>
  %9 = vector.extract %8[1, 0, 2] : f32 from vector<2x2x3xf32>
  %10 = vector.extract %8[1, 1] : vector<3xf32> from vector<2x2x3xf32>
  %11 = vector.shape_cast %v : vector<4x3xf32> to vector<1x12xf32>
  %12 = vector.extract %11[0] : vector<12xf32> from vector<1x12xf32>
  func.return %1, %2, %4, %6, %7, %9, %10, %12 : f32, f32, vector<3xf32>, f32, vector<3xf32>, f32, vector<3xf32>, vector<12xf32>
}

// A column, a row that is cut, places that are not known.
// UNCHANGED: @other_extracts
func.func @other_extracts(%v: vector<4x3xf32>, %p: vector<1x3xf32>, %i: index) -> (vector<4xf32>, vector<2xf32>, f32, f32, f32) {
  %0 = vector.transpose %v, [1, 0] : vector<4x3xf32> to vector<3x4xf32>
  %1 = vector.extract %0[2] : vector<4xf32> from vector<3x4xf32>
  %2 = vector.extract_strided_slice %v {offsets = [1, 1], sizes = [2, 2], strides = [1, 1]} : vector<4x3xf32> to vector<2x2xf32>
  %3 = vector.extract %2[1] : vector<2xf32> from vector<2x2xf32>
  %4 = vector.extract %2[%i, 0] : f32 from vector<2x2xf32>
  %5 = vector.insert_strided_slice %p, %v {offsets = [1, 0], strides = [1, 1]} : vector<1x3xf32> into vector<4x3xf32>
  %6 = vector.extract %5[%i, 0] : f32 from vector<4x3xf32>
  %7 = vector.shape_cast %v : vector<4x3xf32> to vector<12xf32>
  %8 = vector.extract %7[%i] : f32 from vector<12xf32>
  func.return %1, %3, %4, %6, %8 : vector<4xf32>, vector<2xf32>, f32, f32, f32
}

// A row of a mask is a mask, or none.
// CHECK-LABEL: @mask_rows(
// CHECK-NEXT:    [[V0:%.*]] = arith.constant dense<false> : vector<4xi1>
// CHECK-NEXT:    [[V1:%.*]] = arith.constant true
// CHECK-NEXT:    [[V2:%.*]] = vector.create_mask %n : vector<4xi1>
// CHECK-NEXT:    [[V3:%.*]] = vector.constant_mask [3] : vector<4xi1>
// CHECK-NEXT:    [[V4:%.*]] = vector.create_mask %n : vector<4xi1>
// CHECK-NEXT:    func.return [[V2]], [[V0]], [[V1]], [[V3]], [[V4]] : vector<4xi1>, vector<4xi1>, i1, vector<4xi1>, vector<4xi1>
func.func @mask_rows(%n: index, %i: index) -> (vector<4xi1>, vector<4xi1>, i1, vector<4xi1>, vector<4xi1>) {
  %0 = arith.constant 2 : index
  %1 = arith.constant 3 : index
  %2 = vector.create_mask %0, %n : vector<3x4xi1>
  %3 = vector.extract %2[1] : vector<4xi1> from vector<3x4xi1>
  %4 = vector.extract %2[2] : vector<4xi1> from vector<3x4xi1>
  %5 = vector.constant_mask [2, 3] : vector<3x4xi1>
  %6 = vector.extract %5[1, 2] : i1 from vector<3x4xi1>
  %7 = vector.extract %5[1] : vector<4xi1> from vector<3x4xi1>
  %8 = vector.create_mask %1, %n : vector<3x4xi1>
  %9 = vector.extract %8[%i] : vector<4xi1> from vector<3x4xi1>
  func.return %3, %4, %6, %7, %9 : vector<4xi1>, vector<4xi1>, i1, vector<4xi1>, vector<4xi1>
}

// The number of rows, or which row it is, is not known; all of a scalable dimension is not either.
// UNCHANGED: @other_mask_rows
func.func @other_mask_rows(%n: index, %i: index) -> (vector<4xi1>, vector<4xi1>, vector<4xi1>) {
  %0 = arith.constant 2 : index
  %1 = vector.create_mask %n, %0 : vector<3x4xi1>
  %2 = vector.extract %1[1] : vector<4xi1> from vector<3x4xi1>
  %3 = vector.create_mask %0, %n : vector<3x4xi1>
  %4 = vector.extract %3[%i] : vector<4xi1> from vector<3x4xi1>
  %5 = vector.create_mask %0, %n : vector<[2]x4xi1>
  %6 = vector.extract %5[%i] : vector<4xi1> from vector<[2]x4xi1>
  func.return %2, %4, %6 : vector<4xi1>, vector<4xi1>, vector<4xi1>
}

// Elements of a vector, and a vector of elements.
// CHECK-LABEL: @elements(
// CHECK-NEXT:    [[V0:%.*]] = arith.constant dense<[3, 4]> : vector<2xi8>
// CHECK-NEXT:    [[V1:%.*]] = vector.broadcast %y : f32 to vector<3xf32>
// CHECK-NEXT:    [[V2:%.*]], [[V3:%.*]] = vector.to_elements %v : vector<2xf32>
// CHECK-NEXT:    func.return %x, %y, %x, %v, [[V1]], [[V0]], [[V3]] : f32, f32, f32, vector<2xf32>, vector<3xf32>, vector<2xi8>, f32
func.func @elements(%x: f32, %y: f32, %v: vector<2xf32>) -> (f32, f32, f32, vector<2xf32>, vector<3xf32>, vector<2xi8>, f32) {
  %0 = vector.from_elements %x, %y : vector<2xf32>
  %1:2 = vector.to_elements %0 : vector<2xf32>
  %2 = vector.broadcast %x : f32 to vector<2xf32>
  %3:2 = vector.to_elements %2 : vector<2xf32>
  %4:2 = vector.to_elements %v : vector<2xf32>
  %5 = vector.from_elements %4#0, %4#1 : vector<2xf32>
  %6 = vector.from_elements %y, %y, %y : vector<3xf32>
  %7 = arith.constant 3 : i8
  %8 = arith.constant 4 : i8
  %9 = vector.from_elements %7, %8 : vector<2xi8>
  %10 = vector.broadcast %v : vector<2xf32> to vector<2x2xf32>
  %11:4 = vector.to_elements %10 : vector<2x2xf32>
  func.return %1#0, %1#1, %3#1, %5, %6, %9, %11#3 : f32, f32, f32, vector<2xf32>, vector<3xf32>, vector<2xi8>, f32
}

// The elements are in another order, or some of a vector.
// UNCHANGED: @other_elements
func.func @other_elements(%v: vector<2xf32>, %x: f32) -> (vector<2xf32>, vector<1xf32>, vector<2xf32>) {
  %0:2 = vector.to_elements %v : vector<2xf32>
  %1 = vector.from_elements %0#1, %0#0 : vector<2xf32>
  %2 = vector.shape_cast %1 : vector<2xf32> to vector<2x1xf32>
  %3 = vector.extract %2[1] : vector<1xf32> from vector<2x1xf32>
  %4 = vector.from_elements %x, %0#0 : vector<2xf32>
  func.return %1, %3, %4 : vector<2xf32>, vector<1xf32>, vector<2xf32>
}

// All elements are written at once.
// CHECK-LABEL: @insert_all(
// CHECK-NEXT:    [[V0:%\w+]] = vector.broadcast %a : vector<4xf32> to vector<1x1x4xf32>
// CHECK-NEXT:    func.return [[V0]] : vector<1x1x4xf32>
func.func @insert_all(%a: vector<4xf32>, %b: vector<1x1x4xf32>) -> vector<1x1x4xf32> {
  %0 = vector.insert %a, %b [0, 0] : vector<4xf32> into vector<1x1x4xf32>
  func.return %0 : vector<1x1x4xf32>
}

// All elements are written, one after the other; later values are on top of earlier ones.
// CHECK-LABEL: @insertions(
// CHECK-NEXT:    [[V0:%\w+]], [[V1:%\w+]] = vector.to_elements %b : vector<2xi64>
// CHECK-NEXT:    [[V2:%\w+]] = vector.from_elements %x, %y, %x, [[V1]] : vector<2x2xi64>
// CHECK-NEXT:    func.return [[V2]] : vector<2x2xi64>
func.func @insertions(%a: vector<2x2xi64>, %b: vector<2xi64>, %x: i64, %y: i64) -> vector<2x2xi64> {
  %0 = vector.insert %x, %a [0, 0] : i64 into vector<2x2xi64>
  %1 = vector.insert %b, %0 [1] : vector<2xi64> into vector<2x2xi64>
  %2 = vector.insert %y, %1 [0, 1] : i64 into vector<2x2xi64>
  %3 = vector.insert %x, %2 [1, 0] : i64 into vector<2x2xi64>
  func.return %3 : vector<2x2xi64>
}

// An element is not written, or at a place that is not known, or others use a vector in between.
// UNCHANGED: @some_insertions
func.func @some_insertions(%a: vector<2xi64>, %i: index, %x: i64, %y: i64) -> (vector<2xi64>, vector<2xi64>, vector<2xi64>, vector<2xi64>) {
  %0 = vector.insert %x, %a [0] : i64 into vector<2xi64>
  %1 = vector.insert %x, %a [0] : i64 into vector<2xi64>
  %2 = vector.insert %y, %1 [%i] : i64 into vector<2xi64>
  %3 = vector.insert %x, %a [0] : i64 into vector<2xi64>
  %4 = vector.insert %y, %3 [1] : i64 into vector<2xi64>
  func.return %0, %2, %3, %4 : vector<2xi64>, vector<2xi64>, vector<2xi64>, vector<2xi64>
}

// Elements of a vector of elements.
// CHECK-LABEL: @taken_elements(
// CHECK-NEXT:    [[V0:%\w+]] = vector.from_elements %x, %y : vector<2xf32>
// CHECK-NEXT:    func.return %y, [[V0]] : f32, vector<2xf32>
func.func @taken_elements(%x: f32, %y: f32) -> (f32, vector<2xf32>) {
  %0 = vector.from_elements %x, %y, %x, %y : vector<2x2xf32>
  %1 = vector.extract %0[1, 1] : f32 from vector<2x2xf32>
  %2 = vector.extract %0[1] : vector<2xf32> from vector<2x2xf32>
  func.return %1, %2 : f32, vector<2xf32>
}

// The elements of a vector, or of the end of one, in order.
// CHECK-LABEL: @in_order(
// CHECK-NEXT:    [[V0:%\w+]] = vector.shape_cast %a : vector<2x2xi8> to vector<4xi8>
// CHECK-NEXT:    [[V1:%\w+]] = vector.extract %a[1] : vector<2xi8> from vector<2x2xi8>
// CHECK-NEXT:    func.return [[V0]], [[V1]] : vector<4xi8>, vector<2xi8>
func.func @in_order(%a: vector<2x2xi8>) -> (vector<4xi8>, vector<2xi8>) {
  %0 = vector.extract %a[0, 0] : i8 from vector<2x2xi8>
  %1 = vector.extract %a[0, 1] : i8 from vector<2x2xi8>
  %2 = vector.extract %a[1, 0] : i8 from vector<2x2xi8>
  %3 = vector.extract %a[1, 1] : i8 from vector<2x2xi8>
  %4 = vector.from_elements %0, %1, %2, %3 : vector<4xi8>
  %5 = vector.from_elements %2, %3 : vector<2xi8>
  func.return %4, %5 : vector<4xi8>, vector<2xi8>
}

// Another order, elements across rows, and of two vectors.
// UNCHANGED: @out_of_order
func.func @out_of_order(%a: vector<2x2xi8>, %b: vector<2x2xi8>) -> (vector<2xi8>, vector<2xi8>, vector<2xi8>) {
  %0 = vector.extract %a[0, 0] : i8 from vector<2x2xi8>
  %1 = vector.extract %a[0, 1] : i8 from vector<2x2xi8>
  %2 = vector.extract %a[1, 0] : i8 from vector<2x2xi8>
  %3 = vector.extract %b[0, 1] : i8 from vector<2x2xi8>
  %4 = vector.from_elements %1, %0 : vector<2xi8>
  %5 = vector.from_elements %1, %2 : vector<2xi8>
  %6 = vector.from_elements %0, %3 : vector<2xi8>
  func.return %4, %5, %6 : vector<2xi8>, vector<2xi8>, vector<2xi8>
}

// A shuffle of two vectors in turn, and one of an element.
// CHECK-LABEL: @shuffles(
// CHECK-NEXT:    [[V0:%\w+]] = vector.interleave %a, %b : vector<2xi8> -> vector<4xi8>
// CHECK-NEXT:    [[V1:%\w+]] = vector.interleave %c, %d : vector<i8> -> vector<2xi8>
// CHECK-NEXT:    [[V2:%\w+]] = vector.broadcast %d : vector<i8> to vector<1xi8>
// CHECK-NEXT:    func.return [[V0]], [[V1]], [[V2]] : vector<4xi8>, vector<2xi8>, vector<1xi8>
func.func @shuffles(%a: vector<2xi8>, %b: vector<2xi8>, %c: vector<i8>, %d: vector<i8>) -> (vector<4xi8>, vector<2xi8>, vector<1xi8>) {
  %0 = vector.shuffle %a, %b [0, 2, 1, 3] : vector<2xi8>, vector<2xi8>
  %1 = vector.shuffle %c, %d [0, 1] : vector<i8>, vector<i8>
  %2 = vector.shuffle %c, %d [1] : vector<i8>, vector<i8>
  func.return %0, %1, %2 : vector<4xi8>, vector<2xi8>, vector<1xi8>
}

// Shuffles in another order, of more dimensions, and of vectors of two sizes.
// UNCHANGED: @other_shuffles
func.func @other_shuffles(%a: vector<2xi8>, %b: vector<2xi8>, %c: vector<1x2xi8>, %d: vector<2xi8>, %e: vector<1xi8>) -> (vector<4xi8>, vector<2x2xi8>, vector<2xi8>) {
  %0 = vector.shuffle %a, %b [2, 0, 3, 1] : vector<2xi8>, vector<2xi8>
  %1 = vector.shuffle %c, %c [0, 1] : vector<1x2xi8>, vector<1x2xi8>
  %2 = vector.shuffle %d, %e [0, 2] : vector<2xi8>, vector<1xi8>
  func.return %0, %1, %2 : vector<4xi8>, vector<2x2xi8>, vector<2xi8>
}

// No dimension is reduced; a transpose that moves dimensions of size 1 before a cast of the shape.
// CHECK-LABEL: @nothing_moves(
// CHECK-NEXT:    [[V0:%\w+]] = vector.shape_cast %c : vector<1x4x3x1xi8> to vector<4x3xi8>
// CHECK-NEXT:    func.return %a, [[V0]] : vector<2xf32>, vector<4x3xi8>
func.func @nothing_moves(%a: vector<2xf32>, %b: vector<2xf32>, %c: vector<1x4x3x1xi8>) -> (vector<2xf32>, vector<4x3xi8>) {
  %0 = vector.multi_reduction <mul>, %a, %b [] : vector<2xf32> to vector<2xf32>
  %1 = vector.transpose %c, [1, 3, 0, 2] : vector<1x4x3x1xi8> to vector<4x1x1x3xi8>
  %2 = vector.shape_cast %1 : vector<4x1x1x3xi8> to vector<4x3xi8>
  func.return %0, %2 : vector<2xf32>, vector<4x3xi8>
}

// A reduction of more dimensions, and a transpose that changes the order.
// UNCHANGED: @something_moves
func.func @something_moves(%a: vector<2x2xf32>, %c: vector<1x4x3xi8>) -> (vector<2x2xf32>, vector<12xi8>) {
  %0 = vector.multi_reduction <mul>, %a, %a [] : vector<2x2xf32> to vector<2x2xf32>
  %1 = vector.transpose %c, [2, 0, 1] : vector<1x4x3xi8> to vector<3x1x4xi8>
  %2 = vector.shape_cast %1 : vector<3x1x4xi8> to vector<12xi8>
  func.return %0, %2 : vector<2x2xf32>, vector<12xi8>
}
