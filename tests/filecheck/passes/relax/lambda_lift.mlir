// RUN: passline-opt %s -p lambda-lift --split-input-file | filecheck %s

// Without a lambda, nothing changes.
// UNCHANGED: @no_lambda
func.func @no_lambda(%f : (tensor<f32>) -> tensor<f32>, %x : tensor<f32>) -> tensor<f32> {
  %0 = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// UNCHANGED: @primitive
// UNCHANGED: @skipped
func.func @primitive(%x : tensor<f32>) -> tensor<f32> attributes {relax.primitive} {
  %f = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    relax.yield %y : tensor<f32>
  }
  %0 = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @skipped(%x : tensor<f32>) -> tensor<f32> attributes {passline.skip_optimization} {
  %f = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    relax.yield %y : tensor<f32>
  }
  %0 = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A call with less precise types than the function's stays, and so does the closure.
// UNCHANGED: @less_precise
func.func @less_precise(%x : tensor<4xf32>) -> tensor<?xf32> {
  %f = relax.make_closure @id() : () -> ((tensor<4xf32>) -> tensor<?xf32>)
  %0 = relax.invoke %f(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @id(%x : tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Without captures, called at once: a direct call. Attributes stay.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[A:%.*]] = func.call @main_inner(%x) {tag = 1 : i32} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: func.return [[A]]
// CHECK: func.func private @main_inner([[Y:%.*]]: tensor<f32>) -> tensor<f32> attributes {pure} {
// CHECK-NEXT: [[B:%.*]] = relax.exp [[Y]]
// CHECK-NEXT: func.return [[B]]
func.func @main(%x : tensor<f32>) -> tensor<f32> {
  %inner = relax.lambda(%y : tensor<f32>) -> tensor<f32> attributes {pure} {
    %1 = relax.exp %y : (tensor<f32>) -> tensor<f32>
    relax.yield %1 : tensor<f32>
  }
  %0 = relax.invoke %inner(%x) {tag = 1 : i32} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Captures become the first parameters, in the order of their first uses, at any depth.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: scf.if %c
// CHECK-NEXT:   func.call @main_f(%c, %b, %a, %x)
// CHECK: func.func private @main_f(%c: i1, %b: tensor<f32>, %a: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: [[R:%.*]] = scf.if %c
// CHECK-NEXT:   relax.add %y, %b
// CHECK:        relax.add %a, %b
func.func @main(%c : i1, %x : tensor<f32>, %a : tensor<f32>, %b : tensor<f32>) -> tensor<f32> {
  %f = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    %1 = scf.if %c -> (tensor<f32>) {
      %2 = relax.add %y, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
      scf.yield %2 : tensor<f32>
    } else {
      %3 = relax.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
      scf.yield %3 : tensor<f32>
    }
    relax.yield %1 : tensor<f32>
  }
  %0 = scf.if %c -> (tensor<f32>) {
    %4 = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
    scf.yield %4 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// A function that is returned, with and without captures.
// CHECK-LABEL: func.func @returned
// CHECK-NEXT: [[F:%.*]] = relax.make_closure @returned_f(%x) : (tensor<f32>) -> ((tensor<f32>) -> tensor<f32>)
// CHECK-NEXT: [[G:%.*]] = relax.make_closure @returned_g() : () -> (() -> ())
// CHECK-NEXT: func.return [[F]], [[G]]
// CHECK: func.func private @returned_f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32>
// CHECK: func.func private @returned_g() {
func.func @returned(%x : tensor<f32>) -> ((tensor<f32>) -> tensor<f32>, () -> ()) {
  %f = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    %1 = relax.add %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relax.yield %1 : tensor<f32>
  }
  %g = relax.lambda() {
  }
  return %f, %g : (tensor<f32>) -> tensor<f32>, () -> ()
}
// A function that takes a closure calls it.
// UNCHANGED: @user
func.func @user(%x : tensor<f32>) -> tensor<f32> {
  %f, %g = func.call @returned(%x) : (tensor<f32>) -> ((tensor<f32>) -> tensor<f32>, () -> ())
  %0 = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
  relax.invoke %g() : () -> ()
  return %0 : tensor<f32>
}

// -----

// A lambda in a tuple, as an argument, chosen by a branch, and called directly.
// CHECK-LABEL: func.func @escapes
// CHECK-NEXT: [[F:%.*]] = relax.make_closure @escapes_f(%x)
// CHECK-NEXT: relax.tuple [[F]], %x
// CHECK-NEXT: [[A:%.*]] = func.call @escapes_f(%x, %x)
// CHECK-NEXT: [[B:%.*]] = func.call @apply([[F]], [[A]])
// CHECK-NEXT: [[G:%.*]] = scf.if %c
// CHECK-NEXT:   scf.yield [[F]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   [[H:%.*]] = relax.make_closure @escapes_lambda([[B]])
// CHECK-NEXT:   scf.yield [[H]]
// CHECK-NEXT: }
// CHECK-NEXT: [[R:%.*]] = relax.invoke [[G]]([[B]])
func.func @escapes(%c : i1, %x : tensor<f32>) -> tensor<f32> {
  %f = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    %1 = relax.add %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relax.yield %1 : tensor<f32>
  }
  %t = relax.tuple %f, %x : ((tensor<f32>) -> tensor<f32>, tensor<f32>) -> tuple<(tensor<f32>) -> tensor<f32>, tensor<f32>>
  %2 = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
  %3 = func.call @apply(%f, %2) : ((tensor<f32>) -> tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = scf.if %c -> ((tensor<f32>) -> tensor<f32>) {
    scf.yield %f : (tensor<f32>) -> tensor<f32>
  } else {
    %5 = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
      %6 = relax.multiply %3, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
      relax.yield %6 : tensor<f32>
    }
    scf.yield %5 : (tensor<f32>) -> tensor<f32>
  }
  %7 = relax.invoke %4(%3) : (tensor<f32>) -> tensor<f32>
  return %7 : tensor<f32>
}
func.func private @apply(%f : (tensor<f32>) -> tensor<f32>, %x : tensor<f32>) -> tensor<f32> {
  %0 = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A function that returns a function: both are lifted.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[F:%.*]] = func.call @main_outer_func(%x)
// CHECK-NEXT: [[R:%.*]] = relax.invoke [[F]](%x)
// CHECK-NEXT: func.return [[R]]
// CHECK: func.func private @main_inner_func(%y: tensor<f32>, %z: tensor<f32>) -> tensor<f32>
// CHECK: func.func private @main_outer_func(%y: tensor<f32>) -> ((tensor<f32>) -> tensor<f32>)
// CHECK-NEXT: relax.make_closure @main_inner_func(%y)
func.func @main(%x : tensor<f32>) -> tensor<f32> {
  %outer_func = relax.lambda(%y : tensor<f32>) -> ((tensor<f32>) -> tensor<f32>) {
    %inner_func = relax.lambda(%z : tensor<f32>) -> tensor<f32> {
      %1 = relax.add %z, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
      relax.yield %1 : tensor<f32>
    }
    relax.yield %inner_func : (tensor<f32>) -> tensor<f32>
  }
  %f = relax.invoke %outer_func(%x) : (tensor<f32>) -> ((tensor<f32>) -> tensor<f32>)
  %0 = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Lambdas that call each other: the caller also captures the values that the callee captures.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: func.call @main_g(%x, %x)
// CHECK: func.func private @main_f(%x: tensor<f32>, %y: tensor<f32>)
// CHECK: func.func private @main_h(%x: tensor<f32>, %z: tensor<f32>)
// CHECK-NEXT: func.call @main_f(%x, %z)
// CHECK: func.func private @main_g(%x: tensor<f32>, %y: tensor<f32>)
// CHECK-NEXT: func.call @main_h(%x, %y)
// CHECK-NEXT: func.return
func.func @main(%x : tensor<f32>) -> tensor<f32> {
  %f = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    %1 = relax.add %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relax.yield %1 : tensor<f32>
  }
  %g = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    %h = relax.lambda(%z : tensor<f32>) -> tensor<f32> {
      %2 = relax.invoke %f(%z) : (tensor<f32>) -> tensor<f32>
      relax.yield %2 : tensor<f32>
    }
    %3 = relax.invoke %h(%y) : (tensor<f32>) -> tensor<f32>
    relax.yield %3 : tensor<f32>
  }
  %0 = relax.invoke %g(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Two functions with a lambda of one name each.
// CHECK: func.func @glob_func_1
// CHECK: func.func private @glob_func_1_inner
// CHECK: func.func @glob_func_2
// CHECK: func.func private @glob_func_2_inner
func.func @glob_func_1(%x : tensor<f32>) -> tensor<f32> {
  %inner = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    %1 = relax.exp %y : (tensor<f32>) -> tensor<f32>
    relax.yield %1 : tensor<f32>
  }
  %0 = relax.invoke %inner(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @glob_func_2(%x : tensor<f32>) -> tensor<f32> {
  %inner = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    %1 = relax.abs %y : (tensor<f32>) -> tensor<f32>
    relax.yield %1 : tensor<f32>
  }
  %0 = relax.invoke %inner(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Names that are taken, by a function and by a lambda before.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: [[A:%.*]] = func.call @main_g(%x)
// CHECK-NEXT: [[B:%.*]] = func.call @main_inner_0([[A]])
// CHECK-NEXT: func.call @main_lambda()
// CHECK-NEXT: func.call @main_lambda_0()
// CHECK: func.func private @main_g_inner
// CHECK: func.func private @main_g(
// CHECK-NEXT: func.call @main_g_inner
// CHECK: func.func private @main_inner_0
// CHECK: func.func private @main_lambda
// CHECK: func.func private @main_lambda_0
// CHECK: func.func @main_inner
func.func @main(%x : tensor<f32>) -> tensor<f32> {
  %g = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    %inner = relax.lambda(%z : tensor<f32>) -> tensor<f32> {
      %0 = relax.abs %z : (tensor<f32>) -> tensor<f32>
      relax.yield %0 : tensor<f32>
    }
    %1 = relax.invoke %inner(%y) : (tensor<f32>) -> tensor<f32>
    relax.yield %1 : tensor<f32>
  }
  %2 = relax.invoke %g(%x) : (tensor<f32>) -> tensor<f32>
  %inner = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    %3 = relax.exp %y : (tensor<f32>) -> tensor<f32>
    relax.yield %3 : tensor<f32>
  }
  %4 = relax.invoke %inner(%2) : (tensor<f32>) -> tensor<f32>
  %5 = relax.lambda() {
  }
  relax.invoke %5() : () -> ()
  %6 = relax.lambda() {
  }
  relax.invoke %6() : () -> ()
  return %4 : tensor<f32>
}
func.func @main_inner(%x : tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// Recursion goes through functions of the module: the loop that Relay's while_loop is.
// CHECK-LABEL: func.func @while
// CHECK-NEXT: [[C:%.*]] = func.call @while_condition(%n, %x)
// CHECK-NEXT: scf.if [[C]]
// CHECK-NEXT:   [[Y:%.*]] = func.call @while_body(%x, %n)
// CHECK-NEXT:   func.call @while(%n, [[Y]])
// CHECK: func.func private @while_condition(%n: tensor<f32>, %y: tensor<f32>) -> i1
// CHECK: func.func private @while_body(%x: tensor<f32>, %y: tensor<f32>)
func.func @while(%n : tensor<f32>, %x : tensor<f32>) -> tensor<f32> {
  %condition = relax.lambda(%y : tensor<f32>) -> i1 {
    %1 = relax.less %y, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = tensor.extract %1[] : tensor<i1>
    relax.yield %2 : i1
  }
  %body = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
    %3 = relax.add %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
    relax.yield %3 : tensor<f32>
  }
  %c = relax.invoke %condition(%x) : (tensor<f32>) -> i1
  %r = scf.if %c -> (tensor<f32>) {
    %4 = relax.invoke %body(%n) : (tensor<f32>) -> tensor<f32>
    %5 = func.call @while(%n, %4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %5 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// Mutual recursion through lambdas.
// CHECK-LABEL: func.func @even
// CHECK-NEXT: func.call @even_step(%x)
// CHECK: func.func private @even_step
// CHECK-NEXT: func.call @odd
// CHECK-LABEL: func.func @odd
// CHECK-NEXT: relax.make_closure @odd_step(%x)
// CHECK: func.func private @odd_step
// CHECK-NEXT: func.call @even
func.func @even(%x : i1) -> (() -> i1) {
  %step = relax.lambda() -> (() -> i1) {
    %1 = func.call @odd(%x) : (i1) -> (() -> (() -> i1))
    %2 = relax.invoke %1() : () -> (() -> i1)
    relax.yield %2 : () -> i1
  }
  %0 = relax.invoke %step() : () -> (() -> i1)
  return %0 : () -> i1
}
func.func @odd(%x : i1) -> (() -> (() -> i1)) {
  %step = relax.lambda() -> (() -> i1) {
    %1 = func.call @even(%x) : (i1) -> (() -> i1)
    relax.yield %1 : () -> i1
  }
  return %step : () -> (() -> i1)
}

// -----

// In a loop, a closure of what the loop carries.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for {{.*}} iter_args([[S:%.*]] = %x)
// CHECK-NEXT: func.call @loop_f([[S]], %x)
func.func @loop(%n : index, %x : tensor<f32>) -> tensor<f32> {
  %0 = scf.for %i = %n to %n step %n iter_args(%s = %x) -> (tensor<f32>) {
    %f = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
      %1 = relax.add %s, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
      relax.yield %1 : tensor<f32>
    }
    %2 = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
    scf.yield %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// A graph is sorted: captured values are computed before the closure is made.
// CHECK-LABEL: func.func @graph
// CHECK: relax.graph
// CHECK-NEXT: [[B:%.*]] = "test.op"() {n = 0 : i32}
// CHECK-NEXT: "test.op"() {n = 1 : i32}
// CHECK-NEXT: [[R:%.*]] = func.call @graph_f([[B]], %x)
func.func @graph(%x : tensor<f32>) -> tensor<f32> {
  %0 = relax.graph -> tensor<f32> {
    %f = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
      %1 = relax.add %b, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
      relax.yield %1 : tensor<f32>
    }
    "test.op"() {n = 1 : i32} : () -> ()
    %r = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
    %b = "test.op"() {n = 0 : i32} : () -> tensor<f32>
    relax.output %r : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// A closure that is only called becomes direct calls.
// CHECK-LABEL: func.func @closure
// CHECK-NEXT: func.call @add(%x, %y)
func.func @closure(%x : tensor<f32>, %y : tensor<f32>) -> tensor<f32> {
  %f = relax.make_closure @add(%x) : (tensor<f32>) -> ((tensor<f32>) -> tensor<f32>)
  %0 = relax.invoke %f(%y) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @add(%x : tensor<f32>, %y : tensor<f32>) -> tensor<f32> {
  %0 = relax.add %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Modules in modules have functions of their own.
// CHECK: module @inner {
// CHECK:   func.func @main
// CHECK:   func.func private @main_f
// CHECK-NEXT: func.return
func.func private @main_f()
module @inner {
  func.func @main(%x : tensor<f32>) -> tensor<f32> {
    %f = relax.lambda(%y : tensor<f32>) -> tensor<f32> {
      relax.yield %y : tensor<f32>
    }
    %0 = relax.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
