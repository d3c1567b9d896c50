// RUN: passline-opt %s -p canonicalize --allow-unregistered-dialect | filecheck %s
// REQUIRES-XDSL: 0.70 (the custom form of `tensor.extract_slice`)

// Loops over threads.

// Bounds and steps that are constants belong into the properties.
// CHECK-LABEL: @bounds(
// CHECK-NEXT:    {{%.*}} = scf.forall ({{%.*}}, {{%.*}}) = (0, 0) to (2, %n) step (1, 2) shared_outs({{%.*}} = %a) -> (tensor<?xf32>) {
// CHECK-NEXT:      scf.forall.in_parallel {
// CHECK-NEXT:        tensor.parallel_insert_slice %s into {{%.*}}[{{%.*}}] [1] [1] : tensor<1xf32> into tensor<?xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return {{%.*}} : tensor<?xf32>
func.func @bounds(%a: tensor<?xf32>, %s: tensor<1xf32>, %n: index) -> tensor<?xf32> {
  %0 = arith.constant 0 : index
  %2 = arith.constant 2 : index
  %r = scf.forall (%i, %j) = (%0, %0) to (%2, %n) step (1, %2) shared_outs(%o = %a) -> (tensor<?xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  func.return %r : tensor<?xf32>
}

// A dimension of one iteration is dropped; its variable is the lower bound.
// CHECK-LABEL: @single(
// CHECK-NEXT:    {{%.*}} = arith.constant 3 : index
// CHECK-NEXT:    {{%.*}} = scf.forall ({{%.*}}, {{%.*}}) = (0, %n) to (%n, 9) step (1, 1) shared_outs({{%.*}} = %a) -> (tensor<?xf32>) {
// CHECK-NEXT:      {{%.*}} = arith.addi {{%.*}}, {{%.*}} : index
// CHECK-NEXT:      scf.forall.in_parallel {
// CHECK-NEXT:        tensor.parallel_insert_slice %s into {{%.*}}[{{%.*}}] [2] [1] : tensor<2xf32> into tensor<?xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return {{%.*}} : tensor<?xf32>
func.func @single(%a: tensor<?xf32>, %s: tensor<2xf32>, %n: index) -> tensor<?xf32> {
  %r = scf.forall (%i, %j, %k) = (3, 0, %n) to (4, %n, 9) step (2, 1, 1) shared_outs(%o = %a) -> (tensor<?xf32>) {
    %x = arith.addi %i, %j : index
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%x] [2] [1] : tensor<2xf32> into tensor<?xf32>
    }
  }
  func.return %r : tensor<?xf32>
}

// In a loop of one iteration, insertions into one output come one after the other.
// CHECK-LABEL: @once(
// CHECK-NEXT:    {{%.*}} = tensor.insert_slice %s into %b[1] [2] [1] : tensor<2xf32> into tensor<8xf32>
// CHECK-NEXT:    {{%.*}} = tensor.insert_slice %t into %a[4] [2] [1] : tensor<2xf32> into tensor<8xf32>
// CHECK-NEXT:    {{%.*}} = tensor.insert_slice %s into {{%.*}}[6] [2] [1] : tensor<2xf32> into tensor<8xf32>
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}} : tensor<8xf32>, tensor<8xf32>
func.func @once(%a: tensor<8xf32>, %b: tensor<8xf32>, %s: tensor<2xf32>, %t: tensor<2xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r:2 = scf.forall (%i) = (1) to (4) step (3) shared_outs(%o = %a, %p = %b) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %p[%i] [2] [1] : tensor<2xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %t into %o[4] [2] [1] : tensor<2xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %s into %o[6] [2] [1] : tensor<2xf32> into tensor<8xf32>
    }
  }
  func.return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// Loops without iterations.
// CHECK-LABEL: @never(
// CHECK-NEXT:    func.return
func.func @never(%n: index, %m: memref<4xf32>, %x: f32) {
  scf.forall (%i, %j) = (0, 4) to (%n, 4) step (1, 1) {
    memref.store %x, %m[%i] : memref<4xf32>
  }
  scf.forall (%i) = (0) to (4) step (-1) {
    memref.store %x, %m[%i] : memref<4xf32>
  }
  func.return
}

