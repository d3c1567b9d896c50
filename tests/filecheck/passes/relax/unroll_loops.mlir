// RUN: passline-opt %s -p unroll-loops,fold-constant,dead-code-elimination | filecheck %s
// RUN: passline-opt %s -p 'unroll-loops{max-operations=10}' | filecheck %s --check-prefix=LIMIT

// A counter: three copies of four operations, too many for a limit of 10.
// CHECK-LABEL: @counter
// CHECK-NOT:     scf.while
// CHECK:         [[A:%.*]] = relax.exp %x
// CHECK:         [[B:%.*]] = relax.exp [[A]]
// CHECK:         [[C:%.*]] = relax.exp [[B]]
// CHECK-NOT:     relax.exp
// CHECK:         func.return [[C]], %{{.*}}
// LIMIT-LABEL: @counter
// LIMIT:         scf.while
func.func @counter(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<i64>) {
  %zero = relax.constant dense<0> : tensor<i64>
  %one = relax.constant dense<1> : tensor<i64>
  %three = relax.constant dense<3> : tensor<i64>
  %0, %1 = scf.while (%i = %zero, %y = %x) : (tensor<i64>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>) {
    %c = relax.less %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %d = tensor.extract %c[] : tensor<i1>
    scf.condition(%d) %i, %y : tensor<i64>, tensor<2xf32>
  } do {
  ^bb0(%i: tensor<i64>, %y: tensor<2xf32>):
    %j = relax.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %z = relax.exp %y : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %j, %z : tensor<i64>, tensor<2xf32>
  }
  func.return %1, %0 : tensor<2xf32>, tensor<i64>
}

// A loop that never runs; its results are in another order than what it carries.
// CHECK-LABEL: @never
// CHECK-NEXT:    func.return %x
func.func @never(%x: tensor<2xf32>) -> tensor<2xf32> {
  %false = relax.constant dense<false> : tensor<i1>
  %0, %1 = scf.while (%p = %false, %y = %x) : (tensor<i1>, tensor<2xf32>) -> (tensor<2xf32>, tensor<i1>) {
    %d = tensor.extract %p[] : tensor<i1>
    scf.condition(%d) %y, %p : tensor<2xf32>, tensor<i1>
  } do {
  ^bb0(%y: tensor<2xf32>, %p: tensor<i1>):
    %z = relax.exp %y : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %p, %z : tensor<i1>, tensor<2xf32>
  }
  func.return %0 : tensor<2xf32>
}

// What a loop collects has a known shape afterwards.
// CHECK-LABEL: @collected
// CHECK:         [[A:%.*]] = relax.concatenate %{{.*}}, %x : (tensor<0x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT:    [[B:%.*]] = relax.concatenate [[A]], %x : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    func.return [[B]] : tensor<2x3xf32>
func.func @collected(%x: tensor<1x3xf32>) -> tensor<?x3xf32> {
  %zero = relax.constant dense<0> : tensor<i64>
  %one = relax.constant dense<1> : tensor<i64>
  %two = relax.constant dense<2> : tensor<i64>
  %none = relax.full 0.0 : tensor<0x3xf32>
  %empty = tensor.cast %none : tensor<0x3xf32> to tensor<?x3xf32>
  %0, %1 = scf.while (%i = %zero, %y = %empty) : (tensor<i64>, tensor<?x3xf32>) -> (tensor<i64>, tensor<?x3xf32>) {
    %c = relax.less %i, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %d = tensor.extract %c[] : tensor<i1>
    scf.condition(%d) %i, %y : tensor<i64>, tensor<?x3xf32>
  } do {
  ^bb0(%i: tensor<i64>, %y: tensor<?x3xf32>):
    %j = relax.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %z = relax.concatenate %y, %x : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
    scf.yield %j, %z : tensor<i64>, tensor<?x3xf32>
  }
  func.return %1 : tensor<?x3xf32>
}

