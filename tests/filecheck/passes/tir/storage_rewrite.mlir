// RUN: passline-opt %s -p tir-storage-rewrite --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'tir-storage-rewrite{merge-static-smem}' --split-input-file | filecheck %s --check-prefix=KEEP

// A chain in which each buffer is computed of the one before, element by element: one allocation,
// outside of the loop. The second stage does the same in place.
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

// -----

// The chain with sizes that are not known; and stages that follow each other share as well.
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

// -----

// Read at another index as well: not in place. The third uses the memory of the first.
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

// -----

// Each element is written more than once, of the one that it would replace: not in place.
// CHECK-LABEL: @written_twice
tir.prim_func @written_twice(%in: memref<8xf32>, %out: memref<8xf32>) {
  // CHECK-COUNT-2: memref.alloc() : memref<8xf32>
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

// -----

// The result is read where it is made, and an index is read from the buffer: not in place.
// CHECK-LABEL: @read_and_index
tir.prim_func @read_and_index(%in: memref<8xi32>, %out: memref<8xi32>) {
  // CHECK-COUNT-3: memref.alloc() : memref<8xi32>
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

// -----

// In two dimensions, and in the order of a flat buffer; of vectors.
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

// -----

// Vectors that overlap, and sums that coincide: not in place.
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

// -----

// One allocation for the memory with a tag, its parts at aligned offsets.
// CHECK-LABEL: @tagged
// KEEP-LABEL: @tagged
tir.prim_func @tagged(%x: memref<200xf32>, %y: memref<100xi16>) {
  // CHECK-NEXT: [[M:%.*]] = memref.alloc() {alignment = 64 : i64} : memref<1032xi8, "local.L0A">
  // CHECK-NEXT: [[C0:%.*]] = arith.constant 0 : index
  // CHECK-NEXT: [[C1:%.*]] = arith.constant 832 : index
  // CHECK-NEXT: [[A:%.*]] = memref.view [[M]][[[C0]]][] : memref<1032xi8, "local.L0A"> to memref<200xf32, "local.L0A">
  // CHECK-NEXT: [[B:%.*]] = memref.view [[M]][[[C1]]][] : memref<1032xi8, "local.L0A"> to memref<100xi16, "local.L0A">
  // CHECK-NEXT: [[C:%.*]] = memref.view [[M]][[[C0]]][] : memref<1032xi8, "local.L0A"> to memref<200xi8, "local.L0A">
  // KEEP: memref.alloc() {alignment = 64 : i64} : memref<1288xi8, "local.L0A">
  %a = memref.alloc() : memref<200xf32, "local.L0A">
  %b = memref.alloc() : memref<100xi16, "local.L0A">
  %c = memref.alloc() : memref<200xi8, "local.L0A">
  "memref.copy"(%x, %a) : (memref<200xf32>, memref<200xf32, "local.L0A">) -> ()
  "memref.copy"(%y, %b) : (memref<100xi16>, memref<100xi16, "local.L0A">) -> ()
  "memref.copy"(%a, %x) : (memref<200xf32, "local.L0A">, memref<200xf32>) -> ()
  "test.op"(%c) : (memref<200xi8, "local.L0A">) -> ()
  "memref.copy"(%b, %y) : (memref<100xi16, "local.L0A">, memref<100xi16>) -> ()
}

// -----

// Two that are never in use at once are one allocation of that type, in a loop as well.
// CHECK-LABEL: @tagged_one
tir.prim_func @tagged_one(%x: memref<200xf32>) {
  // CHECK: [[M:%.*]] = memref.alloc() : memref<200xf32, "local.L0A">
  // CHECK-NEXT: tir.for
  // CHECK-NOT: memref.alloc()
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  tir.for %i = %c0 extent %c3 {
    %a = memref.alloc() : memref<200xf32, "local.L0A">
    %b = memref.alloc() : memref<200xf32, "local.L0A">
    "memref.copy"(%x, %a) : (memref<200xf32>, memref<200xf32, "local.L0A">) -> ()
    "memref.copy"(%a, %x) : (memref<200xf32, "local.L0A">, memref<200xf32>) -> ()
    "memref.copy"(%x, %b) : (memref<200xf32>, memref<200xf32, "local.L0A">) -> ()
    "memref.copy"(%b, %x) : (memref<200xf32, "local.L0A">, memref<200xf32>) -> ()
  }
}

// -----

// Registers, and what is a few bytes, are not shared; they leave the loop. "shared.dyn" is no tag
// of memory that is one allocation.
// CHECK-LABEL: @small
tir.prim_func @small(%x: memref<8xf32>, %y: memref<1xf32>) {
  // CHECK-COUNT-2: memref.alloc() : memref<8xf32, "local">
  // CHECK-COUNT-2: memref.alloc() : memref<1xf32>
  // CHECK: [[B:%.*]] = memref.alloc() : memref<4xf32, "shared.dyn">
  // CHECK-NEXT: [[C:%.*]] = memref.alloc() : memref<4xf32, "shared.dyn">
  // CHECK-NEXT: tir.for
  // CHECK-NOT: memref.alloc()
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  tir.for %i = %c0 extent %c3 {
    %a = memref.alloc() : memref<8xf32, "local">
    %b = memref.alloc() : memref<8xf32, "local">
    %c = memref.alloc() : memref<1xf32>
    %d = memref.alloc() : memref<1xf32>
    %e = memref.alloc() : memref<4xf32, "shared.dyn">
    %f = memref.alloc() : memref<4xf32, "shared.dyn">
    "memref.copy"(%x, %a) : (memref<8xf32>, memref<8xf32, "local">) -> ()
    "memref.copy"(%a, %x) : (memref<8xf32, "local">, memref<8xf32>) -> ()
    "memref.copy"(%x, %b) : (memref<8xf32>, memref<8xf32, "local">) -> ()
    "memref.copy"(%b, %x) : (memref<8xf32, "local">, memref<8xf32>) -> ()
    "memref.copy"(%y, %c) : (memref<1xf32>, memref<1xf32>) -> ()
    "memref.copy"(%c, %y) : (memref<1xf32>, memref<1xf32>) -> ()
    "memref.copy"(%y, %d) : (memref<1xf32>, memref<1xf32>) -> ()
    "memref.copy"(%d, %y) : (memref<1xf32>, memref<1xf32>) -> ()
    tir.for %j = %c0 extent %c3 {
      %0 = memref.load %x[%j] : memref<8xf32>
      memref.store %0, %e[%j] : memref<4xf32, "shared.dyn">
      memref.store %0, %f[%c0] : memref<4xf32, "shared.dyn">
      %1 = memref.load %e[%j] : memref<4xf32, "shared.dyn">
      %2 = memref.load %f[%c0] : memref<4xf32, "shared.dyn">
      %3 = arith.addf %1, %2 : f32
      memref.store %3, %x[%j] : memref<8xf32>
    }
  }
}

// -----

// An allocation of several sizes, and of several types.
// CHECK-LABEL: @sizes
tir.prim_func @sizes(%x: memref<100xf32>, %y: memref<60xf32>, %z: memref<50xi16>) {
  // CHECK-NEXT: [[M:%.*]] = memref.alloc() : memref<100xf32>
  // CHECK-NEXT: "memref.copy"(%x, [[M]])
  // CHECK-NEXT: "memref.copy"([[M]], %x)
  // CHECK-NEXT: [[B:%.*]] = memref.reinterpret_cast [[M]] to offset: [0], sizes: [60], strides: [1] : memref<100xf32> to memref<60xf32>
  // CHECK-NEXT: "memref.copy"(%y, [[B]])
  // CHECK-NEXT: "memref.copy"([[B]], %y)
  %a = memref.alloc() : memref<100xf32>
  "memref.copy"(%x, %a) : (memref<100xf32>, memref<100xf32>) -> ()
  "memref.copy"(%a, %x) : (memref<100xf32>, memref<100xf32>) -> ()
  %b = memref.alloc() : memref<60xf32>
  "memref.copy"(%y, %b) : (memref<60xf32>, memref<60xf32>) -> ()
  "memref.copy"(%b, %y) : (memref<60xf32>, memref<60xf32>) -> ()
  // CHECK-NEXT: [[M:%.*]] = memref.alloca() {alignment = 128 : i64} : memref<240xi8>
  // CHECK-NEXT: [[C0:%.*]] = arith.constant 0 : index
  // CHECK-NEXT: [[C:%.*]] = memref.view [[M]][[[C0]]][] : memref<240xi8> to memref<50xi16>
  // CHECK-NEXT: "memref.copy"(%z, [[C]])
  // CHECK-NEXT: "memref.copy"([[C]], %z)
  // CHECK-NEXT: [[D:%.*]] = memref.view [[M]][[[C0]]][] : memref<240xi8> to memref<60xf32>
  // CHECK-NEXT: "memref.copy"(%y, [[D]])
  // CHECK-NEXT: "memref.copy"([[D]], %y)
  %c = memref.alloca() : memref<50xi16>
  "memref.copy"(%z, %c) : (memref<50xi16>, memref<50xi16>) -> ()
  "memref.copy"(%c, %z) : (memref<50xi16>, memref<50xi16>) -> ()
  %d = memref.alloca() {alignment = 128 : i64} : memref<60xf32>
  "memref.copy"(%y, %d) : (memref<60xf32>, memref<60xf32>) -> ()
  "memref.copy"(%d, %y) : (memref<60xf32>, memref<60xf32>) -> ()
}

// -----

// More than 16 times larger: not shared. Buffers of several dimensions are shared with their like.
// CHECK-LABEL: @unlike
tir.prim_func @unlike(%x: memref<100xf32>, %y: memref<4xf32>, %z: memref<4x4xf32>, %w: memref<5x5xf32>) {
  // CHECK: memref.alloc() : memref<100xf32>
  // CHECK: memref.alloc() : memref<4xf32>
  // CHECK: [[A:%.*]] = memref.alloc() : memref<4x4xf32>
  // CHECK: [[B:%.*]] = memref.alloc() : memref<5x5xf32>
  // CHECK: "memref.copy"(%z, [[A]])
  // CHECK-NOT: memref.alloc
  %a = memref.alloc() : memref<100xf32>
  "memref.copy"(%x, %a) : (memref<100xf32>, memref<100xf32>) -> ()
  "memref.copy"(%a, %x) : (memref<100xf32>, memref<100xf32>) -> ()
  %b = memref.alloc() : memref<4xf32>
  "memref.copy"(%y, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  "memref.copy"(%b, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  %c = memref.alloc() : memref<4x4xf32>
  "memref.copy"(%z, %c) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  "memref.copy"(%c, %z) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  %d = memref.alloc() : memref<5x5xf32>
  "memref.copy"(%w, %d) : (memref<5x5xf32>, memref<5x5xf32>) -> ()
  "memref.copy"(%d, %w) : (memref<5x5xf32>, memref<5x5xf32>) -> ()
  %e = memref.alloc() : memref<4x4xf32>
  "memref.copy"(%z, %e) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  "memref.copy"(%e, %z) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
}

// -----

// Within the body of the parallel loop, but outside of the serial one in it; likewise below a
// pragma, and in the innermost of the loops that are run by threads.
// CHECK-LABEL: @parallel
tir.prim_func @parallel(%x: memref<100xf32>) {
  // CHECK: tir.for parallel
  // CHECK-NEXT: memref.alloc()
  // CHECK-NEXT: tir.for
  // CHECK: attributes {pragma_auto_unroll_max_step
  // CHECK-NEXT: memref.alloc()
  // CHECK-NEXT: tir.for
  // CHECK: tir.for thread_binding "blockIdx.x"
  // CHECK-NEXT: tir.for thread_binding "threadIdx.x"
  // CHECK-NEXT: memref.alloc()
  // CHECK-NEXT: tir.for
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for parallel %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %c4 {
      %a = memref.alloc() : memref<100xf32>
      "memref.copy"(%x, %a) : (memref<100xf32>, memref<100xf32>) -> ()
    }
  }
  tir.for %i = %c0 extent %c4 attributes {pragma_auto_unroll_max_step = 4} {
    tir.for %j = %c0 extent %c4 {
      %a = memref.alloc() : memref<100xf32>
      "memref.copy"(%x, %a) : (memref<100xf32>, memref<100xf32>) -> ()
    }
  }
  tir.for thread_binding "blockIdx.x" %i = %c0 extent %c4 {
    tir.for thread_binding "threadIdx.x" %j = %c0 extent %c4 {
      tir.for %k = %c0 extent %c4 {
        %a = memref.alloc() : memref<100xf32>
        "memref.copy"(%x, %a) : (memref<100xf32>, memref<100xf32>) -> ()
      }
    }
  }
}

// -----

// Out of a loop with a condition, to the parallel loop or the function; not past its size.
// CHECK-LABEL: @while
tir.prim_func @while(%x: memref<8xf32>, %p: memref<1xi1>) {
  // CHECK: tir.for parallel
  // CHECK-NEXT: memref.alloc() : memref<8xf32>
  // CHECK-NEXT: scf.while
  // CHECK: memref.alloc() : memref<8xf32>
  // CHECK-NEXT: scf.while
  // CHECK: tir.for
  // CHECK-NEXT: memref.load
  // CHECK-NEXT: memref.alloc(%i{{.*}})
  // CHECK-NEXT: scf.if
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %false = arith.constant false
  tir.for parallel %i = %c0 extent %c4 {
    scf.while () : () -> () {
      %c = memref.load %p[%c0] : memref<1xi1>
      scf.condition(%c)
    } do {
      %a = memref.alloc() : memref<8xf32>
      "memref.copy"(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
      memref.store %false, %p[%c0] : memref<1xi1>
      scf.yield
    }
  }
  scf.while () : () -> () {
    %c = memref.load %p[%c0] : memref<1xi1>
    scf.condition(%c)
  } do {
    %a = memref.alloc() : memref<8xf32>
    "memref.copy"(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
    memref.store %false, %p[%c0] : memref<1xi1>
    scf.yield
  }
  tir.for %i = %c0 extent %c4 {
    %c = memref.load %p[%c0] : memref<1xi1>
    scf.if %c {
      %a = memref.alloc(%i) : memref<?xf32>
      tir.for %j = %c0 extent %i {
        %0 = memref.load %x[%j] : memref<8xf32>
        memref.store %0, %a[%j] : memref<?xf32>
      }
    }
  }
}

// -----

// The branches of a condition share.
// CHECK-LABEL: @branches
tir.prim_func @branches(%x: memref<8xf32>, %c: i1) {
  // CHECK-NEXT: memref.alloc() : memref<8xf32>
  // CHECK-NEXT: scf.if
  // CHECK-NOT: memref.alloc
  scf.if %c {
    %a = memref.alloc() : memref<8xf32>
    "memref.copy"(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
    "memref.copy"(%a, %x) : (memref<8xf32>, memref<8xf32>) -> ()
  } else {
    %a = memref.alloc() : memref<8xf32>
    "memref.copy"(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  }
}

// -----

// In use for the whole of a loop that it is made outside of.
// CHECK-LABEL: @carried
tir.prim_func @carried(%x: memref<8xf32>) {
  // CHECK-COUNT-2: memref.alloc() : memref<8xf32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<8xf32>
  "memref.copy"(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  tir.for %i = %c0 extent %c4 {
    "memref.copy"(%a, %x) : (memref<8xf32>, memref<8xf32>) -> ()
    %b = memref.alloc() : memref<8xf32>
    "memref.copy"(%x, %b) : (memref<8xf32>, memref<8xf32>) -> ()
    "memref.copy"(%b, %x) : (memref<8xf32>, memref<8xf32>) -> ()
  }
}

// -----

// An access through a view of a view is an access; a view that says which part it is does not need
// the one between.
// CHECK-LABEL: @aliases
tir.prim_func @aliases(%x: memref<8xf32>, %y: memref<4xf32>) {
  // CHECK-NEXT: [[A:%.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: [[D:%.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: memref.reinterpret_cast [[A]] to offset: [0], sizes: [6]
  // CHECK-NEXT: [[C:%.*]] = memref.reinterpret_cast [[A]] to offset: [2], sizes: [4]
  // CHECK: "memref.copy"([[C]], %y)
  %a = memref.alloc() : memref<8xf32>
  %d = memref.alloc() : memref<8xf32>
  %b = memref.reinterpret_cast %a to offset: [0], sizes: [6], strides: [1] : memref<8xf32> to memref<6xf32>
  %c = memref.reinterpret_cast %b to offset: [2], sizes: [4], strides: [1] : memref<6xf32> to memref<4xf32, strided<[1], offset: 2>>
  "memref.copy"(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  "memref.copy"(%x, %d) : (memref<8xf32>, memref<8xf32>) -> ()
  "memref.copy"(%c, %y) : (memref<4xf32, strided<[1], offset: 2>>, memref<4xf32>) -> ()
  "memref.copy"(%d, %x) : (memref<8xf32>, memref<8xf32>) -> ()
}

// -----

// What nothing reads or writes is removed, with its views.
// CHECK-LABEL: @unused
tir.prim_func @unused() {
  // CHECK-NOT: memref.{{alloc|subview}}
  %a = memref.alloc() : memref<8xf32>
  %b = memref.subview %a[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  %c = "memref.cast"(%b) : (memref<4xf32, strided<[1], offset: 2>>) -> memref<?xf32, strided<[1], offset: ?>>
}

// -----

// An operation that is not known, and a call, use what they are given.
// CHECK-LABEL: @opaque
tir.prim_func private @callee(memref<8xf32>)
tir.prim_func @opaque(%x: memref<8xf32>, %y: memref<8xf32>) {
  // CHECK: [[A:%.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: [[B:%.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: "test.op"([[A]])
  // CHECK-NEXT: "memref.copy"(%x, [[B]])
  // CHECK-NEXT: "test.op"([[A]])
  // CHECK-NEXT: "memref.copy"([[B]], %x)
  // CHECK-NEXT: tir.call @callee([[A]])
  // CHECK-NEXT: "memref.copy"([[A]], %y)
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  "test.op"(%a) : (memref<8xf32>) -> ()
  "memref.copy"(%x, %b) : (memref<8xf32>, memref<8xf32>) -> ()
  %0 = "test.op"(%a) : (memref<8xf32>) -> f32
  "memref.copy"(%b, %x) : (memref<8xf32>, memref<8xf32>) -> ()
  %c = memref.alloc() : memref<8xf32>
  tir.call @callee(%c) : memref<8xf32>
  "memref.copy"(%c, %y) : (memref<8xf32>, memref<8xf32>) -> ()
}

// -----

// What is handed on, freed, or of which the address is taken, stays where it is.
// CHECK-LABEL: @escapes
tir.prim_func @escapes(%x: memref<8xf32>, %c: i1) {
  // CHECK: tir.for
  // CHECK-NEXT: [[A:%.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: "test.op"([[A]])
  // CHECK-NEXT: [[B:%.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: "memref.extract_aligned_pointer_as_index"([[B]])
  // CHECK-NEXT: [[C:%.*]] = memref.alloc() : memref<8xf32>
  // CHECK-NEXT: memref.dealloc [[C]]
  // CHECK-NEXT: [[D:%.*]] = memref.alloc() {double_buffer_scope} : memref<8xf32>
  // CHECK-NEXT: "memref.copy"(%x, [[D]])
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    %a = memref.alloc() : memref<8xf32>
    %b = "test.op"(%a) : (memref<8xf32>) -> memref<8xf32>
    %d = memref.alloc() : memref<8xf32>
    %p = "memref.extract_aligned_pointer_as_index"(%d) : (memref<8xf32>) -> index
    %e = memref.alloc() : memref<8xf32>
    memref.dealloc %e : memref<8xf32>
    %f = memref.alloc() {double_buffer_scope} : memref<8xf32>
    "memref.copy"(%x, %f) : (memref<8xf32>, memref<8xf32>) -> ()
  }
}
