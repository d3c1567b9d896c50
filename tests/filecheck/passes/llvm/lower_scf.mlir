// RUN: passline-opt %s -p lower-scf | filecheck %s

// A loop is tested before each iteration; what it carries are arguments of the test.
// CHECK-LABEL: func.func @loop(
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   cf.br ^bb1(%c0, %x : index, f32)
// CHECK-NEXT: ^bb1(%i: index, %a: f32):
// CHECK-NEXT:   [[V0:%\w+]] = arith.cmpi slt, %i, %n : index
// CHECK-NEXT:   cf.cond_br [[V0]], ^bb2, ^bb3
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   [[V1:%\w+]] = arith.addf %a, %x : f32
// CHECK-NEXT:   [[V2:%\w+]] = arith.addi %i, %c1 : index
// CHECK-NEXT:   cf.br ^bb1([[V2]], [[V1]] : index, f32)
// CHECK-NEXT: ^bb3:
// CHECK-NEXT:   func.return %a : f32
func.func @loop(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32) {
    %1 = arith.addf %a, %x : f32
    scf.yield %1 : f32
  }
  func.return %0 : f32
}

// Loops in loops, and code behind them.
// CHECK-LABEL: func.func @nested_loops(
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   cf.br ^bb1(%c0 : index)
// CHECK-NEXT: ^bb1(%i: index):
// CHECK-NEXT:   [[V0:%\w+]] = arith.cmpi slt, %i, %n : index
// CHECK-NEXT:   cf.cond_br [[V0]], ^bb2, ^bb6
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   cf.br ^bb3(%c0 : index)
// CHECK-NEXT: ^bb3(%j: index):
// CHECK-NEXT:   [[V1:%\w+]] = arith.cmpi slt, %j, %i : index
// CHECK-NEXT:   cf.cond_br [[V1]], ^bb4, ^bb5
// CHECK-NEXT: ^bb4:
// CHECK-NEXT:   memref.store %x, %m[%j] : memref<?xf32>
// CHECK-NEXT:   [[V2:%\w+]] = arith.addi %j, %c1 : index
// CHECK-NEXT:   cf.br ^bb3([[V2]] : index)
// CHECK-NEXT: ^bb5:
// CHECK-NEXT:   memref.store %x, %m[%i] : memref<?xf32>
// CHECK-NEXT:   [[V3:%\w+]] = arith.addi %i, %c1 : index
// CHECK-NEXT:   cf.br ^bb1([[V3]] : index)
// CHECK-NEXT: ^bb6:
// CHECK-NEXT:   func.return
func.func @nested_loops(%n: index, %m: memref<?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %i step %c1 {
      memref.store %x, %m[%j] : memref<?xf32>
    }
    memref.store %x, %m[%i] : memref<?xf32>
  }
  func.return
}

// A branch without results has no second block if it has no else.
// CHECK-LABEL: func.func @branch(
// CHECK-NEXT:   cf.cond_br %c, ^bb1, ^bb2
// CHECK-NEXT: ^bb1:
// CHECK-NEXT:   memref.store %x, %m[] : memref<f32>
// CHECK-NEXT:   cf.br ^bb2
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   func.return
func.func @branch(%c: i1, %m: memref<f32>, %x: f32) {
  scf.if %c {
    memref.store %x, %m[] : memref<f32>
  }
  func.return
}

// A branch with results.
// CHECK-LABEL: func.func @branch_with_results(
// CHECK-NEXT:   cf.cond_br %c, ^bb1, ^bb2
// CHECK-NEXT: ^bb1:
// CHECK-NEXT:   cf.br ^bb3(%x : f32)
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   cf.br ^bb3(%y : f32)
// CHECK-NEXT: ^bb3([[V0:%\w+]]: f32):
// CHECK-NEXT:   func.return [[V0]] : f32
func.func @branch_with_results(%c: i1, %x: f32, %y: f32) -> f32 {
  %0 = scf.if %c -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %y : f32
  }
  func.return %0 : f32
}

// A loop with a condition.
// CHECK-LABEL: func.func @while_loop(
// CHECK-NEXT:   %c = arith.constant 10 : i64
// CHECK-NEXT:   cf.br ^bb1(%x : i64)
// CHECK-NEXT: ^bb1(%a: i64):
// CHECK-NEXT:   [[V0:%\w+]] = arith.cmpi slt, %a, %c : i64
// CHECK-NEXT:   cf.cond_br [[V0]], ^bb2(%a : i64), ^bb3(%a : i64)
// CHECK-NEXT: ^bb2(%b: i64):
// CHECK-NEXT:   [[V1:%\w+]] = arith.addi %b, %b : i64
// CHECK-NEXT:   cf.br ^bb1([[V1]] : i64)
// CHECK-NEXT: ^bb3([[V2:%\w+]]: i64):
// CHECK-NEXT:   func.return [[V2]] : i64
func.func @while_loop(%x: i64) -> i64 {
  %c = arith.constant 10 : i64
  %0 = scf.while (%a = %x) : (i64) -> i64 {
    %1 = arith.cmpi slt, %a, %c : i64
    scf.condition(%1) %a : i64
  } do {
  ^bb0(%b: i64):
    %2 = arith.addi %b, %b : i64
    scf.yield %2 : i64
  }
  func.return %0 : i64
}