// An inner loop whose length the copies of the outer one make known: 1 + 2 copies.
// CHECK-LABEL: @nested
// CHECK-COUNT-3: relax.exp
// CHECK-NOT:     relax.exp
// CHECK-NOT:     scf.while
func.func @nested(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = relax.constant dense<0> : tensor<i64>
  %first = relax.constant dense<[true, false]> : tensor<2xi1>
  %two = relax.constant dense<2> : tensor<i64>
  %one = relax.constant dense<1> : tensor<i64>
  %0, %1 = scf.while (%n = %zero, %y = %x) : (tensor<i64>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>) {
    %c = relax.less %n, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %d = tensor.extract %c[] : tensor<i1>
    scf.condition(%d) %n, %y : tensor<i64>, tensor<2xf32>
  } do {
  ^bb0(%n: tensor<i64>, %y: tensor<2xf32>):
    %m = relax.add %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %2, %3 = scf.while (%i = %zero, %v = %y) : (tensor<i64>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>) {
      %c = relax.less_equal %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %d = tensor.extract %c[] : tensor<i1>
      scf.condition(%d) %i, %v : tensor<i64>, tensor<2xf32>
    } do {
    ^bb0(%i: tensor<i64>, %v: tensor<2xf32>):
      %j = relax.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %w = relax.exp %v : (tensor<2xf32>) -> tensor<2xf32>
      scf.yield %j, %w : tensor<i64>, tensor<2xf32>
    }
    scf.yield %m, %3 : tensor<i64>, tensor<2xf32>
  }
  func.return %1 : tensor<2xf32>
}

// Must not: the number of iterations is a parameter.
// CHECK-LABEL: @parameter
// CHECK:         scf.while
func.func @parameter(%x: tensor<2xf32>, %n: tensor<i64>) -> tensor<2xf32> {
  %zero = relax.constant dense<0> : tensor<i64>
  %one = relax.constant dense<1> : tensor<i64>
  %0, %1 = scf.while (%i = %zero, %y = %x) : (tensor<i64>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>) {
    %c = relax.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %d = tensor.extract %c[] : tensor<i1>
    scf.condition(%d) %i, %y : tensor<i64>, tensor<2xf32>
  } do {
  ^bb0(%i: tensor<i64>, %y: tensor<2xf32>):
    %j = relax.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %z = relax.exp %y : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %j, %z : tensor<i64>, tensor<2xf32>
  }
  func.return %1 : tensor<2xf32>
}

// Must not: whether it goes on depends on the data.
// UNCHANGED: @data
func.func @data(%x: tensor<f32>) -> tensor<f32> {
  %limit = relax.constant dense<10.0> : tensor<f32>
  %0 = scf.while (%y = %x) : (tensor<f32>) -> tensor<f32> {
    %c = relax.less %y, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %d = tensor.extract %c[] : tensor<i1>
    scf.condition(%d) %y : tensor<f32>
  } do {
  ^bb0(%y: tensor<f32>):
    %z = relax.exp %y : (tensor<f32>) -> tensor<f32>
    scf.yield %z : tensor<f32>
  }
  func.return %0 : tensor<f32>
}

// Must not: it never ends.
// UNCHANGED: @endless
func.func @endless(%x: tensor<f32>) -> tensor<f32> {
  %true = relax.constant dense<true> : tensor<i1>
  %0 = scf.while (%y = %x) : (tensor<f32>) -> tensor<f32> {
    %d = tensor.extract %true[] : tensor<i1>
    scf.condition(%d) %y : tensor<f32>
  } do {
  ^bb0(%y: tensor<f32>):
    %z = relax.exp %y : (tensor<f32>) -> tensor<f32>
    scf.yield %z : tensor<f32>
  }
  func.return %0 : tensor<f32>
}

// A condition that is no tensor.
// CHECK-LABEL: @constant
// CHECK-NEXT:    [[A:%.*]] = relax.exp %x
// CHECK-NEXT:    func.return [[A]]
func.func @constant(%x: tensor<f32>) -> tensor<f32> {
  %0 = scf.while (%y = %x) : (tensor<f32>) -> tensor<f32> {
    %false = arith.constant false
    %z = relax.exp %y : (tensor<f32>) -> tensor<f32>
    scf.condition(%false) %z : tensor<f32>
  } do {
  ^bb0(%y: tensor<f32>):
    scf.yield %y : tensor<f32>
  }
  func.return %0 : tensor<f32>
}
