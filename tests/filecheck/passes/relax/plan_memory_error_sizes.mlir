// RUN: not passline-opt %s -p legalize-ops,plan-memory 2>&1 | filecheck %s

// The coefficient of the size of the result, in bytes, is beyond an i64.
// CHECK: error: 'func.func' op needs memory of a size that cannot be computed: a size beyond an i64
func.func @f(%x: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %0 = relax.nn.space_to_depth %x {block_size = 2147483648} : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  func.return %0 : tensor<?x?x?x?xf32>
}
