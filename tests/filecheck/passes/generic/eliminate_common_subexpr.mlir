// RUN: passline-opt %s -p eliminate-common-subexpr --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'eliminate-common-subexpr{skip="relax.add"}' --split-input-file | filecheck %s --check-prefix=SKIP
// RUN: passline-opt %s -p 'eliminate-common-subexpr{call-only=true}' --split-input-file | filecheck %s --check-prefix=CALL

// Equal operations on equal operands, constants included.
// CHECK-LABEL: @simple
// SKIP-LABEL: @simple
// CALL-LABEL: @simple
func.func @simple(%x : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: [[C:%.*]] = relax.constant
  // CHECK-NEXT: [[R:%.*]] = relax.nn.relu %x
  // CHECK-NEXT: [[A:%.*]] = relax.add [[R]], [[C]]
  // CHECK-NEXT: relax.add [[A]], [[A]]
  // CHECK-NEXT: func.return
  // SKIP-NEXT: [[C:%.*]] = relax.constant
  // SKIP-NEXT: [[R:%.*]] = relax.nn.relu %x
  // SKIP-NEXT: [[A:%.*]] = relax.add [[R]], [[C]]
  // SKIP-NEXT: [[B:%.*]] = relax.add [[R]], [[C]]
  // SKIP-NEXT: relax.add [[A]], [[B]]
  // SKIP-NEXT: func.return
  // CALL-NEXT: [[C:%.*]] = relax.constant
  // CALL-NEXT: [[D:%.*]] = relax.constant
  // CALL-NEXT: [[R:%.*]] = relax.nn.relu %x
  // CALL-NEXT: [[A:%.*]] = relax.add [[R]], [[C]]
  // CALL-NEXT: [[B:%.*]] = relax.add [[R]], [[D]]
  // CALL-NEXT: relax.add [[A]], [[B]]
  // CALL-NEXT: func.return
  %c = relax.constant dense<1.0> : tensor<f32>
  %d = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.nn.relu %x : (tensor<f32>) -> tensor<f32>
  %1 = relax.nn.relu %x : (tensor<f32>) -> tensor<f32>
  %2 = relax.add %0, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = relax.add %1, %d : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = relax.add %2, %3 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %4 : tensor<f32>
}

// -----

// Another dialect's operations.
// CHECK-LABEL: @arith
func.func @arith(%x : i32) -> i32 {
  // CHECK-NEXT: [[A:%.*]] = arith.addi %x, %x
  // CHECK-NEXT: arith.muli [[A]], [[A]]
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %x, %x : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}

// -----