// Dimensions that are mapped to processors stay; a variable of one iteration is a constant.
// CHECK-LABEL: @mapped(
// CHECK-NEXT:    {{%.*}} = arith.constant 1 : index
// CHECK-NEXT:    scf.forall ({{%.*}}, {{%.*}}) = (0, 1) to (4, 2) step (1, 1) {
// CHECK-NEXT:      memref.store %x, %m[{{%.*}}] : memref<4xf32>
// CHECK-NEXT:    } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
// CHECK-NEXT:    scf.forall ({{%.*}}) = (4) to (4) step (1) {
// CHECK-NEXT:      memref.store %x, %m[{{%.*}}] : memref<4xf32>
// CHECK-NEXT:    } {mapping = [#gpu.thread<x>]}
// CHECK-NEXT:    func.return
func.func @mapped(%m: memref<4xf32>, %x: f32) {
  scf.forall (%i, %j) = (0, 1) to (4, 2) step (1, 1) {
    memref.store %x, %m[%j] : memref<4xf32>
  } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
  scf.forall (%i) = (4) to (4) step (1) {
    memref.store %x, %m[%i] : memref<4xf32>
  } {mapping = [#gpu.thread<x>]}
  func.return
}

// The numbers of iterations are not known, or more than one.
// UNCHANGED: @kept
func.func @kept(%a: tensor<8xf32>, %s: tensor<2xf32>, %n: index, %m: index) -> tensor<8xf32> {
  %r = scf.forall (%i, %j, %k) = (%n, 0, 0) to (%m, %n, 2) step (1, 1, 1) shared_outs(%o = %a) -> (tensor<8xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [2] [1] : tensor<2xf32> into tensor<8xf32>
    }
  }
  func.return %r : tensor<8xf32>
}

// An output that is not written is what it was before; one that is not read is not needed.
// CHECK-LABEL: @outputs(
// CHECK-NEXT:    {{%.*}} = scf.forall ({{%.*}}) in (%n) shared_outs({{%.*}} = %b) -> (tensor<8xf32>) {
// CHECK-NEXT:      {{%.*}} = tensor.extract_slice %a[{{%.*}}] [2] [1] : tensor<8xf32> to tensor<2xf32>
// CHECK-NEXT:      {{%.*}} = tensor.extract_slice %c[{{%.*}}] [2] [1] : tensor<8xf32> to tensor<2xf32>
// CHECK-NEXT:      scf.forall.in_parallel {
// CHECK-NEXT:        tensor.parallel_insert_slice {{%.*}} into {{%.*}}[{{%.*}}] [2] [1] : tensor<2xf32> into tensor<8xf32>
// CHECK-NEXT:        tensor.parallel_insert_slice {{%.*}} into {{%.*}}[{{%.*}}] [2] [1] : tensor<2xf32> into tensor<8xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %a, {{%.*}} : tensor<8xf32>, tensor<8xf32>
func.func @outputs(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %r:3 = scf.forall (%i) in (%n) shared_outs(%o = %a, %p = %b, %q = %c) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %x = tensor.extract_slice %o[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
    %y = tensor.extract_slice %q[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %p[%i] [2] [1] : tensor<2xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %y into %p[%i] [2] [1] : tensor<2xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %y into %q[%i] [2] [1] : tensor<2xf32> into tensor<8xf32>
    }
  }
  func.return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// The loop writes to what was cast, unless it is of a less static type.
// CHECK-LABEL: @cast(
// CHECK-NEXT:    {{%.*}} = tensor.cast %b : tensor<?xf32> to tensor<8xf32>
// CHECK-NEXT:    {{%.*}}, {{%.*}} = scf.forall ({{%.*}}) in (%n) shared_outs({{%.*}} = %a, {{%.*}} = {{%.*}}) -> (tensor<8xf32>, tensor<8xf32>) {
// CHECK-NEXT:      {{%.*}} = tensor.cast {{%.*}} : tensor<8xf32> to tensor<?xf32>
// CHECK-NEXT:      "test.op"({{%.*}}) : (tensor<?xf32>) -> ()
// CHECK-NEXT:      scf.forall.in_parallel {
// CHECK-NEXT:        tensor.parallel_insert_slice %s into {{%.*}}[{{%.*}}] [2] [1] : tensor<2xf32> into tensor<8xf32>
// CHECK-NEXT:        tensor.parallel_insert_slice %s into {{%.*}}[{{%.*}}] [2] [1] : tensor<2xf32> into tensor<8xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    {{%.*}} = tensor.cast {{%.*}} : tensor<8xf32> to tensor<?xf32>
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}} : tensor<?xf32>, tensor<8xf32>
func.func @cast(%a: tensor<8xf32>, %b: tensor<?xf32>, %s: tensor<2xf32>, %n: index) -> (tensor<?xf32>, tensor<8xf32>) {
  %c = tensor.cast %a : tensor<8xf32> to tensor<?xf32>
  %d = tensor.cast %b : tensor<?xf32> to tensor<8xf32>
  %r:2 = scf.forall (%i) in (%n) shared_outs(%o = %c, %p = %d) -> (tensor<?xf32>, tensor<8xf32>) {
    "test.op"(%o) : (tensor<?xf32>) -> ()
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [2] [1] : tensor<2xf32> into tensor<?xf32>
      tensor.parallel_insert_slice %s into %p[%i] [2] [1] : tensor<2xf32> into tensor<8xf32>
    }
  }
  func.return %r#0, %r#1 : tensor<?xf32>, tensor<8xf32>
}

