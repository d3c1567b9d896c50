// RUN: passline-opt %s -p lower-tir --split-input-file | filecheck %s

// A number is multiplied byte after byte, on each target.
// CHECK-LABEL: @scalar
// CHECK-COUNT-4: arith.muli {{.*}} : i32
// CHECK-NOT: arith.muli
builtin.module attributes {tir.target = "x86-64-v4{features=\"+avx512vnni,+avx512vl\"}"} {
  tir.prim_func @scalar(%a: memref<i32>) {
    %0 = memref.load %a[] : memref<i32>
    %1 = tir.dp4a %0, %0, %0 : i32
    memref.store %1, %a[] : memref<i32>
  }
}

// -----

// So is a vector, on a target without such instructions.
// CHECK-LABEL: @vector
// CHECK-COUNT-4: arith.muli {{.*}} : vector<4xi32>
builtin.module attributes {tir.target = "x86-64"} {
  tir.prim_func @vector(%a: memref<4xi32>, %b: memref<4xi32>, %c: memref<4xi32>) {
    %c0 = arith.constant 0 : index
    %0 = vector.load %a[%c0] : memref<4xi32>, vector<4xi32>
    %1 = vector.load %b[%c0] : memref<4xi32>, vector<4xi32>
    %2 = vector.load %c[%c0] : memref<4xi32>, vector<4xi32>
    %3 = tir.dp4a %0, %1, %2 : vector<4xi32>
    vector.store %3, %c[%c0] : memref<4xi32>, vector<4xi32>
  }
}

// -----

// And a vector of a width that the target has no instruction for.
// CHECK-LABEL: @other_width
// CHECK-COUNT-4: arith.muli {{.*}} : vector<6xi32>
builtin.module attributes {tir.target = "x86-64-v4{features=\"+avx512vnni,+avx512vl\"}"} {
  tir.prim_func @other_width(%a: memref<6xi32>, %b: memref<6xi32>, %c: memref<6xi32>) {
    %c0 = arith.constant 0 : index
    %0 = vector.load %a[%c0] : memref<6xi32>, vector<6xi32>
    %1 = vector.load %b[%c0] : memref<6xi32>, vector<6xi32>
    %2 = vector.load %c[%c0] : memref<6xi32>, vector<6xi32>
    %3 = tir.dp4a %0, %1, %2 : vector<6xi32>
    vector.store %3, %c[%c0] : memref<6xi32>, vector<6xi32>
  }
}

// -----

// VNNI of x86.
// REQUIRES-XDSL: 0.64 (the custom form of `llvm.call_intrinsic`)
// CHECK-LABEL: @vnni
// CHECK: [[D:%.*]] = llvm.bitcast %0 : vector<16xi32> to vector<64xi8>
// CHECK-NEXT: [[W:%.*]] = llvm.bitcast %1 : vector<16xi32> to vector<64xi8>
// CHECK-NEXT: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%2, [[D]], [[W]]) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
builtin.module attributes {tir.target = "x86-64-v4{features=\"+avx512vnni,+avx512vl\"}"} {
  tir.prim_func @vnni(%a: memref<16xi32>, %b: memref<16xi32>, %c: memref<16xi32>) {
    %c0 = arith.constant 0 : index
    %0 = vector.load %a[%c0] : memref<16xi32>, vector<16xi32>
    %1 = vector.load %b[%c0] : memref<16xi32>, vector<16xi32>
    %2 = vector.load %c[%c0] : memref<16xi32>, vector<16xi32>
    %3 = tir.dp4a %0, %1, %2 : vector<16xi32>
    vector.store %3, %c[%c0] : memref<16xi32>, vector<16xi32>
  }
}

// -----

// Pairs of products that fit in an i16 need no more than SSSE3.
// REQUIRES-XDSL: 0.64 (the custom form of `llvm.call_intrinsic`)
// CHECK-LABEL: @pairs
// CHECK: [[P:%.*]] = llvm.call_intrinsic "llvm.x86.ssse3.pmadd.ub.sw.128"({{.*}}) : (vector<16xi8>, vector<16xi8>) -> vector<8xi16>
// CHECK: [[S:%.*]] = llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"([[P]], {{.*}}) : (vector<8xi16>, vector<8xi16>) -> vector<4xi32>
// CHECK-NEXT: arith.addi %2, [[S]]
builtin.module attributes {tir.target = "x86-64-v2"} {
  tir.prim_func @pairs(%a: memref<4xi32>, %b: memref<4xi32>, %c: memref<4xi32>) {
    %c0 = arith.constant 0 : index
    %0 = vector.load %a[%c0] : memref<4xi32>, vector<4xi32>
    %1 = vector.load %b[%c0] : memref<4xi32>, vector<4xi32>
    %2 = vector.load %c[%c0] : memref<4xi32>, vector<4xi32>
    %3 = tir.dp4a %0, %1, %2 {exact_pairs} : vector<4xi32>
    vector.store %3, %c[%c0] : memref<4xi32>, vector<4xi32>
  }
}

