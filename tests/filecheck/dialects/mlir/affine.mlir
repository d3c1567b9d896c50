// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: func.func @maps(%n: index, %m: memref<4x8xf32>) {
func.func @maps(%n: index, %m: memref<4x8xf32>) {
  // CHECK-NEXT: %0 = affine.max affine_map<(d0)[s0] -> (d0, s0)>(%n)[%n]
  %0 = affine.max affine_map<(d0)[s0] -> (d0, s0)>(%n)[%n]
  // CHECK-NEXT: %1, %2, %3 = affine.delinearize_index %n into (4, %n, 5) : index, index, index
  %1, %2, %3 = affine.delinearize_index %n into (4, %n, 5) : index, index, index
  // CHECK-NEXT: %4 = affine.linearize_index disjoint [%1, %2] by (4, %n) : index
  %4 = affine.linearize_index disjoint [%1, %2] by (4, %n) : index
  // CHECK-NEXT: %5 = affine.linearize_index [%1, %2] by (4, 5) {note} : index
  %5 = affine.linearize_index [%1, %2] by (4, 5) {note} : index
  // CHECK-NEXT: %6 = affine.apply affine_map<(d0)[s0] -> (((d0 * s0) + (d0 floordiv s0)))> (%n)[%n]
  %6 = affine.apply affine_map<(d0)[s0] -> (((d0 * s0) + (d0 floordiv s0)))> (%n)[%n]
  // CHECK-NEXT: %7 = affine.load %m[%n + 1, %n] : memref<4x8xf32>
  %7 = affine.load %m[%n + 1, %n] : memref<4x8xf32>
  // CHECK-NEXT: affine.store %7, %m[%n, %n * 2] : memref<4x8xf32>
  affine.store %7, %m[%n, %n * 2] : memref<4x8xf32>
  func.return
}
