// RUN: passline-opt %s -p tir-loop-partition --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop}' --split-input-file | filecheck %s --check-prefix=CONST
// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop no-unroll-loop-with-extent-one}' --split-input-file | filecheck %s --check-prefix=LOOPS
// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop unroll-loop-with-partition-hint-no-interval}' --split-input-file | filecheck %s --check-prefix=UNROLL

// A tail of unknown size: the first loop has no condition, the second one has it. Nothing is run where
// %n is negative (tvm#4243: bounds are clamped unless they are shown to be in order).
// CHECK-LABEL: @basic
tir.prim_func @basic(%a: memref<?xf32>, %n: index, %f: f32) {
  // CHECK:      %n3 = arith.addi %n, %c3
  // CHECK-NEXT: %e = arith.floordivsi %n3, %c4
  // CHECK-NEXT: [[V0:%.*]] = arith.floordivsi %n, %c4
  // CHECK-NEXT: [[V1:%.*]] = arith.minsi %e, [[V0]]
  // CHECK-NEXT: [[V2:%.*]] = arith.maxsi %c0, [[V1]]
  // CHECK-NEXT: tir.for %xo = %c0 extent [[V2]] {
  // CHECK-NEXT:   tir.for %xi = %c0 extent %c4 {
  // CHECK-NEXT:     %x4 = arith.muli %xo, %c4
  // CHECK-NEXT:     %x = arith.addi %x4, %xi
  // CHECK-NEXT:     memref.store %f, %a[%x]
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: [[V3:%.*]] = arith.subi %e, [[V2]]
  // CHECK-NEXT: tir.for %xo_1 = %c0 extent [[V3]] {
  // CHECK-NEXT:   [[V4:%.*]] = arith.addi %xo_1, [[V2]]
  // CHECK-NEXT:   tir.for %xi_1 = %c0 extent %c4 {
  // CHECK-NEXT:     %x4_1 = arith.muli [[V4]], %c4
  // CHECK-NEXT:     %x_1 = arith.addi %x4_1, %xi_1
  // CHECK-NEXT:     %c = arith.cmpi slt, %x_1, %n
  // CHECK-NEXT:     scf.if %c {
  // CHECK-NEXT:       memref.store %f, %a[%x_1]
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %n3 = arith.addi %n, %c3 : index
  %e = arith.floordivsi %n3, %c4 : index
  tir.for %xo = %c0 extent %e {
    tir.for %xi = %c0 extent %c4 {
      %x4 = arith.muli %xo, %c4 : index
      %x = arith.addi %x4, %xi : index
      %c = arith.cmpi slt, %x, %n : index
      %l = tir.likely %c
      scf.if %l {
        memref.store %f, %a[%x] : memref<?xf32>
      }
    }
  }
}

// -----

// Constant bounds, only if asked for: no condition is left, and a part of one iteration is no loop
// unless it is to stay one.
// CONST-LABEL: @const
// LOOPS-LABEL: @const
// CHECK-LABEL: @const
tir.prim_func @const(%a: memref<21xf32>, %f: f32) {
  // CONST:      [[C5:%.*]] = arith.constant 5 : index
  // CONST-NEXT: tir.for %xo = %c0 extent [[C5]] {
  // CONST-NEXT:   tir.for vectorized %xi = %c0 extent %c4 {
  // CONST-NEXT:     %x4 = arith.muli %xo, %c4
  // CONST-NEXT:     %x = arith.addi %x4, %xi
  // CONST-NEXT:     memref.store %f, %a[%x]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: %x4_1 = arith.muli [[C5]], %c4
  // CONST-NEXT: %x_1 = arith.addi %x4_1, %c0
  // CONST-NEXT: memref.store %f, %a[%x_1]
  // CONST-NEXT: }
  // LOOPS:      [[C5:%.*]] = arith.constant 5 : index
  // LOOPS-NEXT: tir.for %xo = %c0 extent [[C5]] {
  // LOOPS-NEXT:   tir.for vectorized %xi = %c0 extent %c4 {
  // LOOPS-NEXT:     %x4 = arith.muli %xo, %c4
  // LOOPS-NEXT:     %x = arith.addi %x4, %xi
  // LOOPS-NEXT:     memref.store %f, %a[%x]
  // LOOPS-NEXT:   }
  // LOOPS-NEXT: }
  // LOOPS-NEXT: [[C1:%.*]] = arith.constant 1 : index
  // LOOPS-NEXT: tir.for %xo_1 = %c0 extent [[C1]] {
  // LOOPS-NEXT:   [[V2:%.*]] = arith.addi %xo_1, [[C5]]
  // LOOPS-NEXT:   tir.for vectorized %xi_1 = %c0 extent [[C1]] {
  // LOOPS-NEXT:     %x4_1 = arith.muli [[V2]], %c4
  // LOOPS-NEXT:     %x_1 = arith.addi %x4_1, %xi_1
  // LOOPS-NEXT:     memref.store %f, %a[%x_1]
  // LOOPS-NEXT:   }
  // LOOPS-NEXT: }
  // LOOPS-NEXT: }
  // CHECK:      tir.for %xo = %c0 extent %c6 {
  // CHECK-NEXT:   tir.for vectorized %xi = %c0 extent %c4 {
  // CHECK-NEXT:     %x4 = arith.muli %xo, %c4
  // CHECK-NEXT:     %x = arith.addi %x4, %xi
  // CHECK-NEXT:     %c = arith.cmpi slt, %x, %n
  // CHECK-NEXT:     scf.if %c {
  // CHECK-NEXT:       memref.store %f, %a[%x]
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 21 : index
  tir.for %xo = %c0 extent %c6 {
    tir.for vectorized %xi = %c0 extent %c4 {
      %x4 = arith.muli %xo, %c4 : index
      %x = arith.addi %x4, %xi : index
      %c = arith.cmpi slt, %x, %n : index
      %l = tir.likely %c
      scf.if %l {
        memref.store %f, %a[%x] : memref<21xf32>
      }
    }
  }
}

// -----

// A condition on three loops, of which the two with unknown bounds are split.
// CHECK-LABEL: @multi_loop
tir.prim_func @multi_loop(%a: memref<?xf32>, %n: index, %m: index, %f: f32, %g: f32) {
  // CHECK:      tir.for %i = %c0 extent %c4 {
  // CHECK-NEXT:   [[V0:%.*]] = arith.subi %n, %m
  // CHECK-NEXT:   [[V1:%.*]] = arith.muli %m, %i
  // CHECK-NEXT:   [[V2:%.*]] = arith.subi [[V0]], [[V1]]
  // CHECK-NEXT:   [[C1:%.*]] = arith.constant 1 : index
  // CHECK-NEXT:   [[V4:%.*]] = arith.addi [[V2]], [[C1]]
  // CHECK-NEXT:   [[V5:%.*]] = arith.minsi %n, [[V4]]
  // CHECK-NEXT:   [[V6:%.*]] = arith.maxsi %c0, [[V5]]
  // CHECK-NEXT:   tir.for %j = %c0 extent [[V6]] {
  // CHECK-NEXT:     tir.for %k = %c0 extent %m {
  // CHECK-NEXT:       memref.store %f, %a[%k]
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT:   [[V7:%.*]] = arith.subi %n, [[V6]]
  // CHECK-NEXT:   tir.for %j_1 = %c0 extent [[V7]] {
  // CHECK-NEXT:     [[V8:%.*]] = arith.addi %j_1, [[V6]]
  // CHECK-NEXT:     [[V9:%.*]] = arith.subi %n, [[V1]]
  // CHECK-NEXT:     [[V10:%.*]] = arith.subi [[V9]], [[V6]]
  // CHECK-NEXT:     [[V11:%.*]] = arith.subi [[V10]], %j_1
  // CHECK-NEXT:     [[V12:%.*]] = arith.minsi [[V11]], %m
  // CHECK-NEXT:     [[V13:%.*]] = arith.maxsi %c0, [[V12]]
  // CHECK-NEXT:     tir.for %k_1 = %c0 extent [[V13]] {
  // CHECK-NEXT:       memref.store %f, %a[%k_1]
  // CHECK-NEXT:     }
  // CHECK-NEXT:     [[V14:%.*]] = arith.subi %m, [[V13]]
  // CHECK-NEXT:     tir.for %k_2 = %c0 extent [[V14]] {
  // CHECK-NEXT:       memref.store %g, %a[[[V8]]]
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %n {
      tir.for %k = %c0 extent %m {
        %im = arith.muli %i, %m : index
        %ij = arith.addi %im, %j : index
        %ijk = arith.addi %ij, %k : index
        %c = arith.cmpi slt, %ijk, %n : index
        %l = tir.likely %c
        scf.if %l {
          memref.store %f, %a[%k] : memref<?xf32>
        } else {
          memref.store %g, %a[%j] : memref<?xf32>
        }
      }
    }
  }
}

// -----

