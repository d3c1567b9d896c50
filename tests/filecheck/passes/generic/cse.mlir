// RUN: passline-opt %s -p cse | filecheck %s

// Equal operations are computed once, and dead ones are removed.
// CHECK-LABEL: @simple
// CHECK-NEXT:    [[M:%.*]] = arith.muli %x, %x
// CHECK-NEXT:    [[A:%.*]] = arith.addi [[M]], [[M]]
// CHECK-NEXT:    func.return [[A]]
func.func @simple(%x: i32) -> i32 {
  %0 = arith.muli %x, %x : i32
  %1 = arith.muli %x, %x : i32
  %2 = arith.addi %0, %1 : i32
  %3 = arith.subi %0, %1 : i32
  func.return %2 : i32
}

// A load is not repeated unless memory may be written in between.
// CHECK-LABEL: @loads
// CHECK-NEXT:    [[A:%.*]] = memref.load
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    [[B:%.*]] = memref.load
// CHECK-NEXT:    func.return [[A]], [[A]], [[B]]
func.func @loads(%m: memref<i32>, %x: i32) -> (i32, i32, i32) {
  %0 = memref.load %m[] : memref<i32>
  %1 = memref.load %m[] : memref<i32>
  memref.store %x, %m[] : memref<i32>
  %2 = memref.load %m[] : memref<i32>
  func.return %0, %1, %2 : i32, i32, i32
}

// An operation is equal to one around it, not to one in another branch.
// CHECK-LABEL: @branches
// CHECK-NEXT:    [[M:%.*]] = arith.muli
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      [[A:%.*]] = arith.addi
// CHECK-NEXT:      "test.op"([[M]], [[A]])
// CHECK-NEXT:    } else {
// CHECK-NEXT:      [[B:%.*]] = arith.addi
// CHECK-NEXT:      "test.op"([[M]], [[B]])
func.func @branches(%c: i1, %x: i32) -> i32 {
  %0 = arith.muli %x, %x : i32
  scf.if %c {
    %1 = arith.muli %x, %x : i32
    %2 = arith.addi %x, %x : i32
    "test.op"(%1, %2) : (i32, i32) -> ()
  } else {
    %3 = arith.muli %x, %x : i32
    %4 = arith.addi %x, %x : i32
    "test.op"(%3, %4) : (i32, i32) -> ()
  }
  func.return %0 : i32
}
