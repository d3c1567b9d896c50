// REQUIRES-XDSL: 0.66 (operations of the dialect llvm, and custom forms of them)
// RUN: passline-opt %s -p lower-vector --split-input-file | filecheck %s

// Vectors in memory are aligned as their elements.
// CHECK-LABEL: func.func @alignment(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(8) : i64
// CHECK:        [[V3:%\w+]] = llvm.mul [[V1:%\w+]], [[V0]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V4:%\w+]] = llvm.add [[V3]], [[V1]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V5:%\w+]] = llvm.getelementptr inbounds [[V2:%\w+]][[[V4]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V6:%\w+]] = llvm.load [[V5]] {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK-NEXT:   [[V7:%\w+]] = llvm.mul [[V1]], [[V0]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V8:%\w+]] = llvm.add [[V7]], [[V1]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V9:%\w+]] = llvm.getelementptr inbounds [[V2]][[[V8]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store [[V6]], [[V9]] {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
// CHECK-NEXT:   func.return
func.func @alignment(%x: memref<4x8xf32>, %i: index) {
  %0 = vector.load %x[%i, %i] : memref<4x8xf32>, vector<8xf32>
  vector.store %0, %x[%i, %i] : memref<4x8xf32>, vector<8xf32>
  func.return
}

// -----

// Masks.
// CHECK-LABEL: func.func @masks(
// CHECK:        [[V2:%\w+]] = llvm.mlir.constant(dense<[0, 1, 2, 3]> : vector<4xi64>) : vector<4xi64>
// CHECK-NEXT:   [[V3:%\w+]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:   [[V4:%\w+]] = llvm.mlir.constant(4 : i32) : i32
// CHECK:        [[V6:%\w+]] = llvm.mlir.poison : vector<4xi64>
// CHECK-NEXT:   [[V7:%\w+]] = llvm.insertelement [[V5:%\w+]], [[V6]][[[V3]] : i32] : vector<4xi64>
// CHECK-NEXT:   [[V8:%\w+]] = llvm.shufflevector [[V7]], [[V6]] [0, 0, 0, 0] : vector<4xi64>
// CHECK-NEXT:   %m = llvm.icmp "slt" [[V2]], [[V8]] : vector<4xi64>
// CHECK-NEXT:   [[V9:%\w+]] = llvm.getelementptr inbounds [[V0:%\w+]][[[V5]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V10:%\w+]] = llvm.call_intrinsic "llvm.masked.load.v4f32.p0"([[V9]], [[V4]], %m, %v) : (!llvm.ptr, i32, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:   [[V11:%\w+]] = llvm.getelementptr inbounds [[V0]][[[V5]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.call_intrinsic "llvm.masked.store.v4f32.p0"([[V10]], [[V11]], [[V4]], %m) : (vector<4xf32>, !llvm.ptr, i32, vector<4xi1>) -> ()
// CHECK-NEXT:   func.return
func.func @masks(%x: memref<?xf32>, %i: index, %v: vector<4xf32>) {
  %m = vector.create_mask %i : vector<4xi1>
  %0 = vector.maskedload %x[%i], %m, %v : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %x[%i], %m, %0 : memref<?xf32>, vector<4xi1>, vector<4xf32>
  func.return
}

// Lanes: a vector of two dimensions is one of all its elements.
// CHECK-LABEL: func.func @lanes(
// CHECK:        [[V2:%\w+]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:   [[V3:%\w+]] = llvm.mlir.constant(4) : i64
// CHECK-NEXT:   [[V4:%\w+]] = llvm.mlir.poison : vector<4xf32>
// CHECK-NEXT:   [[V5:%\w+]] = llvm.insertelement %x, [[V4]][[[V2]] : i32] : vector<4xf32>
// CHECK-NEXT:   [[V6:%\w+]] = llvm.shufflevector [[V5]], [[V4]] [0, 0, 0, 0] : vector<4xf32>
// CHECK-NEXT:   [[V7:%\w+]] = llvm.shufflevector [[V6]], [[V6]] [0, 1, 2, 3, 0, 1, 2, 3] : vector<4xf32>
// CHECK-NEXT:   [[V8:%\w+]] = llvm.shufflevector [[V1:%\w+]], [[V1]] [4, 5, 6, 7] : vector<8xf32>
// CHECK-NEXT:   [[V9:%\w+]] = llvm.add [[V3]], [[V0:%\w+]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V10:%\w+]] = llvm.extractelement [[V1]][[[V9]] : i64] : vector<8xf32> -> f32
// CHECK-NEXT:   [[V11:%\w+]] = llvm.shufflevector %w, %w [0, 1, 2, 3, -1, -1, -1, -1] : vector<4xf32>
// CHECK-NEXT:   [[V12:%\w+]] = llvm.shufflevector [[V7]], [[V11]] [8, 9, 10, 11, 4, 5, 6, 7] : vector<8xf32>
// CHECK:        [[V14:%\w+]] = llvm.insertelement [[V10]], [[V8]][[[V0]] : i64] : vector<4xf32>
// CHECK-NEXT:   [[V15:%\w+]] = llvm.shufflevector [[V14]], %w [0, 5, 2, 7] : vector<4xf32>
// CHECK-NEXT:   func.return [[V13:%\w+]], [[V15]] : vector<2x4xf32>, vector<4xf32>
func.func @lanes(%x: f32, %v: vector<2x4xf32>, %w: vector<4xf32>, %i: index) -> (vector<2x4xf32>, vector<4xf32>) {
  %0 = vector.broadcast %x : f32 to vector<4xf32>
  %1 = vector.broadcast %0 : vector<4xf32> to vector<2x4xf32>
  %2 = vector.extract %v[1] : vector<4xf32> from vector<2x4xf32>
  %3 = vector.extract %v[1, %i] : f32 from vector<2x4xf32>
  %4 = vector.insert %w, %1 [0] : vector<4xf32> into vector<2x4xf32>
  %5 = vector.insert %3, %2 [%i] : f32 into vector<4xf32>
  %6 = vector.shuffle %5, %w [0, 5, 2, 7] : vector<4xf32>, vector<4xf32>
  func.return %4, %6 : vector<2x4xf32>, vector<4xf32>
}

