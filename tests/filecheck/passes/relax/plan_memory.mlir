// RUN: passline-opt %s -p plan-memory --split-input-file | filecheck %s

// A chain: two places by turns, and the last result in that of the caller.
// UNCHANGED: @exp
// CHECK-LABEL: tir.prim_func @chain(%x: memref<8xf32>, %d: memref<8xf32>) attributes {tir.outputs = 1 : i64} {
// CHECK-NEXT: %arena = memref.alloc() {alignment = 64 : i64} : memref<128xi8>
// CHECK-NEXT: [[C0:%.*]] = arith.constant 0 : index
// CHECK-NEXT: %a = memref.view %arena[[[C0]]][] : memref<128xi8> to memref<8xf32>
// CHECK-NEXT: tir.call @exp(%x, %a) : memref<8xf32>, memref<8xf32>
// CHECK-NEXT: [[C64:%.*]] = arith.constant 64 : index
// CHECK-NEXT: %b = memref.view %arena[[[C64]]][]
// CHECK-NEXT: tir.call @exp(%a, %b)
// CHECK-NEXT: %c = memref.view %arena[[[C0]]][]
// CHECK-NEXT: tir.call @exp(%b, %c)
// CHECK-NEXT: tir.call @exp(%c, %d)
// CHECK-NEXT: }
!t = tensor<8xf32>
!b = memref<8xf32>
tir.prim_func private @exp(%x : !b, %y : !b) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %v = memref.load %x[%i] : !b
    %e = math.exp2 %v : f32
    %n = arith.negf %e : f32
    memref.store %n, %y[%i] : !b
  }
}
func.func @chain(%x : !t) -> !t {
  %a = relax.call_tir @exp(%x) : (!t) -> !t
  %b = relax.call_tir @exp(%a) : (!t) -> !t
  %c = relax.call_tir @exp(%b) : (!t) -> !t
  %d = relax.call_tir @exp(%c) : (!t) -> !t
  return %d : !t
}

// -----

// What is needed later stays: %a, through what is a view of it.
// CHECK-LABEL: tir.prim_func @alias
// CHECK-NEXT: %arena = memref.alloc() {alignment = 64 : i64} : memref<192xi8>
// CHECK-NEXT: [[A:%.*]] = arith.constant 0 : index
// CHECK-NEXT: %a = memref.view %arena[[[A]]][] : memref<192xi8> to memref<8xf32>
// CHECK-NEXT: tir.call @exp(%x, %a)
// CHECK-NEXT: [[B:%.*]] = arith.constant 64 : index
// CHECK-NEXT: %b = memref.view %arena[[[B]]][]
// CHECK-NEXT: tir.call @exp(%a, %b)
// CHECK-NEXT: [[C:%.*]] = arith.constant 128 : index
// CHECK-NEXT: %c = memref.view %arena[[[C]]][]
// CHECK-NEXT: tir.call @exp(%b, %c)
// CHECK-NEXT: [[V:%.*]] = memref.view %arena[[[A]]][] : memref<192xi8> to memref<2x4xf32>
// CHECK-NEXT: tir.call @add(%c, [[V]], %d) : memref<8xf32>, memref<2x4xf32>, memref<8xf32>
!t = tensor<8xf32>
!m = tensor<2x4xf32>
tir.prim_func private @exp(%x : memref<8xf32>, %y : memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %v = memref.load %x[%i] : memref<8xf32>
    %n = arith.negf %v : f32
    memref.store %n, %y[%i] : memref<8xf32>
  }
}
tir.prim_func private @add(%x : memref<8xf32>, %y : memref<2x4xf32>, %z : memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %r = arith.divui %i, %c4 : index
    %c = arith.remui %i, %c4 : index
    %a = memref.load %x[%i] : memref<8xf32>
    %b = memref.load %y[%r, %c] : memref<2x4xf32>
    %s = arith.subf %a, %b : f32
    memref.store %s, %z[%i] : memref<8xf32>
  }
}
func.func @alias(%x : !t) -> !t {
  %a = relax.call_tir @exp(%x) : (!t) -> !t
  %v = relax.reshape %a {newshape = [2, 4]} : (!t) -> !m
  %b = relax.call_tir @exp(%a) : (!t) -> !t
  %c = relax.call_tir @exp(%b) : (!t) -> !t
  %w = relax.match_cast %v : (!m) -> !m
  %d = relax.call_tir @add(%c, %w) : (!t, !m) -> !t
  return %d : !t
}

