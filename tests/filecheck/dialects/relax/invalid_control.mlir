// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: invalid_control.mlir:6:8: error: 'relax.tuple_get_item' op index 2 is out of bounds of tuple<tensor<f32>, i1>, which has 2
// CHECK-NEXT: %0 = relax.tuple_get_item %t {index = 2}
func.func @index(%t : tuple<tensor<f32>, i1>) {
  %0 = relax.tuple_get_item %t {index = 2} : (tuple<tensor<f32>, i1>) -> i1
  return
}

// -----

// CHECK: 'relax.tuple_get_item' op result type i1 does not match inferred tensor<f32> for operands tuple<tensor<f32>, i1>
func.func @element(%t : tuple<tensor<f32>, i1>) {
  %0 = relax.tuple_get_item %t {index = 0} : (tuple<tensor<f32>, i1>) -> i1
  return
}

// -----

// CHECK: 'relax.tuple' op result type tuple<tensor<f32>> does not match inferred tuple<tensor<f32>, i1> for operands tensor<f32>, i1
func.func @tuple(%x : tensor<f32>, %y : i1) {
  %0 = relax.tuple %x, %y : (tensor<f32>, i1) -> tuple<tensor<f32>>
  return
}

// -----

// CHECK: 'relax.match_cast' op cannot cast tuple<tensor<4xf32>> to tuple<tensor<5xf32>>
func.func @match_cast(%t : tuple<tensor<4xf32>>) {
  %0 = relax.match_cast %t : (tuple<tensor<4xf32>>) -> tuple<tensor<5xf32>>
  return
}

// -----

// CHECK: 'relax.lambda' op has results of types (tensor<4xf32>), but its region ends with (tensor<?xf32>)
func.func @yield(%x : tensor<?xf32>) {
  %f = relax.lambda() -> tensor<4xf32> {
    relax.yield %x : tensor<?xf32>
  }
  return
}

// -----

// CHECK: 'relax.lambda' op has type (i1) -> (), but its body takes (i32)
func.func @argument() {
  %f = "relax.lambda"() ({
  ^bb0(%x : i32):
    "relax.yield"() : () -> ()
  }) : () -> ((i1) -> ())
  return
}

// -----

// CHECK: 'relax.output' op expects parent op 'relax.graph'
func.func @end() {
  %f = "relax.lambda"() ({
    "relax.output"() : () -> ()
  }) : () -> (() -> ())
  return
}

// -----

// CHECK: 'relax.invoke' op calls a function of type (tensor<?xf32>) -> () as (tensor<4xf32>) -> ()
func.func @invoke_argument(%f : (tensor<?xf32>) -> (), %x : tensor<4xf32>) {
  "relax.invoke"(%f, %x) : ((tensor<?xf32>) -> (), tensor<4xf32>) -> ()
  return
}

// -----

// CHECK: 'relax.invoke' op argument 1 of the function is i1, but i32 is given
func.func @invoke_type(%f : (i1, i1) -> (), %x : i1, %y : i32) {
  "relax.invoke"(%f, %x, %y) : ((i1, i1) -> (), i1, i32) -> ()
  return
}

// -----

// CHECK: 'relax.invoke' op the function of type (i1, i1) -> () takes 2 arguments, but 1 is given
func.func @invoke_count(%f : (i1, i1) -> (), %x : i1) {
  "relax.invoke"(%f, %x) : ((i1, i1) -> (), i1) -> ()
  return
}

// -----

