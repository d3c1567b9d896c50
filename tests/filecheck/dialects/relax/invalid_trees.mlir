// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: data have shape 3, expected ?x?
%x, %n, %s, %r = "test.op"() : () -> (tensor<3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi32>)
%0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi32>) -> tensor<2x2xi32>

// -----

// CHECK: nodes have shape 7x4, expected ?x3
%x, %n, %s, %r = "test.op"() : () -> (tensor<2x3xf32>, tensor<7x4xi32>, tensor<7xf32>, tensor<2xi32>)
%0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x4xi32>, tensor<7xf32>, tensor<2xi32>) -> tensor<2x2xi32>

// -----

// CHECK: splits have shape 6, expected 7
%x, %n, %s, %r = "test.op"() : () -> (tensor<2x3xf32>, tensor<7x3xi32>, tensor<6xf32>, tensor<2xi32>)
%0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x3xi32>, tensor<6xf32>, tensor<2xi32>) -> tensor<2x2xi32>

// -----

// CHECK: roots have shape 2x1, expected ?
%x, %n, %s, %r = "test.op"() : () -> (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2x1xi32>)
%0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2x1xi32>) -> tensor<2x2xi32>

// -----

// CHECK: data are f32, but splits are f64
%x, %n, %s, %r = "test.op"() : () -> (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf64>, tensor<2xi32>)
%0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf64>, tensor<2xi32>) -> tensor<2x2xi32>

// -----

// CHECK: nodes are i64, expected i32
%x, %n, %s, %r = "test.op"() : () -> (tensor<2x3xf32>, tensor<7x3xi64>, tensor<7xf32>, tensor<2xi32>)
%0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x3xi64>, tensor<7xf32>, tensor<2xi32>) -> tensor<2x2xi32>

// -----

// CHECK: roots are i64, expected i32
%x, %n, %s, %r = "test.op"() : () -> (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi64>)
%0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi64>) -> tensor<2x2xi32>

// -----

// CHECK: element type i32 is not one of f16, bf16, f32, f64
%x, %n, %s, %r = "test.op"() : () -> (tensor<2x3xi32>, tensor<7x3xi32>, tensor<7xi32>, tensor<2xi32>)
%0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xi32>, tensor<7x3xi32>, tensor<7xi32>, tensor<2xi32>) -> tensor<2x2xi32>

// -----

// CHECK: depth is -1
%x, %n, %s, %r = "test.op"() : () -> (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi32>)
%0 = relax.tree_leaves %x, %n, %s, %r {depth = -1} : (tensor<2x3xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi32>) -> tensor<2x2xi32>

// -----

// CHECK: there is no node to read
%x, %n, %s, %r = "test.op"() : () -> (tensor<2x3xf32>, tensor<0x3xi32>, tensor<0xf32>, tensor<2xi32>)
%0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x3xf32>, tensor<0x3xi32>, tensor<0xf32>, tensor<2xi32>) -> tensor<2x2xi32>

// -----

// CHECK: there is no feature to read
%x, %n, %s, %r = "test.op"() : () -> (tensor<2x0xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi32>)
%0 = relax.tree_leaves %x, %n, %s, %r {depth = 5} : (tensor<2x0xf32>, tensor<7x3xi32>, tensor<7xf32>, tensor<2xi32>) -> tensor<2x2xi32>
