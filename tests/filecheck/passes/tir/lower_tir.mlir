// RUN: passline-opt %s -p lower-tir --split-input-file | filecheck %s

// Loops are serial, from min to min + extent, which is folded if possible.
// CHECK-LABEL: func.func @loops(%a: memref<8xf32> {llvm.noalias}, %n: index)
tir.prim_func @loops(%a: memref<8xf32>, %n: index) {
  // CHECK-NEXT: [[ONE:%.*]] = arith.constant 1 : index
  // CHECK-NEXT: %c0 = arith.constant 0
  // CHECK-NEXT: %c2 = arith.constant 2
  // CHECK-NEXT: %c6 = arith.constant 6
  // CHECK-NEXT: %f = arith.constant
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %f = arith.constant 1.0 : f32
  // CHECK-NEXT: scf.for %i = %c0 to %c6 step [[ONE]] {
  // CHECK-NEXT:   memref.store %f, %a[%i]
  // CHECK-NEXT: }
  tir.for %i = %c0 extent %c6 {
    memref.store %f, %a[%i] : memref<8xf32>
  }
  // CHECK-NEXT: [[END:%.*]] = arith.constant 8 : index
  // CHECK-NEXT: scf.for %i_1 = %c2 to [[END]] step [[ONE]] {
  tir.for unrolled %i = %c2 extent %c6 attributes {pragma_unroll_explicit} {
    memref.store %f, %a[%i] : memref<8xf32>
  }
  // CHECK: [[SUM:%.*]] = arith.addi %c2, %n : index
  // CHECK-NEXT: scf.for %i_2 = %c2 to [[SUM]] step [[ONE]] {
  tir.for vectorized %i = %c2 extent %n {
    memref.store %f, %a[%i] : memref<8xf32>
  }
  // CHECK: func.return
}

