// RUN: passline-opt %s -p tir-remove-no-op --split-input-file --allow-unregistered-dialect | filecheck %s

// Empty loops and branches, nested ones too; values, allocations and loads without uses.
// CHECK-LABEL: @empty
// CHECK-NEXT: }
tir.prim_func @empty(%a: memref<8xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %b = memref.alloc() : memref<8xf32>
  %v = memref.subview %b[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  tir.for %i = %c0 extent %c8 {
    tir.for parallel %j = %c0 extent %c8 {
      %k = arith.addi %i, %j : index
      scf.if %c {
        %l = arith.addi %k, %k : index
      } else {
      }
    }
    %x = memref.load %a[%i] : memref<8xf32>
    %y = arith.addf %x, %x : f32
  }
}

// Loops that never run, with effects too: the extent is 0 or less, as a constant or by the loops and
// conditions around.
// CHECK-LABEL: @never
// CHECK-NOT: test.zero
// CHECK: tir.for %i = %c0 extent %c16 {
// CHECK-NEXT: "test.first"
// CHECK-NEXT: }
// CHECK-NEXT: tir.for %i_1 = %c0 extent %n {
// CHECK-NEXT: "test.second"
// CHECK-NEXT: }
// CHECK-NEXT: }
tir.prim_func @never(%n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c20 = arith.constant 20 : index
  %m = arith.constant -3 : index
  tir.for %i = %c0 extent %c0 {
    "test.zero"(%i) : (index) -> ()
  }
  tir.for %i = %n extent %m {
    "test.zero"(%i) : (index) -> ()
  }
  tir.for %i = %c0 extent %c16 {
    "test.first"(%i) : (index) -> ()
    %e = arith.subi %i, %c20 : index
    tir.for %j = %c0 extent %e {
      "test.zero"(%j) : (index) -> ()
    }
  }
  tir.for %i = %c0 extent %n {
    "test.second"(%i) : (index) -> ()
  }
}

// Branches: an empty `else` is removed; with an empty `then` the condition is inverted.
// CHECK-LABEL: @branches
// CHECK-NEXT: %x = arith.constant
// CHECK-NEXT: %c0 = arith.constant
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT:   memref.store %x, %a[%c0]
// CHECK-NEXT: }
// CHECK-NEXT: [[T:%.*]] = arith.constant true
// CHECK-NEXT: [[N:%.*]] = arith.xori %d, [[T]]
// CHECK-NEXT: scf.if [[N]] {
// CHECK-NEXT:   memref.store %x, %b[%c0]
// CHECK-NEXT: }
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT:   memref.store %x, %e[%c0]
// CHECK-NEXT: }
// CHECK-NEXT: }
tir.prim_func @branches(%a: memref<8xf32>, %b: memref<8xf32>, %e: memref<8xf32>, %c: i1, %d: i1) {
  %x = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  scf.if %c {
    memref.store %x, %a[%c0] : memref<8xf32>
  } else {
    %0 = arith.addf %x, %x : f32
  }
  scf.if %d {
  } else {
    memref.store %x, %b[%c0] : memref<8xf32>
  }
  %not = arith.xori %c, %true : i1
  scf.if %not {
  } else {
    memref.store %x, %e[%c0] : memref<8xf32>
  }
}

// The stored value was loaded from there, and that memory was not written since: with vectors, and
// with writes of other memory in between. Then the load is removed, and the loop.
// CHECK-LABEL: @stores_what_is_there
// CHECK-NEXT: %c0 =
// CHECK-NEXT: [[X:%.*]] = memref.load %a[%c0]
// CHECK-NEXT: memref.store [[X]], %b[%c0]
// CHECK-NEXT: }
tir.prim_func @stores_what_is_there(%a: memref<8xf32>, %b: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %0 = memref.load %a[%i] : memref<8xf32>
    memref.store %0, %a[%i] : memref<8xf32>
  }
  %x = memref.load %a[%c0] : memref<8xf32>
  memref.store %x, %b[%c0] : memref<8xf32>
  memref.store %x, %a[%c0] : memref<8xf32>
  %v = vector.load %a[%c0] : memref<8xf32>, vector<4xf32>
  vector.store %v, %a[%c0] : memref<8xf32>, vector<4xf32>
  "memref.copy"(%a, %a) : (memref<8xf32>, memref<8xf32>) -> ()
}

