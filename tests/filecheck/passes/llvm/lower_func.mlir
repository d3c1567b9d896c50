// REQUIRES-XDSL: 0.66 (operations of the dialect llvm, and custom forms of them)
// RUN: passline-opt %s -p lower-func --split-input-file | filecheck %s

// A buffer is a pointer, and an i64 for each size that is not known; a structure returns several values.
// CHECK-LABEL: llvm.func @main(%x: !llvm.ptr {llvm.noalias}, %x_1: i64, %i: i64) -> !llvm.struct<(!llvm.ptr, i64, i64)> {
// CHECK-NEXT:   [[V0:%\w+]] = llvm.call @g(%x, %x_1, %i) : (!llvm.ptr, i64, i64) -> !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   [[V1:%\w+]] = llvm.extractvalue [[V0]][0] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   [[V2:%\w+]] = llvm.extractvalue [[V0]][1] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   [[V3:%\w+]] = llvm.extractvalue [[V0]][2] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   [[V4:%\w+]] = llvm.mlir.poison : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   [[V5:%\w+]] = llvm.insertvalue [[V1]], [[V4]][0] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   [[V6:%\w+]] = llvm.insertvalue [[V2]], [[V5]][1] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   [[V7:%\w+]] = llvm.insertvalue [[V3]], [[V6]][2] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   llvm.return [[V7]] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-LABEL: llvm.func internal @g(%x_2: !llvm.ptr, %x_3: i64, %i_1: i64) -> !llvm.struct<(!llvm.ptr, i64, i64)> {
// CHECK-NEXT:   [[V8:%\w+]] = llvm.mlir.poison : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   [[V9:%\w+]] = llvm.insertvalue %x_2, [[V8]][0] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   [[V10:%\w+]] = llvm.insertvalue %x_3, [[V9]][1] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   [[V11:%\w+]] = llvm.insertvalue %i_1, [[V10]][2] : !llvm.struct<(!llvm.ptr, i64, i64)>
// CHECK-NEXT:   llvm.return [[V11]] : !llvm.struct<(!llvm.ptr, i64, i64)>
func.func @main(%x: memref<?x8xf32> {llvm.noalias}, %i: index) -> (memref<?x8xf32>, index) {
  %0, %1 = func.call @g(%x, %i) : (memref<?x8xf32>, index) -> (memref<?x8xf32>, index)
  func.return %0, %1 : memref<?x8xf32>, index
}
func.func private @g(%x: memref<?x8xf32>, %i: index) -> (memref<?x8xf32>, index) {
  func.return %x, %i : memref<?x8xf32>, index
}

// -----

// Branches pass values.
// CHECK-LABEL: llvm.func @branches(%c: i1, %x: !llvm.ptr, %x_1: i64, %y: !llvm.ptr, %y_1: i64) -> !llvm.struct<(!llvm.ptr, i64)> {
// CHECK-NEXT:   llvm.cond_br %c, ^bb1(%x, %x_1 : !llvm.ptr, i64), ^bb2
// CHECK-NEXT: ^bb1(%a: !llvm.ptr, %a_1: i64):
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.poison : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   [[V1:%\w+]] = llvm.insertvalue %a, [[V0]][0] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   [[V2:%\w+]] = llvm.insertvalue %a_1, [[V1]][1] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   llvm.return [[V2]] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   llvm.br ^bb1(%y, %y_1 : !llvm.ptr, i64)
// CHECK-NEXT: }
func.func @branches(%c: i1, %x: memref<?xf32>, %y: memref<?xf32>) -> memref<?xf32> {
  cf.cond_br %c, ^bb1(%x : memref<?xf32>), ^bb2
^bb1(%a: memref<?xf32>):
  func.return %a : memref<?xf32>
^bb2:
  cf.br ^bb1(%y : memref<?xf32>)
}

// -----

// An assertion that fails ends the program.
// CHECK-LABEL: llvm.func @assertion(%c: i1) {
// CHECK-NEXT:   llvm.cond_br %c, ^bb1, ^bb2
// CHECK-NEXT: ^bb1:
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   llvm.call @abort() : () -> ()
// CHECK-NEXT:   llvm.unreachable
// CHECK-NEXT: }
// CHECK-LABEL: llvm.func @abort()
func.func @assertion(%c: i1) {
  cf.assert %c, "no"
  func.return
}

// -----

// A declaration.
// CHECK-LABEL: llvm.func @calls_declared(f32) -> f32
// CHECK-LABEL: llvm.func @g(%x: f32) -> f32 {
// CHECK-NEXT:   [[V0:%\w+]] = llvm.call @calls_declared(%x) : (f32) -> f32
// CHECK-NEXT:   llvm.return [[V0]] : f32
func.func private @calls_declared(f32) -> f32
func.func @g(%x: f32) -> f32 {
  %0 = func.call @calls_declared(%x) : (f32) -> f32
  func.return %0 : f32
}

