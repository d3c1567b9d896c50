// RUN: passline-opt %s -p tir-lower-to-cuda-tile --split-input-file | filecheck %s
// RUN: passline-opt %s -p tir-lower-to-cuda-tile --split-input-file --remarks=lower-to-cuda-tile 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// The iterations are the lanes of tiles. There are 16 for 10: a mask leaves out the others.
// CHECK-LABEL: tir.prim_func @lanes(
// CHECK:         [[ONE:%.*]] = arith.constant 1 : index
// CHECK:         tir.launch @kernels::@lanes_0[%{{.*}}, [[ONE]], [[ONE]]] (%x, %y)
// CHECK-NOT:     tir.for
// CHECK:       entry @lanes_0([[X:%[0-9]+]]: tile<ptr<f32>>, [[Y:%[0-9]+]]: tile<ptr<f32>>) {
// CHECK-NEXT:    [[BLOCK:%[0-9]+]], {{%[0-9]+}}, {{%[0-9]+}} = get_tile_block_id
// CHECK:         muli [[BLOCK]]
// CHECK:         iota : tile<16xi32>
// CHECK:         [[LANE:%[0-9]+]] = addi
// CHECK:         [[MASK:%[0-9]+]] = cmpi less_than [[LANE]]
// CHECK:         [[FROM:%[0-9]+]] = offset {{.*}}, [[LANE]]
// CHECK-NEXT:    [[PADDING:%[0-9]+]] = constant <f32: 0.0
// CHECK-NEXT:    [[V:%[0-9]+]], {{.*}} = load_ptr_tko weak [[FROM]], [[MASK]], [[PADDING]]
// CHECK-NEXT:    [[EXP:%[0-9]+]] = exp [[V]] : tile<16xf32>
// CHECK:         store_ptr_tko weak {{.*}}, [[EXP]], [[MASK]]
// CHECK-NEXT:    return
// COMPARED: @lanes
func.func @main(%x: memref<10xf32>, %y: memref<10xf32>) {
  tir.call @lanes(%x, %y) : memref<10xf32>, memref<10xf32>
  func.return
}
tir.prim_func @lanes(%x: memref<10xf32>, %y: memref<10xf32>) {
  %0 = arith.constant 0 : index
  %n = arith.constant 10 : index
  tir.for %i = %0 extent %n {
    %1 = memref.load %x[%i] : memref<10xf32>
    %2 = math.exp %1 : f32
    memref.store %2, %y[%i] : memref<10xf32>
  }
}

// -----

// Two blocks of 128 lanes need no mask; what all lanes share is a tile of rank 0, and a scalar of the
// function is a parameter.
// CHECK-LABEL: tir.prim_func @whole(
// CHECK:         [[TWO:%.*]] = arith.constant 2 : index
// CHECK:         tir.launch @kernels::@whole_0{{\[}}[[TWO]], {{.*}}] (%f, %x) : f32, memref<256xf32>
// CHECK:       entry @whole_0([[F:%[0-9]+]]: tile<f32>, {{.*}}: tile<ptr<f32>>) {
// CHECK-NOT:     cmpi
// CHECK:         [[G:%[0-9]+]] = addf [[F]], [[F]] : tile<f32>
// CHECK:         load_ptr_tko weak %{{[0-9]+}} token=%{{[0-9]+}} : tile<128xptr<f32>>
// CHECK:         broadcast {{.*}} : tile<1xf32> -> tile<128xf32>
// CHECK:         store_ptr_tko weak %{{[0-9]+}}, %{{[0-9]+}} token=%{{[0-9]+}} : tile<128xptr<f32>>, tile<128xf32> -> token
// COMPARED: @whole
func.func @main(%x: memref<256xf32>, %f: f32) {
  tir.call @whole(%x, %f) : memref<256xf32>, f32
  func.return
}
tir.prim_func @whole(%x: memref<256xf32>, %f: f32) {
  %0 = arith.constant 0 : index
  %n = arith.constant 256 : index
  tir.for %i = %0 extent %n {
    %g = arith.addf %f, %f : f32
    %1 = memref.load %x[%i] : memref<256xf32>
    %2 = arith.mulf %1, %g : f32
    memref.store %2, %x[%i] : memref<256xf32>
  }
}

