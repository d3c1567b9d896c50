// RUN: passline-opt %s -p tir-vectorize-loop --split-input-file | filecheck %s

// A store at neighboring places; constants are dense ones.
// CHECK-LABEL: @store(
tir.prim_func @store(%a : memref<4xf32>) {
  // CHECK: [[ONE:%.*]] = arith.constant dense<1.000000e+00> : vector<4xf32>
  // CHECK-NEXT: vector.store [[ONE]], %a[%c0] : memref<4xf32>, vector<4xf32>
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    memref.store %one, %a[%v] : memref<4xf32>
  }
}

// -----

// What is the same for all lanes is computed once; a min that is not a constant; properties are kept.
// CHECK-LABEL: @saxpy(
tir.prim_func @saxpy(%a : memref<?xf32>, %b : memref<8x8xf32>, %x : memref<f32>, %n : index) {
  // CHECK: [[X:%.*]] = memref.load %x[] : memref<f32>
  // CHECK-NEXT: [[XS:%.*]] = vector.broadcast [[X]] : f32 to vector<2xf32>
  // CHECK-NEXT: [[A:%.*]] = vector.load %a[%n] : memref<?xf32>, vector<2xf32>
  // CHECK-NEXT: [[J:%.*]] = arith.addi %n, %c1 : index
  // CHECK-NEXT: [[B:%.*]] = vector.load %b[%c1, [[J]]] : memref<8x8xf32>, vector<2xf32>
  // CHECK-NEXT: [[P:%.*]] = arith.mulf [[XS]], [[A]] fastmath<fast> : vector<2xf32>
  // CHECK-NEXT: [[S:%.*]] = arith.addf [[P]], [[B]] fastmath<contract> : vector<2xf32>
  // CHECK-NEXT: vector.store [[S]], %b[%c1, [[J]]]
  // CHECK-NEXT: }
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tir.for vectorized %v = %n extent %c2 {
    %f = memref.load %x[] : memref<f32>
    %y = memref.load %a[%v] : memref<?xf32>
    %j = arith.addi %v, %c1 : index
    %z = memref.load %b[%c1, %j] : memref<8x8xf32>
    %p = arith.mulf %f, %y fastmath<fast> : f32
    %s = arith.addf %p, %z fastmath<contract> : f32
    memref.store %s, %b[%c1, %j] : memref<8x8xf32>
  }
}

// -----

// Extents 1 and 0.
// CHECK-LABEL: @short(
tir.prim_func @short(%a : memref<4xf32>, %x : f32) {
  // CHECK: memref.store %x, %a[%c1]
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tir.for vectorized %v = %c1 extent %c1 {
    memref.store %x, %a[%v] : memref<4xf32>
  }
  tir.for vectorized %v = %c1 extent %c0 {
    memref.store %x, %a[%v] : memref<4xf32>
  }
}

// -----

// A value that is used twice is one vector.
// CHECK-LABEL: @let(
tir.prim_func @let(%a : memref<4xf32>) {
  // CHECK: [[L:%.*]] = vector.load %a[%c0]
  // CHECK-NEXT: [[T:%.*]] = arith.addf [[L]]
  // CHECK-NEXT: [[R:%.*]] = arith.addf [[T]], [[T]]
  // CHECK-NEXT: vector.store [[R]], %a[%c0]
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %x = memref.load %a[%v] : memref<4xf32>
    %t = arith.addf %x, %one : f32
    %r = arith.addf %t, %t : f32
    memref.store %r, %a[%v] : memref<4xf32>
  }
}

// -----

// The variable as a number: a ramp, which arithmetic keeps as long as it can.
// CHECK-LABEL: @ramp(
tir.prim_func @ramp(%a : memref<8xindex>, %b : memref<4xindex>, %n : index) {
  // CHECK: [[STEPS:%.*]] = arith.constant dense<[0, 2, 4, 6]> : vector<4xindex>
  // CHECK: [[FROM1:%.*]] = arith.constant dense<[1, 2, 3, 4]> : vector<4xindex>
  // CHECK: [[N:%.*]] = vector.broadcast %n : index to vector<4xindex>
  // CHECK-NEXT: [[R:%.*]] = arith.addi [[N]], [[STEPS]]
  // CHECK-NEXT: vector.store [[R]], %a[%c0]
  // CHECK-NEXT: [[S:%.*]] = arith.muli [[FROM1]], [[FROM1]]
  // CHECK-NEXT: vector.store [[S]], %b[%c0]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    %v2 = arith.muli %c2, %v : index
    %r = arith.addi %v2, %n : index
    memref.store %r, %a[%v] : memref<8xindex>
    %v1 = arith.addi %v, %c1 : index
    %s = arith.muli %v1, %v1 : index
    memref.store %s, %b[%v] : memref<4xindex>
  }
}