// -----

// Constants: equal ones are one global, in whatever shape; names are not those of functions.
// CHECK: "memref.global"() <{sym_name = "w", type = memref<4xf32>, initial_value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>, sym_visibility = "private", constant, alignment = 64 : i64}>
// CHECK-NEXT: "memref.global"() <{sym_name = "add_1", type = memref<4xf32>, initial_value = dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT: "memref.global"() <{sym_name = "constant", type = memref<i64>, initial_value = dense<7> : tensor<i64>
// CHECK-NOT: memref.global
// CHECK-LABEL: tir.prim_func @f
// CHECK-NEXT: %w = memref.get_global @w : memref<4xf32>
// CHECK-NEXT: tir.call @add(%x, %w, %result0)
// CHECK-LABEL: tir.prim_func private @g
// CHECK-NEXT: %add = memref.get_global @add_1
// CHECK-NEXT: tir.call @add(%x, %add, %result0)
// CHECK-NEXT: [[W:%.*]] = memref.get_global @w : memref<4xf32>
// CHECK-NEXT: [[V:%.*]] = memref.reinterpret_cast [[W]] to offset: [0], sizes: [2, 2], strides: [2, 1] : memref<4xf32> to memref<2x2xf32>
// CHECK-NEXT: "memref.copy"([[V]], %v)
// CHECK-NEXT: [[N:%.*]] = memref.get_global @constant : memref<i64>
// CHECK-NEXT: "memref.copy"([[N]], %result2)
!t = tensor<4xf32>
tir.prim_func private @add(%x : memref<4xf32>, %y : memref<4xf32>, %z : memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %a = memref.load %x[%i] : memref<4xf32>
    %b = memref.load %y[%i] : memref<4xf32>
    %s = arith.subf %a, %b : f32
    memref.store %s, %z[%i] : memref<4xf32>
  }
}
func.func @f(%x : !t) -> !t {
  %w = relax.constant dense<[1.0, 2.0, 3.0, 4.0]> : !t
  %0 = relax.call_tir @add(%x, %w) : (!t, !t) -> !t
  return %0 : !t
}
func.func private @g(%x : !t) -> (!t, tensor<2x2xf32>, tensor<i64>) {
  %add = relax.full 0.5 : !t
  %0 = relax.call_tir @add(%x, %add) : (!t, !t) -> !t
  %v = relax.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %1 = relax.constant dense<7> : tensor<i64>
  return %0, %v, %1 : !t, tensor<2x2xf32>, tensor<i64>
}

// -----

// A parameter, a constant and a value that are returned again are copied; a view is computed in the
// place of the caller.
// CHECK-LABEL: tir.prim_func @returned(%x: memref<4xf32>, %result0: memref<2x2xf32>, %result1: memref<4xf32>, %result2: memref<4xf32>) attributes {tir.outputs = 3 : i64}
// CHECK-NEXT: [[V:%.*]] = memref.reinterpret_cast %result0 to offset: [0], sizes: [4], strides: [1] : memref<2x2xf32> to memref<4xf32>
// CHECK-NEXT: tir.call @exp(%x, [[V]])
// CHECK-NEXT: "memref.copy"([[V]], %result1)
// CHECK-NEXT: "memref.copy"(%x, %result2)
!t = tensor<4xf32>
tir.prim_func private @exp(%x : memref<4xf32>, %y : memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %a = memref.load %x[%i] : memref<4xf32>
    %s = math.exp %a : f32
    memref.store %s, %y[%i] : memref<4xf32>
  }
}
func.func @returned(%x : !t) -> (tensor<2x2xf32>, !t, !t) {
  %0 = relax.call_tir @exp(%x) : (!t) -> !t
  %1 = relax.reshape %0 {newshape = [2, 2]} : (!t) -> tensor<2x2xf32>
  return %1, %0, %x : tensor<2x2xf32>, !t, !t
}