// -----

// The numbers of the lanes give the indices of both loops. Sizes that are unknown are parameters, and
// the grid is computed from them.
// CHECK-LABEL: tir.prim_func @nested(
// CHECK:         %n = memref.dim %x
// CHECK:         [[TOTAL:%.*]] = arith.muli %n
// CHECK:         arith.addi [[TOTAL]]
// CHECK:         [[BLOCKS:%.*]] = arith.divui
// CHECK:         tir.launch @kernels::@nested_0{{\[}}[[BLOCKS]], {{.*}}] (%n, %x, {{%.*}}, %y) : index, memref<3x?xf32>, index
// CHECK:       entry @nested_0([[N:%[0-9]+]]: tile<i64>, {{.*}}, [[STRIDE:%[0-9]+]]: tile<i64>
// CHECK:         cmpi less_than {{.*}}, signed : tile<256xi64>
// CHECK:         [[I:%[0-9]+]] = divi
// CHECK:         [[J:%[0-9]+]] = subi
// CHECK:         [[ROW:%[0-9]+]] = muli [[J]]
// CHECK-NEXT:    addi [[ROW]], [[I]]
// COMPARED: @nested
func.func @main(%x: memref<3x?xf32>, %y: memref<?x3xf32>) {
  tir.call @nested(%x, %y) : memref<3x?xf32>, memref<?x3xf32>
  func.return
}
tir.prim_func @nested(%x: memref<3x?xf32>, %y: memref<?x3xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %3 = arith.constant 3 : index
  %n = memref.dim %x, %1 : memref<3x?xf32>
  tir.for %i = %0 extent %n {
    tir.for %j = %0 extent %3 {
      %v = memref.load %x[%j, %i] : memref<3x?xf32>
      memref.store %v, %y[%i, %j] : memref<?x3xf32>
    }
  }
}

// -----

// A small buffer of each iteration is in tiles, which a loop hands on.
// CHECK-LABEL: entry @sums_0(
// CHECK:         [[SUM:%[0-9]+]], {{.*}} = for {{.*}} iter_values([[S:%[0-9]+]] = {{.*}}) -> (tile<8xf32>, token) {
// CHECK:           [[V:%[0-9]+]], {{.*}} = load_ptr_tko
// CHECK-NEXT:      [[T:%[0-9]+]] = addf [[S]], [[V]] : tile<8xf32>
// CHECK-NEXT:      continue [[T]]
// CHECK:         store_ptr_tko weak {{.*}}, [[SUM]] :
// COMPARED: @sums
func.func @main(%x: memref<8x5xf32>, %y: memref<8xf32>) {
  tir.call @sums(%x, %y) : memref<8x5xf32>, memref<8xf32>
  func.return
}
tir.prim_func @sums(%x: memref<8x5xf32>, %y: memref<8xf32>) {
  %0 = arith.constant 0 : index
  %5 = arith.constant 5 : index
  %8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  tir.for %i = %0 extent %8 {
    %sum = memref.alloca() : memref<1xf32>
    memref.store %zero, %sum[%0] : memref<1xf32>
    tir.for %j = %0 extent %5 {
      %v = memref.load %x[%i, %j] : memref<8x5xf32>
      %s = memref.load %sum[%0] : memref<1xf32>
      %t = arith.addf %s, %v : f32
      memref.store %t, %sum[%0] : memref<1xf32>
    }
    %r = memref.load %sum[%0] : memref<1xf32>
    memref.store %r, %y[%i] : memref<8xf32>
  }
}

// -----