// Two conditions: the first part has neither, whatever %k is.
// CHECK-LABEL: @multi_if
tir.prim_func @multi_if(%a: memref<?xf32>, %n: index, %m: index, %f: f32, %g: f32) {
  // CHECK:      tir.for %i = %c0 extent %c4 {
  // CHECK-NEXT:   [[V0:%.*]] = arith.subi %n, %m
  // CHECK-NEXT:   [[V1:%.*]] = arith.muli %m, %i
  // CHECK-NEXT:   [[V2:%.*]] = arith.subi [[V0]], [[V1]]
  // CHECK-NEXT:   [[V3:%.*]] = arith.muli %m, %i
  // CHECK-NEXT:   [[V4:%.*]] = arith.subi %n, [[V3]]
  // CHECK-NEXT:   [[V5:%.*]] = arith.constant -1 : index
  // CHECK-NEXT:   [[V6:%.*]] = arith.addi [[V4]], [[V5]]
  // CHECK-NEXT:   [[V7:%.*]] = arith.minsi [[V2]], [[V6]]
  // CHECK-NEXT:   [[C1:%.*]] = arith.constant 1 : index
  // CHECK-NEXT:   [[V9:%.*]] = arith.addi [[V7]], [[C1]]
  // CHECK-NEXT:   [[V10:%.*]] = arith.minsi %n, [[V9]]
  // CHECK-NEXT:   [[V11:%.*]] = arith.maxsi %c0, [[V10]]
  // CHECK-NEXT:   tir.for %j = %c0 extent [[V11]] {
  // CHECK-NEXT:     tir.for %k = %c0 extent %m {
  // CHECK-NEXT:       memref.store %f, %a[%k]
  // CHECK-NEXT:       memref.store %f, %a[%j]
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT:   [[V12:%.*]] = arith.subi %n, [[V11]]
  // CHECK-NEXT:   tir.for %j_1 = %c0 extent [[V12]] {
  // CHECK-NEXT:     [[V13:%.*]] = arith.addi %j_1, [[V11]]
  // CHECK-NEXT:     [[V14:%.*]] = arith.addi [[V1]], [[V11]]
  // CHECK-NEXT:     [[V15:%.*]] = arith.addi [[V14]], %j_1
  // CHECK-NEXT:     [[V16:%.*]] = arith.subi [[V15]], %n
  // CHECK-NEXT:     [[V17:%.*]] = arith.addi [[V16]], [[C1]]
  // CHECK-NEXT:     [[V18:%.*]] = arith.minsi [[V17]], %m
  // CHECK-NEXT:     [[V19:%.*]] = arith.maxsi %c0, [[V18]]
  // CHECK-NEXT:     tir.for %k_1 = %c0 extent [[V19]] {
  // CHECK-NEXT:       %im = arith.muli %i, %m
  // CHECK-NEXT:       %ij = arith.addi %im, [[V13]]
  // CHECK-NEXT:       %ijk = arith.addi %ij, %k_1
  // CHECK-NEXT:       %c = arith.cmpi slt, %ijk, %n
  // CHECK-NEXT:       scf.if %c {
  // CHECK-NEXT:         memref.store %f, %a[%k_1]
  // CHECK-NEXT:       } else {
  // CHECK-NEXT:         memref.store %g, %a[[[V13]]]
  // CHECK-NEXT:       }
  // CHECK-NEXT:       memref.store %g, %a[%k_1]
  // CHECK-NEXT:     }
  // CHECK-NEXT:     [[V20:%.*]] = arith.subi %n, [[V1]]
  // CHECK-NEXT:     [[V21:%.*]] = arith.subi [[V20]], [[V11]]
  // CHECK-NEXT:     [[V22:%.*]] = arith.subi [[V21]], %j_1
  // CHECK-NEXT:     [[V23:%.*]] = arith.minsi [[V22]], %m
  // CHECK-NEXT:     [[V24:%.*]] = arith.maxsi [[V19]], [[V23]]
  // CHECK-NEXT:     [[V25:%.*]] = arith.subi [[V24]], [[V19]]
  // CHECK-NEXT:     tir.for %k_2 = %c0 extent [[V25]] {
  // CHECK-NEXT:       [[V26:%.*]] = arith.addi %k_2, [[V19]]
  // CHECK-NEXT:       memref.store %f, %a[[[V26]]]
  // CHECK-NEXT:       memref.store %f, %a[[[V13]]]
  // CHECK-NEXT:     }
  // CHECK-NEXT:     [[V27:%.*]] = arith.subi %m, [[V24]]
  // CHECK-NEXT:     tir.for %k_3 = %c0 extent [[V27]] {
  // CHECK-NEXT:       [[V28:%.*]] = arith.addi %k_3, [[V24]]
  // CHECK-NEXT:       %im_1 = arith.muli %i, %m
  // CHECK-NEXT:       %ij_1 = arith.addi %im_1, [[V13]]
  // CHECK-NEXT:       memref.store %g, %a[[[V13]]]
  // CHECK-NEXT:       %ijk2 = arith.subi %ij_1, [[V28]]
  // CHECK-NEXT:       %c2 = arith.cmpi slt, %ijk2, %n
  // CHECK-NEXT:       scf.if %c2 {
  // CHECK-NEXT:         memref.store %f, %a[[[V13]]]
  // CHECK-NEXT:       } else {
  // CHECK-NEXT:         memref.store %g, %a[[[V28]]]
  // CHECK-NEXT:       }
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %n {
      tir.for %k = %c0 extent %m {
        %im = arith.muli %i, %m : index
        %ij = arith.addi %im, %j : index
        %ijk = arith.addi %ij, %k : index
        %c = arith.cmpi slt, %ijk, %n : index
        %l = tir.likely %c
        scf.if %l {
          memref.store %f, %a[%k] : memref<?xf32>
        } else {
          memref.store %g, %a[%j] : memref<?xf32>
        }
        %ijk2 = arith.subi %ij, %k : index
        %c2 = arith.cmpi slt, %ijk2, %n : index
        %l2 = tir.likely %c2
        scf.if %l2 {
          memref.store %f, %a[%j] : memref<?xf32>
        } else {
          memref.store %g, %a[%k] : memref<?xf32>
        }
      }
    }
  }
}

// -----

// The condition of a select.
// CHECK-LABEL: @select
tir.prim_func @select(%a: memref<8xf32>, %n: index, %f: f32, %g: f32) {
  // CHECK:      %n3 = arith.addi %n, %c3
  // CHECK-NEXT: %e = arith.divsi %n3, %c4
  // CHECK-NEXT: [[V0:%.*]] = arith.floordivsi %n, %c4
  // CHECK-NEXT: [[V1:%.*]] = arith.minsi %e, [[V0]]
  // CHECK-NEXT: [[V2:%.*]] = arith.maxsi %c0, [[V1]]
  // CHECK-NEXT: tir.for %i = %c0 extent [[V2]] {
  // CHECK-NEXT:   tir.for %j = %c0 extent %c4 {
  // CHECK-NEXT:     %i4 = arith.muli %i, %c4
  // CHECK-NEXT:     %x = arith.addi %i4, %j
  // CHECK-NEXT:     memref.store %f, %a[%x]
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: [[V3:%.*]] = arith.subi %e, [[V2]]
  // CHECK-NEXT: tir.for %i_1 = %c0 extent [[V3]] {
  // CHECK-NEXT:   [[V4:%.*]] = arith.addi %i_1, [[V2]]
  // CHECK-NEXT:   tir.for %j_1 = %c0 extent %c4 {
  // CHECK-NEXT:     %i4_1 = arith.muli [[V4]], %c4
  // CHECK-NEXT:     %x_1 = arith.addi %i4_1, %j_1
  // CHECK-NEXT:     %c = arith.cmpi slt, %x_1, %n
  // CHECK-NEXT:     %s = arith.select %c, %f, %g : f32
  // CHECK-NEXT:     memref.store %s, %a[%x_1]
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %n3 = arith.addi %n, %c3 : index
  %e = arith.divsi %n3, %c4 : index
  tir.for %i = %c0 extent %e {
    tir.for %j = %c0 extent %c4 {
      %i4 = arith.muli %i, %c4 : index
      %x = arith.addi %i4, %j : index
      %c = arith.cmpi slt, %x, %n : index
      %l = tir.likely %c
      %s = arith.select %l, %f, %g : f32
      memref.store %s, %a[%x] : memref<8xf32>
    }
  }
}

// -----

// An equation: a point, and what is before and after it.
// CONST-LABEL: @eq
tir.prim_func @eq(%a: memref<10xf32>, %f: f32, %g: f32) {
  // CONST:      tir.for %i = %c0 extent %c5 {
  // CONST-NEXT:   memref.store %g, %a[%i]
  // CONST-NEXT: }
  // CONST-NEXT: memref.store %f, %a[%c5]
  // CONST-NEXT: [[C6:%.*]] = arith.constant 6 : index
  // CONST-NEXT: [[C4:%.*]] = arith.constant 4 : index
  // CONST-NEXT: tir.for %i_1 = %c0 extent [[C4]] {
  // CONST-NEXT:   [[V2:%.*]] = arith.addi %i_1, [[C6]]
  // CONST-NEXT:   memref.store %g, %a[[[V2]]]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c10 = arith.constant 10 : index
  tir.for %i = %c0 extent %c10 {
    %c = arith.cmpi eq, %i, %c5 : index
    %l = tir.likely %c
    %s = arith.select %l, %f, %g : f32
    memref.store %s, %a[%i] : memref<10xf32>
  }
}

