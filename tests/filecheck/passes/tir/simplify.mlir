// RUN: passline-opt %s -p tir-simplify --split-input-file | filecheck %s

// An extent that is a constant further up.
// CHECK-LABEL: @let_extent(
tir.prim_func @let_extent(%A: memref<10xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %n = arith.constant 10 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %n {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<10xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  %n = arith.constant 10 : index
  tir.for %i = %c0 extent %n {
    %c = arith.cmpi slt, %i, %c12 : index
    scf.if %c {
      memref.store %v, %A[%i] : memref<10xf32>
    }
  }
}

// -----

// Thread extents are ranges too.
// CHECK-LABEL: @threads(
tir.prim_func @threads(%A: memref<10xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c10 = arith.constant 10 : index
  // CHECK-NEXT: tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c10 {
  // CHECK-NEXT: tir.for thread_binding "threadIdx.y" %ty = %c0 extent %c1 {
  // CHECK-NEXT: memref.store %v, %A[%tx] : memref<10xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c12 = arith.constant 12 : index
  tir.for thread_binding "threadIdx.x" %tx = %c0 extent %c10 {
    tir.for thread_binding "threadIdx.y" %ty = %c0 extent %c1 {
      %s = arith.addi %tx, %ty : index
      %c = arith.cmpi slt, %s, %c12 : index
      scf.if %c {
        memref.store %v, %A[%s] : memref<10xf32>
      }
    }
  }
}

// -----

// The same likely condition twice: the inner one goes.
// CHECK-LABEL: @likely(
tir.prim_func @likely(%A: memref<4xf32>, %v: f32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c4 {
  // CHECK-NEXT: %a = arith.cmpi slt, %i, %n : index
  // CHECK-NEXT: %likely = tir.likely %a
  // CHECK-NEXT: scf.if %likely {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %a = arith.cmpi slt, %i, %n : index
    %likely = tir.likely %a
    scf.if %likely {
      %b = arith.cmpi slt, %i, %n : index
      %again = tir.likely %b
      scf.if %again {
        memref.store %v, %A[%i] : memref<4xf32>
      }
    }
  }
}

// -----

// A likely condition that is proven.
// CHECK-LABEL: @likely_proven(
tir.prim_func @likely_proven(%A: memref<4xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c4 {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %a = arith.cmpi slt, %i, %c4 : index
    %likely = tir.likely %a
    scf.if %likely {
      memref.store %v, %A[%i] : memref<4xf32>
    }
  }
}

// -----

// In a loop that runs, the extent is positive.
// CHECK-LABEL: @extent_is_positive(
tir.prim_func @extent_is_positive(%A: memref<8xf32>, %v: f32, %n: index, %m: index) {
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: %q = arith.floordivsi %n, %c4 : index
  // CHECK-NEXT: %e = arith.subi %q, %m : index
  // CHECK-NEXT: tir.for %i = %m extent %e {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %q = arith.floordivsi %n, %c4 : index
  %e = arith.subi %q, %m : index
  tir.for %i = %m extent %e {
    %again = arith.floordivsi %n, %c4 : index
    %left = arith.subi %again, %m : index
    %c = arith.cmpi sgt, %left, %c0 : index
    scf.if %c {
      memref.store %v, %A[%i] : memref<8xf32>
    }
  }
}

// -----

// A store of what is there.
// CHECK-LABEL: @same_value(
tir.prim_func @same_value(%A: memref<1xi32>) {
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %five = arith.constant 5 : i32
  %zero = arith.subi %five, %five : i32
  %v = memref.load %A[%c0] : memref<1xi32>
  memref.store %v, %A[%c0] : memref<1xi32>
  %w = memref.load %A[%c0] : memref<1xi32>
  %sum = arith.addi %w, %zero : i32
  memref.store %sum, %A[%c0] : memref<1xi32>
}

// -----

// There is a write between: it may be to that place.
// CHECK-LABEL: @store_after_write(
tir.prim_func @store_after_write(%A: memref<4xi32>, %i: index, %j: index, %x: i32) {
  // CHECK-NEXT: %v = memref.load %A[%i] : memref<4xi32>
  // CHECK-NEXT: memref.store %x, %A[%j] : memref<4xi32>
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<4xi32>
  // CHECK-NEXT: }
  %v = memref.load %A[%i] : memref<4xi32>
  memref.store %x, %A[%j] : memref<4xi32>
  memref.store %v, %A[%i] : memref<4xi32>
}

// -----

// The write is in the loop's last iteration.
// CHECK-LABEL: @store_in_loop(
tir.prim_func @store_in_loop(%A: memref<4xi32>, %B: memref<4xi32>, %x: i32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: %v = memref.load %A[%c0] : memref<4xi32>
  // CHECK-NEXT: tir.for %i = %c0 extent %c4 {
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<4xi32>
  // CHECK-NEXT: memref.store %x, %A[%c0] : memref<4xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %v = memref.load %A[%c0] : memref<4xi32>
  tir.for %i = %c0 extent %c4 {
    memref.store %v, %A[%c0] : memref<4xi32>
    memref.store %x, %A[%c0] : memref<4xi32>
  }
}

// -----

// CHECK-LABEL: @nested_equal(
tir.prim_func @nested_equal(%A: memref<8xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c5 = arith.constant 5 : index
  // CHECK-NEXT: %c8 = arith.constant 8 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c8 {
  // CHECK-NEXT: %a = arith.cmpi eq, %i, %c5 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %a = arith.cmpi eq, %i, %c5 : index
    scf.if %a {
      %b = arith.cmpi eq, %i, %c5 : index
      scf.if %b {
        %c = arith.cmpi slt, %i, %c7 : index
        scf.if %c {
          memref.store %v, %A[%i] : memref<8xf32>
        }
      }
    }
  }
}

