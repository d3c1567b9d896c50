// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: data have shape 3, expected ?x?
func.func @rank(%x : tensor<3xf32>, %n : tensor<7x3xi32>, %s : tensor<7xf32>, %r : tensor<2xi32>) {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi32>) -> tensor<2x2xi32>
  return
}

// -----

// CHECK: nodes have shape 7x4, expected ?x3
func.func @columns(%x : tensor<2x3xf32>, %n : tensor<7x4xi32>, %s : tensor<7xf32>, %r : tensor<2xi32>) {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x4xi32>, tensor<7xf32>, tensor<2xi32>) -> tensor<2x2xi32>
  return
}

// -----

// CHECK: splits have shape 6, expected 7
func.func @splits(%x : tensor<2x3xf32>, %n : tensor<7x3xi32>, %s : tensor<6xf32>, %r : tensor<2xi32>) {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x3xi32>, tensor<6xf32>, tensor<2xi32>) -> tensor<2x2xi32>
  return
}

// -----

// CHECK: roots have shape 2x1, expected ?
func.func @roots(%x : tensor<2x3xf32>, %n : tensor<7x3xi32>, %s : tensor<7xf32>, %r : tensor<2x1xi32>) {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2x1xi32>) -> tensor<2x2xi32>
  return
}

// -----

// CHECK: data are f32, but splits are f64
func.func @elements(%x : tensor<2x3xf32>, %n : tensor<7x3xi32>, %s : tensor<7xf64>, %r : tensor<2xi32>) {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf64>, tensor<2xi32>) -> tensor<2x2xi32>
  return
}

// -----

// CHECK: nodes are i64, expected i32
func.func @indices(%x : tensor<2x3xf32>, %n : tensor<7x3xi64>, %s : tensor<7xf32>, %r : tensor<2xi32>) {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x3xi64>, tensor<7xf32>, tensor<2xi32>) -> tensor<2x2xi32>
  return
}

// -----

// CHECK: roots are i64, expected i32
func.func @root_indices(%x : tensor<2x3xf32>, %n : tensor<7x3xi32>, %s : tensor<7xf32>, %r : tensor<2xi64>) {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi64>) -> tensor<2x2xi32>
  return
}

// -----

// CHECK: element type i32 is not one of f16, bf16, f32, f64
func.func @integers(%x : tensor<2x3xi32>, %n : tensor<7x3xi32>, %s : tensor<7xi32>, %r : tensor<2xi32>) {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xi32>, tensor<7x3xi32>, tensor<7xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  return
}

// -----

// CHECK: depth is -1
func.func @depth(%x : tensor<2x3xf32>, %n : tensor<7x3xi32>, %s : tensor<7xf32>, %r : tensor<2xi32>) {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = -1} : (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi32>) -> tensor<2x2xi32>
  return
}

// -----

// CHECK: there is no node to read
func.func @no_nodes(%x : tensor<2x3xf32>, %n : tensor<0x3xi32>, %s : tensor<0xf32>, %r : tensor<2xi32>) {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<0x3xi32>, tensor<0xf32>, tensor<2xi32>) -> tensor<2x2xi32>
  return
}

// -----

// CHECK: there is no feature to read
func.func @no_features(%x : tensor<2x0xf32>, %n : tensor<7x3xi32>, %s : tensor<7xf32>, %r : tensor<2xi32>) {
  %0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x0xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi32>) -> tensor<2x2xi32>
  return
}