// -----

// Must not fire: nothing is known of the quotient by a variable.
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

// -----

// Conditions in each other, in three loop nests.
// CONST-LABEL: @pool
tir.prim_func @pool(%data: memref<18xf32>, %out: memref<16xf32>) {
  // CONST-NOT:  scf.if
  // CONST:      tir.for %ow = %c0 extent %c14 {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %kw = %c0 extent %c3 {
  // CONST:          memref.store %z, %out[{{%.*}}]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %kw_1 = %c0 extent %c2 {
  // CONST:        memref.store %z_1, %out[%c0]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %kw_2 = %c0 extent %c2 {
  // CONST:        memref.store %z_2, %out[%c15]
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c14 = arith.constant 14 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  tir.for %ow = %c0 extent %c16 {
    tir.for %kw = %c0 extent %c3 {
      %p = arith.cmpi sgt, %ow, %c0 : index
      %lp = tir.likely %p
      scf.if %lp {
        %q = arith.cmpi slt, %ow, %c15 : index
        %lq = tir.likely %q
        scf.if %lq {
          %x = memref.load %out[%ow] : memref<16xf32>
          %i = arith.addi %ow, %kw : index
          %y = memref.load %data[%i] : memref<18xf32>
          %z = arith.maximumf %x, %y : f32
          memref.store %z, %out[%ow] : memref<16xf32>
        }
      }
    }
  }
  tir.for %ow = %c0 extent %c16 {
    tir.for %kw = %c0 extent %c3 {
      %p = arith.cmpi slt, %ow, %c1 : index
      %lp = tir.likely %p
      scf.if %lp {
        %q = arith.cmpi sgt, %kw, %c0 : index
        %lq = tir.likely %q
        scf.if %lq {
          %x = memref.load %out[%ow] : memref<16xf32>
          %i = arith.addi %ow, %kw : index
          %y = memref.load %data[%i] : memref<18xf32>
          %z = arith.maximumf %x, %y : f32
          memref.store %z, %out[%ow] : memref<16xf32>
        }
      }
    }
  }
  tir.for %ow = %c0 extent %c16 {
    tir.for %kw = %c0 extent %c3 {
      %p = arith.cmpi sgt, %ow, %c14 : index
      %lp = tir.likely %p
      scf.if %lp {
        %q = arith.cmpi slt, %kw, %c2 : index
        %lq = tir.likely %q
        scf.if %lq {
          %x = memref.load %out[%ow] : memref<16xf32>
          %i = arith.addi %ow, %kw : index
          %y = memref.load %data[%i] : memref<18xf32>
          %z = arith.maximumf %x, %y : f32
          memref.store %z, %out[%ow] : memref<16xf32>
        }
      }
    }
  }
}

// -----

// The last tile has nothing.
// CONST-LABEL: @tile
tir.prim_func @tile(%a: memref<160xf32>, %f: f32) {
  // CONST:      [[C10:%.*]] = arith.constant 10 : index
  // CONST-NEXT: tir.for %i = %c0 extent [[C10]] {
  // CONST-NEXT:   tir.for %j = %c0 extent %c16 {
  // CONST-NEXT:     %i16 = arith.muli %i, %c16
  // CONST-NEXT:     %x = arith.addi %i16, %j
  // CONST-NEXT:     memref.store %f, %a[%x]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c11 = arith.constant 11 : index
  %c16 = arith.constant 16 : index
  %c160 = arith.constant 160 : index
  tir.for %i = %c0 extent %c11 {
    tir.for %j = %c0 extent %c16 {
      %i16 = arith.muli %i, %c16 : index
      %x = arith.addi %i16, %j : index
      %c = arith.cmpi slt, %x, %c160 : index
      %l = tir.likely %c
      scf.if %l {
        memref.store %f, %a[%x] : memref<160xf32>
      }
    }
  }
}

// -----

// One or the other branch.
// CONST-LABEL: @choose
tir.prim_func @choose() {
  // CONST:      [[C3:%.*]] = arith.constant 3 : index
  // CONST-NEXT: tir.for %i = %c0 extent [[C3]] {
  // CONST-NEXT:   %head = arith.muli %i, %c32
  // CONST-NEXT:   %tail = arith.addi %head, %c32
  // CONST-NEXT:   tir.call @intrinsic(%head, %tail) : index, index
  // CONST-NEXT: }
  // CONST-NEXT: %head_1 = arith.muli [[C3]], %c32
  // CONST-NEXT: tir.call @intrinsic(%head_1, %c112) : index, index
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c112 = arith.constant 112 : index
  tir.for %i = %c0 extent %c4 {
    %head = arith.muli %i, %c32 : index
    %tail = arith.addi %head, %c32 : index
    %c = arith.cmpi sgt, %tail, %c112 : index
    %l = tir.likely %c
    scf.if %l {
      tir.call @intrinsic(%head, %c112) : index, index
    } else {
      tir.call @intrinsic(%head, %tail) : index, index
    }
  }
}
tir.prim_func @intrinsic(index, index)

// -----

// Large extents.
// CONST-LABEL: @large
tir.prim_func @large() {
  // CONST:      [[C9997:%.*]] = arith.constant 9997 : index
  // CONST-NEXT: tir.for %i = %c0 extent [[C9997]] {
  // CONST-NEXT:   tir.for %j = %c0 extent %c4 {
  // CONST-NEXT:     tir.call @intrinsic(%i, %j) : index, index
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: [[C3:%.*]] = arith.constant 3 : index
  // CONST-NEXT: tir.for %j_1 = %c0 extent [[C3]] {
  // CONST-NEXT:   tir.call @intrinsic([[C9997]], %j_1) : index, index
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c9998 = arith.constant 9998 : index
  %c39991 = arith.constant 39991 : index
  tir.for %i = %c0 extent %c9998 {
    tir.for %j = %c0 extent %c4 {
      %i4 = arith.muli %i, %c4 : index
      %x = arith.addi %i4, %j : index
      %c = arith.cmpi slt, %x, %c39991 : index
      %l = tir.likely %c
      scf.if %l {
        tir.call @intrinsic(%i, %j) : index, index
      }
    }
  }
}
tir.prim_func @intrinsic(index, index)

// -----

// Tiles in two dimensions: four loop nests.
// CONST-LABEL: @tiles2
tir.prim_func @tiles2(%a: memref<14x14xf32>, %f: f32) {
  // CONST-NOT:  scf.if
  // CONST:      tir.for %yo = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %xo = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:          tir.for %yi = %c0 extent %c4 {
  // CONST-NOT:  scf.if
  // CONST:            tir.for %xi = %c0 extent %c4 {
  // CONST:              memref.store %f, %a[%y, %x]
  // CONST-NOT:  scf.if
  // CONST:        tir.for %yi_1 = %c0 extent %c4 {
  // CONST-NOT:  scf.if
  // CONST:          tir.for %xi_1 = %c0 extent {{%.*}} {
  // CONST:            memref.store %f, %a[%y_1, %x_1]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %xo_1 = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %yi_2 = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:          tir.for %xi_2 = %c0 extent %c4 {
  // CONST:            memref.store %f, %a[%y_2, %x_2]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %yi_3 = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %xi_3 = %c0 extent {{%.*}} {
  // CONST:          memref.store %f, %a[%y_3, %x_3]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c14 = arith.constant 14 : index
  tir.for %yo = %c0 extent %c4 {
    tir.for %xo = %c0 extent %c4 {
      tir.for %yi = %c0 extent %c4 {
        tir.for %xi = %c0 extent %c4 {
          %y4 = arith.muli %yo, %c4 : index
          %y = arith.addi %y4, %yi : index
          %cy = arith.cmpi slt, %y, %c14 : index
          %ly = tir.likely %cy
          scf.if %ly {
            %x4 = arith.muli %xo, %c4 : index
            %x = arith.addi %x4, %xi : index
            %cx = arith.cmpi slt, %x, %c14 : index
            %lx = tir.likely %cx
            scf.if %lx {
              memref.store %f, %a[%y, %x] : memref<14x14xf32>
            }
          }
        }
      }
    }
  }
}

// -----

