// RUN: passline-opt %s -p canonicalize | filecheck %s
// REQUIRES-XDSL: 0.60 (the custom form of `memref.dim`)

// Views and copies of buffers, and calls of functions that are values.

// The size of a reshape is loaded directly after it, where it is still the same.
// CHECK-LABEL: @reshape_sizes(
// CHECK-NEXT:    {{%.*}} = arith.constant 1 : index
// CHECK-NEXT:    {{%.*}} = memref.load %s[%n] : memref<?xindex>
// CHECK-NEXT:    {{%.*}} = memref.load %s[{{%.*}}] : memref<?xindex>
// CHECK-NEXT:    {{%.*}} = memref.load %t[{{%.*}}] : memref<2xi32>
// CHECK-NEXT:    {{%.*}} = arith.index_cast {{%.*}} : i32 to index
// CHECK-NEXT:    memref.store %n, %s[{{%.*}}] : memref<?xindex>
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}}, {{%.*}} : index, index, index
func.func @reshape_sizes(%m: memref<*xf32>, %s: memref<?xindex>, %t: memref<2xi32>, %n: index) -> (index, index, index) {
  %1 = arith.constant 1 : index
  %v = memref.reshape %m(%s) : (memref<*xf32>, memref<?xindex>) -> memref<*xf32>
  %w = memref.reshape %m(%t) : (memref<*xf32>, memref<2xi32>) -> memref<?x?xf32>
  memref.store %n, %s[%1] : memref<?xindex>
  %2 = memref.dim %v, %1 : memref<*xf32>
  %3 = memref.dim %v, %n : memref<*xf32>
  %4 = memref.dim %w, %1 : memref<?x?xf32>
  func.return %2, %3, %4 : index, index, index
}

// The dimension is not known at the reshape.
// UNCHANGED: @reshape_late
func.func @reshape_late(%m: memref<*xf32>, %s: memref<?xindex>, %p: memref<index>) -> index {
  %v = memref.reshape %m(%s) : (memref<*xf32>, memref<?xindex>) -> memref<*xf32>
  %n = memref.load %p[] : memref<index>
  %2 = memref.dim %v, %n : memref<*xf32>
  func.return %2 : index
}

// Copies of nothing, and of a buffer to itself.
// CHECK-LABEL: @copies(
// CHECK-NEXT:    func.return
func.func @copies(%a: memref<0x4xf32>, %b: memref<?x4xf32>) {
  memref.copy %a, %b : memref<0x4xf32> to memref<?x4xf32>
  memref.copy %b, %b : memref<?x4xf32> to memref<?x4xf32>
  func.return
}

// A copy to a buffer that may be of the same size.
// UNCHANGED: @copy
func.func @copy(%a: memref<2x4xf32>, %b: memref<?x4xf32>) {
  memref.copy %a, %b : memref<2x4xf32> to memref<?x4xf32>
  func.return
}

// What is only written after it got another size.
// CHECK-LABEL: @realloc(
// CHECK-NEXT:    func.return
func.func @realloc(%a: memref<2xf32>, %x: f32) {
  %0 = arith.constant 0 : index
  %b = memref.realloc %a : memref<2xf32> to memref<4xf32>
  memref.store %x, %b[%0] : memref<4xf32>
  func.return
}

// It is read.
// UNCHANGED: @realloc_read
func.func @realloc_read(%a: memref<2xf32>) -> f32 {
  %0 = arith.constant 0 : index
  %b = memref.realloc %a : memref<2xf32> to memref<4xf32>
  %x = memref.load %b[%0] : memref<4xf32>
  func.return %x : f32
}

