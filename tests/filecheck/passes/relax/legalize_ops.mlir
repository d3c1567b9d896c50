// RUN: passline-opt %s -p 'legalize-ops{target=x86-64-v2}' --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'legalize-ops{target=x86-64-v2}' --split-input-file --remarks-missed=legalize 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// One function for each distinct computation, which calls share; locations of calls stay.
// CHECK-LABEL: @shared
// CHECK-NEXT: [[A:%.*]] = relax.call_tir @fused_relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: [[B:%.*]] = relax.call_tir @fused_relu(%y) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: [[C:%.*]] = relax.call_tir @fused_relu1(%z) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: func.return [[A]], [[B]], [[C]]
// CHECK-NEXT: }
// CHECK-NEXT: tir.prim_func private @fused_relu(%x: memref<8xf32>, {{%.*}}: memref<8xf32>) {
// CHECK:      tir.prim_func private @fused_relu1(%z: memref<4xf32>, {{%.*}}: memref<4xf32>) {
// CHECK-NOT:  tir.prim_func
func.func @shared(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) {
  %0 = relax.nn.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relax.nn.relu %y : (tensor<8xf32>) -> tensor<8xf32>
  %2 = relax.nn.relu %z : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>
}

// -----

// What is element-wise after a convolution has no buffer: the padded data and the packed columns have
// one each, the sums are local. Its height and width are one dimension.
// CHECK-LABEL: @convolution
// CHECK-NEXT: relax.call_tir @fused(%x, %w, %b)
// CHECK:      tir.prim_func private @fused(%x: memref<1x2x4x4xf32>, %w: memref<3x2x3x3xf32>, %b: memref<3x1x1xf32>, [[OUT:%.*]]: memref<1x3x4x4xf32>) {
// CHECK:      memref.alloc() {{.*}} : memref<1x2x1x1x6x6xf32>
// CHECK-DAG:  [[COLUMN:%.*]] = memref.reinterpret_cast %b {{.*}} to memref<3x1xf32>
// CHECK-DAG:  [[IMAGE:%.*]] = memref.reinterpret_cast [[OUT]] {{.*}} to memref<1x3x16xf32>
// CHECK:      memref.alloc() {{.*}} : memref<18x16xf32>
// CHECK-NOT:  memref.alloc()
// CHECK:      arith.mulf {{.*}} fastmath<contract>
// CHECK:      [[SUM:%.*]] = memref.load {{.*}} "local">
// CHECK:      [[BIAS:%.*]] = memref.load [[COLUMN]]
// CHECK-NEXT: [[ADD:%.*]] = arith.addf {{%.*}}, [[BIAS]] : f32
// CHECK-NEXT: [[MAX:%.*]] = arith.maximumf [[ADD]], {{%.*}} : f32
// CHECK-NEXT: memref.store [[MAX]], [[IMAGE]]
func.func @convolution(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x3x3xf32>, %b: tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32> {
  %0 = call @fused(%x, %w, %b) : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  return %0 : tensor<1x3x4x4xf32>
}
func.func private @fused(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x3x3xf32>, %b: tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32> attributes {relax.primitive} {
  %0 = relax.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32>
  %1 = relax.add %0, %b : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %2 = relax.nn.relu %1 : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %2 : tensor<1x3x4x4xf32>
}

// -----

// A chain is one loop, over dimensions that are one for all: not the first one, which %y has not.
// CHECK-LABEL: @chain
// CHECK:      tir.prim_func private @fused(%x: memref<2x3x4xf32>, %y: memref<3x4xf32>, [[OUT:%.*]]: memref<2x3x4xf32>) {
// CHECK-DAG:  [[X:%.*]] = memref.reinterpret_cast %x {{.*}} to memref<2x12xf32>
// CHECK-DAG:  [[Y:%.*]] = memref.reinterpret_cast %y {{.*}} to memref<12xf32>
// CHECK:      tir.for [[I:%.*]] =
// CHECK-NEXT: tir.for [[J:%.*]] =
// CHECK-NEXT: tir.for vectorized [[K:%.*]] =
// CHECK:      memref.load [[X]]
// CHECK-NEXT: memref.load [[Y]]
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: memref.store
// CHECK-NOT:  tir.for
func.func @chain(%x: tensor<2x3x4xf32>, %y: tensor<3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = call @fused(%x, %y) : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
func.func private @fused(%x: tensor<2x3x4xf32>, %y: tensor<3x4xf32>) -> tensor<2x3x4xf32> attributes {relax.primitive} {
  %c = relax.constant dense<2.0> : tensor<f32>
  %0 = relax.multiply %x, %y : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %1 = relax.add %0, %c : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// -----

// Each part of what is concatenated has a loop of its own: no condition is in any.
// CHECK-LABEL: @concatenated
// CHECK:      tir.prim_func private @fused
// CHECK-NOT:  scf.if
// CHECK:      memref.load %x
// CHECK-NOT:  memref.load %y
// CHECK:      arith.maximumf
// CHECK-NOT:  scf.if
// CHECK:      memref.load %y
// CHECK:      arith.maximumf
func.func @concatenated(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %0 = call @fused(%x, %y) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}
func.func private @fused(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) -> tensor<5x4xf32> attributes {relax.primitive} {
  %0 = relax.concatenate %x, %y {axis = 0 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  %1 = relax.nn.relu %0 : (tensor<5x4xf32>) -> tensor<5x4xf32>
  return %1 : tensor<5x4xf32>
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// Windows are computed side by side and without conditions: each row is padded in a buffer.
// CHECK-LABEL: @windows
// CHECK:      tir.prim_func private @fused_max_pool1d(%x: memref<1x1x8xf32>, {{%.*}}: memref<1x1x8xf32>)
// CHECK:      [[ROW:%.*]] = memref.alloca() {{.*}} : memref<10xf32, "local">
// CHECK:      tir.for vectorized
// CHECK:      memref.load %x
// CHECK:      memref.store {{.*}}, [[ROW]]
// CHECK:      tir.for vectorized
// CHECK-NOT:  scf.if
// CHECK:      arith.maximumf
// CHECK:      arith.maximumf
// CHECK-NEXT: memref.store
func.func @windows(%x: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  %0 = relax.nn.max_pool1d %x {pool_size = [3], padding = [1]} : (tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  return %0 : tensor<1x1x8xf32>
}

// -----

// Only the parts that are used are computed.
// CHECK-LABEL: @parts
// CHECK-NEXT: [[A:%.*]], [[B:%.*]] = relax.call_tir @fused_split(%x) : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT: func.return [[A]], [[B]]
// CHECK:      tir.prim_func private @fused_split(%x: memref<6xf32>, {{%.*}}: memref<2xf32>, {{%.*}}: memref<2xf32>)
func.func @parts(%x: tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0, %1, %2 = relax.split %x {sections = 3 : i64} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %0, %2 : tensor<2xf32>, tensor<2xf32>
}

// -----

// Views and constants need no kernel.
// CHECK-LABEL: @views
// CHECK-NEXT: relax.constant
// CHECK-NEXT: relax.reshape
// CHECK-NEXT: relax.expand_dims
// CHECK-NEXT: relax.call_tir @fused_add(
// CHECK-NEXT: func.return
func.func @views(%x: tensor<2x3xf32>) -> tensor<1x6xf32> {
  %c = relax.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %0 = relax.reshape %x {newshape = [6]} : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = relax.expand_dims %0 {axis = [0]} : (tensor<6xf32>) -> tensor<1x6xf32>
  %2 = relax.add %1, %c : (tensor<1x6xf32>, tensor<6xf32>) -> tensor<1x6xf32>
  return %2 : tensor<1x6xf32>
}

// -----

// What has no kernel stays as it is, in its function.
// CHECK-LABEL: @left
// CHECK-NEXT: func.call @fused_add(%x)
// CHECK-NEXT: relax.nonzero %x
// CHECK-NEXT: func.call @fused(%y)
// CHECK:      func.func private @fused(%y: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {relax.primitive} {
// CHECK:      func.func private @fused_add(%x: tensor<*xf32>) -> tensor<*xf32> attributes {relax.primitive} {
// CHECK-NOT:  tir.prim_func
// REMARK:     Function=left | Remark="'relax.nonzero' has no legalization"
// REMARK:     Function=fused | Remark="no kernel: 'relax.constant' has no legalization"
// REMARK:     Function=fused_add | Remark="no kernel: the rank of tensor<*xf32> is not known"
func.func @left(%x: tensor<*xf32>, %y: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<?x?xi64>, tensor<2x3xf32>) {
  %0 = relax.add %x, %x : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %1 = relax.nonzero %x : (tensor<*xf32>) -> tensor<?x?xi64>
  %2 = call @fused(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<?x?xi64>, tensor<2x3xf32>
}
func.func private @fused(%y: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {relax.primitive} {
  %c = relax.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = relax.add %y, %c : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Other functions stay: those that are not to be touched, and external ones.
// CHECK-LABEL: @others
// CHECK-NEXT: relax.nn.relu
// CHECK-NEXT: func.call @external
// CHECK-NOT:  tir.prim_func
func.func @others(%x: tensor<4xf32>) -> tensor<4xf32> attributes {passline.skip_optimization} {
  %0 = relax.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @external(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @external(tensor<4xf32>) -> tensor<4xf32>

// -----

// What nothing uses is erased: an operation without a kernel could not be lowered.
// CHECK-LABEL: @unused
// CHECK-NEXT: func.return %x
// CHECK-NEXT: }
// CHECK-NOT:  tir.prim_func
func.func @unused(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relax.tanh %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relax.argsort %0 : (tensor<8xf32>) -> tensor<8xi64>
  %2, %3 = relax.topk %x : (tensor<8xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  return %x : tensor<8xf32>
}

// -----

// Parts of what is concatenated are loops only if it is read at the places of the result.
// CHECK-LABEL: @flipped
// CHECK:      tir.prim_func private @fused_concatenate_flip
// CHECK:        tir.for
// CHECK-NOT:    tir.for
// CHECK:        scf.if
func.func @flipped(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<5xf32> {
  %0 = call @fused_concatenate_flip(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func private @fused_concatenate_flip(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<5xf32> attributes {relax.primitive} {
  %0 = relax.concatenate %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %1 = relax.flip %0 {axis = [0]} : (tensor<5xf32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

// Squares are transposed in registers; at the end of a dimension they overlap. With vectors of 4
// lanes, 6 columns are 0 to 3 and 2 to 5.
// CHECK-LABEL: @squares
// CHECK:      tir.prim_func private @fused_transpose
// CHECK:        arith.minsi
// CHECK:        tir.for unrolled
// CHECK-NEXT:     tir.for vectorized
// CHECK:            memref.load %x
// CHECK-COUNT-4: vector.load
// CHECK-NEXT:   vector.shuffle {{.*}} [0, 4, 1, 5]
// CHECK-NEXT:   vector.shuffle {{.*}} [2, 6, 3, 7]
// CHECK-COUNT-6: vector.shuffle
// CHECK-COUNT-4: vector.store
// CHECK:        tir.for unrolled
// CHECK-NEXT:     tir.for vectorized
// CHECK-NOT:    tir.for
func.func @squares(%x: tensor<2x6x9xf32>) -> tensor<2x9x6xf32> {
  %0 = relax.transpose %x {axes = [0, 2, 1]} : (tensor<2x6x9xf32>) -> tensor<2x9x6xf32>
  return %0 : tensor<2x9x6xf32>
}

// -----

// Dimensions that stay together are one.
// CHECK-LABEL: @stays
// CHECK:      tir.prim_func private @fused_transpose
// CHECK-DAG:    [[X:%.*]] = memref.reinterpret_cast %x {{.*}} to memref<2x3x20xf32>
// CHECK-DAG:    [[Y:%.*]] = memref.reinterpret_cast {{.*}} to memref<3x2x20xf32>
// CHECK:        tir.for vectorized
// CHECK:          memref.load [[X]]
// CHECK-NEXT:     memref.store {{.*}}, [[Y]]
func.func @stays(%x: tensor<2x3x4x5xf32>) -> tensor<3x2x4x5xf32> {
  %0 = relax.transpose %x {axes = [1, 0, 2, 3]} : (tensor<2x3x4x5xf32>) -> tensor<3x2x4x5xf32>
  return %0 : tensor<3x2x4x5xf32>
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// Elements next to each other are reduced in the lanes of vectors, 4 vectors of 4 lanes at a time
// here, then the rest; partial results are combined by a tree. Kept dimensions are one loop.
// CHECK-LABEL: @rows
// CHECK:      tir.prim_func private @fused_sum(%x: memref<2x4x35xf32>, {{%.*}}: memref<2x4xf32>) {
// CHECK:      [[X:%.*]] = memref.reinterpret_cast %x {{.*}} to memref<8x35xf32>
// CHECK:      tir.for [[ROW:%.*]] =
// CHECK-NEXT: [[SUMS:%.*]] = memref.alloca() {{.*}} : memref<8x4xf32, "local">
// CHECK:      tir.for unrolled
// CHECK:      tir.for unrolled
// CHECK-NEXT: tir.for vectorized
// CHECK:      memref.load [[X]]{{\[}}[[ROW]],
// CHECK-NEXT: arith.addf
// CHECK-NEXT: memref.store {{%.*}}, [[SUMS]]
// CHECK:      memref<4x4xf32, "local">
// CHECK:      memref<2x4xf32, "local">
// CHECK:      memref<1x4xf32, "local">
// CHECK:      memref<1x2xf32, "local">
func.func @rows(%x: tensor<2x4x35xf32>) -> tensor<2x4xf32> {
  %0 = relax.sum %x {axis = [2]} : (tensor<2x4x35xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// Only the columns of the padding are computed one by one.
// CHECK-LABEL: @mirrored
// CHECK:      tir.prim_func private @fused_pad
// CHECK:        [[NINE:%.*]] = arith.constant 9 : index
// CHECK:        tir.for [[ROW:%.*]] =
// CHECK:          tir.for [[I:%.*]] = {{.*}} extent [[NINE]] {
// CHECK-NEXT:       [[X:%.*]] = memref.load %x{{.}}[[ROW]], [[I]]
func.func @mirrored(%x: tensor<6x9xf32>) -> tensor<6x13xf32> {
  %0 = relax.nn.pad %x {pad_width = [0, 0, 2, 2], pad_mode = "reflect"} : (tensor<6x9xf32>) -> tensor<6x13xf32>
  return %0 : tensor<6x13xf32>
}

// -----

// Adjacent results are the lanes of vectors, 8 vectors at a time; the last vector of the rest begins
// earlier. An operation before the reduction is computed in its loop.
// CHECK-LABEL: @columns
// CHECK:      tir.prim_func private @fused(%x: memref<1x5x2x19xf32>, [[OUT:%.*]]: memref<1x2x19xf32>) {
// CHECK-DAG:  [[LAST:%.*]] = arith.constant 34 : index
// CHECK-DAG:  [[X:%.*]] = memref.reinterpret_cast %x {{.*}} to memref<5x38xf32>
// CHECK-DAG:  [[Y:%.*]] = memref.reinterpret_cast [[OUT]] {{.*}} to memref<38xf32>
// CHECK:      tir.for vectorized [[V:%.*]] = {{%.*}} extent {{%.*}} {
// CHECK:      tir.for [[R:%.*]] =
// CHECK:      [[E:%.*]] = memref.load [[X]]{{\[}}[[R]], [[V]]]
// CHECK-NEXT: arith.mulf [[E]], [[E]]
// CHECK-NEXT: arith.addf
// CHECK:      memref.store {{%.*}}, [[Y]]{{\[}}[[V]]]
// CHECK:      tir.for
// CHECK-NEXT: tir.for vectorized
// CHECK:      arith.minsi {{%.*}}, [[LAST]]
func.func @columns(%x: tensor<1x5x2x19xf32>) -> tensor<1x2x19xf32> {
  %0 = call @fused(%x) : (tensor<1x5x2x19xf32>) -> tensor<1x2x19xf32>
  return %0 : tensor<1x2x19xf32>
}
func.func private @fused(%x: tensor<1x5x2x19xf32>) -> tensor<1x2x19xf32> attributes {relax.primitive} {
  %0 = relax.square %x : (tensor<1x5x2x19xf32>) -> tensor<1x5x2x19xf32>
  %1 = relax.sum %0 {axis = [1]} : (tensor<1x5x2x19xf32>) -> tensor<1x2x19xf32>
  return %1 : tensor<1x2x19xf32>
}

// -----

// A softmax over a middle axis is computed in the lanes of vectors, and stored as it is computed.
// CHECK-LABEL: @softmax
// CHECK:      tir.prim_func private @fused_softmax(%x: memref<1x3x4x2xf32>, [[OUT:%.*]]: memref<1x3x4x2xf32>) {
// CHECK-DAG:  [[X:%.*]] = memref.reinterpret_cast %x {{.*}} to memref<3x8xf32>
// CHECK-DAG:  [[Y:%.*]] = memref.reinterpret_cast [[OUT]] {{.*}} to memref<3x8xf32>
// CHECK:      tir.for vectorized
// CHECK:      arith.maximumf
// CHECK:      math.exp
// CHECK:      arith.divf
// CHECK:      arith.mulf
// CHECK-NEXT: memref.store {{%.*}}, [[Y]]
// CHECK-NOT:  tir.for
func.func @softmax(%x: tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32> {
  %0 = relax.nn.softmax %x {axis = 1 : i64} : (tensor<1x3x4x2xf32>) -> tensor<1x3x4x2xf32>
  return %0 : tensor<1x3x4x2xf32>
}

// -----

// An instance normalization goes through what is fused with it before it is stored: the channels are
// loops of their own, and the dimensions of an image are one.
// CHECK-LABEL: tir.prim_func private @normalized
// CHECK-DAG:   [[X:%.*]] = memref.reinterpret_cast {{.*}} to memref<6x64xf32>
// CHECK-DAG:   [[SHIFT:%.*]] = memref.reinterpret_cast %shift {{.*}} to memref<3x1xf32>
// CHECK-DAG:   [[OUT:%.*]] = memref.reinterpret_cast %{{[0-9]+}} {{.*}} to memref<2x3x64xf32>
// CHECK-NOT:   memref.alloc()
// CHECK:       tir.for [[I:%.*]] = {{.*}} {
// CHECK:         tir.for [[C:%.*]] = {{.*}} {
// CHECK:           math.sqrt
// CHECK:           tir.for vectorized
// CHECK:             memref.load [[X]]
// CHECK:             memref.load [[SHIFT]][[[C]],
// CHECK:             arith.maximumf
// CHECK:             memref.store {{%.*}}, [[OUT]][[[I]], [[C]],
func.func @instance_norm(%x: tensor<2x3x8x8xf32>, %p: tensor<8x8xf32>, %shift: tensor<3x1x1xf32>) -> tensor<2x3x8x8xf32> {
  %0 = func.call @normalized(%x, %p, %shift) : (tensor<2x3x8x8xf32>, tensor<8x8xf32>, tensor<3x1x1xf32>) -> tensor<2x3x8x8xf32>
  func.return %0 : tensor<2x3x8x8xf32>
}
func.func private @normalized(%x: tensor<2x3x8x8xf32>, %p: tensor<8x8xf32>, %shift: tensor<3x1x1xf32>) -> tensor<2x3x8x8xf32> attributes {relax.primitive} {
  %0 = relax.nn.layer_norm %x, %p, %p {axes = [2, 3], center = false, scale = false} : (tensor<2x3x8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8x8xf32>
  %1 = relax.add %0, %shift : (tensor<2x3x8x8xf32>, tensor<3x1x1xf32>) -> tensor<2x3x8x8xf32>
  %2 = relax.nn.relu %1 : (tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32>
  func.return %2 : tensor<2x3x8x8xf32>
}

// -----

// Calls that pass the same constant share the one that is packed for the kernel.
// CHECK-LABEL: func.func @steps
// CHECK:       [[W:%.*]] = relax.constant {{.*}} : tensor<1x1x4x4xf32>
// CHECK-NOT:   relax.constant
// CHECK:       relax.call_tir @step({{%.*}}, [[W]])
// CHECK:       relax.call_tir @step({{%.*}}, [[W]])
func.func @steps(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = relax.constant dense<[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 5.0], [1.0, 2.0, 3.0, 6.0], [1.0, 2.0, 3.0, 7.0]]> : tensor<4x4xf32>
  %0 = func.call @step(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = func.call @step(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}
func.func private @step(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {relax.primitive} {
  %0 = relax.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0 : tensor<4x4xf32>
}

// -----

// The call of a kernel has no effects: one whose results are unused goes, with what only it uses.
// CHECK-LABEL: @unused_call
// CHECK-NEXT: func.return %x
func.func @unused_call(%x : tensor<4xf32>) -> tensor<4xf32> {
  %c = relax.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = relax.reshape %c {newshape = [2, 2]} : (tensor<4xf32>) -> tensor<2x2xf32>
  %1 = func.call @primitive(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %x : tensor<4xf32>
}
func.func private @primitive(%y : tensor<2x2xf32>) -> tensor<2x2xf32> attributes {relax.primitive} {
  %0 = relax.exp %y : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// What is fused with a product of one column takes the element of the tile: it is not computed again.
// CHECK-LABEL: tir.prim_func private @fused_dense_astype
// CHECK-COUNT-1: arith.mulf
// CHECK-NOT:     arith.mulf
func.func @one_column(%x: tensor<1x8xf16>) -> tensor<1x1xf32> {
  %w = relax.constant dense<0.5> : tensor<1x8xf16>
  %0 = func.call @fused_dense_astype(%x, %w) : (tensor<1x8xf16>, tensor<1x8xf16>) -> tensor<1x1xf32>
  func.return %0 : tensor<1x1xf32>
}
func.func private @fused_dense_astype(%x: tensor<1x8xf16>, %w: tensor<1x8xf16>) -> tensor<1x1xf32> attributes {relax.primitive} {
  %0 = relax.nn.dense %x, %w : (tensor<1x8xf16>, tensor<1x8xf16>) -> tensor<1x1xf16>
  %1 = relax.astype %0 {dtype = f32} : (tensor<1x1xf16>) -> tensor<1x1xf32>
  func.return %1 : tensor<1x1xf32>
}

// -----

// A constant that is transposed is passed transposed and packed: 32 columns of each term in a row.
// CHECK-LABEL: @transposed_constant
// CHECK:      relax.constant dense<{{.*}}> : tensor<1x1x3x8xf32>
// CHECK:      tir.prim_func private @fused_transpose_matmul(%x: memref<4x3xf32>, {{%.*}}: memref<1x1x3x8xf32>, {{%.*}}: memref<4x5xf32>)
// CHECK-NOT:  memref.alloc() {{.*}}3x5
func.func @transposed_constant(%x: tensor<4x3xf32>) -> tensor<4x5xf32> {
  %w = relax.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [0.5, 1.5, 2.5], [3.5, 4.5, 5.5]]> : tensor<5x3xf32>
  %0 = call @fused_transpose_matmul(%x, %w) : (tensor<4x3xf32>, tensor<5x3xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
func.func private @fused_transpose_matmul(%x: tensor<4x3xf32>, %w: tensor<5x3xf32>) -> tensor<4x5xf32> attributes {relax.primitive} {
  %0 = relax.transpose %w {axes = [1, 0]} : (tensor<5x3xf32>) -> tensor<3x5xf32>
  %1 = relax.matmul %x, %0 : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

// An operation on elements reads it in vectors, then.
// CHECK-LABEL: tir.prim_func private @fused_transpose_add(
// CHECK:      tir.for vectorized
// CHECK:      memref.load %w[%{{.*}}, %{{.*}}] : memref<3x8xf32>
func.func @added_transposed_constant(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %w = relax.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [0.5, 1.5, 2.5], [3.5, 4.5, 5.5], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<8x3xf32>
  %0 = call @fused_transpose_add(%x, %w) : (tensor<3x8xf32>, tensor<8x3xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
func.func private @fused_transpose_add(%x: tensor<3x8xf32>, %w: tensor<8x3xf32>) -> tensor<3x8xf32> attributes {relax.primitive} {
  %0 = relax.transpose %w {axes = [1, 0]} : (tensor<8x3xf32>) -> tensor<3x8xf32>
  %1 = relax.add %x, %0 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}

// -----

// What an element needs twice is computed once, also at computed indices: with each of `k` such
// operations in a row, the code would double otherwise.
// CHECK-LABEL: tir.prim_func private @walk(
// CHECK-COUNT-3: arith.index_cast
// CHECK-NOT:  arith.index_cast
// CHECK:      memref.store
// CHECK-NOT:  arith.index_cast
func.func @walked(%x: tensor<8xi64>, %left: tensor<4xi64>, %right: tensor<4xi64>) -> tensor<8xi64> {
  %0 = call @walk(%x, %left, %right) : (tensor<8xi64>, tensor<4xi64>, tensor<4xi64>) -> tensor<8xi64>
  return %0 : tensor<8xi64>
}
func.func private @walk(%x: tensor<8xi64>, %left: tensor<4xi64>, %right: tensor<4xi64>) -> tensor<8xi64> attributes {relax.primitive} {
  %0 = relax.take %left, %x {axis = 0, mode = "clip"} : (tensor<4xi64>, tensor<8xi64>) -> tensor<8xi64>
  %1 = relax.take %right, %x {axis = 0, mode = "clip"} : (tensor<4xi64>, tensor<8xi64>) -> tensor<8xi64>
  %2 = relax.multiply %0, %1 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %3 = relax.take %left, %2 {axis = 0, mode = "clip"} : (tensor<4xi64>, tensor<8xi64>) -> tensor<8xi64>
  %4 = relax.take %right, %2 {axis = 0, mode = "clip"} : (tensor<4xi64>, tensor<8xi64>) -> tensor<8xi64>
  %5 = relax.multiply %3, %4 : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  return %5 : tensor<8xi64>
}
