// REQUIRES-XDSL: 0.66 (operations of the dialect llvm, and custom forms of them)
// RUN: passline-opt %s -p lower-math --split-input-file | filecheck %s

// Functions that LLVM has, with their flags.
// CHECK-LABEL: func.func @intrinsics(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(1.000000e+00 : f32) : f32
// CHECK-NEXT:   [[V1:%\w+]] = llvm.call_intrinsic "llvm.exp.f32"(%x) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
// CHECK-NEXT:   [[V2:%\w+]] = llvm.call_intrinsic "llvm.sqrt.v4f64"(%v) : (vector<4xf64>) -> vector<4xf64>
// CHECK-NEXT:   [[V3:%\w+]] = llvm.call_intrinsic "llvm.fma.f32"(%x, %x, [[V1]]) : (f32, f32, f32) -> f32
// CHECK-NEXT:   [[V4:%\w+]] = llvm.call_intrinsic "llvm.rint.f32"([[V3]]) : (f32) -> f32
// CHECK-NEXT:   [[V5:%\w+]] = llvm.call_intrinsic "llvm.sqrt.f32"([[V4]]) : (f32) -> f32
// CHECK-NEXT:   [[V6:%\w+]] = llvm.fdiv [[V0]], [[V5]] : f32
// CHECK-NEXT:   func.return [[V2]], [[V6]] : vector<4xf64>, f32
func.func @intrinsics(%x: f32, %v: vector<4xf64>) -> (vector<4xf64>, f32) {
  %0 = math.exp %x fastmath<afn> : f32
  %1 = math.sqrt %v : vector<4xf64>
  %2 = math.fma %x, %x, %0 : f32
  %3 = math.roundeven %2 : f32
  %4 = math.rsqrt %3 : f32
  func.return %1, %4 : vector<4xf64>, f32
}

// -----

// Functions of the C library, which are called lane by lane.
// CHECK-LABEL: func.func @c_library(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   [[V1:%\w+]] = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   [[V2:%\w+]] = llvm.call @erff(%x) : (f32) -> f32
// CHECK-NEXT:   [[V3:%\w+]] = llvm.mlir.poison : vector<2xf64>
// CHECK-NEXT:   [[V4:%\w+]] = llvm.extractelement %v[[[V0]] : i64] : vector<2xf64> -> f64
// CHECK-NEXT:   [[V5:%\w+]] = llvm.extractelement %v[[[V0]] : i64] : vector<2xf64> -> f64
// CHECK-NEXT:   [[V6:%\w+]] = llvm.call @atan2([[V4]], [[V5]]) : (f64, f64) -> f64
// CHECK-NEXT:   [[V7:%\w+]] = llvm.insertelement [[V6]], [[V3]][[[V0]] : i64] : vector<2xf64>
// CHECK-NEXT:   [[V8:%\w+]] = llvm.extractelement %v[[[V1]] : i64] : vector<2xf64> -> f64
// CHECK-NEXT:   [[V9:%\w+]] = llvm.extractelement %v[[[V1]] : i64] : vector<2xf64> -> f64
// CHECK-NEXT:   [[V10:%\w+]] = llvm.call @atan2([[V8]], [[V9]]) : (f64, f64) -> f64
// CHECK-NEXT:   [[V11:%\w+]] = llvm.insertelement [[V10]], [[V7]][[[V1]] : i64] : vector<2xf64>
// CHECK-NEXT:   func.return [[V2]], [[V11]] : f32, vector<2xf64>
// CHECK-LABEL: llvm.func @erff(f32) -> f32
// CHECK-LABEL: llvm.func @atan2(f64, f64) -> f64
func.func @c_library(%x: f32, %v: vector<2xf64>) -> (f32, vector<2xf64>) {
  %0 = math.erf %x : f32
  %1 = math.atan2 %v, %v : vector<2xf64>
  func.return %0, %1 : f32, vector<2xf64>
}

// -----

