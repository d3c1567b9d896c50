// RUN: passline-opt %s -p tir-loop-partition | filecheck %s
// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop}' | filecheck %s --check-prefix=CONST

// Must not fire: the range of a quotient by a variable is unknown.
// CHECK-LABEL: @everything
tir.prim_func @everything(%a: memref<?xf32>, %n: index, %m: index, %f: f32) {
  // CHECK:      tir.for %i = %c0 extent %n {
  // CHECK-NEXT:   tir.for %j = %c1 extent %c32 {
  // CHECK-NEXT:     %d = arith.divsi %i, %j
  // CHECK-NEXT:     %c = arith.cmpi slt, %d, %m
  // CHECK-NEXT:     scf.if %c {
  // CHECK-NEXT:       memref.store %f, %a[%i]
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  tir.for %i = %c0 extent %n {
    tir.for %j = %c1 extent %c32 {
      %d = arith.divsi %i, %j : index
      %c = arith.cmpi slt, %d, %m : index
      %l = tir.likely %c
      scf.if %l {
        memref.store %f, %a[%i] : memref<?xf32>
      }
    }
  }
}

// An ignored condition neither splits a loop nor is it replaced.
// CHECK-LABEL: @ignored
// CONST-LABEL: @ignored
tir.prim_func @ignored(%a: memref<12xf32>, %f: f32) {
  // CHECK:      [[C10:%.*]] = arith.constant 10 : index
  // CHECK-NEXT: tir.for %i = %c0 extent [[C10]] {
  // CHECK-NEXT:   [[V1:%.*]] = arith.addi %i, %c2
  // CHECK-NEXT:   %p = arith.cmpi sge, [[V1]], %c4
  // CHECK-NEXT:   %q = arith.cmpi slt, [[V1]], %c8
  // CHECK-NEXT:   %pq = arith.andi %p, %q : i1
  // CHECK-NEXT:   scf.if %pq {
  // CHECK-NEXT:     memref.store %f, %a[[[V1]]]
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CONST:      [[C10:%.*]] = arith.constant 10 : index
  // CONST-NEXT: tir.for %i = %c0 extent [[C10]] {
  // CONST-NEXT:   [[V1:%.*]] = arith.addi %i, %c2
  // CONST-NEXT:   %p = arith.cmpi sge, [[V1]], %c4
  // CONST-NEXT:   %q = arith.cmpi slt, [[V1]], %c8
  // CONST-NEXT:   %pq = arith.andi %p, %q : i1
  // CONST-NEXT:   scf.if %pq {
  // CONST-NEXT:     memref.store %f, %a[[[V1]]]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  tir.for %i = %c0 extent %c12 attributes {pragma_loop_partition_hint} {
    %p = "arith.cmpi"(%i, %c4) <{predicate = 5 : i64}> {ignore_loop_partition} : (index, index) -> i1
    %q = "arith.cmpi"(%i, %c8) <{predicate = 2 : i64}> {ignore_loop_partition} : (index, index) -> i1
    %s = arith.cmpi sge, %i, %c2 : index
    %pq = arith.andi %p, %q : i1
    %pqs = arith.andi %pq, %s : i1
    scf.if %pqs {
      memref.store %f, %a[%i] : memref<12xf32>
    }
  }
}

// A condition that never holds splits nothing: it is replaced.
// CONST-LABEL: @outside
tir.prim_func @outside(%a: memref<4xf32>, %f: f32, %g: f32) {
  // CONST:      tir.for %i = %c0 extent %c4 {
  // CONST-NEXT:   memref.store %g, %a[%i]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c9 = arith.constant 9 : index
  tir.for %i = %c0 extent %c4 {
    %c = arith.cmpi eq, %i, %c9 : index
    %l = tir.likely %c
    scf.if %l {
      memref.store %f, %a[%i] : memref<4xf32>
    } else {
      memref.store %g, %a[%i] : memref<4xf32>
    }
  }
}