// A larger one is memory for all lanes, whose accesses have an order. A branch that the host can take
// stays there, and each loop in it is a launch.
// CHECK-LABEL: tir.prim_func @host(
// CHECK:         %b = memref.alloc() : memref<4xf32>
// CHECK:         scf.if %c {
// CHECK:           [[SCRATCH:%.*]] = memref.alloc({{.*}}) : memref<?xf32>
// CHECK:           tir.launch @kernels::@host_0[{{.*}}] (%x, %b, [[SCRATCH]])
// CHECK:           tir.launch @kernels::@host_1[{{.*}}] (%b, %y)
// CHECK:       entry @host_0(
// CHECK:         [[LAST:%[0-9]+]] = for {{.*}} iter_values([[BEFORE:%[0-9]+]] = {{.*}}) -> (token) {
// CHECK:           [[AFTER:%[0-9]+]] = store_ptr_tko weak {{.*}} token=[[BEFORE]]
// CHECK-NEXT:      continue [[AFTER]] : token
// CHECK:         load_ptr_tko weak {{.*}} token=[[LAST]]
// CHECK:       entry @host_1(
// COMPARED: @host
func.func @main(%x: memref<4x20xf32>, %y: memref<4xf32>, %c: i1) {
  tir.call @host(%x, %y, %c) : memref<4x20xf32>, memref<4xf32>, i1
  func.return
}
tir.prim_func @host(%x: memref<4x20xf32>, %y: memref<4xf32>, %c: i1) {
  %0 = arith.constant 0 : index
  %4 = arith.constant 4 : index
  %20 = arith.constant 20 : index
  %19 = arith.constant 19 : index
  %b = memref.alloc() : memref<4xf32>
  scf.if %c {
    tir.for %i = %0 extent %4 {
      %s = memref.alloca() : memref<20xf32>
      tir.for %j = %0 extent %20 {
        %v = memref.load %x[%i, %j] : memref<4x20xf32>
        %k = arith.subi %19, %j : index
        memref.store %v, %s[%k] : memref<20xf32>
      }
      %v = memref.load %s[%0] : memref<20xf32>
      memref.store %v, %b[%i] : memref<4xf32>
    }
    tir.for %i = %0 extent %4 {
      %v = memref.load %b[%i] : memref<4xf32>
      memref.store %v, %y[%i] : memref<4xf32>
    }
  }
}

// -----

// A condition is a mask, and a value of both sides a choice. Where the mask is off, nothing is divided
// by 0.
// CHECK-LABEL: entry @branch_0(
// CHECK:         [[LANES:%[0-9]+]] = cmpi less_than
// CHECK:         [[V:%[0-9]+]], {{.*}} = load_ptr_tko
// CHECK:         [[IF:%[0-9]+]] = cmpi greater_than [[V]]
// CHECK:         [[MASK:%[0-9]+]] = andi [[LANES]], [[IF]]
// CHECK:         [[BY:%[0-9]+]] = select [[MASK]], [[V]], {{%[0-9]+}}
// CHECK:         [[Q:%[0-9]+]] = divi {{%[0-9]+}}, [[BY]] signed
// CHECK:         store_ptr_tko weak {{.*}}, [[Q]], [[MASK]]
// CHECK:         [[NOT:%[0-9]+]] = xori [[IF]]
// CHECK:         andi [[LANES]], [[NOT]]
// CHECK:         [[R:%[0-9]+]] = select [[IF]], [[Q]], {{%[0-9]+}}
// CHECK:         store_ptr_tko weak {{.*}}, [[R]], [[LANES]]
// COMPARED: @branch
func.func @main(%x: memref<10xi32>, %y: memref<10xi32>, %z: memref<10xi32>) {
  tir.call @branch(%x, %y, %z) : memref<10xi32>, memref<10xi32>, memref<10xi32>
  func.return
}
tir.prim_func @branch(%x: memref<10xi32>, %y: memref<10xi32>, %z: memref<10xi32>) {
  %0 = arith.constant 0 : index
  %n = arith.constant 10 : index
  %zero = arith.constant 0 : i32
  %9 = arith.constant 9 : i32
  tir.for %i = %0 extent %n {
    %v = memref.load %x[%i] : memref<10xi32>
    %c = arith.cmpi sgt, %v, %zero : i32
    %r = scf.if %c -> (i32) {
      %q = arith.divsi %9, %v : i32
      memref.store %q, %y[%i] : memref<10xi32>
      scf.yield %q : i32
    } else {
      scf.yield %zero : i32
    }
    memref.store %r, %z[%i] : memref<10xi32>
  }
}

// -----

