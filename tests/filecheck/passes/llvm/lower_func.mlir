// REQUIRES-XDSL: 0.66 (operations of the dialect llvm, and custom forms of them)
// RUN: passline-opt %s -p lower-func --split-input-file | filecheck %s

// A buffer is a pointer, and an i64 for each size that is not known; a structure returns several values.
// CHECK-LABEL: llvm.func @main(%x: !llvm.ptr {llvm.noalias}, %x_1: i64, %i: i64) -> !llvm.struct<(!llvm.ptr, i64, i64)> {
// CHECK-NEXT:   %0 = llvm.call @g(%x, %x_1, %i) : (!llvm.ptr, i64, i64) -> !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   %1 = llvm.extractvalue %0[0] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   %2 = llvm.extractvalue %0[1] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   %3 = llvm.extractvalue %0[2] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   %4 = llvm.mlir.poison : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   %5 = llvm.insertvalue %1, %4[0] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   %6 = llvm.insertvalue %2, %5[1] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   %7 = llvm.insertvalue %3, %6[2] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   llvm.return %7 : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT: }
// CHECK-LABEL: llvm.func internal @g(%x_2: !llvm.ptr, %x_3: i64, %i_1: i64) -> !llvm.struct<(!llvm.ptr, i64, i64)> {
// CHECK-NEXT:   %8 = llvm.mlir.poison : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   %9 = llvm.insertvalue %x_2, %8[0] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   %10 = llvm.insertvalue %x_3, %9[1] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   %11 = llvm.insertvalue %i_1, %10[2] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   llvm.return %11 : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT: }
func.func @main(%x: memref<?x8xf32> {llvm.noalias}, %i: index) -> (memref<?x8xf32>, index) {
  %0, %1 = func.call @g(%x, %i) : (memref<?x8xf32>, index) -> (memref<?x8xf32>, index)
  func.return %0, %1 : memref<?x8xf32>, index
}
func.func private @g(%x: memref<?x8xf32>, %i: index) -> (memref<?x8xf32>, index) {
  func.return %x, %i : memref<?x8xf32>, index
}

// -----

// Branches pass values.
// CHECK-LABEL: llvm.func @f(%c: i1, %x: !llvm.ptr, %x_1: i64, %y: !llvm.ptr, %y_1: i64) -> !llvm.struct<(!llvm.ptr, i64)> {
// CHECK-NEXT:   llvm.cond_br %c, ^bb1(%x, %x_1 : !llvm.ptr, i64), ^bb2
// CHECK-NEXT: ^bb1(%a: !llvm.ptr, %a_1: i64):
// CHECK-NEXT:   %0 = llvm.mlir.poison : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   %1 = llvm.insertvalue %a, %0[0] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   %2 = llvm.insertvalue %a_1, %1[1] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   llvm.return %2 : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   llvm.br ^bb1(%y, %y_1 : !llvm.ptr, i64)
// CHECK-NEXT: }
func.func @f(%c: i1, %x: memref<?xf32>, %y: memref<?xf32>) -> memref<?xf32> {
  cf.cond_br %c, ^bb1(%x : memref<?xf32>), ^bb2
^bb1(%a: memref<?xf32>):
  func.return %a : memref<?xf32>
^bb2:
  cf.br ^bb1(%y : memref<?xf32>)
}

// -----

// An assertion that fails ends the program.
// CHECK-LABEL: llvm.func @f(%c: i1) {
// CHECK-NEXT:   llvm.cond_br %c, ^bb1, ^bb2
// CHECK-NEXT: ^bb1:
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   llvm.call @abort() : () -> ()
// CHECK-NEXT:   llvm.unreachable
// CHECK-NEXT: }
// CHECK-LABEL: llvm.func @abort()
func.func @f(%c: i1) {
  cf.assert %c, "no"
  func.return
}

// -----

// A declaration.
// CHECK-LABEL: llvm.func @f(f32) -> f32
// CHECK-LABEL: llvm.func @g(%x: f32) -> f32 {
// CHECK-NEXT:   %0 = llvm.call @f(%x) : (f32) -> f32
// CHECK-NEXT:   llvm.return %0 : f32
// CHECK-NEXT: }
func.func private @f(f32) -> f32
func.func @g(%x: f32) -> f32 {
  %0 = func.call @f(%x) : (f32) -> f32
  func.return %0 : f32
}

// -----

// A function for callers in C, which pass descriptors.
// CHECK-LABEL: llvm.func @f(%x: !llvm.ptr, %x_1: i64, %n: i32) -> !llvm.struct<(!llvm.ptr, i64)> attributes {llvm.emit_c_interface} {
// CHECK-NEXT:   %0 = llvm.mlir.poison : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   %1 = llvm.insertvalue %x, %0[0] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   %2 = llvm.insertvalue %x_1, %1[1] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   llvm.return %2 : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT: }
// CHECK-LABEL: llvm.func @_mlir_ciface_f(%3: !llvm.ptr, %4: !llvm.ptr, %5: i32) {
// CHECK-NEXT:   %6 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %7 = llvm.mlir.constant(4) : i64
// CHECK-NEXT:   %8 = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   %9 = llvm.getelementptr inbounds %4[1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   %10 = llvm.load %9 : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:   %11 = llvm.getelementptr inbounds %4[2] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   %12 = llvm.load %11 : !llvm.ptr -> i64
// CHECK-NEXT:   %13 = llvm.getelementptr inbounds %10[%12] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %14 = llvm.getelementptr inbounds %4[3] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   %15 = llvm.load %14 : !llvm.ptr -> i64
// CHECK-NEXT:   %16 = llvm.call @f(%13, %15, %5) : (!llvm.ptr, i64, i32) -> !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   %17 = llvm.extractvalue %16[0] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   %18 = llvm.extractvalue %16[1] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   llvm.store %17, %3 : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:   %19 = llvm.getelementptr inbounds %3[1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store %17, %19 : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:   %20 = llvm.getelementptr inbounds %3[2] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store %6, %20 : i64, !llvm.ptr
// CHECK-NEXT:   %21 = llvm.getelementptr inbounds %3[3] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store %18, %21 : i64, !llvm.ptr
// CHECK-NEXT:   %22 = llvm.getelementptr inbounds %3[4] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store %7, %22 : i64, !llvm.ptr
// CHECK-NEXT:   %23 = llvm.getelementptr inbounds %3[5] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store %7, %23 : i64, !llvm.ptr
// CHECK-NEXT:   %24 = llvm.getelementptr inbounds %3[6] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store %8, %24 : i64, !llvm.ptr
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }
func.func @f(%x: memref<?x4xf32>, %n: i32) -> memref<?x4xf32> attributes {llvm.emit_c_interface} {
  func.return %x : memref<?x4xf32>
}

