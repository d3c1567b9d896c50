// RUN: passline-opt %s -p preallocate-collections --split-input-file | filecheck %s

// The rows of two collections are stored; what follows has the final size. The condition counts.
// CHECK-LABEL: @two
func.func @two(%x : tensor<4xf32>) -> (tensor<3x4xf32>, tensor<?xi64>) {
  // CHECK: [[A:%.*]] = relax.full 0.000000e+00 : tensor<3x4xf32>
  // CHECK-NEXT: [[B:%.*]] = relax.full 0 : tensor<3xi64>
  // CHECK-NEXT: scf.while ({{.*}} = [[A]], {{.*}} = [[B]], {{.*}}) : (tensor<i64>, tensor<4xf32>, tensor<3x4xf32>, tensor<3xi64>, index)
  // CHECK: ^bb0({{.*}}, [[P:%[^:]*]]: tensor<3x4xf32>, [[Q:%[^:]*]]: tensor<3xi64>, %turn: index):
  // CHECK: relax.call_tir_inplace @store_row([[P]], {{.*}}, %turn) {inplace_indices = array<i64: 0>} : (tensor<3x4xf32>, tensor<1x4xf32>, index) -> tensor<3x4xf32>
  // CHECK: relax.call_tir_inplace @store_row1([[Q]], {{.*}}, %turn) {inplace_indices = array<i64: 0>} : (tensor<3xi64>, tensor<1xi64>, index) -> tensor<3xi64>
  // CHECK: arith.addi %turn
  // CHECK: relax.exp {{.*}} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: func.return
  // CHECK: tir.prim_func private @store_row(%all: memref<3x4xf32>, %row: memref<1x4xf32>, %turn: index)
  // CHECK: cf.assert {{.*}}, "more than 3 rows are collected"
  // CHECK: memref.store {{.*}}, %all[%turn, {{.*}}] : memref<3x4xf32>
  %zero = relax.full 0 : tensor<i64>
  %one = relax.full 1 : tensor<i64>
  %three = relax.full 3 : tensor<i64>
  %none = relax.full 0.0 : tensor<0x4xf32>
  %empty = relax.full 0 : tensor<0xi64>
  %rows = tensor.cast %none : tensor<0x4xf32> to tensor<?x4xf32>
  %turns = tensor.cast %empty : tensor<0xi64> to tensor<?xi64>
  %0:4 = scf.while (%i = %zero, %s = %x, %y = %rows, %z = %turns) : (tensor<i64>, tensor<4xf32>, tensor<?x4xf32>, tensor<?xi64>) -> (tensor<i64>, tensor<4xf32>, tensor<?x4xf32>, tensor<?xi64>) {
    %l = relax.less %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c = tensor.extract %l[] : tensor<i1>
    scf.condition(%c) %i, %s, %y, %z : tensor<i64>, tensor<4xf32>, tensor<?x4xf32>, tensor<?xi64>
  } do {
  ^bb0(%i : tensor<i64>, %s : tensor<4xf32>, %y : tensor<?x4xf32>, %z : tensor<?xi64>):
    %j = relax.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %t = relax.tanh %s : (tensor<4xf32>) -> tensor<4xf32>
    %row = relax.expand_dims %t {axis = [0]} : (tensor<4xf32>) -> tensor<1x4xf32>
    %turn = relax.expand_dims %i {axis = [0]} : (tensor<i64>) -> tensor<1xi64>
    %p = relax.concatenate %y, %row : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
    %q = relax.concatenate %z, %turn : (tensor<?xi64>, tensor<1xi64>) -> tensor<?xi64>
    scf.yield %j, %t, %p, %q : tensor<i64>, tensor<4xf32>, tensor<?x4xf32>, tensor<?xi64>
  }
  %r = tensor.cast %0#2 : tensor<?x4xf32> to tensor<3x4xf32>
  %e = relax.exp %r : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %e, %0#3 : tensor<3x4xf32>, tensor<?xi64>
}

// Must not fire: the number of iterations depends on data.
// UNCHANGED: @unknown
func.func @unknown(%n : tensor<i64>, %row : tensor<1x4xf32>) -> tensor<?x4xf32> {
  %zero = relax.full 0 : tensor<i64>
  %one = relax.full 1 : tensor<i64>
  %none = relax.full 0.0 : tensor<0x4xf32>
  %rows = tensor.cast %none : tensor<0x4xf32> to tensor<?x4xf32>
  %0:2 = scf.while (%i = %zero, %y = %rows) : (tensor<i64>, tensor<?x4xf32>) -> (tensor<i64>, tensor<?x4xf32>) {
    %l = relax.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c = tensor.extract %l[] : tensor<i1>
    scf.condition(%c) %i, %y : tensor<i64>, tensor<?x4xf32>
  } do {
  ^bb0(%i : tensor<i64>, %y : tensor<?x4xf32>):
    %j = relax.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %p = relax.concatenate %y, %row : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
    scf.yield %j, %p : tensor<i64>, tensor<?x4xf32>
  }
  return %0#1 : tensor<?x4xf32>
}

// -----

// Must not fire: rows to start with, rows in front, two rows at once, along another axis, and a
// collection that the body reads.
// CHECK-LABEL: @others
func.func @others(%row : tensor<1x4xf32>, %some : tensor<2x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x4xf32>) {
  // CHECK-NOT: call_tir_inplace
  %zero = relax.full 0 : tensor<i64>
  %one = relax.full 1 : tensor<i64>
  %n = relax.full 2 : tensor<i64>
  %none = relax.full 0.0 : tensor<0x4xf32>
  %a = tensor.cast %none : tensor<0x4xf32> to tensor<?x4xf32>
  %b = tensor.cast %some : tensor<2x4xf32> to tensor<?x4xf32>
  %d = tensor.cast %row : tensor<1x4xf32> to tensor<?x?xf32>
  %0:6 = scf.while (%i = %zero, %v = %b, %w = %a, %x = %a, %y = %d, %z = %a) : (tensor<i64>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x4xf32>) -> (tensor<i64>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x4xf32>) {
    %l = relax.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c = tensor.extract %l[] : tensor<i1>
    scf.condition(%c) %i, %v, %w, %x, %y, %z : tensor<i64>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x4xf32>
  } do {
  ^bb0(%i : tensor<i64>, %v : tensor<?x4xf32>, %w : tensor<?x4xf32>, %x : tensor<?x4xf32>, %y : tensor<?x?xf32>, %z : tensor<?x4xf32>):
    %j = relax.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = relax.concatenate %v, %row : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
    %2 = relax.concatenate %row, %w : (tensor<1x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %3 = relax.concatenate %x, %some : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
    %4 = relax.concatenate %y, %row {axis = 1} : (tensor<?x?xf32>, tensor<1x4xf32>) -> tensor<?x?xf32>
    %m = relax.sum %z {axis = [0], keepdims = true} : (tensor<?x4xf32>) -> tensor<1x4xf32>
    %5 = relax.concatenate %z, %m : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
    scf.yield %j, %1, %2, %3, %4, %5 : tensor<i64>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x4xf32>
  }
  return %0#1, %0#2, %0#3, %0#4, %0#5 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x4xf32>
}
