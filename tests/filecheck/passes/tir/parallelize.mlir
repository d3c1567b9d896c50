// RUN: passline-opt %s -p 'tir-parallelize{fork-work=100}' --split-input-file | filecheck %s
// RUN: passline-opt %s -p tir-parallelize --remarks=all --split-input-file 2>&1 | filecheck %s --check-prefix=REMARK

// Iterations that write elements of their own.
// CHECK-LABEL: @rows
// CHECK:         tir.for parallel %i = %c0 extent %c64 {
// CHECK-NEXT:      tir.for %j = %c0 extent %c64 {
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @rows(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    tir.for %i = %c0 extent %c64 {
      tir.for %j = %c0 extent %c64 {
        %0 = memref.load %x[%i, %j] : memref<64x64xf32>
        memref.store %0, %y[%i, %j] : memref<64x64xf32>
      }
    }
  }
}

// -----

// Three threads share 384 pairs of indices better than four rows.
// CHECK-LABEL: @pairs
// CHECK:         tir.for parallel %i = %c0 extent %c4 {
// CHECK-NEXT:      tir.for parallel %j = %c0 extent %c96 {
builtin.module attributes {tir.target = "x86-64-v3{cores=3}"} {
  tir.prim_func @pairs(%x: memref<4x96xf32>, %y: memref<4x96xf32>) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c96 = arith.constant 96 : index
    tir.for %i = %c0 extent %c4 {
      tir.for %j = %c0 extent %c96 {
        %0 = memref.load %x[%i, %j] : memref<4x96xf32>
        memref.store %0, %y[%i, %j] : memref<4x96xf32>
      }
    }
  }
}

// -----

// One core.
// CHECK-LABEL: @one_core
// CHECK:         tir.for parallel %i
// CHECK-NEXT:      tir.for %j
builtin.module {
  tir.prim_func @one_core(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    tir.for parallel %i = %c0 extent %c64 {
      tir.for %j = %c0 extent %c64 {
        %0 = memref.load %x[%i, %j] : memref<64x64xf32>
        memref.store %0, %y[%i, %j] : memref<64x64xf32>
      }
    }
  }
}

// -----

// Too little work: parallel loops become serial.
// CHECK-LABEL: @small
// CHECK:         tir.for %i
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @small(%x: memref<8xf32>, %y: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    tir.for parallel %i = %c0 extent %c8 {
      %0 = memref.load %x[%i] : memref<8xf32>
      memref.store %0, %y[%i] : memref<8xf32>
    }
  }
}

// -----

// A sum: each iteration reads what the one before it wrote.
// CHECK-LABEL: @sum
// CHECK-NOT:     parallel
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @sum(%x: memref<4096xf32>, %y: memref<1xf32>) {
    %c0 = arith.constant 0 : index
    %n = arith.constant 4096 : index
    tir.for %i = %c0 extent %n {
      %0 = memref.load %x[%i] : memref<4096xf32>
      %1 = memref.load %y[%c0] : memref<1xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%c0] : memref<1xf32>
    }
  }
}

// -----

// Neighbors overlap: i writes i and i + 1.
// CHECK-LABEL: @overlap
// CHECK-NOT:     parallel
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @overlap(%x: memref<4097xf32>) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %n = arith.constant 4096 : index
    %f = arith.constant 1.0 : f32
    tir.for %i = %c0 extent %n {
      tir.for %j = %c0 extent %c2 {
        %k = arith.addi %i, %j : index
        memref.store %f, %x[%k] : memref<4097xf32>
      }
    }
  }
}

// -----

// A prefix: i reads what i - 1 wrote.
// CHECK-LABEL: @shifted
// CHECK-NOT:     parallel
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @shifted(%x: memref<4097xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 4096 : index
    tir.for %i = %c0 extent %n {
      %k = arith.addi %i, %c1 : index
      %0 = memref.load %x[%i] : memref<4097xf32>
      memref.store %0, %x[%k] : memref<4097xf32>
    }
  }
}

// -----

