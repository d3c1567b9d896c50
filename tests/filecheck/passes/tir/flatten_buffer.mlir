// RUN: passline-opt %s -p tir-flatten-buffer --split-input-file | filecheck %s

// Parameters keep their shape, and are accessed through flat views; allocations become flat.
// CHECK-LABEL: @elementwise
// CHECK-SAME: (%a: memref<16x16xf32>, %unused: memref<2x2xf32>, %c: memref<16x16xf32>)
tir.prim_func @elementwise(%a: memref<16x16xf32>, %unused: memref<2x2xf32>, %c: memref<16x16xf32>) {
  // CHECK-NEXT: [[A:%.*]] = memref.collapse_shape %a {{\[\[.*\]\]}} : memref<16x16xf32> into memref<256xf32>
  // CHECK-NEXT: [[C:%.*]] = memref.collapse_shape %c {{\[\[.*\]\]}} : memref<16x16xf32> into memref<256xf32>
  // CHECK-NOT: collapse_shape
  // CHECK: [[B:%.*]] = memref.alloc() : memref<16xf32>
  // CHECK: [[I:%.*]] = arith.muli %i, {{.*}} : index
  // CHECK-NEXT: [[IJ:%.*]] = arith.addi [[I]], %j : index
  // CHECK-NEXT: memref.load [[A]][[[IJ]]] : memref<256xf32>
  // CHECK: memref.store {{.*}}, [[B]][%j] : memref<16xf32>
  // CHECK: memref.load [[B]][%j
  // CHECK: memref.store {{.*}}, [[C]]
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  tir.for %i = %c0 extent %c16 {
    %b = memref.alloc() : memref<1x16xf32>
    tir.for %j = %c0 extent %c16 {
      %0 = memref.load %a[%i, %j] : memref<16x16xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %b[%c0, %j] : memref<1x16xf32>
    }
    tir.for %j = %c0 extent %c16 {
      %0 = memref.load %b[%c0, %j] : memref<1x16xf32>
      %1 = arith.mulf %0, %0 : f32
      memref.store %1, %c[%i, %j] : memref<16x16xf32>
    }
  }
}

