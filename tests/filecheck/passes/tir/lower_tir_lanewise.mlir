// RUN: passline-opt %s -p lower-tir --split-input-file | filecheck %s
// RUN: passline-opt %s -p lower-tir{scalarize=false} --split-input-file | filecheck %s --check-prefix KEPT

// An operation on lanes is repeated for each, with its properties.
// CHECK-LABEL: @compare(
// CHECK-NEXT: %c0
// CHECK-NEXT: [[X:%.*]] = vector.load %a[%c0]
// CHECK-NEXT: [[ZEROS:%.*]] = arith.constant dense<{{.*}}> : vector<2xi1>
// CHECK-NEXT: [[A:%.*]] = vector.extract [[X]][0] : f32 from vector<2xf32>
// CHECK-NEXT: [[B:%.*]] = vector.extract [[X]][0] : f32 from vector<2xf32>
// CHECK-NEXT: [[C:%.*]] = arith.cmpf olt, [[A]], [[B]] fastmath<nnan> : f32
// CHECK-NEXT: [[ONE:%.*]] = vector.insert [[C]], [[ZEROS]] [0] : i1 into vector<2xi1>
// CHECK-NEXT: [[A:%.*]] = vector.extract [[X]][1] : f32 from vector<2xf32>
// CHECK-NEXT: [[B:%.*]] = vector.extract [[X]][1] : f32 from vector<2xf32>
// CHECK-NEXT: [[C:%.*]] = arith.cmpf olt, [[A]], [[B]] fastmath<nnan> : f32
// CHECK-NEXT: [[BOTH:%.*]] = vector.insert [[C]], [[ONE]] [1] : i1 into vector<2xi1>
// CHECK-NEXT: vector.store [[BOTH]], %b[%c0]

// KEPT-LABEL: @compare(
// KEPT: [[X:%.*]] = vector.load %a[%c0]
// KEPT-NEXT: [[C:%.*]] = tir.lanewise "arith.cmpf"([[X]], [[X]])
// KEPT-NEXT: vector.store [[C]], %b[%c0]
tir.prim_func @compare(%a: memref<2xf32>, %b: memref<2xi1>) {
  %c0 = arith.constant 0 : index
  %0 = vector.load %a[%c0] : memref<2xf32>, vector<2xf32>
  %1 = tir.lanewise "arith.cmpf"(%0, %0) {with = {predicate = 4 : i64, fastmath = #arith.fastmath<nnan>}} : (vector<2xf32>, vector<2xf32>) -> vector<2xi1>
  vector.store %1, %b[%c0] : memref<2xi1>, vector<2xi1>
}

// -----

// Operands of one lane may have several types.
// CHECK-LABEL: @select(
// CHECK: [[C:%.*]] = vector.extract {{%.*}}[1] : i1 from vector<2xi1>
// CHECK-NEXT: [[A:%.*]] = vector.extract {{%.*}}[1] : f32 from vector<2xf32>
// CHECK-NEXT: [[B:%.*]] = vector.extract {{%.*}}[1] : f32 from vector<2xf32>
// CHECK-NEXT: arith.select [[C]], [[A]], [[B]] : f32
tir.prim_func @select(%c: memref<2xi1>, %a: memref<2xf32>, %b: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %0 = vector.load %c[%c0] : memref<2xi1>, vector<2xi1>
  %1 = vector.load %a[%c0] : memref<2xf32>, vector<2xf32>
  %2 = vector.load %b[%c0] : memref<2xf32>, vector<2xf32>
  %3 = tir.lanewise "arith.select"(%0, %1, %2) : (vector<2xi1>, vector<2xf32>, vector<2xf32>) -> vector<2xf32>
  vector.store %3, %b[%c0] : memref<2xf32>, vector<2xf32>
}
