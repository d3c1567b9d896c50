// RUN: passline-opt %s -p lower-memref --split-input-file | filecheck %s

// Accesses: the place is the sum of the indices times the strides; constants are folded.
// CHECK-LABEL: func.func @f(%x: memref<4x8xf32>, %i: index, %v: f32) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(16) : i64
// CHECK-NEXT:   %1 = llvm.mlir.constant(8) : i64
// CHECK-NEXT:   %2 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT:   %3 = builtin.unrealized_conversion_cast %x : memref<4x8xf32> to !llvm.ptr
// CHECK-NEXT:   %c2 = arith.constant 2 : index
// CHECK-NEXT:   %4 = llvm.add %0, %2 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %5 = llvm.getelementptr inbounds %3[%4] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %6 = llvm.load %5 : !llvm.ptr -> f32
// CHECK-NEXT:   %7 = llvm.getelementptr inbounds %3[18] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %6, %7 : f32, !llvm.ptr
// CHECK-NEXT:   %8 = llvm.mul %2, %1 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %9 = llvm.add %8, %2 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %10 = llvm.getelementptr inbounds %3[%9] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %v, %10 : f32, !llvm.ptr
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @f(%x: memref<4x8xf32>, %i: index, %v: f32) {
  %c2 = arith.constant 2 : index
  %0 = memref.load %x[%c2, %i] : memref<4x8xf32>
  memref.store %0, %x[%c2, %c2] : memref<4x8xf32>
  memref.store %v, %x[%i, %i] : memref<4x8xf32>
  func.return
}

// -----

// Sizes that are not known are values; strides follow from them.
// CHECK-LABEL: func.func @f(%x: memref<?x?xf32>, %i: index) -> (index, index) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %1 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT:   %2, %3, %4 = builtin.unrealized_conversion_cast %x : memref<?x?xf32> to !llvm.ptr, i64, i64
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   %5 = llvm.mul %1, %4 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %6 = llvm.add %5, %1 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %7 = llvm.getelementptr inbounds %2[%6] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %8 = llvm.load %7 : !llvm.ptr -> f32
// CHECK-NEXT:   %9 = llvm.add %4, %1 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %10 = llvm.getelementptr inbounds %2[%9] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %8, %10 : f32, !llvm.ptr
// CHECK-NEXT:   %11 = builtin.unrealized_conversion_cast %4 : i64 to index
// CHECK-NEXT:   %12 = llvm.icmp "eq" %1, %0 : i64
// CHECK-NEXT:   %13 = llvm.select %12, %3, %4 : i1, i64
// CHECK-NEXT:   %14 = builtin.unrealized_conversion_cast %13 : i64 to index
// CHECK-NEXT:   func.return %11, %14 : index, index
// CHECK-NEXT: }
func.func @f(%x: memref<?x?xf32>, %i: index) -> (index, index) {
  %c1 = arith.constant 1 : index
  %0 = memref.load %x[%i, %i] : memref<?x?xf32>
  memref.store %0, %x[%c1, %i] : memref<?x?xf32>
  %1 = memref.dim %x, %c1 : memref<?x?xf32>
  %2 = memref.dim %x, %i : memref<?x?xf32>
  func.return %1, %2 : index, index
}

// -----