// Thread-bound loop variables in indices.
// CHECK-LABEL: @threads
tir.prim_func @threads(%a: memref<4x2x2x16xf32>) {
  // CHECK-DAG: [[C64:%.*]] = arith.constant 64 : index
  // CHECK-DAG: arith.muli %i0, [[C64]]
  // CHECK: [[C32:%.*]] = arith.constant 32 : index
  // CHECK-NEXT: arith.muli %i1, [[C32]]
  // CHECK: arith.muli %i2, %c16
  // CHECK: memref.load {{.*}} : memref<256xf32>
  // CHECK-NOT: arith.addi
  // CHECK: memref.store {{.*}} : memref<256xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  tir.for thread_binding "blockIdx.x" %i0 = %c0 extent %c4 {
    tir.for thread_binding "threadIdx.x" %i1 = %c0 extent %c2 {
      tir.for thread_binding "vthread" %i2 = %c0 extent %c2 {
        tir.for %j = %c0 extent %c16 {
          %0 = memref.load %a[%i0, %i1, %i2, %j] : memref<4x2x2x16xf32>
          %1 = arith.addf %0, %0 : f32
          memref.store %1, %a[%i0, %i1, %i2, %j] : memref<4x2x2x16xf32>
        }
      }
    }
  }
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// Dynamic sizes: only the sizes of a parameter that strides need are computed, once each.
// CHECK-LABEL: @symbolic
tir.prim_func @symbolic(%a: memref<?x?xf32>, %n: index, %m: index, %c: memref<?x?xf32>) {
  // CHECK-NEXT: [[ONE:%.*]] = arith.constant 1 : index
  // CHECK-NEXT: [[MA:%.*]] = memref.dim %a, [[ONE]]
  // CHECK-NEXT: [[A:%.*]] = memref.collapse_shape %a {{.*}} : memref<?x?xf32> into memref<?xf32>
  // CHECK: [[NM:%.*]] = arith.muli %n, %m
  // CHECK-NEXT: [[B:%.*]] = memref.alloc([[NM]]) : memref<?xf32>
  // CHECK: [[I:%.*]] = arith.muli [[MA]], %i
  // CHECK-NEXT: [[IJ:%.*]] = arith.addi [[I]], %j
  // CHECK-NEXT: memref.load [[A]][[[IJ]]]
  // CHECK: [[I:%.*]] = arith.muli %m, %i
  // CHECK-NEXT: [[IJ:%.*]] = arith.addi %j, [[I]]
  // CHECK-NEXT: memref.store {{.*}}, [[B]][[[IJ]]]
  %c0 = arith.constant 0 : index
  %b = memref.alloc(%n, %m) : memref<?x?xf32>
  tir.for %i = %c0 extent %n {
    tir.for %j = %c0 extent %m {
      %0 = memref.load %a[%i, %j] : memref<?x?xf32>
      memref.store %0, %b[%i, %j] : memref<?x?xf32>
      %1 = memref.load %b[%i, %j] : memref<?x?xf32>
      memref.store %1, %c[%i, %j] : memref<?x?xf32>
    }
  }
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// A size of an allocation is the operand of the allocation.
// CHECK-LABEL: @dim
tir.prim_func @dim(%n: index, %out: memref<2xindex>) {
  // CHECK-NOT: memref.dim
  // CHECK: memref.store %n, %out
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.alloc(%n) : memref<4x?xf32>
  %f = arith.constant 1.0 : f32
  memref.store %f, %b[%c0, %c0] : memref<4x?xf32>
  %m = memref.dim %b, %c1 : memref<4x?xf32>
  memref.store %m, %out[%c0] : memref<2xindex>
}

// -----

// An index that was split into quotient and remainder is joined again.
// CHECK-LABEL: @fused
tir.prim_func @fused(%a: memref<32x?x?xf32>, %n: index) {
  // CHECK: tir.for %i
  // CHECK-NEXT: [[V:%.*]] = memref.load {{.*}}[%i] : memref<?xf32>
  // CHECK-NEXT: [[W:%.*]] = arith.addf [[V]], [[V]]
  // CHECK-NEXT: memref.store [[W]], {{.*}}[%i] : memref<?xf32>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %nn = arith.muli %n, %n : index
  %all = arith.muli %nn, %c32 : index
  %b = memref.alloc(%n, %n) : memref<32x?x?xf32>
  tir.for %i = %c0 extent %all {
    %x = arith.floordivsi %i, %nn : index
    %r = arith.remsi %i, %nn : index
    %y = arith.floordivsi %r, %n : index
    %z = arith.remsi %i, %n : index
    %0 = memref.load %b[%x, %y, %z] : memref<32x?x?xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %b[%x, %y, %z] : memref<32x?x?xf32>
  }
}

// A condition keeps the index within the buffer.
// CHECK-LABEL: @fused_with_condition
tir.prim_func @fused_with_condition(%a: memref<32x5x5xf32>) {
  // CHECK: scf.if
  // CHECK-NEXT: [[V:%.*]] = memref.load {{.*}}[[[K:%.*]]] : memref<800xf32>
  // CHECK-NEXT: [[W:%.*]] = arith.addf [[V]], [[V]]
  // CHECK-NEXT: memref.store [[W]], {{.*}}[[[K]]] : memref<800xf32>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c13 = arith.constant 13 : index
  %c25 = arith.constant 25 : index
  %c64 = arith.constant 64 : index
  %c800 = arith.constant 800 : index
  tir.for %bx = %c0 extent %c13 {
    tir.for %tx = %c0 extent %c64 {
      %b = arith.muli %bx, %c64 : index
      %k = arith.addi %b, %tx : index
      %in = arith.cmpi slt, %k, %c800 : index
      scf.if %in {
        %x = arith.floordivsi %k, %c25 : index
        %r = arith.remsi %k, %c25 : index
        %y = arith.floordivsi %r, %c5 : index
        %z = arith.remsi %k, %c5 : index
        %0 = memref.load %a[%x, %y, %z] : memref<32x5x5xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %a[%x, %y, %z] : memref<32x5x5xf32>
      }
    }
  }
}

// Strided views of an allocation and of a parameter.
// CHECK-LABEL: @strided
tir.prim_func @strided(%in: memref<4x16xf32>, %out: memref<4x17xf32>, %row: memref<16xf32>) {
  // CHECK: [[OUT:%.*]] = memref.collapse_shape %out {{.*}} into memref<68xf32>
  // CHECK: [[B:%.*]] = memref.alloc() : memref<68xf32>
  // CHECK-NOT: memref.reinterpret_cast
  // CHECK-NOT: memref.subview
  // CHECK: [[C:%.*]] = arith.constant 17 : index
  // CHECK-NEXT: [[I:%.*]] = arith.muli %i, [[C]]
  // CHECK-NEXT: [[IJ:%.*]] = arith.addi [[I]], %j
  // CHECK-NEXT: memref.store {{.*}}, [[B]][[[IJ]]] : memref<68xf32>
  // CHECK: memref.load [[B]][[[IJ]]] : memref<68xf32>
  // CHECK: memref.store {{.*}}, [[OUT]]
  // CHECK: memref.load [[OUT]]
  // CHECK-NEXT: memref.store {{.*}}, %row[{{%j.*}}] : memref<16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %alloc = memref.alloc() : memref<4x17xf32>
  %b = memref.reinterpret_cast %alloc to offset: [0], sizes: [4, 16], strides: [17, 1] : memref<4x17xf32> to memref<4x16xf32, strided<[17, 1]>>
  %o = memref.subview %out[0, 1] [4, 16] [1, 1] : memref<4x17xf32> to memref<4x16xf32, strided<[17, 1], offset: 1>>
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %c16 {
      %0 = memref.load %in[%i, %j] : memref<4x16xf32>
      memref.store %0, %b[%i, %j] : memref<4x16xf32, strided<[17, 1]>>
      %1 = memref.load %b[%i, %j] : memref<4x16xf32, strided<[17, 1]>>
      memref.store %1, %o[%i, %j] : memref<4x16xf32, strided<[17, 1], offset: 1>>
    }
    %r = memref.subview %out[%i, 1] [1, 16] [1, 1] : memref<4x17xf32> to memref<16xf32, strided<[1], offset: ?>>
    tir.for %j = %c0 extent %c16 {
      %0 = memref.load %r[%j] : memref<16xf32, strided<[1], offset: ?>>
      memref.store %0, %row[%j] : memref<16xf32>
    }
  }
}

