// RUN: passline-opt %s -p infer-type --split-input-file | filecheck %s
// RUN: passline-opt %s -p infer-type,infer-type --split-input-file | filecheck %s

// A chain of operations, a broadcast, and the function that returns it.
// CHECK-LABEL: func.func @broadcast(%x: tensor<10x4xf32>, %y: tensor<5x10x1xf32>) -> tensor<5x10x4xf32>
func.func @broadcast(%x : tensor<10x4xf32>, %y : tensor<5x10x1xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: relax.log %x : (tensor<10x4xf32>) -> tensor<10x4xf32>
  %0 = relax.log %x : (tensor<10x4xf32>) -> tensor<*xf32>
  // CHECK-NEXT: relax.add %{{.*}}, %y : (tensor<10x4xf32>, tensor<5x10x1xf32>) -> tensor<5x10x4xf32>
  %1 = relax.add %0, %y : (tensor<*xf32>, tensor<5x10x1xf32>) -> tensor<*xf32>
  // CHECK-NEXT: func.return %{{.*}} : tensor<5x10x4xf32>
  return %1 : tensor<*xf32>
}

// -----

// A type that is declared more precisely than can be inferred stays.
// CHECK-LABEL: @declared
func.func @declared(%x : tensor<?x?xf32>) -> tensor<4x?xf32> {
  // CHECK-NEXT: relax.exp %x : (tensor<?x?xf32>) -> tensor<4x?xf32>
  %0 = relax.exp %x : (tensor<?x?xf32>) -> tensor<4x?xf32>
  // CHECK-NEXT: relax.exp %{{.*}} : (tensor<4x?xf32>) -> tensor<4x8xf32>
  %1 = relax.exp %0 : (tensor<4x?xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: tensor.cast %{{.*}} : tensor<4x8xf32> to tensor<?x8xf32>
  // CHECK-NEXT: "test.op"(%{{.*}}) : (tensor<?x8xf32>) -> ()
  "test.op"(%1) : (tensor<?x8xf32>) -> ()
  // CHECK-NEXT: func.return %{{.*}} : tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// -----

// Dynamic: [?] called with [10] is accepted, and both parameters stay.
// UNCHANGED: @dynamic
func.func @dynamic(%x : tensor<?xf32>) -> tensor<?xf32> {
  %0 = relax.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// CHECK-LABEL: func.func @main(%x: tensor<10xf32>) -> tensor<?xf32>
func.func @main(%x : tensor<10xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: [[E:%.*]] = relax.exp %x : (tensor<10xf32>) -> tensor<10xf32>
  // CHECK-NEXT: [[C:%.*]] = tensor.cast [[E]] : tensor<10xf32> to tensor<?xf32>
  %0 = relax.exp %x : (tensor<10xf32>) -> tensor<?xf32>
  // CHECK-NEXT: func.call @dynamic([[C]]) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = func.call @dynamic(%0) : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// A result that has the precise type already: nothing changes.
// UNCHANGED: @precise
func.func @precise(%x : tensor<4x4xf16>) -> tensor<4x4xf16> {
  %0 = relax.matmul %x, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  return %0 : tensor<4x4xf16>
}

// -----

// A module in the module has functions of its own.
// CHECK-LABEL: builtin.module @inner
builtin.module @inner {
  // CHECK-NEXT: func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
  func.func @f(%x : tensor<4xf32>) -> tensor<*xf32> {
    %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
    return %0 : tensor<*xf32>
  }
}

// -----

// A constant, and a chain on a scalar.
// CHECK-LABEL: func.func @scalars(%x: tensor<f32>) -> (tensor<f64>, tensor<f32>)
func.func @scalars(%x : tensor<f32>) -> (tensor<*xf64>, tensor<*xf32>) {
  %0 = relax.constant dense<1.0> : tensor<f64>
  %1 = relax.exp %0 : (tensor<f64>) -> tensor<*xf64>
  %2 = relax.log %x : (tensor<f32>) -> tensor<*xf32>
  %3 = relax.add %2, %x : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  return %1, %3 : tensor<*xf64>, tensor<*xf32>
}

// -----

// Tuples, nested tuples, and their elements.
// CHECK-LABEL: func.func @tuples(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tuple<tensor<4xf32>>>
func.func @tuples(%x : tensor<4xf32>) -> tuple<tensor<?xf32>, tuple<tensor<*xf32>>> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
  // CHECK: relax.tuple %{{.*}} : (tensor<4xf32>) -> tuple<tensor<4xf32>>
  %1 = relax.tuple %0 : (tensor<*xf32>) -> tuple<tensor<*xf32>>
  // CHECK-NEXT: relax.tuple_get_item %{{.*}} {index = 0} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  %2 = relax.tuple_get_item %1 {index = 0} : (tuple<tensor<*xf32>>) -> tensor<?xf32>
  // CHECK-NEXT: relax.tuple %{{.*}}, %{{.*}} : (tensor<4xf32>, tuple<tensor<4xf32>>) -> tuple<tensor<4xf32>, tuple<tensor<4xf32>>>
  %3 = relax.tuple %2, %1 : (tensor<?xf32>, tuple<tensor<*xf32>>) -> tuple<tensor<?xf32>, tuple<tensor<*xf32>>>
  return %3 : tuple<tensor<?xf32>, tuple<tensor<*xf32>>>
}

// -----

// A parameter that is a function keeps its declared type, and so do its calls.
// CHECK-LABEL: func.func @apply(%f: (tensor<?xf32>) -> tensor<?xf32>, %x: tensor<4xf32>) -> tensor<?xf32>
func.func @apply(%f : (tensor<?xf32>) -> tensor<?xf32>, %x : tensor<4xf32>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<?xf32>
  %1 = relax.invoke %f(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %2 = relax.exp %1 : (tensor<?xf32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}
// CHECK-LABEL: func.func @applies(%x: tensor<4xf32>) -> tensor<?xf32>
func.func @applies(%x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: relax.lambda([[Y:%.*]]: tensor<?xf32>) -> tensor<4xf32> {
  %f = relax.lambda(%y : tensor<?xf32>) -> tensor<?xf32> {
    %0 = relax.add %y, %x : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
    relax.yield %0 : tensor<?xf32>
  }
  // CHECK: [[F:%.*]] = relax.match_cast %{{.*}} : ((tensor<?xf32>) -> tensor<4xf32>) -> ((tensor<?xf32>) -> tensor<?xf32>)
  // CHECK-NEXT: func.call @apply([[F]], %x)
  %1 = func.call @apply(%f, %x) : ((tensor<?xf32>) -> tensor<?xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// A graph, in dependence order, which differs from text order.
// CHECK-LABEL: func.func @graph(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @graph(%x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: relax.graph -> tensor<4xf32> {
  %0 = relax.graph -> tensor<*xf32> {
    // CHECK-NEXT: relax.invoke %{{.*}}() : () -> tensor<4xf32>
    // CHECK-NEXT: relax.lambda() -> tensor<4xf32> {
    // CHECK-NEXT: relax.tanh %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = relax.invoke %f() : () -> tensor<*xf32>
    %f = relax.lambda() -> tensor<*xf32> {
      %3 = relax.tanh %2 : (tensor<*xf32>) -> tensor<*xf32>
      relax.yield %3 : tensor<*xf32>
    }
    %2 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
    relax.output %1 : tensor<*xf32>
  }
  return %0 : tensor<*xf32>
}

// -----

// Annotations have the type of their operand; a kernel call keeps its type.
// CHECK-LABEL: func.func @annotations(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<?xf32>)
func.func private @kernel(memref<?xf32>, memref<?xf32>)
func.func @annotations(%x : tensor<4xf32>, %n : index) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
  %1 = relax.on_device %0 {device = #relax.device<cpu>} : (tensor<*xf32>) -> tensor<*xf32>
  %2 = relax.device_copy %1 {src = #relax.device<cpu>, dst = #relax.device<cuda>} : (tensor<*xf32>) -> tensor<*xf32>
  %3 = relax.stop_fusion %2 : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.call_tir @kernel(%{{.*}}) sizes(%n) : (tensor<4xf32>) -> tensor<?xf32>
  %4 = relax.call_tir @kernel(%3) sizes(%n) : (tensor<*xf32>) -> tensor<?xf32>
  %5 = relax.exp %4 : (tensor<?xf32>) -> tensor<*xf32>
  return %3, %5 : tensor<*xf32>, tensor<*xf32>
}

// -----

// A closure has the result types of its function, which may itself call closures.
// CHECK-LABEL: func.func @closure(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @closure(%x : tensor<4xf32>) -> tensor<*xf32> {
  // CHECK-NEXT: [[F:%.*]] = relax.make_closure @callee(%x) : (tensor<4xf32>) -> ((tensor<?xf32>) -> tensor<4xf32>)
  %f = relax.make_closure @callee(%x) : (tensor<4xf32>) -> ((tensor<?xf32>) -> tensor<*xf32>)
  // CHECK-NEXT: tensor.cast
  %0 = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  // CHECK-NEXT: relax.invoke [[F]](%{{.*}}) : (tensor<?xf32>) -> tensor<4xf32>
  %1 = relax.invoke %f(%0) : (tensor<?xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}
// CHECK-LABEL: func.func @callee(%x: tensor<4xf32>, %y: tensor<?xf32>) -> tensor<4xf32>
func.func @callee(%x : tensor<4xf32>, %y : tensor<?xf32>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
