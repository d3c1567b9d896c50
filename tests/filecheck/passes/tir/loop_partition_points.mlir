// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop}' | filecheck %s --check-prefix=CONST

// A part of one iteration is not a loop: in the middle,
// CONST-LABEL: @point
tir.prim_func @point(%a: memref<64xf32>, %b: memref<1xf32>, %c: memref<63xf32>, %r: memref<128xf32>) {
  // CONST:      tir.for %i = %c0 extent %c63 {
  // CONST-NEXT:   %x = memref.load %c[%i]
  // CONST-NEXT:   memref.store %x, %r[%i]
  // CONST-NEXT: }
  // CONST-NEXT: %x_1 = memref.load %b[%c0]
  // CONST-NEXT: memref.store %x_1, %r[%c63]
  // CONST-NEXT: tir.for %i_1 = %c0 extent %c64 {
  // CONST-NEXT:   [[V0:%.*]] = arith.addi %i_1, %c64
  // CONST-NEXT:   %j = arith.subi [[V0]], %c64
  // CONST-NEXT:   %x_2 = memref.load %a[%j]
  // CONST-NEXT:   memref.store %x_2, %r[[[V0]]]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  tir.for %i = %c0 extent %c128 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi sgt, %i, %c63 : index
    scf.if %p {
      %j = arith.subi %i, %c64 : index
      %x = memref.load %a[%j] : memref<64xf32>
      memref.store %x, %r[%i] : memref<128xf32>
    } else {
      %q = arith.cmpi eq, %i, %c63 : index
      scf.if %q {
        %x = memref.load %b[%c0] : memref<1xf32>
        memref.store %x, %r[%i] : memref<128xf32>
      } else {
        %x = memref.load %c[%i] : memref<63xf32>
        memref.store %x, %r[%i] : memref<128xf32>
      }
    }
  }
}

// at the start,
// CONST-LABEL: @start
tir.prim_func @start(%r: memref<128xf32>, %f: f32, %g: f32) {
  // CONST:      memref.store %f, %r[%c0]
  // CONST-NEXT: [[C1:%.*]] = arith.constant 1 : index
  // CONST-NEXT: [[C127:%.*]] = arith.constant 127 : index
  // CONST-NEXT: tir.for %i = %c0 extent [[C127]] {
  // CONST-NEXT:   [[V2:%.*]] = arith.addi %i, [[C1]]
  // CONST-NEXT:   memref.store %g, %r[[[V2]]]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  tir.for %i = %c0 extent %c128 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi eq, %i, %c0 : index
    scf.if %p {
      memref.store %f, %r[%i] : memref<128xf32>
    } else {
      memref.store %g, %r[%i] : memref<128xf32>
    }
  }
}

// at the end,
// CONST-LABEL: @finish
tir.prim_func @finish(%r: memref<128xf32>, %f: f32, %g: f32) {
  // CONST:      tir.for %i = %c0 extent %c127 {
  // CONST-NEXT:   memref.store %f, %r[%i]
  // CONST-NEXT: }
  // CONST-NEXT: memref.store %g, %r[%c127]
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  tir.for %i = %c0 extent %c128 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi ne, %i, %c127 : index
    scf.if %p {
      memref.store %f, %r[%i] : memref<128xf32>
    } else {
      memref.store %g, %r[%i] : memref<128xf32>
    }
  }
}

// at both,
// CONST-LABEL: @both_ends
tir.prim_func @both_ends(%a: memref<64xf32>, %r: memref<66xf32>, %f: f32, %g: f32) {
  // CONST:      memref.store %f, %r[%c0]
  // CONST-NEXT: [[C64:%.*]] = arith.constant 64 : index
  // CONST-NEXT: tir.for %i = %c0 extent [[C64]] {
  // CONST-NEXT:   [[V1:%.*]] = arith.addi %i, %c1
  // CONST-NEXT:   %j = arith.subi [[V1]], %c1
  // CONST-NEXT:   %x = memref.load %a[%j]
  // CONST-NEXT:   memref.store %x, %r[[[V1]]]
  // CONST-NEXT: }
  // CONST-NEXT: [[V2:%.*]] = arith.addi [[C64]], %c1
  // CONST-NEXT: memref.store %g, %r[[[V2]]]
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c65 = arith.constant 65 : index
  %c66 = arith.constant 66 : index
  tir.for %i = %c0 extent %c66 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi eq, %i, %c0 : index
    scf.if %p {
      memref.store %f, %r[%i] : memref<66xf32>
    } else {
      %q = arith.cmpi eq, %i, %c65 : index
      scf.if %q {
        memref.store %g, %r[%i] : memref<66xf32>
      } else {
        %j = arith.subi %i, %c1 : index
        %x = memref.load %a[%j] : memref<64xf32>
        memref.store %x, %r[%i] : memref<66xf32>
      }
    }
  }
}