// -----

// A large fill is stored by a loop, where it is needed and not where it stands: its bytes are those
// of %a.
// CHECK-LABEL: tir.prim_func @filled
// CHECK-NEXT: %arena = memref.alloc() {alignment = 64 : i64} : memref<16000xi8>
// CHECK-NEXT: [[A:%.*]] = arith.constant 0 : index
// CHECK-NEXT: %a = memref.view %arena[[[A]]][]
// CHECK-NEXT: tir.call @fold(%x, %x, %a)
// CHECK-NEXT: [[B:%.*]] = arith.constant 8000 : index
// CHECK-NEXT: %b = memref.view %arena[[[B]]][]
// CHECK-NEXT: tir.call @fold(%a, %x, %b)
// CHECK-NEXT: [[F:%.*]] = memref.view %arena[[[A]]][] : memref<16000xi8> to memref<2000xf32>
// CHECK-NEXT: [[MIN:%.*]] = arith.constant 0 : index
// CHECK-NEXT: [[N:%.*]] = arith.constant 2000 : index
// CHECK-NEXT: [[V:%.*]] = arith.constant 3.000000e+00 : f32
// CHECK-NEXT: tir.for [[I:%.*]] = [[MIN]] extent [[N]] {
// CHECK-NEXT:   memref.store [[V]], [[F]][[[I]]] : memref<2000xf32>
// CHECK-NEXT: }
// CHECK-NEXT: [[G:%.*]] = memref.view %arena[[[A]]][] : memref<16000xi8> to memref<20x100xf32>
// CHECK-NEXT: tir.call @fold(%b, [[G]], %c)
!t = tensor<20x100xf32>
!b = memref<20x100xf32>
tir.prim_func private @fold(%x : !b, %y : !b, %z : !b) {
  %c0 = arith.constant 0 : index
  %c20 = arith.constant 20 : index
  %c100 = arith.constant 100 : index
  tir.for %i = %c0 extent %c20 {
    tir.for %j = %c0 extent %c100 {
      %a = memref.load %x[%i, %j] : !b
      %b = memref.load %y[%i, %j] : !b
      %s = arith.subf %a, %b : f32
      memref.store %s, %z[%i, %j] : !b
    }
  }
}
func.func @filled(%x : !t) -> !t {
  %fill = relax.full 3.0 : !t
  %a = relax.call_tir @fold(%x, %x) : (!t, !t) -> !t
  %b = relax.call_tir @fold(%a, %x) : (!t, !t) -> !t
  %c = relax.call_tir @fold(%b, %fill) : (!t, !t) -> !t
  return %c : !t
}

// -----

// A fill that is used in a branch first is there for all; one of a branch is filled in it.
// CHECK-LABEL: tir.prim_func @filled_in_branches
// CHECK: arith.constant 3.000000e+00 : f32
// CHECK-NEXT: tir.for
// CHECK: scf.if %c {
// CHECK-NEXT: tir.call @negate([[F:%.*]], %result0)
// CHECK-NEXT: } else {
// CHECK: arith.constant 2.000000e+00 : f32
// CHECK-NEXT: tir.for
// CHECK: }
// CHECK: tir.call @negate([[F]], %result1)
!t = tensor<2000xf32>
!b = memref<2000xf32>
tir.prim_func private @negate(%x : !b, %z : !b) {
  %c0 = arith.constant 0 : index
  %c2000 = arith.constant 2000 : index
  tir.for %i = %c0 extent %c2000 {
    %a = memref.load %x[%i] : !b
    %s = arith.negf %a : f32
    memref.store %s, %z[%i] : !b
  }
}
func.func @filled_in_branches(%x : !t, %c : i1) -> (!t, !t) {
  %fill = relax.full 3.0 : !t
  %0 = scf.if %c -> (!t) {
    %1 = relax.call_tir @negate(%fill) : (!t) -> !t
    scf.yield %1 : !t
  } else {
    %other = relax.full 2.0 : !t
    scf.yield %other : !t
  }
  %2 = relax.call_tir @negate(%fill) : (!t) -> !t
  return %0, %2 : !t, !t
}

