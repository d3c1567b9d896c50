// A loop whose condition is in device memory.
func.func @main(%x: memref<?xf32>, %n: memref<i32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %size = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%size) : memref<?xf32>
  "memref.copy"(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  scf.while : () -> () {
    %left = memref.load %n[] : memref<i32>
    %zero = arith.constant 0 : i32
    %more = arith.cmpi sgt, %left, %zero : i32
    scf.condition(%more)
  } do {
    %copy = memref.alloc(%size) : memref<?xf32>
    "memref.copy"(%y, %copy) : (memref<?xf32>, memref<?xf32>) -> ()
    tir.call @add(%copy, %x, %y) : memref<?xf32>, memref<?xf32>, memref<?xf32>
    memref.dealloc %copy : memref<?xf32>
    %left = memref.load %n[] : memref<i32>
    %next = arith.subi %left, %one : i32
    memref.store %next, %n[] : memref<i32>
    scf.yield
  }
  func.return %y : memref<?xf32>
}
