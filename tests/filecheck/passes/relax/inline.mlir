// RUN: passline-opt %s -p inline --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'inline{max-ops=3}' --split-input-file | filecheck %s --check-prefix=SMALL

// A private function is inlined at each call; without references left, it is erased.
// CHECK: module
// CHECK-NEXT: func.func @main
// SMALL: func.func private @double
func.func private @double(%x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = relax.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = relax.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func @main(%y : tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: [[A:%.*]] = relax.add %y, %y
  // CHECK-NEXT: [[B:%.*]] = relax.exp [[A]]
  // CHECK-NEXT: [[C:%.*]] = relax.add [[B]], [[B]]
  // CHECK-NEXT: [[D:%.*]] = relax.exp [[C]]
  // CHECK-NEXT: func.return [[D]]
  // SMALL: func.call @double
  // SMALL: func.call @double
  %0 = func.call @double(%y) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = func.call @double(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// A function of any size, if it is called once; functions in functions; several results, some of them
// parameters; calls in branches, loops, functions and graphs.
// CHECK-LABEL: @nested
// SMALL-LABEL: @nested
// SMALL-NEXT: scf.if
// SMALL-NEXT:   relax.exp
func.func @nested(%c : i1, %y : tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: [[R:%.*]], [[S:%.*]] = scf.if %c
  // CHECK-NEXT:   [[A:%.*]] = relax.exp %y
  // CHECK-NEXT:   [[B:%.*]] = relax.tanh [[A]]
  // CHECK-NEXT:   [[C:%.*]] = relax.exp [[B]]
  // CHECK-NEXT:   [[D:%.*]] = relax.exp [[C]]
  // CHECK-NEXT:   scf.yield %y, [[D]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return [[R]], [[S]]
  %0, %1 = scf.if %c -> (tensor<2xf32>, tensor<2xf32>) {
    %2, %3 = func.call @swap(%y, %y) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    scf.yield %2, %3 : tensor<2xf32>, tensor<2xf32>
  } else {
    scf.yield %y, %y : tensor<2xf32>, tensor<2xf32>
  }
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
func.func private @swap(%x : tensor<2xf32>, %y : tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = func.call @large(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y, %0 : tensor<2xf32>, tensor<2xf32>
}
func.func private @large(%x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = relax.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = relax.tanh %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = relax.exp %1 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = relax.exp %2 : (tensor<2xf32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}

// -----

// A function with other references stays.
// CHECK: func.func private @f
// CHECK: @g
// CHECK-NEXT: "test.op"() {callee = @f}
// CHECK-NEXT: "test.op"() {a}
// CHECK-NEXT: func.return
func.func private @f() {
  "test.op"() {a} : () -> ()
  return
}
func.func @g() {
  "test.op"() {callee = @f} : () -> ()
  func.call @f() : () -> ()
  return
}

// -----

// Must not fire: public functions and declarations.
// CHECK-COUNT-2: func.call
func.func @public() {
  return
}
func.func private @declared()
func.func @main() {
  func.call @public() : () -> ()
  func.call @declared() : () -> ()
  return
}

// -----

// Must not fire: recursion, of one function or of several; but a function that only calls such a
// function is inlined, and the call in it stays.
// CHECK: func.func @main
// CHECK-NEXT: func.call @itself
// CHECK-NEXT: func.call @each
// CHECK-NEXT: func.return
// CHECK: func.func private @itself
// CHECK-NEXT: func.call @itself
// CHECK: func.func private @each
// CHECK-NEXT: func.call @other
// CHECK: func.func private @other
// CHECK-NEXT: func.call @each
// CHECK-NEXT: func.return
func.func @main(%i : index) {
  func.call @itself(%i) : (index) -> ()
  func.call @calls(%i) : (index) -> ()
  return
}
func.func private @itself(%i : index) {
  func.call @itself(%i) : (index) -> ()
  return
}
func.func private @each(%i : index) {
  func.call @other(%i) : (index) -> ()
  return
}
func.func private @other(%i : index) {
  func.call @each(%i) : (index) -> ()
  return
}
func.func private @calls(%i : index) {
  func.call @each(%i) : (index) -> ()
  return
}

// -----

// Must not fire: opaque functions, as callees and as callers.
// CHECK-COUNT-4: func.call
func.func private @primitive() attributes {relax.primitive} {
  return
}
func.func private @composite() attributes {relax.composite = "dnnl.conv"} {
  return
}
func.func private @skipped() attributes {passline.skip_optimization} {
  return
}
func.func private @plain() {
  return
}
func.func @main() {
  func.call @primitive() : () -> ()
  func.call @composite() : () -> ()
  func.call @skipped() : () -> ()
  return
}
func.func @skips() attributes {passline.skip_optimization} {
  func.call @plain() : () -> ()
  return
}

// -----

// Must not fire: more than one block.
// CHECK: func.call @blocks
func.func private @blocks() {
  cf.br ^bb1
^bb1:
  return
}
func.func @main() {
  func.call @blocks() : () -> ()
  return
}

// -----

// Must not fire: a name that refers to a function of a nested module.
// CHECK: func.call @f
func.func private @f() {
  return
}
func.func @main() {
  builtin.module {
    func.func private @f() {
      return
    }
    func.func @inner() {
      func.call @f() : () -> ()
      return
    }
  }
  return
}
