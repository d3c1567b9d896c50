func.func @integers(%a: i32, %b: i32, %c: i1, %v: vector<4xi32>, %w: vector<4xi32>) {
  %0 = arith.constant 1 : i32
  %1 = arith.constant -7 : i32
  %2 = arith.constant true
  %3 = arith.constant false
  %4 = arith.constant 12 : index
  %5 = arith.constant dense<[1, 2]> : tensor<2xi32>
  %6 = arith.constant dense<3> : tensor<2xi32>
  %7 = arith.addi %a, %b : i32
  %8 = arith.addi %7, %b : i32
  %9 = arith.addi %v, %w : vector<4xi32>
  %10 = arith.addi %a, %b overflow<nsw> : i32
  %11 = arith.muli %a, %b overflow<nsw, nuw> : i32
  %12 = arith.subi %a, %a : i32
  %13 = arith.divsi %a, %b : i32
  %14 = arith.remui %a, %b : i32
  %15 = arith.andi %c, %2 : i1
  %16 = arith.shli %a, %b : i32
  %17 = arith.cmpi eq, %a, %b : i32
  %18 = arith.cmpi slt, %7, %b : i32
  %19 = arith.cmpi ult, %v, %w : vector<4xi32>
  %20 = arith.select %c, %a, %b : i32
  %21 = arith.select %17, %a, %7 : i32
  %22 = arith.extsi %a : i32 to i64
  %23 = arith.extsi %b : i32 to i64
  %24 = arith.extui %c : i1 to i8
  %25 = arith.trunci %22 : i64 to i16
  %26 = arith.index_cast %4 : index to i64
  %27 = arith.bitcast %a : i32 to f32
  %28 = arith.sitofp %a : i32 to f64
  %29 = arith.fptosi %28 : f64 to i32
  %30, %31 = arith.addui_extended %a, %b : i32, i1
  %32 = arith.maxsi %a, %b {test.x = 1 : i32} : i32
  func.return
}
func.func @floats(%a: f32, %b: f32, %v: vector<4xf32>) {
  %0 = arith.constant 1.0 : f32
  %1 = arith.constant -0.1 : f32
  %2 = arith.constant 1.0e30 : f64
  %3 = arith.constant 0x7F800000 : f32
  %4 = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  %5 = arith.addf %a, %b : f32
  %6 = arith.addf %5, %b : f32
  %7 = arith.addf %v, %v : vector<4xf32>
  %8 = arith.mulf %a, %b fastmath<fast> : f32
  %9 = arith.subf %a, %b fastmath<nnan,contract> : f32
  %10 = arith.cmpf oeq, %a, %b : f32
  %11 = arith.cmpf ult, %5, %b : f32
  %12 = arith.negf %a : f32
  %13 = arith.extf %a : f32 to f64
  %14 = arith.truncf %13 : f64 to f16
  %15 = arith.maximumf %a, %b : f32
  %16 = math.exp %a : f32
  %17 = math.exp %b : f32
  %18 = math.fma %a, %b, %a : f32
  %19 = math.powf %a, %b : f32
  func.return
}
// -----
func.func @folded(%a: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %2 = arith.addi %a, %0 : i32
  %3 = arith.muli %2, %1 : i32
  %4 = arith.addi %1, %1 : i32
  %5 = arith.addi %3, %4 : i32
  %6 = arith.subi %5, %5 : i32
  func.return %5 : i32
}
// -----
%0 = "test.op"() : () -> i32
%1 = "test.op"() : () -> i64
%2 = "arith.addi"(%0, %1) <{overflowFlags = #arith.overflow<none>}> : (i32, i64) -> i32
%3 = "arith.addi"(%0, %1) <{overflowFlags = #arith.overflow<none>}> : (i32, i64) -> i32
// -----
%0 = "test.op"() : () -> i32
%1 = "arith.addi"(%0) <{overflowFlags = #arith.overflow<none>}> : (i32) -> i32
// -----
%0 = "test.op"() : () -> i32
%1 = "arith.extsi"(%0) : (i32) -> i16
// -----
%0 = "test.op"() : () -> i32
%1 = "arith.trunci"(%0) : (i32) -> i64
// -----
%0 = "test.op"() : () -> i32
%1 = "arith.extui"(%0) : (i32) -> f32
// -----
%0 = "test.op"() : () -> i32
%1 = "arith.bitcast"(%0) : (i32) -> f64
// -----
%0 = "test.op"() : () -> i32
%1 = "arith.index_cast"(%0) : (i32) -> i64
// -----
%0 = "test.op"() : () -> i32
%1, %2 = "arith.addui_extended"(%0, %0) : (i32, i32) -> (i32, i32)
// -----
%0 = "test.op"() : () -> f32
%1 = "arith.cmpi"(%0, %0) <{predicate = 0 : i64}> : (f32, f32) -> i1
// -----
%0 = "arith.constant"() <{value = 1 : i32}> : () -> i64
// -----
%0 = "arith.constant"() : () -> i64
// -----
%0 = "test.op"() : () -> i32
%1 = "arith.addi"(%0, %0) <{overflowFlags = 1 : i32}> : (i32, i32) -> i32
