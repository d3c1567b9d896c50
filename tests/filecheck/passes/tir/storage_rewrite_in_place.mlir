// RUN: passline-opt %s -p tir-storage-rewrite | filecheck %s
// RUN: passline-opt %s -p 'tir-storage-rewrite{merge-static-smem}' | filecheck %s --check-prefix=KEEP

// A chain of element-wise stages: one allocation outside of the loop. The second stage is done in
// place.
// CHECK-LABEL: @chain
// KEEP-LABEL: @chain
tir.prim_func @chain(%in: memref<20xf32>, %out: memref<20xf32>) {
  // CHECK-COUNT-1: memref.alloc() : memref<10xf32>
  // CHECK-NOT: memref.alloc()
  // KEEP-COUNT-3: memref.alloc() : memref<10xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  tir.for %i = %c0 extent %c2 {
    %base = arith.muli %i, %c10 : index
    %b = memref.alloc() : memref<10xf32>
    %c = memref.alloc() : memref<10xf32>
    %d = memref.alloc() : memref<10xf32>
    tir.for %j = %c0 extent %c10 {
      %k = arith.addi %base, %j : index
      %0 = memref.load %in[%k] : memref<20xf32>
      memref.store %0, %b[%j] : memref<10xf32>
    }
    tir.for %j = %c0 extent %c10 {
      %0 = memref.load %b[%j] : memref<10xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %c[%j] : memref<10xf32>
    }
    tir.for %j = %c0 extent %c10 {
      %0 = memref.load %c[%j] : memref<10xf32>
      %1 = arith.mulf %0, %0 : f32
      memref.store %1, %d[%j] : memref<10xf32>
    }
    tir.for %j = %c0 extent %c10 {
      %k = arith.addi %base, %j : index
      %0 = memref.load %d[%j] : memref<10xf32>
      memref.store %0, %out[%k] : memref<20xf32>
    }
  }
}

// The chain with dynamic sizes; stages that are not in place share memory as well.
// CHECK-LABEL: @symbolic
tir.prim_func @symbolic(%in: memref<?xf32>, %n: index, %out: memref<?xf32>) {
  // CHECK-COUNT-1: memref.alloc(%n) : memref<?xf32>
  // CHECK-NOT: memref.alloc(
  %c0 = arith.constant 0 : index
  %b = memref.alloc(%n) : memref<?xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  tir.for %j = %c0 extent %n {
    %0 = memref.load %in[%j] : memref<?xf32>
    memref.store %0, %b[%j] : memref<?xf32>
  }
  tir.for %j = %c0 extent %n {
    %0 = memref.load %b[%j] : memref<?xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %c[%j] : memref<?xf32>
  }
  tir.for %j = %c0 extent %n {
    %0 = memref.load %c[%j] : memref<?xf32>
    memref.store %0, %out[%j] : memref<?xf32>
  }
}

// Not in place: read at another index too. The third buffer uses the memory of the first.
// CHECK-LABEL: @other_index
tir.prim_func @other_index(%in: memref<8xf32>, %out: memref<8xf32>) {
  // CHECK: [[B:%.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: [[C:%.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NOT: memref.alloc()
  // CHECK: memref.store {{.*}}, [[B]]
  // CHECK: memref.store {{.*}}, [[C]]
  // CHECK: memref.load [[C]]
  // CHECK: memref.load [[C]]
  // CHECK: memref.store {{.*}}, [[B]]
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  %d = memref.alloc() : memref<8xf32>
  tir.for %j = %c0 extent %c8 {
    %0 = memref.load %in[%j] : memref<8xf32>
    memref.store %0, %b[%j] : memref<8xf32>
  }
  tir.for %j = %c0 extent %c8 {
    %0 = memref.load %b[%j] : memref<8xf32>
    %1 = memref.load %b[%c0] : memref<8xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %c[%j] : memref<8xf32>
  }
  tir.for %j = %c0 extent %c8 {
    %0 = memref.load %c[%j] : memref<8xf32>
    %1 = memref.load %c[%c0] : memref<8xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %d[%j] : memref<8xf32>
  }
  tir.for %j = %c0 extent %c8 {
    %0 = memref.load %d[%j] : memref<8xf32>
    memref.store %0, %out[%j] : memref<8xf32>
  }
}

// Not in place: each element of the new buffer is written more than once.
// UNCHANGED: @written_twice
tir.prim_func @written_twice(%in: memref<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  "memref.copy"(%in, %b) : (memref<8xf32>, memref<8xf32>) -> ()
  tir.for %i = %c0 extent %c2 {
    tir.for %j = %c0 extent %c8 {
      %0 = memref.load %b[%j] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %c[%j] : memref<8xf32>
    }
  }
  "memref.copy"(%c, %out) : (memref<8xf32>, memref<8xf32>) -> ()
}

// Not in place: the new buffer is read in the same loop; an index is read from the old buffer.
// UNCHANGED: @read_and_index
tir.prim_func @read_and_index(%in: memref<8xi32>, %out: memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %b = memref.alloc() : memref<8xi32>
  %c = memref.alloc() : memref<8xi32>
  %d = memref.alloc() : memref<8xi32>
  "memref.copy"(%in, %b) : (memref<8xi32>, memref<8xi32>) -> ()
  tir.for %j = %c0 extent %c8 {
    %0 = memref.load %b[%j] : memref<8xi32>
    memref.store %0, %c[%j] : memref<8xi32>
    %1 = memref.load %c[%j] : memref<8xi32>
    %2 = arith.index_cast %1 : i32 to index
    memref.store %1, %d[%2] : memref<8xi32>
  }
  "memref.copy"(%c, %out) : (memref<8xi32>, memref<8xi32>) -> ()
  "memref.copy"(%d, %out) : (memref<8xi32>, memref<8xi32>) -> ()
}

