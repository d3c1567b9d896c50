// RUN: passline-opt %s -p 'tir-outline-parallel{fork-work=100}' --split-input-file | filecheck %s
// RUN: passline-opt %s -p tir-outline-parallel --remarks=all --split-input-file 2>&1 | filecheck %s --check-prefix=REMARK

// Views are copied, constants too, scalars and buffers are parameters; what the body allocates stays
// in it. Parts of 33 and 34 iterations.
// CHECK-LABEL: @scaled
// CHECK:         tir.for parallel %[[T:.*]] = %{{.*}} extent %{{.*}} {
// CHECK:           %[[A:.*]] = arith.muli %[[T]], %{{.*}} : index
// CHECK:           %[[FIRST:.*]] = arith.divui %[[A]], %{{.*}} : index
// CHECK:           %[[B:.*]] = arith.divui
// CHECK:           %[[COUNT:.*]] = arith.subi %[[B]], %[[FIRST]] : index
// CHECK-NEXT:      tir.call @scaled_part(%x, %f, %y, %[[FIRST]], %[[COUNT]]) {tir.part}
// CHECK:       tir.prim_func private @scaled_part(%x: memref<100x8xf32>, %f: f32, %y: memref<100x8xf32>, %[[I:.*]]: index, %[[N:.*]]: index) {
// CHECK:         memref.reinterpret_cast %x
// CHECK:         tir.for %{{.*}} = %[[I]] extent %[[N]] {
// CHECK:           memref.alloc() : memref<8xf32>
// REMARK:      remark: [Missed] SerialLoop | Category:tir-outline-parallel | Function=scaled | Remark="runs on one thread: it has too little work"
builtin.module attributes {tir.target = "x86-64-v3{cores=3}"} {
  tir.prim_func @scaled(%x: memref<100x8xf32>, %y: memref<100x8xf32>, %f: f32) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c100 = arith.constant 100 : index
    %v = memref.reinterpret_cast %x to offset: [0], sizes: [800], strides: [1] : memref<100x8xf32> to memref<800xf32>
    tir.for parallel %i = %c0 extent %c100 {
      %t = memref.alloc() : memref<8xf32>
      tir.for %j = %c0 extent %c8 {
        %0 = arith.muli %i, %c8 : index
        %1 = arith.addi %0, %j : index
        %2 = memref.load %v[%1] : memref<800xf32>
        %3 = arith.mulf %2, %f : f32
        memref.store %3, %t[%j] : memref<8xf32>
      }
      tir.for %j = %c0 extent %c8 {
        %4 = memref.load %t[%j] : memref<8xf32>
        memref.store %4, %y[%i, %j] : memref<100x8xf32>
      }
    }
  }
}

// -----

// Nested loops become one range.
// CHECK-LABEL: @nested
// CHECK:         %[[SIZE:.*]] = arith.constant 2048 : index
// CHECK:         tir.call @nested_part(%x, %{{.*}}, %[[SIZE]]) {tir.part}
// CHECK:       tir.prim_func private @nested_part
// CHECK:         tir.for %[[P:.*]] = %{{.*}} extent %{{.*}} {
// CHECK:           %[[J:.*]] = arith.remui %[[P]], %{{.*}} : index
// CHECK:           %[[I:.*]] = arith.divui %[[P]], %{{.*}} : index
// CHECK:           memref.store %{{.*}}, %x[%[[I]], %[[J]]]
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @nested(%x: memref<64x64xf32>) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %f = arith.constant 1.0 : f32
    tir.for parallel %i = %c0 extent %c64 {
      tir.for parallel %j = %c0 extent %c64 {
        memref.store %f, %x[%i, %j] : memref<64x64xf32>
      }
    }
  }
}

// -----

