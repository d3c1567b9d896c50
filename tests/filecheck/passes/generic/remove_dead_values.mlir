// RUN: passline-opt %s -p remove-dead-values --split-input-file --allow-unregistered-dialect | filecheck %s

// Parameters and results of a private function, and what only they need.
// CHECK-LABEL: func.func private @callee(%x: i32) -> i32 {
// CHECK-NEXT:    func.return %x : i32
// CHECK-LABEL: @main
// CHECK-NEXT:    [[R:%.*]] = func.call @callee(%x) : (i32) -> i32
// CHECK-NEXT:    func.return [[R]] : i32
func.func private @callee(%x: i32, %y: i32) -> (i32, i32) {
  %0 = arith.muli %y, %y : i32
  func.return %x, %0 : i32, i32
}
func.func @main(%x: i32, %y: i32) -> i32 {
  %0 = arith.addi %y, %y : i32
  %1, %2 = func.call @callee(%x, %0) : (i32, i32) -> (i32, i32)
  %3 = arith.subi %2, %x : i32
  func.return %1 : i32
}

// -----

// Arguments of blocks in a cycle, and the operands that branches pass there.
// CHECK-LABEL: @blocks
// CHECK-NEXT:    cf.br ^bb1(%x : i32)
// CHECK-NEXT:  ^bb1([[A:%.*]]: i32):
// CHECK-NEXT:    "test.op"([[A]])
// CHECK-NEXT:    cf.cond_br %c, ^bb1([[A]] : i32), ^bb2
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    func.return
func.func @blocks(%c: i1, %x: i32) {
  %zero = arith.constant 0 : i32
  cf.br ^bb1(%zero, %x : i32, i32)
^bb1(%dead: i32, %a: i32):
  "test.op"(%a) : (i32) -> ()
  %next = arith.addi %dead, %a : i32
  cf.cond_br %c, ^bb1(%next, %a : i32, i32), ^bb2(%dead : i32)
^bb2(%b: i32):
  func.return
}

// A switch with operands for each case.
// CHECK-LABEL: @switch
// CHECK-NEXT:    cf.switch %n : i32, [
// CHECK-NEXT:      default: ^bb1(%x : i32),
// CHECK-NEXT:      1: ^bb2,
// CHECK-NEXT:      2: ^bb1(%y : i32)
// CHECK-NEXT:    ]
func.func @switch(%n: i32, %x: i32, %y: i32) -> i32 {
  cf.switch %n : i32, [
    default: ^bb1(%x, %y : i32, i32),
    1: ^bb2(%x : i32),
    2: ^bb1(%y, %y : i32, i32)
  ]
^bb1(%a: i32, %dead: i32):
  func.return %a : i32
^bb2(%b: i32):
  func.return %n : i32
}

// -----

// A loop keeps a result that nobody uses, whose value its iterations need; the other one goes.
// CHECK-LABEL: @loop
// CHECK:         scf.for %{{.*}} = %n to %n step %n iter_args([[A:%.*]] = %x) -> (i32) {
// CHECK-NEXT:      "test.op"([[A]])
// CHECK-NEXT:      [[N:%.*]] = arith.addi [[A]], %x
// CHECK-NEXT:      scf.yield [[N]] : i32
func.func @loop(%n: index, %x: i32, %y: i32) {
  %0, %1 = scf.for %i = %n to %n step %n iter_args(%a = %x, %b = %y) -> (i32, i32) {
    "test.op"(%a) : (i32) -> ()
    %2 = arith.addi %a, %x : i32
    %3 = arith.addi %b, %a : i32
    scf.yield %2, %3 : i32, i32
  }
  func.return
}

// A while loop: what its condition passes, and what it is entered with, go one by one.
// CHECK-LABEL: @while
// CHECK-NEXT:    [[R:%.*]] = scf.while ([[A:%.*]] = %x) : (i32) -> i32 {
// CHECK-NEXT:      scf.condition(%c) [[A]] : i32
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0([[B:%.*]]: i32):
// CHECK-NEXT:      scf.yield [[B]] : i32
// CHECK:         func.return [[R]]
func.func @while(%c: i1, %x: i32, %y: i32) -> i32 {
  %0, %1 = scf.while (%a = %x, %b = %y) : (i32, i32) -> (i32, i32) {
    %2 = arith.addi %b, %b : i32
    scf.condition(%c) %a, %2 : i32, i32
  } do {
  ^bb0(%d: i32, %e: i32):
    scf.yield %d, %e : i32, i32
  }
  func.return %0 : i32
}

