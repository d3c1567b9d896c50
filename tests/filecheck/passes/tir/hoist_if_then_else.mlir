// RUN: passline-opt %s -p tir-hoist-if-then-else | filecheck %s
// RUN: passline-opt %s -p 'tir-hoist-if-then-else{support-block-scope-hoisting}' | filecheck %s --check-prefix=BLOCK

// Out of two loops on whose variables the condition does not depend; each branch gets both.
// CHECK-LABEL: @top
tir.prim_func @top(%a: memref<64xf32>, %l: index, %m: index) {
  // CHECK:      tir.for %i =
  // CHECK-NEXT:   [[C:%.*]] = arith.cmpi slt, %i, %c2
  // CHECK-NEXT:   [[L:%.*]] = tir.likely [[C]]
  // CHECK-NEXT:   scf.if [[L]] {
  // CHECK-NEXT:     tir.for %j = %c0 extent %m {
  // CHECK-NEXT:       tir.for parallel %k = %c0 extent %m {
  // CHECK-NEXT:         memref.store %f1, %a[%k]
  // CHECK-NEXT:       }
  // CHECK-NEXT:     }
  // CHECK-NEXT:   } else {
  // CHECK-NEXT:     tir.for [[J:%.*]] = %c0 extent %m {
  // CHECK-NEXT:       tir.for parallel [[K:%.*]] = %c0 extent %m {
  // CHECK-NEXT:         memref.store %f2, %a[[[J]]]
  // CHECK-NEXT:       }
  // CHECK-NEXT:     }
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %f1 = arith.constant 1.0 : f32
  %f2 = arith.constant 2.0 : f32
  tir.for %i = %c0 extent %l {
    tir.for %j = %c0 extent %m {
      tir.for parallel %k = %c0 extent %m {
        %c = arith.cmpi slt, %i, %c2 : index
        %likely = tir.likely %c
        scf.if %likely {
          memref.store %f1, %a[%k] : memref<64xf32>
        } else {
          memref.store %f2, %a[%j] : memref<64xf32>
        }
      }
    }
  }
}

// Only out of the loops on whose variables the condition does not depend.
// CHECK-LABEL: @two_variables
tir.prim_func @two_variables(%a: memref<64xf32>, %n: index) {
  // CHECK:      tir.for %i =
  // CHECK-NEXT:   tir.for %j =
  // CHECK-NEXT:     %ij = arith.addi %i, %j
  // CHECK-NEXT:     %c = arith.cmpi slt, %ij, %n
  // CHECK-NEXT:     scf.if %c {
  // CHECK-NEXT:       tir.for %k =
  // CHECK-NEXT:         memref.store
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.0 : f32
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %c4 {
      tir.for %k = %c0 extent %c4 {
        %ij = arith.addi %i, %j : index
        %c = arith.cmpi slt, %ij, %n : index
        scf.if %c {
          memref.store %f, %a[%k] : memref<64xf32>
        }
      }
    }
  }
}

// The branch does not leave a loop with another store.
// CHECK-LABEL: @effect_outside
tir.prim_func @effect_outside(%a: memref<64xf32>, %n: index) {
  // CHECK:      tir.for %i =
  // CHECK-NEXT:   memref.store %f, %a[%i]
  // CHECK-NEXT:   %c = arith.cmpi slt, %n, %c4
  // CHECK-NEXT:   scf.if %c {
  // CHECK-NEXT:     tir.for %j =
  // CHECK-NEXT:       memref.store %f, %a[%j]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.0 : f32
  tir.for %i = %c0 extent %n {
    memref.store %f, %a[%i] : memref<64xf32>
    tir.for %j = %c0 extent %c4 {
      %c = arith.cmpi slt, %n, %c4 : index
      scf.if %c {
        memref.store %f, %a[%j] : memref<64xf32>
      }
    }
  }
}

