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

// A recursive function returns what it returns where the recursion ends, if that fits further out.
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

// A recursive function that makes its result wider each time returns what fits at any depth.
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

// A function that returns nothing but its recursive call: what is declared stands.
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

// One result is its recursive call's, another is not.
// CHECK-LABEL: func.func @half_endless(%n: i1, %x: tensor<4xf32>) -> (tensor<?xf32>, tensor<4xf32>)
func.func @half_endless(%n : i1, %x : tensor<4xf32>) -> (tensor<?xf32>, tensor<*xf32>) {
  // CHECK-NEXT: func.call @half_endless(%n, %x) : (i1, tensor<4xf32>) -> (tensor<?xf32>, tensor<4xf32>)
  %0, %1 = func.call @half_endless(%n, %x) : (i1, tensor<4xf32>) -> (tensor<?xf32>, tensor<*xf32>)
  %2 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
  return %0, %2 : tensor<?xf32>, tensor<*xf32>
}

// -----

// Mutual recursion: each returns what the other does where it ends.
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

// A loop carries what it starts with, if its body passes that on.
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

// -----

// What a loop starts with and passes on differ: it carries what fits both, each time around.
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

// -----

// A loop in a loop, and users of what is carried that cannot follow.
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

// -----

// A loop with a condition: what is checked, and what goes on, are different values.
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

// -----

// A constant, and a chain on a scalar.
// CHECK-LABEL: func.func @scalars(%x: tensor<f32>) -> (tensor<f64>, tensor<f32>)
func.func @scalars(%x : tensor<f32>) -> (tensor<*xf64>, tensor<*xf32>) {
  %0 = relax.constant dense<1.0> : tensor<f64>
  %1 = relax.exp %0 : (tensor<f64>) -> tensor<*xf64>
  %2 = relax.log %x : (tensor<f32>) -> tensor<*xf32>
  %3 = relax.add %2, %x : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  return %1, %3 : tensor<*xf64>, tensor<*xf32>
}

// -----

// Tuples, of tuples too, and their elements.
// CHECK-LABEL: func.func @tuples(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tuple<tensor<4xf32>>>
func.func @tuples(%x : tensor<4xf32>) -> tuple<tensor<?xf32>, tuple<tensor<*xf32>>> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
  // CHECK: relax.tuple %{{.*}} : (tensor<4xf32>) -> tuple<tensor<4xf32>>
  %1 = relax.tuple %0 : (tensor<*xf32>) -> tuple<tensor<*xf32>>
  // CHECK-NEXT: relax.tuple_get_item %{{.*}} {index = 0} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %2 = relax.tuple_get_item %1 {index = 0} : (tuple<tensor<*xf32>>) -> tensor<?xf32>
  // CHECK-NEXT: relax.tuple %{{.*}}, %{{.*}} : (tensor<4xf32>, tuple<tensor<4xf32>>) -> tuple<tensor<4xf32>, tuple<tensor<4xf32>>>
  %3 = relax.tuple %2, %1 : (tensor<?xf32>, tuple<tensor<*xf32>>) -> tuple<tensor<?xf32>, tuple<tensor<*xf32>>>
  return %3 : tuple<tensor<?xf32>, tuple<tensor<*xf32>>>
}

// -----

// A branch gives a tuple that fits both sides; a user that cannot follow sees the old type.
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

// -----

// A lambda gives what its body does, with what it captures; calls of it follow, but not their
// arguments, as its parameters are declared.
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

// A lambda that gives a lambda, one of two lambdas, and a user of it that cannot follow.
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

// A function that is a parameter has the type that it is declared with, and so do its calls.
// CHECK-LABEL: func.func @apply(%f: (tensor<?xf32>) -> tensor<?xf32>, %x: tensor<4xf32>) -> tensor<?xf32>
func.func @apply(%f : (tensor<?xf32>) -> tensor<?xf32>, %x : tensor<4xf32>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<?xf32>
  %1 = relax.invoke %f(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %2 = relax.exp %1 : (tensor<?xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}
// CHECK-LABEL: func.func @applies(%x: tensor<4xf32>) -> tensor<?xf32>
func.func @applies(%x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: relax.lambda([[Y:%.*]]: tensor<?xf32>) -> tensor<4xf32> {
  %f = relax.lambda(%y : tensor<?xf32>) -> tensor<?xf32> {
    %0 = relax.add %y, %x : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
    relax.yield %0 : tensor<?xf32>
  }
  // CHECK: [[F:%.*]] = relax.match_cast %{{.*}} : ((tensor<?xf32>) -> tensor<4xf32>) -> ((tensor<?xf32>) -> tensor<?xf32>)
  // CHECK-NEXT: func.call @apply([[F]], %x)
  %1 = func.call @apply(%f, %x) : ((tensor<?xf32>) -> tensor<?xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// A graph, in the order of dependences, which is not that of the text.
// CHECK-LABEL: func.func @graph(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @graph(%x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: relax.graph -> tensor<4xf32> {
  %0 = relax.graph -> tensor<*xf32> {
    // CHECK-NEXT: relax.invoke %{{.*}}() : () -> tensor<4xf32>
    // CHECK-NEXT: relax.lambda() -> tensor<4xf32> {
    // CHECK-NEXT: relax.tanh %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = relax.invoke %f() : () -> tensor<*xf32>
    %f = relax.lambda() -> tensor<*xf32> {
      %3 = relax.tanh %2 : (tensor<*xf32>) -> tensor<*xf32>
      relax.yield %3 : tensor<*xf32>
    }
    %2 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
    relax.output %1 : tensor<*xf32>
  }
  return %0 : tensor<*xf32>
}

// -----

// Annotations give what they are given; a kernel, what it is called for.
// CHECK-LABEL: func.func @annotations(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32>)
func.func private @kernel(memref<?xf32>, memref<?xf32>)
func.func @annotations(%x : tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
  %1 = relax.on_device %0 {device = #relax.device<cpu>} : (tensor<*xf32>) -> tensor<*xf32>
  %2 = relax.device_copy %1 {src = #relax.device<cpu>, dst = #relax.device<cuda>} : (tensor<*xf32>) -> tensor<*xf32>
  %3 = relax.stop_fusion %2 : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.call_tir @kernel(%{{.*}}) : (tensor<4xf32>) -> tensor<?xf32>
  %4 = relax.call_tir @kernel(%3) : (tensor<*xf32>) -> tensor<?xf32>
  %5 = relax.exp %4 : (tensor<?xf32>) -> tensor<*xf32>
  return %3, %5 : tensor<*xf32>, tensor<*xf32>
}

// -----

// A closure gives what its function does, also if that is itself a caller of closures.
// CHECK-LABEL: func.func @closure(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @closure(%x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: [[F:%.*]] = relax.make_closure @callee(%x) : (tensor<4xf32>) -> ((tensor<?xf32>) -> tensor<4xf32>)
  %f = relax.make_closure @callee(%x) : (tensor<4xf32>) -> ((tensor<?xf32>) -> tensor<*xf32>)
  // CHECK-NEXT: tensor.cast
  %0 = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  // CHECK-NEXT: relax.invoke [[F]](%{{.*}}) : (tensor<?xf32>) -> tensor<4xf32>
  %1 = relax.invoke %f(%0) : (tensor<?xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}
// CHECK-LABEL: func.func @callee(%x: tensor<4xf32>, %y: tensor<?xf32>) -> tensor<4xf32>
func.func @callee(%x : tensor<4xf32>, %y : tensor<?xf32>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
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
