// RUN: passline-opt %s -p infer-type --split-input-file | filecheck %s
// RUN: passline-opt %s -p infer-type,infer-type --split-input-file | filecheck %s

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

// A recursive function whose result type does not depend on the recursive call.
// CHECK-LABEL: func.func @recursive(%n: i1, %x: tensor<4xf32>) -> tensor<4xf32>
func.func @recursive(%n : i1, %x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK: func.call @recursive(%{{.*}}, %{{.*}}) : (i1, tensor<4xf32>) -> tensor<4xf32>
  %0 = func.call @recursive(%n, %x) : (i1, tensor<4xf32>) -> tensor<*xf32>
  %1 = relax.log %x : (tensor<4xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// A recursive function has the result type of its base case, if the other returns agree.
// CHECK-LABEL: func.func @recursive_branch(%n: i1, %x: tensor<4xf32>) -> tensor<4xf32>
func.func @recursive_branch(%n : i1, %x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: scf.if %n -> (tensor<4xf32>) {
  %0 = scf.if %n -> (tensor<*xf32>) {
    // CHECK-NEXT: [[L:%.*]] = relax.log %x : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: scf.yield [[L]] : tensor<4xf32>
    %1 = relax.log %x : (tensor<4xf32>) -> tensor<*xf32>
    scf.yield %1 : tensor<*xf32>
  } else {
    // CHECK: func.call @recursive_branch(%n, %x) : (i1, tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: relax.exp %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
    %2 = func.call @recursive_branch(%n, %x) : (i1, tensor<4xf32>) -> tensor<*xf32>
    %3 = relax.exp %2 : (tensor<*xf32>) -> tensor<*xf32>
    scf.yield %3 : tensor<*xf32>
  }
  return %0 : tensor<*xf32>
}

// -----

// A recursive function that widens its result type: the inferred type holds at any depth.
// CHECK-LABEL: func.func @recursive_widened(%n: i1, %x: tensor<1x4xf32>, %y: tensor<5x1xf32>) -> tensor<?x4xf32>
func.func @recursive_widened(%n : i1, %x : tensor<1x4xf32>, %y : tensor<5x1xf32>) -> tensor<*xf32> {
  %0 = scf.if %n -> (tensor<*xf32>) {
    // CHECK: [[C:%.*]] = tensor.cast %{{.*}} : tensor<1x4xf32> to tensor<?x4xf32>
    // CHECK-NEXT: scf.yield [[C]] : tensor<?x4xf32>
    %1 = relax.exp %x : (tensor<1x4xf32>) -> tensor<*xf32>
    scf.yield %1 : tensor<*xf32>
  } else {
    %3 = func.call @recursive_widened(%n, %x, %y) : (i1, tensor<1x4xf32>, tensor<5x1xf32>) -> tensor<*xf32>
    %4 = relax.add %3, %y : (tensor<*xf32>, tensor<5x1xf32>) -> tensor<*xf32>
    scf.yield %4 : tensor<*xf32>
  }
  return %0 : tensor<*xf32>
}

// -----

// A function that returns only its recursive call keeps the declared type.
// CHECK-LABEL: func.func @endless(%n: i1, %x: tensor<4xf32>) -> tensor<?xf32>
func.func @endless(%n : i1, %x : tensor<4xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: [[R:%.*]] = func.call @endless(%n, %x) : (i1, tensor<4xf32>) -> tensor<?xf32>
  // CHECK-NEXT: relax.exp [[R]] : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.return [[R]] : tensor<?xf32>
  %0 = func.call @endless(%n, %x) : (i1, tensor<4xf32>) -> tensor<?xf32>
  %1 = relax.exp %0 : (tensor<?xf32>) -> tensor<*xf32>
  return %0 : tensor<?xf32>
}

// -----

// One result is that of the recursive call, the other is not.
// CHECK-LABEL: func.func @half_endless(%n: i1, %x: tensor<4xf32>) -> (tensor<?xf32>, tensor<4xf32>)
func.func @half_endless(%n : i1, %x : tensor<4xf32>) -> (tensor<?xf32>, tensor<*xf32>) {
  // CHECK-NEXT: func.call @half_endless(%n, %x) : (i1, tensor<4xf32>) -> (tensor<?xf32>, tensor<4xf32>)
  %0, %1 = func.call @half_endless(%n, %x) : (i1, tensor<4xf32>) -> (tensor<?xf32>, tensor<*xf32>)
  %2 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
  return %0, %2 : tensor<?xf32>, tensor<*xf32>
}

// -----

// Mutual recursion: both have the result type of the base case.
// CHECK-LABEL: func.func @even(%n: i1, %x: tensor<4xf32>) -> tensor<4xf32>
func.func @even(%n : i1, %x : tensor<4xf32>) -> tensor<*xf32> {
  %0 = func.call @odd(%n, %x) : (i1, tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
// CHECK-LABEL: func.func @odd(%n: i1, %x: tensor<4xf32>) -> tensor<4xf32>
func.func @odd(%n : i1, %x : tensor<4xf32>) -> tensor<*xf32> {
  %0 = scf.if %n -> (tensor<*xf32>) {
    %1 = func.call @even(%n, %x) : (i1, tensor<4xf32>) -> tensor<*xf32>
    scf.yield %1 : tensor<*xf32>
  } else {
    %2 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
    scf.yield %2 : tensor<*xf32>
  }
  return %0 : tensor<*xf32>
}

// -----

// A declaration keeps its type, and so does a call of it.
// UNCHANGED: @external
func.func private @external(tensor<4xf32>) -> tensor<*xf32>
// UNCHANGED: @calls_external
func.func @calls_external(%x : tensor<4xf32>) -> tensor<*xf32> {
  %0 = func.call @external(%x) : (tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// The result type of a lambda follows from its body; calls have the same, but parameters keep their
// declared types.
// CHECK-LABEL: func.func @lambda(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @lambda(%x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: [[E:%.*]] = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: [[C:%.*]] = tensor.cast [[E]] : tensor<4xf32> to tensor<?xf32>
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK-NEXT: [[F:%.*]] = relax.lambda([[Y:%.*]]: tensor<?xf32>) -> tensor<4xf32> {
  %f = relax.lambda(%y : tensor<?xf32>) -> tensor<*xf32> {
    // CHECK-NEXT: relax.add [[Y]], [[E]] : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = relax.add %y, %0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<*xf32>
    relax.yield %1 : tensor<*xf32>
  }
  // CHECK: relax.invoke [[F]]([[C]]) : (tensor<?xf32>) -> tensor<4xf32>
  %2 = relax.invoke %f(%0) : (tensor<?xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----

// A lambda that returns a lambda, a choice between two, and a user that needs the declared type.
// CHECK-LABEL: func.func @lambdas(%c: i1, %x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<?xf32>
func.func @lambdas(%c : i1, %x : tensor<4xf32>, %y : tensor<5xf32>) -> tensor<*xf32> {
  // CHECK: [[F:%.*]] = scf.if %c -> (() -> tensor<?xf32>) {
  %f = scf.if %c -> (() -> tensor<*xf32>) {
    // CHECK-NEXT: relax.lambda() -> (() -> tensor<4xf32>) {
    %g = relax.lambda() -> (() -> tensor<*xf32>) {
      // CHECK-NEXT: relax.lambda() -> tensor<4xf32> {
      %0 = relax.lambda() -> tensor<*xf32> {
        %1 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
        relax.yield %1 : tensor<*xf32>
      }
      relax.yield %0 : () -> tensor<*xf32>
    }
    // CHECK: relax.invoke %{{.*}}() : () -> (() -> tensor<4xf32>)
    // CHECK-NEXT: relax.match_cast %{{.*}} : (() -> tensor<4xf32>) -> (() -> tensor<?xf32>)
    %h = relax.invoke %g() : () -> (() -> tensor<*xf32>)
    scf.yield %h : () -> tensor<*xf32>
  } else {
    %k = relax.lambda() -> tensor<*xf32> {
      %2 = relax.exp %y : (tensor<5xf32>) -> tensor<*xf32>
      relax.yield %2 : tensor<*xf32>
    }
    scf.yield %k : () -> tensor<*xf32>
  }
  // CHECK: [[O:%.*]] = relax.match_cast [[F]] : (() -> tensor<?xf32>) -> (() -> tensor<*xf32>)
  // CHECK-NEXT: "test.op"([[O]]) : (() -> tensor<*xf32>) -> ()
  "test.op"(%f) : (() -> tensor<*xf32>) -> ()
  // CHECK-NEXT: relax.invoke [[F]]() : () -> tensor<?xf32>
  %3 = relax.invoke %f() : () -> tensor<*xf32>
  return %3 : tensor<*xf32>
}

// -----

// Recursion through a closure counts for nothing until it is known what else is returned.
// CHECK-LABEL: func.func @recursive(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32>
func.func @recursive(%c : i1, %x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK: relax.make_closure @recursive(%c) : (i1) -> ((tensor<4xf32>) -> tensor<4xf32>)
  // CHECK: relax.invoke %{{.*}}(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = scf.if %c -> (tensor<*xf32>) {
    %f = relax.make_closure @recursive(%c) : (i1) -> ((tensor<4xf32>) -> tensor<*xf32>)
    %1 = relax.invoke %f(%x) : (tensor<4xf32>) -> tensor<*xf32>
    scf.yield %1 : tensor<*xf32>
  } else {
    %2 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
    scf.yield %2 : tensor<*xf32>
  }
  return %0 : tensor<*xf32>
}
