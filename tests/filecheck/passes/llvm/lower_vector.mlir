// REQUIRES-XDSL: 0.66 (operations of the dialect llvm, and custom forms of them)
// RUN: passline-opt %s -p lower-vector --split-input-file | filecheck %s

// Vectors in memory are aligned as their elements.
// CHECK-LABEL: func.func @f(%x: memref<4x8xf32>, %i: index) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(8) : i64
// CHECK-NEXT:   %1 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT:   %2 = builtin.unrealized_conversion_cast %x : memref<4x8xf32> to !llvm.ptr
// CHECK-NEXT:   %3 = llvm.mul %1, %0 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %4 = llvm.add %3, %1 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %5 = llvm.getelementptr inbounds %2[%4] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %6 = llvm.load %5 {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK-NEXT:   %7 = llvm.mul %1, %0 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %8 = llvm.add %7, %1 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %9 = llvm.getelementptr inbounds %2[%8] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %6, %9 {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @f(%x: memref<4x8xf32>, %i: index) {
  %0 = vector.load %x[%i, %i] : memref<4x8xf32>, vector<8xf32>
  vector.store %0, %x[%i, %i] : memref<4x8xf32>, vector<8xf32>
  func.return
}

// -----

// Masks.
// CHECK-LABEL: func.func @f(%x: memref<?xf32>, %i: index, %v: vector<4xf32>) {
// CHECK-NEXT:   %0, %1 = builtin.unrealized_conversion_cast %x : memref<?xf32> to !llvm.ptr, i64
// CHECK-NEXT:   %2 = llvm.mlir.constant(dense<[0, 1, 2, 3]> : vector<4xi64>) : vector<4xi64>
// CHECK-NEXT:   %3 = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:   %4 = llvm.mlir.constant(4 : i32) : i32
// CHECK-NEXT:   %5 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT:   %6 = llvm.mlir.poison : vector<4xi64>
// CHECK-NEXT:   %7 = llvm.insertelement %5, %6[%3 : i32] : vector<4xi64>
// CHECK-NEXT:   %8 = llvm.shufflevector %7, %6 [0, 0, 0, 0] : vector<4xi64>
// CHECK-NEXT:   %m = llvm.icmp "slt" %2, %8 : vector<4xi64>
// CHECK-NEXT:   %9 = llvm.getelementptr inbounds %0[%5] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %10 = llvm.call_intrinsic "llvm.masked.load.v4f32.p0"(%9, %4, %m, %v) : (!llvm.ptr, i32, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:   %11 = llvm.getelementptr inbounds %0[%5] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.call_intrinsic "llvm.masked.store.v4f32.p0"(%10, %11, %4, %m) : (vector<4xf32>, !llvm.ptr, i32, vector<4xi1>) -> ()
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @f(%x: memref<?xf32>, %i: index, %v: vector<4xf32>) {
  %m = vector.create_mask %i : vector<4xi1>
  %0 = vector.maskedload %x[%i], %m, %v : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %x[%i], %m, %0 : memref<?xf32>, vector<4xi1>, vector<4xf32>
  func.return
}

// -----

