// A function on the host between launches.
func.func @main(%x: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%size) : memref<?xf32>
  %z = memref.alloc(%size) : memref<?xf32>
  tir.call @add(%x, %x, %y) : memref<?xf32>, memref<?xf32>, memref<?xf32>
  tir.call @negate(%y, %z) : memref<?xf32>, memref<?xf32>
  memref.dealloc %y : memref<?xf32>
  func.return %z : memref<?xf32>
}
tir.prim_func private @negate(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  tir.for %i = %c0 extent %size {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.negf %0 : f32
    memref.store %1, %y[%i] : memref<?xf32>
  }
}
