// REQUIRES-XDSL: 0.66 (operations of the dialect llvm, and custom forms of them)
// RUN: passline-opt %s -p lower-arith --split-input-file | filecheck %s

// Constants and indices: an index is an i64.
// CHECK-LABEL: func.func @f(%i: index) -> i32 {
// CHECK-NEXT:   %0 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT:   %c = llvm.mlir.constant(7) : i64
// CHECK-NEXT:   %1 = llvm.add %0, %c : i64
// CHECK-NEXT:   %2 = llvm.trunc %1 : i64 to i32
// CHECK-NEXT:   func.return %2 : i32
// CHECK-NEXT: }
func.func @f(%i: index) -> i32 {
  %c = arith.constant 7 : index
  %0 = arith.addi %i, %c : index
  %1 = arith.index_cast %0 : index to i32
  func.return %1 : i32
}

// -----

// Flags stay: of overflow, and fast-math ones.
// CHECK-LABEL: func.func @f(%a: i32, %b: i32, %x: f32, %y: f32) -> (i32, f32) {
// CHECK-NEXT:   %0 = llvm.add %a, %b overflow<nsw> : i32
// CHECK-NEXT:   %1 = llvm.sub %0, %b : i32
// CHECK-NEXT:   %2 = llvm.mul %1, %1 overflow<nsw,nuw> : i32
// CHECK-NEXT:   %3 = llvm.fadd %x, %y {fastmathFlags = #llvm.fastmath<contract>} : f32
// CHECK-NEXT:   %4 = llvm.fdiv %3, %y : f32
// CHECK-NEXT:   %5 = llvm.fneg %4 {fastmathFlags = #llvm.fastmath<fast>} : f32
// CHECK-NEXT:   func.return %2, %5 : i32, f32
// CHECK-NEXT: }
func.func @f(%a: i32, %b: i32, %x: f32, %y: f32) -> (i32, f32) {
  %0 = arith.addi %a, %b overflow<nsw> : i32
  %1 = arith.subi %0, %b : i32
  %2 = arith.muli %1, %1 overflow<nsw, nuw> : i32
  %3 = arith.addf %x, %y fastmath<contract> : f32
  %4 = arith.divf %3, %y : f32
  %5 = arith.negf %4 fastmath<fast> : f32
  func.return %2, %5 : i32, f32
}

// -----

// Vectors of several dimensions become one of all elements; dense constants keep their bytes.
// CHECK-LABEL: func.func @f(%x: vector<2x2xf32>) -> vector<2x2xf32> {
// CHECK-NEXT:   %0 = builtin.unrealized_conversion_cast %x : vector<2x2xf32> to vector<4xf32>
// CHECK-NEXT:   %c = llvm.mlir.constant(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : vector<4xf32>) : vector<4xf32>
// CHECK-NEXT:   %1 = llvm.fmul %0, %c : vector<4xf32>
// CHECK-NEXT:   %2 = builtin.unrealized_conversion_cast %1 : vector<4xf32> to vector<2x2xf32>
// CHECK-NEXT:   func.return %2 : vector<2x2xf32>
// CHECK-NEXT: }
func.func @f(%x: vector<2x2xf32>) -> vector<2x2xf32> {
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : vector<2x2xf32>
  %0 = arith.mulf %x, %c : vector<2x2xf32>
  func.return %0 : vector<2x2xf32>
}

// -----

// Comparisons and selections.
// CHECK-LABEL: func.func @f(%a: i64, %b: i64, %x: f32, %y: f32) -> f32 {
// CHECK-NEXT:   %0 = llvm.icmp "ult" %a, %b : i64
// CHECK-NEXT:   %1 = llvm.fcmp "olt" %x, %y : f32
// CHECK-NEXT:   %2 = llvm.select %0, %x, %y : i1, f32
// CHECK-NEXT:   %3 = llvm.select %1, %2, %y {llvm.unpredictable} : i1, f32
// CHECK-NEXT:   func.return %3 : f32
// CHECK-NEXT: }
func.func @f(%a: i64, %b: i64, %x: f32, %y: f32) -> f32 {
  %0 = arith.cmpi ult, %a, %b : i64
  %1 = arith.cmpf olt, %x, %y : f32
  %2 = arith.select %0, %x, %y : f32
  %3 = arith.select %1, %2, %y {llvm.unpredictable} : f32
  func.return %3 : f32
}

// -----

