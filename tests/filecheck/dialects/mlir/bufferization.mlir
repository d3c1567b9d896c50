// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: func.func @buffers(
func.func @buffers(%a: memref<?xf32, strided<[1], offset: 3>>, %b: memref<*xf32, 2>, %c: memref<?xf32>) {
  // CHECK-NEXT: %0 = bufferization.to_tensor %a restrict writable : memref<?xf32, strided<[1], offset: 3>> to tensor<?xf32>
  %0 = bufferization.to_tensor %a restrict writable : memref<?xf32, strided<[1], offset: 3>> to tensor<?xf32>
  // CHECK-NEXT: %1 = bufferization.to_buffer %0 read_only : tensor<?xf32> to memref<?xf32, 7 : i64>
  %1 = bufferization.to_buffer %0 read_only : tensor<?xf32> to memref<?xf32, 7>
  // CHECK-NEXT: %2 = bufferization.to_tensor %b : memref<*xf32, 2 : i64> to tensor<*xf32>
  %2 = bufferization.to_tensor %b : memref<*xf32, 2> to tensor<*xf32>
  // CHECK-NEXT: %3 = bufferization.clone %c : memref<?xf32> to memref<32xf32>
  %3 = bufferization.clone %c : memref<?xf32> to memref<32xf32>
  func.return
}
