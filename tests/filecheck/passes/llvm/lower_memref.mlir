// RUN: passline-opt %s -p lower-memref --split-input-file | filecheck %s

// Accesses: the place is the sum of the indices times the strides; constants are folded.
// CHECK-LABEL: func.func @accesses(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(16) : i64
// CHECK-NEXT:   [[V1:%\w+]] = llvm.mlir.constant(8) : i64
// CHECK:        %c2 = arith.constant 2 : index
// CHECK-NEXT:   [[V4:%\w+]] = llvm.add [[V0]], [[V2:%\w+]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V5:%\w+]] = llvm.getelementptr inbounds [[V3:%\w+]][[[V4]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V6:%\w+]] = llvm.load [[V5]] : !llvm.ptr -> f32
// CHECK-NEXT:   [[V7:%\w+]] = llvm.getelementptr inbounds [[V3]][18] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store [[V6]], [[V7]] : f32, !llvm.ptr
// CHECK-NEXT:   [[V8:%\w+]] = llvm.mul [[V2]], [[V1]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V9:%\w+]] = llvm.add [[V8]], [[V2]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V10:%\w+]] = llvm.getelementptr inbounds [[V3]][[[V9]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %v, [[V10]] : f32, !llvm.ptr
// CHECK-NEXT:   func.return
func.func @accesses(%x: memref<4x8xf32>, %i: index, %v: f32) {
  %c2 = arith.constant 2 : index
  %0 = memref.load %x[%c2, %i] : memref<4x8xf32>
  memref.store %0, %x[%c2, %c2] : memref<4x8xf32>
  memref.store %v, %x[%i, %i] : memref<4x8xf32>
  func.return
}

// Sizes that are not known are values; strides follow from them.
// CHECK-LABEL: func.func @unknown_sizes(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(0) : i64
// CHECK:        %c1 = arith.constant 1 : index
// CHECK-NEXT:   [[V5:%\w+]] = llvm.mul [[V1:%\w+]], [[V4:%\w+]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V6:%\w+]] = llvm.add [[V5]], [[V1]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V7:%\w+]] = llvm.getelementptr inbounds [[V2:%\w+]][[[V6]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V8:%\w+]] = llvm.load [[V7]] : !llvm.ptr -> f32
// CHECK-NEXT:   [[V9:%\w+]] = llvm.add [[V4]], [[V1]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V10:%\w+]] = llvm.getelementptr inbounds [[V2]][[[V9]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store [[V8]], [[V10]] : f32, !llvm.ptr
// CHECK:        [[V12:%\w+]] = llvm.icmp "eq" [[V1]], [[V0]] : i64
// CHECK-NEXT:   [[V13:%\w+]] = llvm.select [[V12]], [[V3:%\w+]], [[V4]] : i1, i64
// CHECK:        func.return [[V11:%\w+]], [[V14:%\w+]] : index, index
func.func @unknown_sizes(%x: memref<?x?xf32>, %i: index) -> (index, index) {
  %c1 = arith.constant 1 : index
  %0 = memref.load %x[%i, %i] : memref<?x?xf32>
  memref.store %0, %x[%c1, %i] : memref<?x?xf32>
  %1 = memref.dim %x, %c1 : memref<?x?xf32>
  %2 = memref.dim %x, %i : memref<?x?xf32>
  func.return %1, %2 : index, index
}

// Memory of the heap and of the stack.
// CHECK-LABEL: func.func @memory(
// CHECK:        [[V1:%\w+]] = llvm.mlir.constant(64) : i64
// CHECK-NEXT:   [[V2:%\w+]] = llvm.mlir.constant(4) : i64
// CHECK-NEXT:   [[V3:%\w+]] = llvm.mlir.constant(16) : i64
// CHECK-NEXT:   [[V4:%\w+]] = llvm.mlir.constant(-16) : i64
// CHECK-NEXT:   [[V5:%\w+]] = llvm.mlir.constant(8) : i64
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   [[V6:%\w+]] = llvm.call @aligned_alloc([[V1]], [[V1]]) : (i64, i64) -> !llvm.ptr
// CHECK-NEXT:   [[V7:%\w+]] = llvm.mul [[V2]], [[V0:%\w+]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V8:%\w+]] = llvm.add [[V7]], [[V3]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V9:%\w+]] = llvm.and [[V8]], [[V4]] : i64
// CHECK-NEXT:   [[V10:%\w+]] = llvm.call @aligned_alloc([[V3]], [[V9]]) : (i64, i64) -> !llvm.ptr
// CHECK-NEXT:   [[V11:%\w+]] = llvm.alloca [[V5]] x f32 {alignment = 32 : i64} : (i64) -> !llvm.ptr
// CHECK-NEXT:   llvm.store %v, [[V6]] : f32, !llvm.ptr
// CHECK-NEXT:   llvm.store %v, [[V10]] : f32, !llvm.ptr
// CHECK-NEXT:   llvm.store %v, [[V11]] : f32, !llvm.ptr
// CHECK-NEXT:   llvm.call @free([[V6]]) : (!llvm.ptr) -> ()
// CHECK-NEXT:   llvm.call @free([[V10]]) : (!llvm.ptr) -> ()
// CHECK-NEXT:   func.return
// CHECK-LABEL: llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
// CHECK-LABEL: llvm.func @free(!llvm.ptr)
func.func @memory(%n: index, %v: f32) {
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
// CHECK-LABEL: func.func @views(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(16) : i64
// CHECK-NEXT:   [[V1:%\w+]] = llvm.mlir.constant(8) : i64
// CHECK:        %c4 = arith.constant 4 : index
// CHECK-NEXT:   [[V5:%\w+]] = llvm.getelementptr inbounds [[V4:%\w+]][4] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:   [[V6:%\w+]] = llvm.getelementptr inbounds [[V5]][[[V3:%\w+]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V7:%\w+]] = llvm.load [[V6]] : !llvm.ptr -> f32
// CHECK-NEXT:   [[V8:%\w+]] = llvm.add [[V0]], [[V3]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V9:%\w+]] = llvm.getelementptr inbounds [[V2:%\w+]][[[V8]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V10:%\w+]] = llvm.mul [[V3]], [[V1]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V11:%\w+]] = llvm.add [[V10]], [[V1]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V12:%\w+]] = llvm.getelementptr inbounds [[V9]][[[V11]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store [[V7]], [[V12]] : f32, !llvm.ptr
// CHECK-NEXT:   [[V13:%\w+]] = llvm.getelementptr inbounds [[V2]][8] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V14:%\w+]] = llvm.mul [[V3]], [[V1]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V15:%\w+]] = llvm.add [[V14]], [[V3]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V16:%\w+]] = llvm.getelementptr inbounds [[V13]][[[V15]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store [[V7]], [[V16]] : f32, !llvm.ptr
// CHECK-NEXT:   func.return
func.func @views(%a: memref<64xi8>, %x: memref<8x8xf32>, %i: index) {
  %c4 = arith.constant 4 : index
  %0 = "memref.view"(%a, %c4) : (memref<64xi8>, index) -> memref<4xf32>
  %1 = memref.load %0[%i] : memref<4xf32>
  %2 = memref.subview %x[2, %i] [4, 4] [1, 2] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 2], offset: ?>>
  memref.store %1, %2[%i, %c4] : memref<4x4xf32, strided<[8, 2], offset: ?>>
  %3 = "memref.reinterpret_cast"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 8>, static_sizes = array<i64: 4, 4>, static_strides = array<i64: 8, 1>}> : (memref<8x8xf32>) -> memref<4x4xf32, strided<[8, 1], offset: 8>>
  memref.store %1, %3[%i, %i] : memref<4x4xf32, strided<[8, 1], offset: 8>>
  func.return
}

