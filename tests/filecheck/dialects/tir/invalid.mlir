// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: a tir.prim_func returns no results: it writes them into buffers
tir.prim_func @result(%A: memref<4xf32>) -> f32 {
}

// -----

// CHECK: returns results: a tir.prim_func writes them into buffers, its last parameters
"tir.prim_func"() <{sym_name = "result", function_type = () -> f32}> ({}) : () -> ()

// -----

// CHECK: has attributes for 1 parameters: expected 2
"tir.prim_func"() <{sym_name = "attributes", function_type = (f32, f32) -> (), arg_attrs = [{}]}>
    ({}) : () -> ()

// -----

// CHECK: parameter 1 is tensor<4xf32>: expected a memref, an index or a number
tir.prim_func @tensor(%A: memref<4xf32>, %B: tensor<4xf32>) {
}

// -----

// CHECK: the block has arguments (index), but the function type has inputs (f32)
"tir.prim_func"() <{sym_name = "types", function_type = (f32) -> ()}> ({
^bb0(%a: index):
  "tir.yield"() : () -> ()
}) : () -> ()

// -----

// CHECK: has 2 blocks: expected one, with structured control flow
"tir.prim_func"() <{sym_name = "blocks", function_type = () -> ()}> ({
^bb0:
  "cf.br"() [^bb1] : () -> ()
^bb1:
  "tir.yield"() : () -> ()
}) : () -> ()

// -----

// CHECK: the body does not end with tir.yield
"tir.prim_func"() <{sym_name = "end", function_type = () -> ()}> ({
  "llvm.unreachable"() : () -> ()
}) : () -> ()

// -----

// CHECK: tir.outputs is 2 : i64: expected at most 1, as its last parameters are (index, memref<4xf32>)
tir.prim_func @outputs(%A: memref<4xf32>, %n: index, %B: memref<4xf32>) attributes {tir.outputs = 2 : i64} {
}

// -----

// CHECK: tir.outputs is -1 : i64: expected the number of result parameters
tir.prim_func @outputs(%A: memref<4xf32>) attributes {tir.outputs = -1 : i64} {
}

// -----

// CHECK: tir.outputs is "one": expected the number of result parameters
tir.prim_func @outputs(%A: memref<4xf32>) attributes {tir.outputs = "one"} {
}

// -----

// CHECK: unknown kind of loop 'paralel', did you mean 'parallel'?
// CHECK-NEXT: tir.for paralel %i
tir.prim_func @kind(%n: index) {
  tir.for paralel %i = %n extent %n {
  }
}

// -----

// CHECK: unknown kind of loop 'fast', expected serial, parallel, vectorized, unrolled, thread_binding
tir.prim_func @kind(%n: index) {
  tir.for fast %i = %n extent %n {
  }
}

// -----

// CHECK: has no thread tag: expected one such as "threadIdx.x"
tir.prim_func @thread(%n: index) {
  tir.for thread_binding %i = %n extent %n {
  }
}

// -----

// CHECK: a serial loop takes no thread tag, but has "threadIdx.x"
tir.prim_func @no_thread(%n: index) {
  tir.for "threadIdx.x" %i = %n extent %n {
  }
}

// -----

// CHECK: the block has arguments (i32): expected one index
tir.prim_func @variable(%n: index) {
  "tir.for"(%n, %n) <{kind = #tir<for_kind serial>}> ({
  ^bb0(%i: i32):
    "tir.yield"() : () -> ()
  }) : (index, index) -> ()
}

// -----

// CHECK: calls @missing, which is not a symbol of the module
tir.prim_func @call_missing() {
  tir.call @missing()
}

// -----

// CHECK: calls @f, which is a 'func.func'
tir.prim_func @call_func() {
  tir.call @f()
}
func.func private @f()

// -----

// CHECK: passes (index) to @f, which takes (f32)
tir.prim_func @call_types(%n: index) {
  tir.call @f(%n) : index
}
tir.prim_func private @f(f32)

// -----

// CHECK: expected 2 indices, got 1
tir.prim_func @prefetch_indices(%a: memref<4x8xf32>, %i: index) {
  tir.prefetch %a[%i] : memref<4x8xf32>
}

// -----

// CHECK: {{Expected attribute i32 but got i64|Unexpected attribute i64}}
tir.prim_func @words_of_64_bits(%a: i64) {
  %0 = tir.dp4a %a, %a, %a : i64
}

// -----

// CHECK: expected vectors of one dimension, all of the same length
tir.prim_func @lanes(%a: memref<4xi8>) {
  %c0 = arith.constant 0 : index
  %0 = vector.load %a[%c0] : memref<4xi8>, vector<4xi8>
  %1 = tir.lanewise "arith.extsi"(%0) : (vector<4xi8>) -> vector<8xi32>
}

// -----

// CHECK: has no "arith.divsi": expected one of arith.extsi, arith.extui
tir.prim_func @function(%a: memref<4xi8>) {
  %c0 = arith.constant 0 : index
  %0 = vector.load %a[%c0] : memref<4xi8>, vector<4xi8>
  %1 = tir.lanewise "arith.divsi"(%0, %0) : (vector<4xi8>, vector<4xi8>) -> vector<4xi8>
}

// -----

// CHECK: in each lane, arith.extsi
tir.prim_func @lane(%a: memref<4xi8>) {
  %c0 = arith.constant 0 : index
  %0 = vector.load %a[%c0] : memref<4xi8>, vector<4xi8>
  %1 = tir.lanewise "arith.extsi"(%0) : (vector<4xi8>) -> vector<4xf32>
}

// -----

// CHECK: in each lane, arith.cmpi
tir.prim_func @no_predicate(%a: memref<4xi8>) {
  %c0 = arith.constant 0 : index
  %0 = vector.load %a[%c0] : memref<4xi8>, vector<4xi8>
  %1 = tir.lanewise "arith.cmpi"(%0, %0) : (vector<4xi8>, vector<4xi8>) -> vector<4xi1>
}

// -----

// CHECK: in each lane, arith.extsi
tir.prim_func @two_operands(%a: memref<4xi8>) {
  %c0 = arith.constant 0 : index
  %0 = vector.load %a[%c0] : memref<4xi8>, vector<4xi8>
  %1 = tir.lanewise "arith.extsi"(%0, %0) : (vector<4xi8>, vector<4xi8>) -> vector<4xi32>
}

// -----

// CHECK: launches @kernels::@add, which is not a symbol of the module
tir.prim_func @unknown_entry(%n: index) {
  tir.launch @kernels::@add[%n, %n, %n] (%n) : index
}

// -----

// CHECK: passes 1 arguments to @kernels::@add, which takes 0
tir.prim_func @arguments(%n: index) {
  tir.launch @kernels::@add[%n, %n, %n] (%n) : index
}
cuda_tile.module @kernels {
  entry @add() {
    return
  }
}

// -----

// CHECK: argument 0 is memref<4xf32>, but @kernels::@add takes !cuda_tile.tile<i32>
tir.prim_func @types(%n: index, %x: memref<4xf32>) {
  tir.launch @kernels::@add[%n, %n, %n] (%x) : memref<4xf32>
}
cuda_tile.module @kernels {
  entry @add(%n: tile<i32>) {
    return
  }
}