// Nested branches: each leaves as many loops as it can, the inner one after the outer one.
// CHECK-LABEL: @nested
tir.prim_func @nested(%a: memref<64xf32>) {
  // CHECK:      tir.for %i =
  // CHECK-NEXT:   %p = arith.cmpi sle, %c3, %i
  // CHECK-NEXT:   scf.if %p {
  // CHECK-NEXT:     tir.for %j =
  // CHECK-NEXT:       %q = arith.cmpi sle, %c3, %j
  // CHECK-NEXT:       scf.if %q {
  // CHECK-NEXT:         tir.for %k =
  // CHECK-NEXT:           memref.store
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  %f = arith.constant 1.0 : f32
  tir.for %i = %c0 extent %c10 {
    tir.for %j = %c0 extent %c10 {
      tir.for %k = %c0 extent %c10 {
        %p = arith.cmpi sle, %c3, %i : index
        scf.if %p {
          %q = arith.cmpi sle, %c3, %j : index
          scf.if %q {
            memref.store %f, %a[%k] : memref<64xf32>
          }
        }
      }
    }
  }
}

// if, else if, else: three loops; operations that one branch needs are not in the others.
// CHECK-LABEL: @chain
tir.prim_func @chain(%a: memref<64xi64>, %b: memref<64xi64>, %n: index, %m: index) {
  // CHECK:      %p = arith.cmpi slt, %n, %m
  // CHECK-NEXT: scf.if %p {
  // CHECK-NEXT:   tir.for %i = %c0 extent %c10 attributes {key = "value"} {
  // CHECK-NEXT:     %x = memref.load %b[%i]
  // CHECK-NEXT:     memref.store %x, %a[%i]
  // CHECK-NEXT:   }
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   %q = arith.cmpi slt, %m, %n
  // CHECK-NEXT:   scf.if %q {
  // CHECK-NEXT:     tir.for [[I:%.*]] = %c0 extent %c10 attributes {key = "value"} {
  // CHECK-NEXT:       [[Y:%.*]] = arith.addi [[I]], %n
  // CHECK-NEXT:       [[Z:%.*]] = arith.index_cast [[Y]] : index to i64
  // CHECK-NEXT:       memref.store [[Z]], %a[[[I]]]
  // CHECK-NEXT:     }
  // CHECK-NEXT:   } else {
  // CHECK-NEXT:     tir.for [[I:%.*]] = %c0 extent %c10 attributes {key = "value"} {
  // CHECK-NEXT:       memref.store %one, %a[[[I]]]
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %one = arith.constant 1 : i64
  tir.for %i = %c0 extent %c10 attributes {key = "value"} {
    %x = memref.load %b[%i] : memref<64xi64>
    %y = arith.addi %i, %n : index
    %p = arith.cmpi slt, %n, %m : index
    scf.if %p {
      memref.store %x, %a[%i] : memref<64xi64>
    } else {
      %q = arith.cmpi slt, %m, %n : index
      scf.if %q {
        %z = arith.index_cast %y : index to i64
        memref.store %z, %a[%i] : memref<64xi64>
      } else {
        memref.store %one, %a[%i] : memref<64xi64>
      }
    }
  }
}

// An empty `then` gets no loop.
// CHECK-LABEL: @only_else
tir.prim_func @only_else(%a: memref<64xf32>, %n: index, %c: i1) {
  // CHECK:      scf.if %c {
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   tir.for %i =
  // CHECK-NEXT:     memref.store
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  tir.for %i = %c0 extent %n {
    scf.if %c {
    } else {
      memref.store %f, %a[%i] : memref<64xf32>
    }
  }
}

// The condition reads a buffer that the loop does not write, and the loop runs at least once.
// CHECK-LABEL: @reads
tir.prim_func @reads(%a: memref<64xi64>, %b: memref<8xi64>, %n: i64) {
  // CHECK:      %x = memref.load %b[%c0]
  // CHECK-NEXT: %r = arith.remsi %x, %n
  // CHECK-NEXT: %c = arith.cmpi eq, %r, %n
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT:   tir.for %i =
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %x = memref.load %b[%c0] : memref<8xi64>
    %r = arith.remsi %x, %n : i64
    %c = arith.cmpi eq, %r, %n : i64
    scf.if %c {
      memref.store %n, %a[%i] : memref<64xi64>
    }
  }
}

// Must not fire: the condition depends on the loop variable, directly or through other values.
// UNCHANGED: @dependent
tir.prim_func @dependent(%a: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  tir.for %i = %c0 extent %n {
    %i2 = arith.muli %i, %n : index
    %c = arith.cmpi slt, %i2, %n : index
    scf.if %c {
      memref.store %f, %a[%i] : memref<64xf32>
    }
  }
}