// A switch compares with one case after the other.
// CHECK-LABEL: func.func @switch(
// CHECK-NEXT:   [[V0:%\w+]] = arith.constant 2 : index
// CHECK-NEXT:   [[V1:%\w+]] = arith.cmpi eq, %i, [[V0]] : index
// CHECK-NEXT:   cf.cond_br [[V1]], ^bb1, ^bb2
// CHECK-NEXT: ^bb1:
// CHECK-NEXT:   cf.br ^bb4(%x : f32)
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   cf.br ^bb3
// CHECK-NEXT: ^bb3:
// CHECK-NEXT:   cf.br ^bb4(%y : f32)
// CHECK-NEXT: ^bb4([[V2:%\w+]]: f32):
// CHECK-NEXT:   func.return [[V2]] : f32
func.func @switch(%i: index, %x: f32, %y: f32) -> f32 {
  %0 = scf.index_switch %i -> f32
  case 2 {
    scf.yield %x : f32
  }
  default {
    scf.yield %y : f32
  }
  func.return %0 : f32
}

// A parallel loop of two dimensions runs one iteration after the other.
// CHECK-LABEL: func.func @parallel_loop(
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   cf.br ^bb1(%c0 : index)
// CHECK-NEXT: ^bb1(%i: index):
// CHECK-NEXT:   [[V0:%\w+]] = arith.cmpi slt, %i, %n : index
// CHECK-NEXT:   cf.cond_br [[V0]], ^bb2, ^bb6
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   cf.br ^bb3(%c0 : index)
// CHECK-NEXT: ^bb3(%j: index):
// CHECK-NEXT:   [[V1:%\w+]] = arith.cmpi slt, %j, %n : index
// CHECK-NEXT:   cf.cond_br [[V1]], ^bb4, ^bb5
// CHECK-NEXT: ^bb4:
// CHECK-NEXT:   memref.store %x, %m[%i, %j] : memref<?x?xf32>
// CHECK-NEXT:   [[V2:%\w+]] = arith.addi %j, %c1 : index
// CHECK-NEXT:   cf.br ^bb3([[V2]] : index)
// CHECK-NEXT: ^bb5:
// CHECK-NEXT:   [[V3:%\w+]] = arith.addi %i, %c1 : index
// CHECK-NEXT:   cf.br ^bb1([[V3]] : index)
// CHECK-NEXT: ^bb6:
// CHECK-NEXT:   func.return
func.func @parallel_loop(%n: index, %m: memref<?x?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c0, %c0, %n, %n, %c1, %c1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    memref.store %x, %m[%i, %j] : memref<?x?xf32>
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  func.return
}

// A reduction is carried from one iteration to the next.
// CHECK-LABEL: func.func @reduction(
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %c1 = arith.constant 1 : index
// CHECK-NEXT:   cf.br ^bb1(%c0, %x : index, f32)
// CHECK-NEXT: ^bb1(%i: index, %a: f32):
// CHECK-NEXT:   [[V0:%\w+]] = arith.cmpi slt, %i, %n : index
// CHECK-NEXT:   cf.cond_br [[V0]], ^bb2, ^bb3
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   [[V1:%\w+]] = arith.addf %a, %x : f32
// CHECK-NEXT:   [[V2:%\w+]] = arith.addi %i, %c1 : index
// CHECK-NEXT:   cf.br ^bb1([[V2]], [[V1]] : index, f32)
// CHECK-NEXT: ^bb3:
// CHECK-NEXT:   func.return %a : f32
func.func @reduction(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = "scf.parallel"(%c0, %n, %c1, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%i: index):
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      scf.reduce.return %1 : f32
    }
  }) : (index, index, index, f32) -> f32
  func.return %0 : f32
}

// The region of an operation that runs it once.
// CHECK-LABEL: func.func @execute_region(
// CHECK-NEXT:   cf.br ^bb1
// CHECK-NEXT: ^bb1:
// CHECK-NEXT:   [[V0:%\w+]] = arith.addf %x, %x : f32
// CHECK-NEXT:   cf.br ^bb2([[V0]] : f32)
// CHECK-NEXT: ^bb2([[V1:%\w+]]: f32):
// CHECK-NEXT:   func.return [[V1]] : f32
func.func @execute_region(%x: f32) -> f32 {
  %0 = scf.execute_region -> (f32) {
    %1 = arith.addf %x, %x : f32
    scf.yield %1 : f32
  }
  func.return %0 : f32
}

// Nothing to do.
// UNCHANGED: @nothing_to_do
func.func @nothing_to_do(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  func.return %0 : f32
}
