// RUN: passline-opt %s -p sroa | filecheck %s

// An allocation for each element in use.
// CHECK-LABEL: func.func @elements
// CHECK-COUNT-2: memref.alloca() : memref<i32>
// CHECK-NOT: memref.alloca
// CHECK: memref.store %x, %[[A:.*]][] : memref<i32>
// CHECK: memref.store %y, %[[B:.*]][] : memref<i32>
// CHECK: memref.load %[[A]][] : memref<i32>
func.func @elements(%x: i32, %y: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.alloca() : memref<2x2xi32>
  memref.store %x, %m[%c0, %c1] : memref<2x2xi32>
  memref.store %y, %m[%c1, %c1] : memref<2x2xi32>
  %0 = memref.load %m[%c0, %c1] : memref<2x2xi32>
  return %0 : i32
}

// Must not fire: an index that is not known, or out of bounds; another use; many elements.
// UNCHANGED: @unknown
func.func @unknown(%x: i32, %i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloca() : memref<2xi32>
  memref.store %x, %m[%c0] : memref<2xi32>
  %0 = memref.load %m[%i] : memref<2xi32>
  return %0 : i32
}

// UNCHANGED: @outside
func.func @outside(%x: i32) {
  %c2 = arith.constant 2 : index
  %m = memref.alloca() : memref<2xi32>
  memref.store %x, %m[%c2] : memref<2xi32>
  return
}

// UNCHANGED: @used
func.func @used(%x: i32) {
  %c0 = arith.constant 0 : index
  %m = memref.alloca() : memref<2xi32>
  memref.store %x, %m[%c0] : memref<2xi32>
  func.call @use(%m) : (memref<2xi32>) -> ()
  return
}
func.func private @use(%m: memref<2xi32>)

// UNCHANGED: @many
func.func @many(%x: i32) {
  %c0 = arith.constant 0 : index
  %m = memref.alloca() : memref<17xi32>
  memref.store %x, %m[%c0] : memref<17xi32>
  return
}