// -----

// Branches compute into one place, that of the caller here; what one does not compute is copied.
// The condition is an element; a number that is chosen stays a result.
// CHECK-LABEL: tir.prim_func @branches(%x: memref<4xf32>, %flag: memref<i1>, %i: index, %result0: memref<4xf32>, %result1: memref<4xf32>)
// CHECK-NEXT: %arena = memref.alloc() {alignment = 64 : i64} : memref<64xi8>
// CHECK-NEXT: %c = memref.load %flag[] : memref<i1>
// CHECK: [[A:%.*]] = memref.view
// CHECK: [[B:%.*]] = memref.view
// CHECK-NEXT: %n = scf.if %c -> (index) {
// CHECK-NEXT:   tir.call @shift(%x, %i, [[A]])
// CHECK-NEXT:   tir.call @shift([[A]], %i, %result0)
// CHECK-NEXT:   %one = arith.constant 1 : index
// CHECK-NEXT:   "memref.copy"(%result0, [[B]])
// CHECK-NEXT:   scf.yield %one : index
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.if %c {
// CHECK-NEXT:     "memref.copy"(%x, %result0)
// CHECK-NEXT:   } else {
// CHECK-NEXT:     tir.call @shift(%x, %i, %result0)
// CHECK-NEXT:   }
// CHECK-NEXT:   "memref.copy"(%x, [[B]])
// CHECK-NEXT:   scf.yield %i : index
// CHECK-NEXT: }
// CHECK-NEXT: tir.call @shift([[B]], %n, %result1) : memref<4xf32>, index, memref<4xf32>
!t = tensor<4xf32>
tir.prim_func private @shift(%x : memref<4xf32>, %n : index, %y : memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %j = arith.addi %i, %n : index
    %k = arith.remui %j, %c4 : index
    %a = memref.load %x[%k] : memref<4xf32>
    memref.store %a, %y[%i] : memref<4xf32>
  }
}
func.func @branches(%x : !t, %flag : tensor<i1>, %i : index) -> (!t, !t) {
  %c = tensor.extract %flag[] : tensor<i1>
  %0, %n, %1 = scf.if %c -> (!t, index, !t) {
    %2 = relax.call_tir @shift(%x, %i) : (!t, index) -> !t
    %3 = relax.call_tir @shift(%2, %i) : (!t, index) -> !t
    %one = arith.constant 1 : index
    scf.yield %3, %one, %3 : !t, index, !t
  } else {
    %2 = scf.if %c -> (!t) {
      scf.yield %x : !t
    } else {
      %3 = relax.call_tir @shift(%x, %i) : (!t, index) -> !t
      scf.yield %3 : !t
    }
    scf.yield %2, %i, %x : !t, index, !t
  }
  %4 = relax.call_tir @shift(%1, %n) : (!t, index) -> !t
  return %0, %4 : !t, !t
}

// -----

