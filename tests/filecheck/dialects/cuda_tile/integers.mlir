// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// Functions of integers, with their modifiers.

// CHECK-LABEL: cuda_tile.module @integers {
cuda_tile.module @integers {
  // CHECK-LABEL: entry @arithmetic(%a: tile<i32>) {
  entry @arithmetic(%a: tile<i32>) {
    // CHECK: %abs = absi %a : tile<i32>
    %abs = absi %a : tile<i32>
    // CHECK: %neg = negi %a : tile<i32>
    %neg = negi %a : tile<i32>
    // CHECK: %never = negi %a overflow<no_signed_wrap> : tile<i32>
    %never = negi %a overflow<no_signed_wrap> : tile<i32>
    // CHECK: %add = addi %a, %a : tile<i32>
    %add = addi %a, %a : tile<i32>
    // CHECK: %sub = subi %a, %a overflow<no_wrap> : tile<i32>
    %sub = subi %a, %a overflow<no_wrap> : tile<i32>
    // CHECK: %mul = muli %a, %a overflow<no_unsigned_wrap> : tile<i32>
    %mul = muli %a, %a overflow<no_unsigned_wrap> : tile<i32>
    // CHECK: %high = mulhii %a, %a : tile<i32>
    %high = mulhii %a, %a : tile<i32>
    // CHECK: %div = divi %a, %a signed : tile<i32>
    %div = divi %a, %a signed : tile<i32>
    // CHECK: %ceil = divi %a, %a unsigned rounding<positive_inf> : tile<i32>
    %ceil = divi %a, %a unsigned rounding<positive_inf> : tile<i32>
    // CHECK: %floor = divi %a, %a signed rounding<negative_inf> : tile<i32>
    %floor = divi %a, %a signed rounding<negative_inf> : tile<i32>
    // CHECK: %rem = remi %a, %a unsigned : tile<i32>
    %rem = remi %a, %a unsigned : tile<i32>
    // CHECK: %max = maxi %a, %a signed : tile<i32>
    %max = maxi %a, %a signed : tile<i32>
    // CHECK: %min = mini %a, %a unsigned : tile<i32>
    %min = mini %a, %a unsigned : tile<i32>
    // CHECK: %left = shli %a, %a : tile<i32>
    %left = shli %a, %a : tile<i32>
    // CHECK: %right = shri %a, %a signed : tile<i32>
    %right = shri %a, %a signed : tile<i32>
    // CHECK: %and = andi %a, %a : tile<i32>
    %and = andi %a, %a : tile<i32>
    // CHECK: %or = ori %a, %a : tile<i32>
    %or = ori %a, %a : tile<i32>
    // CHECK: %xor = xori %a, %a : tile<i32>
    %xor = xori %a, %a : tile<i32>
    // CHECK: return
    return
  }
}
