// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop}' | filecheck %s --check-prefix=CONST
// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop unroll-loop-with-partition-hint-no-interval}' | filecheck %s --check-prefix=UNROLL

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

// In the two iterations at the start the condition depends on an inner loop: they are marked for
// unrolling. The condition on %k stays.
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

// The hint is removed, other annotations stay.
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

// A loop of one iteration with an annotation stays a loop.
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
