// RUN: passline-opt %s -p strip-debuginfo --print-debuginfo | filecheck %s

// CHECK: func.func @main(%x: i32 loc(unknown)
// CHECK-NEXT: arith.addi %x, %x : i32 loc(unknown)
// CHECK-NEXT: func.return %{{.*}} : i32 loc(unknown)
func.func @main(%x: i32 loc("x")) -> i32 {
  %0 = arith.addi %x, %x : i32 loc("file.py":3:4)
  return %0 : i32
}
