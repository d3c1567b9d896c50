// RUN: passline-opt %s -p canonicalize | filecheck %s

// Constants are moved to the start of the function, each once.
// CHECK-LABEL: @constants(
// CHECK-NEXT:    [[V0:%\w+]] = llvm.mlir.addressof @g : !llvm.ptr
// CHECK-NEXT:    llvm.cond_br %c, ^bb1, ^bb2
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    llvm.return [[V0]] : !llvm.ptr
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    llvm.return [[V0]] : !llvm.ptr
llvm.func @constants(%c: i1) -> !llvm.ptr {
  llvm.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = llvm.mlir.addressof @g : !llvm.ptr
  llvm.return %0 : !llvm.ptr
^bb2:
  %1 = llvm.mlir.addressof @g : !llvm.ptr
  llvm.return %1 : !llvm.ptr
}
llvm.mlir.global external @g() : i32

// Values of structures that were put together.
// CHECK-LABEL: @parts(
// CHECK-NEXT:    [[V0:%\w+]] = llvm.extractvalue %s[1] : !llvm.struct<(i32, i32)>
// CHECK-NEXT:    [[V1:%\w+]] = llvm.add %a, %b : i32
// CHECK-NEXT:    [[V2:%\w+]] = llvm.add [[V1]], [[V0]] : i32
// CHECK-NEXT:    llvm.return [[V2]] : i32
llvm.func @parts(%a: i32, %b: i32, %s: !llvm.struct<(i32, i32)>) -> i32 {
  %0 = llvm.mlir.undef : !llvm.struct<(struct<(i32, i32)>, i32)>
  %1 = llvm.insertvalue %a, %s[0] : !llvm.struct<(i32, i32)>
  %2 = llvm.insertvalue %1, %0[0] : !llvm.struct<(struct<(i32, i32)>, i32)>
  %3 = llvm.insertvalue %b, %2[1] : !llvm.struct<(struct<(i32, i32)>, i32)>
  %4 = llvm.extractvalue %3[0, 0] : !llvm.struct<(struct<(i32, i32)>, i32)>
  %5 = llvm.extractvalue %3[1] : !llvm.struct<(struct<(i32, i32)>, i32)>
  %6 = llvm.extractvalue %1[1] : !llvm.struct<(i32, i32)>
  %7 = llvm.add %4, %5 : i32
  %8 = llvm.add %7, %6 : i32
  llvm.return %8 : i32
}

// A part of a part, of a constant and of an undefined value.
// CHECK-LABEL: @more_parts(
// CHECK-NEXT:    [[V0:%\w+]] = llvm.mlir.undef : f64
// CHECK-NEXT:    [[V1:%\w+]] = llvm.mlir.constant(5.000000e-01 : f64) : f64
// CHECK-NEXT:    [[V2:%\w+]] = llvm.extractvalue %t[1, 0] : !llvm.struct<(i64, !llvm.array<1 x f64>)>
// CHECK-NEXT:    [[V3:%\w+]] = llvm.fadd [[V2]], [[V1]] : f64
// CHECK-NEXT:    [[V4:%\w+]] = llvm.fadd [[V3]], [[V0]] : f64
// CHECK-NEXT:    llvm.return [[V4]] : f64
llvm.func @more_parts(%t: !llvm.struct<(i64, array<1 x f64>)>) -> f64 {
  %0 = llvm.extractvalue %t[1] : !llvm.struct<(i64, array<1 x f64>)>
  %1 = llvm.extractvalue %0[0] : !llvm.array<1 x f64>
  %2 = llvm.mlir.constant(dense<[-2.0, 0.5]> : tensor<2xf64>) : !llvm.array<2 x f64>
  %3 = llvm.extractvalue %2[1] : !llvm.array<2 x f64>
  %4 = llvm.mlir.undef : !llvm.array<2 x f64>
  %5 = llvm.extractvalue %4[1] : !llvm.array<2 x f64>
  %6 = llvm.fadd %1, %3 : f64
  %7 = llvm.fadd %6, %5 : f64
  llvm.return %7 : f64
}

// A whole was inserted of which a part had been inserted before.
// UNCHANGED: @hidden
llvm.func @hidden(%h: !llvm.array<2 x array<2 x f32>>, %k: !llvm.array<2 x f32>, %f: f32) -> !llvm.array<2 x f32> {
  %0 = llvm.insertvalue %f, %h[0, 0] : !llvm.array<2 x array<2 x f32>>
  %1 = llvm.extractvalue %0[0] : !llvm.array<2 x array<2 x f32>>
  llvm.return %1 : !llvm.array<2 x f32>
}

// Numbers.
// CHECK-LABEL: @numbers(
// CHECK-NEXT:    [[V0:%\w+]] = llvm.mlir.constant(2043) : i64
// CHECK-NEXT:    llvm.return [[V0]] : i64
llvm.func @numbers(%y: i32) -> i64 {
  %0 = llvm.mlir.constant(-1 : i8) : i8
  %1 = llvm.zext %0 : i8 to i64
  %2 = llvm.mlir.constant(3 : i64) : i64
  %3 = llvm.shl %1, %2 : i64
  %4 = llvm.or %3, %2 : i64
  llvm.return %4 : i64
}

// A shift by all bits.
// UNCHANGED: @shift
llvm.func @shift() -> i8 {
  %0 = llvm.mlir.constant(1 : i8) : i8
  %1 = llvm.mlir.constant(8 : i8) : i8
  %2 = llvm.shl %0, %1 : i8
  llvm.return %2 : i8
}

// Casts, a comparison with itself, and constant indices.
// CHECK-LABEL: @casts(
// CHECK-NEXT:    [[V0:%\w+]] = llvm.mlir.constant(true) : i1
// CHECK-NEXT:    [[V1:%\w+]] = llvm.bitcast %x : i32 to vector<2xi16>
// CHECK-NEXT:    [[V2:%\w+]] = llvm.getelementptr %q[2] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:    "test.op"(%x, [[V1]], %q, [[V2]]) : (i32, vector<2xi16>, !llvm.ptr, !llvm.ptr) -> ()
// CHECK-NEXT:    llvm.return [[V0]] : i1
llvm.func @casts(%x: i32, %q: !llvm.ptr) -> i1 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %0 = llvm.bitcast %x : i32 to f32
  %1 = llvm.bitcast %0 : f32 to i32
  %2 = llvm.bitcast %0 : f32 to vector<2xi16>
  %3 = llvm.icmp "eq" %x, %1 : i32
  %4 = llvm.getelementptr %q[%zero] : (!llvm.ptr, i32) -> !llvm.ptr, i8
  %5 = llvm.getelementptr %q[%two] : (!llvm.ptr, i32) -> !llvm.ptr, i8
  "test.op"(%1, %2, %4, %5) : (i32, vector<2xi16>, !llvm.ptr, !llvm.ptr) -> ()
  llvm.return %3 : i1
}

// Memory that is not used, and an assembly without effects.
// CHECK-LABEL: @dead(
// CHECK-NEXT:    llvm.return
llvm.func @dead(%z: i32, %r: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i32) : i32
  %0 = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  %1 = llvm.load %r : !llvm.ptr -> i8
  llvm.return
}

// An ordered access.
// UNCHANGED: @ordered
llvm.func @ordered(%o: !llvm.ptr) {
  %0 = "llvm.load"(%o) <{ordering = 7 : i64}> : (!llvm.ptr) -> i8
  llvm.return
}