// -----

// Other products are those of i16: of bytes 0 and 2, and of bytes 1 and 3.
// REQUIRES-XDSL: 0.64 (the custom form of `llvm.call_intrinsic`)
// CHECK-LABEL: @halves
// CHECK-DAG: [[E:%.*]] = arith.andi {{.*}} : vector<8xi16>
// CHECK-DAG: [[O:%.*]] = arith.shrui {{.*}} : vector<8xi16>
// CHECK: [[P:%.*]] = llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"([[E]], {{.*}}) : (vector<8xi16>, vector<8xi16>) -> vector<4xi32>
// CHECK-NEXT: [[S:%.*]] = arith.addi %2, [[P]]
// CHECK-NEXT: [[Q:%.*]] = llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"([[O]], {{.*}}) : (vector<8xi16>, vector<8xi16>) -> vector<4xi32>
// CHECK-NEXT: arith.addi [[S]], [[Q]]
builtin.module attributes {tir.target = "x86-64-v2"} {
  tir.prim_func @halves(%a: memref<4xi32>, %b: memref<4xi32>, %c: memref<4xi32>) {
    %c0 = arith.constant 0 : index
    %0 = vector.load %a[%c0] : memref<4xi32>, vector<4xi32>
    %1 = vector.load %b[%c0] : memref<4xi32>, vector<4xi32>
    %2 = vector.load %c[%c0] : memref<4xi32>, vector<4xi32>
    %3 = tir.dp4a %0, %1, %2 : vector<4xi32>
    vector.store %3, %c[%c0] : memref<4xi32>, vector<4xi32>
  }
}

// -----

// Signed bytes of Arm: 128 is subtracted from the data, and 128 times the weights is added.
// REQUIRES-XDSL: 0.64 (the custom form of `llvm.call_intrinsic`)
// CHECK-LABEL: @signed
// CHECK: arith.xori %0
// CHECK: [[SUM:%.*]] = llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%2
// CHECK: [[WEIGHTS:%.*]] = llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// CHECK-NEXT: arith.subi [[SUM]], [[WEIGHTS]]
builtin.module attributes {tir.target = "aarch64{features=\"+neon,+dotprod\"}"} {
  tir.prim_func @signed(%a: memref<4xi32>, %b: memref<4xi32>, %c: memref<4xi32>) {
    %c0 = arith.constant 0 : index
    %0 = vector.load %a[%c0] : memref<4xi32>, vector<4xi32>
    %1 = vector.load %b[%c0] : memref<4xi32>, vector<4xi32>
    %2 = vector.load %c[%c0] : memref<4xi32>, vector<4xi32>
    %3 = tir.dp4a %0, %1, %2 : vector<4xi32>
    vector.store %3, %c[%c0] : memref<4xi32>, vector<4xi32>
  }
}

// -----

// REQUIRES-XDSL: 0.64 (the custom form of `llvm.call_intrinsic`)
// CHECK-LABEL: @mixed
// CHECK: llvm.call_intrinsic "llvm.aarch64.neon.usdot.v4i32.v16i8"(%2
builtin.module attributes {tir.target = "aarch64{features=\"+neon,+i8mm\"}"} {
  tir.prim_func @mixed(%a: memref<4xi32>, %b: memref<4xi32>, %c: memref<4xi32>) {
    %c0 = arith.constant 0 : index
    %0 = vector.load %a[%c0] : memref<4xi32>, vector<4xi32>
    %1 = vector.load %b[%c0] : memref<4xi32>, vector<4xi32>
    %2 = vector.load %c[%c0] : memref<4xi32>, vector<4xi32>
    %3 = tir.dp4a %0, %1, %2 : vector<4xi32>
    vector.store %3, %c[%c0] : memref<4xi32>, vector<4xi32>
  }
}