// -----

// CHECK-LABEL: @nested_equal_symbolic(
tir.prim_func @nested_equal_symbolic(%A: memref<8xf32>, %v: f32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c8 = arith.constant 8 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c8 {
  // CHECK-NEXT: %a = arith.cmpi eq, %i, %n : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %a = arith.cmpi eq, %i, %n : index
    scf.if %a {
      %b = arith.cmpi eq, %n, %i : index
      scf.if %b {
        memref.store %v, %A[%i] : memref<8xf32>
      }
    }
  }
}

// -----

// What memory holds is no fact: it is written.
// CHECK-LABEL: @memory_changes(
tir.prim_func @memory_changes(%A: memref<1xi32>, %n: i32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %one = arith.constant 1 : i32
  // CHECK-NEXT: %v = memref.load %A[%c0] : memref<1xi32>
  // CHECK-NEXT: %a = arith.cmpi eq, %v, %n : i32
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: %w = memref.load %A[%c0] : memref<1xi32>
  // CHECK-NEXT: %sum = arith.addi %w, %one : i32
  // CHECK-NEXT: memref.store %sum, %A[%c0] : memref<1xi32>
  // CHECK-NEXT: %x = memref.load %A[%c0] : memref<1xi32>
  // CHECK-NEXT: %b = arith.cmpi eq, %x, %n : i32
  // CHECK-NEXT: scf.if %b {
  // CHECK-NEXT: memref.store %n, %A[%c0] : memref<1xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %v = memref.load %A[%c0] : memref<1xi32>
  %a = arith.cmpi eq, %v, %n : i32
  scf.if %a {
    %w = memref.load %A[%c0] : memref<1xi32>
    %sum = arith.addi %w, %one : i32
    memref.store %sum, %A[%c0] : memref<1xi32>
    %x = memref.load %A[%c0] : memref<1xi32>
    %b = arith.cmpi eq, %x, %n : i32
    scf.if %b {
      memref.store %n, %A[%c0] : memref<1xi32>
    }
  }
}

// -----

