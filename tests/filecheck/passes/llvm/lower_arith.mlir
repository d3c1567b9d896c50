// REQUIRES-XDSL: 0.66 (operations of the dialect llvm, and custom forms of them)
// RUN: passline-opt %s -p lower-arith --split-input-file | filecheck %s

// Constants and indices: an index is an i64.
// CHECK-LABEL: func.func @constants(
// CHECK:        %c = llvm.mlir.constant(7) : i64
// CHECK-NEXT:   [[V1:%\w+]] = llvm.add [[V0:%\w+]], %c : i64
// CHECK-NEXT:   [[V2:%\w+]] = llvm.trunc [[V1]] : i64 to i32
// CHECK-NEXT:   func.return [[V2]] : i32
func.func @constants(%i: index) -> i32 {
  %c = arith.constant 7 : index
  %0 = arith.addi %i, %c : index
  %1 = arith.index_cast %0 : index to i32
  func.return %1 : i32
}

// -----

// Flags stay: of overflow, and fast-math ones.
// CHECK-LABEL: func.func @flags(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.add %a, %b overflow<nsw> : i32
// CHECK-NEXT:   [[V1:%\w+]] = llvm.sub [[V0]], %b : i32
// CHECK-NEXT:   [[V2:%\w+]] = llvm.mul [[V1]], [[V1]] overflow<nsw,nuw> : i32
// CHECK-NEXT:   [[V3:%\w+]] = llvm.fadd %x, %y {fastmathFlags = #llvm.fastmath<contract>} : f32
// CHECK-NEXT:   [[V4:%\w+]] = llvm.fdiv [[V3]], %y : f32
// CHECK-NEXT:   [[V5:%\w+]] = llvm.fneg [[V4]] {fastmathFlags = #llvm.fastmath<fast>} : f32
// CHECK-NEXT:   func.return [[V2]], [[V5]] : i32, f32
func.func @flags(%a: i32, %b: i32, %x: f32, %y: f32) -> (i32, f32) {
  %0 = arith.addi %a, %b overflow<nsw> : i32
  %1 = arith.subi %0, %b : i32
  %2 = arith.muli %1, %1 overflow<nsw, nuw> : i32
  %3 = arith.addf %x, %y fastmath<contract> : f32
  %4 = arith.divf %3, %y : f32
  %5 = arith.negf %4 fastmath<fast> : f32
  func.return %2, %5 : i32, f32
}

// Vectors of several dimensions become one of all elements; dense constants keep their bytes.
// CHECK-LABEL: func.func @dense(
// CHECK:        %c = llvm.mlir.constant(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : vector<4xf32>) : vector<4xf32>
// CHECK-NEXT:   [[V1:%\w+]] = llvm.fmul [[V0:%\w+]], %c : vector<4xf32>
// CHECK:        func.return [[V2:%\w+]] : vector<2x2xf32>
func.func @dense(%x: vector<2x2xf32>) -> vector<2x2xf32> {
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : vector<2x2xf32>
  %0 = arith.mulf %x, %c : vector<2x2xf32>
  func.return %0 : vector<2x2xf32>
}

// Comparisons and selections.
// CHECK-LABEL: func.func @comparisons(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.icmp "ult" %a, %b : i64
// CHECK-NEXT:   [[V1:%\w+]] = llvm.fcmp "olt" %x, %y : f32
// CHECK-NEXT:   [[V2:%\w+]] = llvm.select [[V0]], %x, %y : i1, f32
// CHECK-NEXT:   [[V3:%\w+]] = llvm.select [[V1]], [[V2]], %y {llvm.unpredictable} : i1, f32
// CHECK-NEXT:   func.return [[V3]] : f32
func.func @comparisons(%a: i64, %b: i64, %x: f32, %y: f32) -> f32 {
  %0 = arith.cmpi ult, %a, %b : i64
  %1 = arith.cmpf olt, %x, %y : f32
  %2 = arith.select %0, %x, %y : f32
  %3 = arith.select %1, %2, %y {llvm.unpredictable} : f32
  func.return %3 : f32
}

