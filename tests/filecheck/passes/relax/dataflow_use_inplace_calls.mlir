// RUN: passline-opt %s -p legalize-ops,dataflow-use-inplace-calls --split-input-file | filecheck %s
// RUN: passline-opt %s -p legalize-ops,dataflow-use-inplace-calls,plan-memory --split-input-file | filecheck %s --check-prefix=MEMORY

// The sum overwrites the first operand, which is used no more; the softmax reads all elements of
// its operand before it writes one.
// CHECK-LABEL: func.func @dies
// CHECK-NEXT:    [[A:%.*]] = relax.call_tir @fused_softmax(%x)
// CHECK-NEXT:    [[B:%.*]] = relax.call_tir_inplace @fused_add_inplace([[A]], %b) {inplace_indices = array<i64: 0>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    [[C:%.*]] = relax.call_tir @fused_softmax([[B]])
// CHECK:         tir.prim_func private @fused_add_inplace([[P:%.*]]: memref<4x8xf32>, %b: memref<8xf32>) {
// CHECK:           memref.load [[P]]
// CHECK:           memref.store %{{.*}}, [[P]]

// MEMORY-LABEL: tir.prim_func @dies
// MEMORY:         tir.call @fused_softmax(%x, [[A:%.*]])
// MEMORY-NEXT:    tir.call @fused_add_inplace([[A]], %b)
// MEMORY-NEXT:    tir.call @fused_softmax([[A]], %result0)
func.func @dies(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = relax.nn.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = relax.add %0, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = relax.nn.softmax %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Not a tensor of unknown size: the result may have another size.
// CHECK-LABEL: func.func @unknown
// CHECK:         relax.call_tir @k(%{{.*}}) sizes(%n)
tir.prim_func private @k(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = "memref.dim"(%y, %c0) : (memref<?xf32>, index) -> index
  tir.for %i = %c0 extent %n {
    %0 = memref.load %x[%i] : memref<?xf32>
    memref.store %0, %y[%i] : memref<?xf32>
  }
}
func.func @unknown(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = relax.call_tir @k(%x) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = relax.call_tir @k(%0) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// The second operand, as the first is a parameter.
// CHECK-LABEL: func.func @second
// CHECK:         relax.call_tir_inplace @fused_subtract_inplace(%x, %{{.*}}) {inplace_indices = array<i64: 1>}
func.func @second(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relax.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relax.subtract %x, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = relax.nn.softmax %1 : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Not in place: parameters and constants.
// CHECK-LABEL: func.func @parameters
// CHECK-NOT:     inplace
// CHECK-LABEL: tir.prim_func
func.func @parameters(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = relax.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %0 = relax.add %x, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Values that are used later, or returned, also through a view.
// CHECK-LABEL: func.func @used
// CHECK-NOT:     inplace
// CHECK-LABEL: tir.prim_func
func.func @used(%x: tensor<8xf32>, %b: tensor<f32>) -> (tensor<2x4xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = relax.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relax.add %0, %b : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = relax.reshape %0 {newshape = [2, 4]} : (tensor<8xf32>) -> tensor<2x4xf32>
  %5 = relax.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %6 = relax.exp %5 : (tensor<8xf32>) -> tensor<8xf32>
  %7 = relax.add %5, %6 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2, %1, %5 : tensor<2x4xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Elements of another type or number; reads of other elements.
// CHECK-LABEL: func.func @other_elements
// CHECK-NOT:     inplace
// CHECK-LABEL: tir.prim_func
func.func @other_elements(%x: tensor<8xf32>) -> (tensor<8xf64>, tensor<2x8xf32>, tensor<8xf32>) {
  %0 = relax.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relax.astype %0 {dtype = f64} : (tensor<8xf32>) -> tensor<8xf64>
  %2 = relax.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %3 = relax.broadcast_to %2 {shape = [2, 8]} : (tensor<8xf32>) -> tensor<2x8xf32>
  %4 = relax.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %5 = relax.flip %4 {axis = [0]} : (tensor<8xf32>) -> tensor<8xf32>
  return %1, %3, %5 : tensor<8xf64>, tensor<2x8xf32>, tensor<8xf32>
}

// -----

// Hand-written kernels: one that reads an element after it was written, one that writes each element
// in two iterations, and a call with one value as two operands.
// CHECK-LABEL: func.func @kernels
// CHECK-NOT:     inplace
// CHECK-LABEL: tir.prim_func
func.func @kernels(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relax.call_tir @late(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relax.call_tir @late(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relax.call_tir @twice(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = relax.call_tir @sum(%2, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
tir.prim_func private @sum(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tir.for %i = %c0 extent %c8 {
    %0 = memref.load %x[%i] : memref<8xf32>
    %1 = memref.load %y[%i] : memref<8xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %z[%i] : memref<8xf32>
  }
}
tir.prim_func private @late(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  tir.for %i = %c0 extent %c8 {
    memref.store %z, %y[%i] : memref<8xf32>
    %0 = memref.load %x[%i] : memref<8xf32>
  }
}
tir.prim_func private @twice(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  tir.for %j = %c0 extent %c2 {
    tir.for %i = %c0 extent %c8 {
      %0 = memref.load %x[%i] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%i] : memref<8xf32>
    }
  }
}

// plan-memory copies an operand that the call of a kernel in place would overwrite too early, and
// parameters.
// MEMORY-LABEL: tir.prim_func @early
// MEMORY:         func.call @k(%x, %a)
// MEMORY:         "memref.copy"(%a, %b)
// MEMORY:         func.call @k_inplace(%b)
// MEMORY:         "memref.copy"(%x, %c)
// MEMORY:         func.call @k_inplace(%c)
// MEMORY:         func.call @l(%a, %b, %c, %d)
func.func private @k(memref<8xf32>, memref<8xf32>)
func.func private @k_inplace(memref<8xf32>)
func.func private @l(memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>)
func.func @early(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relax.call_tir @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = relax.call_tir_inplace @k_inplace(%a) {inplace_indices = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
  %c = relax.call_tir_inplace @k_inplace(%x) {inplace_indices = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
  %d = relax.call_tir @l(%a, %b, %c) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %d : tensor<8xf32>
}
