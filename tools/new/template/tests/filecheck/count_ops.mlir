// RUN: my-compiler-opt %s -p my-compiler-expand --count-ops 2>&1 >/dev/null | filecheck %s

// CHECK:      my-compiler-simplify: 2 -> 1 operations
// CHECK-NEXT: my-compiler-expand: 1 -> 0 operations
func.func @f(%x: i64) -> i64 {
  %a = my_compiler.power %x, 2
  %b = my_compiler.power %a, 2
  func.return %b : i64
}
