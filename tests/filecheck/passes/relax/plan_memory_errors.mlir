// RUN: not passline-opt %s -p plan-memory --split-input-file 2>&1 | filecheck %s

// CHECK: error: 'func.func' op has parameter 0 of type tensor<*xf32>: plan-memory needs tensors of known rank
func.func @unranked(%x : tensor<*xf32>) {
  return
}

// -----

// CHECK: error: 'relax.match_cast' op gives tensor<*xf32>: plan-memory needs tensors of known rank
// CHECK-NEXT: relax.match_cast
func.func @unranked_inside(%x : tensor<4xf32>) {
  %0 = relax.match_cast %x : (tensor<4xf32>) -> tensor<*xf32>
  return
}

// -----

// CHECK: error: 'tensor.dim' op reads a dimension that is not a constant
func.func @dim(%x : tensor<?xf32>, %i : index) -> index {
  %0 = tensor.dim %x, %i : tensor<?xf32>
  return %0 : index
}

// -----

// A shape may have zeros, which copy dimensions, and -1.
// CHECK: error: 'relax.dyn.reshape' op
func.func @reshape(%x : tensor<?xf32>, %s : tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = relax.dyn.reshape %x, %s : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// CHECK: error: 'relax.exp' op is on tensors and not legalized: run legalize-ops first
// CHECK: error: 'relax.negative' op is on tensors and not legalized
func.func @not_legalized(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Of a primitive function without kernel only the operations are named.
// CHECK-NOT: error: 'func.func' op has parameter 0 of type tensor<*xf32>
// CHECK: error: 'relax.exp' op
// CHECK: error: 'relax.nonzero' op has no kernel: it has no legalization
func.func private @primitive(%x : tensor<*xf32>) -> tensor<*xf32> attributes {relax.primitive} {
  %0 = relax.exp %x : (tensor<*xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
func.func @no_legalization(%x : tensor<4xf32>) {
  %0 = relax.nonzero %x : (tensor<4xf32>) -> tensor<?x1xi64>
  return
}

// -----

// CHECK: error: 'scf.execute_region' op is control flow that plan-memory does not support, unlike scf.if, for and while
func.func @region(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = "scf.execute_region"() ({
    "scf.yield"(%x) : (tensor<4xf32>) -> ()
  }) : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: error: 'relax.lambda' op cannot be planned: buffers cannot hold functions; lambda-lift and inline turn them into calls
func.func @functions(%x : tensor<4xf32>) -> tensor<4xf32> {
  %f = relax.lambda(%a : tensor<4xf32>) -> tensor<4xf32> {
    relax.yield %a : tensor<4xf32>
  }
  %0 = relax.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: error: 'func.func' op returns i32: a function on buffers returns tensors only
func.func @number(%x : tensor<4xf32>, %n : i32) -> i32 {
  return %n : i32
}

// -----

// CHECK: error: 'func.func' op has 2 blocks: plan-memory needs structured control flow
func.func @blocks(%x : tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}

// -----

// CHECK: error: 'relax.call_tir' op calls a kernel on memref<4xf32, "shared">: layouts and memory spaces are not supported
tir.prim_func private @kernel(%x : memref<4xf32, "shared">, %y : memref<4xf32>) {
}
func.func @space(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call_tir @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The operations of a primitive function have no kernel together.
// CHECK: error: 'relax.dyn.full' op has no kernel: a size is computed in the same kernel as the tensor that has it
func.func private @fused(%x: tensor<?xf32>, %n: tensor<1xi64>, %v: tensor<f32>) -> tensor<?xf32> attributes {relax.primitive} {
  %0 = relax.add %n, %n : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %1 = relax.dyn.full %v, %0 : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  %2 = relax.concatenate %x, %1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %2 : tensor<?xf32>
}

// -----

// A kernel that `legalize-ops` gives up, as the size of its result is not known before the call.
// CHECK: error: 'relax.arange' op has no kernel: a range of ui64 has a size that is not constant
func.func @range(%a: tensor<ui64>, %b: tensor<ui64>, %c: tensor<ui64>) -> tensor<?xui64> {
  %0 = func.call @fused_arange(%a, %b, %c) : (tensor<ui64>, tensor<ui64>, tensor<ui64>) -> tensor<?xui64>
  func.return %0 : tensor<?xui64>
}
func.func private @fused_arange(%a: tensor<ui64>, %b: tensor<ui64>, %c: tensor<ui64>) -> tensor<?xui64> attributes {relax.primitive} {
  %0 = relax.arange %a, %b, %c : (tensor<ui64>, tensor<ui64>, tensor<ui64>) -> tensor<?xui64>
  func.return %0 : tensor<?xui64>
}

// -----

// CHECK: error: 'func.func' op has parameter 0 of type tensor<4611686018427387904x4611686018427387904xf32>: 85070591730234615865843651857942052864 bytes are more than any memory has
// CHECK: error: 'relax.nn.relu' op has no kernel: tensor<4611686018427387904x4611686018427387904xf32>: 85070591730234615865843651857942052864 bytes are more than any memory has
func.func @huge(%x: tensor<4611686018427387904x4611686018427387904xf32>) -> tensor<4611686018427387904x4611686018427387904xf32> {
  %0 = relax.nn.relu %x : (tensor<4611686018427387904x4611686018427387904xf32>) -> tensor<4611686018427387904x4611686018427387904xf32>
  func.return %0 : tensor<4611686018427387904x4611686018427387904xf32>
}

// -----

// CHECK: error: 'func.func' op has parameter 0 of type tensor<0x9223372036854775807xf32>: 36893488147419103228 bytes are more than any memory has
func.func @huge_without_elements(%x: tensor<0x9223372036854775807xf32>) -> tensor<0x9223372036854775807xf32> {
  func.return %x : tensor<0x9223372036854775807xf32>
}
