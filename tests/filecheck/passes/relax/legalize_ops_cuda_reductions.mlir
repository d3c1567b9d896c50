// RUN: passline-opt %s -p 'fuse-ops,legalize-ops{target=sm_90}' --split-input-file | filecheck %s

// Blocks share long rows. Each fold is an entry that stores those of parts of the rows: the maximum,
// then, with the maxima combined, the position of an element that is equal. The last one combines.
// CHECK-LABEL: @argmax(
// CHECK:       [[BEST:%[0-9]+]] = memref.alloc() {{.*}} : memref<32xf32>
// CHECK:       [[PLACE:%[0-9]+]] = memref.alloc() {{.*}} : memref<32xi32>
// CHECK:       tir.launch @kernels::@fused_argmax_parts[{{.*}}] (%x, [[BEST]])
// CHECK-NEXT:  tir.launch @kernels::@fused_argmax_parts1[{{.*}}] (%x, [[BEST]], [[PLACE]])
// CHECK-NEXT:  tir.launch @kernels::@fused_argmax[{{.*}}] (%x, {{%[0-9]+}}, [[BEST]], [[PLACE]])
// CHECK:       entry @fused_argmax_parts(
// CHECK:         for
// CHECK:           maxf
// CHECK:         reduce
// CHECK:       entry @fused_argmax_parts1(
// CHECK:         [[PARTS:%[0-9]+]], {{%[0-9]+}} = load_view_tko weak {{.*}} -> tile<32xf32>, token
// CHECK:         reduce [[PARTS]]
// CHECK:         for
// CHECK:           cmpf equal
// CHECK:       entry @fused_argmax(
// CHECK-NOT:     for
// CHECK:         reduce {{.*}} : tile<32xi32> -> tile<i32>
func.func @argmax(%x: tensor<1x50257xf32>) -> tensor<1xi64> {
  %0 = relax.argmax %x {axis = 1 : i64} : (tensor<1x50257xf32>) -> tensor<1xi64>
  func.return %0 : tensor<1xi64>
}

// -----

// A softmax of a long row: the last entry has as many blocks as the folds.
// CHECK-LABEL: @softmax(
// CHECK:       [[PARTS:%[0-9]+]] = arith.constant 128 : index
// CHECK:       @fused_softmax_parts{{\[}}{{%[0-9]+}}, [[PARTS]]
// CHECK:       @fused_softmax_parts1{{\[}}{{%[0-9]+}}, [[PARTS]]
// CHECK:       @fused_softmax{{\[}}{{%[0-9]+}}, [[PARTS]]
// CHECK:       entry @fused_softmax(
// CHECK:         for
// CHECK:           exp
// CHECK:           store_view_tko
func.func @softmax(%x: tensor<2x200000xf32>) -> tensor<2x200000xf32> {
  %0 = relax.nn.softmax %x : (tensor<2x200000xf32>) -> tensor<2x200000xf32>
  func.return %0 : tensor<2x200000xf32>
}

// -----

// A long scan: the totals of parts, then scans that begin with those before them.
// CHECK-LABEL: @scan(
// CHECK:       tir.launch @kernels::@fused_cumsum_parts[{{.*}}] (%x, [[TOTALS:%[0-9]+]])
// CHECK-NEXT:  tir.launch @kernels::@fused_cumsum[{{.*}}] (%x, {{%[0-9]+}}, [[TOTALS]])
// CHECK:       entry @fused_cumsum_parts(
// CHECK-NOT:     scan
// CHECK:       entry @fused_cumsum(
// CHECK:         select
// CHECK:         reduce
// CHECK:         for
// CHECK:           scan
func.func @scan(%x: tensor<100000xf32>) -> tensor<100000xf32> {
  %0 = relax.cumsum %x {axis = 0 : i64} : (tensor<100000xf32>) -> tensor<100000xf32>
  func.return %0 : tensor<100000xf32>
}

// -----

// A transposed convolution is one product: a tap has a data element where the stride divides.
// CHECK-LABEL: @transposed(
// CHECK:       entry @fused_conv2d_transpose(
// CHECK:         for
// CHECK:           cmpi equal
// CHECK:           load_ptr_tko weak
// CHECK:           mmaf
func.func @transposed(%x: tensor<1x2x7x7xf16>) -> tensor<1x1x14x14xf16> {
  %w = relax.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]], [[[5.0, 6.0], [7.0, 8.0]]]]> : tensor<2x1x2x2xf16>
  %0 = relax.nn.conv2d_transpose %x, %w {strides = [2, 2]} : (tensor<1x2x7x7xf16>, tensor<2x1x2x2xf16>) -> tensor<1x1x14x14xf16>
  func.return %0 : tensor<1x1x14x14xf16>
}

// -----

// Loops of one element each: a window with its padding is read under masks, without a copy.
// CHECK-LABEL: @pool(
// CHECK:       tir.prim_func private @fused_max_pool2d(
// CHECK-NOT:     memref.alloc
// CHECK:         tir.for
// CHECK-NEXT:      tir.for
// CHECK-NEXT:        tir.for
// CHECK-NEXT:          tir.for
// CHECK:                 scf.if
// CHECK:                 arith.maximumf
// CHECK:                 memref.store
func.func @pool(%x: tensor<2x4x9x9xf32>) -> tensor<2x4x5x5xf32> {
  %0 = relax.nn.max_pool2d %x {pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1]} : (tensor<2x4x9x9xf32>) -> tensor<2x4x5x5xf32>
  func.return %0 : tensor<2x4x5x5xf32>
}

// -----

// Updates of which the last one stays: the largest number of an update of each element is found
// first, in any order.
// CHECK-LABEL: @scatter(
// CHECK:       [[LAST:%[0-9]+]] = memref.alloc() {{.*}} : memref<9xi32>
// CHECK:       tir.for parallel
// CHECK:         "memref.atomic_rmw"({{%[0-9]+}}, [[LAST]], {{.*}}kind = 6
// CHECK:       tir.for parallel
// CHECK:         [[NUMBER:%[0-9]+]] = memref.load [[LAST]]
// CHECK:         [[STAYS:%[0-9]+]] = arith.cmpi eq, [[NUMBER]]
// CHECK:         scf.if [[STAYS]]
func.func @scatter(%x: tensor<9xf32>, %i: tensor<40xi64>, %u: tensor<40xf32>) -> tensor<9xf32> {
  %0 = relax.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<9xf32>, tensor<40xi64>, tensor<40xf32>) -> tensor<9xf32>
  func.return %0 : tensor<9xf32>
}
