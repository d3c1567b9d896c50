// RUN: passline-opt %s -p remove-unused-parameters --split-input-file | filecheck %s

// Attributes of what stays move with it; the operations of callers stay.
// CHECK-LABEL: func.func private @callee
// CHECK-SAME: (%b: f32 {test.name = "b"}) -> (f32 {test.name = "r1"})
// CHECK-NEXT: [[R:%.*]] = arith.mulf %b, %b
// CHECK-NEXT: func.return [[R]] : f32
// CHECK-LABEL: @main
// CHECK: [[E:%.*]] = arith.addf
// CHECK-NEXT: [[R:%.*]] = func.call @callee(%y) {test.kept} : (f32) -> f32
// CHECK-NEXT: [[S:%.*]] = func.call @callee(%x)
// CHECK-NEXT: func.return [[R]], [[S]]
func.func private @callee(%a : f32 {test.name = "a"}, %b : f32 {test.name = "b"}) -> (f32 {test.name = "r0"}, f32 {test.name = "r1"}) {
  %0 = arith.addf %a, %b : f32
  %1 = arith.mulf %b, %b : f32
  return %0, %1 : f32, f32
}
func.func @main(%x : f32, %y : f32) -> (f32, f32) {
  %e = arith.addf %x, %y : f32
  %0, %1 = func.call @callee(%e, %y) {test.kept} : (f32, f32) -> (f32, f32)
  %dead = arith.addf %0, %0 : f32
  %2, %3 = func.call @callee(%x, %x) : (f32, f32) -> (f32, f32)
  return %1, %3 : f32, f32
}

// -----

// Calls in regions, several blocks and returns; a call without results stays, as it may have effects.
// CHECK-LABEL: @main
// CHECK: scf.if %c
// CHECK-NEXT: func.call @callee(%c) : (i1) -> ()
// CHECK: func.func private @callee(%{{.*}}: i1) {
// CHECK: func.return
// CHECK: func.return
func.func @main(%c : i1, %x : f32) {
  scf.if %c {
    %0 = func.call @callee(%x, %c) : (f32, i1) -> f32
  }
  return
}
func.func private @callee(%x : f32, %c : i1) -> f32 {
  cf.cond_br %c, ^a, ^b
^a:
  func.call @effect() : () -> ()
  func.return %x : f32
^b:
  func.return %x : f32
}
func.func private @effect()

// -----

// Recursion: what is passed on only to itself is not needed, directly or through others.
// CHECK-LABEL: @main
// CHECK: func.call @even(%n) : (i32) -> i1
// CHECK: func.func private @even([[N:%.*]]: i32) -> i1
// CHECK: func.call @odd({{%.*}}) : (i32) -> i1
// CHECK: func.func private @odd([[N:%.*]]: i32) -> i1
// CHECK: func.call @even({{%.*}}) : (i32) -> i1
func.func @main(%n : i32, %x : f32) -> i1 {
  %0, %1 = func.call @even(%n, %x) : (i32, f32) -> (i1, f32)
  return %0 : i1
}
func.func private @even(%n : i32, %x : f32) -> (i1, f32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.cmpi eq, %n, %zero : i32
  %r0, %r1 = scf.if %end -> (i1, f32) {
    %true = arith.constant true
    %f = arith.constant 0.0 : f32
    scf.yield %true, %f : i1, f32
  } else {
    %m = arith.subi %n, %one : i32
    %y = arith.addf %x, %x : f32
    %a, %b = func.call @odd(%m, %y) : (i32, f32) -> (i1, f32)
    %f = arith.constant 0.0 : f32
    scf.yield %a, %f : i1, f32
  }
  return %r0, %r1 : i1, f32
}
func.func private @odd(%n : i32, %x : f32) -> (i1, f32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.cmpi eq, %n, %zero : i32
  %r0 = scf.if %end -> (i1) {
    %false = arith.constant false
    scf.yield %false : i1
  } else {
    %m = arith.subi %n, %one : i32
    %a, %b = func.call @even(%m, %x) : (i32, f32) -> (i1, f32)
    scf.yield %a : i1
  }
  return %r0, %x : i1, f32
}

