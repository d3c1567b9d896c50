// RUN: passline-opt %s -p canonicalize | filecheck %s

// Constants, also those that only 64 bits hold.
// CHECK-LABEL: @constants(
// CHECK-NEXT:    %0 = index.constant 7000002101
// CHECK-NEXT:    %1 = index.constant 2
// CHECK-NEXT:    %2 = index.constant -2
// CHECK-NEXT:    %3 = index.constant -3
// CHECK-NEXT:    %4 = index.constant -1
// CHECK-NEXT:    %5 = index.constant 8
// CHECK-NEXT:    func.return %0, %2, %3, %4, %1, %5 : index, index, index, index, index, index
func.func @constants() -> (index, index, index, index, index, index) {
  %0 = index.constant 3000000001
  %1 = index.constant 4000002100
  %2 = index.add %0, %1
  %3 = index.constant -5
  %4 = index.constant 2
  %5 = index.ceildivs %3, %4
  %6 = index.floordivs %3, %4
  %7 = index.rems %3, %4
  %8 = index.minu %3, %4
  %9 = index.shl %4, %4
  func.return %2, %5, %6, %7, %8, %9 : index, index, index, index, index, index
}

// Must not fire: a division by zero, results that differ for 32 bits and 64, shifts by 32 bits.
// CHECK-LABEL: @undecided(
// CHECK-NEXT:    %0 = index.constant 0
// CHECK-NEXT:    %1 = index.constant 1
// CHECK-NEXT:    %2 = index.constant 2
// CHECK-NEXT:    %3 = index.constant 4294967296
// CHECK-NEXT:    %4 = index.constant 32
// CHECK-NEXT:    %5 = index.constant -1
// CHECK-NEXT:    %6 = index.constant -9223372036854775808
// CHECK-NEXT:    %7 = index.remu %2, %0
// CHECK-NEXT:    %8 = index.divu %3, %2
// CHECK-NEXT:    %9 = index.maxs %1, %3
// CHECK-NEXT:    %10 = index.shrs %3, %1
// CHECK-NEXT:    %11 = index.shl %1, %4
// CHECK-NEXT:    %12 = index.divs %6, %5
// CHECK-NEXT:    func.return %7, %8, %9, %10, %11, %12 : index, index, index, index, index, index
func.func @undecided() -> (index, index, index, index, index, index) {
  %0 = index.constant 0
  %1 = index.constant 1
  %2 = index.constant 2
  %3 = index.constant 4294967296
  %4 = index.constant 32
  %5 = index.remu %2, %0
  %6 = index.divu %3, %2
  %7 = index.maxs %1, %3
  %8 = index.shrs %3, %1
  %9 = index.shl %1, %4
  %10 = index.constant -1
  %11 = index.constant -9223372036854775808
  %12 = index.divs %11, %10
  func.return %5, %6, %7, %8, %9, %12 : index, index, index, index, index, index
}

// CHECK-LABEL: @identities(
// CHECK-NEXT:    %0 = index.constant 0
// CHECK-NEXT:    func.return %x, %x, %x, %0 : index, index, index, index
func.func @identities(%x: index) -> (index, index, index, index) {
  %0 = index.constant 0
  %1 = index.constant 1
  %2 = index.add %0, %x
  %3 = index.sub %x, %0
  %4 = index.mul %1, %x
  %5 = index.mul %x, %0
  func.return %2, %3, %4, %5 : index, index, index, index
}

// CHECK-LABEL: @merged(
// CHECK-NEXT:    %0 = index.constant 1
// CHECK-NEXT:    %1 = index.constant -2
// CHECK-NEXT:    %2 = index.add %x, %0
// CHECK-NEXT:    %3 = index.mins %x, %1
// CHECK-NEXT:    func.return %2, %3 : index, index
func.func @merged(%x: index) -> (index, index) {
  %0 = index.constant -2
  %1 = index.constant 3
  %2 = index.add %0, %x
  %3 = index.add %2, %1
  %4 = index.mins %x, %0
  %5 = index.mins %1, %4
  func.return %3, %5 : index, index
}

