// RUN: passline-opt %s -p generate-runtime-verification | filecheck %s
// RUN: passline-opt %s -p 'generate-runtime-verification{verbose-level=0}' | filecheck %s --check-prefix=BRIEF

// CHECK-LABEL: func.func @access
// CHECK: %[[N:.*]] = {{.*}}memref.dim
// CHECK: arith.cmpi sge, %i
// CHECK-NEXT: arith.cmpi slt, %i, %[[N]]
// CHECK-NEXT: arith.andi
// CHECK-NEXT: cf.assert %{{.*}}, "ERROR: Runtime op verification failed\0A\22memref.load\22{{.*}}out-of-bounds access
// CHECK-NEXT: memref.load
// BRIEF: cf.assert %{{.*}}, "ERROR: Runtime op verification failed\0ALocation: loc(
func.func @access(%m: memref<?xf32>, %i: index) -> f32 {
  %0 = memref.load %m[%i] : memref<?xf32>
  return %0 : f32
}

// The interpreter of the tests lets a wrong cast pass: "test.op" keeps it away.
// CHECK-LABEL: func.func @cast
// CHECK: arith.cmpi eq
// CHECK-NEXT: cf.assert %{{.*}}size mismatch of dim 0
func.func @cast(%m: memref<?xf32>) -> memref<3xf32> {
  "test.op"() : () -> ()
  %0 = "memref.cast"(%m) : (memref<?xf32>) -> memref<3xf32>
  return %0 : memref<3xf32>
}

// CHECK-LABEL: func.func @copy
// CHECK: cf.assert %{{.*}}source/target dim does not match
// CHECK-NEXT: memref.copy
func.func @copy(%a: memref<?xf32>, %b: memref<?xf32>) {
  "memref.copy"(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}

// Must not fire: what is known to be right.
// UNCHANGED: @known
func.func @known(%m: memref<4xf32>) -> f32 {
  %c3 = arith.constant 3 : index
  %0 = memref.load %m[%c3] : memref<4xf32>
  return %0 : f32
}
