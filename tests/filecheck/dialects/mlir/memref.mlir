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
  func.return
}
