// RUN: passline-opt %s -p 'canonicalize' | filecheck %s

// Casts, comparisons and selections of vectors, which xDSL has for scalars alone.

// Two casts are one; the bits of two extended vectors are combined before the extension.
// CHECK-LABEL: @casts(
// CHECK-NEXT:    [[xor:%.*]] = arith.xori %a, %b : vector<4xi8>
// CHECK-NEXT:    [[wide:%.*]] = arith.extsi [[xor]] : vector<4xi8> to vector<4xi32>
// CHECK-NEXT:    [[short:%.*]] = arith.extsi %a : vector<4xi8> to vector<4xi16>
// CHECK-NEXT:    [[half:%.*]] = arith.sitofp %a : vector<4xi8> to vector<4xf16>
// CHECK-NEXT:    [[t:%.*]] = arith.extui %t : tensor<?xi8> to tensor<?xi64>
// CHECK-NEXT:    func.return [[wide]], [[short]], [[half]], [[t]] : vector<4xi32>, vector<4xi16>, vector<4xf16>, tensor<?xi64>
func.func @casts(%a: vector<4xi8>, %b: vector<4xi8>, %t: tensor<?xi8>) -> (vector<4xi32>, vector<4xi16>, vector<4xf16>, tensor<?xi64>) {
  %0 = arith.extsi %a : vector<4xi8> to vector<4xi32>
  %1 = arith.extsi %b : vector<4xi8> to vector<4xi32>
  %2 = arith.xori %0, %1 : vector<4xi32>
  %3 = arith.trunci %0 : vector<4xi32> to vector<4xi16>
  %4 = arith.sitofp %a : vector<4xi8> to vector<4xf32>
  %5 = arith.truncf %4 : vector<4xf32> to vector<4xf16>
  %6 = arith.extui %t : tensor<?xi8> to tensor<?xi16>
  %7 = arith.extsi %6 : tensor<?xi16> to tensor<?xi64>
  func.return %2, %3, %5, %7 : vector<4xi32>, vector<4xi16>, vector<4xf16>, tensor<?xi64>
}

// A cast to indices extends as well, if the sign is taken in the same way.
// CHECK-LABEL: @indices(
// CHECK-NEXT:    [[signed:%.*]] = arith.index_cast %a : vector<4xi8> to vector<4xindex>
// CHECK-NEXT:    [[wide:%.*]] = arith.extui %x : i8 to i32
// CHECK-NEXT:    [[unsigned:%.*]] = arith.index_castui %x : i8 to index
// CHECK-NEXT:    [[other:%.*]] = arith.index_cast [[wide]] : i32 to index
// CHECK-NEXT:    func.return [[signed]], [[unsigned]], [[other]] : vector<4xindex>, index, index
func.func @indices(%a: vector<4xi8>, %x: i8) -> (vector<4xindex>, index, index) {
  %0 = arith.extsi %a : vector<4xi8> to vector<4xi32>
  %1 = arith.index_cast %0 : vector<4xi32> to vector<4xindex>
  %2 = arith.extui %x : i8 to i32
  %3 = arith.index_castui %2 : i32 to index
  %4 = arith.index_cast %2 : i32 to index
  func.return %1, %3, %4 : vector<4xindex>, index, index
}

// A shift keeps its flag, also one without a sign.
// CHECK-LABEL: @shifts(
// CHECK-NEXT:    [[by:%.*]] = arith.constant 24 : i32
// CHECK-NEXT:    [[shifted:%.*]] = arith.shrui %x, [[by]] exact : i32
// CHECK-NEXT:    [[byte:%.*]] = arith.trunci [[shifted]] : i32 to i8
// CHECK-NEXT:    func.return [[byte]] : i8
func.func @shifts(%x: i32) -> i8 {
  %0 = arith.constant 24 : i32
  %1 = arith.shrsi %x, %0 exact : i32
  %2 = arith.trunci %1 : i32 to i8
  func.return %2 : i8
}

