// RUN: passline-opt %s -p dead-code-elimination --split-input-file | filecheck %s
// RUN: passline-opt %s -p fuse-ops,dead-code-elimination --split-input-file | filecheck %s --check-prefix=FUSED

// Unused calls of functions without effects go, and the functions with them; so does an unused kernel
// after fuse-ops.
// CHECK-LABEL: @kernels
// CHECK-NEXT: [[A:%.*]] = relax.exp %x
// CHECK-NEXT: func.return [[A]]
// CHECK-NOT: @twice
// CHECK-NOT: @once
// FUSED-LABEL: @kernels
// FUSED-NEXT: [[A:%.*]] = func.call @fused_exp(%x)
// FUSED-NEXT: func.return [[A]]
// FUSED: func.func private @fused_exp
// FUSED-NOT: private
// FUSED-LABEL: @effects
func.func @kernels(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @once(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @twice(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive} {
  %0 = func.call @once(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @once(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive} {
  %0 = relax.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A call of a function with effects stays, at any depth of calls, with its operands. So does a call
// of a function that is only declared.
// CHECK-LABEL: @effects
// CHECK-NEXT: [[A:%.*]] = relax.exp %x
// CHECK-NEXT: func.call @outer([[A]])
// CHECK-NEXT: func.call @declared([[A]])
// CHECK-NEXT: func.return
func.func @effects(%x : tensor<4xf32>) {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @outer(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @declared(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func private @outer(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @inner(%x : tensor<4xf32>) -> tensor<4xf32> {
  "test.op"() : () -> ()
  return %x : tensor<4xf32>
}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

// -----

// An assertion and a call of a function value may have effects.
// UNCHANGED: @unknown
func.func @unknown(%c : i1, %x : tensor<f32>) {
  func.call @asserts(%c) : (i1) -> ()
  %f = relax.lambda() -> tensor<f32> {
    relax.yield %x : tensor<f32>
  }
  %0 = func.call @invokes(%f) : (() -> tensor<f32>) -> tensor<f32>
  return
}
func.func private @asserts(%c : i1) {
  cf.assert %c, "no"
  return
}
func.func private @invokes(%f : () -> tensor<f32>) -> tensor<f32> {
  %0 = relax.invoke %f() : () -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// `relax.pure` declares what a function does, also one without a body.
// CHECK-LABEL: @declarations
// CHECK-NEXT: func.call @keep
// CHECK-NEXT: func.return
func.func @declarations(%x : tensor<f32>) {
  %0 = func.call @library(%x) : (tensor<f32>) -> tensor<f32>
  %1 = func.call @traced(%x) : (tensor<f32>) -> tensor<f32>
  %2 = func.call @keep(%x) : (tensor<f32>) -> tensor<f32>
  return
}
func.func private @library(tensor<f32>) -> tensor<f32> attributes {relax.pure}
func.func private @traced(%x : tensor<f32>) -> tensor<f32> attributes {relax.pure = true} {
  "test.op"() : () -> ()
  return %x : tensor<f32>
}
func.func private @keep(%x : tensor<f32>) -> tensor<f32> attributes {relax.pure = false} {
  return %x : tensor<f32>
}

// -----

// Functions that call each other have the effects of all of them; termination is none.
// CHECK-LABEL: @recursive
// CHECK-NEXT: func.call @ping
// CHECK-NEXT: func.return
func.func @recursive(%c : i1) {
  %0 = func.call @even(%c) : (i1) -> i1
  %1 = func.call @ping(%c) : (i1) -> i1
  %2 = func.call @endless(%c) : (i1) -> i1
  return
}
func.func private @even(%c : i1) -> i1 {
  %0 = func.call @odd(%c) : (i1) -> i1
  return %0 : i1
}
func.func private @odd(%c : i1) -> i1 {
  %0 = scf.if %c -> (i1) {
    %1 = func.call @even(%c) : (i1) -> i1
    scf.yield %1 : i1
  } else {
    scf.yield %c : i1
  }
  return %0 : i1
}
func.func private @ping(%c : i1) -> i1 {
  %0 = func.call @pong(%c) : (i1) -> i1
  return %0 : i1
}
func.func private @pong(%c : i1) -> i1 {
  %0 = scf.if %c -> (i1) {
    %1 = func.call @ping(%c) : (i1) -> i1
    scf.yield %1 : i1
  } else {
    "test.op"() : () -> ()
    scf.yield %c : i1
  }
  return %0 : i1
}
func.func private @endless(%c : i1) -> i1 {
  %0 = scf.while (%a = %c) : (i1) -> i1 {
    scf.condition(%c) %a : i1
  } do {
  ^bb0(%b : i1):
    scf.yield %b : i1
  }
  return %0 : i1
}

// -----

// Memory of the function's own is no effect; that of the caller is, and memory that is returned.
// CHECK-LABEL: @memory
// CHECK-NEXT: func.call @writes
// CHECK-NEXT: func.call @allocates
// CHECK-NEXT: func.return
func.func @memory(%m : memref<4xf32>, %i : index) {
  %0 = func.call @own(%i) : (index) -> f32
  %1 = func.call @reads(%m, %i) : (memref<4xf32>, index) -> f32
  func.call @writes(%m, %i) : (memref<4xf32>, index) -> ()
  %2 = func.call @allocates() : () -> memref<4xf32>
  return
}
func.func private @own(%i : index) -> f32 {
  %0 = memref.alloc() : memref<4xf32>
  %1 = "memref.cast"(%0) : (memref<4xf32>) -> memref<?xf32>
  %2 = arith.constant 1.0 : f32
  memref.store %2, %1[%i] : memref<?xf32>
  %3 = memref.load %0[%i] : memref<4xf32>
  memref.dealloc %0 : memref<4xf32>
  return %3 : f32
}
func.func private @reads(%m : memref<4xf32>, %i : index) -> f32 {
  %0 = memref.load %m[%i] : memref<4xf32>
  return %0 : f32
}
func.func private @writes(%m : memref<4xf32>, %i : index) {
  %0 = arith.constant 1.0 : f32
  memref.store %0, %m[%i] : memref<4xf32>
  return
}
func.func private @allocates() -> memref<4xf32> {
  %0 = memref.alloc() : memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

// A branch around a call has the effects of the call.
// CHECK-LABEL: @branches
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT: func.call @effect
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @branches(%c : i1) {
  scf.if %c {
    %0 = func.call @none(%c) : (i1) -> i1
  }
  scf.if %c {
    func.call @effect() : () -> ()
  }
  return
}
func.func private @none(%c : i1) -> i1 {
  return %c : i1
}
func.func private @effect() {
  "test.op"() : () -> ()
  return
}

// -----

// The name means the function next to the call, not the one of the same name outside.
// CHECK-LABEL: @inside
// CHECK-NEXT: func.call @same
// CHECK-NEXT: func.return
func.func @same(%c : i1) -> i1 {
  return %c : i1
}
builtin.module {
  func.func @inside(%c : i1) {
    %0 = func.call @same(%c) : (i1) -> i1
    return
  }
  func.func private @same(%c : i1) -> i1 {
    "test.op"() : () -> ()
    return %c : i1
  }
}
