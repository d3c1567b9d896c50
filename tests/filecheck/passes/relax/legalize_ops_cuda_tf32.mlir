// RUN: passline-opt %s --passes 'fuse-ops,legalize-ops{target="sm_90{features=\"+tf32\"}"}' | filecheck %s

// The feature `+tf32` of a target lets products of f32 round their operands: the pass changes what
// is computed, so it is not given by -p, whose passes are checked not to.
// CHECK:       entry @fused_matmul(
// CHECK:         for
// CHECK:           [[LHS:%[0-9]+]] = ftof {{.*}} -> tile<[[A:[0-9x]+]]xtf32>
// CHECK:           [[RHS:%[0-9]+]] = ftof {{.*}} -> tile<[[B:[0-9x]+]]xtf32>
// CHECK:           mmaf [[LHS]], [[RHS]], {{%[0-9]+}} : tile<[[A]]xtf32>, tile<[[B]]xtf32>, tile<{{[0-9x]+}}xf32>
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = relax.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %0 : tensor<64x64xf32>
}