// -----

// A call for each of two threads.
// CHECK-LABEL: llvm.func @f(%i: i64, %n: i64, %x: !llvm.ptr) {
// CHECK-NEXT:   %0 = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   %1 = llvm.alloca %0 x !llvm.struct<(i64, i64, !llvm.ptr)> : (i64) -> !llvm.ptr
// CHECK-NEXT:   %2 = llvm.getelementptr %1[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   llvm.store %i, %2 : i64, !llvm.ptr
// CHECK-NEXT:   %3 = llvm.getelementptr %1[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   llvm.store %n, %3 : i64, !llvm.ptr
// CHECK-NEXT:   %4 = llvm.getelementptr %1[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   llvm.store %x, %4 : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:   %5 = llvm.mlir.addressof @omp.ident : !llvm.ptr
// CHECK-NEXT:   %6 = llvm.call @__kmpc_global_thread_num(%5) : (!llvm.ptr) -> i32
// CHECK-NEXT:   %7 = llvm.mlir.constant(2 : i32) : i32
// CHECK-NEXT:   llvm.call @__kmpc_push_num_threads(%5, %6, %7) : (!llvm.ptr, i32, i32) -> ()
// CHECK-NEXT:   %8 = llvm.mlir.addressof @g.thread : !llvm.ptr
// CHECK-NEXT:   %9 = llvm.mlir.constant(1 : i32) : i32
// CHECK-NEXT:   llvm.call @__kmpc_fork_call(%5, %9, %8, %1) vararg(!llvm.func<void (!llvm.ptr, i32, !llvm.ptr, ...)>) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> ()
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }
// CHECK-LABEL: llvm.func internal @g(%i_1: i64, %n_1: i64, %x_1: !llvm.ptr) {
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }
// CHECK: llvm.mlir.global internal constant @omp.ident(dense<[8589934592, 0, 0]> : vector<3xi64>) {addr_space = 0 : i32, alignment = 8 : i64} : !llvm.array<3 x i64>
// CHECK-LABEL: llvm.func @omp_get_thread_num() -> i32
// CHECK-LABEL: llvm.func @omp_get_num_threads() -> i32
// CHECK-LABEL: llvm.func internal @g.thread(%10: !llvm.ptr, %11: !llvm.ptr, %12: !llvm.ptr) {
// CHECK-NEXT:   %13 = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   %14 = llvm.getelementptr %12[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   %15 = llvm.load %14 : !llvm.ptr -> i64
// CHECK-NEXT:   %16 = llvm.getelementptr %12[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   %17 = llvm.load %16 : !llvm.ptr -> i64
// CHECK-NEXT:   %18 = llvm.getelementptr %12[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   %19 = llvm.load %18 : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:   %20 = llvm.call @omp_get_thread_num() : () -> i32
// CHECK-NEXT:   %21 = llvm.sext %20 : i32 to i64
// CHECK-NEXT:   %22 = llvm.call @omp_get_num_threads() : () -> i32
// CHECK-NEXT:   %23 = llvm.sext %22 : i32 to i64
// CHECK-NEXT:   %24 = llvm.sub %17, %15 : i64
// CHECK-NEXT:   %25 = llvm.add %21, %13 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %26 = llvm.mul %24, %21 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %27 = llvm.udiv %26, %23 : i64
// CHECK-NEXT:   %28 = llvm.add %15, %27 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %29 = llvm.mul %24, %25 overflow<nsw,nuw> : i64
// CHECK-NEXT:   %30 = llvm.udiv %29, %23 : i64
// CHECK-NEXT:   %31 = llvm.add %15, %30 overflow<nsw,nuw> : i64
// CHECK-NEXT:   llvm.call @g(%28, %31, %19) : (i64, i64, !llvm.ptr) -> ()
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }
// CHECK-LABEL: llvm.func @__kmpc_global_thread_num(!llvm.ptr) -> i32
// CHECK-LABEL: llvm.func @__kmpc_push_num_threads(!llvm.ptr, i32, i32)
// CHECK-LABEL: llvm.func @__kmpc_fork_call(!llvm.ptr, i32, !llvm.ptr, ...)
func.func @f(%i: index, %n: index, %x: memref<4xf32>) {
  func.call @g(%i, %n, %x) {omp.fork = 2 : i64} : (index, index, memref<4xf32>) -> ()
  func.return
}
func.func private @g(%i: index, %n: index, %x: memref<4xf32>) {
  func.return
}

// -----

// Attributes for LLVM.
// CHECK-LABEL: llvm.func @f() attributes {tir.alias, passthrough = ["noimplicitfloat"]} {
func.func @f() attributes {passthrough = ["noimplicitfloat"], tir.alias} {
  func.return
}
