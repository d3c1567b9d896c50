// RUN: passline-opt %s -p to-mixed-precision --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'to-mixed-precision{dtype=bf16}' --split-input-file | filecheck %s --check-prefix=BF16
// REQUIRES-XDSL: 0.64 (dense constants of bf16)

// Constants are converted at once, other values once after their definition; a bias, a scale and
// pooling follow; f32 where that is needed.
// CHECK-LABEL: @network
// CHECK-NEXT: [[X:%.*]] = relax.astype %x {dtype = f16}
// CHECK-NEXT: [[W:%.*]] = relax.full {{.*}} : tensor<4x2x1x1xf16>
// CHECK-NEXT: [[C:%.*]] = relax.nn.conv2d [[X]], [[W]] {strides = [2, 1]} : (tensor<1x2x4x4xf16>, tensor<4x2x1x1xf16>) -> tensor<1x4x2x4xf16>
// CHECK-NEXT: [[D:%.*]] = relax.nn.conv2d [[X]], [[W]] {strides = [2, 1]}
// CHECK-NEXT: [[B:%.*]] = relax.constant dense<{{.*}}> : tensor<4x1x1xf16>
// CHECK-NEXT: [[E:%.*]] = relax.add [[C]], [[B]] : (tensor<1x4x2x4xf16>, tensor<4x1x1xf16>) -> tensor<1x4x2x4xf16>
// CHECK-NEXT: [[F:%.*]] = relax.nn.relu [[E]]
// CHECK-NEXT: [[G:%.*]] = relax.concatenate [[F]], [[D]] {axis = 1}
// CHECK-NEXT: [[M:%.*]] = relax.nn.max_pool2d [[G]] {{.*}} -> tensor<1x8x1x2xf16>
// CHECK-NEXT: [[V:%.*]] = relax.astype [[M]] {dtype = f32}
// CHECK-NEXT: [[A:%.*]] = relax.nn.global_avg_pool2d [[V]] : (tensor<1x8x1x2xf32>) -> tensor<1x8x1x1xf32>
// CHECK-NEXT: func.return [[A]]
// BF16-LABEL: @network
// BF16: relax.nn.conv2d {{.*}} -> tensor<1x4x2x4xbf16>
// BF16: relax.nn.global_avg_pool2d {{.*}} -> tensor<1x8x1x1xf32>
func.func @network(%x : tensor<1x2x4x4xf32>) -> tensor<1x8x1x1xf32> {
  %w = relax.full 0.5 : tensor<4x2x1x1xf32>
  %0 = relax.nn.conv2d %x, %w {strides = [2, 1], out_dtype = f32} : (tensor<1x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x2x4xf32>
  %1 = relax.nn.conv2d %x, %w {strides = [2, 1]} : (tensor<1x2x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x2x4xf32>
  %b = relax.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %2 = relax.add %0, %b : (tensor<1x4x2x4xf32>, tensor<4x1x1xf32>) -> tensor<1x4x2x4xf32>
  %3 = relax.nn.relu %2 : (tensor<1x4x2x4xf32>) -> tensor<1x4x2x4xf32>
  %4 = relax.concatenate %3, %1 {axis = 1} : (tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>) -> tensor<1x8x2x4xf32>
  %5 = relax.nn.max_pool2d %4 {pool_size = [2, 2], strides = [2, 2]} : (tensor<1x8x2x4xf32>) -> tensor<1x8x1x2xf32>
  %6 = relax.nn.global_avg_pool2d %5 : (tensor<1x8x1x2xf32>) -> tensor<1x8x1x1xf32>
  return %6 : tensor<1x8x1x1xf32>
}

// -----

// Softmax stays in f32 between products; comparisons, selections and indices follow.
// CHECK-LABEL: @attention
// CHECK: [[S:%.*]] = relax.matmul {{.*}} -> tensor<4x4xf16>
// CHECK: relax.greater [[S]], {{%.*}} : (tensor<4x4xf16>, tensor<f16>) -> tensor<4x4xi1>
// CHECK: relax.where {{.*}} -> tensor<4x4xf16>
// CHECK: relax.argmax {{.*}} : (tensor<4x4xf16>) -> tensor<4xi64>
// CHECK: relax.nn.softmax {{.*}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: relax.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: [[R:%.*]] = relax.astype {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: func.return
func.func @attention(%q : tensor<4x4xf32>, %k : tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi64>) {
  %0 = relax.matmul %q, %k : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %zero = relax.full 0.0 : tensor<f32>
  %1 = relax.greater %0, %zero : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xi1>
  %2 = relax.where %1, %0, %zero : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %3 = relax.argmax %2 {axis = 1} : (tensor<4x4xf32>) -> tensor<4xi64>
  %4 = relax.nn.softmax %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = relax.matmul %4, %k : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5, %3 : tensor<4x4xf32>, tensor<4xi64>
}

// A conversion that the program has already; values of regions keep their type.
// CHECK-LABEL: @casts
// CHECK: [[M:%.*]] = relax.matmul {{.*}} -> tensor<2x2xf16>
// CHECK-NOT: relax.astype [[M]] {dtype = f16}
// CHECK: scf.if %c -> (tensor<2x2xf32>)
// CHECK: relax.nn.relu {{.*}} -> tensor<2x2xf16>
// CHECK: scf.yield {{.*}} : tensor<2x2xf32>
func.func @casts(%c : i1, %x : tensor<2x2xf32>) -> (tensor<2x2xf16>, tensor<2x2xf32>) {
  %0 = relax.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.astype %0 {dtype = f16} : (tensor<2x2xf32>) -> tensor<2x2xf16>
  %2 = scf.if %c -> (tensor<2x2xf32>) {
    %3 = relax.nn.relu %0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %3 : tensor<2x2xf32>
  } else {
    scf.yield %x : tensor<2x2xf32>
  }
  return %1, %2 : tensor<2x2xf16>, tensor<2x2xf32>
}

// Must not fire: nothing that always gains, an operand in f32, operations that are never converted.
// CHECK-LABEL: @never
// CHECK: relax.nn.relu %x : (tensor<2x2xf32>)
// CHECK-NEXT: relax.add %x, %x : (tensor<2x2xf32>
// CHECK: [[W:%.*]] = relax.astype {{.*}} {dtype = f32}
// CHECK-NEXT: relax.add [[W]], %x : (tensor<2x2xf32>
// CHECK-NEXT: relax.exp [[W]] : (tensor<2x2xf32>)
// CHECK-NEXT: relax.sum [[W]]
// CHECK-NEXT: relax.nn.layer_norm [[W]]
func.func @never(%x : tensor<2x2xf32>, %g : tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>) {
  %0 = relax.nn.relu %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.add %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = relax.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = relax.add %2, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = relax.exp %2 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = relax.sum %2 {axis = [1]} : (tensor<2x2xf32>) -> tensor<2xf32>
  %6 = relax.nn.layer_norm %2, %g, %g {axes = [1]} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %0, %1, %3, %4, %5, %6 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>
}

// Must not fire: other types, sums in f64, kernels; f16 cannot hold 70000, nor 1e-9 but as zero,
// nor 1e6 as padding, but -1e38 is no bound for it.
// CHECK-LABEL: @types
// CHECK: relax.matmul %d, %d : (tensor<2x2xf64>
// CHECK-NEXT: relax.matmul %i, %i : (tensor<2x2xi32>
// CHECK-NEXT: relax.nn.dense %x, %x {out_dtype = f64}
// CHECK: [[L:%.*]] = relax.full {{.*}} : tensor<2x2xf32>
// CHECK-NEXT: relax.matmul %x, [[L]] : (tensor<2x2xf32>
// CHECK: relax.add {{.*}} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
// CHECK-NEXT: relax.nn.pad {{.*}} -> tensor<3x2xf32>
// CHECK-NEXT: relax.clip {{.*}} -> tensor<2x2xf16>
// UNCHANGED: @kernel
// BF16-LABEL: @types
// BF16: relax.matmul {{.*}} : (tensor<2x2xbf16>
// BF16: relax.add {{.*}} -> tensor<2x2xbf16>
// BF16: relax.nn.pad {{.*}} -> tensor<3x2xbf16>
func.func @types(%x : tensor<2x2xf32>, %d : tensor<2x2xf64>, %i : tensor<2x2xi32>) -> (tensor<2x2xf64>, tensor<2x2xi32>, tensor<2x2xf64>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>, tensor<2x2xf32>) {
  %0 = relax.matmul %d, %d : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %1 = relax.matmul %i, %i : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %2 = relax.nn.dense %x, %x {out_dtype = f64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf64>
  %large = relax.full 7.0e4 : tensor<2x2xf32>
  %3 = relax.matmul %x, %large : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = relax.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %small = relax.full 1.0e-9 : tensor<f32>
  %5 = relax.add %4, %small : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %6 = relax.nn.pad %4 {pad_width = [1, 0, 0, 0], pad_value = 1.0e6} : (tensor<2x2xf32>) -> tensor<3x2xf32>
  %7 = relax.clip %4 {min = -1.0e38, max = 6.0} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3, %5, %6, %7 : tensor<2x2xf64>, tensor<2x2xi32>, tensor<2x2xf64>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>, tensor<2x2xf32>
}
func.func private @kernel(%x : tensor<2x2xf32>) -> tensor<2x2xf32> attributes {relax.primitive} {
  %0 = relax.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// Sums that round to integers stay: the narrower types round to other numbers.
// CHECK-LABEL: @rounds_on_purpose
// CHECK: relax.matmul {{.*}} -> tensor<2x2xf16>
// CHECK: relax.add {{.*}} -> tensor<2x2xf32>
// CHECK-NEXT: relax.nn.relu {{.*}} -> tensor<2x2xf32>
// CHECK-NEXT: relax.add {{.*}} -> tensor<2x2xf32>
// BF16-LABEL: @rounds_on_purpose
// BF16: relax.matmul {{.*}} -> tensor<2x2xbf16>
// BF16: relax.add {{.*}} -> tensor<2x2xf32>
// BF16-NEXT: relax.nn.relu {{.*}} -> tensor<2x2xf32>
// BF16-NEXT: relax.add {{.*}} -> tensor<2x2xf32>
func.func @rounds_on_purpose(%x : tensor<2x2xf32>) -> tensor<2x2xf32> {
  %m = relax.full 12288.0 : tensor<f32>
  %n = relax.full -12288.0 : tensor<f32>
  %0 = relax.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.add %0, %m : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %2 = relax.nn.relu %1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = relax.add %2, %n : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}
