// RUN: passline-opt %s -p dead-code-elimination --split-input-file | filecheck %s

// The results of a branch that nothing needs go, with what computes them; effects stay.
// CHECK-LABEL: @branch
// CHECK-NEXT: [[R:%.*]] = scf.if %c -> (tensor<f32>) {
// CHECK-NEXT:   "test.op"() : () -> ()
// CHECK-NEXT:   [[A:%.*]] = relax.exp %x
// CHECK-NEXT:   scf.yield [[A]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield %x
// CHECK-NEXT: }
// CHECK-NEXT: func.return [[R]]
func.func @branch(%c : i1, %x : tensor<f32>) -> tensor<f32> {
  %0, %1, %2 = scf.if %c -> (tensor<f32>, tensor<f32>, tensor<f32>) {
    "test.op"() : () -> ()
    %3 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    %4 = relax.tanh %3 : (tensor<f32>) -> tensor<f32>
    scf.yield %4, %3, %x : tensor<f32>, tensor<f32>, tensor<f32>
  } else {
    %5 = relax.negative %x : (tensor<f32>) -> tensor<f32>
    scf.yield %5, %x, %5 : tensor<f32>, tensor<f32>, tensor<f32>
  }
  %6 = relax.exp %0 : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// Without results left, a branch with an effect stays for that alone.
// CHECK-LABEL: @effect
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT:   "test.op"() : () -> ()
// CHECK-NEXT: } else {
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @effect(%c : i1, %x : tensor<f32>) {
  %0 = scf.if %c -> (tensor<f32>) {
    "test.op"() : () -> ()
    %1 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    scf.yield %1 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return
}

// -----

// A value that a loop carries only for itself goes, through a loop and a branch nested in it, too.
// CHECK-LABEL: @loop
// CHECK-NEXT: [[Z:%.*]] = arith.constant 0 : index
// CHECK-NEXT: [[O:%.*]] = arith.constant 1 : index
// CHECK-NEXT: [[R:%.*]] = scf.for {{%.*}} = [[Z]] to %n step [[O]] iter_args([[P:%.*]] = %x) -> (tensor<f32>) {
// CHECK-NEXT:   [[I:%.*]] = scf.for {{%.*}} = [[Z]] to %n step [[O]] iter_args([[Q:%.*]] = [[P]]) -> (tensor<f32>) {
// CHECK-NEXT:     [[E:%.*]] = relax.exp [[Q]]
// CHECK-NEXT:     scf.yield [[E]]
// CHECK-NEXT:   }
// CHECK-NEXT:   [[B:%.*]] = scf.if %c -> (tensor<f32>) {
// CHECK-NEXT:     scf.yield [[I]]
// CHECK-NEXT:   } else {
// CHECK-NEXT:     scf.yield [[P]]
// CHECK-NEXT:   }
// CHECK-NEXT:   scf.yield [[B]]
// CHECK-NEXT: }
// CHECK-NEXT: func.return [[R]]
func.func @loop(%c : i1, %n : index, %x : tensor<f32>) -> tensor<f32> {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %r, %d = scf.for %i = %z to %n step %o iter_args(%p = %x, %q = %x) -> (tensor<f32>, tensor<f32>) {
    %0, %1 = scf.for %j = %z to %n step %o iter_args(%s = %q, %t = %p) -> (tensor<f32>, tensor<f32>) {
      %2 = relax.tanh %s : (tensor<f32>) -> tensor<f32>
      %3 = relax.exp %t : (tensor<f32>) -> tensor<f32>
      scf.yield %2, %3 : tensor<f32>, tensor<f32>
    }
    %4, %5 = scf.if %c -> (tensor<f32>, tensor<f32>) {
      %6 = relax.sqrt %0 : (tensor<f32>) -> tensor<f32>
      scf.yield %6, %1 : tensor<f32>, tensor<f32>
    } else {
      scf.yield %q, %p : tensor<f32>, tensor<f32>
    }
    scf.yield %5, %4 : tensor<f32>, tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// A value that a loop carries stays if another one that is used depends on it, or an effect does.
// UNCHANGED: @needed
func.func @needed(%n : index, %x : tensor<f32>, %k : i32) -> tensor<f32> {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %r, %d, %e = scf.for %i = %z to %n step %o iter_args(%p = %x, %q = %x, %s = %k) -> (tensor<f32>, tensor<f32>, i32) {
    %0 = relax.exp %q : (tensor<f32>) -> tensor<f32>
    %1 = arith.addi %s, %s : i32
    "test.op"(%s) : (i32) -> ()
    scf.yield %q, %0, %1 : tensor<f32>, tensor<f32>, i32
  }
  return %r : tensor<f32>
}

// -----

// A loop that is unused goes; a call of a pure function in it does not keep it.
// CHECK-LABEL: @unused
// CHECK-NEXT: func.return %x
func.func @unused(%n : index, %x : tensor<f32>) -> tensor<f32> {
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %r = scf.for %i = %z to %n step %o iter_args(%p = %x) -> (tensor<f32>) {
    %0 = func.call @exp(%p) : (tensor<f32>) -> tensor<f32>
    scf.yield %0 : tensor<f32>
  }
  return %x : tensor<f32>
}
func.func private @exp(%x : tensor<f32>) -> tensor<f32> {
  %0 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// `scf.while`: what the condition needs stays; the second block has the values that the first
// passes, which may be others than those that the loop carries.
// CHECK-LABEL: @while
// CHECK-NEXT: [[R:%.*]] = scf.while ([[I:%.*]] = %n) : (i32) -> i32 {
// CHECK-NEXT:   [[Z:%.*]] = arith.constant 0 : i32
// CHECK-NEXT:   [[C:%.*]] = arith.cmpi sgt, [[I]], [[Z]] : i32
// CHECK-NEXT:   scf.condition([[C]]) [[I]] : i32
// CHECK-NEXT: } do {
// CHECK-NEXT: ^{{.*}}([[J:%.*]]: i32):
// CHECK-NEXT:   [[O:%.*]] = arith.constant 1 : i32
// CHECK-NEXT:   [[D:%.*]] = arith.subi [[J]], [[O]] : i32
// CHECK-NEXT:   scf.yield [[D]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.return [[R]]
func.func @while(%n : i32, %x : tensor<f32>) -> i32 {
  %t, %r, %u = scf.while (%a = %x, %i = %n) : (tensor<f32>, i32) -> (tensor<f32>, i32, i32) {
    %z = arith.constant 0 : i32
    %c = arith.cmpi sgt, %i, %z : i32
    %b = relax.exp %a : (tensor<f32>) -> tensor<f32>
    %k = arith.muli %i, %i : i32
    scf.condition(%c) %b, %i, %k : tensor<f32>, i32, i32
  } do {
  ^bb0(%b : tensor<f32>, %j : i32, %k : i32):
    %o = arith.constant 1 : i32
    %d = arith.subi %j, %o : i32
    %e = relax.tanh %b : (tensor<f32>) -> tensor<f32>
    %f = arith.addi %k, %o : i32
    scf.yield %e, %d : tensor<f32>, i32
  }
  return %r : i32
}