// Tiles of tiles; the parts of an unrolled loop are.
// CONST-LABEL: @two_levels
tir.prim_func @two_levels(%a: memref<130xf32>, %f: f32) {
  // CONST:      tir.for %yoi = %c0 extent %c16 {
  // CONST-NEXT:   tir.for unrolled %yi = %c0 extent %c8 {
  // CONST-NEXT:     %yoo16 = arith.muli %c0, %c16
  // CONST-NEXT:     %yo = arith.addi %yoo16, %yoi
  // CONST-NEXT:     %yo8 = arith.muli %yo, %c8
  // CONST-NEXT:     %y = arith.addi %yo8, %yi
  // CONST-NEXT:     memref.store %f, %a[%y]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: [[C1:%.*]] = arith.constant 1 : index
  // CONST-NEXT: tir.for unrolled %yi_1 = %c0 extent %c2 {
  // CONST-NEXT:   %yoo16_1 = arith.muli [[C1]], %c16
  // CONST-NEXT:   %yo_1 = arith.addi %yoo16_1, %c0
  // CONST-NEXT:   %yo8_1 = arith.muli %yo_1, %c8
  // CONST-NEXT:   %y_1 = arith.addi %yo8_1, %yi_1
  // CONST-NEXT:   memref.store %f, %a[%y_1]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c17 = arith.constant 17 : index
  %c130 = arith.constant 130 : index
  tir.for %yoo = %c0 extent %c2 {
    tir.for %yoi = %c0 extent %c16 {
      tir.for unrolled %yi = %c0 extent %c8 {
        %yoo16 = arith.muli %yoo, %c16 : index
        %yo = arith.addi %yoo16, %yoi : index
        %co = arith.cmpi slt, %yo, %c17 : index
        %lo = tir.likely %co
        scf.if %lo {
          %yo8 = arith.muli %yo, %c8 : index
          %y = arith.addi %yo8, %yi : index
          %c = arith.cmpi slt, %y, %c130 : index
          %l = tir.likely %c
          scf.if %l {
            memref.store %f, %a[%y] : memref<130xf32>
          }
        }
      }
    }
  }
}

// -----

// A tail in a tail, and statements beside it.
// CONST-LABEL: @double
tir.prim_func @double(%a: memref<48xf32>, %b: memref<48xf32>) {
  // CONST-NOT:  scf.if
  // CONST:      tir.for %co = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %ci = %c0 extent %c10 {
  // CONST:          memref.store %v, %b[%x]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %ci_1 = %c0 extent %c2 {
  // CONST:        memref.store %v_1, %b[%x_1]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %di = %c0 extent %c32 {
  // CONST:        memref.store %w, %b[%x_2]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %ci_2 = %c0 extent %c10 {
  // CONST:        memref.store %v_3, %b[%x_3]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %ci_3 = %c0 extent {{%.*}} {
  // CONST:        memref.store %v_4, %b[%x_4]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %di_1 = %c0 extent {{%.*}} {
  // CONST:        memref.store %w_1, %b[%x_5]
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  tir.for %do = %c0 extent %c2 {
    %do32 = arith.muli %do, %c32 : index
    tir.for %co = %c0 extent %c4 {
      tir.for %ci = %c0 extent %c10 {
        %co10 = arith.muli %co, %c10 : index
        %i = arith.addi %co10, %ci : index
        %x = arith.addi %do32, %i : index
        %p = arith.cmpi slt, %x, %c48 : index
        %lp = tir.likely %p
        scf.if %lp {
          %q = arith.cmpi slt, %i, %c32 : index
          %lq = tir.likely %q
          scf.if %lq {
            %v = memref.load %a[%x] : memref<48xf32>
            memref.store %v, %b[%x] : memref<48xf32>
          }
        }
      }
    }
    tir.for %di = %c0 extent %c32 {
      %x = arith.addi %do32, %di : index
      %p = arith.cmpi slt, %x, %c48 : index
      %lp = tir.likely %p
      scf.if %lp {
        %v = memref.load %b[%x] : memref<48xf32>
        %w = arith.addf %v, %v : f32
        memref.store %w, %b[%x] : memref<48xf32>
      }
    }
  }
}

// -----

// A matrix product in tiles, the inner loops of which are unrolled and vectorized: main loops without
// conditions, tails of constant extents.
// CONST-LABEL: @kernel
tir.prim_func @kernel(%a: memref<10x6xf32>, %b: memref<6x7xf32>, %r: memref<10x7xf32>) {
  // CONST-NOT:  scf.if
  // CONST:      tir.for parallel %io = %c0 extent %c2 {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %k = %c0 extent %c6 {
  // CONST-NOT:  scf.if
  // CONST:          tir.for unrolled %ii = %c0 extent %c4 {
  // CONST-NOT:  scf.if
  // CONST:            tir.for vectorized %ji = %c0 extent %c4 {
  // CONST:              memref.store %s, %r[%i, %j]
  // CONST-NOT:  scf.if
  // CONST:        tir.for %k_1 = %c0 extent %c6 {
  // CONST-NOT:  scf.if
  // CONST:          tir.for unrolled %ii_1 = %c0 extent %c4 {
  // CONST-NOT:  scf.if
  // CONST:            tir.for vectorized %ji_1 = %c0 extent %c3 {
  // CONST:              memref.store %s_1, %r[%i_1, %j_1]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %k_2 = %c0 extent %c6 {
  // CONST-NOT:  scf.if
  // CONST:        tir.for unrolled %ii_2 = %c0 extent %c2 {
  // CONST-NOT:  scf.if
  // CONST:          tir.for vectorized %ji_2 = %c0 extent %c4 {
  // CONST:            memref.store %s_2, %r[%i_2, %j_2]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %k_3 = %c0 extent %c6 {
  // CONST-NOT:  scf.if
  // CONST:        tir.for unrolled %ii_3 = %c0 extent %c2 {
  // CONST-NOT:  scf.if
  // CONST:          tir.for vectorized %ji_3 = %c0 extent %c3 {
  // CONST:            memref.store %s_3, %r[%i_3, %j_3]
  // CONST-NEXT:     }
  // CONST-NEXT:   }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c10 = arith.constant 10 : index
  tir.for parallel %io = %c0 extent %c3 {
    tir.for %jo = %c0 extent %c2 {
      tir.for %k = %c0 extent %c6 {
        tir.for unrolled %ii = %c0 extent %c4 {
          %i4 = arith.muli %io, %c4 : index
          %i = arith.addi %i4, %ii : index
          %p = arith.cmpi slt, %i, %c10 : index
          %lp = tir.likely %p
          scf.if %lp {
            tir.for vectorized %ji = %c0 extent %c4 {
              %j4 = arith.muli %jo, %c4 : index
              %j = arith.addi %j4, %ji : index
              %q = arith.cmpi slt, %j, %c7 : index
              %lq = tir.likely %q
              scf.if %lq {
                %x = memref.load %a[%i, %k] : memref<10x6xf32>
                %y = memref.load %b[%k, %j] : memref<6x7xf32>
                %z = memref.load %r[%i, %j] : memref<10x7xf32>
                %xy = arith.mulf %x, %y : f32
                %s = arith.addf %z, %xy : f32
                memref.store %s, %r[%i, %j] : memref<10x7xf32>
              }
            }
          }
        }
      }
    }
  }
}

// -----

// A loop over blocks stays, the innermost thread chooses.
// CHECK-LABEL: @threads
tir.prim_func @threads(%a: memref<?xf32>, %m: index, %f: f32) {
  // CHECK:      %m31 = arith.addi %m, %c31
  // CHECK-NEXT: %e = arith.floordivsi %m31, %c32
  // CHECK-NEXT: [[V0:%.*]] = arith.floordivsi %m, %c32
  // CHECK-NEXT: [[V1:%.*]] = arith.minsi %e, [[V0]]
  // CHECK-NEXT: [[V2:%.*]] = arith.maxsi %c0, [[V1]]
  // CHECK-NEXT: tir.for thread_binding "blockIdx.x" %bx = %c0 extent %e {
  // CHECK-NEXT:   tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c32 {
  // CHECK-NEXT:     [[V3:%.*]] = arith.cmpi slt, %bx, [[V2]]
  // CHECK-NEXT:     scf.if [[V3]] {
  // CHECK-NEXT:       %b = arith.muli %bx, %c32
  // CHECK-NEXT:       %x = arith.addi %b, %tx
  // CHECK-NEXT:       memref.store %f, %a[%x]
  // CHECK-NEXT:     } else {
  // CHECK-NEXT:       %b_1 = arith.muli %bx, %c32
  // CHECK-NEXT:       %x_1 = arith.addi %b_1, %tx
  // CHECK-NEXT:       %c = arith.cmpi slt, %x_1, %m
  // CHECK-NEXT:       scf.if %c {
  // CHECK-NEXT:         memref.store %f, %a[%x_1]
  // CHECK-NEXT:       }
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c31 = arith.constant 31 : index
  %m31 = arith.addi %m, %c31 : index
  %e = arith.floordivsi %m31, %c32 : index
  tir.for thread_binding "blockIdx.x" %bx = %c0 extent %e {
    tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c32 {
      %b = arith.muli %bx, %c32 : index
      %x = arith.addi %b, %tx : index
      %c = arith.cmpi slt, %x, %m : index
      %l = tir.likely %c
      scf.if %l {
        memref.store %f, %a[%x] : memref<?xf32>
      }
    }
  }
}

// -----