// Must not fire: another operation has an effect: after the branch, before it, another branch.
// UNCHANGED: @siblings
tir.prim_func @siblings(%a: memref<64xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.0 : f32
  tir.for %i = %c0 extent %c4 {
    scf.if %c {
      memref.store %f, %a[%i] : memref<64xf32>
    }
    memref.store %f, %a[%c4] : memref<64xf32>
  }
  tir.for %j = %c0 extent %c4 {
    memref.store %f, %a[%c4] : memref<64xf32>
    scf.if %c {
      memref.store %f, %a[%j] : memref<64xf32>
    }
  }
  tir.for %k = %c0 extent %c4 {
    scf.if %c {
      memref.store %f, %a[%k] : memref<64xf32>
    }
    scf.if %c {
      memref.store %f, %a[%c4] : memref<64xf32>
    }
  }
}

// Must not fire: the loop may write the buffer that the condition reads: directly, through a view,
// or in a function.
// UNCHANGED: @written
tir.prim_func @written(%a: memref<4xi64>, %n: i64) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %view = "memref.cast"(%a) : (memref<4xi64>) -> memref<?xi64>
  tir.for %i = %c0 extent %c4 {
    %x = memref.load %a[%c0] : memref<4xi64>
    %c = arith.cmpi eq, %x, %n : i64
    scf.if %c {
      %y = arith.addi %x, %n : i64
      memref.store %y, %a[%i] : memref<4xi64>
    }
  }
  tir.for %j = %c0 extent %c4 {
    %x = memref.load %a[%c0] : memref<4xi64>
    %c = arith.cmpi eq, %x, %n : i64
    scf.if %c {
      %y = arith.addi %x, %n : i64
      memref.store %y, %view[%j] : memref<?xi64>
    }
  }
  tir.for %k = %c0 extent %c4 {
    %x = memref.load %a[%c0] : memref<4xi64>
    %c = arith.cmpi eq, %x, %n : i64
    scf.if %c {
      tir.call @writes(%a) : memref<4xi64>
    }
  }
}
tir.prim_func @writes(%a: memref<4xi64>) {
  %c0 = arith.constant 0 : index
  %x = arith.constant 7 : i64
  memref.store %x, %a[%c0] : memref<4xi64>
}

// Must not fire: the loop may have no iteration, where a division by n or a load of b[n] may trap.
// UNCHANGED: @may_fail
tir.prim_func @may_fail(%a: memref<64xf32>, %b: memref<?xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.0 : f32
  tir.for %i = %c0 extent %n {
    %d = arith.divui %c4, %n : index
    %c = arith.cmpi eq, %d, %c4 : index
    scf.if %c {
      memref.store %f, %a[%i] : memref<64xf32>
    }
  }
  tir.for %j = %c0 extent %n {
    %c = memref.load %b[%n] : memref<?xi1>
    scf.if %c {
      memref.store %f, %a[%j] : memref<64xf32>
    }
  }
}

// Must not fire: the branch has a result.
// UNCHANGED: @results
tir.prim_func @results(%a: memref<64xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %x = scf.if %c -> (f32) {
      %f = arith.constant 1.0 : f32
      scf.yield %f : f32
    } else {
      %f = arith.constant 2.0 : f32
      scf.yield %f : f32
    }
    memref.store %x, %a[%i] : memref<64xf32>
  }
}

// Out of a thread-bound loop only with the option.
// CHECK-LABEL: @threads
// BLOCK-LABEL: @threads
tir.prim_func @threads(%a: memref<64xf32>, %c: i1) {
  // CHECK:      tir.for thread_binding "threadIdx.x" %tx =
  // CHECK-NEXT:   scf.if %c {
  // CHECK-NEXT:     tir.for %i =
  // BLOCK:      scf.if %c {
  // BLOCK-NEXT:   tir.for thread_binding "threadIdx.x" %tx =
  // BLOCK-NEXT:     tir.for %i =
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.0 : f32
  tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c4 {
    tir.for %i = %c0 extent %c4 {
      scf.if %c {
        memref.store %f, %a[%tx] : memref<64xf32>
      }
    }
  }
}