// -----

// Functions and arithmetic of all kinds, and a choice by a condition for all lanes.
// CHECK-LABEL: @lanewise(
tir.prim_func @lanewise(%a : memref<4xf32>, %i : memref<4xi32>, %c : i1) {
  // CHECK: math.sqrt {{.*}} : vector<4xf32>
  // CHECK: arith.maximumf {{.*}} : vector<4xf32>
  // CHECK: arith.negf {{.*}} : vector<4xf32>
  // CHECK: arith.select %c, {{.*}} : vector<4xf32>
  // CHECK: arith.shli {{.*}} : vector<4xi32>
  // CHECK: arith.divsi {{.*}} : vector<4xi32>
  // CHECK: arith.andi {{.*}} : vector<4xi32>
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %k = arith.constant 3 : i32
  tir.for vectorized %v = %c0 extent %c4 {
    %x = memref.load %a[%v] : memref<4xf32>
    %y = math.sqrt %x : f32
    %z = arith.maximumf %x, %y : f32
    %w = arith.negf %z : f32
    %s = arith.select %c, %w, %y : f32
    memref.store %s, %a[%v] : memref<4xf32>
    %n = memref.load %i[%v] : memref<4xi32>
    %o = arith.shli %n, %k : i32
    %p = arith.divsi %o, %k : i32
    %q = arith.andi %p, %k : i32
    memref.store %q, %i[%v] : memref<4xi32>
  }
}

// -----

// Comparisons and conversions, which xDSL has for numbers only, lane by lane; and elements that are
// no neighbors.
// CHECK-LABEL: @by_hand(
tir.prim_func @by_hand(%a : memref<4xf32>, %b : memref<2x4xf32>, %i : memref<2xi32>) {
  // CHECK: [[L:%.*]] = vector.load %a[%c0] : memref<4xf32>, vector<2xf32>
  // CHECK-NEXT: [[L0:%.*]] = vector.extract [[L]][0]
  // CHECK-NEXT: [[C0:%.*]] = arith.cmpf ogt, [[L0]], %z
  // CHECK-NEXT: [[L1:%.*]] = vector.extract [[L]][1]
  // CHECK-NEXT: [[C1:%.*]] = arith.cmpf ogt, [[L1]], %z
  // CHECK: [[S0:%.*]] = memref.load %b[%c0, %c1]
  // CHECK-NEXT: [[S1:%.*]] = memref.load %b[%c0, %c3]
  // CHECK: arith.select [[C0]], [[S0]]
  // CHECK: arith.select [[C1]], [[S1]]
  // CHECK-NEXT: vector.insert
  // CHECK-NEXT: [[R:%.*]] = vector.insert
  // CHECK-NEXT: vector.store [[R]], %a[%c0]
  // CHECK-NEXT: arith.index_cast %c0
  // CHECK-NEXT: arith.index_cast %c1
  // CHECK: vector.store {{.*}}, %i
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 1.0 : f32
  tir.for vectorized %v = %c0 extent %c2 {
    %x = memref.load %a[%v] : memref<4xf32>
    %c = arith.cmpf ogt, %x, %z : f32
    %v2 = arith.muli %v, %c2 : index
    %v3 = arith.addi %v2, %c1 : index
    %y = memref.load %b[%c0, %v3] : memref<2x4xf32>
    %s = arith.select %c, %y, %x : f32
    memref.store %s, %a[%v] : memref<4xf32>
    %n = arith.index_cast %v : index to i32
    memref.store %n, %i[%v] : memref<2xi32>
  }
}

// -----

// By hand are only some lanes done; then it is a loop.
// CHECK-LABEL: @many(
tir.prim_func @many(%a : memref<64xf32>, %i : memref<64xi32>) {
  // CHECK: [[L:%.*]] = vector.load %a[%c0] : memref<64xf32>, vector<64xf32>
  // CHECK-NEXT: vector.store [[L]], %a[%c0]
  // CHECK-NEXT: tir.for [[V:%.*]] = %c0 extent %c64 {
  // CHECK-NEXT: [[N:%.*]] = arith.index_cast [[V]]
  // CHECK-NEXT: memref.store [[N]], %i[[[V]]]
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tir.for vectorized %v = %c0 extent %c64 {
    %x = memref.load %a[%v] : memref<64xf32>
    memref.store %x, %a[%v] : memref<64xf32>
    %n = arith.index_cast %v : index to i32
    memref.store %n, %i[%v] : memref<64xi32>
  }
}

// -----