// A value that was loaded is one value, whatever is written after.
// CHECK-LABEL: @loaded_value(
tir.prim_func @loaded_value(%A: memref<1xi32>, %n: i32, %x: i32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %v = memref.load %A[%c0] : memref<1xi32>
  // CHECK-NEXT: %a = arith.cmpi eq, %v, %n : i32
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %x, %A[%c0] : memref<1xi32>
  // CHECK-NEXT: memref.store %n, %A[%c0] : memref<1xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %v = memref.load %A[%c0] : memref<1xi32>
  %a = arith.cmpi eq, %v, %n : i32
  scf.if %a {
    memref.store %x, %A[%c0] : memref<1xi32>
    %b = arith.cmpi eq, %v, %n : i32
    scf.if %b {
      memref.store %n, %A[%c0] : memref<1xi32>
    }
  }
}

// -----

// CHECK-LABEL: @contradictions(
tir.prim_func @contradictions(%A: memref<8xf32>, %v: f32, %w: f32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c5 = arith.constant 5 : index
  // CHECK-NEXT: %c8 = arith.constant 8 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c8 {
  // CHECK-NEXT: %a = arith.cmpi eq, %i, %c5 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %w, %A[%i] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %c = arith.cmpi ne, %i, %n : index
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: memref.store %w, %A[%i] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %a = arith.cmpi eq, %i, %c5 : index
    scf.if %a {
      %b = arith.cmpi ne, %i, %c5 : index
      scf.if %b {
        memref.store %v, %A[%i] : memref<8xf32>
      } else {
        memref.store %w, %A[%i] : memref<8xf32>
      }
    }
    %c = arith.cmpi ne, %i, %n : index
    scf.if %c {
      %d = arith.cmpi eq, %i, %n : index
      scf.if %d {
        memref.store %v, %A[%i] : memref<8xf32>
      } else {
        memref.store %w, %A[%i] : memref<8xf32>
      }
    }
  }
}

// -----

// Conjunctions, and disjunctions that do not hold, are facts one by one.
// CHECK-LABEL: @split(
tir.prim_func @split(%A: memref<8xf32>, %v: f32, %w: f32, %a: i1, %b: i1) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %both = arith.andi %a, %b : i1
  // CHECK-NEXT: scf.if %both {
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %any = arith.ori %a, %b : i1
  // CHECK-NEXT: scf.if %any {
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<8xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: memref.store %w, %A[%c1] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %both = arith.andi %a, %b : i1
  scf.if %both {
    scf.if %a {
      memref.store %v, %A[%c0] : memref<8xf32>
    }
  }
  %any = arith.ori %a, %b : i1
  scf.if %any {
    memref.store %v, %A[%c0] : memref<8xf32>
  } else {
    scf.if %a {
      memref.store %v, %A[%c1] : memref<8xf32>
    } else {
      memref.store %w, %A[%c1] : memref<8xf32>
    }
  }
}

// -----

// One of the two holds; which one is not known.
// CHECK-LABEL: @not_split(
tir.prim_func @not_split(%A: memref<8xf32>, %v: f32, %a: i1, %b: i1) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %any = arith.ori %a, %b : i1
  // CHECK-NEXT: scf.if %any {
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %any = arith.ori %a, %b : i1
  scf.if %any {
    scf.if %a {
      memref.store %v, %A[%c0] : memref<8xf32>
    }
  }
}

// -----

// Conditions that are values.
// CHECK-LABEL: @let_condition(
tir.prim_func @let_condition(%A: memref<8xi1>, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c3 = arith.constant 3 : index
  // CHECK-NEXT: %c8 = arith.constant 8 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c8 {
  // CHECK-NEXT: %c = arith.cmpi slt, %i, %c3 : index
  // CHECK-NEXT: %any = arith.constant true
  // CHECK-NEXT: memref.store %any, %A[%i] : memref<8xi1>
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: memref.store %any, %A[%i] : memref<8xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %c = arith.cmpi slt, %i, %c3 : index
    %d = arith.cmpi sge, %i, %c3 : index
    %any = arith.ori %c, %d : i1
    memref.store %any, %A[%i] : memref<8xi1>
    %e = arith.cmpi slt, %i, %c3 : index
    scf.if %e {
      scf.if %c {
        memref.store %c, %A[%i] : memref<8xi1>
      }
    }
  }
}

