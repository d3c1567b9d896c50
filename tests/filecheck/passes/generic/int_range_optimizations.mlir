// RUN: passline-opt %s -p int-range-optimizations --split-input-file --allow-unregistered-dialect | filecheck %s

// The variable of a loop is between its bounds.
// CHECK-LABEL: @variable
// CHECK-NEXT:    [[TRUE:%.*]] = arith.constant true
// CHECK:         scf.for [[I:%.*]] = %zero to %ten step %one {
// CHECK-NEXT:      "test.op"([[TRUE]], [[I]])
func.func @variable() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  scf.for %i = %zero to %ten step %one {
    %0 = arith.cmpi slt, %i, %ten : index
    %1 = arith.remsi %i, %ten : index
    "test.op"(%0, %1) : (i1, index) -> ()
  }
  func.return
}

// A remainder of a remainder; comparisons that must hold or fail.
// CHECK-LABEL: @compare
// CHECK-DAG:     [[TRUE:%.*]] = arith.constant true
// CHECK-DAG:     [[FALSE:%.*]] = arith.constant false
// CHECK:         [[R:%.*]] = arith.remui %x
// CHECK:         func.return [[TRUE]], [[FALSE]], [[R]], [[TRUE]]
func.func @compare(%x: i32, %c: i1) -> (i1, i1, i32, i1) {
  %eight = arith.constant 8 : i32
  %minus = arith.constant -1 : i32
  %0 = arith.remui %x, %eight : i32
  %1 = arith.cmpi ule, %0, %eight : i32
  %2 = arith.cmpi sgt, %minus, %0 : i32
  %3 = arith.remsi %0, %eight : i32
  %4 = arith.extui %c : i1 to i32
  %5 = arith.cmpi ne, %4, %eight : i32
  func.return %1, %2, %3, %5 : i1, i1, i32, i1
}

// Through branches and a private function; a size is not negative.
// CHECK-LABEL: func.func private @callee
// CHECK:         [[TRUE:%.*]] = arith.constant true
// CHECK:         func.return [[TRUE]]
func.func private @callee(%x: i32) -> i1 {
  %zero = arith.constant 0 : i32
  %0 = arith.cmpi sge, %x, %zero : i32
  func.return %0 : i1
}
// CHECK-LABEL: @caller
// CHECK:         [[TRUE:%.*]] = arith.constant true
// CHECK:         func.return %{{.*}}, [[TRUE]]
func.func @caller(%c: i1, %x: i32, %m: memref<?xf32>) -> (i1, i1) {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : i32
  %mask = arith.constant 255 : i32
  %0 = arith.andi %x, %mask : i32
  %1 = scf.if %c -> (i32) {
    scf.yield %0 : i32
  } else {
    scf.yield %three : i32
  }
  %2 = func.call @callee(%1) : (i32) -> i1
  %3 = memref.dim %m, %zero : memref<?xf32>
  %4 = arith.cmpi sge, %3, %zero : index
  func.return %2, %4 : i1, i1
}

// -----

// What must stay: sums that may wrap, a remainder that may be negative, a value that a loop changes,
// quotients of what may be zero, signed comparisons of what is only unsigned.
// UNCHANGED: @sum
func.func @sum(%x: i32) -> i1 {
  %one = arith.constant 1 : i32
  %0 = arith.addi %x, %one : i32
  %1 = arith.cmpi sgt, %0, %x : i32
  func.return %1 : i1
}
// UNCHANGED: @remainder
func.func @remainder(%x: i32) -> (i1, i32) {
  %eight = arith.constant 8 : i32
  %zero = arith.constant 0 : i32
  %0 = arith.remsi %x, %eight : i32
  %1 = arith.cmpi sge, %0, %zero : i32
  %2 = arith.remui %0, %eight : i32
  func.return %1, %2 : i1, i32
}
// UNCHANGED: @counts
func.func @counts(%n: index) -> i1 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%x = %zero) -> (index) {
    %1 = arith.addi %x, %one : index
    scf.yield %1 : index
  }
  %2 = arith.cmpi sge, %0, %zero : index
  func.return %2 : i1
}
// UNCHANGED: @quotient
func.func @quotient(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0 = arith.andi %x, %one : i32
  %1 = arith.divsi %zero, %0 : i32
  func.return %1 : i32
}
// UNCHANGED: @narrow
func.func @narrow(%x: i32) -> i1 {
  %mask = arith.constant 255 : i32
  %zero = arith.constant 0 : i8
  %0 = arith.andi %x, %mask : i32
  %1 = arith.trunci %0 : i32 to i8
  %2 = arith.cmpi sge, %1, %zero : i8
  func.return %2 : i1
}