// In place: in two dimensions, in the row-major order of a flat buffer, and for vectors.
// CHECK-LABEL: @in_place_indices
tir.prim_func @in_place_indices(%in: memref<4x8xf32>, %flat: memref<32xf32>) {
  // CHECK-COUNT-1: memref.alloc() : memref<4x8xf32>
  // CHECK-NEXT: [[B:%.*]] = memref.alloc() : memref<32xf32>
  // CHECK-NOT: memref.alloc()
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %a = memref.alloc() : memref<4x8xf32>
  %b = memref.alloc() : memref<4x8xf32>
  %c = memref.alloc() : memref<32xf32>
  %d = memref.alloc() : memref<32xf32>
  %e = memref.alloc() : memref<32xf32>
  "memref.copy"(%in, %a) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
  "memref.copy"(%flat, %c) : (memref<32xf32>, memref<32xf32>) -> ()
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %c8 {
      %0 = memref.load %a[%i, %j] : memref<4x8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %b[%i, %j] : memref<4x8xf32>
    }
  }
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %c8 {
      %r = arith.muli %i, %c8 : index
      %k = arith.addi %r, %j : index
      %0 = memref.load %c[%k] : memref<32xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %d[%k] : memref<32xf32>
    }
  }
  tir.for %i = %c0 extent %c4 {
    %r = arith.muli %i, %c8 : index
    %0 = vector.load %d[%r] : memref<32xf32>, vector<8xf32>
    %1 = arith.addf %0, %0 : vector<8xf32>
    vector.store %1, %e[%r] : memref<32xf32>, vector<8xf32>
  }
  "memref.copy"(%b, %in) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
  "memref.copy"(%e, %flat) : (memref<32xf32>, memref<32xf32>) -> ()
}

// Not in place: vectors that overlap, and indices that coincide.
// CHECK-LABEL: @overlapping
tir.prim_func @overlapping(%flat: memref<32xf32>) {
  // CHECK-COUNT-2: memref.alloc() : memref<32xf32>
  // CHECK-NOT: memref.alloc()
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c = memref.alloc() : memref<32xf32>
  %d = memref.alloc() : memref<32xf32>
  %e = memref.alloc() : memref<32xf32>
  "memref.copy"(%flat, %c) : (memref<32xf32>, memref<32xf32>) -> ()
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %c8 {
      %r = arith.muli %i, %c7 : index
      %k = arith.addi %r, %j : index
      %0 = memref.load %c[%k] : memref<32xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %d[%k] : memref<32xf32>
    }
  }
  tir.for %i = %c0 extent %c4 {
    %0 = vector.load %d[%i] : memref<32xf32>, vector<8xf32>
    %1 = arith.addf %0, %0 : vector<8xf32>
    vector.store %1, %e[%i] : memref<32xf32>, vector<8xf32>
  }
  %1 = vector.load %e[%c0] : memref<32xf32>, vector<8xf32>
  vector.store %1, %flat[%c0] : memref<32xf32>, vector<8xf32>
}

// In place: the rows of the index are a shift.
// CHECK-LABEL: @shifted
tir.prim_func @shifted(%flat: memref<32xf32>) {
  // CHECK-COUNT-1: memref.alloc() : memref<32xf32>
  // CHECK-NOT: memref.alloc()
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c = memref.alloc() : memref<32xf32>
  %d = memref.alloc() : memref<32xf32>
  "memref.copy"(%flat, %c) : (memref<32xf32>, memref<32xf32>) -> ()
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %c8 {
      %r = arith.shli %i, %c3 : index
      %k = arith.addi %r, %j : index
      %0 = memref.load %c[%k] : memref<32xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %d[%k] : memref<32xf32>
    }
  }
  "memref.copy"(%d, %flat) : (memref<32xf32>, memref<32xf32>) -> ()
}

// Not in place: iterations 0 and 4 have the same index, as a product in i8 wraps.
// CHECK-LABEL: @wrapping
// UNCHANGED: @wrapping
tir.prim_func @wrapping(%flat: memref<256xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : i8
  %c = memref.alloc() : memref<256xf32>
  %d = memref.alloc() : memref<256xf32>
  "memref.copy"(%flat, %c) : (memref<256xf32>, memref<256xf32>) -> ()
  tir.for %i = %c0 extent %c8 {
    %0 = arith.index_cast %i : index to i8
    %1 = arith.muli %0, %c64 : i8
    %2 = arith.extui %1 : i8 to i32
    %k = arith.index_cast %2 : i32 to index
    %3 = memref.load %c[%k] : memref<256xf32>
    %4 = arith.addf %3, %3 : f32
    memref.store %4, %d[%k] : memref<256xf32>
  }
  %5 = memref.load %d[%c0] : memref<256xf32>
  memref.store %5, %flat[%c0] : memref<256xf32>
}