// -----

// A branch with a value.
// CHECK-LABEL: @branch_value(
tir.prim_func @branch_value(%A: memref<16xi32>) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c12 = arith.constant 12 : index
  // CHECK-NEXT: %c16 = arith.constant 16 : index
  // CHECK-NEXT: %one = arith.constant 1 : i32
  // CHECK-NEXT: tir.for %i = %c0 extent %c16 {
  // CHECK-NEXT: %a = arith.cmpi slt, %i, %c12 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %one, %A[%i] : memref<16xi32>
  // CHECK-NEXT: memref.store %one, %A[%c0] : memref<16xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  tir.for %i = %c0 extent %c16 {
    %a = arith.cmpi slt, %i, %c12 : index
    scf.if %a {
      %b = arith.cmpi slt, %i, %c12 : index
      %v = scf.if %b -> (i32) {
        scf.yield %one : i32
      } else {
        scf.yield %two : i32
      }
      memref.store %v, %A[%i] : memref<16xi32>
      %w = arith.select %b, %one, %two : i32
      memref.store %w, %A[%c0] : memref<16xi32>
    }
  }
}

// -----

// CHECK-LABEL: @ceil_log2(
tir.prim_func @ceil_log2(%A: memref<1xf32>) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %up = arith.constant 4.000000e+00 : f32
  // CHECK-NEXT: memref.store %up, %A[%c0] : memref<1xf32>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %x = arith.constant 14.0 : f32
  %log = math.log2 %x : f32
  %up = math.ceil %log : f32
  memref.store %up, %A[%c0] : memref<1xf32>
}

// -----

// CHECK-LABEL: @ceil_log2_range(
tir.prim_func @ceil_log2_range(%A: memref<16xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c16 = arith.constant 16 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c16 {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<16xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c1025 = arith.constant 1025 : index
  %c11 = arith.constant 11 : i32
  tir.for %i = %c0 extent %c16 {
    %n = arith.addi %i, %c1025 : index
    %m = arith.index_cast %n : index to i32
    %f = arith.sitofp %m : i32 to f32
    %log = math.log2 %f : f32
    %up = math.ceil %log : f32
    %x = arith.fptosi %up : f32 to i32
    %c = arith.cmpi eq, %x, %c11 : i32
    scf.if %c {
      memref.store %v, %A[%i] : memref<16xf32>
    }
  }
}

// -----

// CHECK-LABEL: @shifts(
tir.prim_func @shifts(%A: memref<16xi1>) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c16 = arith.constant 16 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c16 {
  // CHECK-NEXT: %a = arith.constant true
  // CHECK-NEXT: memref.store %a, %A[%i] : memref<16xi1>
  // CHECK-NEXT: memref.store %a, %A[%i] : memref<16xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1 : i32
  %thirtyone = arith.constant 31 : i32
  %most = arith.constant 1015808 : i32
  tir.for %i = %c0 extent %c16 {
    %by = arith.index_cast %i : index to i32
    %x = arith.shli %one, %by : i32
    %a = arith.cmpi sge, %x, %one : i32
    memref.store %a, %A[%i] : memref<16xi1>
    %y = arith.shli %thirtyone, %by : i32
    %b = arith.cmpi sle, %y, %most : i32
    memref.store %b, %A[%i] : memref<16xi1>
  }
}

// -----

// Shifts of negatives and by negatives are left alone.
// CHECK-LABEL: @shifts_of_negatives(
tir.prim_func @shifts_of_negatives(%A: memref<16xi1>) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: %zero = arith.constant 0 : i32
  // CHECK-NEXT: %four = arith.constant 4 : i32
  // CHECK-NEXT: %sixteen = arith.constant 16 : i32
  // CHECK-NEXT: %least = arith.constant -64 : i32
  // CHECK-NEXT: tir.for %i = %c0 extent %c4 {
  // CHECK-NEXT: %by = arith.index_cast %i : index to i32
  // CHECK-NEXT: %minus = arith.subi %zero, %by : i32
  // CHECK-NEXT: %x = arith.shli %minus, %four : i32
  // CHECK-NEXT: %a = arith.cmpi sle, %least, %x : i32
  // CHECK-NEXT: memref.store %a, %A[%i] : memref<16xi1>
  // CHECK-NEXT: %y = arith.shli %sixteen, %minus : i32
  // CHECK-NEXT: %b = arith.cmpi sle, %y, %sixteen : i32
  // CHECK-NEXT: memref.store %b, %A[%i] : memref<16xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %sixteen = arith.constant 16 : i32
  %least = arith.constant -64 : i32
  tir.for %i = %c0 extent %c4 {
    %by = arith.index_cast %i : index to i32
    %minus = arith.subi %zero, %by : i32
    %x = arith.shli %minus, %four : i32
    %a = arith.cmpi sle, %least, %x : i32
    memref.store %a, %A[%i] : memref<16xi1>
    %y = arith.shli %sixteen, %minus : i32
    %b = arith.cmpi sle, %y, %sixteen : i32
    memref.store %b, %A[%i] : memref<16xi1>
  }
}