// A parameter with static strides; one with unknown strides is left as it is.
// CHECK-LABEL: @strided_parameter
tir.prim_func @strided_parameter(%a: memref<4x16xf32, strided<[17, 1], offset: 2>>, %b: memref<?x?xf32, strided<[?, 1]>>) {
  // CHECK-NEXT: [[A:%.*]] = memref.reinterpret_cast %a to offset: [2], sizes: [67], strides: [1] : memref<4x16xf32, strided<[17, 1], offset: 2>> to memref<67xf32, strided<[1], offset: 2>>
  // CHECK: memref.load [[A]]
  // CHECK: memref.store {{.*}}, %b[%c3, %c5]
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %0 = memref.load %a[%c3, %c5] : memref<4x16xf32, strided<[17, 1], offset: 2>>
  memref.store %0, %b[%c3, %c5] : memref<?x?xf32, strided<[?, 1]>>
}

// expand_shape and collapse_shape.
// CHECK-LABEL: @shapes
tir.prim_func @shapes(%x: memref<24xf32>, %n: index) {
  // CHECK-NOT: memref.expand_shape
  // CHECK: memref.load %x[%k] : memref<24xf32>
  // CHECK: memref.store {{.*}}, %x[%k] : memref<24xf32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c24 = arith.constant 24 : index
  %e = memref.expand_shape %x [[0 : i64, 1 : i64, 2 : i64]] output_shape [2, 3, 4] : memref<24xf32> into memref<2x3x4xf32>
  %c = memref.collapse_shape %e [[0 : i64, 1 : i64], [2 : i64]] : memref<2x3x4xf32> into memref<6x4xf32>
  tir.for %k = %c0 extent %c24 {
    %i = arith.floordivsi %k, %c4 : index
    %j = arith.remsi %k, %c4 : index
    %0 = memref.load %c[%i, %j] : memref<6x4xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %c[%i, %j] : memref<6x4xf32>
  }
}