// Conversions; those between types that become the same are gone.
// CHECK-LABEL: func.func @conversions(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.sext %a : i8 to i32
// CHECK-NEXT:   [[V1:%\w+]] = llvm.zext %a : i8 to i32
// CHECK-NEXT:   [[V2:%\w+]] = llvm.trunc [[V0]] : i32 to i16
// CHECK-NEXT:   [[V3:%\w+]] = llvm.fptrunc %x : f64 to f32
// CHECK-NEXT:   [[V4:%\w+]] = llvm.sitofp [[V0]] : i32 to f32
// CHECK-NEXT:   [[V5:%\w+]] = llvm.uitofp [[V1]] : i32 to f32
// CHECK-NEXT:   [[V6:%\w+]] = llvm.fptosi [[V4]] : f32 to i32
// CHECK-NEXT:   [[V7:%\w+]] = llvm.fptoui [[V5]] : f32 to i32
// CHECK-NEXT:   [[V8:%\w+]] = llvm.bitcast [[V3]] : f32 to i32
// CHECK:        func.return [[V2]], [[V6]], [[V7]], [[V8]], [[V9:%\w+]] : i16, i32, i32, i32, index
func.func @conversions(%a: i8, %x: f64, %l: i64) -> (i16, i32, i32, i32, index) {
  %0 = arith.extsi %a : i8 to i32
  %1 = arith.extui %a : i8 to i32
  %2 = arith.trunci %0 : i32 to i16
  %3 = arith.truncf %x : f64 to f32
  %4 = arith.sitofp %0 : i32 to f32
  %5 = arith.uitofp %1 : i32 to f32
  %6 = arith.fptosi %4 : f32 to i32
  %7 = arith.fptoui %5 : f32 to i32
  %8 = arith.bitcast %3 : f32 to i32
  %9 = arith.index_cast %l : i64 to index
  func.return %2, %6, %7, %8, %9 : i16, i32, i32, i32, index
}

// The larger of two floats is NaN if one is (maximumf), or the other one (maxnumf); without NaNs it is one comparison.
// CHECK-LABEL: func.func @maxima(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.fcmp "ugt" %x, %y : f32
// CHECK-NEXT:   [[V1:%\w+]] = llvm.select [[V0]], %x, %y : i1, f32
// CHECK-NEXT:   [[V2:%\w+]] = llvm.fcmp "uno" %y, %y : f32
// CHECK-NEXT:   [[V3:%\w+]] = llvm.select [[V2]], %y, [[V1]] : i1, f32
// CHECK-NEXT:   [[V4:%\w+]] = llvm.fcmp "ugt" %x, %y : f32
// CHECK-NEXT:   [[V5:%\w+]] = llvm.select [[V4]], %x, %y : i1, f32
// CHECK-NEXT:   [[V6:%\w+]] = llvm.fcmp "uno" %x, %x : f32
// CHECK-NEXT:   [[V7:%\w+]] = llvm.select [[V6]], %y, [[V5]] : i1, f32
// CHECK-NEXT:   [[V8:%\w+]] = llvm.fcmp "ult" %x, %y : f32
// CHECK-NEXT:   [[V9:%\w+]] = llvm.select [[V8]], %x, %y : i1, f32
// CHECK-NEXT:   func.return [[V3]], [[V7]], [[V9]] : f32, f32, f32
func.func @maxima(%x: f32, %y: f32) -> (f32, f32, f32) {
  %0 = arith.maximumf %x, %y : f32
  %1 = arith.maxnumf %x, %y : f32
  %2 = arith.minimumf %x, %y fastmath<nnan> : f32
  func.return %0, %1, %2 : f32, f32, f32
}

// The larger of two integers.
// CHECK-LABEL: func.func @maximum(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.call_intrinsic "llvm.smax.i32"(%a, %b) : (i32, i32) -> i32
// CHECK-NEXT:   [[V1:%\w+]] = llvm.call_intrinsic "llvm.umin.i32"(%a, %b) : (i32, i32) -> i32
// CHECK-NEXT:   func.return [[V0]], [[V1]] : i32, i32
func.func @maximum(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.maxsi %a, %b : i32
  %1 = arith.minui %a, %b : i32
  func.return %0, %1 : i32, i32
}