// -----

// `i < j` gives `i < j + 1`: two facts on the same difference.
// CHECK-LABEL: @difference(
tir.prim_func @difference(%A: memref<1xi1>, %i: index, %j: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %a = arith.cmpi slt, %i, %j : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: %b = arith.constant true
  // CHECK-NEXT: memref.store %b, %A[%c0] : memref<1xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.cmpi slt, %i, %j : index
  scf.if %a {
    %k = arith.addi %j, %c1 : index
    %b = arith.cmpi slt, %i, %k : index
    memref.store %b, %A[%c0] : memref<1xi1>
  }
}

// -----

// Facts are added up with the option `transitively_prove_inequalities` only.
// CHECK-LABEL: @not_transitive(
tir.prim_func @not_transitive(%A: memref<1xi1>, %i: index, %j: index, %k: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %a = arith.cmpi slt, %i, %j : index
  // CHECK-NEXT: %b = arith.cmpi slt, %j, %k : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: scf.if %b {
  // CHECK-NEXT: %c = arith.cmpi slt, %i, %k : index
  // CHECK-NEXT: memref.store %c, %A[%c0] : memref<1xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %a = arith.cmpi slt, %i, %j : index
  %b = arith.cmpi slt, %j, %k : index
  scf.if %a {
    scf.if %b {
      %c = arith.cmpi slt, %i, %k : index
      memref.store %c, %A[%c0] : memref<1xi1>
    }
  }
}

// -----

// CHECK-LABEL: @even(
tir.prim_func @even(%A: memref<1xi1>, %i: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c2 = arith.constant 2 : index
  // CHECK-NEXT: %minus = arith.subi %c0, %i : index
  // CHECK-NEXT: %half = arith.floordivsi %minus, %c2 : index
  // CHECK-NEXT: %twice = arith.muli %half, %c2 : index
  // CHECK-NEXT: %odd = arith.subi %minus, %twice : index
  // CHECK-NEXT: %a = arith.cmpi eq, %odd, %c0 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: %b = arith.constant true
  // CHECK-NEXT: memref.store %b, %A[%c0] : memref<1xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %minus = arith.subi %c0, %i : index
  %half = arith.floordivsi %minus, %c2 : index
  %twice = arith.muli %half, %c2 : index
  %odd = arith.subi %minus, %twice : index
  %a = arith.cmpi eq, %odd, %c0 : index
  scf.if %a {
    %half2 = arith.floordivsi %i, %c2 : index
    %twice2 = arith.muli %half2, %c2 : index
    %odd2 = arith.subi %i, %twice2 : index
    %b = arith.cmpi eq, %odd2, %c0 : index
    memref.store %b, %A[%c0] : memref<1xi1>
  }
}

// -----

