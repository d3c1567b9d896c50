// RUN: passline-opt %s -p tir-inject-double-buffer | filecheck %s
// RUN: passline-opt %s -p 'tir-inject-double-buffer{split-loop=0}' | filecheck %s --check-prefix=ZERO
// RUN: passline-opt %s -p 'tir-inject-double-buffer{split-loop=2}' | filecheck %s --check-prefix=TWO

// The buffer is filled before the loop, and then in each iteration for the next one. The last iteration
// is peeled off, or a condition in it guards the fill.
// CHECK-LABEL: @static
// ZERO-LABEL: @static
// TWO-LABEL: @static
tir.prim_func @static(%a: memref<20xf32>, %c: memref<20xf32>) {
  // CHECK: [[B:%.*]] = memref.alloc() : memref<2x4xf32, "shared">
  // CHECK: tir.for
  // CHECK: memref.store {{.*}}, [[B]][%{{.*}}, %{{j.*}}]
  // CHECK: [[FOUR:%.*]] = arith.constant 4 : index
  // CHECK-NEXT: tir.for [[I:%.*]] = {{.*}} extent [[FOUR]] attributes {note} {
  // CHECK: [[NEXT:%.*]] = arith.addi [[I]]
  // CHECK: [[W:%.*]] = arith.remsi [[NEXT]]
  // CHECK: memref.store {{.*}}, [[B]][[[W]], %{{j.*}}]
  // CHECK: [[R:%.*]] = arith.remsi [[I]]
  // CHECK: memref.load [[B]][[[R]], %{{j.*}}]
  // CHECK: }
  // CHECK: memref.load [[B]]
  // CHECK-NOT: memref.store {{.*}}, [[B]]

  // ZERO: tir.for
  // ZERO: memref.store {{.*}} : memref<2x4xf32, "shared">
  // ZERO: [[FIVE:%.*]] = arith.constant 5 : index
  // ZERO-NEXT: tir.for [[I:%.*]] = {{.*}} extent [[FIVE]] attributes {note} {
  // ZERO: [[IN:%.*]] = arith.cmpi slt
  // ZERO-NEXT: scf.if [[IN]] {
  // ZERO: memref.store {{.*}} : memref<2x4xf32, "shared">
  // ZERO: memref.load {{.*}} : memref<2x4xf32, "shared">
  // ZERO-NOT: memref.load {{.*}} : memref<2x4xf32, "shared">

  // TWO: memref.store {{.*}} : memref<2x4xf32, "shared">
  // TWO: attributes {note}
  // TWO: memref.store {{.*}} : memref<2x4xf32, "shared">
  // TWO: memref.load {{.*}} : memref<2x4xf32, "shared">
  // TWO: memref.store {{.*}} : memref<2x4xf32, "shared">
  // TWO: memref.load {{.*}} : memref<2x4xf32, "shared">
  // TWO-NOT: memref.store {{.*}} : memref<2x4xf32, "shared">
  // TWO: memref.load {{.*}} : memref<2x4xf32, "shared">
  // TWO-NOT: memref.load {{.*}} : memref<2x4xf32, "shared">
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  tir.for %i = %c0 extent %c5 attributes {note} {
    %k = arith.muli %i, %c4 : index
    %b = memref.alloc() {double_buffer_scope} : memref<4xf32, "shared">
    tir.for %j = %c0 extent %c4 {
      %l = arith.addi %k, %j : index
      %0 = memref.load %a[%l] : memref<20xf32>
      memref.store %0, %b[%j] : memref<4xf32, "shared">
    }
    tir.for %j = %c0 extent %c4 {
      %l = arith.addi %k, %j : index
      %0 = memref.load %b[%j] : memref<4xf32, "shared">
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %c[%l] : memref<20xf32>
    }
  }
}

// Dynamic bounds: nothing is filled for a loop without iterations. Several dimensions, and a copy as
// the fill.
// CHECK-LABEL: @dynamic
// TWO-LABEL: @dynamic
tir.prim_func @dynamic(%a: memref<16x4x2xf32>, %m: index, %n: index, %s: index) {
  // CHECK: [[B:%.*]] = memref.alloc(%s) : memref<2x?x2xf32>
  // CHECK: arith.cmpi slt
  // CHECK-NEXT: scf.if
  // CHECK: tir.for {{.*}} = %m extent
  // CHECK: memref.store {{.*}}, [[B]]
  // CHECK: memref.load [[B]]
  // CHECK: arith.cmpi slt
  // CHECK-NEXT: scf.if
  // TWO: arith.maxsi
  // TWO: tir.for
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tir.for %i = %m extent %n {
    %b = memref.alloc(%s) {double_buffer_scope} : memref<?x2xf32>
    tir.for %j = %c0 extent %s {
      tir.for %k = %c0 extent %c2 {
        %0 = memref.load %a[%i, %j, %k] : memref<16x4x2xf32>
        memref.store %0, %b[%j, %k] : memref<?x2xf32>
      }
    }
    %v = memref.load %b[%c1, %c0] : memref<?x2xf32>
    "test.op"(%v) : (f32) -> ()
  }
}

