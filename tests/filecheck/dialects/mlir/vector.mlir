// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: func.func @vectors(%v: vector<2x4xf32>, %w: vector<4xf32>, %x: f32) {
func.func @vectors(%v: vector<2x4xf32>, %w: vector<4xf32>, %x: f32) {
  // CHECK-NEXT: %0 = vector.shape_cast %v : vector<2x4xf32> to vector<8xf32>
  %0 = vector.shape_cast %v : vector<2x4xf32> to vector<8xf32>
  // CHECK-NEXT: %1 = vector.transpose %v, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  %1 = vector.transpose %v, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  // CHECK-NEXT: %2 = vector.constant_mask [2, 3] : vector<2x4xi1>
  %2 = vector.constant_mask [2, 3] : vector<2x4xi1>
  // CHECK-NEXT: %3 = vector.extract_strided_slice %v {offsets = [0 : i64, 2 : i64], sizes = [2 : i64, 2 : i64], strides = [1 : i64, 1 : i64]} : vector<2x4xf32> to vector<2x2xf32>
  %3 = vector.extract_strided_slice %v {offsets = [0 : i64, 2 : i64], sizes = [2 : i64, 2 : i64], strides = [1 : i64, 1 : i64]} : vector<2x4xf32> to vector<2x2xf32>
  // CHECK-NEXT: %4 = vector.insert_strided_slice %3, %v {offsets = [0 : i64, 2 : i64], strides = [1 : i64, 1 : i64]} : vector<2x2xf32> into vector<2x4xf32>
  %4 = vector.insert_strided_slice %3, %v {offsets = [0 : i64, 2 : i64], strides = [1 : i64, 1 : i64]} : vector<2x2xf32> into vector<2x4xf32>
  // CHECK-NEXT: %5 = vector.vscale
  %5 = vector.vscale
  // CHECK-NEXT: %6 = vector.from_elements %x, %x : vector<2xf32>
  %6 = vector.from_elements %x, %x : vector<2xf32>
  // CHECK-NEXT: %7, %8 = vector.to_elements %6 : vector<2xf32>
  %7, %8 = vector.to_elements %6 : vector<2xf32>
  // CHECK-NEXT: %9 = vector.multi_reduction <add>, %v, %w [0] : vector<2x4xf32> to vector<4xf32>
  %9 = vector.multi_reduction <add>, %v, %w [0] : vector<2x4xf32> to vector<4xf32>
  // CHECK-NEXT: %10 = vector.interleave %w, %w : vector<4xf32> -> vector<8xf32>
  %10 = vector.interleave %w, %w : vector<4xf32> -> vector<8xf32>
  // CHECK-NEXT: %11, %12 = vector.deinterleave %w : vector<4xf32> -> vector<2xf32>
  %11, %12 = vector.deinterleave %w : vector<4xf32> -> vector<2xf32>
  // CHECK-NEXT: %13 = vector.step : vector<4xindex>
  %13 = vector.step : vector<4xindex>
  // CHECK-NEXT: vector.print %v : vector<2x4xf32> punctuation <no_punctuation>
  vector.print %v : vector<2x4xf32> punctuation <no_punctuation>
  // CHECK-NEXT: vector.print punctuation <open>
  vector.print punctuation <open>
  // CHECK-NEXT: vector.print str "text"
  vector.print str "text"
  func.return
}