// -----

// Through a chain of calls, in any order of the functions.
// CHECK-LABEL: func.func private @last(%{{.*}}: i32) -> i32
// CHECK: func.func private @first(%{{.*}}: i32) -> i32
// CHECK: func.func private @second(%{{.*}}: i32) -> i32
func.func private @last(%a : i32, %b : i32) -> i32 { return %a : i32 }
func.func private @first(%a : i32, %b : i32) -> i32 {
  %c = arith.addi %b, %b : i32
  %0 = func.call @second(%a, %c) : (i32, i32) -> i32
  return %0 : i32
}
func.func private @second(%a : i32, %b : i32) -> i32 {
  %0 = func.call @last(%a, %b) : (i32, i32) -> i32
  return %0 : i32
}
func.func @main(%a : i32) -> i32 {
  %0 = func.call @first(%a, %a) : (i32, i32) -> i32
  return %0 : i32
}

// -----

// Must not fire: public functions, declarations, functions that are not called.
// UNCHANGED: @public
func.func @public(%a : i32) -> i32 {
  %0 = arith.constant 1 : i32
  return %0 : i32
}
func.func private @declared(i32) -> i32
func.func private @uncalled(%a : i32) -> i32 {
  %0 = arith.constant 1 : i32
  return %0 : i32
}
func.func @main(%a : i32) {
  %0 = func.call @public(%a) : (i32) -> i32
  %1 = func.call @declared(%a) : (i32) -> i32
  return
}

// -----

// Must not fire: references other than by a call, also of a nested module.
// UNCHANGED: @named
func.func private @named(%x : tensor<4xf32>) { return }
func.func private @closed(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> { return %y : tensor<4xf32> }
func.func private @marked(%x : tensor<4xf32>) { return }
func.func private @outer(%x : tensor<4xf32>) { return }
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
  func.call @named(%x) : (tensor<4xf32>) -> ()
  "test.op"() {callee = @named} : () -> ()
  %f = relax.make_closure @closed(%x) : (tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %0 = relax.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @closed(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.call @marked(%x) {test.of = [@marked]} : (tensor<4xf32>) -> ()
  func.call @outer(%x) : (tensor<4xf32>) -> ()
  return %1 : tensor<4xf32>
}
module @nested {
  func.func private @outer(%x : tensor<4xf32>) { return }
  func.func @main(%x : tensor<4xf32>) {
    func.call @outer(%x) : (tensor<4xf32>) -> ()
    return
  }
}

// -----

// Must not fire: kernels, and functions excluded by the user or called in such a one.
// UNCHANGED: @kernel
func.func private @kernel(%x : i32) attributes {relax.primitive} { return }
func.func private @skipped(%x : i32) attributes {passline.skip_optimization} { return }
func.func private @called(%x : i32) { return }
func.func @main(%x : i32) {
  func.call @kernel(%x) : (i32) -> ()
  func.call @skipped(%x) : (i32) -> ()
  func.call @called(%x) : (i32) -> ()
  return
}
func.func @caller(%x : i32) attributes {passline.skip_optimization} {
  func.call @called(%x) : (i32) -> ()
  return
}

// -----

// Must not fire: parameters that operations with effects need, and results that are carried by loops.
// UNCHANGED: @store
func.func private @store(%x : f32, %m : memref<1xf32>) {
  %zero = arith.constant 0 : index
  memref.store %x, %m[%zero] : memref<1xf32>
  return
}
func.func private @step(%x : f32) -> f32 { return %x : f32 }
func.func @main(%x : f32, %m : memref<1xf32>, %n : index) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  func.call @store(%x, %m) : (f32, memref<1xf32>) -> ()
  %r = scf.for %i = %zero to %n step %one iter_args(%v = %x) -> (f32) {
    %w = func.call @step(%v) : (f32) -> f32
    scf.yield %w : f32
  }
  return %r : f32
}
