// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s
// REQUIRES-XDSL: 0.71 (floats of 8 bits, and tf32)

// Comparisons, selection, and conversions of numbers and pointers.

// CHECK-LABEL: cuda_tile.module @conversions {
cuda_tile.module @conversions {
  // CHECK-LABEL: entry @compare(%a: tile<i32>, %x: tile<f32>) {
  entry @compare(%a: tile<i32>, %x: tile<f32>) {
    // CHECK: %equal = cmpi equal %a, %a, signed : tile<i32> -> tile<i1>
    %equal = cmpi equal %a, %a, signed : tile<i32> -> tile<i1>
    // CHECK: %less = cmpf less_than_or_equal ordered %x, %x : tile<f32> -> tile<i1>
    %less = cmpf less_than_or_equal ordered %x, %x : tile<f32> -> tile<i1>
    // CHECK: %nan = cmpf not_equal unordered %x, %x : tile<f32> -> tile<i1>
    %nan = cmpf not_equal unordered %x, %x : tile<f32> -> tile<i1>
    // CHECK: %chosen = select %equal, %x, %x : tile<i1>, tile<f32>
    %chosen = select %equal, %x, %x : tile<i1>, tile<f32>
    // CHECK: return
    return
  }
  // CHECK-LABEL: entry @convert(%a: tile<i32>, %x: tile<f32>, %p: tile<ptr<f32>>) {
  entry @convert(%a: tile<i32>, %x: tile<f32>, %p: tile<ptr<f32>>) {
    // CHECK: %bits = bitcast %x : tile<f32> -> tile<i32>
    %bits = bitcast %x : tile<f32> -> tile<i32>
    // CHECK: %wide = exti %a signed : tile<i32> -> tile<i64>
    %wide = exti %a signed : tile<i32> -> tile<i64>
    // CHECK: %narrow = trunci %a : tile<i32> -> tile<i8>
    %narrow = trunci %a : tile<i32> -> tile<i8>
    // CHECK: %exact = trunci %a overflow<no_wrap> : tile<i32> -> tile<i8>
    %exact = trunci %a overflow<no_wrap> : tile<i32> -> tile<i8>
    // CHECK: %half = ftof %x : tile<f32> -> tile<f16>
    %half = ftof %x : tile<f32> -> tile<f16>
    // CHECK: %scale = ftof %x rounding<zero> : tile<f32> -> tile<f8E8M0FNU>
    %scale = ftof %x rounding<zero> : tile<f32> -> tile<f8E8M0FNU>
    // CHECK: %int = ftoi %x unsigned : tile<f32> -> tile<i32>
    %int = ftoi %x unsigned : tile<f32> -> tile<i32>
    // CHECK: %float = itof %a signed : tile<i32> -> tile<tf32>
    %float = itof %a signed : tile<i32> -> tile<tf32>
    // CHECK: %address = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
    %address = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
    // CHECK: %pointer = int_to_ptr %address : tile<i64> -> tile<ptr<i8>>
    %pointer = int_to_ptr %address : tile<i64> -> tile<ptr<i8>>
    // CHECK: %other = ptr_to_ptr %pointer : tile<ptr<i8>> -> tile<ptr<f16>>
    %other = ptr_to_ptr %pointer : tile<ptr<i8>> -> tile<ptr<f16>>
    // CHECK: %next = offset %p, %a : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %next = offset %p, %a : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    // CHECK: return
    return
  }
}
