// RUN: passline-opt %s -p 'tir-loop-partition{partition-const-loop}' | filecheck %s --check-prefix=CONST

// Nested conditions, in three loop nests.
// CONST-LABEL: @pool
tir.prim_func @pool(%data: memref<18xf32>, %out: memref<16xf32>) {
  // CONST-NOT:  scf.if
  // CONST:      tir.for %ow = %c0 extent %c14 {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %kw = %c0 extent %c3 {
  // CONST:          memref.store %z, %out[{{%.*}}]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %kw_1 = %c0 extent %c2 {
  // CONST:        memref.store %z_1, %out[%c0]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %kw_2 = %c0 extent %c2 {
  // CONST:        memref.store %z_2, %out[%c15]
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c14 = arith.constant 14 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  tir.for %ow = %c0 extent %c16 {
    tir.for %kw = %c0 extent %c3 {
      %p = arith.cmpi sgt, %ow, %c0 : index
      %lp = tir.likely %p
      scf.if %lp {
        %q = arith.cmpi slt, %ow, %c15 : index
        %lq = tir.likely %q
        scf.if %lq {
          %x = memref.load %out[%ow] : memref<16xf32>
          %i = arith.addi %ow, %kw : index
          %y = memref.load %data[%i] : memref<18xf32>
          %z = arith.maximumf %x, %y : f32
          memref.store %z, %out[%ow] : memref<16xf32>
        }
      }
    }
  }
  tir.for %ow = %c0 extent %c16 {
    tir.for %kw = %c0 extent %c3 {
      %p = arith.cmpi slt, %ow, %c1 : index
      %lp = tir.likely %p
      scf.if %lp {
        %q = arith.cmpi sgt, %kw, %c0 : index
        %lq = tir.likely %q
        scf.if %lq {
          %x = memref.load %out[%ow] : memref<16xf32>
          %i = arith.addi %ow, %kw : index
          %y = memref.load %data[%i] : memref<18xf32>
          %z = arith.maximumf %x, %y : f32
          memref.store %z, %out[%ow] : memref<16xf32>
        }
      }
    }
  }
  tir.for %ow = %c0 extent %c16 {
    tir.for %kw = %c0 extent %c3 {
      %p = arith.cmpi sgt, %ow, %c14 : index
      %lp = tir.likely %p
      scf.if %lp {
        %q = arith.cmpi slt, %kw, %c2 : index
        %lq = tir.likely %q
        scf.if %lq {
          %x = memref.load %out[%ow] : memref<16xf32>
          %i = arith.addi %ow, %kw : index
          %y = memref.load %data[%i] : memref<18xf32>
          %z = arith.maximumf %x, %y : f32
          memref.store %z, %out[%ow] : memref<16xf32>
        }
      }
    }
  }
}

// The last tile is empty.
// CONST-LABEL: @tile
tir.prim_func @tile(%a: memref<160xf32>, %f: f32) {
  // CONST:      [[C10:%.*]] = arith.constant 10 : index
  // CONST-NEXT: tir.for %i = %c0 extent [[C10]] {
  // CONST-NEXT:   tir.for %j = %c0 extent %c16 {
  // CONST-NEXT:     %i16 = arith.muli %i, %c16
  // CONST-NEXT:     %x = arith.addi %i16, %j
  // CONST-NEXT:     memref.store %f, %a[%x]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c11 = arith.constant 11 : index
  %c16 = arith.constant 16 : index
  %c160 = arith.constant 160 : index
  tir.for %i = %c0 extent %c11 {
    tir.for %j = %c0 extent %c16 {
      %i16 = arith.muli %i, %c16 : index
      %x = arith.addi %i16, %j : index
      %c = arith.cmpi slt, %x, %c160 : index
      %l = tir.likely %c
      scf.if %l {
        memref.store %f, %a[%x] : memref<160xf32>
      }
    }
  }
}