// A branch whose condition is the same for all lanes stays one; what depends on the lane in the
// other part is a loop, and nothing else.
// CHECK-LABEL: @branches(
tir.prim_func @branches(%a : memref<4xf32>, %x : index, %n : index) {
  // CHECK: [[C:%.*]] = arith.cmpi slt, %x, %n
  // CHECK-NEXT: scf.if [[C]] {
  // CHECK-NEXT: vector.load
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: vector.store
  // CHECK-NEXT: } else {
  // CHECK-NEXT: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: [[D:%.*]] = arith.cmpi slt, %v, %n
  // CHECK-NEXT: scf.if [[D]] {
  // CHECK-NEXT: memref.store %two, %a[%v]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %c = arith.cmpi slt, %x, %n : index
    scf.if %c {
      %y = memref.load %a[%v] : memref<4xf32>
      %z = arith.addf %y, %one : f32
      memref.store %z, %a[%v] : memref<4xf32>
    } else {
      %d = arith.cmpi slt, %v, %n : index
      scf.if %d {
        memref.store %two, %a[%v] : memref<4xf32>
      }
    }
  }
}

// -----

// A condition that depends on the lane: a loop of that statement, not of those around it (#17039).
// CHECK-LABEL: @conditions(
tir.prim_func @conditions(%a : memref<4xf32>, %b : memref<4xf32>, %n : index) {
  // CHECK: [[L:%.*]] = vector.load %a[%c0]
  // CHECK-NEXT: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: [[X:%.*]] = vector.extract [[L]][%v]
  // CHECK-NEXT: [[D:%.*]] = arith.cmpi sle, %v, %n
  // CHECK-NEXT: scf.if [[D]] {
  // CHECK-NEXT: memref.store [[X]], %b[%v]
  // CHECK: vector.store {{.*}}, %a[%c0]
  // CHECK-NEXT: tir.for
  // CHECK: arith.cmpi sge
  // CHECK-NEXT: scf.if
  // CHECK: } else {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %two = arith.constant 2.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %x = memref.load %a[%v] : memref<4xf32>
    %d = arith.cmpi sle, %v, %n : index
    scf.if %d {
      memref.store %x, %b[%v] : memref<4xf32>
    }
    memref.store %two, %a[%v] : memref<4xf32>
    %e = arith.cmpi sge, %v, %n : index
    scf.if %e {
      memref.store %x, %a[%v] : memref<4xf32>
    } else {
      memref.store %two, %b[%v] : memref<4xf32>
    }
  }
}

// -----

// A branch that gives values: vectors if all lanes take it together.
// CHECK-LABEL: @if_then_else(
tir.prim_func @if_then_else(%a : memref<4xf32>, %b : memref<4xf32>, %i : index) {
  // CHECK: [[R:%.*]], [[S:%.*]] = scf.if %d -> (vector<4xf32>, index) {
  // CHECK-NEXT: [[L:%.*]] = vector.load
  // CHECK-NEXT: scf.yield [[L]], %c0 : vector<4xf32>, index
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %{{[0-9]+}}, %i : vector<4xf32>, index
  // CHECK: vector.store [[R]], %b[[[S]]]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %d = arith.cmpi sgt, %i, %c0 : index
    %r, %s = scf.if %d -> (f32, index) {
      %x = memref.load %a[%v] : memref<4xf32>
      scf.yield %x, %c0 : f32, index
    } else {
      scf.yield %one, %i : f32, index
    }
    %t = arith.addi %s, %v : index
    memref.store %r, %b[%t] : memref<4xf32>
  }
}

// -----

// Else what follows is a loop, as it uses them: a let and its body.
// CHECK-LABEL: @if_then_else_of_lanes(
tir.prim_func @if_then_else_of_lanes(%a : memref<4xf32>, %b : memref<4xf32>) {
  // CHECK: [[L:%.*]] = vector.load %a[%c0]
  // CHECK-NEXT: vector.store [[L]], %b[%c0]
  // CHECK-NEXT: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: [[X:%.*]] = vector.extract [[L]][%v]
  // CHECK-NEXT: [[D:%.*]] = arith.cmpi sgt, %v, %c0
  // CHECK-NEXT: [[R:%.*]] = scf.if [[D]] -> (f32) {
  // CHECK: [[S:%.*]] = arith.addf [[R]], [[X]]
  // CHECK-NEXT: memref.store [[S]], %b[%v]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %y = memref.load %a[%v] : memref<4xf32>
    memref.store %y, %b[%v] : memref<4xf32>
    %d = arith.cmpi sgt, %v, %c0 : index
    %r = scf.if %d -> (f32) {
      scf.yield %y : f32
    } else {
      scf.yield %one : f32
    }
    %s = arith.addf %r, %y : f32
    memref.store %s, %b[%v] : memref<4xf32>
  }
}

// -----

// A serial loop inside stays one, around vectors; a buffer of each lane has a dimension more.
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

