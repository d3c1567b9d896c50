// RUN: passline-opt %s -p cse,dce | filecheck %s

// Passes on any dialect: equal pure operations are one, and unused ones are removed; accesses to
// memory, assumptions and divisions by numbers that are not known stay where they are.

cuda_tile.module @effects {
  // CHECK-LABEL: entry @equal(
  // CHECK-NEXT:    %0 = addi %a, %a : tile<i32>
  // CHECK-NEXT:    %1, %2 = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
  // CHECK-NEXT:    %3 = store_ptr_tko weak %p, %0 : tile<ptr<i32>>, tile<i32> -> token
  // CHECK-NEXT:    %4, %5 = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
  // CHECK-NEXT:    %6 = print_tko "%d %d %d %d", %0, %0, %1, %4
  entry @equal(%a: tile<i32>, %p: tile<ptr<i32>>) {
    %0 = addi %a, %a : tile<i32>
    %1 = addi %a, %a : tile<i32>
    %2, %3 = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    %4 = store_ptr_tko weak %p, %0 : tile<ptr<i32>>, tile<i32> -> token
    %5, %6 = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    %7 = print_tko "%d %d %d %d", %0, %1, %2, %5 : tile<i32>, tile<i32>, tile<i32>, tile<i32> -> token
    return
  }

  // CHECK-LABEL: entry @unused(
  // CHECK-NEXT:    %0, %1 = load_ptr_tko acquire device %p
  // CHECK-NEXT:    %2 = assume div_by<16>, %a
  // CHECK-NEXT:    %3 = gdc_wait_tko -> token
  // CHECK-NEXT:    return
  entry @unused(%a: tile<i32>, %p: tile<ptr<i32>>) {
    %0 = muli %a, %a : tile<i32>
    %1 = divi %0, %a signed : tile<i32>
    %2, %3 = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    %4, %5 = load_ptr_tko acquire device %p : tile<ptr<i32>> -> tile<i32>, token
    %6 = assume div_by<16>, %a : tile<i32>
    %7 = gdc_wait_tko -> token
    return
  }
}