// Operations differing in operands, their order, properties, attributes, result type or name stay.
// UNCHANGED: @differ
func.func @differ(%x : tensor<4x4xf32>, %y : tensor<4x4xf32>, %z : tensor<?x?xf32>) {
  %0 = relax.add %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relax.add %y, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = relax.exp %z : (tensor<?x?xf32>) -> tensor<4x?xf32>
  %3 = relax.add %x, %y {device = 1 : i32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = relax.subtract %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = relax.layout_transform %x {src_layout = "HW", dst_layout = "WH"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = relax.layout_transform %x {src_layout = "WH", dst_layout = "HW"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = relax.exp %z : (tensor<?x?xf32>) -> tensor<?x4xf32>
  %8 = arith.constant 0 : i32
  %9 = arith.constant 0 : i64
  %10 = arith.constant 1 : i32
  return
}

// -----

// The same differences twice: the second of each is merged.
// CHECK-LABEL: @differ_twice
func.func @differ_twice(%x : tensor<?xf32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.exp %x : (tensor<?xf32>) -> tensor<4xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: "test.op"([[A]], [[B]], [[A]], [[B]])
  %0 = relax.exp %x : (tensor<?xf32>) -> tensor<4xf32>
  %1 = relax.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %2 = relax.exp %x : (tensor<?xf32>) -> tensor<4xf32>
  %3 = relax.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  "test.op"(%0, %1, %2, %3) : (tensor<4xf32>, tensor<?xf32>, tensor<4xf32>, tensor<?xf32>) -> ()
  return
}

// -----

// Calls, unknown operations, and operations that read or write memory stay.
// UNCHANGED: @effects
func.func private @effects(%m : memref<1xf32>, %i : index) {
  %0 = "test.op"() : () -> f32
  %1 = "test.op"() : () -> f32
  %2 = memref.alloc() : memref<1xf32>
  %3 = memref.alloc() : memref<1xf32>
  %4 = memref.load %m[%i] : memref<1xf32>
  %5 = memref.load %m[%i] : memref<1xf32>
  func.call @effects(%m, %i) : (memref<1xf32>, index) -> ()
  func.call @effects(%m, %i) : (memref<1xf32>, index) -> ()
  return
}

// -----

// Duplicates of operations before a branch are merged; not those of the other side, or after it.
// CHECK-LABEL: @branches
func.func @branches(%c : i1, %x : tensor<f32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.exp %x
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT:   [[T:%.*]] = relax.tanh %x
  // CHECK-NEXT:   "test.op"([[A]], [[T]])
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   [[E:%.*]] = relax.tanh %x
  // CHECK-NEXT:   "test.op"([[A]], [[E]])
  // CHECK-NEXT: }
  // CHECK-NEXT: [[Z:%.*]] = relax.tanh %x
  // CHECK-NEXT: "test.op"([[A]], [[Z]])
  %0 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  scf.if %c {
    %1 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    %2 = relax.tanh %x : (tensor<f32>) -> tensor<f32>
    "test.op"(%1, %2) : (tensor<f32>, tensor<f32>) -> ()
  } else {
    %3 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    %4 = relax.tanh %x : (tensor<f32>) -> tensor<f32>
    "test.op"(%3, %4) : (tensor<f32>, tensor<f32>) -> ()
  }
  %5 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  %6 = relax.tanh %x : (tensor<f32>) -> tensor<f32>
  "test.op"(%5, %6) : (tensor<f32>, tensor<f32>) -> ()
  return
}

// -----

// Blocks of one region: each by itself.
// CHECK-LABEL: @blocks
func.func @blocks(%x : i32) -> i32 {
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: cf.br
  // CHECK-NEXT: ^{{.*}}:
  // CHECK-NEXT: [[A:%.*]] = arith.addi
  // CHECK-NEXT: arith.muli [[A]], [[A]]
  %0 = arith.addi %x, %x : i32
  cf.br ^bb1
^bb1:
  %1 = arith.addi %x, %x : i32
  %2 = arith.addi %x, %x : i32
  %3 = arith.muli %1, %2 : i32
  return %3 : i32
}

// -----

// Duplicates of operations before a loop are merged in its body.
// CHECK-LABEL: @loop
func.func @loop(%n : index, %x : i32) {
  // CHECK-NEXT: [[A:%.*]] = arith.addi %x, %x
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: "test.op"([[A]])
  %0 = arith.addi %x, %x : i32
  scf.for %i = %n to %n step %n {
    %1 = arith.addi %x, %x : i32
    "test.op"(%1) : (i32) -> ()
  }
  return
}

// -----

// Nothing outside of an isolated region is available in it.
// CHECK-LABEL: @isolated
func.func @isolated() {
  // CHECK-NEXT: arith.constant 1 : i32
  %0 = arith.constant 1 : i32
  // CHECK-NEXT: builtin.module {
  builtin.module {
    // CHECK-NEXT: arith.constant 1 : i32
    // CHECK-NEXT: }
    %1 = arith.constant 1 : i32
    %2 = arith.constant 1 : i32
  }
  // CHECK-NEXT: func.return
  %3 = arith.constant 1 : i32
  return
}

// -----

// An operation used many times by one: all its uses follow.
// CHECK-LABEL: @many_uses
func.func @many_uses(%x : i32) {
  // CHECK-NEXT: [[A:%.*]] = arith.addi %x, %x
  // CHECK-NEXT: "test.op"([[A]], [[A]], [[A]], %x)
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %x, %x : i32
  "test.op"(%0, %1, %1, %x) : (i32, i32, i32, i32) -> ()
  return
}

// -----

// Tuples, their elements, annotations and kernels; another kernel is another value.
func.func private @a(memref<f32>, memref<f32>)
func.func private @b(memref<f32>, memref<f32>)
// CHECK-LABEL: @values
func.func @values(%x : tensor<f32>, %y : tensor<f32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.call_tir @a(%x)
  // CHECK-NEXT: [[B:%.*]] = relax.call_tir @b(%x)
  // CHECK-NEXT: [[T:%.*]] = relax.tuple [[A]], %y
  // CHECK-NEXT: [[F:%.*]] = relax.tuple_get_item [[T]] {index = 0}
  // CHECK-NEXT: [[G:%.*]] = relax.tuple_get_item [[T]] {index = 1}
  // CHECK-NEXT: [[S:%.*]] = relax.stop_fusion [[F]]
  // CHECK-NEXT: "test.op"([[B]], [[F]], [[G]], [[S]], [[S]])
  %0 = relax.call_tir @a(%x) : (tensor<f32>) -> tensor<f32>
  %1 = relax.call_tir @a(%x) : (tensor<f32>) -> tensor<f32>
  %2 = relax.call_tir @b(%x) : (tensor<f32>) -> tensor<f32>
  %3 = relax.tuple %0, %y : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  %4 = relax.tuple %1, %y : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  %5 = relax.tuple_get_item %3 {index = 0} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %6 = relax.tuple_get_item %4 {index = 0} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %7 = relax.tuple_get_item %4 {index = 1} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %8 = relax.stop_fusion %5 : (tensor<f32>) -> tensor<f32>
  %9 = relax.stop_fusion %6 : (tensor<f32>) -> tensor<f32>
  "test.op"(%2, %6, %7, %8, %9) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> ()
  return
}

// -----

// A lambda captures nothing more: it repeats the computations outside. Lambdas and calls stay.
// CHECK-LABEL: @lambdas
func.func @lambdas(%x : tensor<f32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.exp %x
  // CHECK-NEXT: [[F:%.*]] = relax.lambda() -> tensor<f32> {
  // CHECK-NEXT:   [[B:%.*]] = relax.exp %x
  // CHECK-NEXT:   [[C:%.*]] = relax.add [[B]], [[B]]
  // CHECK-NEXT:   relax.yield [[C]]
  // CHECK-NEXT: }
  // CHECK-NEXT: relax.lambda
  // CHECK: relax.invoke [[F]]
  // CHECK-NEXT: relax.invoke [[F]]
  // CHECK-NEXT: "test.op"([[A]], [[A]])
  %0 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  %f = relax.lambda() -> tensor<f32> {
    %1 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    %2 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    %3 = relax.add %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relax.yield %3 : tensor<f32>
  }
  %g = relax.lambda() -> tensor<f32> {
    %4 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    relax.yield %4 : tensor<f32>
  }
  %5 = relax.invoke %f() : () -> tensor<f32>
  %6 = relax.invoke %f() : () -> tensor<f32>
  %7 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  "test.op"(%0, %7) : (tensor<f32>, tensor<f32>) -> ()
  return
}

// -----

// In a graph, in dependence order: uses before the definition are renamed, which makes further
// operations equal.
// CHECK-LABEL: @graph
func.func @graph(%c : i1, %x : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: [[O:%.*]] = relax.exp %x
  // CHECK-NEXT: relax.graph -> tensor<f32> {
  // CHECK-NEXT:   [[R:%.*]] = scf.if %c -> (tensor<f32>) {
  // CHECK-NEXT:     scf.yield [[D:%.*]] : tensor<f32>
  // CHECK-NEXT:   } else {
  // CHECK-NEXT:     scf.yield [[D]]
  // CHECK-NEXT:   }
  // CHECK-NEXT:   [[A:%.*]] = relax.add [[R]], [[D]]
  // CHECK-NEXT:   [[D]] = relax.tanh [[O]]
  // CHECK-NEXT:   relax.output [[A]]
  %0 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  %1 = relax.graph -> tensor<f32> {
    %2 = scf.if %c -> (tensor<f32>) {
      %3 = relax.tanh %0 : (tensor<f32>) -> tensor<f32>
      scf.yield %3 : tensor<f32>
    } else {
      scf.yield %6 : tensor<f32>
    }
    %4 = relax.add %2, %5 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %5 = relax.tanh %8 : (tensor<f32>) -> tensor<f32>
    %6 = relax.tanh %7 : (tensor<f32>) -> tensor<f32>
    %7 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    %8 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    relax.output %4 : tensor<f32>
  }
  return %1 : tensor<f32>
}

// -----

// Operations with any number of operands and results.
// CHECK-LABEL: @several
func.func @several(%x : tensor<4xf32>, %c : tensor<1xf32>) {
  // CHECK-NEXT: [[R:%.*]] = relax.nn.relu %x
  // CHECK-NEXT: [[J:%.*]] = relax.concatenate [[R]], %c
  // CHECK-NEXT: [[A:%.*]], [[B:%.*]] = relax.split %x {sections = 2}
  // CHECK-NEXT: [[D:%.*]], [[E:%.*]] = relax.split %x {indices = [2]}
  // CHECK-NEXT: "test.op"([[J]], [[J]], [[A]], [[B]], [[A]], [[B]], [[D]], [[E]])
  %0 = relax.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.concatenate %0, %c : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  %3 = relax.concatenate %1, %c : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  %4, %5 = relax.split %x {sections = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %6, %7 = relax.split %x {sections = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %8, %9 = relax.split %x {indices = [2]} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  "test.op"(%2, %3, %4, %5, %6, %7, %8, %9) : (tensor<5xf32>, tensor<5xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  return
}

// -----

// Equal branches are computed once.
// CHECK-LABEL: @regions
// CHECK-NEXT: [[R:%.*]] = scf.if %c
// CHECK-NEXT:   [[S:%.*]] = arith.addi %a, %b
// CHECK-NEXT:   scf.yield [[S]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield %a
// CHECK-NEXT: }
// CHECK-NEXT: func.return [[R]], [[R]]
func.func @regions(%c: i1, %a: i32, %b: i32) -> (i32, i32) {
  %0 = scf.if %c -> (i32) {
    %1 = arith.addi %a, %b : i32
    scf.yield %1 : i32
  } else {
    scf.yield %a : i32
  }
  %2 = scf.if %c -> (i32) {
    %3 = arith.addi %a, %b : i32
    scf.yield %3 : i32
  } else {
    scf.yield %a : i32
  }
  func.return %0, %2 : i32, i32
}

// -----

// The operands of a commutative operation may be exchanged.
// CHECK-LABEL: @exchanged
// CHECK-NEXT: [[S:%.*]] = arith.addi %a, %b
// CHECK-NEXT: func.return [[S]], [[S]]
func.func @exchanged(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %b, %a : i32
  func.return %0, %1 : i32, i32
}

// -----

// Equal calls of functions without effects are merged, also in a branch, and branches around them.
// CHECK-LABEL: @pure_calls
// CHECK-NEXT: [[A:%.*]] = func.call @pure(%x)
// CHECK-NEXT: [[B:%.*]] = scf.if %c
// CHECK-NEXT:   [[D:%.*]] = func.call @pure([[A]])
// CHECK-NEXT:   scf.yield [[D]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield [[A]]
// CHECK-NEXT: }
// CHECK-NEXT: func.return [[A]], [[A]], [[B]], [[B]]
func.func @pure_calls(%c : i1, %x : tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = func.call @pure(%x) : (tensor<f32>) -> tensor<f32>
  %1 = func.call @pure(%x) : (tensor<f32>) -> tensor<f32>
  %2 = scf.if %c -> (tensor<f32>) {
    %3 = func.call @pure(%1) : (tensor<f32>) -> tensor<f32>
    scf.yield %3 : tensor<f32>
  } else {
    %4 = func.call @pure(%x) : (tensor<f32>) -> tensor<f32>
    scf.yield %4 : tensor<f32>
  }
  %5 = scf.if %c -> (tensor<f32>) {
    %6 = func.call @pure(%1) : (tensor<f32>) -> tensor<f32>
    scf.yield %6 : tensor<f32>
  } else {
    scf.yield %0 : tensor<f32>
  }
  return %0, %1, %2, %5 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @pure(%x : tensor<f32>) -> tensor<f32> {
  %0 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Calls with other operands or callees stay, and calls of functions that have effects, that depend
// on memory, that return new memory, or that are only declared.
// UNCHANGED: @other_calls
func.func @other_calls(%x : f32, %y : f32, %m : memref<f32>) {
  %0 = func.call @pure(%x) : (f32) -> f32
  %1 = func.call @pure(%y) : (f32) -> f32
  %2 = func.call @other(%x) : (f32) -> f32
  %3 = func.call @effect() : () -> f32
  %4 = func.call @effect() : () -> f32
  %5 = func.call @reads(%m) : (memref<f32>) -> f32
  %6 = func.call @reads(%m) : (memref<f32>) -> f32
  %7 = func.call @new() : () -> memref<f32>
  %8 = func.call @new() : () -> memref<f32>
  %9 = func.call @declared() : () -> f32
  %10 = func.call @declared() : () -> f32
  return
}
func.func private @pure(%x : f32) -> f32 {
  return %x : f32
}
func.func private @other(%x : f32) -> f32 {
  return %x : f32
}
func.func private @effect() -> f32 {
  %0 = "test.op"() : () -> f32
  return %0 : f32
}
func.func private @reads(%m : memref<f32>) -> f32 {
  %0 = memref.load %m[] : memref<f32>
  return %0 : f32
}
func.func private @new() -> memref<f32> {
  %0 = memref.alloc() : memref<f32>
  return %0 : memref<f32>
}
func.func private @declared() -> f32
