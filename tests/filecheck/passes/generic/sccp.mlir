// RUN: passline-opt %s -p sccp --split-input-file --allow-unregistered-dialect | filecheck %s

// A chain of folds; the constant is defined at the start of the function, and there once.
// CHECK-LABEL: @chain
// CHECK-NEXT:    [[FIVE:%.*]] = arith.constant 5 : i32
// CHECK-NEXT:    arith.constant 2 : i32
// CHECK-NEXT:    arith.constant 3 : i32
// CHECK-NEXT:    func.return [[FIVE]], [[FIVE]]
func.func @chain() -> (i32, i32) {
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %0 = arith.addi %two, %three : i32
  %1 = arith.addi %three, %two : i32
  func.return %0, %1 : i32, i32
}

// The branch that is never taken says nothing of the result.
// CHECK-LABEL: @branch
// CHECK-NEXT:    arith.constant false
// CHECK-NEXT:    [[SEVEN:%.*]] = arith.constant 7 : i32
// CHECK-NEXT:    func.return [[SEVEN]]
func.func @branch(%x: i32) -> i32 {
  %false = arith.constant false
  %seven = arith.constant 7 : i32
  %0 = scf.if %false -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %seven : i32
  }
  func.return %0 : i32
}

// Blocks: both ways bring the same constant; the argument stays.
// CHECK-LABEL: @join
// CHECK-NEXT:    [[ONE:%.*]] = arith.constant 1 : i32
// CHECK-NEXT:    cf.cond_br %c, ^bb2([[ONE]] : i32), ^bb1
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    cf.br ^bb2([[ONE]] : i32)
// CHECK-NEXT:  ^bb2(%{{.*}}: i32):
// CHECK-NEXT:    func.return [[ONE]]
func.func @join(%c: i1) -> i32 {
  %one = arith.constant 1 : i32
  cf.cond_br %c, ^bb1(%one : i32), ^bb2
^bb2:
  %another = arith.constant 1 : i32
  cf.br ^bb1(%another : i32)
^bb1(%x: i32):
  func.return %x : i32
}

// A loop that carries a constant, optimistically: `x = x * 1`.
// CHECK-LABEL: @loop
// CHECK:         [[FOUR:%.*]] = arith.constant 4 : i32
// CHECK:         scf.for
// CHECK-NEXT:      "test.op"([[FOUR]])
// CHECK-NEXT:      arith.addi
// CHECK-NEXT:      scf.yield [[FOUR]], %{{.*}} : i32, i32
// CHECK:         func.return [[FOUR]], [[R:%.*]] : i32, i32
func.func @loop(%n: index, %y: i32) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %0, %1 = scf.for %i = %n to %n step %n iter_args(%a = %four, %b = %y) -> (i32, i32) {
    "test.op"(%a) : (i32) -> ()
    %2 = arith.addi %a, %zero : i32
    %3 = arith.addi %b, %a : i32
    scf.yield %2, %3 : i32, i32
  }
  func.return %0, %1 : i32, i32
}

// A loop that is never entered, and a body that runs no more than once.
// CHECK-LABEL: @trips
// CHECK:         [[SIX:%.*]] = arith.constant 6 : i32
// CHECK-NOT:     affine.for
// CHECK:         func.return [[SIX]], [[SIX]]
func.func @trips() -> (i32, i32) {
  %five = arith.constant 5 : i32
  %six = arith.constant 6 : i32
  %one = arith.constant 1 : i32
  %0 = affine.for %i = 3 to 3 iter_args(%a = %six) -> (i32) {
    affine.yield %five : i32
  }
  %1 = affine.for %i = 0 to 1 iter_args(%a = %five) -> (i32) {
    %2 = arith.addi %a, %one : i32
    affine.yield %2 : i32
  }
  func.return %0, %1 : i32, i32
}

// A condition that is false at the first test.
// CHECK-LABEL: @while
// CHECK-NEXT:    [[NINE:%.*]] = arith.constant 9 : i32
// CHECK-NOT:     scf.while
// CHECK:         func.return [[NINE]]
func.func @while() -> i32 {
  %nine = arith.constant 9 : i32
  %0 = scf.while (%a = %nine) : (i32) -> i32 {
    %again = arith.cmpi slt, %a, %nine : i32
    scf.condition(%again) %a : i32
  } do {
  ^bb0(%b: i32):
    %1 = arith.addi %b, %b : i32
    scf.yield %1 : i32
  }
  func.return %0 : i32
}

