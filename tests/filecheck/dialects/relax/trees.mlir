// RUN: passline-opt %s --verify-roundtrip
// RUN: passline-opt %s --print-op-generic --verify-roundtrip

func.func @tree_leaves(%x: tensor<?x3xf32>, %n: tensor<7x3xi32>, %s: tensor<7xf32>, %r: tensor<2xi32>) -> tensor<?x2xi32> {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<?x3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi32>) -> tensor<?x2xi32>
  func.return %0 : tensor<?x2xi32>
}

func.func @known_sizes(%x: tensor<9x3xf64>, %n: tensor<7x3xi32>, %s: tensor<7xf64>, %r: tensor<20xi32>) -> tensor<9x20xi32> {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 0} : (tensor<9x3xf64>, tensor<7x3xi32>, tensor<7xf64>, tensor<20xi32>) -> tensor<9x20xi32>
  func.return %0 : tensor<9x20xi32>
}

func.func @unknown_rank(%x: tensor<*xf32>, %n: tensor<?x?xi32>, %s: tensor<?xf32>, %r: tensor<?xi32>) -> tensor<?x?xi32> {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 1} : (tensor<*xf32>, tensor<?x?xi32>, tensor<?xf32>, tensor<?xi32>) -> tensor<?x?xi32>
  func.return %0 : tensor<?x?xi32>
}
