// RUN: passline-opt %s -p relax-topological-sort | filecheck %s
// RUN: passline-opt %s -p relax-topological-sort{direction=from-outputs} | filecheck %s --check-prefix=OUT
// RUN: passline-opt %s -p relax-topological-sort{order=breadth-first} | filecheck %s --check-prefix=WIDE

// Each branch is computed up to its end before the next one. An operation without operands, such
// as a constant, stands before its first user.
// CHECK-LABEL: @branches
// CHECK-NEXT: [[ONE:%.*]] = relax.constant dense<1.0{{.*}}>
// CHECK-NEXT: [[B:%.*]] = relax.add %a, [[ONE]]
// CHECK-NEXT: [[C:%.*]] = relax.exp [[B]]
// CHECK-NEXT: [[TWO:%.*]] = relax.constant dense<2.0{{.*}}>
// CHECK-NEXT: [[D:%.*]] = relax.add %a, [[TWO]]
// CHECK-NEXT: [[E:%.*]] = relax.sin [[D]]
// CHECK-NEXT: [[F:%.*]] = relax.add [[C]], [[E]]
// CHECK-NEXT: func.return [[F]]

// OUT-LABEL: @branches
// OUT: relax.constant dense<1.0{{.*}}>
// OUT-NEXT: relax.add
// OUT-NEXT: relax.exp
// OUT-NEXT: relax.constant dense<2.0{{.*}}>
// OUT-NEXT: relax.add
// OUT-NEXT: relax.sin
// OUT-NEXT: relax.add

// WIDE-LABEL: @branches
// WIDE-NEXT: relax.constant dense<1.0{{.*}}>
// WIDE-NEXT: relax.constant dense<2.0{{.*}}>
// WIDE-NEXT: relax.add
// WIDE-NEXT: relax.add
// WIDE-NEXT: relax.exp
// WIDE-NEXT: relax.sin
// WIDE-NEXT: relax.add
func.func @branches(%a: tensor<4xf32>) -> tensor<4xf32> {
  %one = relax.constant dense<1.0> : tensor<4xf32>
  %two = relax.constant dense<2.0> : tensor<4xf32>
  %0 = relax.add %a, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.add %a, %two : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.sin %1 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.add %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}

// From the outputs, the order of operands decides; unused operations stay.
// OUT-LABEL: @outputs
// OUT-NEXT: [[D:%.*]] = relax.sin %a
// OUT-NEXT: relax.sqrt [[D]]
// OUT-NEXT: [[B:%.*]] = relax.exp %a
// OUT-NEXT: [[C:%.*]] = relax.negative [[B]]
// OUT-NEXT: [[E:%.*]] = relax.negative [[D]]
// OUT-NEXT: func.return [[C]], [[E]]
func.func @outputs(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = relax.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.sin %a : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.sqrt %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.negative %1 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %4, %3 : tensor<4xf32>, tensor<4xf32>
}

// The body of a loop; a value that an operation in a region uses is used by the one around it.
// CHECK-LABEL: @loop
// CHECK: scf.for
// CHECK-NEXT: [[B:%.*]] = relax.exp
// CHECK-NEXT: scf.if %c
// CHECK: [[D:%.*]] = relax.sin
// CHECK-NEXT: [[E:%.*]] = relax.negative [[D]]
// CHECK-NEXT: relax.add
func.func @loop(%a: tensor<4xf32>, %c: i1, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (tensor<4xf32>) {
    %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = relax.sin %x : (tensor<4xf32>) -> tensor<4xf32>
    %2 = relax.negative %1 : (tensor<4xf32>) -> tensor<4xf32>
    %3 = scf.if %c -> (tensor<4xf32>) {
      %4 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %4 : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    %5 = relax.add %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %5 : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// Must not fire: calls with effects keep their order.
func.func private @effect(tensor<4xf32>) -> tensor<4xf32>
// UNCHANGED: @effects
func.func @effects(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @effect(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @effect(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.add %1, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// Must not fire: a graph has no order, and a kernel is not looked into.
// UNCHANGED: @graph
func.func @graph(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.graph -> tensor<4xf32> {
    %1 = relax.negative %2 : (tensor<4xf32>) -> tensor<4xf32>
    %2 = relax.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    relax.output %1 : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}

// UNCHANGED: @kernel
func.func private @kernel(%a: tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive} {
  %0 = relax.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.sin %a : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.add %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}