// Copies of buffers without a layout.
// CHECK-LABEL: func.func @copies(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(16) : i64
// CHECK-NEXT:   [[V1:%\w+]] = llvm.mlir.constant(false) : i1
// CHECK:        [[V6:%\w+]] = llvm.mul [[V0]], [[V5:%\w+]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   llvm.call_intrinsic "llvm.memcpy.p0.p0.i64"([[V2:%\w+]], [[V4:%\w+]], [[V6]], [[V1]]) : (!llvm.ptr, !llvm.ptr, i64, i1) -> ()
// CHECK-NEXT:   func.return
func.func @copies(%x: memref<4x?xf32>, %y: memref<4x?xf32>) {
  "memref.copy"(%x, %y) : (memref<4x?xf32>, memref<4x?xf32>) -> ()
  func.return
}

// -----

// Globals are arrays.
// CHECK: llvm.mlir.global internal constant @c(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : vector<4xf32>) {addr_space = 0 : i32} : !llvm.array<4 x f32>
// CHECK: llvm.mlir.global internal @v() {addr_space = 0 : i32, llvm.uninitialized} : !llvm.array<4 x i64>
// CHECK-LABEL: func.func @globals(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(2) : i64
// CHECK:        [[V2:%\w+]] = llvm.mlir.addressof @c : !llvm.ptr
// CHECK-NEXT:   [[V3:%\w+]] = llvm.mul [[V1:%\w+]], [[V0]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V4:%\w+]] = llvm.add [[V3]], [[V1]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V5:%\w+]] = llvm.getelementptr inbounds [[V2]][[[V4]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V6:%\w+]] = llvm.load [[V5]] : !llvm.ptr -> f32
// CHECK-NEXT:   func.return [[V6]] : f32
"memref.global"() <{sym_name = "c", sym_visibility = "private", type = memref<2x2xf32>, initial_value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>, constant}> : () -> ()
"memref.global"() <{sym_name = "v", sym_visibility = "private", type = memref<4xi64>, initial_value}> : () -> ()
func.func @globals(%i: index) -> f32 {
  %0 = memref.get_global @c : memref<2x2xf32>
  %1 = memref.load %0[%i, %i] : memref<2x2xf32>
  func.return %1 : f32
}

// Shapes change without a layout.
// CHECK-LABEL: func.func @shapes(
// CHECK:        [[V1:%\w+]] = llvm.mlir.constant(4) : i64
// CHECK:        [[V4:%\w+]] = llvm.mul [[V1]], [[V3:%\w+]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V5:%\w+]] = llvm.getelementptr inbounds [[V2:%\w+]][[[V0:%\w+]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V6:%\w+]] = llvm.load [[V5]] : !llvm.ptr -> f32
// CHECK-NEXT:   [[V7:%\w+]] = llvm.getelementptr inbounds [[V2]][[[V0]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store [[V6]], [[V7]] : f32, !llvm.ptr
// CHECK-NEXT:   func.return
func.func @shapes(%x: memref<4x?xf32>, %n: index, %i: index) {
  %0 = memref.collapse_shape %x [[0, 1]] : memref<4x?xf32> into memref<?xf32>
  %1 = memref.load %0[%i] : memref<?xf32>
  %2 = "memref.cast"(%0) : (memref<?xf32>) -> memref<16xf32>
  memref.store %1, %2[%i] : memref<16xf32>
  func.return
}

// Arithmetic stays.
// UNCHANGED: @arithmetic
func.func @arithmetic(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  func.return %0 : f32
}

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