// Conjunctions and disjunctions stay as they are without the options for them.
// CHECK-LABEL: @and_or_kept(
tir.prim_func @and_or_kept(%A: memref<2xi1>, %n: index, %a: i1, %b: i1, %c: i1) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c5 = arith.constant 5 : index
  // CHECK-NEXT: %c10 = arith.constant 10 : index
  // CHECK-NEXT: %x = arith.cmpi slt, %n, %c5 : index
  // CHECK-NEXT: %y = arith.cmpi slt, %n, %c10 : index
  // CHECK-NEXT: %and = arith.andi %x, %y : i1
  // CHECK-NEXT: memref.store %and, %A[%c0] : memref<2xi1>
  // CHECK-NEXT: %both = arith.andi %b, %c : i1
  // CHECK-NEXT: %or = arith.ori %a, %both : i1
  // CHECK-NEXT: memref.store %or, %A[%c1] : memref<2xi1>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c10 = arith.constant 10 : index
  %x = arith.cmpi slt, %n, %c5 : index
  %y = arith.cmpi slt, %n, %c10 : index
  %and = arith.andi %x, %y : i1
  memref.store %and, %A[%c0] : memref<2xi1>
  %both = arith.andi %b, %c : i1
  %or = arith.ori %a, %both : i1
  memref.store %or, %A[%c1] : memref<2xi1>
}

// -----

// The most restrictive comparison that says the same.
// CHECK-LABEL: @restrictive(
tir.prim_func @restrictive(%A: memref<4xi1>, %i: index, %j: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c2 = arith.constant 2 : index
  // CHECK-NEXT: %c3 = arith.constant 3 : index
  // CHECK-NEXT: %a = arith.cmpi sle, %i, %c0 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: %b = arith.cmpi eq, %i, %c0 : index
  // CHECK-NEXT: memref.store %b, %A[%c0] : memref<4xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: %c = arith.cmpi sle, %i, %j : index
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: %d = arith.cmpi slt, %i, %j : index
  // CHECK-NEXT: memref.store %d, %A[%c1] : memref<4xi1>
  // CHECK-NEXT: %e = arith.cmpi eq, %j, %i : index
  // CHECK-NEXT: memref.store %e, %A[%c2] : memref<4xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: %f = arith.cmpi ne, %i, %j : index
  // CHECK-NEXT: scf.if %f {
  // CHECK-NEXT: %g = arith.cmpi slt, %i, %j : index
  // CHECK-NEXT: memref.store %g, %A[%c3] : memref<4xi1>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a = arith.cmpi sle, %i, %c0 : index
  scf.if %a {
    %b = arith.cmpi sle, %c0, %i : index
    memref.store %b, %A[%c0] : memref<4xi1>
  }
  %c = arith.cmpi sle, %i, %j : index
  scf.if %c {
    %d = arith.cmpi ne, %i, %j : index
    memref.store %d, %A[%c1] : memref<4xi1>
    %e = arith.cmpi sle, %j, %i : index
    memref.store %e, %A[%c2] : memref<4xi1>
  }
  %f = arith.cmpi ne, %i, %j : index
  scf.if %f {
    %g = arith.cmpi sle, %i, %j : index
    memref.store %g, %A[%c3] : memref<4xi1>
  }
}

// -----

// Sizes of buffers are not negative.
// CHECK-LABEL: @sizes(
tir.prim_func @sizes(%A: memref<?xf32>, %v: f32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c32 = arith.constant 32 : index
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<?xf32>
  // CHECK-NEXT: %size = arith.muli %n, %c32 : index
  // CHECK-NEXT: %less = arith.subi %size, %c1 : index
  // CHECK-NEXT: %B = memref.alloc(%less) : memref<?xf32>
  // CHECK-NEXT: memref.store %v, %B[%c1] : memref<?xf32>
  // CHECK-NEXT: %x = memref.load %B[%c1] : memref<?xf32>
  // CHECK-NEXT: memref.store %x, %A[%c1] : memref<?xf32>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.dim %A, %c0 : memref<?xf32>
  %i = arith.minsi %c0, %m : index
  memref.store %v, %A[%i] : memref<?xf32>
  %size = arith.muli %n, %c32 : index
  %less = arith.subi %size, %c1 : index
  %B = memref.alloc(%less) : memref<?xf32>
  %j = arith.minsi %c1, %n : index
  memref.store %v, %B[%j] : memref<?xf32>
  %x = memref.load %B[%j] : memref<?xf32>
  memref.store %x, %A[%j] : memref<?xf32>
}

