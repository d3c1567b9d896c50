// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: func.func @loops(%n: i32, %x: f32, %i: index, %t: tensor<4xf32>) {
func.func @loops(%n: i32, %x: f32, %i: index, %t: tensor<4xf32>) {
  // CHECK-NEXT: %0 = scf.for unsigned %k = %n to %n step %n iter_args(%a = %x) -> (f32) : i32 {
  %0 = scf.for unsigned %k = %n to %n step %n iter_args(%a = %x) -> (f32) : i32 {
    // CHECK-NEXT: scf.yield %a : f32
    scf.yield %a : f32
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: scf.for unsigned %k_1 = %n to %n step %n : i32 {
  scf.for unsigned %k_1 = %n to %n step %n : i32 {
    // CHECK-NEXT: %1 = arith.addi %k_1, %n : i32
    %1 = arith.addi %k_1, %n : i32
  // CHECK-NEXT: } {note = 1 : i32}
  } {note = 1 : i32}
  // CHECK-NEXT: %2 = scf.execute_region -> (f32) no_inline {
  %2 = scf.execute_region -> (f32) no_inline {
    // CHECK-NEXT: scf.yield %x : f32
    scf.yield %x : f32
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: scf.execute_region no_inline {
  scf.execute_region no_inline {
    // CHECK-NEXT: scf.yield
    scf.yield
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: %3 = scf.forall (%p, %q) in (4, %i) shared_outs(%o = %t) -> (tensor<4xf32>) {
  %3 = scf.forall (%p, %q) in (4, %i) shared_outs(%o = %t) -> (tensor<4xf32>) {
    // CHECK-NEXT: %4 = tensor.extract_slice %o[%p] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %4 = tensor.extract_slice %o[%p] [1] [1] : tensor<4xf32> to tensor<1xf32>
    // CHECK-NEXT: scf.forall.in_parallel {
    scf.forall.in_parallel {
      // CHECK-NEXT: tensor.parallel_insert_slice %4 into %o[%p] [1] [1] : tensor<1xf32> into tensor<4xf32>
      tensor.parallel_insert_slice %4 into %o[%p] [1] [1] : tensor<1xf32> into tensor<4xf32>
    // CHECK-NEXT: }
    }
  // CHECK-NEXT: } {mapping = []}
  } {mapping = []}
  // CHECK-NEXT: scf.forall (%p_1, %q_1) = (0, %i) to (4, 8) step (1, 2) {
  scf.forall (%p_1, %q_1) = (0, %i) to (4, 8) step (1, 2) {
    // CHECK-NEXT: %5 = arith.addi %p_1, %q_1 : index
    %5 = arith.addi %p_1, %q_1 : index
  // CHECK-NEXT: }
  }
  func.return
}
