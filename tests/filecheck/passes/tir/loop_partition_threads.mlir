// RUN: passline-opt %s -p tir-loop-partition | filecheck %s
// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop}' | filecheck %s --check-prefix=CONST

// A loop over blocks stays one loop; the innermost loop over threads has the branch.
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

// The thread compares with both ends of the middle part.
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

// The condition of the branch does not depend on the variable of the vectorized loop.
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