// Both ends of the middle are asked for, in the thread.
// CONST-LABEL: @between
tir.prim_func @between(%a: memref<26xf32>, %f: f32) {
  // CONST:      [[C1:%.*]] = arith.constant 1 : index
  // CONST-NEXT: tir.for thread_binding "blockIdx.x" %bx = %c0 extent %c4 {
  // CONST-NEXT:   tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c8 {
  // CONST-NEXT:     [[V1:%.*]] = arith.cmpi sge, %bx, [[C1]]
  // CONST-NEXT:     [[V2:%.*]] = arith.cmpi slt, %bx, %c3
  // CONST-NEXT:     [[V3:%.*]] = arith.andi [[V1]], [[V2]] : i1
  // CONST-NEXT:     scf.if [[V3]] {
  // CONST-NEXT:       %b = arith.muli %bx, %c8
  // CONST-NEXT:       %x = arith.addi %b, %tx
  // CONST-NEXT:       %i = arith.subi %x, %c3
  // CONST-NEXT:       memref.store %f, %a[%i]
  // CONST-NEXT:     } else {
  // CONST-NEXT:       %b_1 = arith.muli %bx, %c8
  // CONST-NEXT:       %x_1 = arith.addi %b_1, %tx
  // CONST-NEXT:       %p = arith.cmpi sge, %x_1, %c3
  // CONST-NEXT:       %q = arith.cmpi slt, %x_1, %c29
  // CONST-NEXT:       %pq = arith.andi %p, %q : i1
  // CONST-NEXT:       scf.if %pq {
  // CONST-NEXT:         %i_1 = arith.subi %x_1, %c3
  // CONST-NEXT:         memref.store %f, %a[%i_1]
  // CONST-NEXT:       }
  // CONST-NEXT:     }
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c29 = arith.constant 29 : index
  tir.for thread_binding "blockIdx.x" %bx = %c0 extent %c4 {
    tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c8 {
      %b = arith.muli %bx, %c8 : index
      %x = arith.addi %b, %tx : index
      %p = arith.cmpi sge, %x, %c3 : index
      %q = arith.cmpi slt, %x, %c29 : index
      %pq = arith.andi %p, %q : i1
      %l = tir.likely %pq
      scf.if %l {
        %i = arith.subi %x, %c3 : index
        memref.store %f, %a[%i] : memref<26xf32>
      }
    }
  }
}

// -----

// The bounds of the parts are the same for all threads.
// CHECK-LABEL: @inner_of_threads
tir.prim_func @inner_of_threads(%a: memref<32xf32>, %m: index, %f: f32) {
  // CHECK:      tir.for thread_binding "blockIdx.x" %bx = %c0 extent %c4 {
  // CHECK-NEXT:   tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c8 {
  // CHECK-NEXT:     [[C25:%.*]] = arith.constant 25 : index
  // CHECK-NEXT:     [[V1:%.*]] = arith.muli %bx, %c8
  // CHECK-NEXT:     [[V2:%.*]] = arith.subi [[C25]], [[V1]]
  // CHECK-NEXT:     [[V3:%.*]] = arith.minsi %m, [[V2]]
  // CHECK-NEXT:     [[V4:%.*]] = arith.maxsi %c0, [[V3]]
  // CHECK-NEXT:     tir.for %i = %c0 extent [[V4]] {
  // CHECK-NEXT:       %b = arith.muli %bx, %c8
  // CHECK-NEXT:       %x0 = arith.addi %b, %tx
  // CHECK-NEXT:       %x = arith.addi %x0, %i
  // CHECK-NEXT:       memref.store %f, %a[%x]
  // CHECK-NEXT:     }
  // CHECK-NEXT:     [[V5:%.*]] = arith.subi %m, [[V4]]
  // CHECK-NEXT:     tir.for %i_1 = %c0 extent [[V5]] {
  // CHECK-NEXT:       [[V6:%.*]] = arith.addi %i_1, [[V4]]
  // CHECK-NEXT:       %b_1 = arith.muli %bx, %c8
  // CHECK-NEXT:       %x0_1 = arith.addi %b_1, %tx
  // CHECK-NEXT:       %x_1 = arith.addi %x0_1, [[V6]]
  // CHECK-NEXT:       %c = arith.cmpi slt, %x_1, %c32
  // CHECK-NEXT:       scf.if %c {
  // CHECK-NEXT:         memref.store %f, %a[%x_1]
  // CHECK-NEXT:       }
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  tir.for thread_binding "blockIdx.x" %bx = %c0 extent %c4 {
    tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c8 {
      tir.for %i = %c0 extent %m {
        %b = arith.muli %bx, %c8 : index
        %x0 = arith.addi %b, %tx : index
        %x = arith.addi %x0, %i : index
        %c = arith.cmpi slt, %x, %c32 : index
        %l = tir.likely %c
        scf.if %l {
          memref.store %f, %a[%x] : memref<32xf32>
        }
      }
    }
  }
}

// -----

// The condition of the choice does not depend on the variable of the vectorized loop.
// CHECK-LABEL: @vectorized
tir.prim_func @vectorized(%a: memref<?xf32>, %m: index, %f: f32) {
  // CHECK:      %m31 = arith.addi %m, %c127
  // CHECK-NEXT: %e = arith.floordivsi %m31, %c128
  // CHECK-NEXT: [[V0:%.*]] = arith.floordivsi %m, %c128
  // CHECK-NEXT: [[V1:%.*]] = arith.minsi %e, [[V0]]
  // CHECK-NEXT: [[V2:%.*]] = arith.maxsi %c0, [[V1]]
  // CHECK-NEXT: tir.for thread_binding "blockIdx.x" %bx = %c0 extent %e {
  // CHECK-NEXT:   tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c32 {
  // CHECK-NEXT:     [[V3:%.*]] = arith.cmpi slt, %bx, [[V2]]
  // CHECK-NEXT:     scf.if [[V3]] {
  // CHECK-NEXT:       tir.for vectorized %i = %c0 extent %c4 {
  // CHECK-NEXT:         %b = arith.muli %bx, %c128
  // CHECK-NEXT:         %t = arith.muli %tx, %c4
  // CHECK-NEXT:         %x0 = arith.addi %b, %t
  // CHECK-NEXT:         %x = arith.addi %x0, %i
  // CHECK-NEXT:         memref.store %f, %a[%x]
  // CHECK-NEXT:       }
  // CHECK-NEXT:     } else {
  // CHECK-NEXT:       tir.for vectorized %i_1 = %c0 extent %c4 {
  // CHECK-NEXT:         %b_1 = arith.muli %bx, %c128
  // CHECK-NEXT:         %t_1 = arith.muli %tx, %c4
  // CHECK-NEXT:         %x0_1 = arith.addi %b_1, %t_1
  // CHECK-NEXT:         %x_1 = arith.addi %x0_1, %i_1
  // CHECK-NEXT:         %c = arith.cmpi slt, %x_1, %m
  // CHECK-NEXT:         scf.if %c {
  // CHECK-NEXT:           memref.store %f, %a[%x_1]
  // CHECK-NEXT:         }
  // CHECK-NEXT:       }
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %c127 = arith.constant 127 : index
  %m31 = arith.addi %m, %c127 : index
  %e = arith.floordivsi %m31, %c128 : index
  tir.for thread_binding "blockIdx.x" %bx = %c0 extent %e {
    tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c32 {
      tir.for vectorized %i = %c0 extent %c4 {
        %b = arith.muli %bx, %c128 : index
        %t = arith.muli %tx, %c4 : index
        %x0 = arith.addi %b, %t : index
        %x = arith.addi %x0, %i : index
        %c = arith.cmpi slt, %x, %m : index
        %l = tir.likely %c
        scf.if %l {
          memref.store %f, %a[%x] : memref<?xf32>
        }
      }
    }
  }
}

// -----

// A hint: any comparison counts. Three branches, of which one is taken.
// CONST-LABEL: @exclusive
tir.prim_func @exclusive(%a: memref<64x3xf32>, %b: memref<32x3xf32>, %c: memref<32x3xf32>, %r: memref<128x3xf32>) {
  // CONST:      tir.for %i = %c0 extent %c64 {
  // CONST-NEXT:   tir.for %j = %c0 extent %c3 {
  // CONST-NEXT:     %x = memref.load %a[%i, %j]
  // CONST-NEXT:     memref.store %x, %r[%i, %j]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: [[C32:%.*]] = arith.constant 32 : index
  // CONST-NEXT: tir.for %i_1 = %c0 extent [[C32]] {
  // CONST-NEXT:   [[V1:%.*]] = arith.addi %i_1, %c64
  // CONST-NEXT:   tir.for %j_1 = %c0 extent %c3 {
  // CONST-NEXT:     %k = arith.subi [[V1]], %c64
  // CONST-NEXT:     %x_1 = memref.load %b[%k, %j_1]
  // CONST-NEXT:     memref.store %x_1, %r[[[V1]], %j_1]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: [[C32_:%.*]] = arith.constant 32 : index
  // CONST-NEXT: tir.for %i_2 = %c0 extent [[C32_]] {
  // CONST-NEXT:   [[V3:%.*]] = arith.addi %i_2, %c96
  // CONST-NEXT:   tir.for %j_2 = %c0 extent %c3 {
  // CONST-NEXT:     %k_1 = arith.subi [[V3]], %c96
  // CONST-NEXT:     %x_2 = memref.load %c[%k_1, %j_2]
  // CONST-NEXT:     memref.store %x_2, %r[[[V3]], %j_2]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  tir.for %i = %c0 extent %c128 attributes {pragma_loop_partition_hint = 1 : i32} {
    tir.for %j = %c0 extent %c3 {
      %p = arith.cmpi sle, %c96, %i : index
      scf.if %p {
        %k = arith.subi %i, %c96 : index
        %x = memref.load %c[%k, %j] : memref<32x3xf32>
        memref.store %x, %r[%i, %j] : memref<128x3xf32>
      }
      %q0 = arith.cmpi sle, %c64, %i : index
      %q1 = arith.cmpi slt, %i, %c96 : index
      %q = arith.andi %q0, %q1 : i1
      scf.if %q {
        %k = arith.subi %i, %c64 : index
        %x = memref.load %b[%k, %j] : memref<32x3xf32>
        memref.store %x, %r[%i, %j] : memref<128x3xf32>
      }
      %s = arith.cmpi slt, %i, %c64 : index
      scf.if %s {
        %x = memref.load %a[%i, %j] : memref<64x3xf32>
        memref.store %x, %r[%i, %j] : memref<128x3xf32>
      }
    }
  }
}

