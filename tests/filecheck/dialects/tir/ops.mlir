// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: tir.prim_func @loops(%n: index, %x: f32, %A: memref<4x8xf32>, %B: memref<?x8xf32, "local">) attributes {tir.outputs = 1 : i64} {
tir.prim_func @loops(%n: index, %x: f32, %A: memref<4x8xf32>, %B: memref<?x8xf32, "local">) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  // CHECK: tir.for %i = %c0 extent %n {
  tir.for %i = %c0 extent %n {
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: tir.for parallel %j = %n extent %n attributes {pragma_auto_unroll_max_step = 16 : i64} {
  tir.for parallel %j = %n extent %n attributes {pragma_auto_unroll_max_step = 16 : i64} {
    // CHECK-NEXT: tir.for vectorized %k = %c0 extent %n {
    tir.for vectorized %k = %c0 extent %n {
      // CHECK-NEXT: %c = arith.cmpi slt, %k, %n : index
      %c = arith.cmpi slt, %k, %n : index
      // CHECK-NEXT: %l = tir.likely %c
      %l = tir.likely %c
      // CHECK-NEXT: tir.assume %l
      tir.assume %l
      // CHECK-NEXT: scf.if %l {
      scf.if %l {
        // CHECK-NEXT: memref.store %x, %A[%j, %k] : memref<4x8xf32>
        memref.store %x, %A[%j, %k] : memref<4x8xf32>
      }
    }
  }
  // CHECK: tir.for unrolled %{{.*}} = %c0 extent %n {
  tir.for unrolled %i = %c0 extent %n {
  }
  // CHECK: tir.for thread_binding "threadIdx.x" %{{.*}} = %c0 extent %n attributes {hint} {
  tir.for thread_binding "threadIdx.x" %i = %c0 extent %n attributes {hint} {
  }
  // CHECK: tir.prefetch %A[%n, %c0] : memref<4x8xf32>
  tir.prefetch %A[%n, %c0] : memref<4x8xf32>
  %word = arith.constant 0 : i32
  // CHECK: tir.dp4a %word, %word, %word : i32
  %dot = tir.dp4a %word, %word, %word : i32
  %words = arith.constant dense<1> : vector<4xi32>
  // CHECK-NEXT: {{.*}} = arith.constant
  // CHECK-NEXT: tir.dp4a %words, %words, %words {exact_pairs} : vector<4xi32>
  %dots = tir.dp4a %words, %words, %words {exact_pairs} : vector<4xi32>
  // CHECK-NEXT: tir.lanewise "arith.trunci"(%words) : (vector<4xi32>) -> vector<4xi8>
  %bytes = tir.lanewise "arith.trunci"(%words) : (vector<4xi32>) -> vector<4xi8>
  // CHECK-NEXT: tir.lanewise "arith.cmpi"(%words, %words) {with = {predicate = 2 : i64}} : (vector<4xi32>, vector<4xi32>) -> vector<4xi1>
  %less = tir.lanewise "arith.cmpi"(%words, %words) {with = {predicate = 2 : i64}} : (vector<4xi32>, vector<4xi32>) -> vector<4xi1>
  // CHECK: tir.call @extern(%A) : memref<4x8xf32>
  tir.call @extern(%A) : memref<4x8xf32>
  // CHECK-NEXT: tir.call @nothing(){{$}}
  tir.call @nothing()
  // CHECK-NEXT: {{^  }}}
}

tir.prim_func @attributes(%x: memref<4xf32> {onnx.name = "gpu_0/data_0"}, %n: index, %y: memref<4xf32> {test.y}) {
}

tir.prim_func private @extern(memref<4x8xf32>)

tir.prim_func @nothing() {
  tir.yield
}

// CHECK-LABEL: tir.prim_func @launches(
tir.prim_func @launches(%x: memref<?xf32>, %blocks: index, %n: index) {
  // CHECK-NEXT: tir.launch @kernels::@fill[%blocks, %blocks, %n] (%x, %n) : memref<?xf32>, index
  tir.launch @kernels::@fill[%blocks, %blocks, %n] (%x, %n) : memref<?xf32>, index
}

cuda_tile.module @kernels {
  entry @fill(%x: tile<ptr<f32>>, %n: tile<i32>) {
    return
  }
}
