%0 = "test.op"() : () -> i32 loc("file.mlir":10:20)
%1 = "test.op"(%0) : (i32) -> i32 loc("file.mlir":11:20)
%2 = arith.addi %0, %1 : i32 loc("file.mlir":12:1)
%3 = arith.addi %2, %1 : i32 loc("file.mlir":13:1)
%4 = arith.addi %2, %1 : i32 loc(unknown)
%5 = arith.addi %2, %1 : i32   // a comment
  %6 =
    arith.addi %2,
      %1 : i32
