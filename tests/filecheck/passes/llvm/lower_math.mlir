// REQUIRES-XDSL: 0.66 (operations of the dialect llvm, and custom forms of them)
// RUN: passline-opt %s -p lower-math --split-input-file | filecheck %s

// Functions that LLVM has, with their flags.
// CHECK-LABEL: func.func @f(%x: f32, %v: vector<4xf64>) -> (vector<4xf64>, f32) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(1.000000e+00 : f32) : f32
// CHECK-NEXT:   %1 = llvm.call_intrinsic "llvm.exp.f32"(%x) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
// CHECK-NEXT:   %2 = llvm.call_intrinsic "llvm.sqrt.v4f64"(%v) : (vector<4xf64>) -> vector<4xf64>
// CHECK-NEXT:   %3 = llvm.call_intrinsic "llvm.fma.f32"(%x, %x, %1) : (f32, f32, f32) -> f32
// CHECK-NEXT:   %4 = llvm.call_intrinsic "llvm.rint.f32"(%3) : (f32) -> f32
// CHECK-NEXT:   %5 = llvm.call_intrinsic "llvm.sqrt.f32"(%4) : (f32) -> f32
// CHECK-NEXT:   %6 = llvm.fdiv %0, %5 : f32
// CHECK-NEXT:   func.return %2, %6 : vector<4xf64>, f32
// CHECK-NEXT: }
func.func @f(%x: f32, %v: vector<4xf64>) -> (vector<4xf64>, f32) {
  %0 = math.exp %x fastmath<afn> : f32
  %1 = math.sqrt %v : vector<4xf64>
  %2 = math.fma %x, %x, %0 : f32
  %3 = math.roundeven %2 : f32
  %4 = math.rsqrt %3 : f32
  func.return %1, %4 : vector<4xf64>, f32
}

// -----

// Functions of the C library, which are called lane by lane.
// CHECK-LABEL: func.func @f(%x: f32, %v: vector<2xf64>) -> (f32, vector<2xf64>) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %1 = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   %2 = llvm.call @erff(%x) : (f32) -> f32
// CHECK-NEXT:   %3 = llvm.mlir.poison : vector<2xf64>
// CHECK-NEXT:   %4 = llvm.extractelement %v[%0 : i64] : vector<2xf64> -> f64
// CHECK-NEXT:   %5 = llvm.extractelement %v[%0 : i64] : vector<2xf64> -> f64
// CHECK-NEXT:   %6 = llvm.call @atan2(%4, %5) : (f64, f64) -> f64
// CHECK-NEXT:   %7 = llvm.insertelement %6, %3[%0 : i64] : vector<2xf64>
// CHECK-NEXT:   %8 = llvm.extractelement %v[%1 : i64] : vector<2xf64> -> f64
// CHECK-NEXT:   %9 = llvm.extractelement %v[%1 : i64] : vector<2xf64> -> f64
// CHECK-NEXT:   %10 = llvm.call @atan2(%8, %9) : (f64, f64) -> f64
// CHECK-NEXT:   %11 = llvm.insertelement %10, %7[%1 : i64] : vector<2xf64>
// CHECK-NEXT:   func.return %2, %11 : f32, vector<2xf64>
// CHECK-NEXT: }
// CHECK-LABEL: llvm.func @erff(f32) -> f32
// CHECK-LABEL: llvm.func @atan2(f64, f64) -> f64
func.func @f(%x: f32, %v: vector<2xf64>) -> (f32, vector<2xf64>) {
  %0 = math.erf %x : f32
  %1 = math.atan2 %v, %v : vector<2xf64>
  func.return %0, %1 : f32, vector<2xf64>
}

// -----

// Functions on integers.
// CHECK-LABEL: func.func @f(%a: i32) -> (i32, i32, i32, i32) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(false) : i1
// CHECK-NEXT:   %1 = llvm.call_intrinsic "llvm.abs.i32"(%a, %0) : (i32, i1) -> i32
// CHECK-NEXT:   %2 = llvm.call_intrinsic "llvm.ctlz.i32"(%a, %0) : (i32, i1) -> i32
// CHECK-NEXT:   %3 = llvm.call_intrinsic "llvm.cttz.i32"(%a, %0) : (i32, i1) -> i32
// CHECK-NEXT:   %4 = llvm.call_intrinsic "llvm.ctpop.i32"(%a) : (i32) -> i32
// CHECK-NEXT:   func.return %1, %2, %3, %4 : i32, i32, i32, i32
// CHECK-NEXT: }
func.func @f(%a: i32) -> (i32, i32, i32, i32) {
  %0 = math.absi %a : i32
  %1 = math.ctlz %a : i32
  %2 = math.cttz %a : i32
  %3 = math.ctpop %a : i32
  func.return %0, %1, %2, %3 : i32, i32, i32, i32
}

// -----

// A power of integers: its bits select powers of two of the base.
// CHECK-LABEL: func.func @f(%a: i2, %n: i2) -> i2 {
// CHECK-NEXT:   %0 = llvm.mlir.constant(0 : i2) : i2
// CHECK-NEXT:   %1 = llvm.mlir.constant(1 : i2) : i2
// CHECK-NEXT:   %2 = llvm.and %n, %1 : i2
// CHECK-NEXT:   %3 = llvm.icmp "eq" %2, %0 : i2
// CHECK-NEXT:   %4 = llvm.mul %1, %a : i2
// CHECK-NEXT:   %5 = llvm.select %3, %1, %4 : i1, i2
// CHECK-NEXT:   %6 = llvm.mul %a, %a : i2
// CHECK-NEXT:   %7 = llvm.mlir.constant(-2 : i2) : i2
// CHECK-NEXT:   %8 = llvm.and %n, %7 : i2
// CHECK-NEXT:   %9 = llvm.icmp "eq" %8, %0 : i2
// CHECK-NEXT:   %10 = llvm.mul %5, %6 : i2
// CHECK-NEXT:   %11 = llvm.select %9, %5, %10 : i1, i2
// CHECK-NEXT:   %12 = llvm.mul %6, %6 : i2
// CHECK-NEXT:   %13 = llvm.and %n, %1 : i2
// CHECK-NEXT:   %14 = llvm.icmp "ne" %13, %0 : i2
// CHECK-NEXT:   %15 = llvm.mlir.constant(-1 : i2) : i2
// CHECK-NEXT:   %16 = llvm.icmp "eq" %a, %15 : i2
// CHECK-NEXT:   %17 = llvm.select %14, %15, %1 : i1, i2
// CHECK-NEXT:   %18 = llvm.select %16, %17, %0 : i1, i2
// CHECK-NEXT:   %19 = llvm.icmp "eq" %a, %1 : i2
// CHECK-NEXT:   %20 = llvm.select %19, %1, %18 : i1, i2
// CHECK-NEXT:   %21 = llvm.icmp "slt" %n, %0 : i2
// CHECK-NEXT:   %22 = llvm.select %21, %20, %11 : i1, i2
// CHECK-NEXT:   func.return %22 : i2
// CHECK-NEXT: }
func.func @f(%a: i2, %n: i2) -> i2 {
  %0 = math.ipowi %a, %n : i2
  func.return %0 : i2
}

// -----

// Arithmetic of other dialects stays.
// CHECK-LABEL: func.func @f(%x: f32) -> f32 {
// CHECK-NEXT:   %0 = arith.addf %x, %x : f32
// CHECK-NEXT:   func.return %0 : f32
// CHECK-NEXT: }
func.func @f(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  func.return %0 : f32
}
