%0 = arith.constant 1 : i32
%1 = arith.constant 2 : i32
%2 = arith.addi %0, %1
// -----
%0 = arith.constant 1 : i32
%1 = arith.addi %0, %0 : i32
%2 = arith.addi %0, %undefined : i32
// -----
%0 = arith.constant 1 : i32
%1 = arith.addi %0, %0 : i32
%1 = arith.addi %0, %0 : i32
// -----
%0 = arith.constant 1 : i32
%1 = arith.addi %0, %0 : i32
%2 = arith.addi %0, %0 : i64
// -----
%0 = arith.constant 300 : i8
// -----
%0 = arith.constant 1.5 : i8
// -----
%0 = arith.nothing %x : i32
// -----
"test.op"() {a = } : () -> ()
// -----
"test.op"() {a = 1 : i32 : () -> ()
// -----
"test.op"() {a = 1, a = 2} : () -> ()
// -----
"test.op"() {a = #undefined} : () -> !undefined
// -----
"test.op"() {a = "open} : () -> ()
// -----
"test.op"() : () -> tensor<2xnothing>
// -----
"test.op"() : () -> tensor<2x3
// -----
"test.op"() ({ : () -> ()
// -----
"test.op"() ({
  cf.br ^nowhere
}) : () -> ()
// -----
%0, %1 = "test.op"() : () -> i32
// -----
func.func @f(%a: i32, %a: i32) { func.return }
// -----
func.func @f() -> i32 { func.return
// -----
"test.op"(%a#1) : (i32) -> ()
%a = "test.op"() : () -> i32
// -----
?
// -----
"test.op"() {a = dense<[1, 2]> : tensor<3xi32>} : () -> ()
// -----
"test.op"() {a = dense<[[1], [2, 3]]> : tensor<2x2xi32>} : () -> ()
// -----
"test.op"() {a = array<i8: 1000>} : () -> ()
// -----
scf.for %i = %a to %b step %c {
}
