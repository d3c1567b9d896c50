// RUN: passline-opt %s -p to-a-normal-form --split-input-file | filecheck %s

// Without a graph nothing moves, not even operations that only a branch uses.
// UNCHANGED: @no_graph
func.func @no_graph(%c : i1, %x : tensor<f32>) -> tensor<f32> {
  %0 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  %1 = scf.if %c -> (tensor<f32>) {
    scf.yield %0 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %1 : tensor<f32>
}

// -----

// A primitive function stays as it is, and one that is not to be optimized.
// UNCHANGED: @primitive
func.func @primitive(%x : tensor<f32>) -> tensor<f32> attributes {relax.primitive} {
  %0 = relax.graph -> tensor<f32> {
    %1 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    relax.output %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
// UNCHANGED: @skipped
func.func @skipped(%x : tensor<f32>) -> tensor<f32> attributes {passline.skip_optimization} {
  %0 = relax.graph -> tensor<f32> {
    %1 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    relax.output %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// Nothing moves into a loop or a function, where it would be computed each time.
// CHECK-LABEL: @loops
func.func @loops(%n : index, %x : tensor<f32>) -> (tensor<f32>, (tensor<f32>) -> tensor<f32>) {
  // CHECK-NEXT: [[I:%.*]] = arith.constant 1 : index
  // CHECK-NEXT: [[A:%.*]] = relax.exp %x
  // CHECK-NEXT: [[L:%.*]] = scf.for {{.*}} iter_args([[S:%.*]] = %x)
  // CHECK-NEXT:   [[P:%.*]] = relax.add [[S]], [[A]]
  // CHECK-NEXT:   scf.yield [[P]]
  // CHECK-NEXT: }
  // CHECK-NEXT: [[B:%.*]] = relax.tanh %x
  // CHECK-NEXT: [[F:%.*]] = relax.lambda
  // CHECK-NEXT:   relax.add {{%.*}}, [[B]]
  // CHECK:      func.return [[L]], [[F]]
  %one = arith.constant 1 : index
  %0, %f = relax.graph -> (tensor<f32>, (tensor<f32>) -> tensor<f32>) {
    %1 = scf.for %i = %one to %n step %one iter_args(%s = %x) -> (tensor<f32>) {
      %3 = relax.add %s, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      scf.yield %3 : tensor<f32>
    }
    %2 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    %4 = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
      %6 = relax.add %y, %5 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      relax.yield %6 : tensor<f32>
    }
    %5 = relax.tanh %x : (tensor<f32>) -> tensor<f32>
    relax.output %1, %4 : tensor<f32>, (tensor<f32>) -> tensor<f32>
  }
  return %0, %f : tensor<f32>, (tensor<f32>) -> tensor<f32>
}

// -----

// Operations with effects, or that read memory, stay in order and outside of branches.
// CHECK-LABEL: @effects
func.func @effects(%c : i1, %m : memref<f32>) -> f32 {
  // CHECK-NEXT: [[A:%.*]] = memref.load %m
  // CHECK-NEXT: [[B:%.*]] = "test.op"()
  // CHECK-NEXT: memref.store [[B]], %m
  // CHECK-NEXT: scf.if %c
  %0 = relax.graph -> f32 {
    %1 = memref.load %m[] : memref<f32>
    %2 = "test.op"() : () -> f32
    memref.store %2, %m[] : memref<f32>
    %3 = scf.if %c -> (f32) {
      scf.yield %1 : f32
    } else {
      scf.yield %2 : f32
    }
    relax.output %3 : f32
  }
  return %0 : f32
}

// -----

// An unused value stays, and so does one with uses outside of a branch or in both branches.
// CHECK-LABEL: @stays
func.func @stays(%c : i1, %x : tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK-NEXT: relax.exp %x
  // CHECK-NEXT: [[B:%.*]] = relax.tanh %x
  // CHECK-NEXT: [[C:%.*]] = relax.abs %x
  // CHECK-NEXT: scf.if
  %0, %b = relax.graph -> (tensor<f32>, tensor<f32>) {
    %1 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    %2 = relax.tanh %x : (tensor<f32>) -> tensor<f32>
    %3 = relax.abs %x : (tensor<f32>) -> tensor<f32>
    %4 = scf.if %c -> (tensor<f32>) {
      %5 = relax.add %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      scf.yield %5 : tensor<f32>
    } else {
      scf.yield %3 : tensor<f32>
    }
    relax.output %4, %2 : tensor<f32>, tensor<f32>
  }
  return %0, %b : tensor<f32>, tensor<f32>
}

// -----

// Operands come before what uses them, the first operand first: 1 + 2 * 3.
// CHECK-LABEL: @order
func.func @order() -> tensor<i32> {
  // CHECK-NEXT: [[A:%.*]] = relax.constant dense<1>
  // CHECK-NEXT: [[B:%.*]] = relax.constant dense<2>
  // CHECK-NEXT: [[C:%.*]] = relax.constant dense<3>
  // CHECK-NEXT: [[D:%.*]] = relax.multiply [[B]], [[C]]
  // CHECK-NEXT: [[E:%.*]] = relax.add [[A]], [[D]]
  // CHECK-NEXT: func.return [[E]]
  %0 = relax.graph -> tensor<i32> {
    %e = relax.add %a, %d : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %d = relax.multiply %b, %c : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %c = relax.constant dense<3> : tensor<i32>
    %b = relax.constant dense<2> : tensor<i32>
    %a = relax.constant dense<1> : tensor<i32>
    relax.output %e : tensor<i32>
  }
  return %0 : tensor<i32>
}

// -----

// A value that is used twice is computed once.
// CHECK-LABEL: @shared
func.func @shared(%x : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: [[A:%.*]] = relax.add %x, %x
  // CHECK-NEXT: [[B:%.*]] = relax.add [[A]], [[A]]
  // CHECK-NEXT: func.return [[B]]
  %0 = relax.graph -> tensor<f32> {
    %2 = relax.add %1, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %1 = relax.add %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relax.output %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// REQUIRES-XDSL: 0.73 (`scf.if` on a condition that is defined below it)
// An operation that one branch uses moves there; the condition stays before.
// CHECK-LABEL: @if
func.func @if(%x : tensor<f32>) -> tensor<i32> {
  // CHECK-NEXT: [[C:%.*]] = arith.constant true
  // CHECK-NEXT: [[D:%.*]] = scf.if [[C]]
  // CHECK-NEXT:   [[A:%.*]] = relax.constant dense<2>
  // CHECK-NEXT:   scf.yield [[A]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   [[B:%.*]] = relax.constant dense<3>
  // CHECK-NEXT:   scf.yield [[B]]
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return [[D]]
  %0 = relax.graph -> tensor<i32> {
    %d = scf.if %c -> (tensor<i32>) {
      scf.yield %a : tensor<i32>
    } else {
      scf.yield %b : tensor<i32>
    }
    %a = relax.constant dense<2> : tensor<i32>
    %b = relax.constant dense<3> : tensor<i32>
    %c = arith.constant true
    relax.output %d : tensor<i32>
  }
  return %0 : tensor<i32>
}

// -----

// Chains move as a whole, in order, each value as deep as all of its uses, whole branches too.
// CHECK-LABEL: @deep
func.func @deep(%c : i1, %x : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: [[R:%.*]] = scf.if %c
  // CHECK-NEXT:   [[A:%.*]] = relax.exp %x
  // CHECK-NEXT:   [[Q:%.*]] = scf.if %c
  // CHECK-NEXT:     [[B:%.*]] = relax.tanh [[A]]
  // CHECK-NEXT:     [[D:%.*]] = relax.abs [[B]]
  // CHECK-NEXT:     [[E:%.*]] = relax.add [[B]], [[D]]
  // CHECK-NEXT:     scf.yield [[E]]
  // CHECK-NEXT:   } else {
  // CHECK-NEXT:     scf.yield %x
  // CHECK-NEXT:   }
  // CHECK-NEXT:   [[F:%.*]] = relax.add [[Q]], [[A]]
  // CHECK-NEXT:   scf.yield [[F]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   scf.yield %x
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return [[R]]
  %0 = relax.graph -> tensor<f32> {
    %1 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    %2 = relax.tanh %1 : (tensor<f32>) -> tensor<f32>
    %3 = relax.abs %2 : (tensor<f32>) -> tensor<f32>
    %4 = scf.if %c -> (tensor<f32>) {
      %5 = relax.add %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      scf.yield %5 : tensor<f32>
    } else {
      scf.yield %x : tensor<f32>
    }
    %6 = scf.if %c -> (tensor<f32>) {
      %7 = relax.add %4, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      scf.yield %7 : tensor<f32>
    } else {
      scf.yield %x : tensor<f32>
    }
    relax.output %6 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// Before a loop, into the branch that contains the loop.
// CHECK-LABEL: @loop_in_branch
func.func @loop_in_branch(%c : i1, %n : index, %x : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: scf.if %c
  // CHECK-NEXT:   [[A:%.*]] = relax.exp %x
  // CHECK-NEXT:   scf.for
  // CHECK-NEXT:     relax.add {{%.*}}, [[A]]
  %0 = relax.graph -> tensor<f32> {
    %1 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    %2 = scf.if %c -> (tensor<f32>) {
      %3 = scf.for %i = %n to %n step %n iter_args(%s = %x) -> (tensor<f32>) {
        %4 = relax.add %s, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
        scf.yield %4 : tensor<f32>
      }
      scf.yield %3 : tensor<f32>
    } else {
      scf.yield %x : tensor<f32>
    }
    relax.output %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// Annotations keep their operand; a graph in an operand of a graph.
// CHECK-LABEL: @nested
func.func @nested(%c : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: [[A:%.*]] = relax.on_device %c
  // CHECK-NEXT: [[B:%.*]] = relax.add [[A]], [[A]]
  // CHECK-NEXT: [[X:%.*]] = relax.on_device [[B]]
  // CHECK-NEXT: [[R:%.*]] = relax.multiply [[X]], [[X]]
  // CHECK-NEXT: func.return [[R]]
  %0 = relax.graph -> tensor<f32> {
    %r = relax.multiply %l, %l : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %l = relax.graph -> tensor<f32> {
      %x = relax.on_device %2 {device = #relax.device<cpu>} : (tensor<f32>) -> tensor<f32>
      %2 = relax.add %1, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      relax.output %x : tensor<f32>
    }
    %1 = relax.on_device %c {device = #relax.device<cpu>} : (tensor<f32>) -> tensor<f32>
    relax.output %r : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// A graph in a function, in a loop, in a branch; and an empty graph.
// CHECK-LABEL: @anywhere
func.func @anywhere(%c : i1, %x : tensor<f32>) -> tensor<f32> {
  // CHECK-NOT: relax.graph
  // CHECK: func.return
  relax.graph {
  }
  %f = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    %0 = scf.if %c -> (tensor<f32>) {
      %1 = relax.graph -> tensor<f32> {
        %2 = relax.exp %3 : (tensor<f32>) -> tensor<f32>
        %3 = relax.abs %y : (tensor<f32>) -> tensor<f32>
        relax.output %2 : tensor<f32>
      }
      scf.yield %1 : tensor<f32>
    } else {
      %4 = relax.graph -> tensor<f32> {
        relax.output %x : tensor<f32>
      }
      scf.yield %4 : tensor<f32>
    }
    relax.yield %0 : tensor<f32>
  }
  %5 = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
  return %5 : tensor<f32>
}

// -----

// Recursion.
// CHECK-LABEL: @recursive
func.func @recursive(%c : i1, %x : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: scf.if %c
  // CHECK-NEXT:   [[A:%.*]] = relax.exp %x
  // CHECK-NEXT:   func.call @recursive(%c, [[A]])
  %0 = relax.graph -> tensor<f32> {
    %1 = scf.if %c -> (tensor<f32>) {
      %3 = func.call @recursive(%c, %2) : (i1, tensor<f32>) -> tensor<f32>
      scf.yield %3 : tensor<f32>
    } else {
      scf.yield %x : tensor<f32>
    }
    %2 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    relax.output %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