// CHECK: 'relax.invoke' op calls a function of type () -> tensor<4xf32> as () -> tensor<?xf32>
func.func @invoke_result(%f : () -> tensor<4xf32>) {
  %0 = "relax.invoke"(%f) : (() -> tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

// CHECK: operand 'callee' at position 0 does not verify
func.func @invoke_value(%x : i1) {
  "relax.invoke"(%x) : (i1) -> ()
  return
}

// -----

// CHECK: 'relax.graph' op has a cycle: 'relax.exp' at {{.*}}invalid_control.mlir:111:10 depends on its own result
func.func @cycle(%x : tensor<f32>) {
  relax.graph {
    %0 = relax.add %x, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %1 = relax.exp %0 : (tensor<f32>) -> tensor<f32>
  }
  return
}

// -----

// CHECK: 'relax.graph' op has a cycle: 'relax.lambda' at {{.*}} depends on its own result
func.func @recursive_lambda() {
  relax.graph {
    %f = relax.lambda() {
      relax.invoke %f() : () -> ()
    }
  }
  return
}

// -----

// CHECK: 'relax.invoke' op operand #0 does not dominate this use
func.func @lambda_dominance() {
  %f = relax.lambda() {
    relax.invoke %f() : () -> ()
  }
  return
}

// -----

// What is not directly in the graph has an order.
// CHECK: 'relax.exp' op operand #0 does not dominate this use
func.func @graph_dominance(%x : tensor<f32>) {
  relax.graph {
    %f = relax.lambda() {
      %0 = relax.exp %1 : (tensor<f32>) -> tensor<f32>
      %1 = relax.exp %x : (tensor<f32>) -> tensor<f32>
    }
  }
  return
}

// -----

// Values of a graph are not visible outside of it.
// CHECK: error: use of undeclared SSA value name %0
func.func @graph_scope(%x : tensor<f32>) -> tensor<f32> {
  relax.graph {
    %0 = relax.exp %x : (tensor<f32>) -> tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// CHECK: 'relax.graph' op has results of types (i1), but its region ends with ()
func.func @graph_results() {
  %0 = relax.graph -> i1 {
  }
  return
}

// -----

// CHECK: 'relax.graph' op takes no arguments, but its region does
func.func @graph_arguments() {
  "relax.graph"() ({
  ^bb0(%x : i1):
    "relax.output"() : () -> ()
  }) : () -> ()
  return
}

// -----

// CHECK: 'relax.call_tir' op calls @missing, which is not a symbol of the module
func.func @call_missing() {
  relax.call_tir @missing() : () -> ()
  return
}

// -----

// CHECK: 'relax.call_tir' op calls @module, which is a 'builtin.module', not a function
builtin.module @module {
}
func.func @call_module() {
  relax.call_tir @module() : () -> ()
  return
}

// -----

// CHECK: 'relax.call_tir' op calls @f, which returns results: a kernel writes them into buffers, its last parameters
func.func private @f() -> tensor<f32>
func.func @call_results() {
  %0 = relax.call_tir @f() : () -> tensor<f32>
  return
}

// -----

// CHECK: 'relax.call_tir' op calls @f with 1 operands and 1 results, but it has 1 parameters
func.func private @f(memref<f32>)
func.func @call_count(%x : tensor<f32>) {
  %0 = relax.call_tir @f(%x) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// CHECK: 'relax.call_tir' op calls @f with tensor<5xf32> for parameter 1, which is memref<4xf32>
func.func private @f(memref<4xf32>, memref<4xf32>)
func.func @call_type(%x : tensor<4xf32>) {
  %0 = relax.call_tir @f(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// CHECK: 'relax.call_tir' op result type i1 is not a tensor
func.func private @f(i1)
func.func @call_scalar() {
  %0 = relax.call_tir @f() : () -> i1
  return
}

// -----

// CHECK: invalid_control.mlir:241:50: error: unknown device type 'cudda', did you mean 'cuda'?; choose from cpu, cuda,
func.func @device(%x : tensor<f32>) {
  %0 = relax.on_device %x {device = #relax.device<cudda>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// CHECK: device number -1 is negative
%x = "test.op"() : () -> tensor<f32>
%0 = relax.on_device %x {device = #relax.device<cuda:-1>} : (tensor<f32>) -> tensor<f32>

// -----

// CHECK: 'relax.device_copy' op property 'dst' expected
%x = "test.op"() : () -> tensor<f32>
%0 = relax.device_copy %x {src = #relax.device<cpu>} : (tensor<f32>) -> tensor<f32>

// -----

// CHECK: 'relax.make_closure' op refers to @g, which is not a symbol of the module
%f = relax.make_closure @g() : () -> (() -> ())

// -----

// CHECK: 'relax.make_closure' op refers to @m, which is a 'builtin.module', not a function
module @m {
}
%f = relax.make_closure @m() : () -> (() -> ())

// -----

// CHECK: 'relax.make_closure' op captures (i32), but the first parameters of @g are (i1)
func.func private @g(i1, i32)
func.func @captured(%x : i32) {
  %f = relax.make_closure @g(%x) : (i32) -> ((i32) -> ())
  return
}

// -----

// CHECK: 'relax.make_closure' op captures (i1, i1), but the first parameters of @g are (i1)
func.func private @g(i1)
func.func @too_many(%x : i1) {
  %f = relax.make_closure @g(%x, %x) : (i1, i1) -> (() -> ())
  return
}

// -----

// CHECK: 'relax.make_closure' op has type (i1) -> (), but a closure of @g has type (i32) -> ()
func.func private @g(i1, i32)
func.func @type(%x : i1) {
  %f = relax.make_closure @g(%x) : (i1) -> ((i1) -> ())
  return
}

// -----

// CHECK: 'relax.call_tir' op has 1 sizes, expected 2: one for each unknown dimension of the results
func.func private @f(memref<?x?xf32>)
func.func @call_sizes(%n : index) {
  %0 = relax.call_tir @f() sizes(%n) : () -> tensor<?x?xf32>
  return
}

// -----

// CHECK: 'relax.call_tir_inplace' op has 1 sizes, expected 0: one for each unknown dimension of the results
func.func private @f(memref<?xf32>)
func.func @call_inplace_sizes(%x : tensor<?xf32>, %n : index) {
  %0 = relax.call_tir_inplace @f(%x) sizes(%n) {inplace_indices = array<i64: 0>} : (tensor<?xf32>) -> tensor<?xf32>
  return
}
