// RUN: passline-opt %s -p tir-vectorize-loop --split-input-file | filecheck %s
// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)

// A serial loop stays one, around vectors; a buffer of each lane gets a last dimension.
// CHECK-LABEL: @accumulate(
tir.prim_func @accumulate(%a : memref<3xf32>, %b : memref<3x4xf32>, %c : memref<4xf32>) {
  // CHECK: [[ACC:%.*]] = memref.alloca() : memref<2x4xf32, "local">
  // CHECK-NEXT: vector.store {{.*}}, [[ACC]][%c0, %c0]
  // CHECK-NEXT: tir.for %k = %c0 extent %c3 {
  // CHECK-NEXT: [[A:%.*]] = memref.load %a[%k]
  // CHECK-NEXT: [[AS:%.*]] = vector.broadcast [[A]]
  // CHECK-NEXT: [[B:%.*]] = vector.load %b[%k, %c0]
  // CHECK-NEXT: [[P:%.*]] = arith.mulf [[AS]], [[B]]
  // CHECK-NEXT: [[S:%.*]] = vector.load [[ACC]][%c0, %c0]
  // CHECK-NEXT: [[T:%.*]] = arith.addf [[S]], [[P]]
  // CHECK-NEXT: vector.store [[T]], [[ACC]][%c0, %c0]
  // CHECK-NEXT: }
  // CHECK-NEXT: [[R:%.*]] = vector.load [[ACC]][%c0, %c0]
  // CHECK-NEXT: vector.store [[R]], %c[%c0]
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %acc = memref.alloca() : memref<2xf32, "local">
    memref.store %zero, %acc[%c0] : memref<2xf32, "local">
    tir.for %k = %c0 extent %c3 {
      %x = memref.load %a[%k] : memref<3xf32>
      %y = memref.load %b[%k, %v] : memref<3x4xf32>
      %p = arith.mulf %x, %y : f32
      %s = memref.load %acc[%c0] : memref<2xf32, "local">
      %t = arith.addf %s, %p : f32
      memref.store %t, %acc[%c0] : memref<2xf32, "local">
    }
    %r = memref.load %acc[%c0] : memref<2xf32, "local">
    memref.store %r, %c[%v] : memref<4xf32>
  }
}

// -----

// A loop whose bounds depend on the lane runs in a loop over the lanes.
// CHECK-LABEL: @triangle(
tir.prim_func @triangle(%a : memref<4x4xf32>, %x : f32) {
  // CHECK: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: tir.for %k = %c0 extent %v {
  // CHECK-NEXT: memref.store %x, %a[%v, %k]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    tir.for %k = %c0 extent %v {
      memref.store %x, %a[%v, %k] : memref<4x4xf32>
    }
  }
}

// -----

// Stores that are not contiguous run in a loop: strides, other dimensions, layouts, bits.
// CHECK-LABEL: @scattered(
tir.prim_func @scattered(%a : memref<8xf32>, %b : memref<4x4xf32>, %c : memref<4xf32, strided<[2], offset: 0>>, %d : memref<4xi1>, %e : memref<4xf32, strided<[1], offset: 4>>, %x : memref<4xf32>, %t : i1) {
  // CHECK: [[X:%.*]] = vector.load %x[%c0]
  // CHECK-NEXT: [[X2:%.*]] = arith.addf [[X]], [[X]]
  // CHECK-NEXT: tir.for [[V:%.*]] = %c0 extent %c4 {
  // CHECK-NEXT: vector.extract [[X]][[[V]]]
  // CHECK: memref.store {{.*}}, %a[
  // CHECK: tir.for
  // CHECK: memref.store {{.*}}, %b[
  // CHECK: tir.for
  // CHECK: memref.store {{.*}}, %c[
  // CHECK: tir.for
  // CHECK: memref.store {{.*}}, %d[
  // CHECK: }
  // CHECK-NEXT: vector.store [[X2]], %e[%c0]
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    %y = memref.load %x[%v] : memref<4xf32>
    %z = arith.addf %y, %y : f32
    %v2 = arith.muli %v, %c2 : index
    memref.store %z, %a[%v2] : memref<8xf32>
    memref.store %z, %b[%v, %c2] : memref<4x4xf32>
    memref.store %z, %c[%v] : memref<4xf32, strided<[2], offset: 0>>
    memref.store %t, %d[%v] : memref<4xi1>
    memref.store %z, %e[%v] : memref<4xf32, strided<[1], offset: 4>>
  }
}