// Lanes: a vector of two dimensions is one of all its elements.
// CHECK-LABEL: func.func @f(%x: f32, %v: vector<2x4xf32>, %w: vector<4xf32>, %i: index) -> (vector<2x4xf32>, vector<4xf32>) {
// CHECK-NEXT:   %0 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT:   %1 = builtin.unrealized_conversion_cast %v : vector<2x4xf32> to vector<8xf32>
// CHECK-NEXT:   %2 = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:   %3 = llvm.mlir.constant(4) : i64
// CHECK-NEXT:   %4 = llvm.mlir.poison : vector<4xf32>
// CHECK-NEXT:   %5 = llvm.insertelement %x, %4[%2 : i32] : vector<4xf32>
// CHECK-NEXT:   %6 = llvm.shufflevector %5, %4 [0, 0, 0, 0] : vector<4xf32>
// CHECK-NEXT:   %7 = llvm.shufflevector %6, %6 [0, 1, 2, 3, 0, 1, 2, 3] : vector<4xf32>
// CHECK-NEXT:   %8 = llvm.shufflevector %1, %1 [4, 5, 6, 7] : vector<8xf32>
// CHECK-NEXT:   %9 = llvm.add %3, %0 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %10 = llvm.extractelement %1[%9 : i64] : vector<8xf32> -> f32
// CHECK-NEXT:   %11 = llvm.shufflevector %w, %w [0, 1, 2, 3, -1, -1, -1, -1] : vector<4xf32>
// CHECK-NEXT:   %12 = llvm.shufflevector %7, %11 [8, 9, 10, 11, 4, 5, 6, 7] : vector<8xf32>
// CHECK-NEXT:   %13 = builtin.unrealized_conversion_cast %12 : vector<8xf32> to vector<2x4xf32>
// CHECK-NEXT:   %14 = llvm.insertelement %10, %8[%0 : i64] : vector<4xf32>
// CHECK-NEXT:   %15 = llvm.shufflevector %14, %w [0, 5, 2, 7] : vector<4xf32>
// CHECK-NEXT:   func.return %13, %15 : vector<2x4xf32>, vector<4xf32>
// CHECK-NEXT: }
func.func @f(%x: f32, %v: vector<2x4xf32>, %w: vector<4xf32>, %i: index) -> (vector<2x4xf32>, vector<4xf32>) {
  %0 = vector.broadcast %x : f32 to vector<4xf32>
  %1 = vector.broadcast %0 : vector<4xf32> to vector<2x4xf32>
  %2 = vector.extract %v[1] : vector<4xf32> from vector<2x4xf32>
  %3 = vector.extract %v[1, %i] : f32 from vector<2x4xf32>
  %4 = vector.insert %w, %1 [0] : vector<4xf32> into vector<2x4xf32>
  %5 = vector.insert %3, %2 [%i] : f32 into vector<4xf32>
  %6 = vector.shuffle %5, %w [0, 5, 2, 7] : vector<4xf32>, vector<4xf32>
  func.return %4, %6 : vector<2x4xf32>, vector<4xf32>
}

// -----

// Reductions: those of floats in order.
// CHECK-LABEL: func.func @f(%v: vector<8xf32>, %n: vector<8xi32>, %a: i32) -> (i32, f32) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(-0.000000e+00 : f32) : f32
// CHECK-NEXT:   %1 = llvm.call_intrinsic "llvm.vector.reduce.fadd.v8f32"(%0, %v) : (f32, vector<8xf32>) -> f32
// CHECK-NEXT:   %2 = llvm.call_intrinsic "llvm.vector.reduce.smax.v8i32"(%n) : (vector<8xi32>) -> i32
// CHECK-NEXT:   %3 = llvm.call_intrinsic "llvm.smax.i32"(%a, %2) : (i32, i32) -> i32
// CHECK-NEXT:   %4 = llvm.call_intrinsic "llvm.vector.reduce.fmul.v8f32"(%1, %v) {fastmathFlags = #llvm.fastmath<reassoc>} : (f32, vector<8xf32>) -> f32
// CHECK-NEXT:   func.return %3, %4 : i32, f32
// CHECK-NEXT: }
func.func @f(%v: vector<8xf32>, %n: vector<8xi32>, %a: i32) -> (i32, f32) {
  %0 = vector.reduction <add>, %v : vector<8xf32> into f32
  %1 = vector.reduction <maxsi>, %n, %a : vector<8xi32> into i32
  %2 = vector.reduction <mul>, %v, %0 fastmath<reassoc> : vector<8xf32> into f32
  func.return %1, %2 : i32, f32
}

// -----

// Multiply-adds, and other types for the same bits.
// CHECK-LABEL: func.func @f(%v: vector<4xf32>) -> vector<4xi32> {
// CHECK-NEXT:   %0 = llvm.call_intrinsic "llvm.fma.v4f32"(%v, %v, %v) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:   %1 = llvm.bitcast %0 : vector<4xf32> to vector<4xi32>
// CHECK-NEXT:   func.return %1 : vector<4xi32>
// CHECK-NEXT: }
func.func @f(%v: vector<4xf32>) -> vector<4xi32> {
  %0 = vector.fma %v, %v, %v : vector<4xf32>
  %1 = vector.bitcast %0 : vector<4xf32> to vector<4xi32>
  func.return %1 : vector<4xi32>
}