// A graph, in the order in which it is computed. An operation that is on no tensors is as it was.
// CHECK-LABEL: tir.prim_func @graph
// CHECK-NEXT: %arena
// CHECK-NEXT: [[C:%.*]] = arith.constant 0 : index
// CHECK-NEXT: [[A:%.*]] = memref.view
// CHECK-NEXT: tir.call @negate(%x, [[A]])
// CHECK-NEXT: tir.call @negate([[A]], %result0)
// CHECK-NEXT: arith.addi %n, %n
// CHECK-NEXT: }
!t = tensor<4xf32>
tir.prim_func private @negate(%x : memref<4xf32>, %y : memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %a = memref.load %x[%i] : memref<4xf32>
    %s = arith.negf %a : f32
    memref.store %s, %y[%i] : memref<4xf32>
  }
}
func.func @graph(%x : !t, %n : i32) -> !t {
  %0 = relax.graph -> !t {
    %2 = relax.call_tir @negate(%1) : (!t) -> !t
    %1 = relax.call_tir @negate(%x) : (!t) -> !t
    relax.output %2 : !t
  }
  %3 = arith.addi %n, %n : i32
  return %0 : !t
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// Tuples are their elements, as parameters, results and in between; calls of functions on tensors
// are calls on buffers. A kernel of unknown shapes gets its buffers as such.
// CHECK-LABEL: tir.prim_func private @external(memref<4xf32>, memref<4xf32>) attributes {tir.outputs = 1 : i64}
// CHECK-NEXT: tir.prim_func private @swap(%p.0: memref<4xf32>, %p.1: memref<i1>, %result0.0: memref<i1>, %result0.1: memref<4xf32>) attributes {tir.outputs = 2 : i64} {
// CHECK-NEXT: tir.call @external(%p.0, %result0.1)
// CHECK-NEXT: "memref.copy"(%p.1, %result0.0)
// CHECK-LABEL: tir.prim_func @tuples(%x: memref<4xf32>, %y: memref<i1>, %result0: memref<4xf32>, %result1: memref<i1>)
// CHECK: tir.call @swap(%x, %y, %result1, [[A:%.*]]) : memref<4xf32>, memref<i1>, memref<i1>, memref<4xf32>
// CHECK-NEXT: [[B:%.*]] = "memref.cast"([[A]]) : (memref<4xf32>) -> memref<?xf32>
// CHECK-NEXT: [[C:%.*]] = "memref.cast"(%result0) : (memref<4xf32>) -> memref<?xf32>
// CHECK-NEXT: tir.call @negate([[B]], [[C]])
!t = tensor<4xf32>
!p = tuple<!t, tensor<i1>>
tir.prim_func private @negate(%x : memref<?xf32>, %y : memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  tir.for %i = %c0 extent %n {
    %a = memref.load %x[%i] : memref<?xf32>
    %s = arith.negf %a : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
}
func.func private @external(!t) -> !t
func.func private @swap(%p : !p) -> tuple<tensor<i1>, !t> {
  %0 = relax.tuple_get_item %p {index = 0} : (!p) -> !t
  %1 = relax.tuple_get_item %p {index = 1} : (!p) -> tensor<i1>
  %2 = func.call @external(%0) : (!t) -> !t
  %3 = relax.tuple %1, %2 : (tensor<i1>, !t) -> tuple<tensor<i1>, !t>
  return %3 : tuple<tensor<i1>, !t>
}
func.func @tuples(%x : !t, %y : tensor<i1>) -> (!t, tensor<i1>) {
  %0 = relax.tuple %x, %y : (!t, tensor<i1>) -> !p
  %1 = func.call @swap(%0) : (!p) -> tuple<tensor<i1>, !t>
  %2 = relax.tuple_get_item %1 {index = 1} : (tuple<tensor<i1>, !t>) -> !t
  %3 = relax.tuple_get_item %1 {index = 0} : (tuple<tensor<i1>, !t>) -> tensor<i1>
  %4 = relax.call_tir @negate(%2) : (!t) -> !t
  return %4, %3 : !t, tensor<i1>
}

// -----

// A called function sees a part of the arena as a buffer of its own.
// CHECK-LABEL: tir.prim_func private @callee(%x: memref<8xf32>, %result0: memref<8xf32>)
// CHECK-NEXT: [[V:%.*]] = memref.reinterpret_cast %x to offset: [0], sizes: [2, 4], strides: [4, 1] : memref<8xf32> to memref<2x4xf32>
// CHECK-NEXT: tir.call @transpose([[V]], %result0)
!t = tensor<8xf32>
!m = tensor<2x4xf32>
tir.prim_func private @transpose(%x : memref<2x4xf32>, %y : memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c2 {
    tir.for %j = %c0 extent %c4 {
      %a = memref.load %x[%i, %j] : memref<2x4xf32>
      %k = arith.muli %j, %c2 : index
      %l = arith.addi %k, %i : index
      memref.store %a, %y[%l] : memref<8xf32>
    }
  }
}
func.func private @callee(%x : !t) -> !t {
  %0 = relax.reshape %x {newshape = [2, 4]} : (!t) -> !m
  %1 = relax.call_tir @transpose(%0) : (!m) -> !t
  return %1 : !t
}
func.func @caller(%x : !t) -> !t {
  %0 = func.call @callee(%x) : (!t) -> !t
  %1 = func.call @callee(%0) : (!t) -> !t
  %2 = func.call @callee(%1) : (!t) -> !t
  return %2 : !t
}

// -----

// Kernels, and functions on numbers, stay. A result that nothing uses has its place too.
// UNCHANGED: @numbers
// UNCHANGED: @kernel
// CHECK-LABEL: tir.prim_func @unused(%x: memref<4xf32>, %result0: memref<4xf32>)
// CHECK: func.call @kernel(%x, %result0, {{%.*}}) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
!t = tensor<4xf32>
func.func @numbers(%n : i32) -> i32 {
  return %n : i32
}
func.func private @kernel(%x : memref<4xf32>, %y : memref<4xf32>, %z : memref<4xf32>) {
  return
}
func.func @unused(%x : !t) -> !t {
  %0, %1 = relax.call_tir @kernel(%x) : (!t) -> (!t, !t)
  return %0 : !t
}

// -----

// What is filled before a branch has its bytes for itself in all of the branch.
// CHECK-LABEL: tir.prim_func @filled_before
// CHECK-NEXT: memref.alloc() {alignment = 64 : i64} : memref<24000xi8>
!t = tensor<2000xf32>
!b = memref<2000xf32>
tir.prim_func private @subtract(%x : !b, %y : !b, %z : !b) {
  %c0 = arith.constant 0 : index
  %c2000 = arith.constant 2000 : index
  tir.for %i = %c0 extent %c2000 {
    %a = memref.load %x[%i] : !b
    %b = memref.load %y[%i] : !b
    %s = arith.subf %a, %b : f32
    memref.store %s, %z[%i] : !b
  }
}
func.func @filled_before(%x : !t, %c : i1) -> !t {
  %fill = relax.full 3.0 : !t
  %0 = scf.if %c -> (!t) {
    %1 = relax.call_tir @subtract(%x, %x) : (!t, !t) -> !t
    %2 = relax.call_tir @subtract(%1, %x) : (!t, !t) -> !t
    %3 = relax.call_tir @subtract(%2, %fill) : (!t, !t) -> !t
    scf.yield %3 : !t
  } else {
    scf.yield %x : !t
  }
  return %0 : !t
}

// -----

// Attributes of parameters and results stay; the elements of a tuple have names of their own.
// CHECK-LABEL: tir.prim_func @names(
// CHECK-SAME: %x.0: memref<4xf32> {onnx.name = "in/x.0", test.a}, %x.1: memref<2xf32> {onnx.name = "in/x.1", test.a}, %n: i32,
// CHECK-SAME: %y: memref<4xf32> {onnx.name = "y:0"}, %result1: memref<2xf32>) attributes
func.func @names(%x : tuple<tensor<4xf32>, tensor<2xf32>> {onnx.name = "in/x", test.a}, %n : i32) -> (tensor<4xf32> {onnx.name = "y:0"}, tensor<2xf32>) {
  %y = relax.tuple_get_item %x {index = 0} : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<4xf32>
  %0 = relax.tuple_get_item %x {index = 1} : (tuple<tensor<4xf32>, tensor<2xf32>>) -> tensor<2xf32>
  return %y, %0 : tensor<4xf32>, tensor<2xf32>
}
// CHECK-LABEL: tir.prim_func @results(%x: memref<4xf32>, %result0: memref<4xf32> {onnx.name = "y"})
func.func @results(%x : tensor<4xf32>) -> (tensor<4xf32> {onnx.name = "y"}) {
  return %x : tensor<4xf32>
}