// Memory of the heap and of the stack.
// CHECK-LABEL: func.func @f(%n: index, %v: f32) {
// CHECK-NEXT:   %0 = builtin.unrealized_conversion_cast %n : index to i64
// CHECK-NEXT:   %1 = llvm.mlir.constant(64) : i64
// CHECK-NEXT:   %2 = llvm.mlir.constant(4) : i64
// CHECK-NEXT:   %3 = llvm.mlir.constant(16) : i64
// CHECK-NEXT:   %4 = llvm.mlir.constant(-16) : i64
// CHECK-NEXT:   %5 = llvm.mlir.constant(8) : i64
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %6 = llvm.call @aligned_alloc(%1, %1) : (i64, i64) -> !llvm.ptr
// CHECK-NEXT:   %7 = llvm.mul %2, %0 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %8 = llvm.add %7, %3 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %9 = llvm.and %8, %4 : i64
// CHECK-NEXT:   %10 = llvm.call @aligned_alloc(%3, %9) : (i64, i64) -> !llvm.ptr
// CHECK-NEXT:   %11 = llvm.alloca %5 x f32 {alignment = 32 : i64} : (i64) -> !llvm.ptr
// CHECK-NEXT:   llvm.store %v, %6 : f32, !llvm.ptr
// CHECK-NEXT:   llvm.store %v, %10 : f32, !llvm.ptr
// CHECK-NEXT:   llvm.store %v, %11 : f32, !llvm.ptr
// CHECK-NEXT:   llvm.call @free(%6) : (!llvm.ptr) -> ()
// CHECK-NEXT:   llvm.call @free(%10) : (!llvm.ptr) -> ()
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
// CHECK-LABEL: llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
// CHECK-LABEL: llvm.func @free(!llvm.ptr)
func.func @f(%n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %0 = memref.alloc() {alignment = 64 : i64} : memref<10xf32>
  %1 = memref.alloc(%n) : memref<?xf32>
  %2 = memref.alloca() {alignment = 32 : i64} : memref<8xf32>
  memref.store %v, %0[%c0] : memref<10xf32>
  memref.store %v, %1[%c0] : memref<?xf32>
  memref.store %v, %2[%c0] : memref<8xf32>
  memref.dealloc %0 : memref<10xf32>
  memref.dealloc %1 : memref<?xf32>
  func.return
}

// -----

// Views: an offset is in the pointer.
// CHECK-LABEL: func.func @f(%a: memref<64xi8>, %x: memref<8x8xf32>, %i: index) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(16) : i64
// CHECK-NEXT:   %1 = llvm.mlir.constant(8) : i64
// CHECK-NEXT:   %2 = builtin.unrealized_conversion_cast %x : memref<8x8xf32> to !llvm.ptr
// CHECK-NEXT:   %3 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT:   %4 = builtin.unrealized_conversion_cast %a : memref<64xi8> to !llvm.ptr
// CHECK-NEXT:   %c4 = arith.constant 4 : index
// CHECK-NEXT:   %5 = llvm.getelementptr inbounds %4[4] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:   %6 = llvm.getelementptr inbounds %5[%3] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %7 = llvm.load %6 : !llvm.ptr -> f32
// CHECK-NEXT:   %8 = llvm.add %0, %3 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %9 = llvm.getelementptr inbounds %2[%8] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %10 = llvm.mul %3, %1 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %11 = llvm.add %10, %1 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %12 = llvm.getelementptr inbounds %9[%11] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %7, %12 : f32, !llvm.ptr
// CHECK-NEXT:   %13 = llvm.getelementptr inbounds %2[8] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:   %14 = llvm.mul %3, %1 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %15 = llvm.add %14, %3 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %16 = llvm.getelementptr inbounds %13[%15] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %7, %16 : f32, !llvm.ptr
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @f(%a: memref<64xi8>, %x: memref<8x8xf32>, %i: index) {
  %c4 = arith.constant 4 : index
  %0 = "memref.view"(%a, %c4) : (memref<64xi8>, index) -> memref<4xf32>
  %1 = memref.load %0[%i] : memref<4xf32>
  %2 = memref.subview %x[2, %i] [4, 4] [1, 2] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 2], offset: ?>>
  memref.store %1, %2[%i, %c4] : memref<4x4xf32, strided<[8, 2], offset: ?>>
  %3 = "memref.reinterpret_cast"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 8>, static_sizes = array<i64: 4, 4>, static_strides = array<i64: 8, 1>}> : (memref<8x8xf32>) -> memref<4x4xf32, strided<[8, 1], offset: 8>>
  memref.store %1, %3[%i, %i] : memref<4x4xf32, strided<[8, 1], offset: 8>>
  func.return
}

// -----

// Copies of buffers without a layout.
// CHECK-LABEL: func.func @f(%x: memref<4x?xf32>, %y: memref<4x?xf32>) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(16) : i64
// CHECK-NEXT:   %1 = llvm.mlir.constant(false) : i1
// CHECK-NEXT:   %2, %3 = builtin.unrealized_conversion_cast %y : memref<4x?xf32> to !llvm.ptr, i64
// CHECK-NEXT:   %4, %5 = builtin.unrealized_conversion_cast %x : memref<4x?xf32> to !llvm.ptr, i64
// CHECK-NEXT:   %6 = llvm.mul %0, %5 overflow<nsw,nuw> : i64
// CHECK-NEXT:   llvm.call_intrinsic "llvm.memcpy.p0.p0.i64"(%2, %4, %6, %1) : (!llvm.ptr, !llvm.ptr, i64, i1) -> ()
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @f(%x: memref<4x?xf32>, %y: memref<4x?xf32>) {
  "memref.copy"(%x, %y) : (memref<4x?xf32>, memref<4x?xf32>) -> ()
  func.return
}

