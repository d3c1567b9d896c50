// RUN: passline-opt %s -p 'canonicalize' | filecheck %s

// Vectors and tensors.

// A constant of equal elements is a number for all folds.
// CHECK-LABEL: @splats(
// CHECK-NEXT:    {{%.*}} = arith.constant dense<0> : vector<4xi32>
// CHECK-NEXT:    func.return %v, %t, {{%.*}} : vector<4xi32>, tensor<2x3xi32>, vector<4xi32>
func.func @splats(%v: vector<4xi32>, %t: tensor<2x3xi32>) -> (vector<4xi32>, tensor<2x3xi32>, vector<4xi32>) {
  %0 = arith.constant dense<0> : vector<4xi32>
  %1 = arith.constant dense<1> : tensor<2x3xi32>
  %2 = arith.addi %0, %v : vector<4xi32>
  %3 = arith.muli %t, %1 : tensor<2x3xi32>
  %4 = arith.xori %v, %v : vector<4xi32>
  func.return %2, %3, %4 : vector<4xi32>, tensor<2x3xi32>, vector<4xi32>
}

// Other constants are computed element by element; numbers wrap.
// CHECK-LABEL: @elements(
// CHECK-NEXT:    {{%.*}} = arith.constant dense<[-128, -127, 4, -3]> : vector<4xi8>
// CHECK-NEXT:    {{%.*}} = arith.constant dense<[2.250000e+00, 0.000000e+00]> : vector<2xf32>
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}} : vector<4xi8>, vector<2xf32>
func.func @elements() -> (vector<4xi8>, vector<2xf32>) {
  %0 = arith.constant dense<[127, -128, 3, -4]> : vector<4xi8>
  %1 = arith.constant dense<1> : vector<4xi8>
  %2 = arith.constant dense<[1.5, -0.0]> : vector<2xf32>
  %3 = arith.addi %0, %1 : vector<4xi8>
  %4 = arith.mulf %2, %2 : vector<2xf32>
  func.return %3, %4 : vector<4xi8>, vector<2xf32>
}

// A division of one element by zero, a shift that is too wide, a tensor of unknown size.
// UNCHANGED: @undefined
func.func @undefined(%t: tensor<?xi32>) -> (vector<2xi32>, vector<2xi32>, tensor<?xi32>) {
  %0 = arith.constant dense<[1, 0]> : vector<2xi32>
  %1 = arith.constant dense<[7, 32]> : vector<2xi32>
  %2 = arith.divsi %1, %0 : vector<2xi32>
  %3 = arith.shli %0, %1 : vector<2xi32>
  %4 = arith.subi %t, %t : tensor<?xi32>
  func.return %2, %3, %4 : vector<2xi32>, vector<2xi32>, tensor<?xi32>
}

// Both signs of zero are different elements, and 0.0 is not neutral.
// UNCHANGED: @zeros
func.func @zeros(%v: vector<2xf32>) -> (vector<2xf32>, vector<2xf32>) {
  %0 = arith.constant dense<[0.0, -0.0]> : vector<2xf32>
  %1 = arith.constant dense<0.0> : vector<2xf32>
  %2 = arith.addf %v, %0 : vector<2xf32>
  %3 = arith.addf %v, %1 : vector<2xf32>
  func.return %2, %3 : vector<2xf32>, vector<2xf32>
}

// The operations of `vector` on constants, and on each other.
// CHECK-LABEL: @vectors(
// CHECK-NEXT:    {{%.*}} = arith.constant dense<7> : vector<4xi32>
// CHECK-NEXT:    {{%.*}} = arith.constant 4 : i32
// CHECK-NEXT:    func.return {{%.*}}, %x, {{%.*}}, %v, %x : vector<4xi32>, i32, i32, vector<4xi32>, i32
func.func @vectors(%x: i32, %v: vector<4xi32>) -> (vector<4xi32>, i32, i32, vector<4xi32>, i32) {
  %0 = arith.constant 7 : i32
  %1 = vector.broadcast %0 : i32 to vector<4xi32>
  %2 = vector.broadcast %x : i32 to vector<4xi32>
  %3 = vector.extract %2[2] : i32 from vector<4xi32>
  %4 = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %5 = vector.extract %4[3] : i32 from vector<4xi32>
  %6 = vector.shuffle %v, %4 [0, 1, 2, 3] : vector<4xi32>, vector<4xi32>
  %7 = vector.insert %x, %v [1] : i32 into vector<4xi32>
  %8 = vector.extract %7[1] : i32 from vector<4xi32>
  func.return %1, %3, %5, %6, %8 : vector<4xi32>, i32, i32, vector<4xi32>, i32
}
