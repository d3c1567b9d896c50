// RUN: passline-opt %s -p tir-loop-partition --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop}' --split-input-file | filecheck %s --check-prefix=CONST
// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop no-unroll-loop-with-extent-one}' --split-input-file | filecheck %s --check-prefix=LOOPS

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

// Constant bounds, with the option: no condition is left, and a part of one iteration is not a loop
// unless the option keeps it.
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

// Two conditions: the first part has neither, for all values of %k.
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

// An equation: a part of one iteration, and the parts before and after it.
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

// tvm#4243, tvm#12080: parts without iterations, or with a negative number of them, are left out.
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
