// Branches that stay, as no assumption says that their sides are equal.
// RUN: passline-opt %s -p tir-use-assume-to-reduce-branches | filecheck %s
// CHECK: tir.assume

// Another buffer.
// UNCHANGED: @other_buffer
tir.prim_func @other_buffer(%a: memref<16xi32>, %b: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %b[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// A view, which may have other elements at the same indices.
// UNCHANGED: @view
tir.prim_func @view(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %v = memref.reinterpret_cast %a to offset: [0], sizes: [16], strides: [1] : memref<16xi32> to memref<16xi32>
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %v[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// The buffer is written between the assumption and the branch.
// UNCHANGED: @written
tir.prim_func @written(%v: i32, %a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  memref.store %v, %a[%c14] : memref<16xi32>
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// It is written in the loop of the branch, by an earlier iteration.
// UNCHANGED: @written_in_loop
tir.prim_func @written_in_loop(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %a[%c14] : memref<16xi32>
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// It is written in the loop of the assumption, after it.
// UNCHANGED: @written_after
tir.prim_func @written_after(%v: i32, %a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
    memref.store %v, %a[%i] : memref<16xi32>
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// It is written between the load and the assumption.
// UNCHANGED: @stale
tir.prim_func @stale(%v: i32, %a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    memref.store %v, %a[%i] : memref<16xi32>
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// Parameters that may overlap: a store to %y writes %a.
// UNCHANGED: @overlapping
tir.prim_func @overlapping(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.alias, tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  memref.store %zero, %y[%c14] : memref<16xi32>
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// The branch is taken at 13, about which nothing is assumed.
// UNCHANGED: @other_condition
tir.prim_func @other_condition(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %c13 = arith.constant 13 : index
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c13 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// The assumption is about the first 15 elements only.
// UNCHANGED: @other_range
tir.prim_func @other_range(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %c15 = arith.constant 15 : index
  tir.for %i = %c0 extent %c15 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// The branch reads another element.
// UNCHANGED: @other_element
tir.prim_func @other_element(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %c15 = arith.constant 15 : index
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %at = arith.subi %c15, %i : index
    %1 = memref.load %a[%at] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// The assumption is in a branch, whose condition is not known.
// UNCHANGED: @in_branch
tir.prim_func @in_branch(%c: i1, %a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  scf.if %c {
    tir.for %i = %c0 extent %c16 {
      %0 = arith.cmpi slt, %i, %c14 : index
      %1 = memref.load %a[%i] : memref<16xi32>
      %2 = arith.cmpi eq, %1, %zero : i32
      %3 = arith.ori %0, %2 : i1
      tir.assume %3
    }
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// The assumption is in a loop that may run 0 times.
// UNCHANGED: @no_iteration
tir.prim_func @no_iteration(%n: index, %a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %k = %c0 extent %n {
    tir.for %i = %c0 extent %c16 {
      %0 = arith.cmpi slt, %i, %c14 : index
      %1 = memref.load %a[%i] : memref<16xi32>
      %2 = arith.cmpi eq, %1, %zero : i32
      %3 = arith.ori %0, %2 : i1
      tir.assume %3
    }
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// The assumption depends on a value of each iteration.
// UNCHANGED: @loaded_bound
tir.prim_func @loaded_bound(%n: memref<16xindex>, %a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %k = memref.load %n[%i] : memref<16xindex>
    %0 = arith.cmpi slt, %i, %k : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// The value is 1, and the branch needs 0.
// UNCHANGED: @other_value
tir.prim_func @other_value(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %one : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// The sum is 1 where the element is 0.
// UNCHANGED: @other_result
tir.prim_func @other_result(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.addi %1, %one : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// A product with an unknown float may be NaN.
// UNCHANGED: @unknown_float
tir.prim_func @unknown_float(%a: memref<16xf32>, %b: memref<16xf32>, %y: memref<16xf32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %two = arith.constant 2.0 : f32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xf32>
    %2 = arith.cmpf oeq, %1, %zero : f32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xf32>
    %l = memref.load %b[%i] : memref<16xf32>
    %2 = arith.mulf %1, %l : f32
    %3 = arith.select %0, %zero, %2 : f32
    memref.store %3, %y[%i] : memref<16xf32>
  }
}

// 1 / -0.0 is -inf.
// UNCHANGED: @sign_matters
tir.prim_func @sign_matters(%a: memref<16xf32>, %b: memref<16xf32>, %y: memref<16xf32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %two = arith.constant 2.0 : f32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xf32>
    %2 = arith.cmpf oeq, %1, %zero : f32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xf32>
    %2 = arith.divf %one, %1 : f32
    %3 = arith.select %0, %inf, %2 : f32
    memref.store %3, %y[%i] : memref<16xf32>
  }
}

// An inequality says no value.
// UNCHANGED: @inequality
tir.prim_func @inequality(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi sle, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.muli %1, %1 : i32
    %3 = arith.select %0, %zero, %2 : i32
    memref.store %3, %y[%i] : memref<16xi32>
  }
}

// The branch has another side effect: it stores to another buffer.
// UNCHANGED: @side_effect
tir.prim_func @side_effect(%a: memref<16xi32>, %b: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    scf.if %0 {
      memref.store %zero, %y[%i] : memref<16xi32>
    } else {
      %1 = memref.load %a[%i] : memref<16xi32>
      memref.store %1, %y[%i] : memref<16xi32>
      memref.store %1, %b[%i] : memref<16xi32>
    }
  }
}

// The sides store to different elements.
// UNCHANGED: @other_place
tir.prim_func @other_place(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    scf.if %0 {
      memref.store %zero, %y[%i] : memref<16xi32>
    } else {
      %1 = memref.load %a[%i] : memref<16xi32>
      memref.store %1, %y[%c0] : memref<16xi32>
    }
  }
}

// One side stores nothing.
// UNCHANGED: @one_store
tir.prim_func @one_store(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    scf.if %0 {
    } else {
      %1 = memref.load %a[%i] : memref<16xi32>
      memref.store %1, %y[%i] : memref<16xi32>
    }
  }
}

// Without the branch, a load would be out of bounds.
// UNCHANGED: @out_of_bounds
tir.prim_func @out_of_bounds(%a: memref<16xi32>, %b: memref<14xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = scf.if %0 -> (i32) {
      scf.yield %zero : i32
    } else {
      %2 = memref.load %a[%i] : memref<16xi32>
      %3 = memref.load %b[%i] : memref<14xi32>
      %4 = arith.muli %2, %3 : i32
      scf.yield %4 : i32
    }
    memref.store %1, %y[%i] : memref<16xi32>
  }
}

// Without the branch, a division might fail.
// UNCHANGED: @division
tir.prim_func @division(%d: i32, %a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    %1 = scf.if %0 -> (i32) {
      scf.yield %zero : i32
    } else {
      %2 = memref.load %a[%i] : memref<16xi32>
      %3 = arith.divsi %d, %d : i32
      %4 = arith.muli %2, %3 : i32
      scf.yield %4 : i32
    }
    memref.store %1, %y[%i] : memref<16xi32>
  }
}

// A side calls a function.
// UNCHANGED: @call
tir.prim_func @call(%a: memref<16xi32>, %y: memref<16xi32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi slt, %i, %c14 : index
    %1 = memref.load %a[%i] : memref<16xi32>
    %2 = arith.cmpi eq, %1, %zero : i32
    %3 = arith.ori %0, %2 : i1
    tir.assume %3
  }
  tir.for %i = %c0 extent %c16 {
    %0 = arith.cmpi sge, %i, %c14 : index
    scf.if %0 {
      memref.store %zero, %y[%i] : memref<16xi32>
    } else {
      tir.call @one_store(%a, %y) : memref<16xi32>, memref<16xi32>
      memref.store %zero, %y[%i] : memref<16xi32>
    }
  }
}
