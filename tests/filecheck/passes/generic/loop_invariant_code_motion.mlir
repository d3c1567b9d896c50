// RUN: passline-opt %s -p loop-invariant-code-motion | filecheck %s

// A chain of operations on values from outside goes before the loop.
// CHECK-LABEL: func.func @chain
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.store
func.func @chain(%n: index, %x: f32, %m: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = arith.mulf %x, %x : f32
    %1 = arith.addf %0, %x : f32
    memref.store %1, %m[%i] : memref<8xf32>
  }
  return
}

// Out of two loops at once, or out of the inner one alone.
// CHECK-LABEL: func.func @nested
// CHECK: %[[A:.*]] = arith.muli %n, %n
// CHECK-NEXT: scf.for %[[I:.*]] = 
// CHECK-NEXT: %[[B:.*]] = arith.addi %[[I]], %[[A]]
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.store
func.func @nested(%n: index, %m: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %0 = arith.muli %n, %n : index
      %1 = arith.addi %i, %0 : index
      memref.store %1, %m[%j] : memref<8xindex>
    }
  }
  return
}

// An operation with regions moves with all that is in it.
// CHECK-LABEL: func.func @branch
// CHECK: scf.if
// CHECK-NEXT: arith.addi
// CHECK: scf.for
// CHECK-NEXT: memref.store
func.func @branch(%n: index, %c: i1, %m: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %r = scf.if %c -> (index) {
      %0 = arith.addi %n, %n : index
      scf.yield %0 : index
    } else {
      scf.yield %n : index
    }
    memref.store %r, %m[%i] : memref<8xindex>
  }
  return
}

// A loop that ends whatever its bounds are moves, too.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK-NEXT: arith.addi
// CHECK-NEXT: scf.yield
// CHECK: scf.for
// CHECK-NEXT: memref.store
func.func @loop(%n: index, %m: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%t = %c0) -> (index) {
      %0 = arith.addi %t, %j : index
      scf.yield %0 : index
    }
    memref.store %s, %m[%i] : memref<8xindex>
  }
  return
}

// Both regions of a while loop are its body.
// CHECK-LABEL: func.func @while
// CHECK: arith.addi %x, %x
// CHECK-NEXT: arith.muli %x, %x
// CHECK-NEXT: scf.while
func.func @while(%x: i32) -> i32 {
  %r = scf.while (%a = %x) : (i32) -> i32 {
    %0 = arith.addi %x, %x : i32
    %c = arith.cmpi slt, %a, %0 : i32
    scf.condition(%c) %a : i32
  } do {
  ^bb0(%b: i32):
    %1 = arith.muli %x, %x : i32
    %2 = arith.addi %b, %1 : i32
    scf.yield %2 : i32
  }
  return %r : i32
}

// A division moves if its divisor is known not to be 0, or -1 if it is signed.
// CHECK-LABEL: func.func @division
// CHECK: arith.divui %n, %c7
// CHECK-NEXT: scf.for
// CHECK: memref.store
func.func @division(%n: index, %m: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = arith.divui %n, %c7 : index
    memref.store %0, %m[%i] : memref<8xindex>
  }
  return
}

// Must not fire: effects, reads, calls, and divisions and dimensions that may be undefined.
// UNCHANGED: @effects
func.func @effects(%n: index, %d: index, %m: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %m[%c0] : memref<?xindex>
    %1 = arith.divui %n, %d : index
    %2 = arith.remui %n, %d : index
    %3 = memref.dim %m, %d : memref<?xindex>
    %4 = func.call @callee(%n) : (index) -> index
    %5 = arith.addi %1, %2 : index
    %6 = arith.addi %3, %4 : index
    %7 = arith.addi %5, %6 : index
    memref.store %7, %m[%c0] : memref<?xindex>
  }
  return
}
func.func private @callee(%x: index) -> index

// Must not fire: an operation in a branch, which runs only if the condition holds, stays there.
// UNCHANGED: @in_branch
func.func @in_branch(%n: index, %m: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %c = arith.cmpi slt, %i, %n : index
    scf.if %c {
      %0 = arith.muli %n, %n : index
      memref.store %0, %m[%i] : memref<8xindex>
    }
  }
  return
}

// Must not fire: a loop whose step is not known to be 1 may not end.
// UNCHANGED: @endless
func.func @endless(%n: index, %m: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = scf.for %j = %c0 to %n step %n iter_args(%t = %c0) -> (index) {
      %0 = arith.addi %t, %j : index
      scf.yield %0 : index
    }
    memref.store %s, %m[%i] : memref<8xindex>
  }
  return
}

// On vectors and with flags: casts and shifts always, divisions by constants that are not zero.
// CHECK-LABEL: @vectors(
// CHECK-NEXT:    [[by:%.*]] = arith.constant 3 : i32
// CHECK-NEXT:    [[bys:%.*]] = arith.constant dense<[3, 5]> : vector<2xi32>
// CHECK-NEXT:    [[cast:%.*]] = arith.extsi %v : vector<2xi32> to vector<2xi64>
// CHECK-NEXT:    [[quotient:%.*]] = arith.divsi %v, [[bys]] : vector<2xi32>
// CHECK-NEXT:    [[exact:%.*]] = arith.divui %x, [[by]] exact : i32
// CHECK-NEXT:    [[shift:%.*]] = arith.shrsi %x, [[by]] exact : i32
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      [[a:%.*]] = arith.divsi %v, %v : vector<2xi32>
// CHECK-NEXT:      [[b:%.*]] = arith.divui %x, %x exact : i32
// CHECK-NEXT:      "test.op"
func.func @vectors(%v: vector<2xi32>, %x: i32, %low: index, %high: index, %step: index) {
  %0 = arith.constant 3 : i32
  %1 = arith.constant dense<[3, 5]> : vector<2xi32>
  scf.for %i = %low to %high step %step {
    %2 = arith.extsi %v : vector<2xi32> to vector<2xi64>
    %3 = arith.divsi %v, %1 : vector<2xi32>
    %4 = arith.divui %x, %0 exact : i32
    %5 = arith.shrsi %x, %0 exact : i32
    %6 = arith.divsi %v, %v : vector<2xi32>
    %7 = arith.divui %x, %x exact : i32
    "test.op"(%2, %3, %4, %5, %6, %7) : (vector<2xi64>, vector<2xi32>, i32, i32, vector<2xi32>, i32) -> ()
  }
  return
}