// Must not fire: the memory may have been written since the load.
// UNCHANGED: @stores_what_was_there
tir.prim_func private @other(memref<8xf32>)
tir.prim_func @stores_what_was_there(%a: memref<8xf32>, %y: f32, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = memref.load %a[%c0] : memref<8xf32>
  memref.store %y, %a[%c1] : memref<8xf32>
  memref.store %x, %a[%c0] : memref<8xf32>
  %z = memref.load %a[%c0] : memref<8xf32>
  tir.call @other(%a) : memref<8xf32>
  memref.store %z, %a[%c0] : memref<8xf32>
  %u = memref.load %a[%c0] : memref<8xf32>
  memref.store %u, %a[%c1] : memref<8xf32>
  %w = memref.load %a[%c0] : memref<8xf32>
  tir.for %i = %c0 extent %c8 {
    memref.store %w, %a[%c0] : memref<8xf32>
    memref.store %y, %a[%i] : memref<8xf32>
  }
  %q = memref.load %a[%c0] : memref<8xf32>
  scf.if %c {
    memref.store %y, %a[%c1] : memref<8xf32>
  }
  memref.store %q, %a[%c0] : memref<8xf32>
}

// A store that is overwritten: by the next operation, after a load of other memory, after a branch;
// and stores to a buffer that a copy overwrites.
// CHECK-LABEL: @overwritten
// CHECK-NEXT: %c0 =
// CHECK-NEXT: [[B:%.*]] = memref.load %b[%c0]
// CHECK-NEXT: memref.store [[B]], %a[%c0]
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT:   memref.store %x, %b[%c0]
// CHECK-NEXT:   [[A:%.*]] = memref.load %a[%c0]
// CHECK-NEXT:   memref.store [[A]], %d[%c0]
// CHECK-NEXT: }
// CHECK-NEXT: memref.store %y, %a[%c0]
// CHECK-NEXT: "memref.copy"(%a, %e)
// CHECK-NEXT: }
tir.prim_func @overwritten(%a: memref<8xf32>, %b: memref<8xf32>, %d: memref<8xf32>, %e: memref<8xf32>, %x: f32, %y: f32, %c: i1) {
  %c0 = arith.constant 0 : index
  memref.store %x, %a[%c0] : memref<8xf32>
  memref.store %y, %a[%c0] : memref<8xf32>
  %0 = memref.load %b[%c0] : memref<8xf32>
  memref.store %0, %a[%c0] : memref<8xf32>
  scf.if %c {
    memref.store %x, %b[%c0] : memref<8xf32>
    %1 = memref.load %a[%c0] : memref<8xf32>
    memref.store %x, %d[%c0] : memref<8xf32>
    memref.store %1, %d[%c0] : memref<8xf32>
  }
  memref.store %y, %a[%c0] : memref<8xf32>
  memref.store %x, %e[%c0] : memref<8xf32>
  "memref.copy"(%a, %e) : (memref<8xf32>, memref<8xf32>) -> ()
}

// -----

