// RUN: passline-opt %s -p 'canonicalize' | filecheck %s

// Transfers between vectors and memory.

// A mask of which all elements are set is none.
// CHECK-LABEL: @full_mask(
// CHECK-NEXT:    [[V0:%.*]] = vector.transfer_read %m[%i], %x : memref<?xf32>, vector<4xf32>
// CHECK-NEXT:    vector.transfer_write [[V0]], %m[%i] : vector<4xf32>, memref<?xf32>
// CHECK-NEXT:    func.return [[V0]] : vector<4xf32>
func.func @full_mask(%m: memref<?xf32>, %i: index, %x: f32) -> vector<4xf32> {
  %0 = vector.constant_mask [4] : vector<4xi1>
  %1 = vector.transfer_read %m[%i], %x, %0 : memref<?xf32>, vector<4xf32>
  vector.transfer_write %1, %m[%i], %0 : vector<4xf32>, memref<?xf32>
  func.return %1 : vector<4xf32>
}

// A mask with an element that is not set.
// UNCHANGED: @part_mask
func.func @part_mask(%m: memref<?xf32>, %i: index, %x: f32) -> vector<4xf32> {
  %0 = vector.constant_mask [3] : vector<4xi1>
  %1 = vector.transfer_read %m[%i], %x, %0 : memref<?xf32>, vector<4xf32>
  func.return %1 : vector<4xf32>
}

// A read is the vector that was written there, also below a write elsewhere, or before it is repeated.
// CHECK-LABEL: @read_written(
// CHECK-NEXT:    [[V0:%.*]] = vector.broadcast %v : vector<4xf32> to vector<2x4xf32>
// CHECK-NEXT:    func.return %v, [[V0]] : vector<4xf32>, vector<2x4xf32>
func.func @read_written(%t: tensor<8xf32>, %v: vector<4xf32>, %w: vector<4xf32>, %x: f32) -> (vector<4xf32>, vector<2x4xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 4 : index
  %2 = vector.transfer_write %v, %t[%0] {in_bounds = [true]} : vector<4xf32>, tensor<8xf32>
  %3 = vector.transfer_write %w, %2[%1] : vector<4xf32>, tensor<8xf32>
  %4 = vector.transfer_read %3[%0], %x : tensor<8xf32>, vector<4xf32>
  %5 = vector.transfer_read %2[%0], %x {in_bounds = [true, true], permutation_map = affine_map<(d0) -> (0, d0)>} : tensor<8xf32>, vector<2x4xf32>
  func.return %4, %5 : vector<4xf32>, vector<2x4xf32>
}

// The write may be out of bounds, the places overlap or are not known, or buffers may have changed.
// UNCHANGED: @read_other
func.func @read_other(%t: tensor<?xf32>, %u: tensor<8xf32>, %m: memref<8xf32>, %v: vector<4xf32>, %i: index, %x: f32) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 3 : index
  %2 = vector.transfer_write %v, %t[%0] : vector<4xf32>, tensor<?xf32>
  %3 = vector.transfer_read %2[%0], %x : tensor<?xf32>, vector<4xf32>
  %4 = vector.transfer_write %v, %u[%0] : vector<4xf32>, tensor<8xf32>
  %5 = vector.transfer_read %4[%1], %x : tensor<8xf32>, vector<4xf32>
  %6 = vector.transfer_write %v, %4[%i] {in_bounds = [true]} : vector<4xf32>, tensor<8xf32>
  %7 = vector.transfer_read %6[%0], %x : tensor<8xf32>, vector<4xf32>
  vector.transfer_write %v, %m[%0] : vector<4xf32>, memref<8xf32>
  %8 = vector.transfer_read %m[%0], %x : memref<8xf32>, vector<4xf32>
  func.return %3, %5, %7, %8 : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
}

// A write that is not used, that writes what was read there, or that is overwritten.
// CHECK-LABEL: @dead_writes(
// CHECK-NEXT:    [[V0:%.*]] = arith.constant 0 : index
// CHECK-NEXT:    [[V1:%.*]] = arith.constant 4 : index
// CHECK-NEXT:    [[V2:%.*]] = vector.transfer_write %v, %t{{\[}}[[V1]]] : vector<4xf32>, tensor<8xf32>
// CHECK-NEXT:    [[V3:%.*]] = vector.transfer_write %w, [[V2]]{{\[}}[[V0]]] : vector<4xf32>, tensor<8xf32>
// CHECK-NEXT:    func.return %t, [[V3]] : tensor<8xf32>, tensor<8xf32>
func.func @dead_writes(%t: tensor<8xf32>, %v: vector<4xf32>, %w: vector<4xf32>, %i: index, %x: f32) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 4 : index
  %2 = vector.transfer_write %v, %t[%i] : vector<4xf32>, tensor<8xf32>
  %3 = vector.transfer_read %t[%i], %x : tensor<8xf32>, vector<4xf32>
  %4 = vector.transfer_write %3, %t[%i] : vector<4xf32>, tensor<8xf32>
  %5 = vector.transfer_write %v, %t[%0] : vector<4xf32>, tensor<8xf32>
  %6 = vector.transfer_write %v, %5[%1] : vector<4xf32>, tensor<8xf32>
  %7 = vector.transfer_write %w, %6[%0] : vector<4xf32>, tensor<8xf32>
  func.return %4, %7 : tensor<8xf32>, tensor<8xf32>
}

// The write between has another use; the places may overlap; what was read is written elsewhere.
// UNCHANGED: @live_writes
func.func @live_writes(%t: tensor<8xf32>, %v: vector<4xf32>, %w: vector<4xf32>, %i: index, %x: f32) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 4 : index
  %2 = vector.transfer_write %v, %t[%0] : vector<4xf32>, tensor<8xf32>
  %3 = vector.transfer_write %v, %2[%1] : vector<4xf32>, tensor<8xf32>
  %4 = vector.transfer_write %w, %3[%0] : vector<4xf32>, tensor<8xf32>
  %5 = vector.transfer_write %v, %2[%i] : vector<4xf32>, tensor<8xf32>
  %6 = vector.transfer_write %w, %5[%0] : vector<4xf32>, tensor<8xf32>
  %7 = vector.transfer_read %t[%0], %x : tensor<8xf32>, vector<4xf32>
  %8 = vector.transfer_write %7, %t[%1] : vector<4xf32>, tensor<8xf32>
  func.return %3, %4, %6, %8 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