// Regions of affine, and of an operation of several blocks.
// CHECK-LABEL: @regions
// CHECK:         affine.for %{{.*}} = 0 to 8 {
// CHECK-NEXT:      "test.op"()
// CHECK:         scf.execute_region
// CHECK:         cf.br ^{{.*}}
// CHECK:         "test.op"()
// CHECK:         scf.yield
// CHECK:         func.return
func.func @regions(%x: i32) {
  %0 = affine.for %i = 0 to 8 iter_args(%a = %x) -> (i32) {
    "test.op"() : () -> ()
    %1 = arith.addi %a, %x : i32
    affine.yield %1 : i32
  }
  %2 = scf.execute_region -> (i32) {
    cf.br ^bb1(%0 : i32)
  ^bb1(%b: i32):
    "test.op"() : () -> ()
    scf.yield %b : i32
  }
  func.return
}

// -----

// A private function that nobody calls is empty then.
// CHECK-LABEL: func.func private @uncalled() {
// CHECK-NEXT:    func.return
func.func private @uncalled(%x: i32) -> i32 {
  "test.op"(%x) : (i32) -> ()
  func.return %x : i32
}

// -----

// A pure call whose result nobody needs goes, with what it is called with, also if the function is
// public; one with effects stays.
// CHECK-LABEL: @calls
// CHECK-NEXT:    func.call @effects() : () -> ()
// CHECK-NEXT:    func.return
func.func @public(%x: i32) -> i32 {
  func.return %x : i32
}
func.func private @pure(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  func.return %0 : i32
}
func.func private @effects(%x: i32) -> i32 {
  "test.op"() : () -> ()
  func.return %x : i32
}
func.func @calls(%x: i32) {
  %0 = arith.muli %x, %x : i32
  %1 = func.call @pure(%0) : (i32) -> i32
  %2 = func.call @effects(%0) : (i32) -> i32
  %3 = func.call @public(%0) : (i32) -> i32
  func.return
}

// -----

// What must stay: parameters of public functions, of functions that are values, of those that another
// refuses to shorten, the variable of a loop, values of operations without the interface.
// UNCHANGED: @public
func.func @public(%x: i32) -> i32 {
  %0 = arith.constant 1 : i32
  func.return %0 : i32
}
// UNCHANGED: @taken
func.func private @taken(%x: i32) {
  "test.op"() : () -> ()
  func.return
}
// UNCHANGED: @takes
func.func @takes(%x: i32) {
  %f = "func.constant"() {value = @taken} : () -> ((i32) -> ())
  "test.use"(%f) : ((i32) -> ()) -> ()
  func.call @taken(%x) : (i32) -> ()
  func.return
}
// UNCHANGED: @variable
func.func @variable(%n: index) {
  scf.for %i = %n to %n step %n {
    "test.op"() : () -> ()
  }
  func.return
}
// UNCHANGED: @unknown
func.func @unknown(%x: i32) {
  %0 = "test.region"(%x) ({
  ^bb0(%a: i32, %b: i32):
    %1 = arith.addi %x, %x : i32
    "test.yield"(%1) : (i32) -> ()
  }) : (i32) -> i32
  func.return
}
// UNCHANGED: @reduce
func.func @reduce(%n: index, %x: f32) -> f32 {
  %0 = "scf.parallel"(%n, %n, %n, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%i: index):
    %1 = "test.op"() : () -> f32
    scf.reduce(%1 : f32) {
    ^bb0(%a: f32, %b: f32):
      %2 = arith.addf %a, %b : f32
      scf.reduce.return %2 : f32
    }
  }) : (index, index, index, f32) -> f32
  func.return %0 : f32
}
// UNCHANGED: @declared
func.func private @declared(i32) -> i32
// UNCHANGED: @calls_declared
func.func @calls_declared(%x: i32) {
  %0 = arith.addi %x, %x : i32
  %1 = func.call @declared(%0) : (i32) -> i32
  func.return
}
// UNCHANGED: @skips
func.func private @skips(%x: i32) attributes {passline.skip_optimization} {
  "test.op"() : () -> ()
  func.return
}
// UNCHANGED: @calls_skips
func.func @calls_skips(%x: i32) {
  func.call @skips(%x) : (i32) -> ()
  func.return
}

// A loop of one iteration has as many initial values as results.
// UNCHANGED: @one_iteration
func.func @one_iteration(%x: index, %y: index) -> (index, index) {
  %0, %1 = affine.for %i = 0 to 1 iter_args(%a = %x, %b = %y) -> (index, index) {
    affine.yield %y, %a : index, index
  }
  func.return %0, %1 : index, index
}
// CHECK-LABEL: @one_iteration_less(
// CHECK-NEXT:    [[r:%.*]] = affine.for %i = 0 to 1 iter_args(%a = %x) -> (index) {
// CHECK-NEXT:      affine.yield %a : index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return [[r]] : index
func.func @one_iteration_less(%x: index, %y: index) -> index {
  %0, %1 = affine.for %i = 0 to 1 iter_args(%a = %x, %b = %y) -> (index, index) {
    affine.yield %a, %b : index, index
  }
  func.return %0 : index
}
