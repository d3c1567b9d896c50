// RUN: passline-opt %s -p infer-type | filecheck %s
// RUN: passline-opt %s -p infer-type,infer-type | filecheck %s

// The result of a branch has a type that includes those of both sides.
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

// Both sides of a branch agree: no cast.
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

// Two returns: the result type includes both.
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

// A loop-carried value keeps its initial type if the body yields the same.
// CHECK-LABEL: func.func @loop(%n: index, %x: tensor<4xf32>) -> tensor<4xf32>
func.func @loop(%n : index, %x : tensor<4xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: [[E:%.*]] = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK-NEXT: scf.for %{{.*}} iter_args([[I:%.*]] = [[E]]) -> (tensor<4xf32>)
  %1 = scf.for %i = %n to %n step %n iter_args(%a = %0) -> (tensor<?xf32>) {
    // CHECK-NEXT: [[A:%.*]] = relax.add [[I]], [[E]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: scf.yield [[A]] : tensor<4xf32>
    %2 = relax.add %a, %0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  return %1 : tensor<?xf32>
}

// The initial type and the yielded one differ: the carried type includes those of all iterations.
// CHECK-LABEL: func.func @loop_widened(%n: index, %x: tensor<1x1xf32>, %y: tensor<5x1xf32>) -> tensor<?x1xf32>
func.func @loop_widened(%n : index, %x : tensor<1x1xf32>, %y : tensor<5x1xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: [[E:%.*]] = relax.exp %x : (tensor<1x1xf32>) -> tensor<1x1xf32>
  // CHECK-NEXT: [[C:%.*]] = tensor.cast [[E]] : tensor<1x1xf32> to tensor<?x1xf32>
  %0 = relax.exp %x : (tensor<1x1xf32>) -> tensor<*xf32>
  // CHECK-NEXT: scf.for %{{.*}} iter_args([[I:%.*]] = [[C]]) -> (tensor<?x1xf32>)
  %1 = scf.for %i = %n to %n step %n iter_args(%a = %0) -> (tensor<*xf32>) {
    // CHECK-NEXT: [[A:%.*]] = relax.add [[I]], %y : (tensor<?x1xf32>, tensor<5x1xf32>) -> tensor<5x1xf32>
    // CHECK-NEXT: [[D:%.*]] = tensor.cast [[A]] : tensor<5x1xf32> to tensor<?x1xf32>
    // CHECK-NEXT: scf.yield [[D]] : tensor<?x1xf32>
    %2 = relax.add %a, %y : (tensor<*xf32>, tensor<5x1xf32>) -> tensor<*xf32>
    scf.yield %2 : tensor<*xf32>
  }
  return %1 : tensor<*xf32>
}

// Nested loops, and users of carried values that need the declared type.
// CHECK-LABEL: func.func @nested_loops(%n: index, %x: tensor<1xf32>, %y: tensor<5xf32>) -> tensor<?xf32>
func.func @nested_loops(%n : index, %x : tensor<1xf32>, %y : tensor<5xf32>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<1xf32>) -> tensor<*xf32>
  // CHECK: scf.for %{{.*}} iter_args([[I:%.*]] = %{{.*}}) -> (tensor<?xf32>)
  %1 = scf.for %i = %n to %n step %n iter_args(%a = %0) -> (tensor<*xf32>) {
    // CHECK-NEXT: [[S:%.*]] = tensor.cast [[I]] : tensor<?xf32> to tensor<*xf32>
    // CHECK-NEXT: "test.op"([[S]]) : (tensor<*xf32>) -> ()
    "test.op"(%a) : (tensor<*xf32>) -> ()
    // CHECK-NEXT: scf.for %{{.*}} iter_args([[J:%.*]] = [[I]]) -> (tensor<?xf32>)
    %2 = scf.for %j = %n to %n step %n iter_args(%b = %a) -> (tensor<*xf32>) {
      // CHECK-NEXT: relax.add [[J]], %y : (tensor<?xf32>, tensor<5xf32>) -> tensor<5xf32>
      %3 = relax.add %b, %y : (tensor<*xf32>, tensor<5xf32>) -> tensor<*xf32>
      scf.yield %3 : tensor<*xf32>
    }
    scf.yield %2 : tensor<*xf32>
  }
  return %1 : tensor<*xf32>
}

// A loop with a condition: the carried values differ from those passed on.
// CHECK-LABEL: func.func @while(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)
func.func @while(%x : tensor<4xf32>) -> (tensor<?xf32>, tensor<?xi1>) {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK: scf.while (%{{.*}} = %{{.*}}) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  %1, %2 = scf.while (%a = %0) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xi1>) {
    // CHECK-NEXT: "test.op"() : () -> (i1, tensor<4xi1>)
    // CHECK-NEXT: relax.tanh %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: relax.abs %{{.*}} : (tensor<4xi1>) -> tensor<4xi1>
    // CHECK-NEXT: scf.condition(%{{.*}}) %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi1>
    %c, %d = "test.op"() : () -> (i1, tensor<4xi1>)
    %3 = relax.tanh %a : (tensor<?xf32>) -> tensor<?xf32>
    %4 = relax.abs %d : (tensor<4xi1>) -> tensor<?xi1>
    scf.condition(%c) %3, %4 : tensor<?xf32>, tensor<?xi1>
  } do {
  // CHECK: ^{{.*}}(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xi1>):
  ^bb0(%e : tensor<?xf32>, %f : tensor<?xi1>):
    // CHECK-NEXT: relax.exp %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
    %5 = relax.exp %e : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %5 : tensor<?xf32>
  }
  return %1, %2 : tensor<?xf32>, tensor<?xi1>
}

// The tuple type of a branch includes those of both sides; a user that needs the old type gets a cast.
// CHECK-LABEL: @tuple_branch
func.func @tuple_branch(%c : i1, %x : tensor<4xf32>, %y : tensor<5xf32>) {
  // CHECK: [[T:%.*]] = scf.if %c -> (tuple<tensor<?xf32>>) {
  %0 = scf.if %c -> (tuple<tensor<*xf32>>) {
    // CHECK: [[A:%.*]] = relax.match_cast %{{.*}} : (tuple<tensor<4xf32>>) -> tuple<tensor<?xf32>>
    // CHECK-NEXT: scf.yield [[A]]
    %1 = relax.tuple %x : (tensor<4xf32>) -> tuple<tensor<*xf32>>
    scf.yield %1 : tuple<tensor<*xf32>>
  } else {
    // CHECK: [[B:%.*]] = relax.match_cast %{{.*}} : (tuple<tensor<5xf32>>) -> tuple<tensor<?xf32>>
    // CHECK-NEXT: scf.yield [[B]]
    %2 = relax.tuple %y : (tensor<5xf32>) -> tuple<tensor<*xf32>>
    scf.yield %2 : tuple<tensor<*xf32>>
  }
  // CHECK: [[O:%.*]] = relax.match_cast [[T]] : (tuple<tensor<?xf32>>) -> tuple<tensor<*xf32>>
  // CHECK-NEXT: "test.op"([[O]]) : (tuple<tensor<*xf32>>) -> ()
  "test.op"(%0) : (tuple<tensor<*xf32>>) -> ()
  return
}