// -----

// Globals are arrays.
// CHECK: llvm.mlir.global internal constant @c(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : vector<4xf32>) {addr_space = 0 : i32} : !llvm.array<4 x f32>
// CHECK: llvm.mlir.global internal @v() {addr_space = 0 : i32, llvm.uninitialized} : !llvm.array<4 x i64>
// CHECK-LABEL: func.func @f(%i: index) -> f32 {
// CHECK-NEXT:   %0 = llvm.mlir.constant(2) : i64
// CHECK-NEXT:   %1 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT:   %2 = llvm.mlir.addressof @c : !llvm.ptr
// CHECK-NEXT:   %3 = llvm.mul %1, %0 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %4 = llvm.add %3, %1 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %5 = llvm.getelementptr inbounds %2[%4] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %6 = llvm.load %5 : !llvm.ptr -> f32
// CHECK-NEXT:   func.return %6 : f32
// CHECK-NEXT: }
"memref.global"() <{sym_name = "c", sym_visibility = "private", type = memref<2x2xf32>, initial_value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>, constant}> : () -> ()
"memref.global"() <{sym_name = "v", sym_visibility = "private", type = memref<4xi64>, initial_value}> : () -> ()
func.func @f(%i: index) -> f32 {
  %0 = memref.get_global @c : memref<2x2xf32>
  %1 = memref.load %0[%i, %i] : memref<2x2xf32>
  func.return %1 : f32
}

// -----

// Shapes change without a layout.
// CHECK-LABEL: func.func @f(%x: memref<4x?xf32>, %n: index, %i: index) {
// CHECK-NEXT:   %0 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT:   %1 = llvm.mlir.constant(4) : i64
// CHECK-NEXT:   %2, %3 = builtin.unrealized_conversion_cast %x : memref<4x?xf32> to !llvm.ptr, i64
// CHECK-NEXT:   %4 = llvm.mul %1, %3 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %5 = llvm.getelementptr inbounds %2[%0] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %6 = llvm.load %5 : !llvm.ptr -> f32
// CHECK-NEXT:   %7 = llvm.getelementptr inbounds %2[%0] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %6, %7 : f32, !llvm.ptr
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @f(%x: memref<4x?xf32>, %n: index, %i: index) {
  %0 = memref.collapse_shape %x [[0, 1]] : memref<4x?xf32> into memref<?xf32>
  %1 = memref.load %0[%i] : memref<?xf32>
  %2 = "memref.cast"(%0) : (memref<?xf32>) -> memref<16xf32>
  memref.store %1, %2[%i] : memref<16xf32>
  func.return
}

// -----

// Arithmetic stays.
// CHECK-LABEL: func.func @f(%x: f32) -> f32 {
// CHECK-NEXT:   %0 = arith.addf %x, %x : f32
// CHECK-NEXT:   func.return %0 : f32
// CHECK-NEXT: }
func.func @f(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  func.return %0 : f32
}

// -----

// A cast to the old type and back again stands for the value that has been loaded.
// CHECK-LABEL: func.func @back_and_forth
// CHECK:        [[V:%.*]] = llvm.load {{.*}} -> i16
// CHECK-NEXT:   [[R:%.*]] = arith.andi [[V]], [[V]] : i16
// CHECK-NEXT:   [[P:%.*]] = llvm.getelementptr
// CHECK-NEXT:   llvm.store [[R]], [[P]] : i16, !llvm.ptr
// CHECK-NEXT:   func.return
func.func @back_and_forth(%x: memref<2xui16>, %y: memref<2xui16>) {
  %i = "test.op"() : () -> index
  %0 = memref.load %x[%i] : memref<2xui16>
  %1 = builtin.unrealized_conversion_cast %0 : ui16 to i16
  %2 = builtin.unrealized_conversion_cast %1 : i16 to ui16
  %3 = builtin.unrealized_conversion_cast %2 : ui16 to i16
  %4 = arith.andi %3, %3 : i16
  %5 = builtin.unrealized_conversion_cast %4 : i16 to ui16
  memref.store %5, %y[%i] : memref<2xui16>
  func.return
}
