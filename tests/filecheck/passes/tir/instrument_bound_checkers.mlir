// RUN: passline-opt %s -p tir-instrument-bound-checkers | filecheck %s
// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)

// The index of a load is an element of memory. The store to the same place needs no second check.
// CHECK-LABEL: @gather(
// CHECK: [[AT:%.*]] = memref.load %i
// CHECK-NEXT: [[ZERO:%.*]] = arith.constant 0 : index
// CHECK-NEXT: [[LOW:%.*]] = arith.cmpi sge, [[AT]], [[ZERO]] : index
// CHECK-NEXT: [[LAST:%.*]] = arith.constant 15 : index
// CHECK-NEXT: [[HIGH:%.*]] = arith.cmpi sle, [[AT]], [[LAST]] : index
// CHECK-NEXT: [[BOTH:%.*]] = arith.andi [[LOW]], [[HIGH]] : i1
// CHECK-NEXT: cf.assert [[BOTH]], "load from %x, a memref<16xf32>: index 0 (%at) is out of bounds"
// CHECK-NEXT: [[V:%.*]] = memref.load %x
// CHECK-NEXT: memref.store [[V]], %x
tir.prim_func @gather(%x: memref<16xf32>, %i: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %k = %c0 extent %c8 {
    %at = memref.load %i[%k] : memref<8xindex>
    %0 = memref.load %x[%at] : memref<16xf32>
    memref.store %0, %x[%at] : memref<16xf32>
  }
}

// Only what is not known is checked: the upper end of the second index here.
// CHECK-LABEL: @half_known(
// CHECK: tir.for %i
// CHECK-NEXT: tir.for %j
// CHECK-NEXT: [[LAST:%.*]] = arith.constant 7 : index
// CHECK-NEXT: [[HIGH:%.*]] = arith.cmpi sle, %j, [[LAST]] : index
// CHECK-NEXT: cf.assert [[HIGH]], "store to %y, a memref<4x8xf32>: index 1 (%j) is out of bounds"
// CHECK-NEXT: memref.store
tir.prim_func @half_known(%y: memref<4x8xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %n {
      memref.store %v, %y[%i, %j] : memref<4x8xf32>
    }
  }
}

// An unknown size; several lanes.
// CHECK-LABEL: @sizes(
// CHECK: arith.cmpi sge, %i
// CHECK-NEXT: [[AXIS:%.*]] = arith.constant 0 : index
// CHECK-NEXT: [[SIZE:%.*]] = memref.dim %x, [[AXIS]] : memref<?xf32>
// CHECK: [[C3:%.*]] = arith.constant 3 : index
// CHECK-NEXT: [[END:%.*]] = arith.addi %i, [[C3]] : index
// CHECK-NEXT: arith.cmpi slt, [[END]], [[SIZE]] : index
// CHECK: cf.assert {{.*}}, "load from %x, a memref<?xf32>: index 0 (%i), with 4 lanes, is out of bounds"
// CHECK-NEXT: vector.load
// CHECK: [[C12:%.*]] = arith.constant 12 : index
// CHECK-NEXT: arith.cmpi sle, %i, [[C12]] : index
// CHECK: cf.assert {{.*}}, "store to %y, a memref<16xf32>: index 0 (%i), with 4 lanes, is out of bounds"
// CHECK-NEXT: vector.store
tir.prim_func @sizes(%x: memref<?xf32>, %y: memref<16xf32>, %i: index) {
  %0 = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
  vector.store %0, %y[%i] : memref<16xf32>, vector<4xf32>
}

// In one branch the condition says that the index is inside, in the other one it is not.
// CHECK-LABEL: @branches(
// CHECK: scf.if
// CHECK-NEXT: memref.store
// CHECK: else
// CHECK: cf.assert
// CHECK-NEXT: memref.store
tir.prim_func @branches(%x: memref<16xf32>, %i: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %low = arith.cmpi sle, %c0, %i : index
  %high = arith.cmpi slt, %i, %c16 : index
  %inside = arith.andi %low, %high : i1
  scf.if %inside {
    memref.store %v, %x[%i] : memref<16xf32>
  } else {
    memref.store %v, %x[%i] : memref<16xf32>
  }
}

// Must not fire: loops, sizes and assertions say that all indices are inside.
// UNCHANGED: @known
tir.prim_func @known(%x: memref<4x8xf32>, %y: memref<?xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  tir.for %j = %c0 extent %n {
    %0 = memref.load %y[%j] : memref<?xf32>
    memref.store %0, %y[%j] : memref<?xf32>
  }
  %low = arith.cmpi sge, %i, %c0 : index
  %high = arith.cmpi slt, %i, %c4 : index
  %inside = arith.andi %low, %high : i1
  cf.assert %inside, "i is a row"
  %1 = memref.load %x[%i, %c1] : memref<4x8xf32>
  memref.store %1, %x[%c0, %c0] : memref<4x8xf32>
}

// Must not fire: a mask keeps lanes beyond the end out of memory.
// UNCHANGED: @masked
tir.prim_func @masked(%x: memref<16xf32>, %i: index, %n: index, %v: f32) {
  %m = vector.create_mask %n : vector<4xi1>
  %0 = vector.broadcast %v : f32 to vector<4xf32>
  vector.maskedstore %x[%i], %m, %0 : memref<16xf32>, vector<4xi1>, vector<4xf32>
}

// Must not fire: the loop has no iterations.
// UNCHANGED: @never
tir.prim_func @never(%x: memref<4xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tir.for %i = %c0 extent %c0 {
    memref.store %v, %x[%i] : memref<4xf32>
    %0 = arith.addi %i, %c2 : index
    memref.store %v, %x[%0] : memref<4xf32>
  }
}