// An unknown number of iterations.
// CHECK-LABEL: @unknown
// CHECK:         arith.muli %{{.*}}, %n : index
// CHECK:         tir.call @unknown_part(%n0, %x, %{{.*}}, %{{.*}}) {tir.part}
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @unknown(%x: memref<?xf32>, %n: index) {
    %c5 = arith.constant 5 : index
    %n0 = arith.addi %n, %c5 : index
    %f = arith.constant 1.0 : f32
    tir.for parallel %i = %n0 extent %n {
      memref.store %f, %x[%i] : memref<?xf32>
      memref.store %f, %x[%i] : memref<?xf32>
      memref.store %f, %x[%i] : memref<?xf32>
    }
  }
}

// -----

// One core: nothing happens.
// CHECK-LABEL: @one_core
// CHECK:         tir.for parallel %i
// CHECK-NOT:     _part
builtin.module {
  tir.prim_func @one_core(%x: memref<4096xf32>, %f: f32) {
    %c0 = arith.constant 0 : index
    %n = arith.constant 4096 : index
    tir.for parallel %i = %c0 extent %n {
      memref.store %f, %x[%i] : memref<4096xf32>
    }
  }
}

// -----

// Parameters that may overlap still may.
// CHECK-LABEL: @alias(
// CHECK:       tir.prim_func private @alias_part1({{.*}}) attributes {tir.alias} {
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @alias(%x: memref<4096xf32>, %f: f32) attributes {tir.alias} {
    %c0 = arith.constant 0 : index
    %n = arith.constant 4096 : index
    tir.for parallel %i = %c0 extent %n {
      memref.store %f, %x[%i] : memref<4096xf32>
    }
  }
  tir.prim_func @alias_part() {
  }
}

// -----

// Attributes for LLVM hold for all parts.
// CHECK-LABEL: @passed_through(
// CHECK:       tir.prim_func private @passed_through_part({{.*}}) attributes {passthrough = ["noimplicitfloat"]} {
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @passed_through(%x: memref<4096xf32>, %f: f32) attributes {passthrough = ["noimplicitfloat"]} {
    %c0 = arith.constant 0 : index
    %n = arith.constant 4096 : index
    tir.for parallel %i = %c0 extent %n {
      memref.store %f, %x[%i] : memref<4096xf32>
    }
  }
}

// -----

// A loop without a body.
// CHECK-LABEL: @empty
// CHECK:         tir.for %i = %c0 extent %n {
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @empty() {
    %c0 = arith.constant 0 : index
    %n = arith.constant 4 : index
    tir.for parallel %i = %c0 extent %n {
    }
  }
}

// -----

// Vectors are no parameters: one that was loaded before the loop is passed in a buffer, as the loop may write to what it
// was loaded from; one that is computed from others is computed again.
// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca`)
// CHECK-LABEL: @vectors(
// CHECK:         [[V:%.*]] = vector.load %y
// CHECK:         [[B:%.*]] = memref.alloca() : memref<4xf32>
// CHECK-NEXT:    [[Z:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    vector.store [[V]], [[B]]{{\[}}[[Z]]] : memref<4xf32>, vector<4xf32>
// CHECK:         tir.call @vectors_part([[B]], %f, %x,
// CHECK:       tir.prim_func private @vectors_part([[P:%.*]]: memref<4xf32>, %f: f32, %x: memref<4096x4xf32>
// CHECK-NEXT:    [[C:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    [[L:%.*]] = vector.load [[P]]{{\[}}[[C]]] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT:    [[S:%.*]] = vector.broadcast %f : f32 to vector<4xf32>
// CHECK:         arith.addf [[L]], [[S]] : vector<4xf32>
builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
  tir.prim_func @vectors(%x: memref<4096x4xf32>, %y: memref<4xf32>, %f: f32) {
    %c0 = arith.constant 0 : index
    %n = arith.constant 4096 : index
    %v = vector.load %y[%c0] : memref<4xf32>, vector<4xf32>
    %s = vector.broadcast %f : f32 to vector<4xf32>
    tir.for parallel %i = %c0 extent %n {
      %0 = arith.addf %v, %s : vector<4xf32>
      vector.store %0, %x[%i, %c0] : memref<4096x4xf32>, vector<4xf32>
    }
  }
}