// Functions on integers.
// CHECK-LABEL: func.func @integers(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(false) : i1
// CHECK-NEXT:   [[V1:%\w+]] = llvm.call_intrinsic "llvm.abs.i32"(%a, [[V0]]) : (i32, i1) -> i32
// CHECK-NEXT:   [[V2:%\w+]] = llvm.call_intrinsic "llvm.ctlz.i32"(%a, [[V0]]) : (i32, i1) -> i32
// CHECK-NEXT:   [[V3:%\w+]] = llvm.call_intrinsic "llvm.cttz.i32"(%a, [[V0]]) : (i32, i1) -> i32
// CHECK-NEXT:   [[V4:%\w+]] = llvm.call_intrinsic "llvm.ctpop.i32"(%a) : (i32) -> i32
// CHECK-NEXT:   func.return [[V1]], [[V2]], [[V3]], [[V4]] : i32, i32, i32, i32
func.func @integers(%a: i32) -> (i32, i32, i32, i32) {
  %0 = math.absi %a : i32
  %1 = math.ctlz %a : i32
  %2 = math.cttz %a : i32
  %3 = math.ctpop %a : i32
  func.return %0, %1, %2, %3 : i32, i32, i32, i32
}

// A power of integers: its bits select powers of two of the base.
// CHECK-LABEL: func.func @powers(
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(0 : i2) : i2
// CHECK-NEXT:   [[V1:%\w+]] = llvm.mlir.constant(1 : i2) : i2
// CHECK-NEXT:   [[V2:%\w+]] = llvm.and %n, [[V1]] : i2
// CHECK-NEXT:   [[V3:%\w+]] = llvm.icmp "eq" [[V2]], [[V0]] : i2
// CHECK-NEXT:   [[V4:%\w+]] = llvm.mul [[V1]], %a : i2
// CHECK-NEXT:   [[V5:%\w+]] = llvm.select [[V3]], [[V1]], [[V4]] : i1, i2
// CHECK-NEXT:   [[V6:%\w+]] = llvm.mul %a, %a : i2
// CHECK-NEXT:   [[V7:%\w+]] = llvm.mlir.constant(-2 : i2) : i2
// CHECK-NEXT:   [[V8:%\w+]] = llvm.and %n, [[V7]] : i2
// CHECK-NEXT:   [[V9:%\w+]] = llvm.icmp "eq" [[V8]], [[V0]] : i2
// CHECK-NEXT:   [[V10:%\w+]] = llvm.mul [[V5]], [[V6]] : i2
// CHECK-NEXT:   [[V11:%\w+]] = llvm.select [[V9]], [[V5]], [[V10]] : i1, i2
// CHECK-NEXT:   [[V12:%\w+]] = llvm.mul [[V6]], [[V6]] : i2
// CHECK-NEXT:   [[V13:%\w+]] = llvm.and %n, [[V1]] : i2
// CHECK-NEXT:   [[V14:%\w+]] = llvm.icmp "ne" [[V13]], [[V0]] : i2
// CHECK-NEXT:   [[V15:%\w+]] = llvm.mlir.constant(-1 : i2) : i2
// CHECK-NEXT:   [[V16:%\w+]] = llvm.icmp "eq" %a, [[V15]] : i2
// CHECK-NEXT:   [[V17:%\w+]] = llvm.select [[V14]], [[V15]], [[V1]] : i1, i2
// CHECK-NEXT:   [[V18:%\w+]] = llvm.select [[V16]], [[V17]], [[V0]] : i1, i2
// CHECK-NEXT:   [[V19:%\w+]] = llvm.icmp "eq" %a, [[V1]] : i2
// CHECK-NEXT:   [[V20:%\w+]] = llvm.select [[V19]], [[V1]], [[V18]] : i1, i2
// CHECK-NEXT:   [[V21:%\w+]] = llvm.icmp "slt" %n, [[V0]] : i2
// CHECK-NEXT:   [[V22:%\w+]] = llvm.select [[V21]], [[V20]], [[V11]] : i1, i2
// CHECK-NEXT:   func.return [[V22]] : i2
func.func @powers(%a: i2, %n: i2) -> i2 {
  %0 = math.ipowi %a, %n : i2
  func.return %0 : i2
}

// Arithmetic of other dialects stays.
// UNCHANGED: @other_dialects
func.func @other_dialects(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  func.return %0 : f32
}