// The case of a switch.
// CHECK-LABEL: @switch
// CHECK-NEXT:    [[ONE:%.*]] = arith.constant 1 : i32
// CHECK-NOT:     scf.index_switch
// CHECK:         cf.switch
// CHECK:         func.return [[ONE]], %{{.*}}
func.func @switch(%x: i32) -> (i32, i32) {
  %two = arith.constant 2 : index
  %0 = scf.index_switch %two -> i32
  case 2 {
    %1 = arith.constant 1 : i32
    scf.yield %1 : i32
  }
  default {
    scf.yield %x : i32
  }
  cf.switch %0 : i32, [
    default: ^bb1(%x : i32),
    1: ^bb1(%0 : i32)
  ]
^bb1(%y: i32):
  func.return %y, %x : i32, i32
}

// -----

// Calls of a private function: all pass the same argument; the result comes back.
// CHECK-LABEL: func.func private @callee
// CHECK:         [[THREE:%.*]] = arith.constant 3 : i32
// CHECK:         func.return [[THREE]], %y
// CHECK-LABEL: func.func @caller
// CHECK:         func.call @callee([[T:%.*]], %y)
// CHECK:         func.call @callee([[T]], %x)
// CHECK:         func.return [[T]]
func.func private @callee(%x: i32, %y: i32) -> (i32, i32) {
  func.return %x, %y : i32, i32
}
func.func @caller(%x: i32, %y: i32) -> i32 {
  %three = arith.constant 3 : i32
  %0, %1 = func.call @callee(%three, %y) : (i32, i32) -> (i32, i32)
  %2, %3 = func.call @callee(%three, %x) : (i32, i32) -> (i32, i32)
  func.return %2 : i32
}

// -----

// What must not be touched. UNCHANGED cases: a public callee, a function used as a value, calls with
// different arguments, an operation without a fold, values that differ, floats that differ in sign.
// UNCHANGED: @public
func.func @public(%x: i32) -> i32 {
  func.return %x : i32
}
// UNCHANGED: @calls_public
func.func @calls_public() -> i32 {
  %one = arith.constant 1 : i32
  %0 = func.call @public(%one) : (i32) -> i32
  func.return %0 : i32
}
// UNCHANGED: @taken
func.func private @taken(%x: i32) -> i32 {
  func.return %x : i32
}
// UNCHANGED: @takes
func.func @takes() -> i32 {
  %one = arith.constant 1 : i32
  %f = "func.constant"() {value = @taken} : () -> ((i32) -> i32)
  "test.use"(%f) : ((i32) -> i32) -> ()
  %0 = func.call @taken(%one) : (i32) -> i32
  func.return %0 : i32
}
// UNCHANGED: @differ
func.func private @differ(%x: i32) -> i32 {
  func.return %x : i32
}
// UNCHANGED: @calls_differ
func.func @calls_differ() -> (i32, i32) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %0 = func.call @differ(%one) : (i32) -> i32
  %1 = func.call @differ(%two) : (i32) -> i32
  func.return %0, %1 : i32, i32
}
// UNCHANGED: @zeros
func.func @zeros(%c: i1) -> f32 {
  %plus = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %0 = scf.if %c -> (f32) {
    scf.yield %plus : f32
  } else {
    scf.yield %minus : f32
  }
  func.return %0 : f32
}
// UNCHANGED: @unknown
func.func @unknown() -> i32 {
  %one = arith.constant 1 : i32
  %0 = "test.op"(%one) : (i32) -> i32
  %1 = "test.region"(%one) ({
  ^bb0(%x: i32):
    "test.yield"(%one) : (i32) -> ()
  }) : (i32) -> i32
  %2 = arith.addi %0, %1 : i32
  func.return %2 : i32
}
// UNCHANGED: @counts
func.func @counts(%n: index) -> i32 {
  %one = arith.constant 1 : i32
  %0 = scf.for %i = %n to %n step %n iter_args(%a = %one) -> (i32) {
    %1 = arith.addi %a, %one : i32
    scf.yield %1 : i32
  }
  func.return %0 : i32
}
// UNCHANGED: @skipped
func.func @skipped() -> i32 attributes {passline.skip_optimization} {
  %one = arith.constant 1 : i32
  %0 = arith.addi %one, %one : i32
  func.return %0 : i32
}
// UNCHANGED: @division
func.func @division() -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0 = arith.divsi %one, %zero : i32
  func.return %0 : i32
}

// An operation without operands whose result is a constant is none itself.
// CHECK-LABEL: @executed(
// CHECK-NEXT:    [[one:%.*]] = arith.constant 1 : i64
// CHECK:         scf.yield [[one]], [[one]] : i64, i64
// CHECK:         func.return [[one]]
func.func @executed() -> (i64, i64) {
  %0 = scf.execute_region -> i64 {
    %2 = arith.constant 1 : i64
    scf.yield %2 : i64
  }
  %1, %3 = scf.execute_region -> (i64, i64) {
    %2 = arith.constant 1 : i64
    "test.op"() : () -> ()
    scf.yield %2, %2 : i64, i64
  }
  func.return %0, %1 : i64, i64
}
