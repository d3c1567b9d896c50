// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: func.func @unranked(%a: memref<*xf32>, %b: memref<4xf32>) {
func.func @unranked(%a: memref<*xf32>, %b: memref<4xf32>) {
  // CHECK-NEXT: %0 = memref.rank %a : memref<*xf32>
  %0 = memref.rank %a : memref<*xf32>
  // CHECK-NEXT: memref.copy %a, %b {note} : memref<*xf32> to memref<4xf32>
  memref.copy %a, %b {note} : memref<*xf32> to memref<4xf32>
  // CHECK-NEXT: %1 = memref.extract_aligned_pointer_as_index %a : memref<*xf32> -> index
  %1 = memref.extract_aligned_pointer_as_index %a : memref<*xf32> -> index
  // CHECK-NEXT: %2 = memref.memory_space_cast %a : memref<*xf32> to memref<*xf32, 1 : i64>
  %2 = memref.memory_space_cast %a : memref<*xf32> to memref<*xf32, 1 : i64>
  func.return
}
// CHECK-LABEL: func.func @sizes(%a: memref<*xf32>, %b: memref<4xf32>, %s: memref<1xindex>, %n: index) {
func.func @sizes(%a: memref<*xf32>, %b: memref<4xf32>, %s: memref<1xindex>, %n: index) {
  // CHECK-NEXT: %0 = memref.reshape %a(%s) : (memref<*xf32>, memref<1xindex>) -> memref<?xf32>
  %0 = memref.reshape %a(%s) : (memref<*xf32>, memref<1xindex>) -> memref<?xf32>
  // CHECK-NEXT: %1 = memref.realloc %b : memref<4xf32> to memref<8xf32>
  %1 = memref.realloc %b : memref<4xf32> to memref<8xf32>
  // CHECK-NEXT: %2 = memref.realloc %1(%n) : memref<8xf32> to memref<?xf32>
  %2 = memref.realloc %1(%n) : memref<8xf32> to memref<?xf32>
  func.return
}
