// RUN: passline-opt %s -p 'snapshot-op-locations{filename=%t.snapshot}' --print-debuginfo | filecheck %s
// RUN: passline-opt %s -p 'snapshot-op-locations{filename=%t.snapshot tag=seen}' --print-debuginfo | filecheck %s --check-prefix=TAG

// CHECK: arith.addi %x, %x : i32 loc("{{.*}}.snapshot":3:10)
// TAG: arith.addi %x, %x : i32 loc(fused["file.py":3:4, "seen"("{{.*}}.snapshot":3:10)])
func.func @main(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32 loc("file.py":3:4)
  return %0 : i32
}
