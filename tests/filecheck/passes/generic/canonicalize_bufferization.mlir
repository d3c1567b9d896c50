// RUN: passline-opt %s -p canonicalize | filecheck %s

// A buffer of the tensor of a buffer: a cast that only forgets, and a copy where a cast would check
// an offset, or the memory is another one.
// CHECK-LABEL: @buffers(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 0 : index
// CHECK-NEXT:    [[V1:%\w+]] = "memref.cast"(%a) : (memref<?xf32, strided<[1], offset: 3>>) -> memref<?xf32, strided<[1], offset: ?>>
// CHECK-NEXT:    [[V2:%\w+]] = memref.dim %b, [[V0]] : memref<?xf32>
// CHECK-NEXT:    [[V3:%\w+]] = memref.alloc([[V2]]) : memref<?xf32, 7 : i64>
// CHECK-NEXT:    "memref.copy"(%b, [[V3]]) : (memref<?xf32>, memref<?xf32, 7 : i64>) -> ()
// CHECK-NEXT:    func.return [[V1]], [[V3]] : memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, 7 : i64>
func.func @buffers(%a: memref<?xf32, strided<[1], offset: 3>>, %b: memref<?xf32>) -> (memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, 7>) {
  %0 = bufferization.to_tensor %a : memref<?xf32, strided<[1], offset: 3>> to tensor<?xf32>
  %1 = bufferization.to_buffer %0 : tensor<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  %2 = bufferization.to_tensor %b : memref<?xf32> to tensor<?xf32>
  %3 = bufferization.to_buffer %2 : tensor<?xf32> to memref<?xf32, 7>
  func.return %1, %3 : memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, 7>
}

// The buffer of a tensor that was cast.
// CHECK-LABEL: @buffer_of_cast(
// CHECK-NEXT:    [[V0:%\w+]] = bufferization.to_buffer %a : tensor<4x6xi8> to memref<4x6xi8, strided<[?, 1], offset: ?>, 1 : i64>
// CHECK-NEXT:    [[V1:%\w+]] = "memref.cast"([[V0]]) : (memref<4x6xi8, strided<[?, 1], offset: ?>, 1 : i64>) -> memref<?x6xi8, strided<[?, 1], offset: ?>, 1 : i64>
// CHECK-NEXT:    [[V2:%\w+]] = bufferization.to_buffer %a : tensor<4x6xi8> to memref<4x6xi8>
// CHECK-NEXT:    [[V3:%\w+]] = "memref.cast"([[V2]]) : (memref<4x6xi8>) -> memref<*xi8>
// CHECK-NEXT:    func.return [[V1]], [[V3]] : memref<?x6xi8, strided<[?, 1], offset: ?>, 1 : i64>, memref<*xi8>
func.func @buffer_of_cast(%a: tensor<4x6xi8>) -> (memref<?x6xi8, strided<[?, 1], offset: ?>, 1>, memref<*xi8>) {
  %0 = tensor.cast %a : tensor<4x6xi8> to tensor<?x6xi8>
  %1 = bufferization.to_buffer %0 : tensor<?x6xi8> to memref<?x6xi8, strided<[?, 1], offset: ?>, 1>
  %2 = tensor.cast %a : tensor<4x6xi8> to tensor<*xi8>
  %3 = bufferization.to_buffer %2 : tensor<*xi8> to memref<*xi8>
  func.return %1, %3 : memref<?x6xi8, strided<[?, 1], offset: ?>, 1>, memref<*xi8>
}

// Elements and sizes that are read of the buffer of a tensor, and the size of a tensor of a buffer.
// CHECK-LABEL: @reads(
// CHECK-NEXT:    [[V0:%\w+]] = arith.constant 0 : index
// CHECK-NEXT:    [[V1:%\w+]] = tensor.extract %a[%i] : tensor<?xf32>
// CHECK-NEXT:    [[V2:%\w+]] = tensor.dim %a, [[V0]] : tensor<?xf32>
// CHECK-NEXT:    [[V3:%\w+]] = memref.dim %b, [[V0]] : memref<?xf32>
// CHECK-NEXT:    func.return [[V1]], [[V2]], [[V3]] : f32, index, index
func.func @reads(%a: tensor<?xf32>, %b: memref<?xf32>, %i: index) -> (f32, index, index) {
  %zero = arith.constant 0 : index
  %0 = bufferization.to_buffer %a : tensor<?xf32> to memref<?xf32>
  %1 = memref.load %0[%i] : memref<?xf32>
  %2 = memref.dim %0, %zero : memref<?xf32>
  %3 = bufferization.to_tensor %b : memref<?xf32> to tensor<?xf32>
  %4 = tensor.dim %3, %zero : tensor<?xf32>
  func.return %1, %2, %4 : f32, index, index
}