// A call gets the buffer in its shape; the accesses in this function are flat.
// CHECK-LABEL: @call(
tir.prim_func private @callee(memref<2x4xf32>, memref<4x2xf32>)
tir.prim_func @call(%p: memref<2x4xf32>, %out: memref<f32>, %one: memref<4xf32>) {
  // CHECK: [[P:%.*]] = memref.collapse_shape %p
  // CHECK: [[B:%.*]] = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  // CHECK-NEXT: [[E:%.*]] = memref.expand_shape [[B]] {{\[\[.*\]\]}} output_shape [4, 2] : memref<8xf32> into memref<4x2xf32>
  // CHECK: [[C:%.*]] = memref.alloc() : memref<4x2xf32>
  // CHECK: memref.store {{.*}}, [[B]]
  // CHECK: tir.call @callee(%p, [[E]])
  // CHECK: tir.call @callee(%p, [[C]])
  // CHECK: memref.load [[P]]
  // CHECK: memref.store {{.*}}, %out[]
  // CHECK: memref.store {{.*}}, %one[%c1]
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %b = memref.alloc() {alignment = 64 : i64} : memref<4x2xf32>
  %c = memref.alloc() : memref<4x2xf32>
  memref.store %f, %b[%c1, %c1] : memref<4x2xf32>
  tir.call @callee(%p, %b) : memref<2x4xf32>, memref<4x2xf32>
  tir.call @callee(%p, %c) : memref<2x4xf32>, memref<4x2xf32>
  %0 = memref.load %p[%c1, %c1] : memref<2x4xf32>
  memref.store %0, %out[] : memref<f32>
  memref.store %0, %one[%c1] : memref<4xf32>
}

// Vectors along the last dimension; not those of two dimensions, or along a stride.
// CHECK-LABEL: @vectors
tir.prim_func @vectors(%a: memref<4x8xf32>) {
  // CHECK: [[A:%.*]] = memref.collapse_shape %a
  // CHECK: [[V:%.*]] = vector.load [[A]][{{%[^,]*}}] : memref<32xf32>, vector<4xf32>
  // CHECK: vector.store [[V]], [[A]][{{%[^,]*}}] : memref<32xf32>, vector<4xf32>
  // CHECK: [[W:%.*]] = vector.maskedload [[A]][{{%[^,]*}}], %m, [[V]] : memref<32xf32>
  // CHECK: vector.maskedstore [[A]][{{%[^,]*}}], %m, [[W]] : memref<32xf32>
  // CHECK: vector.load %a[%c1, %c1] : memref<4x8xf32>, vector<2x4xf32>
  %m = arith.constant dense<[true, false, true, true]> : vector<4xi1>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = vector.load %a[%c1, %c2] : memref<4x8xf32>, vector<4xf32>
  vector.store %0, %a[%c2, %c2] : memref<4x8xf32>, vector<4xf32>
  %1 = vector.maskedload %a[%c1, %c1], %m, %0 : memref<4x8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %a[%c2, %c1], %m, %1 : memref<4x8xf32>, vector<4xi1>, vector<4xf32>
  %2 = vector.load %a[%c1, %c1] : memref<4x8xf32>, vector<2x4xf32>
}

