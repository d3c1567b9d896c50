// RUN: passline-opt %s -p plan-memory --split-input-file | filecheck %s

// A value that is computed after the last read of the old one is computed in its place; the initial
// value too, if it has no other use.
// CHECK-LABEL: @in_place
func.func private @k(memref<64xf32>, memref<64xf32>)
func.func private @go(memref<64xf32>, memref<i1>)
func.func @in_place(%x : tensor<64xf32>) -> tensor<64xf32> {
  // CHECK-NOT: memref.copy
  // CHECK: func.call @k(%x, %result0)
  // CHECK: scf.while () : () -> () {
  // CHECK-NEXT: func.call @go(%result0, [[C:%.*]]) :
  // CHECK-NEXT: [[B:%.*]] = memref.load [[C]][]
  // CHECK-NEXT: scf.condition([[B]])
  // CHECK-NEXT: } do {
  // CHECK-NEXT: func.call @k(%result0, [[H:%.*]]) :
  // CHECK-NEXT: func.call @k([[H]], %result0) :
  // CHECK-NEXT: scf.yield
  %i = relax.call_tir @k(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %0 = scf.while (%a = %i) : (tensor<64xf32>) -> tensor<64xf32> {
    %c = relax.call_tir @go(%a) : (tensor<64xf32>) -> tensor<i1>
    %b = tensor.extract %c[] : tensor<i1>
    scf.condition(%b) %a : tensor<64xf32>
  } do {
  ^bb0(%a : tensor<64xf32>):
    %h = relax.call_tir @k(%a) : (tensor<64xf32>) -> tensor<64xf32>
    %n = relax.call_tir @k(%h) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield %n : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// -----

// Must not be computed in place: the old value is read by the call that computes the new one. The
// initial value is copied: it is a parameter.
// CHECK-LABEL: @second_buffer
func.func private @k(memref<64xf32>, memref<64xf32>)
func.func @second_buffer(%x : tensor<64xf32>, %n : index) -> tensor<64xf32> {
  // CHECK: "memref.copy"(%x, %result0)
  // CHECK: scf.for
  // CHECK-NEXT: func.call @k(%result0, [[N:%.*]]) :
  // CHECK-NEXT: "memref.copy"([[N]], %result0)
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<64xf32>) {
    %y = relax.call_tir @k(%a) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield %y : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// Values that exchange their places: one is saved. What is passed on unchanged is not copied.
// CHECK-LABEL: @exchange
func.func @exchange(%x : tensor<64xf32>, %y : tensor<64xf32>, %n : index) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  // CHECK: scf.for
  // CHECK-NEXT: "memref.copy"([[B:%.*]], [[T:%.*]]) :
  // CHECK-NEXT: "memref.copy"([[A:%.*]], [[B]]) :
  // CHECK-NEXT: "memref.copy"([[T]], [[A]]) :
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %y) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    scf.yield %b, %a, %c : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  return %0#0, %0#1, %0#2 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// A value that is yielded twice is computed in one of the buffers, and copied to the other.
// CHECK-LABEL: @twice
func.func private @k(memref<64xf32>, memref<64xf32>)
func.func @twice(%x : tensor<64xf32>, %n : index) -> (tensor<64xf32>, tensor<64xf32>) {
  // CHECK: scf.for
  // CHECK-NEXT: func.call @k(%x, %result0) :
  // CHECK-NEXT: "memref.copy"(%result0, %result1) :
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<64xf32>, tensor<64xf32>) {
    %y = relax.call_tir @k(%x) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield %y, %y : tensor<64xf32>, tensor<64xf32>
  }
  return %0#0, %0#1 : tensor<64xf32>, tensor<64xf32>
}

// -----

// A buffer from outside lives to the end of the loop: no buffer of the loop may take its bytes,
// though its only use comes before theirs.
// CHECK-LABEL: @outside
func.func private @k(memref<64xf32>, memref<64xf32>)
func.func private @two(memref<64xf32>, memref<64xf32>, memref<64xf32>)
func.func @outside(%x : tensor<64xf32>, %n : index) -> tensor<64xf32> {
  // CHECK: memref.alloc() {alignment = 64 : i64} : memref<768xi8>
  // CHECK: func.call @k(%x, [[W:%.*]]) :
  // CHECK: scf.for
  // CHECK-NEXT: func.call @two(%result0, [[W]], [[A:%.*]]) :
  // CHECK-NEXT: func.call @k([[A]], [[B:%.*]]) :
  // CHECK-NEXT: func.call @k([[B]], %result0) :
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = relax.call_tir @k(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<64xf32>) {
    %y = relax.call_tir @two(%a, %w) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %z = relax.call_tir @k(%y) : (tensor<64xf32>) -> tensor<64xf32>
    %v = relax.call_tir @k(%z) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield %v : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// -----

// A call in place may overwrite what the loop carries, if it is the last use; if it is not, there
// is a copy.
// CHECK-LABEL: @call_in_place
func.func private @add_to(memref<64xf32>)
func.func private @k(memref<64xf32>, memref<64xf32>)
func.func @call_in_place(%x : tensor<64xf32>, %n : index) -> (tensor<64xf32>, tensor<64xf32>) {
  // CHECK: scf.for
  // CHECK-NEXT: func.call @add_to(%result0) :
  // CHECK-NEXT: "memref.copy"(%result1, [[B:%.*]]) :
  // CHECK-NEXT: func.call @add_to([[B]]) :
  // CHECK-NEXT: func.call @k(%result1, [[Y:%.*]]) :
  // CHECK-NEXT: func.call @k([[Y]], %result1) :
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<64xf32>, tensor<64xf32>) {
    %p = relax.call_tir_inplace @add_to(%a) {inplace_indices = array<i64: 0>} : (tensor<64xf32>) -> tensor<64xf32>
    %q = relax.call_tir_inplace @add_to(%b) {inplace_indices = array<i64: 0>} : (tensor<64xf32>) -> tensor<64xf32>
    %y = relax.call_tir @k(%b) : (tensor<64xf32>) -> tensor<64xf32>
    %z = relax.call_tir @k(%y) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield %p, %z : tensor<64xf32>, tensor<64xf32>
  }
  return %0#0, %0#1 : tensor<64xf32>, tensor<64xf32>
}
