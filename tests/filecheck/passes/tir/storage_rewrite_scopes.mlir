// RUN: passline-opt %s -p tir-storage-rewrite | filecheck %s
// RUN: passline-opt %s -p 'tir-storage-rewrite{merge-static-smem}' | filecheck %s --check-prefix=KEEP

// Tagged memory becomes one allocation, with its parts at aligned offsets.
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

// Two buffers whose live ranges do not overlap are one allocation of their type, also in a loop.
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

// Registers and buffers of a few bytes are not shared, but hoisted. "shared.dyn" is an ordinary
// scope: its allocations are not merged.
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