// A loop runs to the maximum extent of all lanes; those that are done are masked.
// CHECK-LABEL: entry @triangle_0(
// CHECK:         [[I:%[0-9]+]] = addi {{.*}} : tile<4xi32>
// CHECK:         reduce [[I]] dim=0
// CHECK:           maxi
// CHECK:         for [[J:%[0-9]+]] in
// CHECK:           [[MASK:%[0-9]+]] = cmpi less_than {{.*}}, [[I]], signed
// CHECK:           load_ptr_tko weak {{%[0-9]+}}, [[MASK]]
// CHECK:           store_ptr_tko weak {{%[0-9]+}}, {{%[0-9]+}}, [[MASK]]
// COMPARED: @triangle
func.func @main(%x: memref<4x4xf32>, %y: memref<4xf32>) {
  tir.call @triangle(%x, %y) : memref<4x4xf32>, memref<4xf32>
  func.return
}
tir.prim_func @triangle(%x: memref<4x4xf32>, %y: memref<4xf32>) {
  %0 = arith.constant 0 : index
  %4 = arith.constant 4 : index
  tir.for %i = %0 extent %4 {
    tir.for %j = %0 extent %i {
      %a = memref.load %x[%i, %j] : memref<4x4xf32>
      %b = memref.load %y[%i] : memref<4xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %y[%i] : memref<4xf32>
    }
  }
}

// -----

// Booleans are bytes in memory; an index of 64 bits saturates; an assertion is one of the lanes that are
// not masked.
// CHECK-LABEL: entry @gather_0({{.*}}: tile<ptr<i64>>, {{.*}}: tile<ptr<i8>>
// CHECK:         [[LANES:%[0-9]+]] = cmpi less_than
// CHECK:         maxi {{.*}} : tile<16xi64>
// CHECK:         mini {{.*}} : tile<16xi64>
// CHECK:         trunci {{.*}} : tile<16xi64> -> tile<16xi32>
// CHECK:         [[INSIDE:%[0-9]+]] = cmpi less_than {{.*}}, unsigned : tile<16xi32>
// CHECK:         [[IDLE:%[0-9]+]] = xori [[LANES]]
// CHECK-NEXT:    [[HOLDS:%[0-9]+]] = ori [[INSIDE]], [[IDLE]]
// CHECK-NEXT:    assert [[HOLDS]], "an index is out of range"
// CHECK:         cmpi not_equal {{.*}} : tile<16xi8> -> tile<16xi1>
// CHECK:         exti {{.*}} unsigned : tile<16xi1> -> tile<16xi8>
// COMPARED: @gather
func.func @main(%x: memref<10xi64>, %y: memref<10xi1>, %z: memref<10xi1>) {
  tir.call @gather(%x, %y, %z) : memref<10xi64>, memref<10xi1>, memref<10xi1>
  func.return
}
tir.prim_func @gather(%x: memref<10xi64>, %y: memref<10xi1>, %z: memref<10xi1>) {
  %0 = arith.constant 0 : index
  %9 = arith.constant 9 : index
  %n = arith.constant 10 : index
  %true = arith.constant true
  tir.for %i = %0 extent %n {
    %v = memref.load %x[%i] : memref<10xi64>
    %j = arith.index_cast %v : i64 to index
    %c = arith.cmpi ult, %j, %n : index
    cf.assert %c, "an index is out of range"
    %k = arith.minui %j, %9 : index
    %e = memref.load %y[%k] : memref<10xi1>
    %f = arith.xori %e, %true : i1
    memref.store %f, %z[%i] : memref<10xi1>
  }
}

// -----

// An iteration reads what the one before it wrote: one lane runs them all, and tokens keep the order.
// CHECK-LABEL: tir.prim_func @prefix(
// CHECK:         tir.launch @kernels::@prefix_0[
// CHECK:       entry @prefix_0(
// CHECK-NOT:     get_tile_block_id
// CHECK:         for {{.*}} -> (token) {
// CHECK:           store_ptr_tko weak {{.*}} : tile<ptr<f32>>, tile<f32> -> token
// REMARK:      [Missed] Lanes {{.*}}Function=prefix | Remark="runs in one lane: its iterations depend on each other"
// COMPARED: @prefix
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) {
  tir.call @prefix(%x, %y) : memref<16xf32>, memref<16xf32>
  func.return
}
tir.prim_func @prefix(%x: memref<16xf32>, %y: memref<16xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant 15 : index
  tir.for %i = %0 extent %n {
    %k = arith.addi %i, %1 : index
    %a = memref.load %x[%i] : memref<16xf32>
    %b = memref.load %y[%i] : memref<16xf32>
    %c = arith.addf %a, %b : f32
    memref.store %c, %y[%k] : memref<16xf32>
  }
}

