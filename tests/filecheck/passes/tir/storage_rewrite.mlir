// RUN: passline-opt %s -p tir-storage-rewrite --split-input-file | filecheck %s
// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)

// An allocation that is shared by buffers of several sizes and types.
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

// More than 16 times larger: not shared. Buffers of several dimensions share with the same type.
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

// The two branches of a condition share.
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

// A buffer allocated outside of a loop is live for the whole loop.
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

// An access through a view of a view is an access. A reinterpret_cast of a view becomes one of the
// allocation.
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

// Allocations without accesses are removed, with their views.
// CHECK-LABEL: @unused
tir.prim_func @unused() {
  // CHECK-NOT: memref.{{alloc|subview}}
  %a = memref.alloc() : memref<8xf32>
  %b = memref.subview %a[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  %c = "memref.cast"(%b) : (memref<4xf32, strided<[1], offset: 2>>) -> memref<?xf32, strided<[1], offset: ?>>
}

// An unknown operation and a call access their operands.
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

// Allocations that are passed on or freed, or whose address is taken, stay where they are.
// UNCHANGED: @escapes
tir.prim_func @escapes(%x: memref<8xf32>, %c: i1) {
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