// -----

// Two iterations at the start, in which the condition depends on an inner loop, are to be unrolled; that
// on %k stays.
// UNROLL-LABEL: @unroll_hint
tir.prim_func @unroll_hint(%a: memref<1x56xf32>, %r: memref<28x7x2xf32>) {
  // UNROLL:      tir.for unrolled %i = %c0 extent %c2 {
  // UNROLL-NEXT:   tir.for %j = %c0 extent %c7 {
  // UNROLL-NEXT:     tir.for %k = %c0 extent %c2 {
  // UNROLL-NEXT:       %i2 = arith.muli %i, %c2
  // UNROLL-NEXT:       %x = arith.addi %i2, %j
  // UNROLL-NEXT:       %p0 = arith.cmpi sle, %c3, %x
  // UNROLL-NEXT:       %p2 = arith.cmpi slt, %k, %c1
  // UNROLL-NEXT:       %p = arith.andi %p0, %p2 : i1
  // UNROLL-NEXT:       scf.if %p {
  // UNROLL-NEXT:         %x3 = arith.subi %x, %c3
  // UNROLL-NEXT:         %v = memref.load %a[%k, %x3]
  // UNROLL-NEXT:         memref.store %v, %r[%i, %j, %k]
  // UNROLL-NEXT:       }
  // UNROLL-NEXT:     }
  // UNROLL-NEXT:   }
  // UNROLL-NEXT: }
  // UNROLL-NEXT: [[C25:%.*]] = arith.constant 25 : index
  // UNROLL-NEXT: tir.for %i_1 = %c0 extent [[C25]] {
  // UNROLL-NEXT:   [[V1:%.*]] = arith.addi %i_1, %c2
  // UNROLL-NEXT:   tir.for %j_1 = %c0 extent %c7 {
  // UNROLL-NEXT:     tir.for %k_1 = %c0 extent %c2 {
  // UNROLL-NEXT:       %i2_1 = arith.muli [[V1]], %c2
  // UNROLL-NEXT:       %x_1 = arith.addi %i2_1, %j_1
  // UNROLL-NEXT:       %p2_1 = arith.cmpi slt, %k_1, %c1
  // UNROLL-NEXT:       scf.if %p2_1 {
  // UNROLL-NEXT:         %x3_1 = arith.subi %x_1, %c3
  // UNROLL-NEXT:         %v_1 = memref.load %a[%k_1, %x3_1]
  // UNROLL-NEXT:         memref.store %v_1, %r[[[V1]], %j_1, %k_1]
  // UNROLL-NEXT:       }
  // UNROLL-NEXT:     }
  // UNROLL-NEXT:   }
  // UNROLL-NEXT: }
  // UNROLL-NEXT: [[C27:%.*]] = arith.constant 27 : index
  // UNROLL-NEXT: tir.for %j_2 = %c0 extent %c7 {
  // UNROLL-NEXT:   tir.for %k_2 = %c0 extent %c2 {
  // UNROLL-NEXT:     %i2_2 = arith.muli [[C27]], %c2
  // UNROLL-NEXT:     %x_2 = arith.addi %i2_2, %j_2
  // UNROLL-NEXT:     %p1 = arith.cmpi slt, %x_2, %c59
  // UNROLL-NEXT:     %p2_2 = arith.cmpi slt, %k_2, %c1
  // UNROLL-NEXT:     %p_1 = arith.andi %p1, %p2_2 : i1
  // UNROLL-NEXT:     scf.if %p_1 {
  // UNROLL-NEXT:       %x3_2 = arith.subi %x_2, %c3
  // UNROLL-NEXT:       %v_2 = memref.load %a[%k_2, %x3_2]
  // UNROLL-NEXT:       memref.store %v_2, %r[[[C27]], %j_2, %k_2]
  // UNROLL-NEXT:     }
  // UNROLL-NEXT:   }
  // UNROLL-NEXT: }
  // UNROLL-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c28 = arith.constant 28 : index
  %c59 = arith.constant 59 : index
  tir.for %i = %c0 extent %c28 attributes {pragma_loop_partition_hint} {
    tir.for %j = %c0 extent %c7 {
      tir.for %k = %c0 extent %c2 {
        %i2 = arith.muli %i, %c2 : index
        %x = arith.addi %i2, %j : index
        %p0 = arith.cmpi sle, %c3, %x : index
        %p1 = arith.cmpi slt, %x, %c59 : index
        %p2 = arith.cmpi slt, %k, %c1 : index
        %p01 = arith.andi %p0, %p1 : i1
        %p = arith.andi %p01, %p2 : i1
        scf.if %p {
          %x3 = arith.subi %x, %c3 : index
          %v = memref.load %a[%k, %x3] : memref<1x56xf32>
          memref.store %v, %r[%i, %j, %k] : memref<28x7x2xf32>
        }
      }
    }
  }
}

// -----

// Hints on two loops.
// UNROLL-LABEL: @nested_hints
tir.prim_func @nested_hints() {
  // UNROLL:      tir.for unrolled %i = %c0 extent %c2 {
  // UNROLL-NEXT:   tir.for unrolled %j = %c0 extent %c2 {
  // UNROLL-NEXT:     tir.for %y = %c0 extent %c16 {
  // UNROLL-NEXT:       tir.for %x = %c0 extent %c16 {
  // UNROLL-NEXT:         %j4 = arith.muli %j, %c4
  // UNROLL-NEXT:         %jy = arith.addi %j4, %y
  // UNROLL-NEXT:         %i4 = arith.muli %i, %c4
  // UNROLL-NEXT:         %ix = arith.addi %i4, %x
  // UNROLL-NEXT:         %p0 = arith.cmpi sle, %c6, %jy
  // UNROLL-NEXT:         %p2 = arith.cmpi sle, %c6, %ix
  // UNROLL-NEXT:         %p012 = arith.andi %p0, %p2 : i1
  // UNROLL-NEXT:         scf.if %p012 {
  // UNROLL-NEXT:           tir.call @use(%jy, %ix) : index, index
  // UNROLL-NEXT:         }
  // UNROLL-NEXT:       }
  // UNROLL-NEXT:     }
  // UNROLL-NEXT:   }
  // UNROLL-NEXT: }
  // UNROLL-NEXT: tir.for unrolled %j_1 = %c0 extent %c2 {
  // UNROLL-NEXT:   tir.for %y_1 = %c0 extent %c16 {
  // UNROLL-NEXT:     tir.for %x_1 = %c0 extent %c16 {
  // UNROLL-NEXT:       %j4_1 = arith.muli %j_1, %c4
  // UNROLL-NEXT:       %jy_1 = arith.addi %j4_1, %y_1
  // UNROLL-NEXT:       %i4_1 = arith.muli %c2, %c4
  // UNROLL-NEXT:       %ix_1 = arith.addi %i4_1, %x_1
  // UNROLL-NEXT:       %p0_1 = arith.cmpi sle, %c6, %jy_1
  // UNROLL-NEXT:       scf.if %p0_1 {
  // UNROLL-NEXT:         tir.call @use(%jy_1, %ix_1) : index, index
  // UNROLL-NEXT:       }
  // UNROLL-NEXT:     }
  // UNROLL-NEXT:   }
  // UNROLL-NEXT: }
  // UNROLL-NEXT: [[C3:%.*]] = arith.constant 3 : index
  // UNROLL-NEXT: tir.for unrolled %i_1 = %c0 extent %c2 {
  // UNROLL-NEXT:   [[V1:%.*]] = arith.addi %i_1, [[C3]]
  // UNROLL-NEXT:   tir.for unrolled %j_2 = %c0 extent %c2 {
  // UNROLL-NEXT:     tir.for %y_2 = %c0 extent %c16 {
  // UNROLL-NEXT:       tir.for %x_2 = %c0 extent %c16 {
  // UNROLL-NEXT:         %j4_2 = arith.muli %j_2, %c4
  // UNROLL-NEXT:         %jy_2 = arith.addi %j4_2, %y_2
  // UNROLL-NEXT:         %i4_2 = arith.muli [[V1]], %c4
  // UNROLL-NEXT:         %ix_2 = arith.addi %i4_2, %x_2
  // UNROLL-NEXT:         %p0_2 = arith.cmpi sle, %c6, %jy_2
  // UNROLL-NEXT:         %p3 = arith.cmpi slt, %ix_2, %c26
  // UNROLL-NEXT:         %p = arith.andi %p0_2, %p3 : i1
  // UNROLL-NEXT:         scf.if %p {
  // UNROLL-NEXT:           tir.call @use(%jy_2, %ix_2) : index, index
  // UNROLL-NEXT:         }
  // UNROLL-NEXT:       }
  // UNROLL-NEXT:     }
  // UNROLL-NEXT:   }
  // UNROLL-NEXT: }
  // UNROLL-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c16 = arith.constant 16 : index
  %c26 = arith.constant 26 : index
  tir.for %i = %c0 extent %c5 attributes {pragma_loop_partition_hint = true} {
    tir.for %j = %c0 extent %c2 attributes {pragma_loop_partition_hint = true} {
      tir.for %y = %c0 extent %c16 {
        tir.for %x = %c0 extent %c16 {
          %j4 = arith.muli %j, %c4 : index
          %jy = arith.addi %j4, %y : index
          %i4 = arith.muli %i, %c4 : index
          %ix = arith.addi %i4, %x : index
          %p0 = arith.cmpi sle, %c6, %jy : index
          %p1 = arith.cmpi slt, %jy, %c26 : index
          %p2 = arith.cmpi sle, %c6, %ix : index
          %p3 = arith.cmpi slt, %ix, %c26 : index
          %p01 = arith.andi %p0, %p1 : i1
          %p012 = arith.andi %p01, %p2 : i1
          %p = arith.andi %p012, %p3 : i1
          scf.if %p {
            tir.call @use(%jy, %ix) : index, index
          }
        }
      }
    }
  }
}
tir.prim_func @use(index, index)

