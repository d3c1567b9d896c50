// RUN: passline-opt %s -p infer-type --split-input-file | filecheck %s
// RUN: passline-opt %s -p infer-type,infer-type --split-input-file | filecheck %s

// A chain of operations, a broadcast, and the function that returns it.
// CHECK-LABEL: func.func @broadcast(%x: tensor<10x4xf32>, %y: tensor<5x10x1xf32>) -> tensor<5x10x4xf32>
func.func @broadcast(%x : tensor<10x4xf32>, %y : tensor<5x10x1xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: relax.log %x : (tensor<10x4xf32>) -> tensor<10x4xf32>
  %0 = relax.log %x : (tensor<10x4xf32>) -> tensor<*xf32>
  // CHECK-NEXT: relax.add %{{.*}}, %y : (tensor<10x4xf32>, tensor<5x10x1xf32>) -> tensor<5x10x4xf32>
  %1 = relax.add %0, %y : (tensor<*xf32>, tensor<5x10x1xf32>) -> tensor<*xf32>
  // CHECK-NEXT: func.return %{{.*}} : tensor<5x10x4xf32>
  return %1 : tensor<*xf32>
}

// -----

// A type that is declared more precisely than can be inferred stays.
// CHECK-LABEL: @declared
func.func @declared(%x : tensor<?x?xf32>) -> tensor<4x?xf32> {
  // CHECK-NEXT: relax.exp %x : (tensor<?x?xf32>) -> tensor<4x?xf32>
  %0 = relax.exp %x : (tensor<?x?xf32>) -> tensor<4x?xf32>
  // CHECK-NEXT: relax.exp %{{.*}} : (tensor<4x?xf32>) -> tensor<4x8xf32>
  %1 = relax.exp %0 : (tensor<4x?xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: tensor.cast %{{.*}} : tensor<4x8xf32> to tensor<?x8xf32>
  // CHECK-NEXT: "test.op"(%{{.*}}) : (tensor<?x8xf32>) -> ()
  "test.op"(%1) : (tensor<?x8xf32>) -> ()
  // CHECK-NEXT: func.return %{{.*}} : tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// -----

// Dynamic: [?] called with [10] is accepted, and both parameters stay.
// CHECK-LABEL: func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32>
func.func @dynamic(%x : tensor<?xf32>) -> tensor<?xf32> {
  %0 = relax.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// CHECK-LABEL: func.func @main(%x: tensor<10xf32>) -> tensor<?xf32>
func.func @main(%x : tensor<10xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: [[E:%.*]] = relax.exp %x : (tensor<10xf32>) -> tensor<10xf32>
  // CHECK-NEXT: [[C:%.*]] = tensor.cast [[E]] : tensor<10xf32> to tensor<?xf32>
  %0 = relax.exp %x : (tensor<10xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.call @dynamic([[C]]) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = func.call @dynamic(%0) : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// Calls follow their callee, also one that stands further down.
// CHECK-LABEL: func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @caller(%x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = func.call @callee(%x) : (tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
// CHECK-LABEL: func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32>
func.func private @callee(%x : tensor<4xf32>) -> tensor<*xf32> {
  %0 = relax.tanh %x : (tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// A recursive function: what it returns in any case is known, whatever the recursive call gives.
// CHECK-LABEL: func.func @recursive(%n: i1, %x: tensor<4xf32>) -> tensor<4xf32>
func.func @recursive(%n : i1, %x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK: func.call @recursive(%{{.*}}, %{{.*}}) : (i1, tensor<4xf32>) -> tensor<4xf32>
  %0 = func.call @recursive(%n, %x) : (i1, tensor<4xf32>) -> tensor<*xf32>
  %1 = relax.log %x : (tensor<4xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// A recursive function whose result depends on the recursive call: what is declared stands.
// CHECK-LABEL: func.func @declared_recursive(%n: i1, %x: tensor<4xf32>) -> tensor<?xf32>
func.func @declared_recursive(%n : i1, %x : tensor<4xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: scf.if %n -> (tensor<?xf32>) {
  %0 = scf.if %n -> (tensor<?xf32>) {
    // CHECK-NEXT: [[L:%.*]] = relax.log %x : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: [[C:%.*]] = tensor.cast [[L]] : tensor<4xf32> to tensor<?xf32>
    // CHECK-NEXT: scf.yield [[C]] : tensor<?xf32>
    %1 = relax.log %x : (tensor<4xf32>) -> tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  } else {
    // CHECK: func.call @declared_recursive(%n, %x) : (i1, tensor<4xf32>) -> tensor<?xf32>
    %2 = func.call @declared_recursive(%n, %x) : (i1, tensor<4xf32>) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// -----

// A branch gives what both sides give.
// CHECK-LABEL: func.func @branch(%c: i1, %x: tensor<4x8xf32>, %y: tensor<4x1xf32>) -> tensor<4x?xf32>
func.func @branch(%c : i1, %x : tensor<4x8xf32>, %y : tensor<4x1xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: scf.if %c -> (tensor<4x?xf32>) {
  %0 = scf.if %c -> (tensor<*xf32>) {
    // CHECK-NEXT: [[X:%.*]] = relax.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    // CHECK-NEXT: [[XC:%.*]] = tensor.cast [[X]] : tensor<4x8xf32> to tensor<4x?xf32>
    // CHECK-NEXT: scf.yield [[XC]] : tensor<4x?xf32>
    %1 = relax.exp %x : (tensor<4x8xf32>) -> tensor<*xf32>
    scf.yield %1 : tensor<*xf32>
  } else {
    // CHECK: [[Y:%.*]] = relax.exp %y : (tensor<4x1xf32>) -> tensor<4x1xf32>
    // CHECK-NEXT: [[YC:%.*]] = tensor.cast [[Y]] : tensor<4x1xf32> to tensor<4x?xf32>
    // CHECK-NEXT: scf.yield [[YC]] : tensor<4x?xf32>
    %2 = relax.exp %y : (tensor<4x1xf32>) -> tensor<*xf32>
    scf.yield %2 : tensor<*xf32>
  }
  return %0 : tensor<*xf32>
}

// -----

// Both sides of a branch agree: no conversion.
// CHECK-LABEL: func.func @branch_agrees(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32>
func.func @branch_agrees(%c : i1, %x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: scf.if %c -> (tensor<4xf32>) {
  // CHECK-NOT: tensor.cast
  %0 = scf.if %c -> (tensor<*xf32>) {
    %1 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
    scf.yield %1 : tensor<*xf32>
  } else {
    %2 = relax.tanh %x : (tensor<4xf32>) -> tensor<*xf32>
    scf.yield %2 : tensor<*xf32>
  }
  return %0 : tensor<*xf32>
}

// -----

// Two returns give the type that fits both.
// CHECK-LABEL: func.func @two_returns(%c: i1, %x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<?xf32>
func.func @two_returns(%c : i1, %x : tensor<4xf32>, %y : tensor<5xf32>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
  %1 = relax.exp %y : (tensor<5xf32>) -> tensor<*xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  // CHECK: [[X:%.*]] = tensor.cast %{{.*}} : tensor<4xf32> to tensor<?xf32>
  // CHECK-NEXT: func.return [[X]] : tensor<?xf32>
  return %0 : tensor<*xf32>
^bb2:
  // CHECK: [[Y:%.*]] = tensor.cast %{{.*}} : tensor<5xf32> to tensor<?xf32>
  // CHECK-NEXT: func.return [[Y]] : tensor<?xf32>
  return %1 : tensor<*xf32>
}

// -----

// What a loop carries keeps its type: the operations around it see the old one.
// CHECK-LABEL: @loop
func.func @loop(%n : index, %x : tensor<4xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: [[E:%.*]] = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: [[C:%.*]] = tensor.cast [[E]] : tensor<4xf32> to tensor<?xf32>
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK-NEXT: scf.for %{{.*}} iter_args([[I:%.*]] = [[C]]) -> (tensor<?xf32>)
  %1 = scf.for %i = %n to %n step %n iter_args(%a = %0) -> (tensor<?xf32>) {
    // CHECK-NEXT: relax.add [[I]], [[E]] : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = relax.add %a, %0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    // CHECK-NEXT: tensor.cast %{{.*}} : tensor<4xf32> to tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  return %1 : tensor<?xf32>
}

// -----

// A result that has the precise type already: nothing changes.
// CHECK-LABEL: @precise
func.func @precise(%x : tensor<4x4xf16>) -> tensor<4x4xf16> {
  // CHECK-NEXT: relax.matmul %x, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  // CHECK-NEXT: func.return
  %0 = relax.matmul %x, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  return %0 : tensor<4x4xf16>
}

// -----

// A module in the module has functions of its own.
// CHECK-LABEL: builtin.module @inner
builtin.module @inner {
  // CHECK-NEXT: func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
  func.func @f(%x : tensor<4xf32>) -> tensor<*xf32> {
    %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
    return %0 : tensor<*xf32>
  }
}

// -----

// A declaration keeps its type, and so does a call of it.
// CHECK-LABEL: func.func private @external(tensor<4xf32>) -> tensor<*xf32>
func.func private @external(tensor<4xf32>) -> tensor<*xf32>
// CHECK-LABEL: func.func @calls_external(%x: tensor<4xf32>) -> tensor<*xf32>
func.func @calls_external(%x : tensor<4xf32>) -> tensor<*xf32> {
  %0 = func.call @external(%x) : (tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
