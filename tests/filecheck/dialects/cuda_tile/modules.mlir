// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// Modules, entries, global variables, and what an entry knows of its launch.

// CHECK-LABEL: cuda_tile.module @modules attributes {producer = "passline"} {
cuda_tile.module @modules attributes {producer = "passline"} {
  // CHECK: global @table <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
  global @table <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
  // CHECK: global private constant @zeros alignment = 16 <i8: 0> : tile<64xi8>
  global private constant @zeros alignment = 16 <i8: 0> : tile<64xi8>
  // CHECK-LABEL: entry @kernel(%p: tile<ptr<f32>>, %n: tile<i32>) optimization_hints=<sm_90 = {num_cta_in_cga = 2}, default = {occupancy = 1}> {
  entry @kernel(%p: tile<ptr<f32>>, %n: tile<i32>) optimization_hints=<sm_90 = {num_cta_in_cga = 2}, default = {occupancy = 1}> {
    // CHECK: %x, %y, %z = get_tile_block_id : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    // CHECK: %a, %b, %c = get_num_tile_blocks : tile<i32>
    %a, %b, %c = get_num_tile_blocks : tile<i32>
    // CHECK: %aligned = assume div_by<16>, %p : tile<ptr<f32>>
    %aligned = assume div_by<16>, %p : tile<ptr<f32>>
    // CHECK: %small = assume bounded<0, ?>, %n : tile<i32>
    %small = assume bounded<0, ?>, %n : tile<i32>
    // CHECK: %tile = iota : tile<8xi32>
    %tile = iota : tile<8xi32>
    // CHECK: %ramp = assume div_by<4, every 4 along 0>, %tile : tile<8xi32>
    %ramp = assume div_by<4, every 4 along 0>, %tile : tile<8xi32>
    // CHECK: %equal = assume same_elements<[2]>, %tile : tile<8xi32>
    %equal = assume same_elements<[2]>, %tile : tile<8xi32>
    // CHECK: %table = get_global @table : tile<ptr<f32>>
    %table = get_global @table : tile<ptr<f32>>
    // CHECK: %positive = cmpi greater_than %n, %x, signed : tile<i32> -> tile<i1>
    %positive = cmpi greater_than %n, %x, signed : tile<i32> -> tile<i1>
    // CHECK: assert %positive, "n is too small" : tile<i1>
    assert %positive, "n is too small" : tile<i1>
    // CHECK: %t = print_tko "%d of %d\0A", %x, %a : tile<i32>, tile<i32> -> token
    %t = print_tko "%d of %d\0A", %x, %a : tile<i32>, tile<i32> -> token
    // CHECK: %u = print_tko "done" token=%t -> token
    %u = print_tko "done" token=%t -> token
    // CHECK: return
    return
  }
}

// CHECK-LABEL: cuda_tile.module @empty {
cuda_tile.module @empty {
}