// -----

// Transfers go row by row, and only within the bounds.
// CHECK-LABEL: func.func @f(%x: memref<?x?xf32>, %i: index, %p: f32) {
// CHECK-NEXT:   %0 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT:   %1 = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:   %2 = llvm.mlir.constant(dense<[0, 1, 2, 3]> : vector<4xi64>) : vector<4xi64>
// CHECK-NEXT:   %3 = llvm.mlir.constant(4 : i32) : i32
// CHECK-NEXT:   %4 = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   %5, %6, %7 = builtin.unrealized_conversion_cast %x : memref<?x?xf32> to !llvm.ptr, i64, i64
// CHECK-NEXT:   %8 = llvm.mlir.poison : vector<8xf32>
// CHECK-NEXT:   %9 = llvm.insertelement %p, %8[%1 : i32] : vector<8xf32>
// CHECK-NEXT:   %10 = llvm.shufflevector %9, %8 [0, 0, 0, 0, 0, 0, 0, 0] : vector<8xf32>
// CHECK-NEXT:   %11 = llvm.mlir.poison : vector<4xf32>
// CHECK-NEXT:   %12 = llvm.insertelement %p, %11[%1 : i32] : vector<4xf32>
// CHECK-NEXT:   %13 = llvm.shufflevector %12, %11 [0, 0, 0, 0] : vector<4xf32>
// CHECK-NEXT:   %14 = llvm.mul %0, %7 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %15 = llvm.add %14, %0 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %16 = llvm.sub %7, %0 : i64
// CHECK-NEXT:   %17 = llvm.mlir.poison : vector<4xi64>
// CHECK-NEXT:   %18 = llvm.insertelement %16, %17[%1 : i32] : vector<4xi64>
// CHECK-NEXT:   %19 = llvm.shufflevector %18, %17 [0, 0, 0, 0] : vector<4xi64>
// CHECK-NEXT:   %20 = llvm.icmp "slt" %2, %19 : vector<4xi64>
// CHECK-NEXT:   %21 = llvm.icmp "ult" %0, %6 : i64
// CHECK-NEXT:   %22 = llvm.mlir.poison : vector<4xi1>
// CHECK-NEXT:   %23 = llvm.insertelement %21, %22[%1 : i32] : vector<4xi1>
// CHECK-NEXT:   %24 = llvm.shufflevector %23, %22 [0, 0, 0, 0] : vector<4xi1>
// CHECK-NEXT:   %25 = llvm.and %20, %24 : vector<4xi1>
// CHECK-NEXT:   %26 = llvm.getelementptr inbounds %5[%15] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %27 = llvm.call_intrinsic "llvm.masked.load.v4f32.p0"(%26, %3, %25, %13) : (!llvm.ptr, i32, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:   %28 = llvm.shufflevector %27, %27 [0, 1, 2, 3, -1, -1, -1, -1] : vector<4xf32>
// CHECK-NEXT:   %29 = llvm.shufflevector %10, %28 [8, 9, 10, 11, 4, 5, 6, 7] : vector<8xf32>
// CHECK-NEXT:   %30 = llvm.add %0, %4 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %31 = llvm.mul %30, %7 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %32 = llvm.add %31, %0 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %33 = llvm.sub %7, %0 : i64
// CHECK-NEXT:   %34 = llvm.mlir.poison : vector<4xi64>
// CHECK-NEXT:   %35 = llvm.insertelement %33, %34[%1 : i32] : vector<4xi64>
// CHECK-NEXT:   %36 = llvm.shufflevector %35, %34 [0, 0, 0, 0] : vector<4xi64>
// CHECK-NEXT:   %37 = llvm.icmp "slt" %2, %36 : vector<4xi64>
// CHECK-NEXT:   %38 = llvm.icmp "ult" %30, %6 : i64
// CHECK-NEXT:   %39 = llvm.mlir.poison : vector<4xi1>
// CHECK-NEXT:   %40 = llvm.insertelement %38, %39[%1 : i32] : vector<4xi1>
// CHECK-NEXT:   %41 = llvm.shufflevector %40, %39 [0, 0, 0, 0] : vector<4xi1>
// CHECK-NEXT:   %42 = llvm.and %37, %41 : vector<4xi1>
// CHECK-NEXT:   %43 = llvm.getelementptr inbounds %5[%32] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %44 = llvm.call_intrinsic "llvm.masked.load.v4f32.p0"(%43, %3, %42, %13) : (!llvm.ptr, i32, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:   %45 = llvm.shufflevector %44, %44 [0, 1, 2, 3, -1, -1, -1, -1] : vector<4xf32>
// CHECK-NEXT:   %46 = llvm.shufflevector %29, %45 [0, 1, 2, 3, 8, 9, 10, 11] : vector<8xf32>
// CHECK-NEXT:   %47 = llvm.mul %0, %7 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %48 = llvm.add %47, %0 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %49 = llvm.sub %7, %0 : i64
// CHECK-NEXT:   %50 = llvm.mlir.poison : vector<4xi64>
// CHECK-NEXT:   %51 = llvm.insertelement %49, %50[%1 : i32] : vector<4xi64>
// CHECK-NEXT:   %52 = llvm.shufflevector %51, %50 [0, 0, 0, 0] : vector<4xi64>
// CHECK-NEXT:   %53 = llvm.icmp "slt" %2, %52 : vector<4xi64>
// CHECK-NEXT:   %54 = llvm.icmp "ult" %0, %6 : i64
// CHECK-NEXT:   %55 = llvm.mlir.poison : vector<4xi1>
// CHECK-NEXT:   %56 = llvm.insertelement %54, %55[%1 : i32] : vector<4xi1>
// CHECK-NEXT:   %57 = llvm.shufflevector %56, %55 [0, 0, 0, 0] : vector<4xi1>
// CHECK-NEXT:   %58 = llvm.and %53, %57 : vector<4xi1>
// CHECK-NEXT:   %59 = llvm.getelementptr inbounds %5[%48] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %60 = llvm.shufflevector %46, %46 [0, 1, 2, 3] : vector<8xf32>
// CHECK-NEXT:   llvm.call_intrinsic "llvm.masked.store.v4f32.p0"(%60, %59, %3, %58) : (vector<4xf32>, !llvm.ptr, i32, vector<4xi1>) -> ()
// CHECK-NEXT:   %61 = llvm.add %0, %4 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %62 = llvm.mul %61, %7 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %63 = llvm.add %62, %0 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %64 = llvm.sub %7, %0 : i64
// CHECK-NEXT:   %65 = llvm.mlir.poison : vector<4xi64>
// CHECK-NEXT:   %66 = llvm.insertelement %64, %65[%1 : i32] : vector<4xi64>
// CHECK-NEXT:   %67 = llvm.shufflevector %66, %65 [0, 0, 0, 0] : vector<4xi64>
// CHECK-NEXT:   %68 = llvm.icmp "slt" %2, %67 : vector<4xi64>
// CHECK-NEXT:   %69 = llvm.icmp "ult" %61, %6 : i64
// CHECK-NEXT:   %70 = llvm.mlir.poison : vector<4xi1>
// CHECK-NEXT:   %71 = llvm.insertelement %69, %70[%1 : i32] : vector<4xi1>
// CHECK-NEXT:   %72 = llvm.shufflevector %71, %70 [0, 0, 0, 0] : vector<4xi1>
// CHECK-NEXT:   %73 = llvm.and %68, %72 : vector<4xi1>
// CHECK-NEXT:   %74 = llvm.getelementptr inbounds %5[%63] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %75 = llvm.shufflevector %46, %46 [4, 5, 6, 7] : vector<8xf32>
// CHECK-NEXT:   llvm.call_intrinsic "llvm.masked.store.v4f32.p0"(%75, %74, %3, %73) : (vector<4xf32>, !llvm.ptr, i32, vector<4xi1>) -> ()
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @f(%x: memref<?x?xf32>, %i: index, %p: f32) {
  %0 = vector.transfer_read %x[%i, %i], %p : memref<?x?xf32>, vector<2x4xf32>
  vector.transfer_write %0, %x[%i, %i] : vector<2x4xf32>, memref<?x?xf32>
  func.return
}