// The parameters may overlap.
// CHECK-LABEL: @alias
// CHECK-NOT:     parallel
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @alias(%x: memref<4096xf32>, %y: memref<4096xf32>) attributes {tir.alias} {
    %c0 = arith.constant 0 : index
    %n = arith.constant 4096 : index
    tir.for %i = %c0 extent %n {
      %0 = memref.load %x[%i] : memref<4096xf32>
      memref.store %0, %y[%i] : memref<4096xf32>
    }
  }
}

// -----

// Tiles of 8 with a guard, flattened: iteration i writes 20 * i + [0, 20).
// CHECK-LABEL: @guarded
// CHECK:         tir.for parallel %i
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @guarded(%x: memref<2000xf32>, %y: memref<2000xf32>) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c20 = arith.constant 20 : index
    %c100 = arith.constant 100 : index
    tir.for %i = %c0 extent %c100 {
      tir.for %j = %c0 extent %c3 {
        tir.for vectorized %k = %c0 extent %c8 {
          %0 = arith.muli %j, %c8 : index
          %1 = arith.addi %0, %k : index
          %2 = arith.cmpi slt, %1, %c20 : index
          %3 = tir.likely %2
          scf.if %3 {
            %4 = arith.muli %i, %c20 : index
            %5 = arith.addi %4, %1 : index
            %6 = memref.load %x[%5] : memref<2000xf32>
            memref.store %6, %y[%5] : memref<2000xf32>
          }
        }
      }
    }
  }
}

// -----

// The same without the guard: 20 * i + [0, 24) overlap.
// CHECK-LABEL: @unguarded
// CHECK:         tir.for %i
// CHECK-NEXT:      tir.for
// CHECK-NOT:       parallel
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @unguarded(%y: memref<2004xf32>, %z: f32) {
    %c0 = arith.constant 0 : index
    %c24 = arith.constant 24 : index
    %c20 = arith.constant 20 : index
    %c100 = arith.constant 100 : index
    tir.for %i = %c0 extent %c100 {
      tir.for vectorized %k = %c0 extent %c24 {
        %4 = arith.muli %i, %c20 : index
        %5 = arith.addi %4, %k : index
        memref.store %z, %y[%5] : memref<2004xf32>
      }
    }
  }
}

// -----

// Scratch memory, with an element that is set once: each thread has its own.
// CHECK-LABEL: @scratch
// CHECK:         tir.for parallel %[[T:.*]] = %{{.*}} extent %{{.*}} {
// CHECK-NEXT:      %[[S:.*]] = memref.alloc() : memref<65xf32>
// CHECK-NEXT:      memref.store %z, %[[S]]
// CHECK-NEXT:      %[[N:.*]] = arith.constant 32 : index
// CHECK-NEXT:      %[[F:.*]] = arith.muli %[[T]], %[[N]] : index
// CHECK-NEXT:      tir.for %i = %[[F]] extent %[[N]] {
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @scratch(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %z: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %s = memref.alloc() : memref<65xf32>
    memref.store %z, %s[%c0] : memref<65xf32>
    tir.for %i = %c0 extent %c64 {
      tir.for %j = %c0 extent %c64 {
        %k = arith.addi %j, %c1 : index
        %0 = memref.load %x[%i, %j] : memref<64x64xf32>
        memref.store %0, %s[%k] : memref<65xf32>
      }
      tir.for %j = %c0 extent %c64 {
        %k = arith.addi %j, %c1 : index
        %0 = memref.load %s[%j] : memref<65xf32>
        %1 = memref.load %s[%k] : memref<65xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%i, %j] : memref<64x64xf32>
      }
    }
  }
}

// -----

