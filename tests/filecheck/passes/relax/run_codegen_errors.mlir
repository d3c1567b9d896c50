// RUN: not passline-opt %s -p run-codegen 2>&1 | filecheck %s
// RUN: not passline-opt %s -p 'run-codegen{entry-functions=mian}' 2>&1 | filecheck %s --check-prefix=ENTRY
// RUN: not passline-opt %s -p 'run-codegen{entry-functions=other}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not passline-opt %s -p 'fuse-ops-by-pattern{codegens=onnxruntim}' 2>&1 | filecheck %s --check-prefix=NAME

// ENTRY: entry function @mian is not in the module, did you mean 'main'?
// NAME: there is no back end 'onnxruntim', did you mean 'onnxruntime'?

// CHECK-DAG: cannot be compiled by 'onnxruntime': onnxruntime does not compute 'relax.floor' at {{.*}}:23:8 with these types and properties
// CHECK-DAG: is public, and has relax.codegen
// CHECK-DAG: relax.codegen is 3 : i64: expected the name of a back end
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @floor(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @public(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.codegen = "onnxruntime"} {
  return %x : tensor<4xf32>
}
func.func private @number(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.codegen = 3 : i64} {
  return %x : tensor<4xf32>
}
func.func private @floor(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.codegen = "onnxruntime"} {
  %0 = relax.floor %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @other(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @unknown(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @unknown(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.codegen = "onnxruntim"} {
  return %x : tensor<4xf32>
}