// -----

// A choice in a choice by the same condition.
// CHECK-LABEL: @nested_choice(
tir.prim_func @nested_choice(%A: memref<4xi32>, %x: i32, %y: i32, %z: i32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %c4 {
  // CHECK-NEXT: %a = arith.cmpi slt, %i, %n : index
  // CHECK-NEXT: %most = arith.maxsi %x, %z : i32
  // CHECK-NEXT: %outer = arith.select %a, %most, %z : i32
  // CHECK-NEXT: memref.store %outer, %A[%i] : memref<4xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %a = arith.cmpi slt, %i, %n : index
    %inner = arith.select %a, %x, %y : i32
    %most = arith.maxsi %inner, %z : i32
    %b = arith.cmpi slt, %i, %n : index
    %outer = arith.select %b, %most, %z : i32
    memref.store %outer, %A[%i] : memref<4xi32>
  }
}

// -----

// A fused index, and one with tiles.
// CHECK-LABEL: @fused(
tir.prim_func @fused(%A: memref<?xf32>, %B: memref<?x?x?xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c2 = arith.constant 2 : index
  // CHECK-NEXT: %c32 = arith.constant 32 : index
  // CHECK-NEXT: %n = memref.dim %B, %c2 : memref<?x?x?xf32>
  // CHECK-NEXT: %square = arith.muli %n, %n : index
  // CHECK-NEXT: %extent = arith.muli %square, %c32 : index
  // CHECK-NEXT: tir.for %i = %c0 extent %extent {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<?xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %B, %c2 : memref<?x?x?xf32>
  %square = arith.muli %n, %n : index
  %extent = arith.muli %square, %c32 : index
  tir.for %i = %c0 extent %extent {
    %a = arith.divsi %i, %square : index
    %r = arith.remsi %i, %square : index
    %b = arith.divsi %r, %n : index
    %c = arith.remsi %i, %n : index
    %x = arith.muli %a, %square : index
    %y = arith.muli %b, %n : index
    %xy = arith.addi %x, %y : index
    %flat = arith.addi %xy, %c : index
    memref.store %v, %A[%flat] : memref<?xf32>
  }
}

// -----

// CHECK-LABEL: @tiles(
tir.prim_func @tiles(%A: memref<16x4xf32>, %v: f32) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: %c16 = arith.constant 16 : index
  // CHECK-NEXT: tir.for %xo = %c0 extent %c16 {
  // CHECK-NEXT: tir.for %xi = %c0 extent %c4 {
  // CHECK-NEXT: memref.store %v, %A[%xo, %xi] : memref<16x4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tir.for %xo = %c0 extent %c16 {
    tir.for %xi = %c0 extent %c4 {
      %scaled = arith.muli %xo, %c4 : index
      %i = arith.addi %scaled, %xi : index
      %o = arith.floordivsi %i, %c4 : index
      %r = arith.remsi %i, %c4 : index
      memref.store %v, %A[%o, %r] : memref<16x4xf32>
    }
  }
}

// -----

// A loop without iterations, and one with one.
// CHECK-LABEL: @trips(
tir.prim_func @trips(%A: memref<4xf32>, %v: f32, %n: index) {
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %c2 = arith.constant 2 : index
  // CHECK-NEXT: tir.for %i = %c2 extent %c1 {
  // CHECK-NEXT: memref.store %v, %A[%c2] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tir.for %i = %n extent %c0 {
    memref.store %v, %A[%i] : memref<4xf32>
  }
  tir.for %i = %c2 extent %c1 {
    memref.store %v, %A[%i] : memref<4xf32>
  }
}

// -----