// Vectors are compared before their extension, with the constant on the right, as integers; the
// negation of a comparison is the opposite one.
// CHECK-LABEL: @compares(
// CHECK-NEXT:    [[three:%.*]] = arith.constant dense<3> : vector<4xi8>
// CHECK-NEXT:    [[negated:%.*]] = arith.cmpi uge, %a, %b : vector<4xi8>
// CHECK-NEXT:    [[right:%.*]] = arith.cmpi sgt, %a, [[three]] : vector<4xi8>
// CHECK-NEXT:    [[integer:%.*]] = arith.cmpi slt, %a, [[three]] : vector<4xi8>
// CHECK-NEXT:    func.return [[negated]], [[right]], [[integer]] : vector<4xi1>, vector<4xi1>, vector<4xi1>
func.func @compares(%a: vector<4xi8>, %b: vector<4xi8>) -> (vector<4xi1>, vector<4xi1>, vector<4xi1>) {
  %0 = arith.extui %a : vector<4xi8> to vector<4xi32>
  %1 = arith.extui %b : vector<4xi8> to vector<4xi32>
  %2 = arith.constant dense<3> : vector<4xi8>
  %3 = arith.constant dense<true> : vector<4xi1>
  %4 = arith.constant dense<2.5> : vector<4xf32>
  %5 = arith.cmpi slt, %0, %1 : vector<4xi32>
  %6 = arith.xori %5, %3 : vector<4xi1>
  %7 = arith.cmpi slt, %2, %a : vector<4xi8>
  %8 = arith.sitofp %a : vector<4xi8> to vector<4xf32>
  %9 = arith.cmpf olt, %8, %4 : vector<4xf32>
  func.return %6, %7, %9 : vector<4xi1>, vector<4xi1>, vector<4xi1>
}

// CHECK-LABEL: @selects(
// CHECK-NEXT:    [[one:%.*]] = arith.extui %c : vector<4xi1> to vector<4xi32>
// CHECK-NEXT:    [[ones:%.*]] = arith.extsi %c : vector<4xi1> to vector<4xi32>
// CHECK-NEXT:    [[inner:%.*]] = arith.select %c, %x, %z : vector<4xi1>, vector<4xi32>
// CHECK-NEXT:    func.return [[one]], [[ones]], [[inner]] : vector<4xi32>, vector<4xi32>, vector<4xi32>
func.func @selects(%c: vector<4xi1>, %x: vector<4xi32>, %y: vector<4xi32>, %z: vector<4xi32>) -> (vector<4xi32>, vector<4xi32>, vector<4xi32>) {
  %0 = arith.constant dense<0> : vector<4xi32>
  %1 = arith.constant dense<1> : vector<4xi32>
  %2 = arith.constant dense<-1> : vector<4xi32>
  %3 = arith.select %c, %1, %0 : vector<4xi1>, vector<4xi32>
  %4 = arith.select %c, %2, %0 : vector<4xi1>, vector<4xi32>
  %5 = arith.select %c, %x, %y : vector<4xi1>, vector<4xi32>
  %6 = arith.select %c, %5, %z : vector<4xi1>, vector<4xi32>
  func.return %3, %4, %6 : vector<4xi32>, vector<4xi32>, vector<4xi32>
}

// Vectors of other widths, elements that differ, a scalar condition, a rounding mode.
// UNCHANGED: @unlike
func.func @unlike(%a: vector<4xi8>, %b: vector<4xi16>, %c: i1) -> (vector<4xi1>, vector<4xi32>, vector<4xf16>) {
  %0 = arith.constant dense<0> : vector<4xi32>
  %1 = arith.constant dense<1> : vector<4xi32>
  %2 = arith.extsi %a : vector<4xi8> to vector<4xi32>
  %3 = arith.extsi %b : vector<4xi16> to vector<4xi32>
  %4 = arith.cmpi slt, %2, %3 : vector<4xi32>
  %5 = arith.select %c, %1, %0 : vector<4xi32>
  %6 = arith.sitofp %a : vector<4xi8> to vector<4xf32>
  %7 = arith.truncf %6 upward : vector<4xf32> to vector<4xf16>
  func.return %4, %5, %7 : vector<4xi1>, vector<4xi32>, vector<4xf16>
}
