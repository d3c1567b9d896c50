// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// Loops and conditions.

// CHECK-LABEL: cuda_tile.module @control {
cuda_tile.module @control {
  // CHECK-LABEL: entry @loops(%n: tile<i32>, %c: tile<i1>) {
  entry @loops(%n: tile<i32>, %c: tile<i1>) {
    // CHECK: for %i in (%n to %n, step %n) : tile<i32> {
    for %i in (%n to %n, step %n) : tile<i32> {
      // CHECK: if %c {
      if %c {
        // CHECK: continue
        continue
      }
    }
    // CHECK: %sum = for unsigned %j in (%n to %n, step %n) : tile<i32> iter_values(%a = %n) -> (tile<i32>) {
    %sum = for unsigned %j in (%n to %n, step %n) : tile<i32> iter_values(%a = %n) -> (tile<i32>) {
      // CHECK: %b = addi %a, %j : tile<i32>
      %b = addi %a, %j : tile<i32>
      // CHECK: continue %b : tile<i32>
      continue %b : tile<i32>
    }
    // CHECK: loop {
    loop {
      // CHECK: break
      break
    }
    // CHECK: %last = loop iter_values(%k = %n) : tile<i32> -> tile<i1> {
    %last = loop iter_values(%k = %n) : tile<i32> -> tile<i1> {
      // CHECK: if %c {
      if %c {
        // CHECK: break %c : tile<i1>
        break %c : tile<i1>
      // CHECK: } else {
      } else {
        // CHECK: continue %k : tile<i32>
        continue %k : tile<i32>
      }
      // CHECK: continue %k : tile<i32>
      continue %k : tile<i32>
    }
    // CHECK: %found = loop : tile<i32> {
    %found = loop : tile<i32> {
      // CHECK: break %n : tile<i32>
      break %n : tile<i32>
    }
    // CHECK: %chosen = if %c -> (tile<i32>) {
    %chosen = if %c -> (tile<i32>) {
      // CHECK: yield %n : tile<i32>
      yield %n : tile<i32>
    // CHECK: } else {
    } else {
      // CHECK: yield %sum : tile<i32>
      yield %sum : tile<i32>
    }
    // CHECK: if %c {
    if %c {
      // CHECK: return
      return
    }
    // CHECK: return
    return
  }
}