// Memory that is read before it is written: an iteration sees what the one before it left.
// CHECK-LABEL: @carried
// CHECK-NOT:     parallel
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @carried(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %z: f32) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %s = memref.alloc() : memref<1xf32>
    memref.store %z, %s[%c0] : memref<1xf32>
    tir.for %i = %c0 extent %c64 {
      tir.for %j = %c0 extent %c64 {
        %0 = memref.load %x[%i, %j] : memref<64x64xf32>
        %1 = memref.load %s[%c0] : memref<1xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %s[%c0] : memref<1xf32>
        memref.store %2, %y[%i, %j] : memref<64x64xf32>
      }
    }
  }
}

// -----

// Memory that is written in some iterations only.
// CHECK-LABEL: @sometimes
// CHECK-NOT:     parallel
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @sometimes(%y: memref<4096xf32>, %a: f32, %b: f32) {
    %c0 = arith.constant 0 : index
    %c9 = arith.constant 9 : index
    %n = arith.constant 4096 : index
    %s = memref.alloc() : memref<1xf32>
    memref.store %a, %s[%c0] : memref<1xf32>
    tir.for %i = %c0 extent %n {
      %0 = arith.cmpi eq, %i, %c9 : index
      scf.if %0 {
        memref.store %b, %s[%c0] : memref<1xf32>
      }
      %1 = memref.load %s[%c0] : memref<1xf32>
      memref.store %1, %y[%i] : memref<4096xf32>
    }
  }
}

// -----

// Memory that is read after the loop.
// CHECK-LABEL: @read_later
// CHECK-NOT:     parallel
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @read_later(%x: memref<4096xf32>, %y: memref<4096xf32>, %z: memref<1xf32>) {
    %c0 = arith.constant 0 : index
    %n = arith.constant 4096 : index
    %s = memref.alloc() : memref<1xf32>
    tir.for %i = %c0 extent %n {
      %0 = memref.load %x[%i] : memref<4096xf32>
      memref.store %0, %s[%c0] : memref<1xf32>
      %1 = memref.load %s[%c0] : memref<1xf32>
      memref.store %1, %y[%i] : memref<4096xf32>
    }
    %2 = memref.load %s[%c0] : memref<1xf32>
    memref.store %2, %z[%c0] : memref<1xf32>
  }
}

// -----

// Several iterations write one element: an index divided by two.
// CHECK-LABEL: @quotient
// CHECK-NOT:     parallel
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @quotient(%x: memref<4096xf32>, %y: memref<2048xf32>) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %n = arith.constant 4096 : index
    tir.for %i = %c0 extent %n {
      %k = arith.divui %i, %c2 : index
      %0 = memref.load %x[%i] : memref<4096xf32>
      memref.store %0, %y[%k] : memref<2048xf32>
    }
  }
}

// -----

// A function of unknown effect.
// CHECK-LABEL: @calls
// CHECK-NOT:     parallel
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @g(memref<4096xf32>)
  tir.prim_func @calls(%x: memref<4096xf32>) {
    %c0 = arith.constant 0 : index
    %n = arith.constant 4096 : index
    tir.for %i = %c0 extent %n {
      tir.call @g(%x) : memref<4096xf32>
    }
  }
}

// -----

// The outer loop has too few iterations for four threads, and the inner one enough.
// CHECK-LABEL: @few
// CHECK:         tir.for %i = %c0 extent %c2 {
// CHECK-NEXT:      memref.store
// CHECK-NEXT:      tir.for parallel %j
// REMARK:      remark: [Passed] Parallel | Category:tir-parallelize | Function=few | Remark="its iterations are shared by 4 threads", Op="tir.for", Iterations=65536
builtin.module attributes {tir.target = "x86-64-v3{cores=4}"} {
  tir.prim_func @few(%x: memref<2x65536xf32>, %y: memref<2x65536xf32>, %m: memref<2xf32>, %f: f32) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %n = arith.constant 65536 : index
    tir.for %i = %c0 extent %c2 {
      memref.store %f, %m[%i] : memref<2xf32>
      tir.for %j = %c0 extent %n {
        %0 = memref.load %x[%i, %j] : memref<2x65536xf32>
        %1 = math.exp %0 : f32
        memref.store %1, %y[%i, %j] : memref<2x65536xf32>
      }
    }
  }
}