// A quotient or shift that is exact has the range of any other one.
// CHECK-LABEL: @exact(
// CHECK-NEXT:    [[true:%.*]] = arith.constant true
// CHECK:         func.return [[true]], [[true]] : i1, i1
func.func @exact(%x: i32) -> (i1, i1) {
  %mask = arith.constant 255 : i32
  %four = arith.constant 4 : i32
  %limit = arith.constant 64 : i32
  %0 = arith.andi %x, %mask : i32
  %1 = arith.divui %0, %four exact : i32
  %2 = arith.shrui %0, %four exact : i32
  %3 = arith.cmpi slt, %1, %limit : i32
  %4 = arith.cmpi slt, %2, %limit : i32
  func.return %3, %4 : i1, i1
}

// Integers of no bits and vectors have no range.
// UNCHANGED: @no_range
func.func @no_range(%x: i8, %v: vector<4xi8>) -> (i0, vector<4xi1>) {
  %0 = arith.trunci %x : i8 to i0
  %1 = arith.extui %v : vector<4xi8> to vector<4xi16>
  %2 = arith.extui %v : vector<4xi8> to vector<4xi16>
  %3 = arith.cmpi sge, %1, %2 : vector<4xi16>
  func.return %0, %3 : i0, vector<4xi1>
}

// -----

// Numbers that are near to each other as unsigned ones only; sums and differences of them.
// CHECK-LABEL: @unsigned
// CHECK-DAG:     [[TRUE:%.*]] = arith.constant true
// CHECK-DAG:     [[FALSE:%.*]] = arith.constant false
// CHECK:         func.return [[TRUE]], [[FALSE]], [[TRUE]], [[TRUE]]
func.func @unsigned(%x: i8) -> (i1, i1, i1, i1) {
  %low = arith.constant 100 : i8
  %high = arith.constant -106 : i8
  %fifty = arith.constant 50 : i8
  %200 = arith.constant 200 : i8
  %0 = arith.maxui %x, %low : i8
  %1 = arith.minui %0, %high : i8
  %2 = arith.cmpi uge, %1, %low : i8
  %3 = arith.cmpi eq, %1, %fifty : i8
  %4 = arith.addi %1, %fifty : i8
  %5 = arith.cmpi ule, %4, %200 : i8
  %6 = arith.divui %1, %fifty : i8
  %7 = arith.cmpi sle, %6, %low : i8
  func.return %2, %3, %5, %7 : i1, i1, i1, i1
}

// The leading bits that the numbers of a range have in common; a division by what may be zero.
// CHECK-LABEL: @bits
// CHECK-DAG:     [[TRUE:%.*]] = arith.constant true
// CHECK:         func.return [[TRUE]], [[TRUE]]
func.func @bits(%x: i8, %y: i8) -> (i1, i1) {
  %low = arith.constant 96 : i8
  %high = arith.constant 97 : i8
  %two = arith.constant 2 : i8
  %0 = arith.maxui %x, %low : i8
  %1 = arith.minui %0, %high : i8
  %2 = arith.xori %1, %low : i8
  %3 = arith.cmpi ult, %2, %two : i8
  %4 = arith.divui %1, %y : i8
  %5 = arith.cmpi ule, %4, %high : i8
  func.return %3, %5 : i1, i1
}

// Remainders of numbers with the same quotient are in order, also those below 0.
// CHECK-LABEL: @remainder
// CHECK-DAG:     [[TRUE:%.*]] = arith.constant true
// CHECK:         func.return [[TRUE]]
func.func @remainder(%x: i8) -> i1 {
  %low = arith.constant -49 : i8
  %high = arith.constant -41 : i8
  %divisor = arith.constant -10 : i8
  %bound = arith.constant -1 : i8
  %0 = arith.maxsi %x, %low : i8
  %1 = arith.minsi %0, %high : i8
  %2 = arith.remsi %1, %divisor : i8
  %3 = arith.cmpi sle, %2, %bound : i8
  func.return %3 : i1
}

// Must not fire: the order as signed numbers, a sum that wraps around as both kinds, a quotient by
// what may be zero or negative, a shift by what may be the width.
// CHECK-LABEL: @undecided
// CHECK:         [[A:%.*]] = arith.cmpi slt
// CHECK:         [[B:%.*]] = arith.cmpi uge
// CHECK:         [[C:%.*]] = arith.cmpi sle
// CHECK:         [[D:%.*]] = arith.cmpi ule
// CHECK:         func.return [[A]], [[B]], [[C]], [[D]]
func.func @undecided(%x: i8, %y: i8) -> (i1, i1, i1, i1) {
  %low = arith.constant 100 : i8
  %high = arith.constant -106 : i8
  %two = arith.constant 2 : i8
  %nine = arith.constant 9 : i8
  %0 = arith.maxui %x, %low : i8
  %1 = arith.minui %0, %high : i8
  %2 = arith.cmpi slt, %1, %low : i8
  %3 = arith.addi %1, %1 : i8
  %4 = arith.cmpi uge, %3, %two : i8
  %5 = arith.divsi %two, %y : i8
  %6 = arith.cmpi sle, %5, %two : i8
  %7 = arith.minui %y, %nine : i8
  %8 = arith.shrui %two, %7 : i8
  %9 = arith.cmpi ule, %8, %two : i8
  func.return %2, %4, %6, %9 : i1, i1, i1, i1
}