// The buffer is written.
// UNCHANGED: @written
func.func @written(%a: tensor<?xf32>, %i: index, %x: f32) -> f32 {
  %0 = bufferization.to_buffer %a : tensor<?xf32> to memref<?xf32>
  memref.store %x, %0[%i] : memref<?xf32>
  %1 = memref.load %0[%i] : memref<?xf32>
  func.return %1 : f32
}

// Constant sizes of a tensor that is allocated.
// CHECK-LABEL: @allocated(
// CHECK-NEXT:    [[V0:%\w+]] = bufferization.alloc_tensor(%n) : tensor<4x?xf16>
// CHECK-NEXT:    [[V1:%\w+]] = tensor.cast [[V0]] : tensor<4x?xf16> to tensor<?x?xf16>
// CHECK-NEXT:    func.return [[V1]], %n : tensor<?x?xf16>, index
func.func @allocated(%n: index) -> (tensor<?x?xf16>, index) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %0 = bufferization.alloc_tensor(%four, %n) : tensor<?x?xf16>
  %1 = tensor.dim %0, %one : tensor<?x?xf16>
  func.return %0, %1 : tensor<?x?xf16>, index
}

// A size that is no valid one.
// UNCHANGED: @negative
func.func @negative() -> tensor<?xf16> {
  %0 = arith.constant -4 : index
  %1 = bufferization.alloc_tensor(%0) : tensor<?xf16>
  func.return %1 : tensor<?xf16>
}

// A clone whose source is freed, through a view, in another type.
// CHECK-LABEL: @clones(
// CHECK-NEXT:    [[V0:%\w+]] = memref.alloc(%n) : memref<?xf32>
// CHECK-NEXT:    [[V1:%\w+]] = memref.reshape [[V0]](%s) : (memref<?xf32>, memref<?xindex>) -> memref<*xf32>
// CHECK-NEXT:    [[V2:%\w+]] = "memref.cast"(%a) : (memref<?xf32>) -> memref<32xf32>
// CHECK-NEXT:    func.return [[V1]], [[V2]] : memref<*xf32>, memref<32xf32>
func.func @clones(%n: index, %s: memref<?xindex>, %a: memref<?xf32>) -> (memref<*xf32>, memref<32xf32>) {
  %0 = memref.alloc(%n) : memref<?xf32>
  %1 = memref.reshape %0(%s) : (memref<?xf32>, memref<?xindex>) -> memref<*xf32>
  %2 = bufferization.clone %1 : memref<*xf32> to memref<*xf32>
  memref.dealloc %0 : memref<?xf32>
  %3 = bufferization.clone %a : memref<?xf32> to memref<32xf32>
  memref.dealloc %a : memref<?xf32>
  func.return %2, %3 : memref<*xf32>, memref<32xf32>
}

// A clone of another layout, one of what was freed before, and one whose alias is freed first.
// UNCHANGED: @kept_clones
func.func @kept_clones(%a: memref<32xf32, strided<[2]>>, %b: memref<?xf32>, %c: memref<?xf32>, %d: memref<?xf32>) -> (memref<32xf32>, memref<32xf32>) {
  %0 = bufferization.clone %a : memref<32xf32, strided<[2]>> to memref<32xf32>
  memref.dealloc %a : memref<32xf32, strided<[2]>>
  memref.dealloc %b : memref<?xf32>
  %1 = bufferization.clone %b : memref<?xf32> to memref<32xf32>
  %2 = bufferization.clone %c : memref<?xf32> to memref<?xf32>
  memref.dealloc %d : memref<?xf32>
  "test.op"(%2) : (memref<?xf32>) -> ()
  memref.dealloc %c : memref<?xf32>
  func.return %0, %1 : memref<32xf32>, memref<32xf32>
}
