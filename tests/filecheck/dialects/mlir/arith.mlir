// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: func.func @shaped(%v: vector<4xi8>, %t: tensor<?x3xf32>, %u: tensor<*xi32>, %c: vector<4xi1>) {
func.func @shaped(%v: vector<4xi8>, %t: tensor<?x3xf32>, %u: tensor<*xi32>, %c: vector<4xi1>) {
  // CHECK-NEXT: %0 = arith.extsi %v : vector<4xi8> to vector<4xi32>
  %0 = arith.extsi %v : vector<4xi8> to vector<4xi32>
  // CHECK-NEXT: %1 = arith.extui %v : vector<4xi8> to vector<4xi16>
  %1 = arith.extui %v : vector<4xi8> to vector<4xi16>
  // CHECK-NEXT: %2 = arith.trunci %0 overflow<nsw> : vector<4xi32> to vector<4xi8>
  %2 = arith.trunci %0 overflow<nsw> : vector<4xi32> to vector<4xi8>
  // CHECK-NEXT: %3 = arith.cmpi slt, %v, %v : vector<4xi8>
  %3 = arith.cmpi slt, %v, %v : vector<4xi8>
  // CHECK-NEXT: %4 = arith.cmpi ne, %u, %u : tensor<*xi32>
  %4 = arith.cmpi ne, %u, %u : tensor<*xi32>
  // CHECK-NEXT: %5 = arith.cmpf olt, %t, %t fastmath<fast> : tensor<?x3xf32>
  %5 = arith.cmpf olt, %t, %t fastmath<fast> : tensor<?x3xf32>
  // CHECK-NEXT: %6 = arith.select %c, %v, %v : vector<4xi1>, vector<4xi8>
  %6 = arith.select %c, %v, %v : vector<4xi1>, vector<4xi8>
  // CHECK-NEXT: %7 = arith.fptosi %t : tensor<?x3xf32> to tensor<?x3xi32>
  %7 = arith.fptosi %t : tensor<?x3xf32> to tensor<?x3xi32>
  // CHECK-NEXT: %8 = arith.uitofp %v : vector<4xi8> to vector<4xf32>
  %8 = arith.uitofp %v : vector<4xi8> to vector<4xf32>
  // CHECK-NEXT: %9 = arith.index_cast %v : vector<4xi8> to vector<4xindex>
  %9 = arith.index_cast %v : vector<4xi8> to vector<4xindex>
  // CHECK-NEXT: %10 = arith.index_castui %v : vector<4xi8> to vector<4xindex>
  %10 = arith.index_castui %v : vector<4xi8> to vector<4xindex>
  func.return
}
// CHECK-LABEL: func.func @flags(%a: i32, %x: f32, %h: f16, %s: f8E8M0FNU, %c: i1) {
func.func @flags(%a: i32, %x: f32, %h: f16, %s: f8E8M0FNU, %c: i1) {
  // CHECK-NEXT: %0 = arith.trunci %a overflow<nsw,nuw> : i32 to i8
  %0 = arith.trunci %a overflow<nsw,nuw> : i32 to i8
  // CHECK-NEXT: %1 = arith.trunci %a : i32 to i8
  %1 = arith.trunci %a : i32 to i8
  // CHECK-NEXT: %2 = arith.truncf %x to_nearest_even fastmath<nnan> : f32 to f16
  %2 = arith.truncf %x to_nearest_even fastmath<nnan> : f32 to f16
  // CHECK-NEXT: %3 = arith.truncf %x : f32 to f16
  %3 = arith.truncf %x : f32 to f16
  // CHECK-NEXT: %4 = arith.extf %h fastmath<contract> : f16 to f32
  %4 = arith.extf %h fastmath<contract> : f16 to f32
  // CHECK-NEXT: %5 = arith.divui %a, %a exact : i32
  %5 = arith.divui %a, %a exact : i32
  // CHECK-NEXT: %6 = arith.divsi %a, %a exact : i32
  %6 = arith.divsi %a, %a exact : i32
  // CHECK-NEXT: %7 = arith.shrui %a, %a exact : i32
  %7 = arith.shrui %a, %a exact : i32
  // CHECK-NEXT: %8 = arith.shrsi %a, %a exact : i32
  %8 = arith.shrsi %a, %a exact : i32
  // CHECK-NEXT: %9 = arith.cmpi eq, %a, %a {note} : i32
  %9 = arith.cmpi eq, %a, %a {note} : i32
  // CHECK-NEXT: %10 = arith.select %c, %a, %a {note} : i32
  %10 = arith.select %c, %a, %a {note} : i32
  // CHECK-NEXT: %11 = arith.remf %x, %x fastmath<nnan> : f32
  %11 = arith.remf %x, %x fastmath<nnan> : f32
  // CHECK-NEXT: %12 = arith.index_castui %a : i32 to index
  %12 = arith.index_castui %a : i32 to index
  // CHECK-NEXT: %13 = arith.scaling_truncf %x, %s upward : f32, f8E8M0FNU to f16
  %13 = arith.scaling_truncf %x, %s upward : f32, f8E8M0FNU to f16
  // CHECK-NEXT: %14 = arith.scaling_extf %h, %s fastmath<fast> : f16, f8E8M0FNU to f32
  %14 = arith.scaling_extf %h, %s fastmath<fast> : f16, f8E8M0FNU to f32
  func.return
}
