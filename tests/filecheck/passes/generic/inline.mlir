// RUN: passline-opt %s -p inline --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'inline{max-ops=2 default-pipeline=""}' --split-input-file | filecheck %s --check-prefix=SMALL

// A private function is inlined at each call; without references left, it is erased.
// CHECK: module
// CHECK-NEXT: func.func @main
// SMALL: func.func private @double
func.func private @double(%x : f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  %1 = math.exp %0 : f32
  return %1 : f32
}
func.func @main(%y : f32) -> f32 {
  // CHECK-NEXT: [[A:%.*]] = arith.addf %y, %y
  // CHECK-NEXT: [[B:%.*]] = math.exp [[A]]
  // CHECK-NEXT: [[C:%.*]] = arith.addf [[B]], [[B]]
  // CHECK-NEXT: [[D:%.*]] = math.exp [[C]]
  // CHECK-NEXT: func.return [[D]]
  // SMALL: func.call @double
  // SMALL: func.call @double
  %0 = func.call @double(%y) : (f32) -> f32
  %1 = func.call @double(%0) : (f32) -> f32
  return %1 : f32
}

// -----

// A function of any size, if it is called once; functions in functions; several results, some of them
// parameters; calls in branches, loops, functions and graphs.
// CHECK-LABEL: @nested
// SMALL-LABEL: @nested
// SMALL-NEXT: scf.if
// SMALL-NEXT:   math.exp
func.func @nested(%c : i1, %y : f32) -> (f32, f32) {
  // CHECK-NEXT: [[R:%.*]], [[S:%.*]] = scf.if %c
  // CHECK-NEXT:   [[A:%.*]] = math.exp %y
  // CHECK-NEXT:   [[B:%.*]] = math.tanh [[A]]
  // CHECK-NEXT:   [[C:%.*]] = math.exp [[B]]
  // CHECK-NEXT:   [[D:%.*]] = math.exp [[C]]
  // CHECK-NEXT:   scf.yield %y, [[D]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   [[E:%.*]] = math.sqrt %y
  // CHECK-NEXT:   scf.yield [[E]], %y
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return [[R]], [[S]]
  %0, %1 = scf.if %c -> (f32, f32) {
    %2, %3 = func.call @swap(%y, %y) : (f32, f32) -> (f32, f32)
    scf.yield %2, %3 : f32, f32
  } else {
    %4 = math.sqrt %y : f32
    scf.yield %4, %y : f32, f32
  }
  return %0, %1 : f32, f32
}
func.func private @swap(%x : f32, %y : f32) -> (f32, f32) {
  %0 = func.call @large(%x) : (f32) -> f32
  return %y, %0 : f32, f32
}
func.func private @large(%x : f32) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.tanh %0 : f32
  %2 = math.exp %1 : f32
  %3 = math.exp %2 : f32
  return %3 : f32
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

// A public function is copied, and stays. Must not fire: a declaration.
// CHECK: func.func @public
// CHECK-NEXT: "test.op"() {a}
// CHECK: func.func @main
// CHECK-NEXT: "test.op"() {a}
// CHECK-NEXT: func.call @declared
// CHECK-NEXT: func.return
func.func @public() {
  "test.op"() {a} : () -> ()
  return
}
func.func private @declared()
func.func @main() {
  func.call @public() : () -> ()
  func.call @declared() : () -> ()
  return
}

// -----