// Reductions: those of floats in order.
// CHECK-LABEL: func.func @reductions(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(-0.000000e+00 : f32) : f32
// CHECK-NEXT:   [[V1:%\w+]] = llvm.call_intrinsic "llvm.vector.reduce.fadd.v8f32"([[V0]], %v) : (f32, vector<8xf32>) -> f32
// CHECK-NEXT:   [[V2:%\w+]] = llvm.call_intrinsic "llvm.vector.reduce.smax.v8i32"(%n) : (vector<8xi32>) -> i32
// CHECK-NEXT:   [[V3:%\w+]] = llvm.call_intrinsic "llvm.smax.i32"(%a, [[V2]]) : (i32, i32) -> i32
// CHECK-NEXT:   [[V4:%\w+]] = llvm.call_intrinsic "llvm.vector.reduce.fmul.v8f32"([[V1]], %v) {fastmathFlags = #llvm.fastmath<reassoc>} : (f32, vector<8xf32>) -> f32
// CHECK-NEXT:   func.return [[V3]], [[V4]] : i32, f32
func.func @reductions(%v: vector<8xf32>, %n: vector<8xi32>, %a: i32) -> (i32, f32) {
  %0 = vector.reduction <add>, %v : vector<8xf32> into f32
  %1 = vector.reduction <maxsi>, %n, %a : vector<8xi32> into i32
  %2 = vector.reduction <mul>, %v, %0 fastmath<reassoc> : vector<8xf32> into f32
  func.return %1, %2 : i32, f32
}

// Multiply-adds, and other types for the same bits.
// CHECK-LABEL: func.func @same_bits(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.call_intrinsic "llvm.fma.v4f32"(%v, %v, %v) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:   [[V1:%\w+]] = llvm.bitcast [[V0]] : vector<4xf32> to vector<4xi32>
// CHECK-NEXT:   func.return [[V1]] : vector<4xi32>
func.func @same_bits(%v: vector<4xf32>) -> vector<4xi32> {
  %0 = vector.fma %v, %v, %v : vector<4xf32>
  %1 = vector.bitcast %0 : vector<4xf32> to vector<4xi32>
  func.return %1 : vector<4xi32>
}

