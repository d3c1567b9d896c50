// RUN: passline-opt %s -p tir-vectorize-loop | filecheck %s

// A store to neighboring elements, of a constant.
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

// Uniform values are computed once; min is not a constant; properties are kept.
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

// A value with two uses becomes one vector.
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

// The loop variable as a value: a ramp, also after arithmetic with uniform values.
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

// Functions and arithmetic of all kinds, and a select by a uniform condition.
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

// Comparisons, conversions and selects by vectors, which xDSL has for scalars only, become
// tir.lanewise; loads that are not contiguous are repeated for each lane.
// CHECK-LABEL: @lanewise_and_by_hand(
tir.prim_func @lanewise_and_by_hand(%a : memref<4xf32>, %b : memref<2x4xf32>, %i : memref<2xi32>) {
  // CHECK: [[L:%.*]] = vector.load %a[%c0] : memref<4xf32>, vector<2xf32>
  // CHECK-NEXT: [[C:%.*]] = tir.lanewise "arith.cmpf"([[L]], {{%.*}}) {with = {predicate = 2 : i64, fastmath = #arith.fastmath<none>}} : (vector<2xf32>, vector<2xf32>) -> vector<2xi1>
  // CHECK: [[S0:%.*]] = memref.load %b[%c0, %c1]
  // CHECK-NEXT: [[S1:%.*]] = memref.load %b[%c0, %c3]
  // CHECK-NEXT: vector.insert [[S0]]
  // CHECK-NEXT: [[Y:%.*]] = vector.insert [[S1]]
  // CHECK-NEXT: [[R:%.*]] = tir.lanewise "arith.select"([[C]], [[Y]], [[L]]) : (vector<2xi1>, vector<2xf32>, vector<2xf32>) -> vector<2xf32>
  // CHECK-NEXT: vector.store [[R]], %a[%c0]
  // CHECK-NEXT: [[N:%.*]] = tir.lanewise "arith.index_cast"({{%.*}}) : (vector<2xindex>) -> vector<2xi32>
  // CHECK-NEXT: vector.store [[N]], %i
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

// With many lanes, loads that are not contiguous run in a loop with their users.
// CHECK-LABEL: @many(
tir.prim_func @many(%a : memref<512xf32>, %b : memref<64xf32>, %i : memref<64xi32>) {
  // CHECK: [[N:%.*]] = tir.lanewise "arith.index_cast"({{%.*}}) : (vector<64xindex>) -> vector<64xi32>
  // CHECK-NEXT: vector.store [[N]], %i[%c0]
  // CHECK-NEXT: tir.for [[V:%.*]] = %c0 extent %c64 {
  // CHECK-NEXT: [[P:%.*]] = arith.muli [[V]], %c8
  // CHECK-NEXT: [[X:%.*]] = memref.load %a[[[P]]]
  // CHECK-NEXT: memref.store [[X]], %b[[[V]]]
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tir.for vectorized %v = %c0 extent %c64 {
    %n = arith.index_cast %v : index to i32
    memref.store %n, %i[%v] : memref<64xi32>
    %p = arith.muli %v, %c8 : index
    %x = memref.load %a[%p] : memref<512xf32>
    memref.store %x, %b[%v] : memref<64xf32>
  }
}

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

// Must not fire: other kinds of loops.
// UNCHANGED: @kinds
tir.prim_func @kinds(%a : memref<4xf32>, %x : f32) {
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

// Loads of elements that are up to 4 apart are loads of whole vectors, which end with the last
// element, and shuffles.
// CHECK-LABEL: @strided(
tir.prim_func @strided(%a : memref<7xf32>, %b : memref<10xf32>, %c : memref<4xf32>, %i : index) {
  // CHECK:      [[LOW:%.*]] = vector.load %a[%c0] : memref<7xf32>, vector<4xf32>
  // CHECK-NEXT: [[HIGH:%.*]] = vector.load %a[%c3] : memref<7xf32>, vector<4xf32>
  // CHECK-NEXT: [[A:%.*]] = vector.shuffle [[LOW]], [[HIGH]] [0, 2, 5, 7]
  // CHECK:      vector.store [[A]], %c
  // CHECK-NOT:  vector.shuffle
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    %w = arith.muli %v, %c2 : index
    %x = memref.load %a[%w] : memref<7xf32>
    memref.store %x, %c[%v] : memref<4xf32>
  }
  tir.for vectorized %v = %c0 extent %c4 {
    %u = arith.muli %v, %c3 : index
    %x = memref.load %b[%u] : memref<10xf32>
    memref.store %x, %c[%v] : memref<4xf32>
  }
}

// CHECK-LABEL: @every_third(
tir.prim_func @every_third(%a : memref<30xf32>, %b : memref<8xf32>, %i : index) {
  // CHECK:      vector.load %a[%i] : memref<30xf32>, vector<8xf32>
  // CHECK:      vector.load %a[{{%.*}}] : memref<30xf32>, vector<8xf32>
  // CHECK:      [[TWO:%.*]] = vector.shuffle {{%.*}}, {{%.*}} [0, 3, 6, 9, 12, 15, 15, 15]
  // CHECK:      [[LAST:%.*]] = vector.load %a[{{%.*}}] : memref<30xf32>, vector<8xf32>
  // CHECK-NEXT: [[ALL:%.*]] = vector.shuffle [[TWO]], [[LAST]] [0, 1, 2, 3, 4, 5, 12, 15]
  // CHECK-NEXT: vector.store [[ALL]], %b
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  tir.for vectorized %v = %c0 extent %c8 {
    %u = arith.muli %v, %c3 : index
    %j = arith.addi %i, %u : index
    %x = memref.load %a[%j] : memref<30xf32>
    memref.store %x, %b[%v] : memref<8xf32>
  }
}

// Words are multiplied lane by lane.
// CHECK-LABEL: @words(
// CHECK: tir.dp4a {{.*}}, {{.*}}, {{.*}} {exact_pairs} : vector<4xi32>
tir.prim_func @words(%a : memref<4xi32>, %b : memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    %0 = memref.load %a[%v] : memref<4xi32>
    %1 = memref.load %b[%v] : memref<4xi32>
    %2 = tir.dp4a %0, %1, %1 {exact_pairs} : i32
    memref.store %2, %b[%v] : memref<4xi32>
  }
}

// The extension of a sign has no effects, although xDSL does not say so.
// CHECK-LABEL: @extended(
// CHECK: vector.load %a
// CHECK-NEXT: tir.lanewise "arith.extsi"
// CHECK: vector.store
// CHECK-NOT: tir.for
tir.prim_func @extended(%a : memref<4xi8>, %b : memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    %0 = memref.load %a[%v] : memref<4xi8>
    %1 = arith.extsi %0 : i8 to i32
    memref.store %1, %b[%v] : memref<4xi32>
  }
}
