// RUN: passline-opt %s -p fuse-ops,legalize-ops,plan-memory --split-input-file | filecheck %s

// The operands of a concatenation along the outermost dimension that is not 1 are computed in their
// parts of the result, also through views: no kernel and no copy.
// CHECK-LABEL: tir.prim_func @in_place
// CHECK-DAG:     [[C0:%.*]] = arith.constant 0 : index
// CHECK:         [[A:%.*]] = memref.view %arena[[[C0]]][] : memref<{{.*}}xi8> to memref<1x2x3xf32>
// CHECK-NEXT:    tir.call @fused_softmax(%x, [[A]])
// CHECK-NEXT:    [[C24:%.*]] = arith.constant 24 : index
// CHECK-NEXT:    [[B:%.*]] = memref.view %arena[[[C24]]][] : memref<{{.*}}xi8> to memref<3x3xf32>
// CHECK-NEXT:    tir.call @fused_softmax1(%y, [[B]])
// CHECK-NEXT:    [[R:%.*]] = memref.view %arena[[[C0]]][] : memref<{{.*}}xi8> to memref<1x5x3xf32>
// CHECK-NEXT:    tir.call @fused_softmax2([[R]], %{{.*}})
// CHECK-NOT:     memref.copy
func.func @in_place(%x: tensor<1x2x3xf32>, %y: tensor<3x3xf32>) -> tensor<1x5x3xf32> {
  %a = relax.nn.softmax %x : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %b = relax.nn.softmax %y : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %v = relax.reshape %b {newshape = [1, 3, 3]} : (tensor<3x3xf32>) -> tensor<1x3x3xf32>
  %0 = relax.concatenate %a, %v {axis = 1} : (tensor<1x2x3xf32>, tensor<1x3x3xf32>) -> tensor<1x5x3xf32>
  %1 = relax.nn.softmax %0 : (tensor<1x5x3xf32>) -> tensor<1x5x3xf32>
  return %1 : tensor<1x5x3xf32>
}

// -----

// A concatenation of concatenations: parts of parts.
// CHECK-LABEL: tir.prim_func @nested
// CHECK-NOT:     concatenate
// CHECK:         tir.call @fused_softmax(%x, %{{.*}})
// CHECK-NOT:     concatenate
// CHECK:         func.func private @none
func.func @nested(%x: tensor<2xf32>, %y: tensor<2xf32>, %z: tensor<2xf32>) -> tensor<6xf32> {
  %a = relax.nn.softmax %x : (tensor<2xf32>) -> tensor<2xf32>
  %b = relax.nn.softmax %y : (tensor<2xf32>) -> tensor<2xf32>
  %c = relax.nn.softmax %z : (tensor<2xf32>) -> tensor<2xf32>
  %0 = relax.concatenate %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = relax.stop_fusion %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.concatenate %c, %1 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  %3 = relax.nn.softmax %2 : (tensor<6xf32>) -> tensor<6xf32>
  return %3 : tensor<6xf32>
}
func.func private @none(memref<1xf32>)

// Not in place, by a kernel: parts that are no contiguous memory; a parameter; a constant; one
// operand twice; one of two concatenations of a value; a result that is returned, in the buffer of
// the caller; an operand that is returned.
// CHECK-LABEL: tir.prim_func @strided
// CHECK:         tir.call @fused_concatenate
func.func @strided(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) -> tensor<2x5xf32> {
  %a = relax.nn.softmax %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = relax.nn.softmax %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = relax.concatenate %a, %b {axis = 1} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
  %1 = relax.nn.softmax %0 : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %1 : tensor<2x5xf32>
}

// CHECK-LABEL: tir.prim_func @parameter
// CHECK:         tir.call @fused_concatenate
func.func @parameter(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %a = relax.nn.softmax %x : (tensor<2xf32>) -> tensor<2xf32>
  %0 = relax.concatenate %a, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = relax.nn.softmax %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: tir.prim_func @constant
// CHECK:         tir.call @fused_concatenate
func.func @constant(%x: tensor<2xf32>) -> tensor<4xf32> {
  %a = relax.nn.softmax %x : (tensor<2xf32>) -> tensor<2xf32>
  %y = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relax.concatenate %a, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = relax.nn.softmax %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: tir.prim_func @twice
// CHECK:         tir.call @fused_concatenate
func.func @twice(%x: tensor<2xf32>) -> tensor<4xf32> {
  %a = relax.nn.softmax %x : (tensor<2xf32>) -> tensor<2xf32>
  %0 = relax.concatenate %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = relax.nn.softmax %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: tir.prim_func @two_concatenations
// CHECK:         tir.call @fused_concatenate(%a, %b, %{{.*}})
// CHECK-NOT:     concatenate
// CHECK:         tir.prim_func private
func.func @two_concatenations(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %a = relax.nn.softmax %x : (tensor<2xf32>) -> tensor<2xf32>
  %b = relax.nn.softmax %y : (tensor<2xf32>) -> tensor<2xf32>
  %0 = relax.concatenate %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = relax.concatenate %b, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %2 = relax.nn.softmax %0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.nn.softmax %1 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.matmul %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %5 = relax.add %2, %4 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}

// -----

// CHECK-LABEL: tir.prim_func @returned
// CHECK:         tir.call @fused_concatenate
// CHECK-SAME:    %result0
func.func @returned(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %a = relax.nn.softmax %x : (tensor<2xf32>) -> tensor<2xf32>
  %b = relax.nn.softmax %y : (tensor<2xf32>) -> tensor<2xf32>
  %0 = relax.concatenate %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: tir.prim_func @returned_operand
// CHECK:         tir.call @fused_concatenate
func.func @returned_operand(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  %a = relax.nn.softmax %x : (tensor<2xf32>) -> tensor<2xf32>
  %b = relax.nn.softmax %y : (tensor<2xf32>) -> tensor<2xf32>
  %0 = relax.concatenate %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = relax.nn.softmax %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %1 : tensor<2xf32>, tensor<4xf32>
}