// -----

// Other annotations stay, the hint does not.
// CONST-LABEL: @chain
tir.prim_func @chain(%a: memref<160xi32>, %b: memref<160xi32>) {
  // CONST:      tir.for %i = %c0 extent %c10 attributes {key = "value"} {
  // CONST-NEXT:   %v = memref.load %a[%i]
  // CONST-NEXT:   %w = arith.addi %v, %one : i32
  // CONST-NEXT:   memref.store %w, %b[%i]
  // CONST-NEXT: }
  // CONST-NEXT: [[C140:%.*]] = arith.constant 140 : index
  // CONST-NEXT: tir.for %i_1 = %c0 extent [[C140]] attributes {key = "value"} {
  // CONST-NEXT:   [[V1:%.*]] = arith.addi %i_1, %c10
  // CONST-NEXT:   %v_1 = memref.load %a[[[V1]]]
  // CONST-NEXT:   %w_1 = arith.addi %v_1, %two : i32
  // CONST-NEXT:   memref.store %w_1, %b[[[V1]]]
  // CONST-NEXT: }
  // CONST-NEXT: tir.for %i_2 = %c0 extent %c10 attributes {key = "value"} {
  // CONST-NEXT:   [[V2:%.*]] = arith.addi %i_2, [[C140]]
  // CONST-NEXT:   [[V3:%.*]] = arith.addi [[V2]], %c10
  // CONST-NEXT:   %v_2 = memref.load %a[[[V3]]]
  // CONST-NEXT:   %w_2 = arith.addi %v_2, %three : i32
  // CONST-NEXT:   memref.store %w_2, %b[[[V3]]]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %c150 = arith.constant 150 : index
  %c160 = arith.constant 160 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  tir.for %i = %c0 extent %c160 attributes {pragma_loop_partition_hint = true, key = "value"} {
    %v = memref.load %a[%i] : memref<160xi32>
    %p = arith.cmpi slt, %i, %c10 : index
    scf.if %p {
      %w = arith.addi %v, %one : i32
      memref.store %w, %b[%i] : memref<160xi32>
    } else {
      %q0 = arith.cmpi sle, %c10, %i : index
      %q1 = arith.cmpi slt, %i, %c150 : index
      %q = arith.andi %q0, %q1 : i1
      scf.if %q {
        %w = arith.addi %v, %two : i32
        memref.store %w, %b[%i] : memref<160xi32>
      } else {
        %w = arith.addi %v, %three : i32
        memref.store %w, %b[%i] : memref<160xi32>
      }
    }
  }
}

// -----

// A loop of one iteration that is to stay one.
// CONST-LABEL: @unit
tir.prim_func @unit(%a: memref<12xf32>, %f: f32, %g: f32) {
  // CONST:      tir.for %k = %c0 extent %c1 attributes {preserve_unit_loop = true} {
  // CONST-NEXT:   tir.for %i = %c0 extent %c4 {
  // CONST-NEXT:     memref.store %f, %a[%i]
  // CONST-NEXT:   }
  // CONST-NEXT:   [[C8:%.*]] = arith.constant 8 : index
  // CONST-NEXT:   tir.for %i_1 = %c0 extent [[C8]] {
  // CONST-NEXT:     [[V1:%.*]] = arith.addi %i_1, %c4
  // CONST-NEXT:     memref.store %g, %a[[[V1]]]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  tir.for %k = %c0 extent %c1 attributes {preserve_unit_loop = true} {
    tir.for %i = %c0 extent %c12 attributes {pragma_loop_partition_hint = true} {
      %k12 = arith.muli %k, %c12 : index
      %x = arith.addi %k12, %i : index
      %p = arith.cmpi slt, %x, %c4 : index
      scf.if %p {
        memref.store %f, %a[%i] : memref<12xf32>
      }
      %q = arith.cmpi sge, %x, %c4 : index
      scf.if %q {
        memref.store %g, %a[%i] : memref<12xf32>
      }
    }
  }
}

// -----

// A single point becomes a statement: in the middle,
// CONST-LABEL: @point
tir.prim_func @point(%a: memref<64xf32>, %b: memref<1xf32>, %c: memref<63xf32>, %r: memref<128xf32>) {
  // CONST:      tir.for %i = %c0 extent %c63 {
  // CONST-NEXT:   %x = memref.load %c[%i]
  // CONST-NEXT:   memref.store %x, %r[%i]
  // CONST-NEXT: }
  // CONST-NEXT: %x_1 = memref.load %b[%c0]
  // CONST-NEXT: memref.store %x_1, %r[%c63]
  // CONST-NEXT: tir.for %i_1 = %c0 extent %c64 {
  // CONST-NEXT:   [[V0:%.*]] = arith.addi %i_1, %c64
  // CONST-NEXT:   %j = arith.subi [[V0]], %c64
  // CONST-NEXT:   %x_2 = memref.load %a[%j]
  // CONST-NEXT:   memref.store %x_2, %r[[[V0]]]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  tir.for %i = %c0 extent %c128 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi sgt, %i, %c63 : index
    scf.if %p {
      %j = arith.subi %i, %c64 : index
      %x = memref.load %a[%j] : memref<64xf32>
      memref.store %x, %r[%i] : memref<128xf32>
    } else {
      %q = arith.cmpi eq, %i, %c63 : index
      scf.if %q {
        %x = memref.load %b[%c0] : memref<1xf32>
        memref.store %x, %r[%i] : memref<128xf32>
      } else {
        %x = memref.load %c[%i] : memref<63xf32>
        memref.store %x, %r[%i] : memref<128xf32>
      }
    }
  }
}

// -----

// at the start,
// CONST-LABEL: @start
tir.prim_func @start(%r: memref<128xf32>, %f: f32, %g: f32) {
  // CONST:      memref.store %f, %r[%c0]
  // CONST-NEXT: [[C1:%.*]] = arith.constant 1 : index
  // CONST-NEXT: [[C127:%.*]] = arith.constant 127 : index
  // CONST-NEXT: tir.for %i = %c0 extent [[C127]] {
  // CONST-NEXT:   [[V2:%.*]] = arith.addi %i, [[C1]]
  // CONST-NEXT:   memref.store %g, %r[[[V2]]]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  tir.for %i = %c0 extent %c128 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi eq, %i, %c0 : index
    scf.if %p {
      memref.store %f, %r[%i] : memref<128xf32>
    } else {
      memref.store %g, %r[%i] : memref<128xf32>
    }
  }
}

// -----

// at the end,
// CONST-LABEL: @finish
tir.prim_func @finish(%r: memref<128xf32>, %f: f32, %g: f32) {
  // CONST:      tir.for %i = %c0 extent %c127 {
  // CONST-NEXT:   memref.store %f, %r[%i]
  // CONST-NEXT: }
  // CONST-NEXT: memref.store %g, %r[%c127]
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  tir.for %i = %c0 extent %c128 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi ne, %i, %c127 : index
    scf.if %p {
      memref.store %f, %r[%i] : memref<128xf32>
    } else {
      memref.store %g, %r[%i] : memref<128xf32>
    }
  }
}

// -----