// Conversions; those between types that become the same are gone.
// CHECK-LABEL: func.func @f(%a: i8, %x: f64, %l: i64) -> (i16, i32, i32, i32, index) {
// CHECK-NEXT:   %0 = llvm.sext %a : i8 to i32
// CHECK-NEXT:   %1 = llvm.zext %a : i8 to i32
// CHECK-NEXT:   %2 = llvm.trunc %0 : i32 to i16
// CHECK-NEXT:   %3 = llvm.fptrunc %x : f64 to f32
// CHECK-NEXT:   %4 = llvm.sitofp %0 : i32 to f32
// CHECK-NEXT:   %5 = llvm.uitofp %1 : i32 to f32
// CHECK-NEXT:   %6 = llvm.fptosi %4 : f32 to i32
// CHECK-NEXT:   %7 = llvm.fptoui %5 : f32 to i32
// CHECK-NEXT:   %8 = llvm.bitcast %3 : f32 to i32
// CHECK-NEXT:   %9 = builtin.unrealized_conversion_cast %l : i64 to index
// CHECK-NEXT:   func.return %2, %6, %7, %8, %9 : i16, i32, i32, i32, index
// CHECK-NEXT: }
func.func @f(%a: i8, %x: f64, %l: i64) -> (i16, i32, i32, i32, index) {
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

// -----

// The larger of two floats is NaN if one is (maximumf), or the other one (maxnumf); without NaNs it is one comparison.
// CHECK-LABEL: func.func @f(%x: f32, %y: f32) -> (f32, f32, f32) {
// CHECK-NEXT:   %0 = llvm.fcmp "ugt" %x, %y : f32
// CHECK-NEXT:   %1 = llvm.select %0, %x, %y : i1, f32
// CHECK-NEXT:   %2 = llvm.fcmp "uno" %y, %y : f32
// CHECK-NEXT:   %3 = llvm.select %2, %y, %1 : i1, f32
// CHECK-NEXT:   %4 = llvm.fcmp "ugt" %x, %y : f32
// CHECK-NEXT:   %5 = llvm.select %4, %x, %y : i1, f32
// CHECK-NEXT:   %6 = llvm.fcmp "uno" %x, %x : f32
// CHECK-NEXT:   %7 = llvm.select %6, %y, %5 : i1, f32
// CHECK-NEXT:   %8 = llvm.fcmp "ult" %x, %y : f32
// CHECK-NEXT:   %9 = llvm.select %8, %x, %y : i1, f32
// CHECK-NEXT:   func.return %3, %7, %9 : f32, f32, f32
// CHECK-NEXT: }
func.func @f(%x: f32, %y: f32) -> (f32, f32, f32) {
  %0 = arith.maximumf %x, %y : f32
  %1 = arith.maxnumf %x, %y : f32
  %2 = arith.minimumf %x, %y fastmath<nnan> : f32
  func.return %0, %1, %2 : f32, f32, f32
}

// -----

// The larger of two integers.
// CHECK-LABEL: func.func @f(%a: i32, %b: i32) -> (i32, i32) {
// CHECK-NEXT:   %0 = llvm.call_intrinsic "llvm.smax.i32"(%a, %b) : (i32, i32) -> i32
// CHECK-NEXT:   %1 = llvm.call_intrinsic "llvm.umin.i32"(%a, %b) : (i32, i32) -> i32
// CHECK-NEXT:   func.return %0, %1 : i32, i32
// CHECK-NEXT: }
func.func @f(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.maxsi %a, %b : i32
  %1 = arith.minui %a, %b : i32
  func.return %0, %1 : i32, i32
}

// -----

// Division that rounds up or down.
// CHECK-LABEL: func.func @f(%a: i32, %b: i32) -> (i32, i32, i32) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:   %1 = llvm.mlir.constant(1 : i32) : i32
// CHECK-NEXT:   %2 = llvm.sdiv %a, %b : i32
// CHECK-NEXT:   %3 = llvm.mul %2, %b : i32
// CHECK-NEXT:   %4 = llvm.icmp "ne" %3, %a : i32
// CHECK-NEXT:   %5 = llvm.icmp "slt" %a, %0 : i32
// CHECK-NEXT:   %6 = llvm.icmp "slt" %b, %0 : i32
// CHECK-NEXT:   %7 = llvm.icmp "eq" %5, %6 : i1
// CHECK-NEXT:   %8 = llvm.and %4, %7 : i1
// CHECK-NEXT:   %9 = llvm.add %2, %1 : i32
// CHECK-NEXT:   %10 = llvm.select %8, %9, %2 : i1, i32
// CHECK-NEXT:   %11 = llvm.sdiv %a, %b : i32
// CHECK-NEXT:   %12 = llvm.mul %11, %b : i32
// CHECK-NEXT:   %13 = llvm.icmp "ne" %12, %a : i32
// CHECK-NEXT:   %14 = llvm.icmp "slt" %a, %0 : i32
// CHECK-NEXT:   %15 = llvm.icmp "slt" %b, %0 : i32
// CHECK-NEXT:   %16 = llvm.icmp "ne" %14, %15 : i1
// CHECK-NEXT:   %17 = llvm.and %13, %16 : i1
// CHECK-NEXT:   %18 = llvm.sub %11, %1 : i32
// CHECK-NEXT:   %19 = llvm.select %17, %18, %11 : i1, i32
// CHECK-NEXT:   %20 = llvm.sub %a, %1 : i32
// CHECK-NEXT:   %21 = llvm.udiv %20, %b : i32
// CHECK-NEXT:   %22 = llvm.add %21, %1 : i32
// CHECK-NEXT:   %23 = llvm.icmp "eq" %a, %0 : i32
// CHECK-NEXT:   %24 = llvm.select %23, %0, %22 : i1, i32
// CHECK-NEXT:   func.return %10, %19, %24 : i32, i32, i32
// CHECK-NEXT: }
func.func @f(%a: i32, %b: i32) -> (i32, i32, i32) {
  %0 = arith.ceildivsi %a, %b : i32
  %1 = arith.floordivsi %a, %b : i32
  %2 = arith.ceildivui %a, %b : i32
  func.return %0, %1, %2 : i32, i32, i32
}

// -----

// Sums with a carry, and products of twice the width.
// CHECK-LABEL: func.func @f(%a: i32, %b: i32) -> (i32, i1, i32, i32) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(32 : i32) : i32
// CHECK-NEXT:   %1 = llvm.add %a, %b : i32
// CHECK-NEXT:   %2 = llvm.icmp "ult" %1, %a : i32
// CHECK-NEXT:   %3 = llvm.sext %a : i32 to i64
// CHECK-NEXT:   %4 = llvm.sext %b : i32 to i64
// CHECK-NEXT:   %5 = llvm.mul %3, %4 : i64
// CHECK-NEXT:   %6 = llvm.zext %0 : i32 to i64
// CHECK-NEXT:   %7 = llvm.lshr %5, %6 : i64
// CHECK-NEXT:   %8 = llvm.trunc %5 : i64 to i32
// CHECK-NEXT:   %9 = llvm.trunc %7 : i64 to i32
// CHECK-NEXT:   func.return %1, %2, %8, %9 : i32, i1, i32, i32
// CHECK-NEXT: }
func.func @f(%a: i32, %b: i32) -> (i32, i1, i32, i32) {
  %0, %1 = arith.addui_extended %a, %b : i32, i1
  %2, %3 = arith.mulsi_extended %a, %b : i32
  func.return %0, %1, %2, %3 : i32, i1, i32, i32
}

// -----

// Nothing here is of a dialect that the pass lowers.
// CHECK-LABEL: func.func @f(%x: f32, %m: memref<4xf32>, %i: index) {
// CHECK-NEXT:   %0 = math.exp %x : f32
// CHECK-NEXT:   memref.store %0, %m[%i] : memref<4xf32>
// CHECK-NEXT:   func.return
// CHECK-NEXT: }
func.func @f(%x: f32, %m: memref<4xf32>, %i: index) {
  %0 = math.exp %x : f32
  memref.store %0, %m[%i] : memref<4xf32>
  func.return
}

// -----

// 0.0 and -0.0 are different constants, also with a release of xDSL that takes their attributes for
// equal.
// CHECK-LABEL: func.func @zeros
// CHECK-NEXT:    %0 = llvm.mlir.constant(0.0
// CHECK-NEXT:    %1 = llvm.mlir.constant(-0.0
// CHECK-NEXT:    func.return %0, %1
func.func @zeros() -> (f32, f32) {
  %0 = arith.constant 0.0 : f32
  %1 = arith.constant -0.0 : f32
  func.return %0, %1 : f32, f32
}
