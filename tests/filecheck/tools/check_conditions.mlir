// RUN: not passline-opt %s -p canonicalize,lower-scf --check-conditions 2>&1 | filecheck %s
// RUN: not passline-opt %s -p canonicalize,lower-scf --check-conditions=always 2>&1 | filecheck %s
// RUN: not passline-opt %s -p lower-scf 2>&1 | filecheck %s --check-prefix=NEVER
// RUN: not passline-opt %s -p lower-scf --check-conditions=never 2>&1 | filecheck %s --check-prefix=NEVER
// RUN: not passline-opt %s --check-conditions=sometimes 2>&1 | filecheck %s --check-prefix=CHOICE
// RUN: passline-opt --help-pass=lower-scf | filecheck %s --check-prefix=HELP
// RUN: passline-opt --list-conditions | filecheck %s --check-prefix=LIST

// CHECK:      check_conditions.mlir:29:3: error: pass 'lower-scf' requires 'no-scf-in-prim-funcs'
// CHECK-SAME: (no tir.prim_func, which has one block, has loops of scf in it),
// CHECK-SAME: but 'scf.if' is in a tir.prim_func, which has one block: run lower-tir first
// CHECK-NEXT:   scf.if
// CHECK:      note: no pass has changed it
// CHECK:      note: in pass 'lower-scf' (2 of 2)

// NEVER:      error: 'scf.if' at {{.*}}:29:3 is in a tir.prim_func, which has one block: run lower-tir first
// NEVER-NEXT: note: in pass 'lower-scf' (1 of 1)

// CHOICE: argument --check-conditions: invalid choice: 'sometimes' (choose from 'never', 'changed', 'always')

// HELP: requires that no tir.prim_func, which has one block, has loops of scf in it (no-scf-in-prim-funcs)

// LIST:      no-op-of(NAME, ...)
// LIST:      static-shapes: the sizes of all tensors, buffers and vectors are known
// LIST:      a-normal-form: no operation is in a dataflow graph, so that all are in order
// LIST-NEXT:     after to-a-normal-form

tir.prim_func @f(%c: i1, %x: memref<f32>, %y: f32) {
  scf.if %c {
    memref.store %y, %x[] : memref<f32>
  }
}
