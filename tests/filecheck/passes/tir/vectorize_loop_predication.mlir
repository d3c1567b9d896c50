// RUN: passline-opt %s -p 'tir-vectorize-loop{enable-buffer-level-predication=true}' | filecheck %s
// RUN: passline-opt %s -p tir-vectorize-loop | filecheck %s --check-prefix=OFF

// Accesses masked to the lanes below the limit, from none to all.
// CHECK-LABEL: @tail(
// OFF-LABEL: @tail(
tir.prim_func @tail(%a : memref<14xf32>, %b : memref<14xf32>) {
  // CHECK: tir.for %i =
  // CHECK-NEXT: [[J:%.*]] = arith.muli %i, %c4
  // CHECK-NEXT: [[L:%.*]] = arith.subi %c14, [[J]]
  // CHECK-NEXT: [[L1:%.*]] = arith.maxsi [[L]], %c0
  // CHECK-NEXT: [[L2:%.*]] = arith.minsi [[L1]], %c4
  // CHECK-NEXT: [[M:%.*]] = vector.create_mask [[L2]] : vector<4xi1>
  // CHECK-NEXT: [[X:%.*]] = vector.maskedload %a[[[J]]], [[M]], %{{[0-9]+}} : memref<14xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  // CHECK-NEXT: [[Z:%.*]] = arith.addf [[X]]
  // CHECK-NEXT: vector.maskedstore %b[[[J]]], [[M]], [[Z]] : memref<14xf32>, vector<4xi1>, vector<4xf32>
  // CHECK-NEXT: }
  // OFF: tir.for %i =
  // OFF: tir.for %v = %c0 extent %c4 {
  // OFF-NOT: vector
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c14 = arith.constant 14 : index
  %one = arith.constant 1.0 : f32
  tir.for %i = %c0 extent %c4 {
    tir.for vectorized %v = %c0 extent %c4 {
      %i4 = arith.muli %i, %c4 : index
      %j = arith.addi %i4, %v : index
      %d = arith.cmpi slt, %j, %c14 : index
      %e = tir.likely %d
      scf.if %e {
        %x = memref.load %a[%j] : memref<14xf32>
        %z = arith.addf %x, %one : f32
        memref.store %z, %b[%j] : memref<14xf32>
      }
    }
  }
}

// A constant limit, and two stores.
// CHECK-LABEL: @stores(
// OFF-LABEL: @stores(
tir.prim_func @stores(%a : memref<3xf32>, %b : memref<3xi32>, %x : f32, %y : i32) {
  // CHECK: [[M:%.*]] = vector.create_mask %c3 : vector<4xi1>
  // CHECK-NEXT: vector.maskedstore %a[%c0], [[M]]
  // CHECK-NEXT: vector.maskedstore %b[%c0], [[M]]
  // OFF: tir.for
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    %d = arith.cmpi slt, %v, %c3 : index
    scf.if %d {
      memref.store %x, %a[%v] : memref<3xf32>
      memref.store %y, %b[%v] : memref<3xi32>
    }
  }
}

// Must not fire: an access at another index, one that is not contiguous, a possible trap, a loop.
// CHECK-LABEL: @accesses(
// OFF-LABEL: @accesses(
tir.prim_func @accesses(%a : memref<4xf32>, %b : memref<8xi32>, %n : index) {
  // OFF: tir.for
  // CHECK-NOT: vector.
  // CHECK-COUNT-4: scf.if
  // CHECK-NOT: vector.
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %x = arith.constant 7 : i32
  tir.for vectorized %v = %c0 extent %c4 {
    %d = arith.cmpi slt, %v, %n : index
    scf.if %d {
      %y = memref.load %a[%c1] : memref<4xf32>
      memref.store %y, %a[%v] : memref<4xf32>
    }
    %v2 = arith.muli %v, %c2 : index
    scf.if %d {
      memref.store %x, %b[%v2] : memref<8xi32>
    }
    scf.if %d {
      %y = memref.load %b[%v] : memref<8xi32>
      %z = arith.remsi %x, %y : i32
      memref.store %z, %b[%v] : memref<8xi32>
    }
    scf.if %d {
      tir.for %k = %c0 extent %c2 {
        memref.store %x, %b[%v] : memref<8xi32>
      }
    }
  }
}

// Must not fire: other comparisons, the limit on the left, two ramps, an else.
// CHECK-LABEL: @conditions(
// OFF-LABEL: @conditions(
tir.prim_func @conditions(%a : memref<8xf32>, %x : f32, %n : index) {
  // OFF: tir.for
  // CHECK-NOT: vector.
  // CHECK-COUNT-7: scf.if
  // CHECK-NOT: vector.
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tir.for vectorized %v = %c0 extent %c4 {
    %le = arith.cmpi sle, %v, %n : index
    scf.if %le {
      memref.store %x, %a[%v] : memref<8xf32>
    }
    %gt = arith.cmpi sgt, %v, %n : index
    scf.if %gt {
      memref.store %x, %a[%v] : memref<8xf32>
    }
    %left = arith.cmpi slt, %n, %v : index
    scf.if %left {
      memref.store %x, %a[%v] : memref<8xf32>
    }
    %v2 = arith.muli %v, %c2 : index
    %ramps = arith.cmpi slt, %v, %v2 : index
    scf.if %ramps {
      memref.store %x, %a[%v] : memref<8xf32>
    }
    %stride = arith.cmpi slt, %v2, %n : index
    scf.if %stride {
      memref.store %x, %a[%v] : memref<8xf32>
    }
    %ult = arith.cmpi ult, %v, %n : index
    scf.if %ult {
      memref.store %x, %a[%v] : memref<8xf32>
    }
    %d = arith.cmpi slt, %v, %n : index
    scf.if %d {
      memref.store %x, %a[%v] : memref<8xf32>
    } else {
      memref.store %x, %a[%v] : memref<8xf32>
    }
  }
}
