// RUN: passline-opt %s -p 'tir-bind-target{target=x86-64-v4}' --split-input-file | filecheck %s
// RUN: passline-opt %s -p 'tir-bind-target{target=aarch64 keep=true}' --split-input-file | filecheck %s --check-prefix=KEEP
// RUN: passline-opt %s --target=x86-64-v2 --split-input-file | filecheck %s --check-prefix=OPTION

// CHECK:       builtin.module attributes {tir.target = "x86-64-v4"} {
// CHECK-NEXT:    tir.prim_func @f
// KEEP:        builtin.module attributes {tir.target = "aarch64"} {
// OPTION:      builtin.module attributes {tir.target = "x86-64-v2"} {
tir.prim_func @f(%x: memref<8xf32>) {
}

// -----

// CHECK:       builtin.module attributes {tir.target = "x86-64-v4"} {
// KEEP:        builtin.module attributes {tir.target = "x86-64-v3{cores=8}"} {
// OPTION:      builtin.module attributes {tir.target = "x86-64-v2"} {
builtin.module attributes {tir.target = "x86-64-v3{cores=8}"} {
  tir.prim_func @f(%x: memref<8xf32>) {
  }
}