// CHECK-LABEL: @copy
tir.prim_func @copy(%a: memref<8x4xf32>, %c: memref<8x4xf32>) {
  // CHECK: [[B:%.*]] = memref.alloc() : memref<2x4xf32>
  // CHECK: memref.subview [[B]][%{{.*}}, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32, strided<[1], offset: ?>>
  // CHECK: tir.for
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %b = memref.alloc() {double_buffer_scope} : memref<4xf32>
    %r = memref.subview %a[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    "memref.copy"(%r, %b) : (memref<4xf32, strided<[1], offset: ?>>, memref<4xf32>) -> ()
    %o = memref.subview %c[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    "memref.copy"(%b, %o) : (memref<4xf32>, memref<4xf32, strided<[1], offset: ?>>) -> ()
  }
}

// Two buffers of one loop, and a loop nested in a loop.
// CHECK-LABEL: @nested
tir.prim_func @nested(%a: memref<6xf32>, %b: memref<6xf32>, %c: memref<6xf32>) {
  // CHECK-COUNT-2: memref.alloc() : memref<2x2xf32>
  // CHECK-NOT: double_buffer_scope
  // CHECK: memref.alloc() : memref<2x1xf32>
  // CHECK-NOT: double_buffer_scope
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  tir.for %i = %c0 extent %c3 {
    %k = arith.muli %i, %c2 : index
    %x = memref.alloc() {double_buffer_scope} : memref<2xf32>
    %y = memref.alloc() {double_buffer_scope} : memref<2xf32>
    tir.for %j = %c0 extent %c2 {
      %l = arith.addi %k, %j : index
      %0 = memref.load %a[%l] : memref<6xf32>
      memref.store %0, %x[%j] : memref<2xf32>
    }
    tir.for %j = %c0 extent %c2 {
      %l = arith.addi %k, %j : index
      %0 = memref.load %b[%l] : memref<6xf32>
      memref.store %0, %y[%j] : memref<2xf32>
    }
    tir.for %j = %c0 extent %c2 {
      %l = arith.addi %k, %j : index
      %z = memref.alloc() {double_buffer_scope} : memref<1xf32>
      %0 = memref.load %x[%j] : memref<2xf32>
      memref.store %0, %z[%c0] : memref<1xf32>
      %1 = memref.load %y[%j] : memref<2xf32>
      %2 = memref.load %z[%c0] : memref<1xf32>
      %3 = arith.mulf %1, %2 : f32
      memref.store %3, %c[%l] : memref<6xf32>
    }
  }
}

// Must not fire: no mark; outside of a loop; parallel loop; written twice; read first; filled from a
// buffer that the loop writes; used through a view; size computed in the loop.
// CHECK-LABEL: @left_alone
tir.prim_func @left_alone(%a: memref<4xf32>) {
  // CHECK-COUNT-9: memref.alloc({{.*}}) {{.*}}: memref<{{[4?]}}xf32>
  // CHECK-NOT: memref<2x
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.0 : f32
  %out = memref.alloc() {double_buffer_scope} : memref<4xf32>
  tir.for %i = %c0 extent %c4 {
    %b = memref.alloc() : memref<4xf32>
    memref.store %f, %b[%i] : memref<4xf32>
    memref.store %f, %out[%i] : memref<4xf32>
  }
  tir.for parallel %i = %c0 extent %c4 {
    %b = memref.alloc() {double_buffer_scope} : memref<4xf32>
    memref.store %f, %b[%i] : memref<4xf32>
  }
  tir.for %i = %c0 extent %c4 {
    %b = memref.alloc() {double_buffer_scope} : memref<4xf32>
    memref.store %f, %b[%i] : memref<4xf32>
    memref.store %f, %b[%c0] : memref<4xf32>
  }
  tir.for %i = %c0 extent %c4 {
    %b = memref.alloc() {double_buffer_scope} : memref<4xf32>
    %0 = memref.load %b[%c0] : memref<4xf32>
    memref.store %f, %b[%i] : memref<4xf32>
  }
  tir.for %i = %c0 extent %c4 {
    %b = memref.alloc() {double_buffer_scope} : memref<4xf32>
    %0 = memref.load %a[%i] : memref<4xf32>
    memref.store %0, %b[%i] : memref<4xf32>
    %1 = memref.load %b[%i] : memref<4xf32>
    memref.store %1, %a[%c0] : memref<4xf32>
  }
  tir.for %i = %c0 extent %c4 {
    %b = memref.alloc() {double_buffer_scope} : memref<4xf32>
    memref.store %f, %b[%i] : memref<4xf32>
    %v = memref.reinterpret_cast %b to offset: [0], sizes: [2], strides: [1] : memref<4xf32> to memref<2xf32>
    %1 = memref.load %v[%c0] : memref<2xf32>
  }
  tir.for %i = %c0 extent %c4 {
    %n = arith.addi %i, %c4 : index
    %b = memref.alloc(%n) {double_buffer_scope} : memref<?xf32>
    memref.store %f, %b[%i] : memref<?xf32>
  }
  tir.for %i = %c0 extent %c4 {
    %b = memref.alloc() {double_buffer_scope} : memref<4xf32>
    "test.op"(%b) : (memref<4xf32>) -> ()
  }
}