// What a cast knows is constant; all else is that of its operand.
// CHECK-LABEL: @metadata(
// CHECK-NEXT:    {{%.*}} = arith.constant 18 : index
// CHECK-NEXT:    {{%.*}} = arith.constant 4 : index
// CHECK-NEXT:    {{%.*}} = arith.constant 25 : index
// CHECK-NEXT:    {{%.*}}, {{%.*}}, {{%.*}}, {{%.*}}, {{%.*}}, {{%.*}} = memref.extract_strided_metadata %a : memref<?x?xi32, strided<[?, ?], offset: ?>> -> memref<i32>, index, index, index, index, index
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}}, {{%.*}}, {{%.*}}, {{%.*}}, {{%.*}} : memref<i32>, index, index, index, index, index
func.func @metadata(%a: memref<?x?xi32, strided<[?, ?], offset: ?>>) -> (memref<i32>, index, index, index, index, index) {
  %b = memref.cast %a : memref<?x?xi32, strided<[?, ?], offset: ?>> to memref<4x?xi32, strided<[?, 18], offset: 25>>
  %r:6 = memref.extract_strided_metadata %b : memref<4x?xi32, strided<[?, 18], offset: 25>> -> memref<i32>, index, index, index, index, index
  func.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : memref<i32>, index, index, index, index, index
}

// The same buffer in a type with another layout; the parts of a buffer without a layout have none.
// CHECK-LABEL: @layouts(
// CHECK-NEXT:    {{%.*}} = "memref.cast"(%a) : (memref<?xf32, strided<[1]>>) -> memref<?xf32>
// CHECK-NEXT:    {{%.*}} = memref.expand_shape %b {{\[\[}}0 : i64, 1 : i64], [2 : i64{{\]\]}} output_shape [8, 1, 4] : memref<8x4xf32> into memref<8x1x4xf32>
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}} : memref<?xf32>, memref<8x1x4xf32>
func.func @layouts(%a: memref<?xf32, strided<[1]>>, %b: memref<8x4xf32>, %n: index) -> (memref<?xf32>, memref<8x1x4xf32>) {
  %c = memref.expand_shape %a [[0, 1]] output_shape [1, %n] : memref<?xf32, strided<[1]>> into memref<1x?xf32>
  %d = memref.collapse_shape %c [[0, 1]] : memref<1x?xf32> into memref<?xf32>
  %e = memref.cast %b : memref<8x4xf32> to memref<8x4xf32, strided<[?, ?], offset: ?>>
  %f = memref.expand_shape %e [[0, 1], [2]] output_shape [8, 1, 4] : memref<8x4xf32, strided<[?, ?], offset: ?>> into memref<8x1x4xf32, strided<[?, ?, ?], offset: ?>>
  %g = memref.cast %f : memref<8x1x4xf32, strided<[?, ?, ?], offset: ?>> to memref<8x1x4xf32>
  func.return %d, %g : memref<?xf32>, memref<8x1x4xf32>
}

// What is expanded keeps its layout; a cast of it follows.
// CHECK-LABEL: @strided(
// CHECK-NEXT:    {{%.*}} = memref.expand_shape %b {{\[\[}}0 : i64, 1 : i64], [2 : i64{{\]\]}} output_shape [8, 1, 4] : memref<8x4xf32, strided<[8, 1]>> into memref<8x1x4xf32, strided<[8, 8, 1]>>
// CHECK-NEXT:    {{%.*}} = "memref.cast"({{%.*}}) : (memref<8x1x4xf32, strided<[8, 8, 1]>>) -> memref<8x1x4xf32, strided<[?, ?, ?], offset: ?>>
// CHECK-NEXT:    func.return {{%.*}} : memref<8x1x4xf32, strided<[?, ?, ?], offset: ?>>
func.func @strided(%b: memref<8x4xf32, strided<[8, 1]>>) -> memref<8x1x4xf32, strided<[?, ?, ?], offset: ?>> {
  %e = memref.cast %b : memref<8x4xf32, strided<[8, 1]>> to memref<8x4xf32, strided<[?, ?], offset: ?>>
  %f = memref.expand_shape %e [[0, 1], [2]] output_shape [8, 1, 4] : memref<8x4xf32, strided<[?, ?], offset: ?>> into memref<8x1x4xf32, strided<[?, ?, ?], offset: ?>>
  func.return %f : memref<8x1x4xf32, strided<[?, ?, ?], offset: ?>>
}

