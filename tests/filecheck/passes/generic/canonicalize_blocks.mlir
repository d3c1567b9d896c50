// RUN: passline-opt %s -p canonicalize | filecheck %s

// A branch goes to the end of a chain of blocks that only branch on, with the arguments there.
// CHECK-LABEL: @chain
// CHECK-NEXT:    [[W:%.*]] = arith.select %c, %x, %y : i32
// CHECK-NEXT:    func.return [[W]] : i32
func.func @chain(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^bb1(%x : i32), ^bb2
^bb1(%v: i32):
  cf.br ^bb3(%v : i32)
^bb2:
  cf.br ^bb3(%y : i32)
^bb3(%w: i32):
  func.return %w : i32
}

// Blocks that only branch to each other. (An operation without semantics comes first: nothing can
// compute these functions, which never end.)
// CHECK-LABEL: @cycle
// CHECK-NEXT:    "test.op"
// CHECK-NEXT:    cf.br ^bb1
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    cf.br ^bb1
func.func @cycle() {
  "test.op"() : () -> ()
  cf.br ^bb1
^bb1:
  cf.br ^bb2
^bb2:
  cf.br ^bb3
^bb3:
  cf.br ^bb1
}

// Two ways into a cycle; what passes around in it as arguments, nobody needs.
// CHECK-LABEL: @entered
// CHECK-NEXT:    "test.op"
// CHECK-NEXT:    cf.cond_br %c, ^bb1, ^bb2
// CHECK-NEXT:  ^bb1
// CHECK-NEXT:    cf.br ^bb2
// CHECK-NEXT:  ^bb2
// CHECK-NEXT:    cf.br ^bb1
func.func @entered(%c: i1, %x: i32, %y: i32) {
  "test.op"() : () -> ()
  cf.cond_br %c, ^bb1(%x, %y : i32, i32), ^bb2(%x, %y : i32, i32)
^bb1(%a: i32, %b: i32):
  cf.br ^bb2(%b, %a : i32, i32)
^bb2(%d: i32, %e: i32):
  cf.br ^bb3(%d, %e : i32, i32)
^bb3(%f: i32, %g: i32):
  cf.br ^bb1(%f, %g : i32, i32)
}

// Switches and conditional branches into cycles, and to themselves.
// CHECK-LABEL: @switch
// CHECK-NEXT:    "test.op"
// CHECK-NEXT:    cf.switch %n : i32, [
// CHECK-NEXT:      default: ^bb1,
// CHECK-NEXT:      7: ^bb2
// CHECK-NEXT:    ]
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    cf.cond_br %c, ^bb1, ^bb2
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    cf.br ^bb2
func.func @switch(%n: i32, %c: i1) {
  "test.op"() : () -> ()
  cf.switch %n : i32, [
    default: ^bb1,
    7: ^bb2
  ]
^bb1:
  cf.cond_br %c, ^bb1, ^bb3
^bb2:
  cf.br ^bb4
^bb3:
  cf.br ^bb2
^bb4:
  cf.br ^bb2
}
