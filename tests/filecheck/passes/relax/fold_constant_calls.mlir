// RUN: passline-opt %s -p fold-constant --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'fold-constant{max-steps=20}' --split-input-file | filecheck %s --check-prefix=STEPS
// RUN: passline-opt %s -p 'fold-constant{max-elements=3}' --split-input-file | filecheck %s --check-prefix=ELEMENTS

// Kernels on constants are replaced by their results, one after the other; other calls stay.
// CHECK-LABEL: @kernels
// CHECK-NEXT: [[A:%.*]] = relax.constant dense<[4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: [[B:%.*]] = relax.call_tir @add_two(%x)
// CHECK-NEXT: func.return [[A]], [[B]]
// STEPS-LABEL: @kernels
// STEPS: relax.call_tir @add_two
// ELEMENTS-LABEL: @kernels
// ELEMENTS: relax.call_tir @add_two
func.func @kernels(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = relax.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %0 = relax.call_tir @add_two(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.call_tir @add_two(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.call_tir @add_two(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
tir.prim_func private @add_two(%a : memref<4xf32>, %b : memref<4xf32>) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %two = arith.constant 2.0 : f32
  tir.for %i = %zero extent %four {
    %0 = memref.load %a[%i] : memref<4xf32>
    %1 = arith.addf %0, %two : f32
    memref.store %1, %b[%i] : memref<4xf32>
  }
}

// -----

// A kernel with several results, integers and a scalar argument.
// CHECK-LABEL: @results
// CHECK-NEXT: [[A:%.*]] = relax.constant dense<[7, 8]> : tensor<2xi32>
// CHECK-NEXT: [[B:%.*]] = relax.constant dense<true> : tensor<i1>
// CHECK-NEXT: func.return [[A]], [[B]]
func.func @results() -> (tensor<2xi32>, tensor<i1>) {
  %c = relax.constant dense<[2, 3]> : tensor<2xi32>
  %five = arith.constant 5 : i32
  %0, %1 = relax.call_tir @kernel(%c, %five) : (tensor<2xi32>, i32) -> (tensor<2xi32>, tensor<i1>)
  return %0, %1 : tensor<2xi32>, tensor<i1>
}
tir.prim_func private @kernel(%a : memref<2xi32>, %n : i32, %b : memref<2xi32>, %c : memref<i1>) attributes {tir.outputs = 2} {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %true = arith.constant true
  tir.for %i = %zero extent %two {
    %0 = memref.load %a[%i] : memref<2xi32>
    %1 = arith.addi %0, %n : i32
    memref.store %1, %b[%i] : memref<2xi32>
  }
  memref.store %true, %c[] : memref<i1>
}

// -----

// Calls of pure functions, which may call others, and of functions on scalars.
// CHECK-LABEL: @functions
// CHECK-NEXT: [[A:%.*]] = relax.constant dense<[4.000000e+00, 8.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: [[B:%.*]] = arith.constant 120 : i32
// CHECK-NEXT: [[C:%.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: [[D:%.*]] = arith.constant 4 : index
// CHECK-NEXT: func.return [[A]], [[B]], [[C]], [[D]]
func.func @functions() -> (tensor<2xf32>, i32, f32, index) {
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = func.call @quadruple(%c) : (tensor<2xf32>) -> tensor<2xf32>
  %five = arith.constant 5 : i32
  %1 = func.call @factorial(%five) : (i32) -> i32
  %half = arith.constant 0.5 : f32
  %2 = func.call @half(%half) : (f32) -> f32
  %two = arith.constant 2 : index
  %3 = func.call @index(%two) : (index) -> index
  return %0, %1, %2, %3 : tensor<2xf32>, i32, f32, index
}
func.func private @quadruple(%x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = func.call @twice(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @twice(%x : tensor<2xf32>) -> tensor<2xf32> attributes {relax.primitive} {
  %0 = relax.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @factorial(%n : i32) -> i32 {
  %one = arith.constant 1 : i32
  %0 = arith.cmpi sle, %n, %one : i32
  %1 = scf.if %0 -> (i32) {
    scf.yield %one : i32
  } else {
    %2 = arith.subi %n, %one : i32
    %3 = func.call @factorial(%2) : (i32) -> i32
    %4 = arith.muli %n, %3 : i32
    scf.yield %4 : i32
  }
  return %1 : i32
}
func.func private @half(%x : f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}
func.func private @index(%x : index) -> index {
  %0 = arith.muli %x, %x : index
  return %0 : index
}

// -----

// Calls stay of functions that have effects or are only declared, without operands, with an operand
// that is no constant, and of functions for another compiler.
// UNCHANGED: @stay
func.func @stay(%x : tensor<2xf32>) {
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = func.call @effect(%c) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = func.call @declared(%c) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = func.call @empty() : () -> tensor<2xf32>
  %3 = func.call @add(%c, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = func.call @elsewhere(%c) : (tensor<2xf32>) -> tensor<2xf32>
  %5 = relax.call_tir @missing(%c) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
func.func private @effect(%x : tensor<2xf32>) -> tensor<2xf32> {
  "test.op"() : () -> ()
  return %x : tensor<2xf32>
}
func.func private @declared(tensor<2xf32>) -> tensor<2xf32> attributes {relax.pure}
func.func private @empty() -> tensor<2xf32> {
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %c : tensor<2xf32>
}
func.func private @add(%x : tensor<2xf32>, %y : tensor<2xf32>) -> tensor<2xf32> {
  return %y : tensor<2xf32>
}
func.func private @elsewhere(%x : tensor<2xf32>) -> tensor<2xf32> attributes {relax.composite = "vendor.op"} {
  return %x : tensor<2xf32>
}
tir.prim_func private @missing(memref<2xf32>, memref<2xf32>)

// -----

// Calls stay that cannot be evaluated: an index out of range, a failed assertion, a division by
// zero, recursion or a loop without an end.
// UNCHANGED: @fail
func.func @fail() -> (tensor<1xi32>, tensor<1xf32>, i32, i32, i1) {
  %i = relax.constant dense<5> : tensor<1xi64>
  %0 = func.call @out_of_range(%i) : (tensor<1xi64>) -> tensor<1xi32>
  %c = relax.constant dense<1.0> : tensor<1xf32>
  %1 = relax.call_tir @asserts(%c) : (tensor<1xf32>) -> tensor<1xf32>
  %zero = arith.constant 0 : i32
  %2 = func.call @divide(%zero) : (i32) -> i32
  %3 = func.call @recursive(%zero) : (i32) -> i32
  %true = arith.constant true
  %4 = func.call @endless(%true) : (i1) -> i1
  return %0, %1, %2, %3, %4 : tensor<1xi32>, tensor<1xf32>, i32, i32, i1
}
func.func private @out_of_range(%i : tensor<1xi64>) -> tensor<1xi32> {
  %0 = relax.constant dense<[1, 2]> : tensor<2xi32>
  %1 = relax.gather %0, %i : (tensor<2xi32>, tensor<1xi64>) -> tensor<1xi32>
  return %1 : tensor<1xi32>
}
tir.prim_func private @asserts(%a : memref<1xf32>, %b : memref<1xf32>) {
  %false = arith.constant false
  cf.assert %false, "never"
}
func.func private @divide(%n : i32) -> i32 {
  %0 = arith.divsi %n, %n : i32
  return %0 : i32
}
func.func private @recursive(%n : i32) -> i32 {
  %0 = func.call @recursive(%n) : (i32) -> i32
  return %0 : i32
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

// Fills are not expanded; results of unknown shape, tuples and buffers are no constants.
// UNCHANGED: @shapes
func.func @shapes() -> (tensor<2xf32>, tensor<?xf32>, tuple<tensor<2xf32>, tensor<2xf32>>) {
  %f = relax.full 1.0 : tensor<2xf32>
  %0 = func.call @double(%f) : (tensor<2xf32>) -> tensor<2xf32>
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = func.call @unknown(%c) : (tensor<2xf32>) -> tensor<?xf32>
  %2 = func.call @pair(%c) : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  return %0, %1, %2 : tensor<2xf32>, tensor<?xf32>, tuple<tensor<2xf32>, tensor<2xf32>>
}
func.func private @double(%x : tensor<2xf32>) -> tensor<2xf32> {
  %0 = relax.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @unknown(%x : tensor<2xf32>) -> tensor<?xf32> {
  %0 = relax.match_cast %x : (tensor<2xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @pair(%x : tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
  %0 = relax.tuple %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  return %0 : tuple<tensor<2xf32>, tensor<2xf32>>
}