// at three places, where values are computed in the branches,
// CONST-LABEL: @five
tir.prim_func @five(%a: memref<1xf32>, %b: memref<63xf32>, %c: memref<1xf32>, %d: memref<64xf32>, %e: memref<1xf32>, %r: memref<130xf32>) {
  // CONST:      %v = memref.load %a[%c0]
  // CONST-NEXT: memref.store %v, %r[%c0]
  // CONST-NEXT: [[C63:%.*]] = arith.constant 63 : index
  // CONST-NEXT: tir.for %i = %c0 extent [[C63]] {
  // CONST-NEXT:   [[V1:%.*]] = arith.addi %i, %c1
  // CONST-NEXT:   %j = arith.subi [[V1]], %c1
  // CONST-NEXT:   %v_1 = memref.load %b[%j]
  // CONST-NEXT:   memref.store %v_1, %r[[[V1]]]
  // CONST-NEXT: }
  // CONST-NEXT: [[V2:%.*]] = arith.addi [[C63]], %c1
  // CONST-NEXT: %v_2 = memref.load %c[%c0]
  // CONST-NEXT: memref.store %v_2, %r[[[V2]]]
  // CONST-NEXT: tir.for %i_1 = %c0 extent %c64 {
  // CONST-NEXT:   [[V3:%.*]] = arith.addi %i_1, %c64
  // CONST-NEXT:   [[V4:%.*]] = arith.addi [[V3]], %c1
  // CONST-NEXT:   %j_1 = arith.subi [[V4]], %c65
  // CONST-NEXT:   %v_3 = memref.load %d[%j_1]
  // CONST-NEXT:   memref.store %v_3, %r[[[V4]]]
  // CONST-NEXT: }
  // CONST-NEXT: [[V5:%.*]] = arith.addi %c64, %c64
  // CONST-NEXT: [[V6:%.*]] = arith.addi [[V5]], %c1
  // CONST-NEXT: %v_4 = memref.load %e[%c0]
  // CONST-NEXT: memref.store %v_4, %r[[[V6]]]
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c65 = arith.constant 65 : index
  %c129 = arith.constant 129 : index
  %c130 = arith.constant 130 : index
  tir.for %i = %c0 extent %c130 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi eq, %i, %c0 : index
    %x = scf.if %p -> (f32) {
      %v = memref.load %a[%c0] : memref<1xf32>
      scf.yield %v : f32
    } else {
      %q = arith.cmpi eq, %i, %c64 : index
      %y = scf.if %q -> (f32) {
        %v = memref.load %c[%c0] : memref<1xf32>
        scf.yield %v : f32
      } else {
        %s = arith.cmpi eq, %i, %c129 : index
        %z = scf.if %s -> (f32) {
          %v = memref.load %e[%c0] : memref<1xf32>
          scf.yield %v : f32
        } else {
          %t = arith.cmpi slt, %i, %c64 : index
          %w = scf.if %t -> (f32) {
            %j = arith.subi %i, %c1 : index
            %v = memref.load %b[%j] : memref<63xf32>
            scf.yield %v : f32
          } else {
            %j = arith.subi %i, %c65 : index
            %v = memref.load %d[%j] : memref<64xf32>
            scf.yield %v : f32
          }
          scf.yield %w : f32
        }
        scf.yield %z : f32
      }
      scf.yield %y : f32
    }
    memref.store %x, %r[%i] : memref<130xf32>
  }
}

// and in a loop in such a part of another loop.
// CONST-LABEL: @nested_points
tir.prim_func @nested_points(%a: memref<640xf32>, %f: f32) {
  // CONST:      tir.for %v = %c0 extent %c320 {
  // CONST-NEXT:   [[V0:%.*]] = arith.addi %v, %c320
  // CONST-NEXT:   memref.store %f, %a[[[V0]]]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c320 = arith.constant 320 : index
  %c640 = arith.constant 640 : index
  tir.for %i = %c0 extent %c2 attributes {pragma_loop_partition_hint} {
    %p = arith.cmpi eq, %i, %c1 : index
    scf.if %p {
      tir.for %v = %c0 extent %c640 attributes {pragma_loop_partition_hint} {
        %i2 = arith.muli %i, %c2 : index
        %d = arith.floordivsi %v, %c320 : index
        %s = arith.addi %i2, %d : index
        %q = arith.cmpi eq, %s, %c3 : index
        scf.if %q {
          memref.store %f, %a[%v] : memref<640xf32>
        }
      }
    }
  }
}
