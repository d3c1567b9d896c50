// RUN: passline-opt %s -p legalize-ops --split-input-file | filecheck %s
// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)

// The sizes of results are computed beside the calls, from parameters at the start of the function.
// Dimensions of one name are one loop; what does not fill vectors is computed element by element.

// CHECK-LABEL: func.func @names(
// CHECK: [[N:%.*]] = tensor.dim %x
// CHECK: [[M:%.*]] = tensor.dim %x
// CHECK: relax.call_tir @fused_add(%x, %y) sizes([[N]], [[M]])
// CHECK: tir.prim_func private @fused_add
// CHECK: [[ROWS:%.*]] = memref.dim %x
// CHECK: [[COLUMNS:%.*]] = memref.dim %x
// CHECK: [[COUNT:%.*]] = arith.muli [[ROWS]], [[COLUMNS]]
// CHECK: [[WHOLE:%.*]] = arith.divui [[COUNT]]
// CHECK: tir.for {{.*}} extent [[WHOLE]]
// CHECK: tir.for vectorized
// CHECK: tir.for {{%.*}} = {{.*}}
func.func @names(
    %x: tensor<?x?xf32> {onnx.dims = ["n", "m"]}, %y: tensor<?x?xf32> {onnx.dims = ["n", "m"]}
) -> tensor<?x?xf32> {
  %0 = relax.add %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %0 : tensor<?x?xf32>
}

// -----

// Sizes that are not known to be equal broadcast at run time; the kernel checks that they do.

// CHECK-LABEL: func.func @broadcast(
// CHECK: [[N:%.*]] = tensor.dim %x
// CHECK: [[M:%.*]] = tensor.dim %y
// CHECK: [[ONE:%.*]] = arith.cmpi eq, [[N]]
// CHECK: [[SIZE:%.*]] = arith.select [[ONE]], [[M]], [[N]]
// CHECK: relax.call_tir @fused_add(%x, %y) sizes([[SIZE]])
// CHECK: cf.assert {{.*}}"relax.add: the operands do not broadcast"
func.func @broadcast(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relax.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

// A view of unknown sizes names them.

// CHECK-LABEL: func.func @view(
// CHECK: [[NUMBER:%.*]] = arith.index_cast {{.*}} : index to i64
// CHECK: [[SHAPE:%.*]] = tensor.from_elements [[NUMBER]]
// CHECK: relax.dyn.reshape %x, [[SHAPE]] {allowzero = true}
func.func @view(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %0 = relax.reshape %x {newshape = [-1]} : (tensor<?x?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// An operation on a tensor of unknown rank has no kernel.

// CHECK-LABEL: func.func @unranked(
// CHECK: relax.exp
func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<*xf32>) -> tensor<*xf32>
  func.return %0 : tensor<*xf32>
}
