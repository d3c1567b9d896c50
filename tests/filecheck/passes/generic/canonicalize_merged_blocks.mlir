// RUN: passline-opt %s -p 'canonicalize{region-simplify=aggressive}' | filecheck %s

// Blocks that are merged on demand.

// Equal blocks become one, with arguments for what differs.
// CHECK-LABEL: @merged(
// CHECK-NEXT:    "test.op"() : () -> ()
// CHECK-NEXT:    {{%.*}} = arith.select %c, %x, %y : i32
// CHECK-NEXT:    "test.op"({{%.*}}) : (i32) -> ()
// CHECK-NEXT:    func.return {{%.*}} : i32
func.func @merged(%c: i1, %x: i32, %y: i32) -> i32 {
  "test.op"() : () -> ()
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  "test.op"(%x) : (i32) -> ()
  func.return %x : i32
^bb2:
  "test.op"(%y) : (i32) -> ()
  func.return %y : i32
}

// What comes before merged blocks may be equal then.
// CHECK-LABEL: @chain(
// CHECK-NEXT:    "test.op"() : () -> ()
// CHECK-NEXT:    "test.op"(%n) : (i32) -> ()
// CHECK-NEXT:    "test.op"(%x) : (i32) -> ()
// CHECK-NEXT:    func.return
func.func @chain(%n: i32, %x: i32) {
  "test.op"() : () -> ()
  cf.switch %n : i32, [
    default: ^bb1,
    1: ^bb2
  ]
^bb1:
  "test.op"(%n) : (i32) -> ()
  cf.br ^bb3
^bb2:
  "test.op"(%n) : (i32) -> ()
  cf.br ^bb4
^bb3:
  "test.op"(%x) : (i32) -> ()
  func.return
^bb4:
  "test.op"(%x) : (i32) -> ()
  func.return
}

// Blocks with other operations stay.
// UNCHANGED: @different
func.func @different(%c: i1, %x: i32) -> i32 {
  "test.op"() : () -> ()
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = "test.op"(%x) : (i32) -> i32
  func.return %0 : i32
^bb2:
  %1 = "test.op"(%x) {a = 1 : i32} : (i32) -> i32
  func.return %1 : i32
}
