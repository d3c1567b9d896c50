// RUN: passline-opt %s -p plan-memory --split-input-file | filecheck %s

// A concatenation that is in place only in part: parameters, constants, and values that are
// elsewhere already are copied.
// CHECK-LABEL: tir.prim_func @f
// CHECK-DAG:     [[A:%.*]] = memref.view %arena[%{{.*}}][] : memref<{{.*}}xi8> to memref<2xf32>
// CHECK:         func.call @k(%x, %a)
// CHECK:         "memref.copy"(%x, %{{.*}})
// CHECK:         "memref.copy"(%a, %{{.*}})
// CHECK:         func.call @l(%{{.*}}, %result0)
func.func private @k(memref<2xf32>, memref<2xf32>)
func.func private @l(memref<6xf32>, memref<6xf32>)
func.func @f(%x: tensor<2xf32>) -> tensor<6xf32> {
  %a = relax.call_tir @k(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %0 = relax.concatenate %a, %x, %a : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>
  %1 = relax.call_tir @l(%0) : (tensor<6xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// A returned concatenation is copied to the buffer of the caller as a whole.
// CHECK-LABEL: tir.prim_func @returned
// CHECK:         func.call @k(%x, %a)
// CHECK:         func.call @k(%a, %b)
// CHECK:         "memref.copy"(%{{.*}}, %result0)
func.func private @k(memref<2xf32>, memref<2xf32>)
func.func @returned(%x: tensor<2xf32>) -> tensor<4xf32> {
  %a = relax.call_tir @k(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %b = relax.call_tir @k(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %0 = relax.concatenate %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// In both branches of an scf.if, whose result is returned.
// CHECK-LABEL: tir.prim_func @branches
// CHECK:         scf.if %c {
// CHECK:           func.call @k
// CHECK:           func.call @k
// CHECK:         } else {
// CHECK:           "memref.copy"(%y
// CHECK:         }
// CHECK:         "memref.copy"(%{{.*}}, %r)
func.func private @k(memref<2xf32>, memref<2xf32>)
func.func @branches(%c: i1, %x: tensor<2xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> (tensor<4xf32>) {
    %a = relax.call_tir @k(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %b = relax.call_tir @k(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %0 = relax.concatenate %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
