// REQUIRES: mlir-opt
// RUN: passline-opt %s -p 'tir-unroll-loop,tir-vectorize-loop{enable-buffer-level-predication=true}' --print-op-generic | mlir-opt --allow-unregistered-dialect --convert-vector-to-llvm | filecheck %s

// mlir-opt accepts the result, and lowers it to vector operations of LLVM.
// CHECK: sym_name = "kernel"
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK-NEXT: arith.addf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK: sym_name = "others"
// CHECK: arith.addi {{.*}} : vector<4xindex>
// CHECK: scf.if {{.*}} -> (vector<4xf32>)
// CHECK: llvm.extractelement {{.*}}[{{.*}} : i64] : vector<4xf32>
// CHECK: llvm.intr.masked.store

// The kernel of a matrix product: rows by columns, accumulated in registers.
tir.prim_func @kernel(%w : memref<12x64xf32>, %col : memref<64x32xf32>, %out : memref<12x32xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  tir.for %ob = %c0 extent %c2 {
    %oc = arith.muli %ob, %c6 : index
    tir.for %jb = %c0 extent %c2 {
      %j = arith.muli %jb, %c16 : index
      %acc = memref.alloc() : memref<6x16xf32>
      tir.for unrolled %m = %c0 extent %c6 {
        tir.for vectorized %v = %c0 extent %c16 {
          memref.store %zero, %acc[%m, %v] : memref<6x16xf32>
        }
      }
      tir.for %k = %c0 extent %c64 {
        tir.for unrolled %m = %c0 extent %c6 {
          tir.for vectorized %v = %c0 extent %c16 {
            %ocm = arith.addi %oc, %m : index
            %jv = arith.addi %j, %v : index
            %a = memref.load %w[%ocm, %k] : memref<12x64xf32>
            %b = memref.load %col[%k, %jv] : memref<64x32xf32>
            %p = arith.mulf %a, %b fastmath<contract> : f32
            %s = memref.load %acc[%m, %v] : memref<6x16xf32>
            %t = arith.addf %s, %p fastmath<contract> : f32
            memref.store %t, %acc[%m, %v] : memref<6x16xf32>
          }
        }
      }
      tir.for unrolled %m = %c0 extent %c6 {
        tir.for vectorized %v = %c0 extent %c16 {
          %ocm = arith.addi %oc, %m : index
          %jv = arith.addi %j, %v : index
          %s = memref.load %acc[%m, %v] : memref<6x16xf32>
          memref.store %s, %out[%ocm, %jv] : memref<12x32xf32>
        }
      }
    }
  }
}

// Ramps, masks, gathers, operations repeated for each lane, and branches that yield vectors.
tir.prim_func @others(%a : memref<14xf32>, %b : memref<14xi32>, %i : memref<14xindex>, %n : index, %m : index, %c : i1) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  tir.for vectorized %v = %n extent %c4 {
    memref.store %v, %i[%v] : memref<14xindex>
    %x = memref.load %a[%v] : memref<14xf32>
    %d = arith.cmpf ogt, %x, %one : f32
    %y = arith.select %d, %x, %one : f32
    %j = arith.index_cast %v : index to i32
    memref.store %j, %b[%v] : memref<14xi32>
    %v2 = arith.muli %v, %c2 : index
    %z = memref.load %a[%v2] : memref<14xf32>
    %r = scf.if %c -> (f32) {
      scf.yield %y : f32
    } else {
      scf.yield %z : f32
    }
    memref.store %r, %a[%v] : memref<14xf32>
    tir.call @callee(%x) : f32
    %less = arith.cmpi slt, %v, %m : index
    scf.if %less {
      memref.store %x, %a[%v] : memref<14xf32>
    }
  }
}
tir.prim_func private @callee(%x : f32) {
}