// Private functions that nothing calls are removed, with what only they call.
// CHECK: module
// CHECK-NEXT: }
func.func private @unused() {
  func.call @of_unused() : () -> ()
  return
}
func.func private @of_unused() {
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

// A body of several blocks splits the block of the call; a second call, the rest of it.
// CHECK: func.func @main
// CHECK-NEXT: cf.cond_br %c, ^[[J:.*]](%x : i32), ^[[E:.*]]
// CHECK-NEXT: ^[[E]]:
// CHECK-NEXT: %[[M:.*]] = arith.muli %x, %x
// CHECK-NEXT: cf.br ^[[J]](%[[M]] : i32)
// CHECK-NEXT: ^[[J]](%[[A:.*]]: i32):
// CHECK-NEXT: %[[S:.*]] = arith.addi %[[A]], %x
// CHECK-NEXT: cf.cond_br %c, ^[[K:.*]](%[[S]] : i32), ^
// CHECK: arith.muli %[[S]], %[[S]]
// CHECK: ^[[K]](%[[B:.*]]: i32):
// CHECK-NEXT: func.return %[[B]]
func.func private @blocks(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %x : i32
^bb2:
  %0 = arith.muli %x, %x : i32
  return %0 : i32
}
func.func @main(%c: i1, %x: i32) -> i32 {
  %0 = func.call @blocks(%c, %x) : (i1, i32) -> i32
  %1 = arith.addi %0, %x : i32
  %2 = func.call @blocks(%c, %1) : (i1, i32) -> i32
  return %2 : i32
}

// -----

// Must not fire: several blocks where one may stand only.
// CHECK: scf.if
// CHECK-NEXT: func.call @blocks
func.func private @blocks() {
  "test.op"() : () -> ()
  cf.br ^bb1
^bb1:
  "test.op"() : () -> ()
  cf.br ^bb1
^bb2:
  return
}
func.func @main(%c: i1) {
  scf.if %c {
    func.call @blocks() : () -> ()
  }
  return
}

// -----

// Must not fire: no_inline, of a call and of a function.
// CHECK: func.func @main
// CHECK-NEXT: func.call @f
// CHECK-NEXT: func.call @never
// CHECK-NEXT: func.return
func.func @f() {
  return
}
func.func @never() attributes {no_inline} {
  return
}
func.func @main() {
  func.call @f() {no_inline} : () -> ()
  func.call @never() : () -> ()
  return
}

// -----

// Must not fire: the same in generic form, where it is a property.
// CHECK: func.func @main
// CHECK-NEXT: func.call @f() {no_inline}
// CHECK-NEXT: func.call @never()
// CHECK-NEXT: func.return
func.func @f() {
  return
}
"func.func"() <{function_type = () -> (), no_inline, sym_name = "never"}> ({
  "func.return"() : () -> ()
}) : () -> ()
func.func @main() {
  "func.call"() <{callee = @f, no_inline}> : () -> ()
  "func.call"() <{callee = @never}> : () -> ()
  return
}

// -----

// Functions and calls of other dialects.
// CHECK: llvm.func @main
// CHECK-NEXT: llvm.add %{{.*}}, %{{.*}}
// CHECK-NEXT: llvm.return
// CHECK: func.func @invokes
// CHECK-NEXT: math.exp
// CHECK-NEXT: func.return
llvm.func @main(%x: i32) -> i32 {
  %0 = "llvm.call"(%x) <{callee = @twice, operandSegmentSizes = array<i32: 1, 0>, op_bundle_sizes = array<i32>, fastmathFlags = #llvm.fastmath<none>, CConv = #llvm.cconv<ccc>, TailCallKind = #llvm.tailcallkind<none>}> : (i32) -> i32
  llvm.return %0 : i32
}
llvm.func @twice(%x: i32) -> i32 {
  %0 = llvm.add %x, %x : i32
  llvm.return %0 : i32
}
func.func @invokes(%x: f32) -> f32 {
  %f = relax.lambda(%y: f32) -> f32 {
    %0 = math.exp %y : f32
    relax.yield %0 : f32
  }
  %1 = relax.invoke %f(%x) : (f32) -> f32
  return %1 : f32
}

// -----

// A call in a nested module means a function of that one.
// CHECK: func.func @inner
// CHECK-NEXT: "test.op"() {nested}
// CHECK-NEXT: func.return
func.func private @f() {
  "test.op"() {outer} : () -> ()
  return
}
func.func @main() {
  builtin.module {
    func.func private @f() {
      "test.op"() {nested} : () -> ()
      return
    }
    func.func @inner() {
      func.call @f() : () -> ()
      return
    }
  }
  return
}

// -----

// Functions are made canonical by `canonicalize` as the tool runs it, which ends on cycles of blocks
// that only branch.
// CHECK-LABEL: func.func @cycle
// CHECK-NEXT:    cf.br ^bb1
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    cf.br ^bb1
func.func @cycle() {
  cf.br ^bb1
^bb1:
  cf.br ^bb2
^bb2:
  cf.br ^bb1
}