// at both,
// CONST-LABEL: @both_ends
tir.prim_func @both_ends(%a: memref<64xf32>, %r: memref<66xf32>, %f: f32, %g: f32) {
  // CONST:      memref.store %f, %r[%c0]
  // CONST-NEXT: [[C64:%.*]] = arith.constant 64 : index
  // CONST-NEXT: tir.for %i = %c0 extent [[C64]] {
  // CONST-NEXT:   [[V1:%.*]] = arith.addi %i, %c1
  // CONST-NEXT:   %j = arith.subi [[V1]], %c1
  // CONST-NEXT:   %x = memref.load %a[%j]
  // CONST-NEXT:   memref.store %x, %r[[[V1]]]
  // CONST-NEXT: }
  // CONST-NEXT: [[V2:%.*]] = arith.addi [[C64]], %c1
  // CONST-NEXT: memref.store %g, %r[[[V2]]]
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c65 = arith.constant 65 : index
  %c66 = arith.constant 66 : index
  tir.for %i = %c0 extent %c66 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi eq, %i, %c0 : index
    scf.if %p {
      memref.store %f, %r[%i] : memref<66xf32>
    } else {
      %q = arith.cmpi eq, %i, %c65 : index
      scf.if %q {
        memref.store %g, %r[%i] : memref<66xf32>
      } else {
        %j = arith.subi %i, %c1 : index
        %x = memref.load %a[%j] : memref<64xf32>
        memref.store %x, %r[%i] : memref<66xf32>
      }
    }
  }
}

// -----

// at three places, where values are computed in the branches,
// CONST-LABEL: @five
tir.prim_func @five(%a: memref<1xf32>, %b: memref<63xf32>, %c: memref<1xf32>, %d: memref<64xf32>, %e: memref<1xf32>, %r: memref<130xf32>) {
  // CONST:      %v = memref.load %a[%c0]
  // CONST-NEXT: memref.store %v, %r[%c0]
  // CONST-NEXT: [[C63:%.*]] = arith.constant 63 : index
  // CONST-NEXT: tir.for %i = %c0 extent [[C63]] {
  // CONST-NEXT:   [[V1:%.*]] = arith.addi %i, %c1
  // CONST-NEXT:   %j = arith.subi [[V1]], %c1
  // CONST-NEXT:   %v_1 = memref.load %b[%j]
  // CONST-NEXT:   memref.store %v_1, %r[[[V1]]]
  // CONST-NEXT: }
  // CONST-NEXT: [[V2:%.*]] = arith.addi [[C63]], %c1
  // CONST-NEXT: %v_2 = memref.load %c[%c0]
  // CONST-NEXT: memref.store %v_2, %r[[[V2]]]
  // CONST-NEXT: tir.for %i_1 = %c0 extent %c64 {
  // CONST-NEXT:   [[V3:%.*]] = arith.addi %i_1, %c64
  // CONST-NEXT:   [[V4:%.*]] = arith.addi [[V3]], %c1
  // CONST-NEXT:   %j_1 = arith.subi [[V4]], %c65
  // CONST-NEXT:   %v_3 = memref.load %d[%j_1]
  // CONST-NEXT:   memref.store %v_3, %r[[[V4]]]
  // CONST-NEXT: }
  // CONST-NEXT: [[V5:%.*]] = arith.addi %c64, %c64
  // CONST-NEXT: [[V6:%.*]] = arith.addi [[V5]], %c1
  // CONST-NEXT: %v_4 = memref.load %e[%c0]
  // CONST-NEXT: memref.store %v_4, %r[[[V6]]]
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c65 = arith.constant 65 : index
  %c129 = arith.constant 129 : index
  %c130 = arith.constant 130 : index
  tir.for %i = %c0 extent %c130 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi eq, %i, %c0 : index
    %x = scf.if %p -> (f32) {
      %v = memref.load %a[%c0] : memref<1xf32>
      scf.yield %v : f32
    } else {
      %q = arith.cmpi eq, %i, %c64 : index
      %y = scf.if %q -> (f32) {
        %v = memref.load %c[%c0] : memref<1xf32>
        scf.yield %v : f32
      } else {
        %s = arith.cmpi eq, %i, %c129 : index
        %z = scf.if %s -> (f32) {
          %v = memref.load %e[%c0] : memref<1xf32>
          scf.yield %v : f32
        } else {
          %t = arith.cmpi slt, %i, %c64 : index
          %w = scf.if %t -> (f32) {
            %j = arith.subi %i, %c1 : index
            %v = memref.load %b[%j] : memref<63xf32>
            scf.yield %v : f32
          } else {
            %j = arith.subi %i, %c65 : index
            %v = memref.load %d[%j] : memref<64xf32>
            scf.yield %v : f32
          }
          scf.yield %w : f32
        }
        scf.yield %z : f32
      }
      scf.yield %y : f32
    }
    memref.store %x, %r[%i] : memref<130xf32>
  }
}

// -----

// and in one loop for a point in another.
// CONST-LABEL: @nested_points
tir.prim_func @nested_points(%a: memref<640xf32>, %f: f32) {
  // CONST:      tir.for %v = %c0 extent %c320 {
  // CONST-NEXT:   [[V0:%.*]] = arith.addi %v, %c320
  // CONST-NEXT:   memref.store %f, %a[[[V0]]]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c320 = arith.constant 320 : index
  %c640 = arith.constant 640 : index
  tir.for %i = %c0 extent %c2 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi eq, %i, %c1 : index
    scf.if %p {
      tir.for %v = %c0 extent %c640 attributes {pragma_loop_partition_hint} {
        %i2 = arith.muli %i, %c2 : index
        %d = arith.floordivsi %v, %c320 : index
        %s = arith.addi %i2, %d : index
        %q = arith.cmpi eq, %s, %c3 : index
        scf.if %q {
          memref.store %f, %a[%v] : memref<640xf32>
        }
      }
    }
  }
}

// -----

// What is to be ignored neither splits a loop nor is it replaced.
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

// -----

// A condition that never holds is none.
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

// -----

// tvm#4243, tvm#12080: no loop of no or fewer iterations.
// CONST-LABEL: @empty
tir.prim_func @empty(%a: memref<10xf32>, %f: f32) {
  // CONST:      tir.for %i = %c5 extent %c5 {
  // CONST-NEXT:   memref.store %f, %a[%i]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c20 = arith.constant 20 : index
  %minus = arith.constant -3 : index
  tir.for %i = %c0 extent %c0 {
    %p = arith.cmpi slt, %i, %c4 : index
    %l = tir.likely %p
    scf.if %l {
      memref.store %f, %a[%i] : memref<10xf32>
    }
  }
  tir.for %i = %c5 extent %c5 {
    %p = arith.cmpi sge, %i, %c5 : index
    %q = arith.cmpi slt, %i, %c20 : index
    %pq = arith.andi %p, %q : i1
    %l = tir.likely %pq
    scf.if %l {
      memref.store %f, %a[%i] : memref<10xf32>
    }
  }
  tir.for %i = %c0 extent %c4 {
    %p = arith.cmpi slt, %i, %minus : index
    %l = tir.likely %p
    scf.if %l {
      memref.store %f, %a[%i] : memref<10xf32>
    }
  }
}

// -----

// tvm#6785: each part has variables of its own.
// CHECK-LABEL: @in_order
tir.prim_func @in_order(%a: memref<8xf32>, %n: index, %m: index, %f: f32, %g: f32) {
  // CHECK:      [[V0:%.*]] = arith.minsi %n, %m
  // CHECK-NEXT: [[V1:%.*]] = arith.maxsi %c0, [[V0]]
  // CHECK-NEXT: tir.for %i = %c0 extent [[V1]] {
  // CHECK-NEXT:   memref.store %g, %a[%i]
  // CHECK-NEXT: }
  // CHECK-NEXT: [[V2:%.*]] = arith.subi %n, [[V1]]
  // CHECK-NEXT: tir.for %i_1 = %c0 extent [[V2]] {
  // CHECK-NEXT:   [[V3:%.*]] = arith.addi %i_1, [[V1]]
  // CHECK-NEXT:   memref.store %f, %a[[[V3]]]
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  tir.for %i = %c0 extent %n {
    %p = arith.cmpi sge, %i, %m : index
    %lp = tir.likely %p
    scf.if %lp {
      memref.store %f, %a[%i] : memref<8xf32>
    } else {
      memref.store %g, %a[%i] : memref<8xf32>
    }
  }
}

// -----

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

// -----

// Must not fire: the condition is not likely.
// CONST-LABEL: @no_likely
tir.prim_func @no_likely(%a: memref<?xf32>, %n: index, %m: index, %f: f32) {
  // CONST:      tir.for %i = %c0 extent %n {
  // CONST-NEXT:   %p = arith.cmpi slt, %i, %m
  // CONST-NEXT:   scf.if %p {
  // CONST-NEXT:     memref.store %f, %a[%i]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  tir.for %i = %c0 extent %n {
    %p = arith.cmpi slt, %i, %m : index
    scf.if %p {
      memref.store %f, %a[%i] : memref<?xf32>
    }
  }
}

// -----

// Must not fire: what is compared with is not known before the loop.
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

// -----

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