// Transfers in bounds along the last dimension become flat; other transfers depend on the shape.
// CHECK-LABEL: @transfers
tir.prim_func @transfers(%a: memref<4x8xf32>, %f: f32) {
  // CHECK: [[A:%.*]] = memref.collapse_shape %a
  // CHECK: [[V:%.*]] = vector.load [[A]][{{%[^,]*}}] : memref<32xf32>, vector<4xf32>
  // CHECK: vector.store [[V]], [[A]][{{%[^,]*}}] : memref<32xf32>, vector<4xf32>
  // CHECK: vector.transfer_read %a[%c1, %c2], %f
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = vector.transfer_read %a[%c1, %c2], %f {in_bounds = [true]} : memref<4x8xf32>, vector<4xf32>
  vector.transfer_write %0, %a[%c2, %c2] {in_bounds = [true]} : vector<4xf32>, memref<4x8xf32>
  %1 = vector.transfer_read %a[%c1, %c2], %f : memref<4x8xf32>, vector<4xf32>
}

// A copy of whole buffers becomes a copy of the flat buffers.
// CHECK-LABEL: @copies
tir.prim_func @copies(%a: memref<4x8xf32>, %b: memref<4x8xf32>) {
  // CHECK: [[A:%.*]] = memref.collapse_shape %a
  // CHECK: [[B:%.*]] = memref.alloc() : memref<32xf32>
  // CHECK: "memref.copy"([[A]], [[B]])
  // CHECK: "memref.copy"({{.*}}, %b) : (memref<4x8xf32>, memref<4x8xf32>)
  %c1 = arith.constant 1 : index
  %l = memref.alloc() : memref<4x8xf32>
  "memref.copy"(%a, %l) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
  %0 = memref.load %l[%c1, %c1] : memref<4x8xf32>
  memref.store %0, %a[%c1, %c1] : memref<4x8xf32>
  "memref.copy"(%l, %b) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
}

// i1 stays i1. A view of bytes becomes flat.
// CHECK-LABEL: @types
tir.prim_func @types(%a: memref<2x3xi1>, %bytes: memref<64xi8>) {
  // CHECK: memref.collapse_shape %a {{.*}} into memref<6xi1>
  // CHECK: memref.view %bytes[%c8][] : memref<64xi8> to memref<8xf32>
  // CHECK: memref.store {{.*}} : memref<8xf32>
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %0 = memref.load %a[%c1, %c1] : memref<2x3xi1>
  memref.store %0, %a[%c1, %c1] : memref<2x3xi1>
  %v = memref.view %bytes[%c8][] : memref<64xi8> to memref<2x4xf32>
  %f = arith.constant 1.0 : f32
  memref.store %f, %v[%c1, %c1] : memref<2x4xf32>
}

// The plain sum is used where it costs less than the simplified index.
// CHECK-LABEL: @plain
tir.prim_func @plain(%a: memref<16x64xf32>) {
  // CHECK: [[S:%.*]] = arith.addi %i, %j : index
  // CHECK: [[T:%.*]] = arith.muli [[S]], {{.*}} : index
  // CHECK-NEXT: [[U:%.*]] = arith.addi [[T]], %j : index
  // CHECK-NEXT: memref.load {{.*}}[[[U]]] : memref<1024xf32>
  // CHECK-NOT: arith.addi
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    tir.for %j = %c0 extent %c8 {
      %s = arith.addi %i, %j : index
      %0 = memref.load %a[%s, %j] : memref<16x64xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %a[%s, %j] : memref<16x64xf32>
    }
  }
}
