// RUN: my-compiler-opt %s --verify-diagnostics

func.func @f(%x: i64) -> i64 {
  // expected-error@+1 {{the exponent is -1, less than 0}}
  %y = my_compiler.power %x, -1
  func.return %y : i64
}