// Transfers go row by row, and only within the bounds.
// CHECK-LABEL: func.func @transfers(
// CHECK:        [[V1:%\w+]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:   [[V2:%\w+]] = llvm.mlir.constant(dense<[0, 1, 2, 3]> : vector<4xi64>) : vector<4xi64>
// CHECK-NEXT:   [[V3:%\w+]] = llvm.mlir.constant(4 : i32) : i32
// CHECK-NEXT:   [[V4:%\w+]] = llvm.mlir.constant(1) : i64
// CHECK:        [[V8:%\w+]] = llvm.mlir.poison : vector<8xf32>
// CHECK-NEXT:   [[V9:%\w+]] = llvm.insertelement %p, [[V8]][[[V1]] : i32] : vector<8xf32>
// CHECK-NEXT:   [[V10:%\w+]] = llvm.shufflevector [[V9]], [[V8]] [0, 0, 0, 0, 0, 0, 0, 0] : vector<8xf32>
// CHECK-NEXT:   [[V11:%\w+]] = llvm.mlir.poison : vector<4xf32>
// CHECK-NEXT:   [[V12:%\w+]] = llvm.insertelement %p, [[V11]][[[V1]] : i32] : vector<4xf32>
// CHECK-NEXT:   [[V13:%\w+]] = llvm.shufflevector [[V12]], [[V11]] [0, 0, 0, 0] : vector<4xf32>
// CHECK-NEXT:   [[V14:%\w+]] = llvm.mul [[V0:%\w+]], [[V7:%\w+]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V15:%\w+]] = llvm.add [[V14]], [[V0]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V16:%\w+]] = llvm.sub [[V7]], [[V0]] : i64
// CHECK-NEXT:   [[V17:%\w+]] = llvm.mlir.poison : vector<4xi64>
// CHECK-NEXT:   [[V18:%\w+]] = llvm.insertelement [[V16]], [[V17]][[[V1]] : i32] : vector<4xi64>
// CHECK-NEXT:   [[V19:%\w+]] = llvm.shufflevector [[V18]], [[V17]] [0, 0, 0, 0] : vector<4xi64>
// CHECK-NEXT:   [[V20:%\w+]] = llvm.icmp "slt" [[V2]], [[V19]] : vector<4xi64>
// CHECK-NEXT:   [[V21:%\w+]] = llvm.icmp "ult" [[V0]], [[V6:%\w+]] : i64
// CHECK-NEXT:   [[V22:%\w+]] = llvm.mlir.poison : vector<4xi1>
// CHECK-NEXT:   [[V23:%\w+]] = llvm.insertelement [[V21]], [[V22]][[[V1]] : i32] : vector<4xi1>
// CHECK-NEXT:   [[V24:%\w+]] = llvm.shufflevector [[V23]], [[V22]] [0, 0, 0, 0] : vector<4xi1>
// CHECK-NEXT:   [[V25:%\w+]] = llvm.and [[V20]], [[V24]] : vector<4xi1>
// CHECK-NEXT:   [[V26:%\w+]] = llvm.getelementptr inbounds [[V5:%\w+]][[[V15]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V27:%\w+]] = llvm.call_intrinsic "llvm.masked.load.v4f32.p0"([[V26]], [[V3]], [[V25]], [[V13]]) : (!llvm.ptr, i32, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:   [[V28:%\w+]] = llvm.shufflevector [[V27]], [[V27]] [0, 1, 2, 3, -1, -1, -1, -1] : vector<4xf32>
// CHECK-NEXT:   [[V29:%\w+]] = llvm.shufflevector [[V10]], [[V28]] [8, 9, 10, 11, 4, 5, 6, 7] : vector<8xf32>
// CHECK-NEXT:   [[V30:%\w+]] = llvm.add [[V0]], [[V4]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V31:%\w+]] = llvm.mul [[V30]], [[V7]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V32:%\w+]] = llvm.add [[V31]], [[V0]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V33:%\w+]] = llvm.sub [[V7]], [[V0]] : i64
// CHECK-NEXT:   [[V34:%\w+]] = llvm.mlir.poison : vector<4xi64>
// CHECK-NEXT:   [[V35:%\w+]] = llvm.insertelement [[V33]], [[V34]][[[V1]] : i32] : vector<4xi64>
// CHECK-NEXT:   [[V36:%\w+]] = llvm.shufflevector [[V35]], [[V34]] [0, 0, 0, 0] : vector<4xi64>
// CHECK-NEXT:   [[V37:%\w+]] = llvm.icmp "slt" [[V2]], [[V36]] : vector<4xi64>
// CHECK-NEXT:   [[V38:%\w+]] = llvm.icmp "ult" [[V30]], [[V6]] : i64
// CHECK-NEXT:   [[V39:%\w+]] = llvm.mlir.poison : vector<4xi1>
// CHECK-NEXT:   [[V40:%\w+]] = llvm.insertelement [[V38]], [[V39]][[[V1]] : i32] : vector<4xi1>
// CHECK-NEXT:   [[V41:%\w+]] = llvm.shufflevector [[V40]], [[V39]] [0, 0, 0, 0] : vector<4xi1>
// CHECK-NEXT:   [[V42:%\w+]] = llvm.and [[V37]], [[V41]] : vector<4xi1>
// CHECK-NEXT:   [[V43:%\w+]] = llvm.getelementptr inbounds [[V5]][[[V32]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V44:%\w+]] = llvm.call_intrinsic "llvm.masked.load.v4f32.p0"([[V43]], [[V3]], [[V42]], [[V13]]) : (!llvm.ptr, i32, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT:   [[V45:%\w+]] = llvm.shufflevector [[V44]], [[V44]] [0, 1, 2, 3, -1, -1, -1, -1] : vector<4xf32>
// CHECK-NEXT:   [[V46:%\w+]] = llvm.shufflevector [[V29]], [[V45]] [0, 1, 2, 3, 8, 9, 10, 11] : vector<8xf32>
// CHECK-NEXT:   [[V47:%\w+]] = llvm.mul [[V0]], [[V7]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V48:%\w+]] = llvm.add [[V47]], [[V0]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V49:%\w+]] = llvm.sub [[V7]], [[V0]] : i64
// CHECK-NEXT:   [[V50:%\w+]] = llvm.mlir.poison : vector<4xi64>
// CHECK-NEXT:   [[V51:%\w+]] = llvm.insertelement [[V49]], [[V50]][[[V1]] : i32] : vector<4xi64>
// CHECK-NEXT:   [[V52:%\w+]] = llvm.shufflevector [[V51]], [[V50]] [0, 0, 0, 0] : vector<4xi64>
// CHECK-NEXT:   [[V53:%\w+]] = llvm.icmp "slt" [[V2]], [[V52]] : vector<4xi64>
// CHECK-NEXT:   [[V54:%\w+]] = llvm.icmp "ult" [[V0]], [[V6]] : i64
// CHECK-NEXT:   [[V55:%\w+]] = llvm.mlir.poison : vector<4xi1>
// CHECK-NEXT:   [[V56:%\w+]] = llvm.insertelement [[V54]], [[V55]][[[V1]] : i32] : vector<4xi1>
// CHECK-NEXT:   [[V57:%\w+]] = llvm.shufflevector [[V56]], [[V55]] [0, 0, 0, 0] : vector<4xi1>
// CHECK-NEXT:   [[V58:%\w+]] = llvm.and [[V53]], [[V57]] : vector<4xi1>
// CHECK-NEXT:   [[V59:%\w+]] = llvm.getelementptr inbounds [[V5]][[[V48]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V60:%\w+]] = llvm.shufflevector [[V46]], [[V46]] [0, 1, 2, 3] : vector<8xf32>
// CHECK-NEXT:   llvm.call_intrinsic "llvm.masked.store.v4f32.p0"([[V60]], [[V59]], [[V3]], [[V58]]) : (vector<4xf32>, !llvm.ptr, i32, vector<4xi1>) -> ()
// CHECK-NEXT:   [[V61:%\w+]] = llvm.add [[V0]], [[V4]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V62:%\w+]] = llvm.mul [[V61]], [[V7]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V63:%\w+]] = llvm.add [[V62]], [[V0]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V64:%\w+]] = llvm.sub [[V7]], [[V0]] : i64
// CHECK-NEXT:   [[V65:%\w+]] = llvm.mlir.poison : vector<4xi64>
// CHECK-NEXT:   [[V66:%\w+]] = llvm.insertelement [[V64]], [[V65]][[[V1]] : i32] : vector<4xi64>
// CHECK-NEXT:   [[V67:%\w+]] = llvm.shufflevector [[V66]], [[V65]] [0, 0, 0, 0] : vector<4xi64>
// CHECK-NEXT:   [[V68:%\w+]] = llvm.icmp "slt" [[V2]], [[V67]] : vector<4xi64>
// CHECK-NEXT:   [[V69:%\w+]] = llvm.icmp "ult" [[V61]], [[V6]] : i64
// CHECK-NEXT:   [[V70:%\w+]] = llvm.mlir.poison : vector<4xi1>
// CHECK-NEXT:   [[V71:%\w+]] = llvm.insertelement [[V69]], [[V70]][[[V1]] : i32] : vector<4xi1>
// CHECK-NEXT:   [[V72:%\w+]] = llvm.shufflevector [[V71]], [[V70]] [0, 0, 0, 0] : vector<4xi1>
// CHECK-NEXT:   [[V73:%\w+]] = llvm.and [[V68]], [[V72]] : vector<4xi1>
// CHECK-NEXT:   [[V74:%\w+]] = llvm.getelementptr inbounds [[V5]][[[V63]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V75:%\w+]] = llvm.shufflevector [[V46]], [[V46]] [4, 5, 6, 7] : vector<8xf32>
// CHECK-NEXT:   llvm.call_intrinsic "llvm.masked.store.v4f32.p0"([[V75]], [[V74]], [[V3]], [[V73]]) : (vector<4xf32>, !llvm.ptr, i32, vector<4xi1>) -> ()
// CHECK-NEXT:   func.return
func.func @transfers(%x: memref<?x?xf32>, %i: index, %p: f32) {
  %0 = vector.transfer_read %x[%i, %i], %p : memref<?x?xf32>, vector<2x4xf32>
  vector.transfer_write %0, %x[%i, %i] : vector<2x4xf32>, memref<?x?xf32>
  func.return
}