// Tiles in two dimensions: four loop nests.
// CONST-LABEL: @tiles2
tir.prim_func @tiles2(%a: memref<14x14xf32>, %f: f32) {
  // CONST-NOT:  scf.if
  // CONST:      tir.for %yo = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %xo = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:          tir.for %yi = %c0 extent %c4 {
  // CONST-NOT:  scf.if
  // CONST:            tir.for %xi = %c0 extent %c4 {
  // CONST:              memref.store %f, %a[%y, %x]
  // CONST-NOT:  scf.if
  // CONST:        tir.for %yi_1 = %c0 extent %c4 {
  // CONST-NOT:  scf.if
  // CONST:          tir.for %xi_1 = %c0 extent {{%.*}} {
  // CONST:            memref.store %f, %a[%y_1, %x_1]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %xo_1 = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %yi_2 = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:          tir.for %xi_2 = %c0 extent %c4 {
  // CONST:            memref.store %f, %a[%y_2, %x_2]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %yi_3 = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %xi_3 = %c0 extent {{%.*}} {
  // CONST:          memref.store %f, %a[%y_3, %x_3]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c14 = arith.constant 14 : index
  tir.for %yo = %c0 extent %c4 {
    tir.for %xo = %c0 extent %c4 {
      tir.for %yi = %c0 extent %c4 {
        tir.for %xi = %c0 extent %c4 {
          %y4 = arith.muli %yo, %c4 : index
          %y = arith.addi %y4, %yi : index
          %cy = arith.cmpi slt, %y, %c14 : index
          %ly = tir.likely %cy
          scf.if %ly {
            %x4 = arith.muli %xo, %c4 : index
            %x = arith.addi %x4, %xi : index
            %cx = arith.cmpi slt, %x, %c14 : index
            %lx = tir.likely %cx
            scf.if %lx {
              memref.store %f, %a[%y, %x] : memref<14x14xf32>
            }
          }
        }
      }
    }
  }
}

// Tiles of tiles; the parts of an unrolled loop are unrolled, too.
// CONST-LABEL: @two_levels
tir.prim_func @two_levels(%a: memref<130xf32>, %f: f32) {
  // CONST:      tir.for %yoi = %c0 extent %c16 {
  // CONST-NEXT:   tir.for unrolled %yi = %c0 extent %c8 {
  // CONST-NEXT:     %yoo16 = arith.muli %c0, %c16
  // CONST-NEXT:     %yo = arith.addi %yoo16, %yoi
  // CONST-NEXT:     %yo8 = arith.muli %yo, %c8
  // CONST-NEXT:     %y = arith.addi %yo8, %yi
  // CONST-NEXT:     memref.store %f, %a[%y]
  // CONST-NEXT:   }
  // CONST-NEXT: }
  // CONST-NEXT: [[C1:%.*]] = arith.constant 1 : index
  // CONST-NEXT: tir.for unrolled %yi_1 = %c0 extent %c2 {
  // CONST-NEXT:   %yoo16_1 = arith.muli [[C1]], %c16
  // CONST-NEXT:   %yo_1 = arith.addi %yoo16_1, %c0
  // CONST-NEXT:   %yo8_1 = arith.muli %yo_1, %c8
  // CONST-NEXT:   %y_1 = arith.addi %yo8_1, %yi_1
  // CONST-NEXT:   memref.store %f, %a[%y_1]
  // CONST-NEXT: }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c17 = arith.constant 17 : index
  %c130 = arith.constant 130 : index
  tir.for %yoo = %c0 extent %c2 {
    tir.for %yoi = %c0 extent %c16 {
      tir.for unrolled %yi = %c0 extent %c8 {
        %yoo16 = arith.muli %yoo, %c16 : index
        %yo = arith.addi %yoo16, %yoi : index
        %co = arith.cmpi slt, %yo, %c17 : index
        %lo = tir.likely %co
        scf.if %lo {
          %yo8 = arith.muli %yo, %c8 : index
          %y = arith.addi %yo8, %yi : index
          %c = arith.cmpi slt, %y, %c130 : index
          %l = tir.likely %c
          scf.if %l {
            memref.store %f, %a[%y] : memref<130xf32>
          }
        }
      }
    }
  }
}

