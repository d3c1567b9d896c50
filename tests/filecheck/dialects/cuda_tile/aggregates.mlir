// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s
// REQUIRES-XDSL: 0.71 (floats of 8 bits, and tf32)

// Products of matrices, reductions and scans.

// CHECK-LABEL: cuda_tile.module @aggregates {
cuda_tile.module @aggregates {
  // CHECK-LABEL: entry @products() {
  entry @products() {
    // CHECK: %h = constant <f16: 0.000000e+00> : tile<4x8xf16>
    %h = constant <f16: 0.000000e+00> : tile<4x8xf16>
    // CHECK: %k = constant <f16: 0.000000e+00> : tile<8x2xf16>
    %k = constant <f16: 0.000000e+00> : tile<8x2xf16>
    // CHECK: %acc = constant <f32: 0.000000e+00> : tile<4x2xf32>
    %acc = constant <f32: 0.000000e+00> : tile<4x2xf32>
    // CHECK: %product = mmaf %h, %k, %acc : tile<4x8xf16>, tile<8x2xf16>, tile<4x2xf32>
    %product = mmaf %h, %k, %acc : tile<4x8xf16>, tile<8x2xf16>, tile<4x2xf32>
    // CHECK: %a = constant <f8E5M2: 0.000000e+00> : tile<2x4x32xf8E5M2>
    %a = constant <f8E5M2: 0.000000e+00> : tile<2x4x32xf8E5M2>
    // CHECK: %b = constant <f8E5M2: 0.000000e+00> : tile<2x32x2xf8E5M2>
    %b = constant <f8E5M2: 0.000000e+00> : tile<2x32x2xf8E5M2>
    // CHECK: %c = constant <f32: 0.000000e+00> : tile<2x4x2xf32>
    %c = constant <f32: 0.000000e+00> : tile<2x4x2xf32>
    // CHECK: %fast = mmaf %a, %b, %c fast_acc : tile<2x4x32xf8E5M2>, tile<2x32x2xf8E5M2>, tile<2x4x2xf32>
    %fast = mmaf %a, %b, %c fast_acc : tile<2x4x32xf8E5M2>, tile<2x32x2xf8E5M2>, tile<2x4x2xf32>
    // CHECK: %i = constant <i8: 1> : tile<4x4xi8>
    %i = constant <i8: 1> : tile<4x4xi8>
    // CHECK: %j = constant <i32: 0> : tile<4x4xi32>
    %j = constant <i32: 0> : tile<4x4xi32>
    // CHECK: %sum = mmai %i, %i, %j signed unsigned : tile<4x4xi8>, tile<4x4xi8>, tile<4x4xi32>
    %sum = mmai %i, %i, %j signed unsigned : tile<4x4xi8>, tile<4x4xi8>, tile<4x4xi32>
    // CHECK: %s = constant <f8E8M0FNU: 1.000000e+00> : tile<2x4x1xf8E8M0FNU>
    %s = constant <f8E8M0FNU: 1.000000e+00> : tile<2x4x1xf8E8M0FNU>
    // CHECK: %t = constant <f8E8M0FNU: 1.000000e+00> : tile<2x1x2xf8E8M0FNU>
    %t = constant <f8E8M0FNU: 1.000000e+00> : tile<2x1x2xf8E8M0FNU>
    // CHECK: %scaled = mmaf_scaled %a, %b, %c, %s, %t : tile<2x4x32xf8E5M2>, tile<2x32x2xf8E5M2>, tile<2x4x2xf32>, tile<2x4x1xf8E8M0FNU>, tile<2x1x2xf8E8M0FNU>
    %scaled = mmaf_scaled %a, %b, %c, %s, %t : tile<2x4x32xf8E5M2>, tile<2x32x2xf8E5M2>, tile<2x4x2xf32>, tile<2x4x1xf8E8M0FNU>, tile<2x1x2xf8E8M0FNU>
    // CHECK: return
    return
  }
  // CHECK-LABEL: entry @reductions() {
  entry @reductions() {
    // CHECK: %x = constant <f32: 1.000000e+00> : tile<4x8xf32>
    %x = constant <f32: 1.000000e+00> : tile<4x8xf32>
    // CHECK: %n = constant <i32: 1> : tile<4x8xi32>
    %n = constant <i32: 1> : tile<4x8xi32>
    // CHECK: %sum = reduce %x dim=1 identities=[0.000000e+00 : f32] : tile<4x8xf32> -> tile<4xf32>
    %sum = reduce %x dim=1 identities=[0.000000e+00 : f32] : tile<4x8xf32> -> tile<4xf32>
    // CHECK: (%a: tile<f32>, %b: tile<f32>) {
    (%a: tile<f32>, %b: tile<f32>) {
      // CHECK: %c = addf %a, %b : tile<f32>
      %c = addf %a, %b : tile<f32>
      // CHECK: yield %c : tile<f32>
      yield %c : tile<f32>
    }
    // CHECK: %best, %best_1 = reduce %x, %n dim=0 identities=[0.000000e+00 : f32, 0 : i32] : tile<4x8xf32>, tile<4x8xi32> -> tile<8xf32>, tile<8xi32>
    %best, %best_1 = reduce %x, %n dim=0 identities=[0.000000e+00 : f32, 0 : i32] : tile<4x8xf32>, tile<4x8xi32> -> tile<8xf32>, tile<8xi32>
    // CHECK: (%d: tile<f32>, %e: tile<f32>, %f: tile<i32>, %g: tile<i32>) {
    (%d: tile<f32>, %e: tile<f32>, %f: tile<i32>, %g: tile<i32>) {
      // CHECK: %h = cmpf greater_than ordered %d, %e : tile<f32> -> tile<i1>
      %h = cmpf greater_than ordered %d, %e : tile<f32> -> tile<i1>
      // CHECK: %p = select %h, %d, %e : tile<i1>, tile<f32>
      %p = select %h, %d, %e : tile<i1>, tile<f32>
      // CHECK: %q = select %h, %f, %g : tile<i1>, tile<i32>
      %q = select %h, %f, %g : tile<i1>, tile<i32>
      // CHECK: yield %p, %q : tile<f32>, tile<i32>
      yield %p, %q : tile<f32>, tile<i32>
    }
    // CHECK: %sums = scan %n dim=1 reverse=true identities=[0 : i32] : tile<4x8xi32> -> tile<4x8xi32>
    %sums = scan %n dim=1 reverse=true identities=[0 : i32] : tile<4x8xi32> -> tile<4x8xi32>
    // CHECK: (%k: tile<i32>, %l: tile<i32>) {
    (%k: tile<i32>, %l: tile<i32>) {
      // CHECK: %m = addi %k, %l : tile<i32>
      %m = addi %k, %l : tile<i32>
      // CHECK: yield %m : tile<i32>
      yield %m : tile<i32>
    }
    // CHECK: return
    return
  }
}