// -----

// All iterations write one element.
// CHECK-LABEL: tir.prim_func @last(
// CHECK:         tir.launch @kernels::@last_0[
// CHECK:       entry @last_0(
// CHECK-NOT:     get_tile_block_id
// CHECK:         for {{.*}} -> (token) {
// CHECK:           store_ptr_tko weak {{.*}} : tile<ptr<f32>>, tile<f32> -> token
// REMARK:      [Missed] Lanes {{.*}}Function=last | Remark="runs in one lane: its iterations depend on each other"
// COMPARED: @last
func.func @main(%x: memref<16xf32>, %y: memref<1xf32>) {
  tir.call @last(%x, %y) : memref<16xf32>, memref<1xf32>
  func.return
}
tir.prim_func @last(%x: memref<16xf32>, %y: memref<1xf32>) {
  %0 = arith.constant 0 : index
  %n = arith.constant 16 : index
  tir.for %i = %0 extent %n {
    %a = memref.load %x[%i] : memref<16xf32>
    memref.store %a, %y[%0] : memref<1xf32>
  }
}

// -----

// Two iterations write each element.
// CHECK-LABEL: tir.prim_func @quotient(
// CHECK:         tir.launch @kernels::@quotient_0[
// CHECK:       entry @quotient_0(
// CHECK-NOT:     get_tile_block_id
// CHECK:         for {{.*}} -> (token) {
// CHECK:           store_ptr_tko weak {{.*}} : tile<ptr<f32>>, tile<f32> -> token
// REMARK:      [Missed] Lanes {{.*}}Function=quotient | Remark="runs in one lane: its iterations depend on each other"
// COMPARED: @quotient
func.func @main(%x: memref<16xf32>, %y: memref<8xf32>) {
  tir.call @quotient(%x, %y) : memref<16xf32>, memref<8xf32>
  func.return
}
tir.prim_func @quotient(%x: memref<16xf32>, %y: memref<8xf32>) {
  %0 = arith.constant 0 : index
  %2 = arith.constant 2 : index
  %n = arith.constant 16 : index
  tir.for %i = %0 extent %n {
    %k = arith.divui %i, %2 : index
    %a = memref.load %x[%i] : memref<16xf32>
    memref.store %a, %y[%k] : memref<8xf32>
  }
}

// -----

// It is not known which element an iteration writes.
// CHECK-LABEL: tir.prim_func @scatter(
// CHECK:         tir.launch @kernels::@scatter_0[
// CHECK:       entry @scatter_0(
// CHECK-NOT:     get_tile_block_id
// CHECK:         for {{.*}} -> (token) {
// CHECK:           store_ptr_tko weak {{.*}} : tile<ptr<f32>>, tile<f32> -> token
// REMARK:      [Missed] Lanes {{.*}}Function=scatter | Remark="runs in one lane: its iterations depend on each other"
// COMPARED: @scatter
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>, %at: memref<16xi32>) {
  tir.call @scatter(%x, %y, %at) : memref<16xf32>, memref<16xf32>, memref<16xi32>
  func.return
}
tir.prim_func @scatter(%x: memref<16xf32>, %y: memref<16xf32>, %at: memref<16xi32>) {
  %0 = arith.constant 0 : index
  %15 = arith.constant 15 : index
  %n = arith.constant 16 : index
  tir.for %i = %0 extent %n {
    %j = memref.load %at[%i] : memref<16xi32>
    %k = arith.index_cast %j : i32 to index
    %l = arith.minui %k, %15 : index
    %a = memref.load %x[%i] : memref<16xf32>
    memref.store %a, %y[%l] : memref<16xf32>
  }
}

// -----

