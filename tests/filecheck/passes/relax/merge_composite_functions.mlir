// RUN: passline-opt %s -p merge-composite-functions --split-input-file | filecheck %s

// Neighbours become one function, also where a value is used outside too; constants stay outside.
// CHECK-LABEL: @chain
// CHECK-NEXT: [[C:%.*]] = relax.constant
// CHECK-NEXT: [[R:%.*]], [[S:%.*]] = func.call @a_region(%x, [[C]])
// CHECK-NEXT: [[E:%.*]] = relax.exp [[R]]
// CHECK-NEXT: func.return [[E]], [[S]]
// CHECK: func.func private @a_region(%x: tensor<4xf32>, %{{.*}}: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {relax.codegen = "a"} {
// CHECK-NEXT: [[T:%.*]] = func.call @tanh(%x)
// CHECK-NEXT: [[U:%.*]] = func.call @add([[T]], {{%.*}})
// CHECK-NEXT: func.return [[T]], [[U]]
func.func @chain(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = relax.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = func.call @tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @add(%0, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
func.func private @tanh(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "a.tanh"} {
  %0 = relax.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @add(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "a.add"} {
  %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A call that depends on another through an operation outside is not merged with it: the operation
// would have to run between the two halves of one call.
// CHECK-LABEL: @cycle
// CHECK-NEXT: [[A:%.*]] = func.call @a_region(%x)
// CHECK-NEXT: [[E:%.*]] = relax.exp [[A]]
// CHECK-NEXT: [[B:%.*]] = func.call @a_region1([[A]], [[E]])
// CHECK-NEXT: func.return [[B]]
func.func @cycle(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @add(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @tanh(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "a.tanh"} {
  %0 = relax.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @add(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "a.add"} {
  %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Functions for different back ends are not merged, nor across a function for another one.
// CHECK-LABEL: @codegens
// CHECK-NEXT: [[A:%.*]] = func.call @a_region(%x)
// CHECK-NEXT: [[B:%.*]] = func.call @b_region([[A]])
// CHECK-NEXT: [[C:%.*]] = func.call @a_region1([[A]], [[B]])
// CHECK-NEXT: func.return [[C]]
func.func @codegens(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @other(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @add(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @tanh(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "a.tanh"} {
  %0 = relax.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @other(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "b.tanh"} {
  %0 = relax.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @add(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "a.add"} {
  %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A function that is called twice, by calls that are no neighbours, stays one function: equal
// regions share theirs, too.
// CHECK-LABEL: @twice
// CHECK-NEXT: [[A:%.*]] = func.call @a_region(%x)
// CHECK-NEXT: [[B:%.*]] = relax.exp [[A]]
// CHECK-NEXT: [[C:%.*]] = func.call @a_region([[B]])
// CHECK-NEXT: func.return [[C]]
// CHECK: func.func private @tanh
// CHECK: func.func private @a_region
// CHECK-NOT: @a_region1
func.func @twice(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @tanh(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @tanh(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "a.tanh"} {
  %0 = relax.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A cycle of two groups: each use of the other's results alone would be no cycle.
// CHECK-LABEL: @crossing
// CHECK-NEXT: [[A:%.*]] = func.call @a_region(%x)
// CHECK-NEXT: [[C:%.*]], [[B:%.*]] = func.call @b_region(%x, [[A]])
// CHECK-NEXT: [[D:%.*]] = func.call @a_region1([[A]], [[C]])
// CHECK-NEXT: func.return [[B]], [[D]]
func.func @crossing(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = func.call @a(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @b(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @b(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = func.call @a(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}
func.func private @a(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "a.add"} {
  %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @b(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "b.add"} {
  %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Operations with effects stay in their order: the call between them cannot be delayed.
// CHECK-LABEL: @effects
// CHECK-NEXT: [[A:%.*]] = func.call @a_region(%x)
// CHECK-NEXT: "test.op"([[A]])
// CHECK-NEXT: [[B:%.*]] = "test.op"() : () -> tensor<4xf32>
// CHECK-NEXT: [[C:%.*]] = func.call @a_region1([[A]], [[B]])
// CHECK-NEXT: "test.op"([[C]])
func.func @effects(%x : tensor<4xf32>) {
  %0 = func.call @add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%0) : (tensor<4xf32>) -> ()
  %1 = "test.op"() : () -> tensor<4xf32>
  %2 = func.call @add(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  "test.op"(%2) : (tensor<4xf32>) -> ()
  return
}
func.func private @add(%x : tensor<4xf32>, %y : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "a.add"} {
  %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Calls stay whose callee has no back end in its name, is no composite function or has effects, and
// calls without a used result. Blocks are apart.
// CHECK-LABEL: @stay
// CHECK-NEXT: [[A:%.*]] = func.call @nameless(%x)
// CHECK-NEXT: [[B:%.*]] = func.call @plain([[A]])
// CHECK-NEXT: [[C:%.*]] = func.call @prints([[B]])
// CHECK-NEXT: func.call @tanh([[C]])
// CHECK-NEXT: [[D:%.*]] = func.call @a_region([[C]])
// CHECK-NEXT: [[E:%.*]] = scf.if %c
// CHECK-NEXT:   [[F:%.*]] = func.call @a_region([[D]])
func.func @stay(%c : i1, %x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @nameless(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @plain(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @prints(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = func.call @tanh(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = func.call @tanh(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = scf.if %c -> (tensor<4xf32>) {
    %6 = func.call @tanh(%4) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %6 : tensor<4xf32>
  } else {
    scf.yield %4 : tensor<4xf32>
  }
  return %5 : tensor<4xf32>
}
func.func private @nameless(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "tanh"} {
  return %x : tensor<4xf32>
}
func.func private @plain(%x : tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @prints(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "a.print"} {
  "test.op"() : () -> ()
  return %x : tensor<4xf32>
}
func.func private @tanh(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive, relax.composite = "a.tanh"} {
  %0 = relax.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
