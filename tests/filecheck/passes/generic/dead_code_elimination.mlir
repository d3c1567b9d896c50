// RUN: passline-opt %s -p dead-code-elimination --split-input-file | filecheck %s

// Whole chains of unused operations are removed; used operations stay.
// CHECK-LABEL: @chain
func.func @chain(%x : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: [[A:%.*]] = relax.exp %x
  // CHECK-NEXT: func.return [[A]]
  %0 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  %1 = relax.constant dense<1.0> : tensor<f32>
  %2 = relax.add %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = relax.add %2, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Another dialect's operations.
// CHECK-LABEL: @arith
func.func @arith(%x : i32) {
  // CHECK-NEXT: func.return
  %0 = arith.addi %x, %x : i32
  %1 = arith.muli %0, %x : i32
  return
}

// -----

// Operations with unknown or visible effects stay, with their operands; reading memory is no effect.
// CHECK-LABEL: @effects
func.func @effects(%m : memref<1xi32>, %i : index) {
  // CHECK-NEXT: [[C:%.*]] = arith.constant 1 : i32
  // CHECK-NEXT: "test.op"([[C]]) : (i32) -> i32
  // CHECK-NEXT: memref.store [[C]]
  // CHECK-NEXT: func.return
  %0 = arith.constant 1 : i32
  %1 = "test.op"(%0) : (i32) -> i32
  %2 = memref.load %m[%i] : memref<1xi32>
  memref.store %0, %m[%i] : memref<1xi32>
  return
}

// -----

// An unused call stays: the callee may have effects.
// UNCHANGED: @print
func.func private @print() -> i32
// UNCHANGED: @call
func.func @call() {
  %0 = func.call @print() : () -> i32
  return
}

// -----

// A branch without effects and with unused results is removed.
// CHECK-LABEL: @branches
func.func @branches(%c : i1, %x : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: scf.if %c {
  // CHECK-NEXT:   "test.op"() : () -> ()
  // CHECK-NEXT: }
  // CHECK-NEXT: [[A:%.*]] = scf.if
  // CHECK-NEXT:   relax.exp
  // CHECK-NEXT:   scf.yield
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return [[A]]
  scf.if %c {
    %0 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  }
  scf.if %c {
    %1 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    "test.op"() : () -> ()
  }
  %2 = scf.if %c -> (tensor<f32>) {
    %3 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    scf.yield %3 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  %4 = scf.if %c -> (tensor<f32>) {
    %5 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    scf.if %c {
    }
    scf.yield %5 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %2 : tensor<f32>
}

// -----

// An effect at any depth keeps all operations around it.
// UNCHANGED: @deep
func.func @deep(%c : i1) {
  scf.if %c {
    scf.if %c {
      "test.op"() : () -> ()
    }
  }
  return
}

// -----

// Unreachable private functions are removed, recursive ones too. Others stay.
// CHECK-NOT: @unused
// CHECK: func.func @public
// CHECK-NOT: @unused
// CHECK: func.func private @used
// CHECK-NOT: @unused
// CHECK: func.func private @also_used
// CHECK-NOT: @unused
func.func private @unused() {
  return
}
func.func @public() {
  func.call @used() : () -> ()
  return
}
func.func private @used() {
  func.call @also_used() : () -> ()
  return
}
func.func private @also_used() {
  "test.op"() : () -> ()
  func.call @used() : () -> ()
  return
}
func.func private @unused_recursive() {
  func.call @unused_recursive() : () -> ()
  return
}
func.func private @unused_declaration()

// -----

// Public functions stay.
// CHECK: @foo
// CHECK: @bar
func.func @foo() {
  return
}
func.func @bar() {
  return
}

// -----

// A function that only an unused operation refers to is removed; one that an attribute names stays.
// CHECK: "test.op"() {callees = [@named]}
// CHECK-NEXT: func.func private @named
func.func private @unnamed() {
  return
}
"test.op"() {callees = [@named]} : () -> ()
func.func private @named() {
  return
}

// -----

// With an undefined symbol no function is removed, but unused operations are.
// CHECK-NOT: arith.constant
// CHECK: func.func private @kept
"test.op"() {callee = @missing} : () -> ()
func.func private @kept() {
  %0 = arith.constant 1 : i32
  return
}

// -----

// An unused lambda is removed with its captured values, whatever its body does; a call stays, as it
// may have effects.
// CHECK-LABEL: @lambdas
func.func @lambdas(%x : tensor<f32>) {
  // CHECK-NEXT: [[F:%.*]] = relax.lambda() -> tensor<f32> {
  // CHECK-NEXT:   [[E:%.*]] = relax.exp %x
  // CHECK-NEXT:   relax.yield [[E]]
  // CHECK-NEXT: }
  // CHECK-NEXT: relax.invoke [[F]]()
  // CHECK-NEXT: func.return
  %f = relax.lambda() -> tensor<f32> {
    %0 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    %1 = relax.tanh %0 : (tensor<f32>) -> tensor<f32>
    relax.yield %0 : tensor<f32>
  }
  %2 = relax.invoke %f() : () -> tensor<f32>
  %3 = relax.tanh %x : (tensor<f32>) -> tensor<f32>
  %g = relax.lambda() {
    "test.op"(%3) : (tensor<f32>) -> ()
  }
  return
}

// -----

// Tuples, annotations and kernels whose results are unused.
// CHECK-LABEL: @values
func.func private @kernel(memref<f32>)
func.func @values(%x : tensor<f32>) {
  // CHECK-NEXT: func.return
  %0 = relax.call_tir @kernel() : () -> tensor<f32>
  %1 = relax.tuple %x, %0 : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  %2 = relax.tuple_get_item %1 {index = 0} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
  %3 = relax.stop_fusion %2 : (tensor<f32>) -> tensor<f32>
  %4 = relax.on_device %3 {device = #relax.device<cpu>} : (tensor<f32>) -> tensor<f32>
  %5 = relax.match_cast %4 : (tensor<f32>) -> tensor<*xf32>
  return
}

// -----

// In a graph, before or after the user, and in a lambda.
// CHECK-LABEL: @graphs
func.func @graphs(%x : tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: [[G:%.*]] = relax.graph -> tensor<f32> {
  // CHECK-NEXT:   [[A:%.*]] = relax.exp [[B:%.*]] :
  // CHECK-NEXT:   [[B]] = relax.tanh %x
  // CHECK-NEXT:   relax.output [[A]]
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return [[G]]
  %0 = relax.graph -> tensor<f32> {
    %1 = relax.exp %2 : (tensor<f32>) -> tensor<f32>
    %f = relax.lambda() -> tensor<f32> {
      %5 = relax.exp %4 : (tensor<f32>) -> tensor<f32>
      relax.yield %5 : tensor<f32>
    }
    %2 = relax.tanh %x : (tensor<f32>) -> tensor<f32>
    %3 = relax.exp %2 : (tensor<f32>) -> tensor<f32>
    %4 = relax.exp %3 : (tensor<f32>) -> tensor<f32>
    relax.output %1 : tensor<f32>
  }
  relax.graph {
    %6 = relax.exp %7 : (tensor<f32>) -> tensor<f32>
    %7 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// Kernels that are called stay, also if another kernel calls them.
// CHECK: module
// CHECK-NEXT: func.func private @kernel
// CHECK: func.func private @inner
// CHECK-NOT: @idle
func.func private @kernel(%a : memref<f32>) {
  func.call @inner() : () -> ()
  return
}
func.func private @inner()
func.func private @idle(memref<f32>)
func.func @calls() -> tensor<f32> {
  %0 = relax.call_tir @kernel() : () -> tensor<f32>
  %1 = relax.call_tir @idle() : () -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// An operation stays if one of its results is used.
// CHECK-LABEL: @results
func.func @results(%x : tensor<4xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: [[A:%.*]], {{%.*}} = relax.split %x
  // CHECK-NEXT: func.return [[A]]
  %0, %1 = relax.split %x {sections = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2, %3 = relax.split %1 {sections = 2} : (tensor<2xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  return %0 : tensor<2xf32>
}