// A small buffer is left from one iteration to the next.
// CHECK-LABEL: tir.prim_func @carried(
// CHECK:         tir.launch @kernels::@carried_1[
// CHECK:       entry @carried_1(
// CHECK-NOT:     get_tile_block_id
// CHECK:         for {{.*}} -> (token, token) {
// CHECK:           store_ptr_tko weak {{.*}} : tile<ptr<f32>>, tile<f32> -> token
// REMARK:      [Missed] Lanes {{.*}}Function=carried | Remark="runs in one lane: its iterations depend on each other"
// COMPARED: @carried
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) {
  tir.call @carried(%x, %y) : memref<16xf32>, memref<16xf32>
  func.return
}
tir.prim_func @carried(%x: memref<16xf32>, %y: memref<16xf32>) {
  %0 = arith.constant 0 : index
  %n = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<1xf32>
  memref.store %zero, %s[%0] : memref<1xf32>
  tir.for %i = %0 extent %n {
    %a = memref.load %x[%i] : memref<16xf32>
    %b = memref.load %s[%0] : memref<1xf32>
    %c = arith.addf %a, %b : f32
    memref.store %c, %s[%0] : memref<1xf32>
    memref.store %c, %y[%i] : memref<16xf32>
  }
}

// -----

// The outer iterations are lanes; the inner ones depend on each other, and stay a loop.
// CHECK-LABEL: entry @rows_0(
// CHECK:         iota : tile<4xi32>
// CHECK:         for
// CHECK:           store_ptr_tko weak {{.*}} : tile<4xptr<f32>>
// COMPARED: @rows
func.func @main(%x: memref<4x8xf32>) {
  tir.call @rows(%x) : memref<4x8xf32>
  func.return
}
tir.prim_func @rows(%x: memref<4x8xf32>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %4 = arith.constant 4 : index
  %7 = arith.constant 7 : index
  tir.for %i = %0 extent %4 {
    tir.for %j = %0 extent %7 {
      %k = arith.addi %j, %1 : index
      %a = memref.load %x[%i, %j] : memref<4x8xf32>
      %b = memref.load %x[%i, %k] : memref<4x8xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %x[%i, %k] : memref<4x8xf32>
    }
  }
}

// -----

// Operations that share a small buffer are one entry, which is launched where the last one was: all
// sizes are known there, and nothing is freed before.
// CHECK-LABEL: tir.prim_func @shared(
// CHECK:         %n = memref.dim %y
// CHECK:         tir.launch @kernels::@shared_0[{{.*}}] (%x, %s, %n, %y)
// CHECK-NEXT:    memref.dealloc %s
// REMARK:      [Missed] Lanes {{.*}}Function=shared
// COMPARED: @shared
func.func @main(%x: memref<4xi64>, %y: memref<?xi64>) {
  tir.call @shared(%x, %y) : memref<4xi64>, memref<?xi64>
  func.return
}
tir.prim_func @shared(%x: memref<4xi64>, %y: memref<?xi64>) {
  %0 = arith.constant 0 : index
  %4 = arith.constant 4 : index
  %s = memref.alloc() : memref<4xi64>
  %count = memref.alloca() : memref<1xi64>
  %zero = arith.constant 0 : i64
  memref.store %zero, %count[%0] : memref<1xi64>
  tir.for %i = %0 extent %4 {
    %a = memref.load %x[%i] : memref<4xi64>
    memref.store %a, %s[%i] : memref<4xi64>
    %b = memref.load %s[%0] : memref<4xi64>
    %c = memref.load %count[%0] : memref<1xi64>
    %d = arith.addi %b, %c : i64
    memref.store %d, %count[%0] : memref<1xi64>
  }
  memref.dealloc %s : memref<4xi64>
  %n = memref.dim %y, %0 : memref<?xi64>
  tir.for %i = %0 extent %n {
    %c = memref.load %count[%0] : memref<1xi64>
    memref.store %c, %y[%i] : memref<?xi64>
  }
}

// -----

