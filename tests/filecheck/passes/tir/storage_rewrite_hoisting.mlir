// RUN: passline-opt %s -p tir-storage-rewrite | filecheck %s

// Hoisted within the parallel loop, but out of the serial loop in it; likewise within a loop with a
// pragma, and within the innermost thread-bound loop.
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

// Hoisted out of scf.while, to the parallel loop or the function; not above the definition of a size.
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