// -----

// Calls are made for each lane; their results are used in the same loop.
// CHECK-LABEL: @calls(
tir.prim_func private @callee(%a : memref<4xf32>, %i : index, %x : f32) {
  memref.store %x, %a[%i] : memref<4xf32>
}
func.func private @number(f32) -> f32
tir.prim_func @calls(%a : memref<4xf32>, %b : memref<4xf32>) {
  // CHECK: [[X:%.*]] = vector.load %a[%c0]
  // CHECK-NEXT: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: [[E:%.*]] = vector.extract [[X]][%v]
  // CHECK-NEXT: tir.call @callee(%b, %v, [[E]])
  // CHECK-NEXT: }
  // CHECK-NEXT: vector.store [[X]], %b[%c0]
  // CHECK-NEXT: tir.for [[V:%.*]] = %c0 extent %c4 {
  // CHECK-NEXT: [[E:%.*]] = vector.extract [[X]][[[V]]]
  // CHECK-NEXT: [[Y:%.*]] = func.call @number([[E]])
  // CHECK-NEXT: memref.store [[Y]], %b[[[V]]]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    %x = memref.load %a[%v] : memref<4xf32>
    tir.call @callee(%b, %v, %x) : memref<4xf32>, index, f32
    memref.store %x, %b[%v] : memref<4xf32>
    %y = func.call @number(%x) : (f32) -> f32
    memref.store %y, %b[%v] : memref<4xf32>
  }
}

// -----

// A buffer that is passed to a call stays as it is, in a loop over the lanes.
// CHECK-LABEL: @seen(
tir.prim_func private @fill(%a : memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0 : f32
  memref.store %x, %a[%c0] : memref<1xf32>
}
tir.prim_func @seen(%b : memref<4xf32>) {
  // CHECK: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: [[B:%.*]] = memref.alloc() : memref<1xf32>
  // CHECK-NEXT: tir.call @fill([[B]])
  // CHECK-NEXT: memref.load [[B]]
  // CHECK-NEXT: memref.store {{.*}}, %b[%v]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    %buf = memref.alloc() : memref<1xf32>
    tir.call @fill(%buf) : memref<1xf32>
    %x = memref.load %buf[%c0] : memref<1xf32>
    memref.store %x, %b[%v] : memref<4xf32>
  }
}

// -----

// A buffer whose size is computed in the loop: each lane has its own, one after the other.
// CHECK-LABEL: @sized_inside(
tir.prim_func @sized_inside(%a : memref<8xf32>, %b : memref<8xf32>) {
  // CHECK: tir.for %v = %c0 extent %c8 {
  // CHECK-NEXT: memref.alloc(
  // CHECK-NEXT: memref.load %a[%v]
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: memref.load
  // CHECK-NEXT: memref.store {{%.*}}, %b[%v]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tir.for vectorized %v = %c0 extent %c8 {
    %z = arith.muli %c0, %v : index
    %m = arith.addi %z, %c1 : index
    %buffer = memref.alloc(%m) : memref<?xf32>
    %x = memref.load %a[%v] : memref<8xf32>
    memref.store %x, %buffer[%z] : memref<?xf32>
    %y = memref.load %buffer[%z] : memref<?xf32>
    memref.store %y, %b[%v] : memref<8xf32>
  }
}