// The iterations of a lane share the memory of a buffer that each of them allocates: a token goes from
// one to the next.
// CHECK-LABEL: entry @reused_0(
// CHECK:         for {{.*}} iter_values([[BEFORE:%[0-9]+]] = {{%[0-9]+}}, {{.*}}) -> (token, token) {
// CHECK:           store_ptr_tko weak {{.*}} token=[[BEFORE]]
// CHECK:           {{%[0-9]+}}, [[AFTER:%[0-9]+]] = load_ptr_tko
// CHECK:           continue [[AFTER]], {{%[0-9]+}} : token, token
// REMARK:      [Missed] Lanes {{.*}}Function=reused
// COMPARED: @reused
func.func @main(%x: memref<4xf32>, %y: memref<1xf32>) {
  tir.call @reused(%x, %y) : memref<4xf32>, memref<1xf32>
  func.return
}
tir.prim_func @reused(%x: memref<4xf32>, %y: memref<1xf32>) {
  %0 = arith.constant 0 : index
  %4 = arith.constant 4 : index
  tir.for %i = %0 extent %4 {
    %s = memref.alloca() : memref<20xf32>
    %a = memref.load %x[%i] : memref<4xf32>
    memref.store %a, %s[%i] : memref<20xf32>
    %b = memref.load %s[%i] : memref<20xf32>
    %c = memref.load %y[%0] : memref<1xf32>
    %d = arith.addf %b, %c : f32
    memref.store %d, %y[%0] : memref<1xf32>
  }
}

// -----

// Kernels without a tile program stay as they are, and so do functions that are no kernels.
// UNCHANGED: @bits
// UNCHANGED: @wide
// UNCHANGED: @strided
// UNCHANGED: @declared
// UNCHANGED: @caller
// UNCHANGED: @uncalled
// UNCHANGED: @function
// CHECK-LABEL: tir.prim_func @declared
// CHECK-NOT:     cuda_tile
// REMARK:      [Missed] TileProgram {{.*}}Function=bits | Remark="it stays on the host: tiles have no 'math.ctpop' of i32"
// REMARK:      [Missed] TileProgram {{.*}}Function=wide | Remark="it stays on the host: tiles have no elements of f80"
// REMARK:      [Missed] TileProgram {{.*}}Function=strided | Remark="it stays on the host: a buffer of type memref<10xi32, strided<[?]>> with strides that are not known"
// REMARK-NOT:  remark
func.func @main(%x: memref<10xi32>, %y: memref<10xi32, strided<[?]>>) {
  tir.call @bits(%x) : memref<10xi32>
  tir.call @wide(%x) : memref<10xi32>
  tir.call @strided(%y) : memref<10xi32, strided<[?]>>
  tir.call @declared(%x) : memref<10xi32>
  tir.call @caller(%x) : memref<10xi32>
  func.call @function(%x) : (memref<10xi32>) -> ()
  func.return
}
tir.prim_func @declared(memref<10xi32>)
tir.prim_func @caller(%x: memref<10xi32>) {
  tir.call @bits(%x) : memref<10xi32>
}
tir.prim_func @uncalled(%x: memref<10xi32>) {
  %0 = arith.constant 0 : index
  %n = arith.constant 10 : index
  tir.for %i = %0 extent %n {
    %v = memref.load %x[%i] : memref<10xi32>
    %w = arith.addi %v, %v : i32
    memref.store %w, %x[%i] : memref<10xi32>
  }
}
func.func @function(%x: memref<10xi32>) {
  %0 = arith.constant 0 : index
  %v = memref.load %x[%0] : memref<10xi32>
  %w = arith.addi %v, %v : i32
  memref.store %w, %x[%0] : memref<10xi32>
  func.return
}
tir.prim_func @bits(%x: memref<10xi32>) {
  %0 = arith.constant 0 : index
  %n = arith.constant 10 : index
  tir.for %i = %0 extent %n {
    %v = memref.load %x[%i] : memref<10xi32>
    %w = math.ctpop %v : i32
    memref.store %w, %x[%i] : memref<10xi32>
  }
}
tir.prim_func @wide(%x: memref<10xi32>) {
  %0 = arith.constant 0 : index
  %n = arith.constant 10 : index
  tir.for %i = %0 extent %n {
    %v = memref.load %x[%i] : memref<10xi32>
    %f = arith.sitofp %v : i32 to f80
    %w = arith.fptosi %f : f80 to i32
    memref.store %w, %x[%i] : memref<10xi32>
  }
}
tir.prim_func @strided(%x: memref<10xi32, strided<[?]>>) {
  %0 = arith.constant 0 : index
  %n = arith.constant 10 : index
  tir.for %i = %0 extent %n {
    %v = memref.load %x[%i] : memref<10xi32, strided<[?]>>
    %w = arith.addi %v, %v : i32
    memref.store %w, %x[%i] : memref<10xi32, strided<[?]>>
  }
}