// A parallel loop nested in a parallel loop.
// CHECK-LABEL: func.func private @parallel
tir.prim_func private @parallel(%a: memref<4x4xf32>) {
  // CHECK: "scf.parallel"(%c0, %c4, %{{.*}}) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  // CHECK-NEXT: ^bb0(%i: index):
  // CHECK-NEXT: "scf.parallel"(%c0, %c4, %{{.*}})
  // CHECK-NEXT: ^bb0(%j: index):
  // CHECK-NEXT: memref.store %f, %a[%i, %j]
  // CHECK-NEXT: scf.reduce
  // CHECK-NEXT: })
  // CHECK-NEXT: scf.reduce
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.0 : f32
  tir.for parallel %i = %c0 extent %c4 {
    tir.for parallel %j = %c0 extent %c4 {
      memref.store %f, %a[%i, %j] : memref<4x4xf32>
    }
  }
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// Buffers on the heap are freed at the end of their block; those that are not global are on the stack,
// allocated at the start of the function or of the parallel loop. Scopes are removed.
// CHECK-LABEL: @buffers(%a: memref<4xf32> {llvm.noalias}, %n: index)
tir.prim_func @buffers(%a: memref<4xf32, "global">, %n: index) {
  // CHECK-NEXT: arith.constant 1 : index
  // CHECK-NEXT: %acc = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
  // CHECK-NEXT: %c0 = arith.constant
  // CHECK-NEXT: %c4 = arith.constant
  // CHECK-NEXT: %f = arith.constant
  // CHECK-NEXT: %heap = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.0 : f32
  %heap = memref.alloc() : memref<4xf32, "global">
  // CHECK-NEXT: scf.for
  tir.for %i = %c0 extent %c4 {
    %acc = memref.alloc() : memref<4xf32, "local">
    // CHECK-NEXT: %own = memref.alloc() {alignment = 16 : i64} : memref<4xf32>
    %own = memref.alloc() {alignment = 16 : i64} : memref<4xf32>
    // CHECK-NEXT: %sized = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf32>
    %sized = memref.alloc(%n) : memref<?xf32, "local">
    // CHECK-NEXT: memref.store %f, %own
    // CHECK-NEXT: memref.store %f, %acc[%i] : memref<4xf32>
    // CHECK-NEXT: memref.load %acc
    memref.store %f, %own[%i] : memref<4xf32>
    memref.store %f, %acc[%i] : memref<4xf32, "local">
    %v = memref.load %acc[%i] : memref<4xf32, "local">
    // CHECK-NEXT: memref.store %v, %heap[%i] : memref<4xf32>
    memref.store %v, %heap[%i] : memref<4xf32, "global">
    // CHECK-NEXT: memref.dealloc %own
    // CHECK-NEXT: memref.dealloc %sized
  }
  // CHECK: "scf.parallel"
  // CHECK-NEXT: ^bb0(%i_1: index):
  tir.for parallel %i = %c0 extent %c4 {
    // CHECK-NEXT: %t = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
    // CHECK-NEXT: scf.for
    tir.for %j = %c0 extent %c4 {
      %t = memref.alloca() : memref<4xf32>
      memref.store %f, %t[%j] : memref<4xf32>
      %v = memref.load %t[%j] : memref<4xf32>
      memref.store %v, %a[%i] : memref<4xf32, "global">
    }
  }
  // CHECK: memref.dealloc %heap
  // CHECK-NEXT: func.return
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// Buffers that exceed the stack are on the heap.
// CHECK-LABEL: @large
tir.prim_func @large() {
  // CHECK-NEXT: memref.alloca() {{.*}} : memref<100000xi8>
  // CHECK-NEXT: memref.alloc() {{.*}} : memref<50000xf32>
  // CHECK-NEXT: memref.dealloc
  %a = memref.alloc() : memref<100000xi8, "local">
  %b = memref.alloc() : memref<50000xf32, "local">
}

// -----

// Calls, declarations, likely, assumptions, results, globals, and buffers that may overlap.
// CHECK: func.func private @outside(memref<4xf32>) -> ()
tir.prim_func @outside(memref<4xf32, "local">)
// CHECK: "memref.global"() <{sym_name = "k", {{.*}}type = memref<4xf32>
"memref.global"() <{sym_name = "k", sym_visibility = "private", constant, type = memref<4xf32, "global">, initial_value = dense<1.0> : tensor<4xf32>}> : () -> ()
// CHECK: func.func @main(%a: memref<4xf32>, %c: i1, %b: memref<4xf32>) attributes {tir.alias, tir.outputs = 1 : i64}
tir.prim_func @main(%a: memref<4xf32, "local">, %c: i1, %b: memref<4xf32>) attributes {tir.alias, tir.outputs = 1 : i64} {
  // CHECK-NEXT: %k = memref.get_global @k : memref<4xf32>
  %k = memref.get_global @k : memref<4xf32, "global">
  // CHECK-NEXT: "memref.copy"(%k, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  %s = "memref.memory_space_cast"(%k) : (memref<4xf32, "global">) -> memref<4xf32>
  "memref.copy"(%s, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: func.call @outside(%a) : (memref<4xf32>) -> ()
  %l = tir.likely %c
  tir.assume %l
  scf.if %l {
    tir.call @outside(%a) : memref<4xf32, "local">
  }
}

// Functions that are lowered already stay as they are.
// UNCHANGED: @lowered
func.func @lowered(%a: memref<4xf32>) {
  %0 = memref.alloc() : memref<4xf32>
  func.return
}

// -----

// Attributes of parameters stay.
// CHECK: func.func @attributes(%a: memref<4xf32> {onnx.name = "in/0", llvm.noalias}, %n: index {onnx.name = "n"})
tir.prim_func @attributes(%a: memref<4xf32> {onnx.name = "in/0"}, %n: index {onnx.name = "n"}) {
}
// CHECK: func.func @overlapping(%a: memref<4xf32> {onnx.name = "in/0"}, %n: index)
tir.prim_func @overlapping(%a: memref<4xf32> {onnx.name = "in/0"}, %n: index) attributes {tir.alias} {
}

// -----

// REQUIRES-XDSL: 0.63 (the custom form of `llvm.inttoptr`)
// A prefetch becomes the intrinsic of LLVM, on the address of the element.
// CHECK-LABEL: func.func @prefetch
tir.prim_func @prefetch(%a: memref<4x8xf32>, %i: index, %j: index) {
  // CHECK-NEXT: %[[start:.*]] = "memref.extract_aligned_pointer_as_index"(%a)
  // CHECK-NEXT: %[[c4:.*]] = arith.constant 4 : index
  // CHECK-NEXT: %[[column:.*]] = arith.muli %j, %[[c4]] : index
  // CHECK-NEXT: %[[at:.*]] = arith.addi %[[start]], %[[column]] : index
  // CHECK-NEXT: %[[c32:.*]] = arith.constant 32 : index
  // CHECK-NEXT: %[[row:.*]] = arith.muli %i, %[[c32]] : index
  // CHECK-NEXT: %[[address:.*]] = arith.addi %[[at]], %[[row]] : index
  // CHECK-NEXT: %[[number:.*]] = arith.index_cast %[[address]] : index to i64
  // CHECK-NEXT: %[[pointer:.*]] = llvm.inttoptr %[[number]] : i64 to !llvm.ptr
  // CHECK: llvm.call_intrinsic "llvm.prefetch.p0"(%[[pointer]],
  tir.prefetch %a[%i, %j] : memref<4x8xf32>
  // CHECK-NEXT: func.return
}

// -----

// Of a buffer whose strides are not known, nothing is prefetched.
// CHECK-LABEL: func.func @unknown_strides
tir.prim_func @unknown_strides(%a: memref<?x?xf32>, %i: index) {
  // CHECK-NEXT: func.return
  tir.prefetch %a[%i, %i] : memref<?x?xf32>
}
