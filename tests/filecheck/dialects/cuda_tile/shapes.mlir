// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s
// REQUIRES-XDSL: 0.71 (floats of 8 bits, and tf32)

// Constants, and operations that move elements of tiles.

// CHECK-LABEL: cuda_tile.module @shapes {
cuda_tile.module @shapes {
  // CHECK-LABEL: entry @constants() {
  entry @constants() {
    // CHECK: %true = constant <i1: true> : tile<i1>
    %true = constant <i1: true> : tile<i1>
    // CHECK: %bools = constant <i1: [true, false]> : tile<2xi1>
    %bools = constant <i1: [true, false]> : tile<2xi1>
    // CHECK: %matrix = constant <i8: {{\[\[}}1, -2], [3, 127]]> : tile<2x2xi8>
    %matrix = constant <i8: [[1, -2], [3, 127]]> : tile<2x2xi8>
    // CHECK: %infinity = constant <f16: 0xFC00> : tile<4xf16>
    %infinity = constant <f16: 0xFC00> : tile<4xf16>
    // CHECK: %nan = constant <f32: [0x7FC00000, 0.000000e+00]> : tile<2xf32>
    %nan = constant <f32: [0x7FC00000, 0.000000e+00]> : tile<2xf32>
    // CHECK: %small = constant <f8E4M3FN: 1.500000e+00> : tile<f8E4M3FN>
    %small = constant <f8E4M3FN: 1.500000e+00> : tile<f8E4M3FN>
    // CHECK: %numbers = iota : tile<256xi8>
    %numbers = iota : tile<256xi8>
    // CHECK: return
    return
  }
  // CHECK-LABEL: entry @move(%i: tile<i32>) {
  entry @move(%i: tile<i32>) {
    // CHECK: %x = constant <f32: 0.000000e+00> : tile<1x4x8xf32>
    %x = constant <f32: 0.000000e+00> : tile<1x4x8xf32>
    // CHECK: %more = broadcast %x : tile<1x4x8xf32> -> tile<2x4x8xf32>
    %more = broadcast %x : tile<1x4x8xf32> -> tile<2x4x8xf32>
    // CHECK: %flat = reshape %x : tile<1x4x8xf32> -> tile<32xf32>
    %flat = reshape %x : tile<1x4x8xf32> -> tile<32xf32>
    // CHECK: %turned = permute %x [2, 0, 1] : tile<1x4x8xf32> -> tile<8x1x4xf32>
    %turned = permute %x [2, 0, 1] : tile<1x4x8xf32> -> tile<8x1x4xf32>
    // CHECK: %both = cat %x, %x dim = 1 : tile<1x4x8xf32>, tile<1x4x8xf32> -> tile<1x8x8xf32>
    %both = cat %x, %x dim = 1 : tile<1x4x8xf32>, tile<1x4x8xf32> -> tile<1x8x8xf32>
    // CHECK: %part = extract %x[%i, %i, %i] : tile<1x4x8xf32> -> tile<1x2x4xf32>
    %part = extract %x[%i, %i, %i] : tile<1x4x8xf32> -> tile<1x2x4xf32>
    // CHECK: %bytes = pack %flat : tile<32xf32> -> tile<128xi8>
    %bytes = pack %flat : tile<32xf32> -> tile<128xi8>
    // CHECK: %halves = unpack %bytes : tile<128xi8> -> tile<64xf16>
    %halves = unpack %bytes : tile<128xi8> -> tile<64xf16>
    // CHECK: %nibbles = unpack %bytes : tile<128xi8> -> tile<256xf4E2M1FN>
    %nibbles = unpack %bytes : tile<128xi8> -> tile<256xf4E2M1FN>
    // CHECK: return
    return
  }
}
