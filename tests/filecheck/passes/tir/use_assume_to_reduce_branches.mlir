// RUN: passline-opt %s -p tir-use-assume-to-reduce-branches | filecheck %s

// The padding of %a, which is computed here, is 0, and so is its square.
// CHECK-LABEL: @square(
// CHECK: tir.assume
// CHECK: tir.for
// CHECK-NOT: arith.select
// CHECK-NOT: sge
// CHECK: [[V:%.*]] = memref.load
// CHECK-NEXT: [[S:%.*]] = arith.muli [[V]], [[V]]
// CHECK-NEXT: memref.store [[S]]
tir.prim_func @square(%x: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %a = memref.alloc() : memref<16xi32>
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %x[%i] : memref<16xi32>
    %2 = arith.select %0, %1, %zero : i32
    memref.store %2, %a[%i] : memref<16xi32>
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// A corner of two buffers is 0. The assumption is a negated conjunction, the branch an `scf.if`: the
// loads in it may run always, as the assumptions load all elements. Its loops are in another order.
// CHECK-LABEL: @sum(
// CHECK-COUNT-2: tir.assume
// CHECK-NOT: scf.if
// CHECK: [[S:%.*]] = arith.addi {{.*}} : i8
// CHECK-NEXT: memref.store [[S]]
tir.prim_func @sum(%a: memref<4x8xi8>, %b: memref<4x8xi8>, %y: memref<4x8xi8>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i8
  %true = arith.constant true
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %c8 {
      %0 = arith.cmpi eq, %i, %c3 : index
      %1 = arith.cmpi sle, %c4, %j : index
      %2 = arith.andi %0, %1 : i1
      %3 = memref.load %a[%i, %j] : memref<4x8xi8>
      %4 = arith.cmpi ne, %3, %zero : i8
      %5 = arith.andi %2, %4 : i1
      %6 = arith.xori %5, %true : i1
      tir.assume %6
    }
  }
  tir.for %i = %c0 extent %c4 {
    tir.for %j = %c0 extent %c8 {
      %0 = arith.cmpi eq, %i, %c3 : index
      %1 = arith.cmpi sle, %c4, %j : index
      %2 = arith.andi %0, %1 : i1
      %3 = memref.load %b[%i, %j] : memref<4x8xi8>
      %4 = arith.cmpi ne, %3, %zero : i8
      %5 = arith.andi %2, %4 : i1
      %6 = arith.xori %5, %true : i1
      tir.assume %6
    }
  }
  tir.for %j = %c0 extent %c8 {
    tir.for %i = %c0 extent %c4 {
      %0 = arith.cmpi eq, %i, %c3 : index
      %1 = arith.cmpi sge, %j, %c4 : index
      %2 = arith.andi %1, %0 : i1
      %3 = scf.if %2 -> (i8) {
        scf.yield %zero : i8
      } else {
        %4 = memref.load %a[%i, %j] : memref<4x8xi8>
        %5 = memref.load %b[%i, %j] : memref<4x8xi8>
        %6 = arith.addi %4, %5 : i8
        scf.yield %6 : i8
      }
      memref.store %3, %y[%i, %j] : memref<4x8xi8>
    }
  }
}

// Both sides store; the assumption is under a condition; the second side has the constant.
// CHECK-LABEL: @stores(
// CHECK: tir.assume
// CHECK: tir.for
// CHECK-NOT: scf.if
// CHECK: [[V:%.*]] = memref.load
// CHECK-NEXT: memref.store [[V]]
tir.prim_func @stores(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    scf.if %0 {
      %1 = memref.load %a[%i] : memref<16xi32>
      %2 = arith.cmpi eq, %zero, %1 : i32
      tir.assume %2
    }
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    scf.if %0 {
      %1 = memref.load %a[%i] : memref<16xi32>
      memref.store %1, %y[%i] : memref<16xi32>
    } else {
      memref.store %zero, %y[%i] : memref<16xi32>
    }
  }
}

// In the same iteration, and with an unknown bound.
// CHECK-LABEL: @same_loop(
// CHECK: tir.assume
// CHECK-NOT: arith.select
tir.prim_func @same_loop(%n: index, %a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %n : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi slt, %i, %n : index
    %3 = arith.cmpi eq, %1, %zero : i32
    %4 = arith.ori %2, %3 : i1
    tir.assume %4
    %5 = arith.select %0, %zero, %1 : i32
    memref.store %5, %y[%i] : memref<16xi32>
  }
}

// A tile of the elements, and a value that depends on the place.
// CHECK-LABEL: @tiles(
// CHECK: tir.assume
// CHECK-NOT: arith.select
tir.prim_func @tiles(%y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<16xi32>
  tir.for %i = %c0 extent %c16 {
    %0 = arith.index_cast %i : index to i32
    memref.store %0, %a[%i] : memref<16xi32>
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.index_cast %i : index to i32
    %3 = arith.cmpi eq, %1, %2 : i32
    %4 = arith.ori %0, %3 : i1
    tir.assume %4
  }
  tir.for %o = %c0 extent %c4 {
    tir.for vectorized %k = %c0 extent %c4 {
      %0 = arith.muli %o, %c4 : index
      %1 = arith.addi %0, %k : index
      %2 = arith.cmpi sge, %1, %c14 : index
      %3 = memref.load %a[%1] : memref<16xi32>
      %4 = arith.index_cast %1 : index to i32
      %5 = arith.select %2, %4, %3 : i32
      memref.store %5, %y[%1] : memref<16xi32>
    }
  }
}

// Of floats, the sign of a zero may change: what is equal to 0.0 may be -0.0.
// CHECK-LABEL: @floats(
// CHECK: tir.assume
// CHECK-NOT: arith.select
tir.prim_func @floats(%a: memref<16xf32>, %b: memref<16xf32>, %y: memref<16xf32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %two = arith.constant 2.0 : f32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xf32>
    %2 = arith.cmpf oeq, %1, %zero : f32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xf32>
    %2 = arith.mulf %1, %two : f32
    %3 = arith.select %0, %zero, %2 : f32
    memref.store %3, %y[%i] : memref<16xf32>
  }
}

// The same element of a buffer without assumption, in both sides; an offset of the index.
// CHECK-LABEL: @added(
// CHECK: tir.assume
// CHECK-NOT: scf.if
// CHECK: arith.addi {{.*}} : i32
tir.prim_func @added(%a: memref<16xi32>, %b: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  tir.for %i = %c0 extent %c15 {
    %next = arith.addi %i, %c1 : index
    %0 = arith.cmpi sge, %next, %c14 : index
    %1 = scf.if %0 -> (i32) {
      %2 = memref.load %b[%i] : memref<16xi32>
      scf.yield %2 : i32
    } else {
      %2 = memref.load %b[%i] : memref<16xi32>
      %3 = memref.load %a[%next] : memref<16xi32>
      %4 = arith.addi %2, %3 : i32
      scf.yield %4 : i32
    }
    memref.store %1, %y[%i] : memref<16xi32>
  }
}
