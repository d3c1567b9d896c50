// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s
// REQUIRES-XDSL: 0.64 (constants of bf16)

// Functions of floats, with their modifiers.

// CHECK-LABEL: cuda_tile.module @floats {
cuda_tile.module @floats {
  // CHECK-LABEL: entry @unary() {
  entry @unary() {
    // CHECK: %x = constant <f32: 1.500000e+00> : tile<4xf32>
    %x = constant <f32: 1.500000e+00> : tile<4xf32>
    // CHECK: %absf = absf %x : tile<4xf32>
    %absf = absf %x : tile<4xf32>
    // CHECK: %negf = negf %x : tile<4xf32>
    %negf = negf %x : tile<4xf32>
    // CHECK: %ceil = ceil %x : tile<4xf32>
    %ceil = ceil %x : tile<4xf32>
    // CHECK: %floor = floor %x : tile<4xf32>
    %floor = floor %x : tile<4xf32>
    // CHECK: %cos = cos %x : tile<4xf32>
    %cos = cos %x : tile<4xf32>
    // CHECK: %sin = sin %x : tile<4xf32>
    %sin = sin %x : tile<4xf32>
    // CHECK: %tan = tan %x : tile<4xf32>
    %tan = tan %x : tile<4xf32>
    // CHECK: %cosh = cosh %x : tile<4xf32>
    %cosh = cosh %x : tile<4xf32>
    // CHECK: %sinh = sinh %x : tile<4xf32>
    %sinh = sinh %x : tile<4xf32>
    // CHECK: %tanh = tanh %x : tile<4xf32>
    %tanh = tanh %x : tile<4xf32>
    // CHECK: %log = log %x : tile<4xf32>
    %log = log %x : tile<4xf32>
    // CHECK: %log2 = log2 %x : tile<4xf32>
    %log2 = log2 %x : tile<4xf32>
    // CHECK: %exp = exp %x : tile<4xf32>
    %exp = exp %x : tile<4xf32>
    // CHECK: %exp2 = exp2 %x : tile<4xf32>
    %exp2 = exp2 %x : tile<4xf32>
    // CHECK: %sqrt = sqrt %x : tile<4xf32>
    %sqrt = sqrt %x : tile<4xf32>
    // CHECK: %rsqrt = rsqrt %x : tile<4xf32>
    %rsqrt = rsqrt %x : tile<4xf32>
    // CHECK: %t = tanh %x rounding<approx> : tile<4xf32>
    %t = tanh %x rounding<approx> : tile<4xf32>
    // CHECK: %e = exp %x rounding<approx> : tile<4xf32>
    %e = exp %x rounding<approx> : tile<4xf32>
    // CHECK: %f = exp2 %x flush_to_zero : tile<4xf32>
    %f = exp2 %x flush_to_zero : tile<4xf32>
    // CHECK: %s = sqrt %x rounding<approx> flush_to_zero : tile<4xf32>
    %s = sqrt %x rounding<approx> flush_to_zero : tile<4xf32>
    // CHECK: %r = rsqrt %x flush_to_zero : tile<4xf32>
    %r = rsqrt %x flush_to_zero : tile<4xf32>
    // CHECK: return
    return
  }
  // CHECK-LABEL: entry @binary() {
  entry @binary() {
    // CHECK: %x = constant <f32: [1.000000e+00, -2.000000e+00]> : tile<2xf32>
    %x = constant <f32: [1.000000e+00, -2.000000e+00]> : tile<2xf32>
    // CHECK: %h = constant <bf16: 1.000000e+00> : tile<bf16>
    %h = constant <bf16: 1.000000e+00> : tile<bf16>
    // CHECK: %add = addf %x, %x : tile<2xf32>
    %add = addf %x, %x : tile<2xf32>
    // CHECK: %sub = subf %x, %x rounding<zero> : tile<2xf32>
    %sub = subf %x, %x rounding<zero> : tile<2xf32>
    // CHECK: %mul = mulf %x, %x rounding<negative_inf> flush_to_zero : tile<2xf32>
    %mul = mulf %x, %x rounding<negative_inf> flush_to_zero : tile<2xf32>
    // CHECK: %div = divf %x, %x rounding<full> : tile<2xf32>
    %div = divf %x, %x rounding<full> : tile<2xf32>
    // CHECK: %half = divf %h, %h rounding<positive_inf> : tile<bf16>
    %half = divf %h, %h rounding<positive_inf> : tile<bf16>
    // CHECK: %rem = remf %x, %x : tile<2xf32>
    %rem = remf %x, %x : tile<2xf32>
    // CHECK: %max = maxf %x, %x : tile<2xf32>
    %max = maxf %x, %x : tile<2xf32>
    // CHECK: %min = minf %x, %x flush_to_zero propagate_nan : tile<2xf32>
    %min = minf %x, %x flush_to_zero propagate_nan : tile<2xf32>
    // CHECK: %pow = pow %x, %x : tile<2xf32>
    %pow = pow %x, %x : tile<2xf32>
    // CHECK: %angle = atan2 %x, %x : tile<2xf32>
    %angle = atan2 %x, %x : tile<2xf32>
    // CHECK: %fma = fma %x, %x, %x : tile<2xf32>
    %fma = fma %x, %x, %x : tile<2xf32>
    // CHECK: %fused = fma %x, %x, %x rounding<zero> flush_to_zero : tile<2xf32>
    %fused = fma %x, %x, %x rounding<zero> flush_to_zero : tile<2xf32>
    // CHECK: return
    return
  }
}