// Must not fire: the value may be read in between, by a load, through a view, in a loop or a call;
// or the later store may be to another place, or may not run.
// UNCHANGED: @not_overwritten
tir.prim_func private @other(memref<8xf32>)
tir.prim_func @not_overwritten(%a: memref<8xf32>, %b: memref<8xf32>, %x: f32, %c: i1, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  memref.store %x, %a[%c0] : memref<8xf32>
  %0 = memref.load %a[%n] : memref<8xf32>
  memref.store %x, %a[%c0] : memref<8xf32>
  %v = memref.expand_shape %a [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  %1 = memref.load %v[%c0, %c0] : memref<2x4xf32>
  memref.store %x, %a[%c0] : memref<8xf32>
  tir.for %i = %c0 extent %c8 {
    %2 = memref.load %a[%i] : memref<8xf32>
    memref.store %2, %b[%i] : memref<8xf32>
    memref.store %x, %a[%c0] : memref<8xf32>
  }
  memref.store %x, %a[%c0] : memref<8xf32>
  tir.call @other(%a) : memref<8xf32>
  memref.store %x, %a[%c0] : memref<8xf32>
  memref.store %x, %a[%c1] : memref<8xf32>
  memref.store %x, %a[%n] : memref<8xf32>
  scf.if %c {
    memref.store %x, %a[%c0] : memref<8xf32>
  }
  tir.for %i = %c0 extent %n {
    memref.store %x, %a[%c0] : memref<8xf32>
    %3 = memref.load %a[%i] : memref<8xf32>
    memref.store %3, %b[%c1] : memref<8xf32>
  }
  memref.store %x, %a[%c8] : memref<8xf32>
  "test.opaque"() : () -> ()
  memref.store %x, %a[%c8] : memref<8xf32>
  %4 = arith.addf %0, %1 : f32
  memref.store %4, %b[%c0] : memref<8xf32>
  memref.store %x, %b[%n] : memref<8xf32>
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// Allocations that are only written, through views and chains of views; and stores after the last
// load.
// CHECK-LABEL: @never_read
// CHECK-NEXT: %c0 =
// CHECK-NEXT: %c8 =
// CHECK-NEXT: [[D:%.*]] = memref.alloc
// CHECK-NEXT: tir.for
// CHECK-NEXT:   memref.store %x, [[D]]
// CHECK-NEXT: }
// CHECK-NEXT: [[L:%.*]] = memref.load [[D]]
// CHECK-NEXT: memref.store [[L]], %a[%c0]
// CHECK-NEXT: }
tir.prim_func @never_read(%a: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloca() : memref<8xf32>
  %d = memref.alloc() : memref<8xf32>
  %e = memref.alloc() : memref<8xf32>
  %v = memref.expand_shape %b [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  tir.for %i = %c0 extent %c8 {
    memref.store %x, %b[%i] : memref<8xf32>
    memref.store %x, %d[%i] : memref<8xf32>
  }
  tir.for %i = %c0 extent %c8 {
    %0 = memref.load %b[%i] : memref<8xf32>
    memref.store %0, %c[%i] : memref<8xf32>
  }
  memref.store %x, %v[%c0, %c0] : memref<2x4xf32>
  "memref.copy"(%c, %e) : (memref<8xf32>, memref<8xf32>) -> ()
  %1 = memref.load %d[%c0] : memref<8xf32>
  memref.store %1, %a[%c0] : memref<8xf32>
  memref.store %x, %d[%c0] : memref<8xf32>
}

// -----

// Dead buffers that depend on each other in a loop are removed in one run: the first is read for the
// second only, and the loads of the second have no uses.
// CHECK-LABEL: @around_a_loop
// CHECK-NEXT: }
tir.prim_func @around_a_loop(%x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  tir.for %i = %c0 extent %n {
    %0 = memref.load %b[%c0] : memref<8xf32>
    memref.store %0, %c[%c0] : memref<8xf32>
    memref.store %x, %b[%c0] : memref<8xf32>
  }
}

// Must not fire: parameters, globals, buffers that escape, memory that the next iteration reads,
// calls, and unknown operations.
// UNCHANGED: @escapes
"memref.global"() <{sym_name = "g", type = memref<8xf32>, initial_value, sym_visibility = "private"}> : () -> ()
tir.prim_func private @other(memref<8xf32>)
tir.prim_func @escapes(%a: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %b = memref.alloc() : memref<8xf32>
  memref.store %x, %a[%c0] : memref<8xf32>
  memref.store %x, %b[%c0] : memref<8xf32>
  tir.call @other(%b) : memref<8xf32>
  memref.store %x, %b[%c0] : memref<8xf32>
  %g = memref.get_global @g : memref<8xf32>
  memref.store %x, %g[%c0] : memref<8xf32>
  %p = memref.alloc() : memref<8xf32>
  memref.store %x, %p[%c0] : memref<8xf32>
  tir.for %i = %c0 extent %c8 {
    %o = memref.load %p[%c0] : memref<8xf32>
    memref.store %o, %a[%i] : memref<8xf32>
    %q = arith.addf %o, %x : f32
    memref.store %q, %p[%c0] : memref<8xf32>
  }
  "test.opaque"() : () -> ()
}

// Parameters that may overlap: a load of one may read a store to the other.
// UNCHANGED: @aliased
tir.prim_func @aliased(%a: memref<8xf32>, %b: memref<8xf32>, %d: memref<8xf32>, %x: f32) attributes {tir.alias} {
  %c0 = arith.constant 0 : index
  memref.store %x, %a[%c0] : memref<8xf32>
  %0 = memref.load %b[%c0] : memref<8xf32>
  memref.store %0, %d[%c0] : memref<8xf32>
  memref.store %x, %a[%c0] : memref<8xf32>
}

// A selected buffer may be either: its stores and loads are of both.
// UNCHANGED: @chosen
tir.prim_func @chosen(%a: memref<8xf32>, %c: i1, %x: f32) {
  %c0 = arith.constant 0 : index
  %b = memref.alloc() : memref<8xf32>
  %d = memref.alloc() : memref<8xf32>
  memref.store %x, %b[%c0] : memref<8xf32>
  memref.store %x, %d[%c0] : memref<8xf32>
  %e = scf.if %c -> (memref<8xf32>) {
    scf.yield %b : memref<8xf32>
  } else {
    scf.yield %d : memref<8xf32>
  }
  %0 = memref.load %e[%c0] : memref<8xf32>
  memref.store %0, %a[%c0] : memref<8xf32>
}