// Insertions with constants; one that is out of bounds stays, and casts stand before the terminator.
// CHECK-LABEL: @insertions(
// CHECK-NEXT:    {{%.*}} = arith.constant 9 : index
// CHECK-NEXT:    {{%.*}} = arith.constant 8 : index
// CHECK-NEXT:    {{%.*}} = scf.forall ({{%.*}}) in (%n) shared_outs({{%.*}} = %a) -> (tensor<8xf32>) {
// CHECK-NEXT:      {{%.*}} = tensor.cast %s : tensor<?xf32> to tensor<4xf32>
// CHECK-NEXT:      scf.forall.in_parallel {
// CHECK-NEXT:        tensor.parallel_insert_slice {{%.*}} into {{%.*}}[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
// CHECK-NEXT:        tensor.parallel_insert_slice %t into {{%.*}}[{{%.*}}] [4] [1] : tensor<4xf32> into tensor<8xf32>
// CHECK-NEXT:        tensor.parallel_insert_slice %s into {{%.*}}[{{%.*}}] [%i] [1] : tensor<?xf32> into tensor<8xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}} : index, tensor<8xf32>
func.func @insertions(%a: tensor<8xf32>, %s: tensor<?xf32>, %t: tensor<4xf32>, %n: index, %i: index) -> (index, tensor<8xf32>) {
  %0 = arith.constant 0 : index
  %4 = arith.constant 4 : index
  %9 = arith.constant 9 : index
  %u = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  %r = scf.forall (%j) in (%n) shared_outs(%o = %a) -> (tensor<8xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%4] [%4] [1] : tensor<?xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %u into %o[%j] [%i] [1] : tensor<?xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %s into %o[%9] [%i] [1] : tensor<?xf32> into tensor<8xf32>
    }
  }
  %d = tensor.dim %r, %0 : tensor<8xf32>
  func.return %d, %r : index, tensor<8xf32>
}

// The size of a result is that of the output.
// CHECK-LABEL: @size(
// CHECK-NEXT:    {{%.*}} = arith.constant 0 : index
// CHECK-NEXT:    {{%.*}} = tensor.dim %a, {{%.*}} : tensor<?xf32>
// CHECK-NEXT:    func.return {{%.*}} : index
func.func @size(%a: tensor<?xf32>, %s: tensor<1xf32>, %n: index) -> index {
  %0 = arith.constant 0 : index
  %r = scf.forall (%i) in (%n) shared_outs(%o = %a) -> (tensor<?xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  %d = tensor.dim %r, %0 : tensor<?xf32>
  func.return %d : index
}
