// RUN: my-compiler-opt %s | my-compiler-opt | filecheck %s
// RUN: my-compiler-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

func.func @f(%x: i64) -> i64 {
  %y = my_compiler.power %x, 3
  func.return %y : i64
}

// CHECK:      %y = my_compiler.power %x, 3
// GENERIC:    "my_compiler.power"(%x) <{exponent = 3 : i64}> : (i64) -> i64