// A tail in a tail, and operations beside it.
// CONST-LABEL: @double
tir.prim_func @double(%a: memref<48xf32>, %b: memref<48xf32>) {
  // CONST-NOT:  scf.if
  // CONST:      tir.for %co = %c0 extent {{%.*}} {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %ci = %c0 extent %c10 {
  // CONST:          memref.store %v, %b[%x]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %ci_1 = %c0 extent %c2 {
  // CONST:        memref.store %v_1, %b[%x_1]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %di = %c0 extent %c32 {
  // CONST:        memref.store %w, %b[%x_2]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %ci_2 = %c0 extent %c10 {
  // CONST:        memref.store %v_3, %b[%x_3]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %ci_3 = %c0 extent {{%.*}} {
  // CONST:        memref.store %v_4, %b[%x_4]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %di_1 = %c0 extent {{%.*}} {
  // CONST:        memref.store %w_1, %b[%x_5]
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  tir.for %do = %c0 extent %c2 {
    %do32 = arith.muli %do, %c32 : index
    tir.for %co = %c0 extent %c4 {
      tir.for %ci = %c0 extent %c10 {
        %co10 = arith.muli %co, %c10 : index
        %i = arith.addi %co10, %ci : index
        %x = arith.addi %do32, %i : index
        %p = arith.cmpi slt, %x, %c48 : index
        %lp = tir.likely %p
        scf.if %lp {
          %q = arith.cmpi slt, %i, %c32 : index
          %lq = tir.likely %q
          scf.if %lq {
            %v = memref.load %a[%x] : memref<48xf32>
            memref.store %v, %b[%x] : memref<48xf32>
          }
        }
      }
    }
    tir.for %di = %c0 extent %c32 {
      %x = arith.addi %do32, %di : index
      %p = arith.cmpi slt, %x, %c48 : index
      %lp = tir.likely %p
      scf.if %lp {
        %v = memref.load %b[%x] : memref<48xf32>
        %w = arith.addf %v, %v : f32
        memref.store %w, %b[%x] : memref<48xf32>
      }
    }
  }
}

// A matrix product in tiles, the inner loops of which are unrolled and vectorized: main loops without
// conditions, tails of constant extents.
// CONST-LABEL: @kernel
tir.prim_func @kernel(%a: memref<10x6xf32>, %b: memref<6x7xf32>, %r: memref<10x7xf32>) {
  // CONST-NOT:  scf.if
  // CONST:      tir.for parallel %io = %c0 extent %c2 {
  // CONST-NOT:  scf.if
  // CONST:        tir.for %k = %c0 extent %c6 {
  // CONST-NOT:  scf.if
  // CONST:          tir.for unrolled %ii = %c0 extent %c4 {
  // CONST-NOT:  scf.if
  // CONST:            tir.for vectorized %ji = %c0 extent %c4 {
  // CONST:              memref.store %s, %r[%i, %j]
  // CONST-NOT:  scf.if
  // CONST:        tir.for %k_1 = %c0 extent %c6 {
  // CONST-NOT:  scf.if
  // CONST:          tir.for unrolled %ii_1 = %c0 extent %c4 {
  // CONST-NOT:  scf.if
  // CONST:            tir.for vectorized %ji_1 = %c0 extent %c3 {
  // CONST:              memref.store %s_1, %r[%i_1, %j_1]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %k_2 = %c0 extent %c6 {
  // CONST-NOT:  scf.if
  // CONST:        tir.for unrolled %ii_2 = %c0 extent %c2 {
  // CONST-NOT:  scf.if
  // CONST:          tir.for vectorized %ji_2 = %c0 extent %c4 {
  // CONST:            memref.store %s_2, %r[%i_2, %j_2]
  // CONST-NOT:  scf.if
  // CONST:      tir.for %k_3 = %c0 extent %c6 {
  // CONST-NOT:  scf.if
  // CONST:        tir.for unrolled %ii_3 = %c0 extent %c2 {
  // CONST-NOT:  scf.if
  // CONST:          tir.for vectorized %ji_3 = %c0 extent %c3 {
  // CONST:            memref.store %s_3, %r[%i_3, %j_3]
  // CONST-NEXT:     }
  // CONST-NEXT:   }
  // CONST-NEXT: }
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c10 = arith.constant 10 : index
  tir.for parallel %io = %c0 extent %c3 {
    tir.for %jo = %c0 extent %c2 {
      tir.for %k = %c0 extent %c6 {
        tir.for unrolled %ii = %c0 extent %c4 {
          %i4 = arith.muli %io, %c4 : index
          %i = arith.addi %i4, %ii : index
          %p = arith.cmpi slt, %i, %c10 : index
          %lp = tir.likely %p
          scf.if %lp {
            tir.for vectorized %ji = %c0 extent %c4 {
              %j4 = arith.muli %jo, %c4 : index
              %j = arith.addi %j4, %ji : index
              %q = arith.cmpi slt, %j, %c7 : index
              %lq = tir.likely %q
              scf.if %lq {
                %x = memref.load %a[%i, %k] : memref<10x6xf32>
                %y = memref.load %b[%k, %j] : memref<6x7xf32>
                %z = memref.load %r[%i, %j] : memref<10x7xf32>
                %xy = arith.mulf %x, %y : f32
                %s = arith.addf %z, %xy : f32
                memref.store %s, %r[%i, %j] : memref<10x7xf32>
              }
            }
          }
        }
      }
    }
  }
}
