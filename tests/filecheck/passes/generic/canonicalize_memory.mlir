// RUN: passline-opt %s -p 'canonicalize' | filecheck %s

// Buffers, tensors and their parts.

// Sizes that are constants belong into the type; sizes of allocations are known.
// CHECK-LABEL: @sizes(
// CHECK-NEXT:    {{%.*}} = arith.constant 8 : index
// CHECK-NEXT:    {{%.*}} = arith.constant 0 : index
// CHECK-NEXT:    {{%.*}} = arith.constant 1 : index
// CHECK-NEXT:    %a = memref.alloc(%n) : memref<?x8xf32>
// CHECK-NEXT:    memref.store %x, %a[{{%.*}}, {{%.*}}] : memref<?x8xf32>
// CHECK-NEXT:    {{%.*}} = memref.load %a[{{%.*}}, {{%.*}}] : memref<?x8xf32>
// CHECK-NEXT:    "test.op"({{%.*}}) : (f32) -> ()
// CHECK-NEXT:    func.return %n, {{%.*}} : index, index
func.func @sizes(%n: index, %x: f32) -> (index, index) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %8 = arith.constant 8 : index
  %a = memref.alloc(%n, %8) : memref<?x?xf32>
  memref.store %x, %a[%0, %1] : memref<?x?xf32>
  %2 = memref.load %a[%0, %0] : memref<?x?xf32>
  "test.op"(%2) : (f32) -> ()
  %3 = memref.dim %a, %0 : memref<?x?xf32>
  %4 = memref.dim %a, %1 : memref<?x?xf32>
  func.return %3, %4 : index, index
}

// A buffer that is only written.
// CHECK-LABEL: @written(
// CHECK-NEXT:    func.return
func.func @written(%x: f32) {
  %0 = arith.constant 0 : index
  %a = memref.alloc() : memref<4xf32>
  memref.store %x, %a[%0] : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  func.return
}

// One that is stored itself, and one that is read.
// UNCHANGED: @kept
func.func @kept(%m: memref<1xmemref<4xf32>>, %x: f32) -> f32 {
  %0 = arith.constant 0 : index
  %a = memref.alloc() : memref<4xf32>
  memref.store %a, %m[%0] : memref<1xmemref<4xf32>>
  %b = memref.alloc() : memref<4xf32>
  memref.store %x, %b[%0] : memref<4xf32>
  %1 = memref.load %b[%0] : memref<4xf32>
  func.return %1 : f32
}

// Users take what was cast to a less known type, not to a more known one.
// CHECK-LABEL: @casts(
// CHECK-NEXT:    {{%.*}} = arith.constant 0 : index
// CHECK-NEXT:    %d = "memref.cast"(%b) : (memref<?xf32>) -> memref<4xf32>
// CHECK-NEXT:    {{%.*}} = memref.load %a[{{%.*}}] : memref<4xf32>
// CHECK-NEXT:    {{%.*}} = memref.load %d[{{%.*}}] : memref<4xf32>
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}} : f32, f32
func.func @casts(%a: memref<4xf32>, %b: memref<?xf32>) -> (f32, f32) {
  %0 = arith.constant 0 : index
  %c = "memref.cast"(%a) : (memref<4xf32>) -> memref<?xf32>
  %d = "memref.cast"(%b) : (memref<?xf32>) -> memref<4xf32>
  %1 = memref.load %c[%0] : memref<?xf32>
  %2 = memref.load %d[%0] : memref<4xf32>
  func.return %1, %2 : f32, f32
}

// A part with constant bounds, and one that is the whole.
// CHECK-LABEL: @parts(
// CHECK-NEXT:    %s = memref.subview %a[1, 1] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 9>>
// CHECK-NEXT:    %s_1 = "memref.cast"(%s) : (memref<4x4xf32, strided<[8, 1], offset: 9>>) -> memref<?x?xf32, strided<[?, ?], offset: ?>>
// CHECK-NEXT:    func.return %s_1, %a : memref<?x?xf32, strided<[?, ?], offset: ?>>, memref<8x8xf32>
func.func @parts(%a: memref<8x8xf32>) -> (memref<?x?xf32, strided<[?, ?], offset: ?>>, memref<8x8xf32>) {
  %1 = arith.constant 1 : index
  %4 = arith.constant 4 : index
  %s = memref.subview %a[%1, %1] [%4, %4] [%1, %1] : memref<8x8xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %w = memref.subview %a[0, 0] [8, 8] [1, 1] : memref<8x8xf32> to memref<8x8xf32>
  func.return %s, %w : memref<?x?xf32, strided<[?, ?], offset: ?>>, memref<8x8xf32>
}

// A part that would end outside stays as it is.
// UNCHANGED: @outside
func.func @outside(%a: memref<8xf32>) -> memref<?xf32, strided<[1], offset: ?>> {
  %9 = arith.constant 9 : index
  %s = memref.subview %a[%9] [%9] [1] : memref<8xf32> to memref<?xf32, strided<[1], offset: ?>>
  func.return %s : memref<?xf32, strided<[1], offset: ?>>
}

// Reshapes of tensors, and elements of what was made of elements.
// CHECK-LABEL: @tensors(
// CHECK-NEXT:    %h = tensor.expand_shape %t {{\[\[}}0 : i64, 1 : i64], [2 : i64, 3 : i64]] output_shape [2, 3, 2, 2] : tensor<6x4xf32> into tensor<2x3x2x2xf32>
// CHECK-NEXT:    func.return %t, %x, %h : tensor<6x4xf32>, f32, tensor<2x3x2x2xf32>
func.func @tensors(%t: tensor<6x4xf32>, %x: f32) -> (tensor<6x4xf32>, f32, tensor<2x3x2x2xf32>) {
  %0 = arith.constant 0 : index
  %c = tensor.collapse_shape %t [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  %e = tensor.expand_shape %c [[0, 1]] output_shape [6, 4] : tensor<24xf32> into tensor<6x4xf32>
  %f = tensor.from_elements %x, %x : tensor<2xf32>
  %1 = tensor.extract %f[%0] : tensor<2xf32>
  %g = tensor.expand_shape %t [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  %h = tensor.expand_shape %g [[0], [1], [2, 3]] output_shape [2, 3, 2, 2] : tensor<2x3x4xf32> into tensor<2x3x2x2xf32>
  func.return %e, %1, %h : tensor<6x4xf32>, f32, tensor<2x3x2x2xf32>
}
