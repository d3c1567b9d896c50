%0 = "test.op"() : () -> i32
%1, %2 = "test.op"(%0) : (i32) -> (i32, i64)
%3:2 = "test.op"(%0, %1) : (i32, i32) -> (i32, i32)
"test.op"(%3#0, %3#1, %2) : (i32, i32, i64) -> ()
%a = "test.op"(%a1) : (i32) -> i32
%a1 = "test.op"() : () -> i32
%a_1 = "test.op"(%a, %a) : (i32, i32) -> i32
%a_0 = "test.op"(%a_1, %a) : (i32, i32) -> i32
%_x, %y$z, %w.v, %u-t = "test.op"() : () -> (i32, i32, i32, i32)
"test.op"(%_x, %y$z, %w.v, %u-t) : (i32, i32, i32, i32) -> ()
%x:3, %y = "test.op"() : () -> (i1, i2, i3, i4)
"test.op"(%x#2, %x#0, %y, %x#1) : (i3, i1, i4, i2) -> ()
%007 = "test.op"() : () -> i32
%val = "test.op"(%007) : (i32) -> i32
%val1 = "test.op"(%val) : (i32) -> i32
"test.op"(%val1) : (i32) -> ()
// -----
func.func @f(%arg0: i32, %a: i32) -> i32 {
  %0 = arith.addi %arg0, %a : i32
  %b = arith.muli %0, %a : i32
  func.return %b : i32
}
func.func @g(%a: i32, %b: i32) -> i32 {
  %a_0 = arith.addi %a, %b : i32
  %0 = arith.muli %a_0, %a : i32
  func.return %0 : i32
}
func.func private @h(i32, f32) -> (i32, f32)
func.func @i(%a: i32 {test.x = 1 : i32}, %b: f32 {test.y}) -> (i32 {test.z = "r"}, f32) attributes {test.attr = "v"} {
  %r:2 = func.call @h(%a, %b) : (i32, f32) -> (i32, f32)
  func.return %r#0, %r#1 : i32, f32
}
func.func @j(%a: i32, %b: f32) -> (i32, f32) {
  %r:2 = func.call @h(%a, %b) : (i32, f32) -> (i32, f32)
  %s:2 = func.call @h(%r#0, %r#1) : (i32, f32) -> (i32, f32)
  func.return %s#0, %r#1 : i32, f32
}
func.func @"a name"() {
  func.return
}
func.func @k(%f: (i32) -> i32) -> ((i32) -> i32) {
  func.return %f : (i32) -> i32
}
// -----
func.func @blocks(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^then, ^else(%a : i32)
^then:
  %0 = arith.addi %a, %a : i32
  cf.br ^end(%0, %a : i32, i32)
^else(%x: i32):
  %1 = arith.muli %x, %x : i32
  cf.br ^end(%1, %x : i32, i32)
^end(%r: i32, %s: i32):
  func.return %r : i32
}
func.func @numbered(%c: i1) {
  cf.br ^bb1
^bb1:
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
  cf.br ^x3
^x3:
  func.return
}
// -----
"test.op"() ({
^bb0(%a: i32, %b: f32):
  "test.op"(%a) : (i32) -> ()
  "test.termop"()[^bb1, ^bb0] : () -> ()
^bb1:
  %c = "test.op"(%b) : (f32) -> i32
  "test.termop"() : () -> ()
}, {
}, {
  "test.termop"() : () -> ()
}) : () -> ()
"test.op"() ({
^bb0:
  %a = "test.op"() : () -> i32
  "test.op"() ({
    %b = "test.op"(%a) : (i32) -> i32
    "test.op"() ({
      "test.op"(%a, %b) : (i32, i32) -> ()
    }) : () -> ()
  }) : () -> ()
  "test.op"(%a) : (i32) -> ()
}) : () -> ()
// -----
builtin.module @named attributes {test.x = 1 : i32} {
  builtin.module {
  }
  %0 = "test.op"() : () -> i32
}
builtin.module @other {
  %0 = "test.op"() : () -> i32
  %x = "test.op"(%0) : (i32) -> i32
}
"builtin.module"() ({
  %0 = builtin.unrealized_conversion_cast to i32
  %1 = builtin.unrealized_conversion_cast %0 : i32 to i64
  %2:2 = builtin.unrealized_conversion_cast %0, %1 : i32, i64 to f32, f64
}) {a = 1 : i32} : () -> ()
