// RUN: passline-opt %s --run-reproducer --dump-pass-pipeline 2>&1 >/dev/null | filecheck %s

// The pipeline of a file, with comments in its resource.

// CHECK:      builtin.module(
// CHECK-NEXT:   func.func(
// CHECK-NEXT:     cse
// CHECK-NEXT:   )
// CHECK-NEXT: )

func.func @f() {
  func.return
}

{-#
  external_resources: {
    mlir_reproducer: {
      // a comment with braces { and a field, pipeline: "canonicalize"
      pipeline: "builtin.module(func.func(cse))",
      verify_each: true
    }
  }
#-}