// What may wrap is not simplified as if it did not.
// CHECK-LABEL: @wrapping(
tir.prim_func @wrapping(%A: memref<2xi1>, %x: i8) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %one = arith.constant 1 : i8
  // CHECK-NEXT: %y = arith.addi %x, %one : i8
  // CHECK-NEXT: %a = arith.cmpi slt, %x, %y : i8
  // CHECK-NEXT: memref.store %a, %A[%c0] : memref<2xi1>
  // CHECK-NEXT: %b = arith.constant true
  // CHECK-NEXT: memref.store %b, %A[%c1] : memref<2xi1>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i8
  %most = arith.constant 127 : i8
  %y = arith.addi %x, %one : i8
  %a = arith.cmpi slt, %x, %y : i8
  memref.store %a, %A[%c0] : memref<2xi1>
  %z = arith.addi %x, %one overflow<nsw> : i8
  %b = arith.cmpi slt, %x, %z : i8
  memref.store %b, %A[%c1] : memref<2xi1>
}

// -----

// A fact holds in its branch only.
// CHECK-LABEL: @scopes(
tir.prim_func @scopes(%A: memref<4xf32>, %v: f32, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c1 = arith.constant 1 : index
  // CHECK-NEXT: %a = arith.cmpi sgt, %n, %c0 : index
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.if %a {
  // CHECK-NEXT: memref.store %v, %A[%c1] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: tir.for %i = %c0 extent %n {
  // CHECK-NEXT: memref.store %v, %A[%i] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %c = arith.cmpi sge, %n, %c0 : index
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: memref.store %v, %A[%c1] : memref<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.cmpi sgt, %n, %c0 : index
  scf.if %a {
    memref.store %v, %A[%c0] : memref<4xf32>
  }
  %b = arith.cmpi sgt, %n, %c0 : index
  scf.if %b {
    memref.store %v, %A[%c1] : memref<4xf32>
  }
  tir.for %i = %c0 extent %n {
    memref.store %v, %A[%i] : memref<4xf32>
  }
  %c = arith.cmpi sge, %n, %c0 : index
  scf.if %c {
    memref.store %v, %A[%c1] : memref<4xf32>
  }
}

// -----

// A write under a condition: what was there may be there no more.
// CHECK-LABEL: @conditional_write(
tir.prim_func @conditional_write(%A: memref<4xi32>, %B: memref<4xi32>, %x: i32, %c: i1) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %v = memref.load %A[%c0] : memref<4xi32>
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: memref.store %x, %A[%c0] : memref<4xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: memref.store %v, %A[%c0] : memref<4xi32>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %v = memref.load %A[%c0] : memref<4xi32>
  scf.if %c {
    memref.store %x, %A[%c0] : memref<4xi32>
  }
  memref.store %v, %A[%c0] : memref<4xi32>
}

// -----

// A value that is carried from iteration to iteration in memory.
// CHECK-LABEL: @carried(
tir.prim_func @carried(%A: memref<4xi32>, %B: memref<1xi32>) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  // CHECK-NEXT: %c4 = arith.constant 4 : index
  // CHECK-NEXT: %zero = arith.constant 0 : i32
  // CHECK-NEXT: memref.store %zero, %B[%c0] : memref<1xi32>
  // CHECK-NEXT: tir.for %i = %c0 extent %c4 {
  // CHECK-NEXT: %b = memref.load %B[%c0] : memref<1xi32>
  // CHECK-NEXT: %c = arith.cmpi eq, %b, %zero : i32
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT: memref.store %b, %A[%i] : memref<4xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %a = memref.load %A[%i] : memref<4xi32>
  // CHECK-NEXT: %sum = arith.addi %a, %b : i32
  // CHECK-NEXT: memref.store %sum, %B[%c0] : memref<1xi32>
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  memref.store %zero, %B[%c0] : memref<1xi32>
  tir.for %i = %c0 extent %c4 {
    %b = memref.load %B[%c0] : memref<1xi32>
    %c = arith.cmpi eq, %b, %zero : i32
    scf.if %c {
      memref.store %b, %A[%i] : memref<4xi32>
    }
    %a = memref.load %A[%i] : memref<4xi32>
    %sum = arith.addi %a, %b : i32
    memref.store %sum, %B[%c0] : memref<1xi32>
  }
}