// Must not fire: two maxima that are not the same for 32 bits and 64, two kinds, a constant less
// a value.
// CHECK-LABEL: @not_merged(
// CHECK-NEXT:    %0 = index.constant 1
// CHECK-NEXT:    %1 = index.constant 4294967296
// CHECK-NEXT:    %2 = index.maxs %x, %0
// CHECK-NEXT:    %3 = index.maxs %2, %1
// CHECK-NEXT:    %4 = index.minu %2, %0
// CHECK-NEXT:    %5 = index.sub %0, %x
// CHECK-NEXT:    func.return %3, %4, %5 : index, index, index
func.func @not_merged(%x: index) -> (index, index, index) {
  %0 = index.constant 1
  %1 = index.constant 4294967296
  %2 = index.maxs %x, %0
  %3 = index.maxs %2, %1
  %4 = index.minu %2, %0
  %5 = index.sub %0, %x
  func.return %3, %4, %5 : index, index, index
}

// CHECK-LABEL: @comparisons(
// CHECK-NEXT:    %0 = index.bool.constant true
// CHECK-NEXT:    %1 = index.bool.constant false
// CHECK-NEXT:    %2 = index.cmp eq(%x, %y)
// CHECK-NEXT:    %3 = index.cmp ne(%x, %y)
// CHECK-NEXT:    func.return %0, %1, %1, %2, %3 : i1, i1, i1, i1, i1
func.func @comparisons(%x: index, %y: index) -> (i1, i1, i1, i1, i1) {
  %0 = index.constant 0
  %1 = index.constant 1
  %2 = index.maxs %x, %1
  %3 = index.cmp sgt(%2, %0)
  %4 = index.cmp ne(%x, %x)
  %5 = index.minu %x, %1
  %6 = index.cmp slt(%5, %0)
  %7 = index.sub %x, %y
  %8 = index.cmp eq(%7, %0)
  %9 = index.cmp ne(%0, %7)
  func.return %3, %4, %6, %8, %9 : i1, i1, i1, i1, i1
}

// Must not fire: constants whose order differs for 32 bits and 64, a bound that says nothing, and
// the order of a difference, which may overflow.
// CHECK-LABEL: @not_compared(
// CHECK-NEXT:    %0 = index.constant 0
// CHECK-NEXT:    %1 = index.constant 1
// CHECK-NEXT:    %2 = index.constant 4294967296
// CHECK-NEXT:    %3 = index.cmp slt(%1, %2)
// CHECK-NEXT:    %4 = index.maxu %x, %1
// CHECK-NEXT:    %5 = index.cmp sgt(%4, %0)
// CHECK-NEXT:    %6 = index.sub %x, %y
// CHECK-NEXT:    %7 = index.cmp sgt(%6, %0)
// CHECK-NEXT:    func.return %3, %5, %7 : i1, i1, i1
func.func @not_compared(%x: index, %y: index) -> (i1, i1, i1) {
  %0 = index.constant 0
  %1 = index.constant 1
  %2 = index.constant 4294967296
  %3 = index.cmp slt(%1, %2)
  %4 = index.maxu %x, %1
  %5 = index.cmp sgt(%4, %0)
  %6 = index.sub %x, %y
  %7 = index.cmp sgt(%6, %0)
  func.return %3, %5, %7 : i1, i1, i1
}

// CHECK-LABEL: @casts(
// CHECK-NEXT:    %0 = arith.constant -7 : i64
// CHECK-NEXT:    %1 = arith.constant -1 : i32
// CHECK-NEXT:    %2 = index.constant 255
// CHECK-NEXT:    %3 = index.constant -1
// CHECK-NEXT:    func.return %2, %3, %1, %0 : index, index, i32, i64
func.func @casts() -> (index, index, i32, i64) {
  %0 = arith.constant -1 : i8
  %1 = index.castu %0 : i8 to index
  %2 = index.casts %0 : i8 to index
  %3 = index.constant 4294967295
  %4 = index.castu %3 : index to i32
  %5 = index.constant -7
  %6 = index.casts %5 : index to i64
  func.return %1, %2, %4, %6 : index, index, i32, i64
}

// Must not fire: 64 bits of what is another number for 32, and of no constant.
// CHECK-LABEL: @not_cast(
// CHECK-NEXT:    %0 = index.constant 4294967295
// CHECK-NEXT:    %1 = index.constant -7
// CHECK-NEXT:    %2 = index.casts %0 : index to i64
// CHECK-NEXT:    %3 = index.castu %1 : index to i64
// CHECK-NEXT:    %4 = index.castu %x : index to i32
// CHECK-NEXT:    func.return %2, %3, %4 : i64, i64, i32
func.func @not_cast(%x: index) -> (i64, i64, i32) {
  %0 = index.constant 4294967295
  %1 = index.casts %0 : index to i64
  %2 = index.constant -7
  %3 = index.castu %2 : index to i64
  %4 = index.castu %x : index to i32
  func.return %1, %3, %4 : i64, i64, i32
}