// Division that rounds up or down.
// CHECK-LABEL: func.func @division(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:   [[V1:%\w+]] = llvm.mlir.constant(1 : i32) : i32
// CHECK-NEXT:   [[V2:%\w+]] = llvm.sdiv %a, %b : i32
// CHECK-NEXT:   [[V3:%\w+]] = llvm.mul [[V2]], %b : i32
// CHECK-NEXT:   [[V4:%\w+]] = llvm.icmp "ne" [[V3]], %a : i32
// CHECK-NEXT:   [[V5:%\w+]] = llvm.icmp "slt" %a, [[V0]] : i32
// CHECK-NEXT:   [[V6:%\w+]] = llvm.icmp "slt" %b, [[V0]] : i32
// CHECK-NEXT:   [[V7:%\w+]] = llvm.icmp "eq" [[V5]], [[V6]] : i1
// CHECK-NEXT:   [[V8:%\w+]] = llvm.and [[V4]], [[V7]] : i1
// CHECK-NEXT:   [[V9:%\w+]] = llvm.add [[V2]], [[V1]] : i32
// CHECK-NEXT:   [[V10:%\w+]] = llvm.select [[V8]], [[V9]], [[V2]] : i1, i32
// CHECK-NEXT:   [[V11:%\w+]] = llvm.sdiv %a, %b : i32
// CHECK-NEXT:   [[V12:%\w+]] = llvm.mul [[V11]], %b : i32
// CHECK-NEXT:   [[V13:%\w+]] = llvm.icmp "ne" [[V12]], %a : i32
// CHECK-NEXT:   [[V14:%\w+]] = llvm.icmp "slt" %a, [[V0]] : i32
// CHECK-NEXT:   [[V15:%\w+]] = llvm.icmp "slt" %b, [[V0]] : i32
// CHECK-NEXT:   [[V16:%\w+]] = llvm.icmp "ne" [[V14]], [[V15]] : i1
// CHECK-NEXT:   [[V17:%\w+]] = llvm.and [[V13]], [[V16]] : i1
// CHECK-NEXT:   [[V18:%\w+]] = llvm.sub [[V11]], [[V1]] : i32
// CHECK-NEXT:   [[V19:%\w+]] = llvm.select [[V17]], [[V18]], [[V11]] : i1, i32
// CHECK-NEXT:   [[V20:%\w+]] = llvm.sub %a, [[V1]] : i32
// CHECK-NEXT:   [[V21:%\w+]] = llvm.udiv [[V20]], %b : i32
// CHECK-NEXT:   [[V22:%\w+]] = llvm.add [[V21]], [[V1]] : i32
// CHECK-NEXT:   [[V23:%\w+]] = llvm.icmp "eq" %a, [[V0]] : i32
// CHECK-NEXT:   [[V24:%\w+]] = llvm.select [[V23]], [[V0]], [[V22]] : i1, i32
// CHECK-NEXT:   func.return [[V10]], [[V19]], [[V24]] : i32, i32, i32
func.func @division(%a: i32, %b: i32) -> (i32, i32, i32) {
  %0 = arith.ceildivsi %a, %b : i32
  %1 = arith.floordivsi %a, %b : i32
  %2 = arith.ceildivui %a, %b : i32
  func.return %0, %1, %2 : i32, i32, i32
}

// Sums with a carry, and products of twice the width.
// CHECK-LABEL: func.func @wide(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(32 : i32) : i32
// CHECK-NEXT:   [[V1:%\w+]] = llvm.add %a, %b : i32
// CHECK-NEXT:   [[V2:%\w+]] = llvm.icmp "ult" [[V1]], %a : i32
// CHECK-NEXT:   [[V3:%\w+]] = llvm.sext %a : i32 to i64
// CHECK-NEXT:   [[V4:%\w+]] = llvm.sext %b : i32 to i64
// CHECK-NEXT:   [[V5:%\w+]] = llvm.mul [[V3]], [[V4]] : i64
// CHECK-NEXT:   [[V6:%\w+]] = llvm.zext [[V0]] : i32 to i64
// CHECK-NEXT:   [[V7:%\w+]] = llvm.lshr [[V5]], [[V6]] : i64
// CHECK-NEXT:   [[V8:%\w+]] = llvm.trunc [[V5]] : i64 to i32
// CHECK-NEXT:   [[V9:%\w+]] = llvm.trunc [[V7]] : i64 to i32
// CHECK-NEXT:   func.return [[V1]], [[V2]], [[V8]], [[V9]] : i32, i1, i32, i32
func.func @wide(%a: i32, %b: i32) -> (i32, i1, i32, i32) {
  %0, %1 = arith.addui_extended %a, %b : i32, i1
  %2, %3 = arith.mulsi_extended %a, %b : i32
  func.return %0, %1, %2, %3 : i32, i1, i32, i32
}

// Nothing here is of a dialect that the pass lowers.
// UNCHANGED: @other_dialects
func.func @other_dialects(%x: f32, %m: memref<4xf32>, %i: index) {
  %0 = math.exp %x : f32
  memref.store %0, %m[%i] : memref<4xf32>
  func.return
}

// 0.0 and -0.0 are different constants, also with a release of xDSL that takes their attributes for
// equal.
// CHECK-LABEL: func.func @zeros
// CHECK-NEXT:    [[V0:%\w+]] = llvm.mlir.constant(0.0
// CHECK-NEXT:    [[V1:%\w+]] = llvm.mlir.constant(-0.0
// CHECK-NEXT:    func.return [[V0]], [[V1]]
func.func @zeros() -> (f32, f32) {
  %0 = arith.constant 0.0 : f32
  %1 = arith.constant -0.0 : f32
  func.return %0, %1 : f32, f32
}
