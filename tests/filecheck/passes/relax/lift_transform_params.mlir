// RUN: passline-opt %s -p lift-transform-params --split-input-file | filecheck %s

// A weight that is still used, computed values, one that is used in advance only, an unused one.
// CHECK-LABEL: func.func @main_transform_params
// CHECK-SAME: (%a: tensor<4x4xf32> {test.name = "a"}, %b: tensor<4xf32>, %c: tensor<4xf32>, %unused: tensor<1xf32>) -> (tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
// CHECK-NEXT: [[T:%.*]] = relax.transpose %a
// CHECK-NEXT: [[H:%.*]] = relax.full
// CHECK-NEXT: [[S:%.*]] = relax.multiply %c, [[H]]
// CHECK-NEXT: [[U:%.*]] = relax.add [[S]], %b
// CHECK-NEXT: func.return %b, [[T]], [[U]]
// CHECK-NEXT: }
// CHECK-NEXT: func.func @main(%x: tensor<4x4xf32> {test.name = "x"}, %b: tensor<4xf32>, [[T:%.*]]: tensor<4x4xf32>, [[U:%.*]]: tensor<4xf32>) -> tensor<4x4xf32> attributes {num_input = 1 : i64, relax.transform_params = @main_transform_params} {
// CHECK-NEXT: [[H:%.*]] = relax.full
// CHECK-NEXT: [[M:%.*]] = relax.matmul %x, [[T]]
// CHECK-NEXT: [[A:%.*]] = relax.add [[M]], [[U]]
// CHECK-NEXT: [[B:%.*]] = relax.multiply [[A]], [[H]]
// CHECK-NEXT: [[C:%.*]] = relax.add [[B]], %b
// CHECK-NEXT: func.return [[C]]
func.func @main(%x : tensor<4x4xf32> {test.name = "x"}, %a : tensor<4x4xf32> {test.name = "a"}, %b : tensor<4xf32>, %c : tensor<4xf32>, %unused : tensor<1xf32>) -> tensor<4x4xf32> attributes {num_input = 1} {
  %t = relax.transpose %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = relax.full 0.5 : tensor<f32>
  %0 = relax.matmul %x, %t : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = relax.multiply %c, %h : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u = relax.add %s, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.add %0, %u : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = relax.multiply %1, %h : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %3 = relax.add %2, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Equal computations once, values used in regions, several results, a returned value; no inputs.
// CHECK-LABEL: func.func @main_transform_params
// CHECK-NEXT: [[E:%.*]] = relax.exp %w
// CHECK-NEXT: [[P:%.*]], [[Q:%.*]] = relax.split %w {sections = 2}
// CHECK-NEXT: func.return [[E]], [[Q]]
// CHECK: func.func @main(%c: i1, [[E:%.*]]: tensor<4xf32>, [[Q:%.*]]: tensor<2xf32>)
// CHECK-NEXT: scf.if
// CHECK-NEXT: relax.add [[E]], [[E]]
// CHECK: func.return {{%.*}}, [[Q]]
func.func @main(%c : i1, %w : tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) attributes {num_input = 1} {
  %0 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  %p, %q = relax.split %w {sections = 2} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2 = scf.if %c -> (tensor<4xf32>) {
    %3 = relax.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  } else {
    scf.yield %1 : tensor<4xf32>
  }
  return %2, %q : tensor<4xf32>, tensor<2xf32>
}

// -----

// The name is taken; several functions, of which each has its own.
// CHECK: func.func private @main_transform_params()
// CHECK: func.func @main_transform_params_1(%w: tensor<4xf32>) -> tensor<4xf32>
// CHECK: func.func @main(%{{.*}}: tensor<4xf32>)
// CHECK: func.func @other_transform_params(%w: tensor<4xf32>) -> tensor<4xf32>
// CHECK: func.func @other(%{{.*}}: tensor<4xf32>)
func.func private @main_transform_params()
func.func @main(%w : tensor<4xf32>) -> tensor<4xf32> attributes {num_input = 0} {
  %0 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @other(%w : tensor<4xf32>) -> tensor<4xf32> attributes {num_input = 0} {
  %0 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Must not fire: what depends on an input, constants alone, operations with effects or regions, calls.
// CHECK-LABEL: func.func private @effect
// CHECK-NEXT: func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>, %c: i1)
// CHECK-NEXT: relax.add %x, %w
// CHECK-NOT: transform_params
func.func private @effect(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x : tensor<4xf32>, %w : tensor<4xf32>, %c : i1) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {num_input = 1} {
  %0 = relax.add %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.full 1.0 : tensor<4xf32>
  %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = func.call @effect(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = scf.if %c -> (tensor<4xf32>) {
    %5 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %5 : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  return %0, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Must not fire: no attribute, private, a kernel, referenced, or made by this pass.
// CHECK: func.func @plain(
// CHECK-NEXT: relax.exp
// CHECK: func.func private @private(
// CHECK-NEXT: relax.exp
// CHECK: func.func @kernel(
// CHECK-NEXT: relax.exp
// CHECK: func.func @called(
// CHECK-NEXT: relax.exp
// CHECK: func.func @caller(
// CHECK: func.func @done_transform_params(
// CHECK-NEXT: relax.exp
func.func @plain(%w : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @private(%w : tensor<4xf32>) -> tensor<4xf32> attributes {num_input = 0} {
  %0 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @kernel(%w : tensor<4xf32>) -> tensor<4xf32> attributes {num_input = 0, relax.primitive} {
  %0 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @called(%w : tensor<4xf32>) -> tensor<4xf32> attributes {num_input = 0} {
  %0 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @caller(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @done_transform_params(%w : tensor<4xf32>) -> tensor<4xf32> attributes {num_input = 0} {
  %0 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// 0.0 and -0.0 are different constants, also with a release of xDSL that takes their attributes
// for equal.
// CHECK-LABEL: func.func @main_transform_params
// CHECK: [[P:%.*]] = relax.divide
// CHECK: [[N:%.*]] = relax.divide
// CHECK: func.return [[P]], [[N]]
func.func @main(%x : tensor<4xf32>, %w : tensor<4xf32>) -> tensor<4xf32> attributes {num_input = 1} {
  %p = relax.full 0.0 : tensor<f32>
  %n = relax.full -0.0 : tensor<f32>
  %0 = relax.divide %w, %p : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = relax.divide %w, %n : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relax.add %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.multiply %2, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}