// Must not fire: the parts of a vectorized loop would not have a constant extent.
// CONST-LABEL: @constant_extent
tir.prim_func @constant_extent(%a: memref<?xf32>, %n: index, %f: f32) {
  // CONST:      %n3 = arith.addi %n, %c3
  // CONST-NEXT: %e = arith.floordivsi %n3, %c4
  // CONST-NEXT: [[V0:%.*]] = arith.floordivsi %n, %c4
  // CONST-NEXT: [[V1:%.*]] = arith.minsi %e, [[V0]]
  // CONST-NEXT: [[V2:%.*]] = arith.maxsi %c0, [[V1]]
  // CONST-NEXT: tir.for %io = %c0 extent [[V2]] {
  // CONST-NEXT:   tir.for vectorized %ii = %c0 extent %c4 {
  // CONST-NEXT:     %i4 = arith.muli %io, %c4
  // CONST-NEXT:     %i = arith.addi %i4, %ii
  // CONST-NEXT:     memref.store %f, %a[%i]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: [[V3:%.*]] = arith.subi %e, [[V2]]
  // CONST-NEXT: tir.for %io_1 = %c0 extent [[V3]] {
  // CONST-NEXT:   [[V4:%.*]] = arith.addi %io_1, [[V2]]
  // CONST-NEXT:   tir.for vectorized %ii_1 = %c0 extent %c4 {
  // CONST-NEXT:     %i4_1 = arith.muli [[V4]], %c4
  // CONST-NEXT:     %i_1 = arith.addi %i4_1, %ii_1
  // CONST-NEXT:     %p = arith.cmpi slt, %i_1, %n
  // CONST-NEXT:     scf.if %p {
  // CONST-NEXT:       memref.store %f, %a[%i_1]
  // CONST-NEXT:     }
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %n3 = arith.addi %n, %c3 : index
  %e = arith.floordivsi %n3, %c4 : index
  tir.for %io = %c0 extent %e {
    tir.for vectorized %ii = %c0 extent %c4 {
      %i4 = arith.muli %io, %c4 : index
      %i = arith.addi %i4, %ii : index
      %p = arith.cmpi slt, %i, %n : index
      %l = tir.likely %p
      scf.if %l {
        memref.store %f, %a[%i] : memref<?xf32>
      }
    }
  }
}

// Must not fire: the condition is not likely.
// UNCHANGED: @no_likely
tir.prim_func @no_likely(%a: memref<?xf32>, %n: index, %m: index, %f: f32) {
  %c0 = arith.constant 0 : index
  tir.for %i = %c0 extent %n {
    %p = arith.cmpi slt, %i, %m : index
    scf.if %p {
      memref.store %f, %a[%i] : memref<?xf32>
    }
  }
}

// Must not fire: the bound is computed in the loop, from memory.
// CHECK-LABEL: @memory
tir.prim_func @memory(%a: memref<8xindex>, %n: index) {
  // CHECK:      tir.for %i = %c0 extent %n {
  // CHECK-NEXT:   %x = memref.load %a[%c0]
  // CHECK-NEXT:   %p = arith.cmpi slt, %i, %x
  // CHECK-NEXT:   scf.if %p {
  // CHECK-NEXT:     memref.store %i, %a[%i]
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  tir.for %i = %c0 extent %n {
    %x = memref.load %a[%c0] : memref<8xindex>
    %p = arith.cmpi slt, %i, %x : index
    %l = tir.likely %p
    scf.if %l {
      memref.store %i, %a[%i] : memref<8xindex>
    }
  }
}

// Must not fire: before the loop %m may be 0.
// CHECK-LABEL: @division
tir.prim_func @division(%a: memref<8xf32>, %n: index, %m: index, %f: f32) {
  // CHECK:      tir.for %i = %c0 extent %n {
  // CHECK-NEXT:   %p = arith.cmpi sge, %m, %c1
  // CHECK-NEXT:   scf.if %p {
  // CHECK-NEXT:     %d = arith.floordivsi %n, %m
  // CHECK-NEXT:     %q = arith.cmpi slt, %i, %d
  // CHECK-NEXT:     scf.if %q {
  // CHECK-NEXT:       memref.store %f, %a[%i]
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tir.for %i = %c0 extent %n {
    %p = arith.cmpi sge, %m, %c1 : index
    scf.if %p {
      %d = arith.floordivsi %n, %m : index
      %q = arith.cmpi slt, %i, %d : index
      %l = tir.likely %q
      scf.if %l {
        memref.store %f, %a[%i] : memref<8xf32>
      }
    }
  }
}