// Strides of an unknown size are not known, all others are.
// CHECK-LABEL: @strided_unknown(
// CHECK-NEXT:    {{%.*}} = memref.expand_shape %b {{\[\[}}0 : i64, 1 : i64], [2 : i64, 3 : i64{{\]\]}} output_shape [2, %n, 2, 2] : memref<?x4xf32, strided<[?, 1], offset: 3>> into memref<2x?x2x2xf32, strided<[?, ?, 2, 1], offset: 3>>
// CHECK-NEXT:    {{%.*}} = "memref.cast"({{%.*}}) : (memref<2x?x2x2xf32, strided<[?, ?, 2, 1], offset: 3>>) -> memref<2x?x2x2xf32, strided<[?, ?, ?, ?], offset: ?>>
// CHECK-NEXT:    func.return {{%.*}} : memref<2x?x2x2xf32, strided<[?, ?, ?, ?], offset: ?>>
func.func @strided_unknown(%b: memref<?x4xf32, strided<[?, 1], offset: 3>>, %n: index) -> memref<2x?x2x2xf32, strided<[?, ?, ?, ?], offset: ?>> {
  %e = memref.cast %b : memref<?x4xf32, strided<[?, 1], offset: 3>> to memref<?x4xf32, strided<[?, ?], offset: ?>>
  %f = memref.expand_shape %e [[0, 1], [2, 3]] output_shape [2, %n, 2, 2] : memref<?x4xf32, strided<[?, ?], offset: ?>> into memref<2x?x2x2xf32, strided<[?, ?, ?, ?], offset: ?>>
  func.return %f : memref<2x?x2x2xf32, strided<[?, ?, ?, ?], offset: ?>>
}

// A buffer of no dimensions.
// CHECK-LABEL: @strided_scalar(
// CHECK-NEXT:    {{%.*}} = memref.expand_shape %b [] output_shape [1, 1] : memref<f32, strided<[], offset: 3>> into memref<1x1xf32, strided<[1, 1], offset: 3>>
// CHECK-NEXT:    {{%.*}} = "memref.cast"({{%.*}}) : (memref<1x1xf32, strided<[1, 1], offset: 3>>) -> memref<1x1xf32, strided<[1, 1], offset: ?>>
// CHECK-NEXT:    func.return {{%.*}} : memref<1x1xf32, strided<[1, 1], offset: ?>>
func.func @strided_scalar(%b: memref<f32, strided<[], offset: 3>>) -> memref<1x1xf32, strided<[1, 1], offset: ?>> {
  %e = memref.cast %b : memref<f32, strided<[], offset: 3>> to memref<f32, strided<[], offset: ?>>
  %f = memref.expand_shape %e [] output_shape [1, 1] : memref<f32, strided<[], offset: ?>> into memref<1x1xf32, strided<[1, 1], offset: ?>>
  func.return %f : memref<1x1xf32, strided<[1, 1], offset: ?>>
}

func.func private @callee(index) -> index

// A function that is a constant is called by its name, one that is not stays.
// CHECK-LABEL: @calls(
// CHECK-NEXT:    {{%.*}} = func.call @callee(%n) : (index) -> index
// CHECK-NEXT:    {{%.*}} = func.call_indirect %g(%n) : (index) -> index
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}} : index, index
func.func @calls(%n: index, %g: (index) -> index) -> (index, index) {
  %f = func.constant @callee : (index) -> index
  %0 = func.call_indirect %f(%n) : (index) -> index
  %1 = func.call_indirect %g(%n) : (index) -> index
  func.return %0, %1 : index, index
}
