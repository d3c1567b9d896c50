// RUN: passline-opt %s -p control-flow-sink | filecheck %s

// A chain goes into the branch that needs it.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: scf.if
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: scf.yield
func.func @chain(%c: i1, %x: f32) -> f32 {
  %0 = arith.mulf %x, %x : f32
  %1 = arith.addf %0, %x : f32
  %2 = scf.if %c -> (f32) {
    scf.yield %1 : f32
  } else {
    scf.yield %x : f32
  }
  return %2 : f32
}

// Through a branch into a branch.
// CHECK-LABEL: func.func @deep
// CHECK-NEXT: scf.if
// CHECK-NEXT: scf.if
// CHECK-NEXT: arith.mulf
func.func @deep(%c: i1, %x: f32, %m: memref<f32>) {
  %0 = arith.mulf %x, %x : f32
  scf.if %c {
    scf.if %c {
      memref.store %0, %m[] : memref<f32>
    }
  }
  return
}

// An operation with regions goes with all that is in it.
// CHECK-LABEL: func.func @region
// CHECK-NEXT: scf.if %d
// CHECK-NEXT: scf.if %c
func.func @region(%c: i1, %d: i1, %x: f32, %m: memref<f32>) {
  %0 = scf.if %c -> (f32) {
    %1 = arith.addf %x, %x : f32
    scf.yield %1 : f32
  } else {
    scf.yield %x : f32
  }
  scf.if %d {
    memref.store %0, %m[] : memref<f32>
  }
  return
}

// Must not fire: a use in both branches, or after them; into a loop; memory effects.
// UNCHANGED: @both
func.func @both(%c: i1, %x: f32) -> f32 {
  %0 = arith.mulf %x, %x : f32
  %1 = scf.if %c -> (f32) {
    scf.yield %0 : f32
  } else {
    scf.yield %0 : f32
  }
  return %1 : f32
}

// UNCHANGED: @after
func.func @after(%c: i1, %x: f32, %m: memref<f32>) -> f32 {
  %0 = arith.mulf %x, %x : f32
  scf.if %c {
    memref.store %0, %m[] : memref<f32>
  }
  return %0 : f32
}

// UNCHANGED: @loop
func.func @loop(%c: i1, %n: index, %x: f32, %m: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.mulf %x, %x : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.if %c {
      memref.store %0, %m[%i] : memref<8xf32>
    }
  }
  return
}

// UNCHANGED: @effects
func.func @effects(%c: i1, %a: memref<f32>, %m: memref<f32>) {
  %0 = memref.load %a[] : memref<f32>
  scf.if %c {
    memref.store %0, %m[] : memref<f32>
  }
  return
}

// A branch goes into the branch that alone needs it, and then what both use.
// CHECK-LABEL: @branch_in_a_branch
// CHECK-NEXT: [[R:%.*]] = scf.if %c
// CHECK-NEXT:   [[A:%.*]] = arith.mulf %x, %x
// CHECK-NEXT:   [[Q:%.*]] = scf.if %d
// CHECK-NEXT:     arith.addf [[A]], [[A]]
// CHECK:        arith.subf [[Q]], [[A]]
func.func @branch_in_a_branch(%c: i1, %d: i1, %x: f32) -> f32 {
  %0 = arith.mulf %x, %x : f32
  %1 = scf.if %d -> (f32) {
    %2 = arith.addf %0, %0 : f32
    scf.yield %2 : f32
  } else {
    scf.yield %x : f32
  }
  %3 = scf.if %c -> (f32) {
    %4 = arith.subf %1, %0 : f32
    scf.yield %4 : f32
  } else {
    scf.yield %x : f32
  }
  return %3 : f32
}