// -----

// A function for callers in C, which pass descriptors.
// CHECK-LABEL: llvm.func @descriptors(%x: !llvm.ptr, %x_1: i64, %n: i32) -> !llvm.struct<(!llvm.ptr, i64)> attributes {llvm.emit_c_interface} {
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.poison : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   [[V1:%\w+]] = llvm.insertvalue %x, [[V0]][0] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   [[V2:%\w+]] = llvm.insertvalue %x_1, [[V1]][1] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   llvm.return [[V2]] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-LABEL: llvm.func @_mlir_ciface_descriptors(
// CHECK-SAME:  [[V3:%\w+]]: !llvm.ptr, [[V4:%\w+]]: !llvm.ptr, [[V5:%\w+]]: i32) {
// CHECK-NEXT:   [[V6:%\w+]] = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   [[V7:%\w+]] = llvm.mlir.constant(4) : i64
// CHECK-NEXT:   [[V8:%\w+]] = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   [[V9:%\w+]] = llvm.getelementptr inbounds [[V4]][1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   [[V10:%\w+]] = llvm.load [[V9]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:   [[V11:%\w+]] = llvm.getelementptr inbounds [[V4]][2] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   [[V12:%\w+]] = llvm.load [[V11]] : !llvm.ptr -> i64
// CHECK-NEXT:   [[V13:%\w+]] = llvm.getelementptr inbounds [[V10]][[[V12]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   [[V14:%\w+]] = llvm.getelementptr inbounds [[V4]][3] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   [[V15:%\w+]] = llvm.load [[V14]] : !llvm.ptr -> i64
// CHECK-NEXT:   [[V16:%\w+]] = llvm.call @descriptors([[V13]], [[V15]], [[V5]]) : (!llvm.ptr, i64, i32) -> !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   [[V17:%\w+]] = llvm.extractvalue [[V16]][0] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   [[V18:%\w+]] = llvm.extractvalue [[V16]][1] : !llvm.struct<(!llvm.ptr, i64)>
// CHECK-NEXT:   llvm.store [[V17]], [[V3]] : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:   [[V19:%\w+]] = llvm.getelementptr inbounds [[V3]][1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store [[V17]], [[V19]] : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:   [[V20:%\w+]] = llvm.getelementptr inbounds [[V3]][2] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store [[V6]], [[V20]] : i64, !llvm.ptr
// CHECK-NEXT:   [[V21:%\w+]] = llvm.getelementptr inbounds [[V3]][3] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store [[V18]], [[V21]] : i64, !llvm.ptr
// CHECK-NEXT:   [[V22:%\w+]] = llvm.getelementptr inbounds [[V3]][4] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store [[V7]], [[V22]] : i64, !llvm.ptr
// CHECK-NEXT:   [[V23:%\w+]] = llvm.getelementptr inbounds [[V3]][5] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store [[V7]], [[V23]] : i64, !llvm.ptr
// CHECK-NEXT:   [[V24:%\w+]] = llvm.getelementptr inbounds [[V3]][6] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:   llvm.store [[V8]], [[V24]] : i64, !llvm.ptr
// CHECK-NEXT:   llvm.return
func.func @descriptors(%x: memref<?x4xf32>, %n: i32) -> memref<?x4xf32> attributes {llvm.emit_c_interface} {
  func.return %x : memref<?x4xf32>
}

// -----

// A call for each of two threads.
// CHECK-LABEL: llvm.func @threads(%i: i64, %n: i64, %x: !llvm.ptr) {
// CHECK-NEXT:   [[V0:%\w+]] = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   [[V1:%\w+]] = llvm.alloca [[V0]] x !llvm.struct<(i64, i64, !llvm.ptr)> : (i64) -> !llvm.ptr
// CHECK-NEXT:   [[V2:%\w+]] = llvm.getelementptr [[V1]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   llvm.store %i, [[V2]] : i64, !llvm.ptr
// CHECK-NEXT:   [[V3:%\w+]] = llvm.getelementptr [[V1]][0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   llvm.store %n, [[V3]] : i64, !llvm.ptr
// CHECK-NEXT:   [[V4:%\w+]] = llvm.getelementptr [[V1]][0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   llvm.store %x, [[V4]] : !llvm.ptr, !llvm.ptr
// CHECK-NEXT:   [[V5:%\w+]] = llvm.mlir.addressof @omp.ident : !llvm.ptr
// CHECK-NEXT:   [[V6:%\w+]] = llvm.call @__kmpc_global_thread_num([[V5]]) : (!llvm.ptr) -> i32
// CHECK-NEXT:   [[V7:%\w+]] = llvm.mlir.constant(2 : i32) : i32
// CHECK-NEXT:   llvm.call @__kmpc_push_num_threads([[V5]], [[V6]], [[V7]]) : (!llvm.ptr, i32, i32) -> ()
// CHECK-NEXT:   [[V8:%\w+]] = llvm.mlir.addressof @g.thread : !llvm.ptr
// CHECK-NEXT:   [[V9:%\w+]] = llvm.mlir.constant(1 : i32) : i32
// CHECK-NEXT:   llvm.call @__kmpc_fork_call([[V5]], [[V9]], [[V8]], [[V1]]) vararg(!llvm.func<void (!llvm.ptr, i32, !llvm.ptr, ...)>) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> ()
// CHECK-NEXT:   llvm.return
// CHECK-LABEL: llvm.func internal @g(%i_1: i64, %n_1: i64, %x_1: !llvm.ptr) {
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }
// CHECK: llvm.mlir.global internal constant @omp.ident(dense<[8589934592, 0, 0]> : vector<3xi64>) {addr_space = 0 : i32, alignment = 8 : i64} : !llvm.array<3 x i64>
// CHECK-LABEL: llvm.func @omp_get_thread_num() -> i32
// CHECK-LABEL: llvm.func @omp_get_num_threads() -> i32
// CHECK-LABEL: llvm.func internal @g.thread(
// CHECK-SAME:  [[V10:%\w+]]: !llvm.ptr, [[V11:%\w+]]: !llvm.ptr, [[V12:%\w+]]: !llvm.ptr) {
// CHECK-NEXT:   [[V13:%\w+]] = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   [[V14:%\w+]] = llvm.getelementptr [[V12]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   [[V15:%\w+]] = llvm.load [[V14]] : !llvm.ptr -> i64
// CHECK-NEXT:   [[V16:%\w+]] = llvm.getelementptr [[V12]][0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   [[V17:%\w+]] = llvm.load [[V16]] : !llvm.ptr -> i64
// CHECK-NEXT:   [[V18:%\w+]] = llvm.getelementptr [[V12]][0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, !llvm.ptr)>
// CHECK-NEXT:   [[V19:%\w+]] = llvm.load [[V18]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:   [[V20:%\w+]] = llvm.call @omp_get_thread_num() : () -> i32
// CHECK-NEXT:   [[V21:%\w+]] = llvm.sext [[V20]] : i32 to i64
// CHECK-NEXT:   [[V22:%\w+]] = llvm.call @omp_get_num_threads() : () -> i32
// CHECK-NEXT:   [[V23:%\w+]] = llvm.sext [[V22]] : i32 to i64
// CHECK-NEXT:   [[V24:%\w+]] = llvm.sub [[V17]], [[V15]] : i64
// CHECK-NEXT:   [[V25:%\w+]] = llvm.add [[V21]], [[V13]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V26:%\w+]] = llvm.mul [[V24]], [[V21]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V27:%\w+]] = llvm.udiv [[V26]], [[V23]] : i64
// CHECK-NEXT:   [[V28:%\w+]] = llvm.add [[V15]], [[V27]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V29:%\w+]] = llvm.mul [[V24]], [[V25]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   [[V30:%\w+]] = llvm.udiv [[V29]], [[V23]] : i64
// CHECK-NEXT:   [[V31:%\w+]] = llvm.add [[V15]], [[V30]] overflow<nsw,nuw> : i64
// CHECK-NEXT:   llvm.call @g([[V28]], [[V31]], [[V19]]) : (i64, i64, !llvm.ptr) -> ()
// CHECK-NEXT:   llvm.return
// CHECK-LABEL: llvm.func @__kmpc_global_thread_num(!llvm.ptr) -> i32
// CHECK-LABEL: llvm.func @__kmpc_push_num_threads(!llvm.ptr, i32, i32)
// CHECK-LABEL: llvm.func @__kmpc_fork_call(!llvm.ptr, i32, !llvm.ptr, ...)
func.func @threads(%i: index, %n: index, %x: memref<4xf32>) {
  func.call @g(%i, %n, %x) {omp.fork = 2 : i64} : (index, index, memref<4xf32>) -> ()
  func.return
}
func.func private @g(%i: index, %n: index, %x: memref<4xf32>) {
  func.return
}

// -----

// Attributes for LLVM.
// CHECK-LABEL: llvm.func @attributes() attributes {tir.alias, passthrough = ["noimplicitfloat"]} {
func.func @attributes() attributes {passthrough = ["noimplicitfloat"], tir.alias} {
  func.return
}
