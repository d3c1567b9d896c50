// RUN: passline-opt %s -p canonicalize | filecheck %s

// Folds and patterns of operations on tiles.

// CHECK-LABEL: cuda_tile.module @folds {
cuda_tile.module @folds {
  // Arithmetic on constants: integers wrap, and floats are rounded.
  // CHECK-LABEL: entry @constants(
  // CHECK-NEXT:    %sum = constant <i8: [-128, 2]> : tile<2xi8>
  // CHECK-NEXT:    %rounded = constant <f16: 1.000980e+00> : tile<f16>
  // CHECK-NEXT:    %many = constant <i32: 4> : tile<4xi32>
  // CHECK-NEXT:    %{{.*}} = print_tko "%d %f %d", %sum, %rounded, %many
  entry @constants() {
    %a = constant <i8: [127, 1]> : tile<2xi8>
    %one = constant <i8: 1> : tile<2xi8>
    %sum = addi %a, %one : tile<2xi8>
    %x = constant <f32: 1.0009> : tile<f32>
    %rounded = ftof %x : tile<f32> -> tile<f16>
    %ten = constant <i32: 10> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %quotient = divi %ten, %three signed rounding<positive_inf> : tile<i32>
    %row = reshape %quotient : tile<i32> -> tile<1xi32>
    %many = broadcast %row : tile<1xi32> -> tile<4xi32>
    print_tko "%d %f %d", %sum, %rounded, %many : tile<2xi8>, tile<f16>, tile<4xi32> -> token
    return
  }

  // Must not fire: a division by zero, infinities, NaN, other roundings, flushing, one operand that
  // is not known, a shift by the width.
  // CHECK-LABEL: entry @undecided(
  // CHECK:         %0 = divi %zero, %zero signed
  // CHECK-NEXT:    %1 = divf %one, %none
  // CHECK-NEXT:    %2 = subf %inf, %inf
  // CHECK-NEXT:    %3 = addf %one, %one rounding<zero>
  // CHECK-NEXT:    %4 = mulf %one, %one flush_to_zero
  // CHECK-NEXT:    %5 = addi %x, %zero
  // CHECK-NEXT:    %6 = shli %zero, %width
  entry @undecided(%x: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %width = constant <i32: 32> : tile<i32>
    %none = constant <f32: 0.0> : tile<f32>
    %one = constant <f32: 1.0> : tile<f32>
    %inf = constant <f32: 0x7F800000> : tile<f32>
    %0 = divi %zero, %zero signed : tile<i32>
    %1 = divf %one, %none : tile<f32>
    %2 = subf %inf, %inf : tile<f32>
    %3 = addf %one, %one rounding<zero> : tile<f32>
    %4 = mulf %one, %one flush_to_zero : tile<f32>
    %5 = addi %x, %zero : tile<i32>
    %6 = shli %zero, %width : tile<i32>
    print_tko "%d %f %f", %0, %1, %2 : tile<i32>, tile<f32>, tile<f32> -> token
    print_tko "%f %f %d %d", %3, %4, %5, %6 : tile<f32>, tile<f32>, tile<i32>, tile<i32> -> token
    return
  }

  // Selections by one condition.
  // CHECK-LABEL: entry @selections(
  // CHECK-NEXT:    %0 = select %c, %a, %b : tile<i1>, tile<i32>
  // CHECK-NEXT:    %1 = select %c, %b, %a : tile<i1>, tile<i32>
  // CHECK-NEXT:    %{{.*}} = print_tko "%d %d %d %d %d", %0, %1, %a, %b, %c
  entry @selections(%c: tile<i1>, %a: tile<i32>, %b: tile<i32>) {
    %true = constant <i1: 1> : tile<i1>
    %false = constant <i1: 0> : tile<i1>
    %not = select %c, %false, %true : tile<i1>, tile<i1>
    %inner = select %c, %a, %a : tile<i1>, tile<i32>
    %0 = select %c, %inner, %b : tile<i1>, tile<i32>
    %1 = select %not, %inner, %b : tile<i1>, tile<i32>
    %known = select %true, %a, %b : tile<i1>, tile<i32>
    %same = cmpi equal %a, %b, signed : tile<i32> -> tile<i1>
    %equal = select %same, %a, %b : tile<i1>, tile<i32>
    %self = select %c, %true, %false : tile<i1>, tile<i1>
    print_tko "%d %d %d %d %d", %0, %1, %known, %equal, %self
        : tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i1> -> token
    return
  }

  // Must not fire: other conditions and comparisons, a tile of both truths.
  // CHECK-LABEL: entry @other_selections(
  // CHECK:         %0 = select %d, %a, %b
  // CHECK-NEXT:    %1 = select %c, %0, %b
  // CHECK-NEXT:    %less = cmpi less_than %a, %b, signed
  // CHECK-NEXT:    %2 = select %less, %a, %b
  // CHECK-NEXT:    %3 = select %both, %x, %y
  entry @other_selections(%c: tile<i1>, %d: tile<i1>, %a: tile<i32>, %b: tile<i32>) {
    %both = constant <i1: [1, 0]> : tile<2xi1>
    %x = iota : tile<2xi32>
    %y = negi %x : tile<2xi32>
    %0 = select %d, %a, %b : tile<i1>, tile<i32>
    %1 = select %c, %0, %b : tile<i1>, tile<i32>
    %less = cmpi less_than %a, %b, signed : tile<i32> -> tile<i1>
    %2 = select %less, %a, %b : tile<i1>, tile<i32>
    %3 = select %both, %x, %y : tile<2xi1>, tile<2xi32>
    print_tko "%d %d %d", %1, %2, %3 : tile<i32>, tile<i32>, tile<2xi32> -> token
    return
  }

  // A condition that is known: also where the region ends the entry.
  // CHECK-LABEL: entry @known_ifs(
  // CHECK-NEXT:    %{{.*}} = print_tko "%d", %a
  // CHECK-NEXT:    return
  // CHECK-NEXT:  }
  entry @known_ifs(%a: tile<i32>) {
    %true = constant <i1: 1> : tile<i1>
    %false = constant <i1: 0> : tile<i1>
    if %false {
      print_tko "never" -> token
    }
    %0 = if %true -> (tile<i32>) {
      print_tko "%d", %a : tile<i32> -> token
      return
    } else {
      yield %a : tile<i32>
    }
    print_tko "never: %d", %0 : tile<i32> -> token
    return
  }

  // Results from outside of an if, results without uses, a negated condition, an empty else.
  // CHECK-LABEL: entry @ifs(
  // CHECK:         %0 = reshape %c : tile<i1> -> tile<1xi1>
  // CHECK-NEXT:    %1 = broadcast %0 : tile<1xi1> -> tile<4xi1>
  // CHECK-NEXT:    %2 = select %1, %y, %x : tile<4xi1>, tile<4xi32>
  // CHECK-NEXT:    %3 = if %c -> (tile<i32>) {
  // CHECK-NEXT:      yield %a : tile<i32>
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      %4 = absi %a : tile<i32>
  // CHECK-NEXT:      yield %4 : tile<i32>
  // CHECK-NEXT:    }
  // CHECK-NEXT:    if %c {
  // CHECK-NEXT:      %{{.*}} = print_tko "%d %d", %2, %3
  // CHECK-NEXT:    }
  // CHECK-NEXT:    return
  entry @ifs(%c: tile<i1>, %a: tile<i32>) {
    %true = constant <i1: 1> : tile<i1>
    %x = iota : tile<4xi32>
    %y = absi %x : tile<4xi32>
    %not = xori %c, %true : tile<i1>
    %0:3 = if %not -> (tile<4xi32>, tile<i32>, tile<i32>) {
      %4 = absi %a : tile<i32>
      yield %x, %4, %4 : tile<4xi32>, tile<i32>, tile<i32>
    } else {
      yield %y, %a, %a : tile<4xi32>, tile<i32>, tile<i32>
    }
    if %c {
      print_tko "%d %d", %0#0, %0#1 : tile<4xi32>, tile<i32> -> token
    } else {
    }
    return
  }

  // Loops without iterations: -1 is less than 1 but where integers are unsigned.
  // CHECK-LABEL: entry @loops(
  // CHECK:         %0 = for
  // CHECK:         %{{.*}} = print_tko "%d %d %d", %a, %a, %0
  entry @loops(%a: tile<i32>) {
    %low = constant <i32: -1> : tile<i32>
    %high = constant <i32: 1> : tile<i32>
    %0 = for unsigned %i in (%low to %high, step %high) : tile<i32> iter_values(%v = %a) -> (tile<i32>) {
      %n = addi %v, %i : tile<i32>
      continue %n : tile<i32>
    }
    %1 = for %i in (%a to %a, step %high) : tile<i32> iter_values(%v = %a) -> (tile<i32>) {
      %n = addi %v, %i : tile<i32>
      continue %n : tile<i32>
    }
    %2 = for %i in (%low to %high, step %high) : tile<i32> iter_values(%v = %a) -> (tile<i32>) {
      %n = addi %v, %i : tile<i32>
      continue %n : tile<i32>
    }
    print_tko "%d %d %d", %0, %1, %2 : tile<i32>, tile<i32>, tile<i32> -> token
    return
  }

  // One assumption is enough; two different ones stay.
  // CHECK-LABEL: entry @assumptions(
  // CHECK-NEXT:    %0 = assume div_by<16>, %a : tile<i32>
  // CHECK-NEXT:    %1 = assume div_by<8>, %0 : tile<i32>
  // CHECK-NEXT:    %{{.*}} = print_tko "%d", %1
  entry @assumptions(%a: tile<i32>) {
    %0 = assume div_by<16>, %a : tile<i32>
    %1 = assume div_by<16>, %0 : tile<i32>
    %2 = assume div_by<8>, %1 : tile<i32>
    print_tko "%d", %2 : tile<i32> -> token
    return
  }
}