// A loop whose bounds depend on the lane is done lane after lane.
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

// Must not fire: lanes that write the same element.
// CHECK-LABEL: @sum(
tir.prim_func @sum(%a : memref<4xf32>, %b : memref<1xf32>, %h : memref<4xindex>, %bins : memref<8xindex>) {
  // CHECK: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: memref.load %a[%v]
  // CHECK: tir.for %v_1 = %c0 extent %c4 {
  // CHECK-NEXT: memref.load %h[%v_1]
  // CHECK-NOT: vector
  // CHECK: tir.for %v_2 = %c0 extent %c4 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    %x = memref.load %a[%v] : memref<4xf32>
    %y = memref.load %b[%c0] : memref<1xf32>
    %z = arith.addf %x, %y : f32
    memref.store %z, %b[%c0] : memref<1xf32>
  }
  tir.for vectorized %v = %c0 extent %c4 {
    %x = memref.load %h[%v] : memref<4xindex>
    %y = memref.load %bins[%x] : memref<8xindex>
    %z = arith.addi %y, %c1 : index
    memref.store %z, %bins[%x] : memref<8xindex>
  }
  tir.for vectorized %v = %c0 extent %c4 {
    %w = arith.divsi %v, %c2 : index
    %y = memref.load %bins[%w] : memref<8xindex>
    %z = arith.addi %y, %c1 : index
    memref.store %z, %bins[%w] : memref<8xindex>
  }
}

// -----

// Elements that are no neighbors are written in a loop: strides, other dimensions, layouts, bits.
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

// Elements that are vectors.
// CHECK-LABEL: @vectors(
tir.prim_func @vectors(%a : memref<4xvector<4xf32>>, %b : memref<4xvector<4xf32>>, %c : memref<4xf32>) {
  // CHECK: vector.store
  // CHECK-NEXT: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: [[X:%.*]] = memref.load %a[%v]
  // CHECK-NEXT: [[Y:%.*]] = arith.addf [[X]], [[X]] : vector<4xf32>
  // CHECK-NEXT: memref.store [[Y]], %b[%v]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    memref.store %zero, %c[%v] : memref<4xf32>
    %x = memref.load %a[%v] : memref<4xvector<4xf32>>
    %y = arith.addf %x, %x : vector<4xf32>
    memref.store %y, %b[%v] : memref<4xvector<4xf32>>
  }
}

// -----

// Calls are made for each lane; what they give is used in the same loop.
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

// A buffer that a call gets is one for each lane, in a loop.
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

// Must not fire: other kinds of loops.
// CHECK-LABEL: @kinds(
tir.prim_func @kinds(%a : memref<4xf32>, %x : f32) {
  // CHECK: tir.for %i =
  // CHECK: tir.for parallel %j =
  // CHECK: tir.for unrolled %k =
  // CHECK-NOT: vector
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for %i = %c0 extent %c4 {
    memref.store %x, %a[%i] : memref<4xf32>
  }
  tir.for parallel %j = %c0 extent %c4 {
    memref.store %x, %a[%j] : memref<4xf32>
  }
  tir.for unrolled %k = %c0 extent %c4 {
    memref.store %x, %a[%k] : memref<4xf32>
  }
}

// -----

// A branch that gives a value, and has in it what is done lane after lane: all of it.
// CHECK-LABEL: @branch_with_call(
func.func private @number(f32) -> f32
tir.prim_func @branch_with_call(%a : memref<4xf32>, %b : memref<4xf32>, %c : i1) {
  // CHECK: [[X:%.*]] = vector.load %a[%c0]
  // CHECK-NEXT: tir.for %v = %c0 extent %c4 {
  // CHECK-NEXT: [[E:%.*]] = vector.extract [[X]][%v]
  // CHECK-NEXT: [[R:%.*]] = scf.if %c -> (f32) {
  // CHECK-NEXT: [[Y:%.*]] = func.call @number([[E]])
  // CHECK-NEXT: memref.store [[Y]], %b[%v]
  // CHECK-NEXT: [[Z:%.*]] = memref.load %a[%c0]
  // CHECK-NEXT: scf.yield [[Z]]
  // CHECK: memref.store [[R]], %a[%v]
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  tir.for vectorized %v = %c0 extent %c4 {
    %x = memref.load %a[%v] : memref<4xf32>
    %r = scf.if %c -> (f32) {
      %y = func.call @number(%x) : (f32) -> f32
      memref.store %y, %b[%v] : memref<4xf32>
      %z = memref.load %a[%c0] : memref<4xf32>
      scf.yield %z : f32
    } else {
      scf.yield %one : f32
    }
    memref.store %r, %a[%v] : memref<4xf32>
  }
}
