func.func @buffers(%m: memref<4x?xf32>, %i: index, %x: f32, %t: tensor<4x?xf32>) {
  %0 = memref.alloc() : memref<8xf32>
  %1 = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  %2 = memref.alloc(%i) : memref<?xf32>
  %3 = memref.alloc(%i) : memref<?xi64>
  %4 = memref.load %m[%i, %i] : memref<4x?xf32>
  %5 = memref.load %0[%i] : memref<8xf32>
  memref.store %x, %0[%i] : memref<8xf32>
  memref.store %x, %m[%i, %i] : memref<4x?xf32>
  memref.dealloc %0 : memref<8xf32>
  memref.dealloc %1 : memref<8xf32>
  %6 = "memref.cast"(%0) : (memref<8xf32>) -> memref<?xf32>
  %7 = memref.subview %m[0, 0] [2, 2] [1, 1] : memref<4x?xf32> to memref<2x2xf32, strided<[?, 1]>>
  %8 = memref.subview %m[%i, 0] [2, %i] [1, 1] : memref<4x?xf32> to memref<2x?xf32, strided<[?, 1], offset: ?>>
  %9 = tensor.empty() : tensor<4xf32>
  %10 = tensor.empty(%i) : tensor<?xf32>
  %11 = tensor.empty(%i) : tensor<?xf64>
  %12 = tensor.extract %t[%i, %i] : tensor<4x?xf32>
  %13 = tensor.dim %t, %i : tensor<4x?xf32>
  %14 = tensor.cast %9 : tensor<4xf32> to tensor<?xf32>
  %15 = tensor.extract_slice %t[0, %i] [2, 2] [1, 1] : tensor<4x?xf32> to tensor<2x2xf32>
  %16 = tensor.insert %x into %9[%i] : tensor<4xf32>
  func.return
}
func.func @vectors(%m: memref<8xf32>, %i: index, %v: vector<4xf32>, %x: f32, %k: vector<4xi1>) {
  %0 = vector.load %m[%i] : memref<8xf32>, vector<4xf32>
  %1 = vector.load %m[%i] : memref<8xf32>, vector<4xf32>
  vector.store %v, %m[%i] : memref<8xf32>, vector<4xf32>
  vector.store %0, %m[%i] : memref<8xf32>, vector<4xf32>
  %2 = vector.broadcast %x : f32 to vector<4xf32>
  %3 = vector.broadcast %x : f32 to vector<8xf32>
  %4 = vector.fma %v, %0, %2 : vector<4xf32>
  %5 = vector.maskedload %m[%i], %k, %v : memref<8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %m[%i], %k, %v : memref<8xf32>, vector<4xi1>, vector<4xf32>
  %6 = vector.shuffle %v, %0 [0, 1, 4, 5] : vector<4xf32>, vector<4xf32>
  func.return
}
func.func @affine(%m: memref<8x8xf32>, %n: index) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to %n step 2 {
      %0 = "affine.load"(%m, %i, %j) <{map = affine_map<(d0, d1) -> (d0, d1)>}> : (memref<8x8xf32>, index, index) -> f32
      "affine.store"(%0, %m, %j, %i) <{map = affine_map<(d0, d1) -> (d0, d1)>}> : (f32, memref<8x8xf32>, index, index) -> ()
      %1 = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i, %j)
    }
  }
  func.return
}
// -----
%m = "test.op"() : () -> memref<4xf32>
%i = "test.op"() : () -> index
%0 = "memref.load"(%m) : (memref<4xf32>) -> f32
// -----
%m = "test.op"() : () -> memref<4xf32>
%i = "test.op"() : () -> index
%0 = "memref.load"(%m, %i) : (memref<4xf32>, index) -> f64
// -----
%m = "test.op"() : () -> memref<4xf32>
%x = "test.op"() : () -> f64
%i = "test.op"() : () -> index
"memref.store"(%x, %m, %i) : (f64, memref<4xf32>, index) -> ()
// -----
%m = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<?xf32>
// -----
%m = "test.op"() : () -> memref<4xf32>
%i = "test.op"() : () -> index
%0 = "vector.load"(%m) : (memref<4xf32>) -> vector<4xf32>
// -----
%m = "test.op"() : () -> memref<4xf32>
%v = "test.op"() : () -> vector<4xf64>
%i = "test.op"() : () -> index
"vector.store"(%v, %m, %i) : (vector<4xf64>, memref<4xf32>, index) -> ()
// -----
%x = "test.op"() : () -> f32
%0 = "vector.broadcast"(%x) : (f32) -> vector<4xf64>
// -----
func.func @llvm(%p: !llvm.ptr, %x: i64) {
  %0 = llvm.load %p : !llvm.ptr -> i64
  %1 = llvm.load %p : !llvm.ptr -> f32
  %2 = llvm.mlir.constant(1 : i64) : i64
  %3 = llvm.mlir.constant(2 : i64) : i64
  %4 = llvm.getelementptr %p[%x] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %5 = llvm.add %0, %2 : i64
  %6 = llvm.icmp "eq" %0, %2 : i64
  %7 = llvm.mlir.undef : !llvm.struct<(i32, array<2 x f32>)>
  %8 = llvm.mlir.zero : !llvm.ptr
  llvm.store %x, %p : i64, !llvm.ptr
  func.return
}
