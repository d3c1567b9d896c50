// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// Access to memory by pointers, and the tokens that order it.

// CHECK-LABEL: cuda_tile.module @memory {
cuda_tile.module @memory {
  // CHECK-LABEL: entry @pointers(%p: tile<ptr<f32>>, %q: tile<ptr<i32>>) {
  entry @pointers(%p: tile<ptr<f32>>, %q: tile<ptr<i32>>) {
    // CHECK: %m = constant <i1: true> : tile<i1>
    %m = constant <i1: true> : tile<i1>
    // CHECK: %x = constant <f32: 0.000000e+00> : tile<f32>
    %x = constant <f32: 0.000000e+00> : tile<f32>
    // CHECK: %n = constant <i32: 0> : tile<i32>
    %n = constant <i32: 0> : tile<i32>
    // CHECK: %t = make_token : token
    %t = make_token : token
    // CHECK: %a, %ta = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %a, %ta = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    // CHECK: %b, %tb = load_ptr_tko relaxed sys %p, %m token=%t : tile<ptr<f32>>, tile<i1> -> tile<f32>, token
    %b, %tb = load_ptr_tko relaxed sys %p, %m token=%t : tile<ptr<f32>>, tile<i1> -> tile<f32>, token
    // CHECK: %c, %tc = load_ptr_tko acquire device %p, %m, %x token=%t optimization_hints = <sm_90 = {latency = 4}> : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
    %c, %tc = load_ptr_tko acquire device %p, %m, %x token=%t optimization_hints = <sm_90 = {latency = 4}> : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
    // CHECK: %all = join_tokens %ta, %tb, %tc : token
    %all = join_tokens %ta, %tb, %tc : token
    // CHECK: %d = store_ptr_tko weak %p, %x token=%all : tile<ptr<f32>>, tile<f32> -> token
    %d = store_ptr_tko weak %p, %x token=%all : tile<ptr<f32>>, tile<f32> -> token
    // CHECK: %e = store_ptr_tko release tl_blk %p, %x, %m : tile<ptr<f32>>, tile<f32>, tile<i1> -> token
    %e = store_ptr_tko release tl_blk %p, %x, %m : tile<ptr<f32>>, tile<f32>, tile<i1> -> token
    // CHECK: %f, %tf = atomic_rmw_tko relaxed device %p, addf, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %f, %tf = atomic_rmw_tko relaxed device %p, addf, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    // CHECK: %g, %tg = atomic_rmw_tko acq_rel sys %q, umax, %n, %m token=%t : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %g, %tg = atomic_rmw_tko acq_rel sys %q, umax, %n, %m token=%t : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    // CHECK: %h, %th = atomic_cas_tko acquire device %q, %n, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %h, %th = atomic_cas_tko acquire device %q, %n, %n : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    // CHECK: %i, %ti = atomic_cas_tko release device %q, %n, %n, %m token=%t : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %i, %ti = atomic_cas_tko release device %q, %n, %n, %m token=%t : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    // CHECK: %own = alloca num_elem = 16, alignment = 64 : tile<ptr<f32>>
    %own = alloca num_elem = 16, alignment = 64 : tile<ptr<f32>>
    // CHECK: %shared = alloca num_elem = 1, alignment = 4 global : tile<ptr<i32>>
    %shared = alloca num_elem = 1, alignment = 4 global : tile<ptr<i32>>
    // CHECK: return
    return
  }
}
