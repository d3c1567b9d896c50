func.func @loops(%a: index, %b: index, %c: index, %x: f32, %p: i1) -> f32 {
  scf.for %i = %a to %b step %c {
    %0 = arith.addi %i, %a : index
  }
  scf.for %j = %a to %b step %c {
    %1 = arith.addi %j, %a : index
    scf.for %k = %a to %j step %c {
      %2 = arith.addi %k, %1 : index
    }
  }
  %r = scf.for %i = %a to %b step %c iter_args(%s = %x) -> (f32) {
    %3 = arith.addf %s, %x : f32
    scf.yield %3 : f32
  }
  %t:2 = scf.for %i = %a to %b step %c iter_args(%s = %x, %u = %a) -> (f32, index) {
    scf.yield %s, %i : f32, index
  }
  scf.if %p {
    %4 = arith.addf %x, %x : f32
  }
  scf.if %p {
    %5 = arith.addf %x, %x : f32
  } else {
    %6 = arith.mulf %x, %x : f32
  }
  %v = scf.if %p -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %r : f32
  }
  %w = scf.while (%s = %x) : (f32) -> f32 {
    scf.condition(%p) %s : f32
  } do {
  ^bb0(%s: f32):
    %7 = arith.addf %s, %s : f32
    scf.yield %7 : f32
  }
  scf.for %i = %a to %b step %c {
    %8 = arith.addi %i, %a : index
  } {test.x = 1 : i32}
  func.return %v : f32
}
// -----
func.func @branches(%p: i1, %a: i32) -> i32 {
  cf.cond_br %p, ^one(%a : i32), ^two
^one(%x: i32):
  cf.assert %p, "message"
  cf.br ^two
^two:
  cf.switch %a : i32, [
    default: ^three,
    1: ^four(%a : i32),
    2: ^four(%a : i32)
  ]
^three:
  func.return %a : i32
^four(%y: i32):
  func.return %y : i32
}
// -----
%a = "test.op"() : () -> i32
%b = "test.op"() : () -> index
"scf.for"(%b, %b, %a) ({
^bb0(%i: index):
  "scf.yield"() : () -> ()
}) : (index, index, i32) -> ()
// -----
%b = "test.op"() : () -> index
"scf.for"(%b, %b, %b) ({
^bb0(%i: i32):
  "scf.yield"() : () -> ()
}) : (index, index, index) -> ()
// -----
%b = "test.op"() : () -> index
%r = "scf.for"(%b, %b, %b, %b) ({
^bb0(%i: index, %s: index):
  "scf.yield"() : () -> ()
}) : (index, index, index, index) -> index
// -----
%p = "test.op"() : () -> i1
"scf.if"(%p) ({
  "scf.yield"() : () -> ()
}, {
  "test.op"() : () -> ()
}) : (i1) -> ()
// -----
func.func @wrong(%a: i32) -> i64 {
  func.return %a : i32
}
// -----
func.func @undefined() {
  func.call @nothing() : () -> ()
  func.return
}
// -----
func.func @declared(i32) -> i64
func.func @called(%a: i64) {
  %0 = "func.call"(%a) <{callee = @declared}> : (i64) -> i64
  func.return
}
// -----
func.func @order() {
  %0 = "test.op"(%1) : (i32) -> i32
  %1 = "test.op"() : () -> i32
  func.return
}
// -----
func.func @twice() {
  func.return
}
func.func @twice() {
  func.return
}
// -----
func.func @no_terminator() {
  %0 = "test.op"() : () -> i32
}
// -----
func.func @middle() {
  func.return
  func.return
}
