// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: @tuples
func.func @tuples(%x : tensor<4xf32>, %y : tensor<?xi1>) -> tuple<> {
  // CHECK-NEXT: [[T:%.*]] = relax.tuple %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<?xi1>) -> tuple<tensor<4xf32>, tensor<?xi1>>
  %0 = relax.tuple %x, %y : (tensor<4xf32>, tensor<?xi1>) -> tuple<tensor<4xf32>, tensor<?xi1>>
  // CHECK-NEXT: relax.tuple [[T]] {tag = 1 : i32} : (tuple<tensor<4xf32>, tensor<?xi1>>) -> tuple<tuple<tensor<*xf32>, tensor<2xi1>>>
  %1 = relax.tuple %0 {tag = 1 : i32} : (tuple<tensor<4xf32>, tensor<?xi1>>) -> tuple<tuple<tensor<*xf32>, tensor<2xi1>>>
  // CHECK-NEXT: relax.tuple_get_item [[T]] {index = 1} : (tuple<tensor<4xf32>, tensor<?xi1>>) -> tensor<?xi1>
  %2 = relax.tuple_get_item %0 {index = 1} : (tuple<tensor<4xf32>, tensor<?xi1>>) -> tensor<?xi1>
  // CHECK-NEXT: relax.match_cast [[T]] : (tuple<tensor<4xf32>, tensor<?xi1>>) -> tuple<tensor<?xf32>, tensor<3xi1>>
  %3 = relax.match_cast %0 : (tuple<tensor<4xf32>, tensor<?xi1>>) -> tuple<tensor<?xf32>, tensor<3xi1>>
  // CHECK-NEXT: relax.tuple : () -> tuple<>
  %4 = relax.tuple : () -> tuple<>
  return %4 : tuple<>
}

// CHECK-LABEL: @lambdas
func.func @lambdas(%x : tensor<4xf32>) -> ((tensor<4xf32>) -> tensor<4xf32>) {
  // CHECK-NEXT: [[F:%.*]] = relax.lambda([[Y:%.*]]: tensor<4xf32>) -> tensor<4xf32> attributes {tag} {
  // CHECK-NEXT:   [[A:%.*]] = relax.add [[Y]], %{{.*}}
  // CHECK-NEXT:   relax.yield [[A]] : tensor<4xf32>
  // CHECK-NEXT: }
  %f = relax.lambda(%y : tensor<4xf32>) -> tensor<4xf32> attributes {tag} {
    %0 = relax.add %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relax.yield %0 : tensor<4xf32>
  }
  // CHECK-NEXT: relax.invoke [[F]](%{{.*}}) {tag} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.invoke %f(%x) {tag} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: [[G:%.*]] = relax.lambda() -> ((tensor<4xf32>) -> tensor<4xf32>) {
  // CHECK-NEXT:   relax.yield [[F]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: }
  %g = relax.lambda() -> ((tensor<4xf32>) -> tensor<4xf32>) {
    relax.yield %f : (tensor<4xf32>) -> tensor<4xf32>
  }
  // CHECK-NEXT: [[K:%.*]] = relax.invoke [[G]]() : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %k = relax.invoke %g() : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  // CHECK-NEXT: [[H:%.*]] = relax.lambda([[A:%.*]]: i1, [[B:%.*]]: tensor<4xf32>) -> (tensor<4xf32>, i1) {
  // CHECK-NEXT:   relax.yield [[B]], [[A]] : tensor<4xf32>, i1
  // CHECK-NEXT: }
  %h = relax.lambda(%a : i1, %b : tensor<4xf32>) -> (tensor<4xf32>, i1) {
    relax.yield %b, %a : tensor<4xf32>, i1
  }
  // CHECK-NEXT: [[N:%.*]] = relax.lambda() {
  // CHECK-NEXT: }
  // CHECK-NEXT: relax.invoke [[N]]() : () -> ()
  %n = relax.lambda() {
  }
  relax.invoke %n() : () -> ()
  // CHECK-NEXT: func.return [[K]]
  return %k : (tensor<4xf32>) -> tensor<4xf32>
}

// CHECK-LABEL: @closures
func.func @closures(%a : i1) -> (() -> ()) {
  // CHECK-NEXT: relax.make_closure @take(%{{.*}}) {tag} : (i1) -> ((tensor<4xf32>) -> tensor<4xf32>)
  %f = relax.make_closure @take(%a) {tag} : (i1) -> ((tensor<4xf32>) -> tensor<4xf32>)
  // CHECK-NEXT: relax.make_closure @take() : () -> ((i1, tensor<4xf32>) -> tensor<?xf32>)
  %g = relax.make_closure @take() : () -> ((i1, tensor<4xf32>) -> tensor<?xf32>)
  // CHECK-NEXT: [[F:%.*]] = relax.make_closure @nothing() : () -> (() -> ())
  %h = relax.make_closure @nothing() : () -> (() -> ())
  // CHECK-NEXT: func.return [[F]]
  return %h : () -> ()
}
func.func private @take(i1, tensor<4xf32>) -> tensor<4xf32>
func.func private @nothing()

// Operations of a graph stand in any order, also those that are used in nested regions.
// CHECK-LABEL: @graph
func.func @graph(%c : i1, %x : tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: [[G:%.*]], %{{.*}} = relax.graph -> (tensor<4xf32>, i1) attributes {tag} {
  // CHECK-NEXT:   [[I:%.*]] = scf.if %{{.*}} -> (tensor<4xf32>) {
  // CHECK-NEXT:     scf.yield [[B:%.*]] : tensor<4xf32>
  // CHECK-NEXT:   } else {
  // CHECK-NEXT:     [[D:%.*]] = relax.invoke [[F:%.*]]([[B]]) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT:     scf.yield [[D]]
  // CHECK-NEXT:   }
  // CHECK-NEXT:   [[B]] = relax.exp %{{.*}}
  // CHECK-NEXT:   [[F]] = relax.lambda(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT:     relax.yield [[T:%.*]] : tensor<4xf32>
  // CHECK-NEXT:   }
  // CHECK-NEXT:   [[T]] = relax.tanh [[B]]
  // CHECK-NEXT:   relax.output [[I]], %{{.*}} : tensor<4xf32>, i1
  // CHECK-NEXT: }
  %0, %1 = relax.graph -> (tensor<4xf32>, i1) attributes {tag} {
    %2 = scf.if %c -> (tensor<4xf32>) {
      scf.yield %3 : tensor<4xf32>
    } else {
      %4 = relax.invoke %f(%3) : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %4 : tensor<4xf32>
    }
    %3 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %f = relax.lambda(%y : tensor<4xf32>) -> tensor<4xf32> {
      relax.yield %5 : tensor<4xf32>
    }
    %5 = relax.tanh %3 : (tensor<4xf32>) -> tensor<4xf32>
    relax.output %2, %c : tensor<4xf32>, i1
  }
  // CHECK-NEXT: relax.graph {
  // CHECK-NEXT: }
  relax.graph {
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @kernel
func.func private @kernel(memref<?x4xf32>, f32, memref<2x4xf32>, memref<*xi1>)
// CHECK: @calls
func.func @calls(%x : tensor<2x4xf32>, %s : f32) {
  // CHECK-NEXT: relax.call_tir @kernel(%{{.*}}, %{{.*}}) {tag} : (tensor<2x4xf32>, f32) -> (tensor<2x4xf32>, tensor<4xi1>)
  %0, %1 = relax.call_tir @kernel(%x, %s) {tag} : (tensor<2x4xf32>, f32) -> (tensor<2x4xf32>, tensor<4xi1>)
  return
}

// The sizes of unknown dimensions are operands, in order of results and dimensions.
func.func private @sized(memref<?x4xf32>, memref<?x4xf32>, memref<?x?xi1>)
// CHECK: @sizes
func.func @sizes(%x : tensor<?x4xf32>, %n : index, %m : index) {
  // CHECK-NEXT: relax.call_tir @sized(%{{.*}}) sizes([[N:%[^,]*]], [[M:%[^,]*]], [[N]]) : (tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xi1>)
  %0, %1 = relax.call_tir @sized(%x) sizes(%n, %m, %n) : (tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xi1>)
  // CHECK-NEXT: relax.call_tir_inplace @sized(%{{.*}}, %{{.*}}) sizes([[M]], [[N]]) {inplace_indices = array<i64: 0, -1>} : (tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xi1>)
  %2, %3 = relax.call_tir_inplace @sized(%x, %0) sizes(%m, %n) {inplace_indices = array<i64: 0, -1>} : (tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?xi1>)
  return
}

// CHECK-LABEL: @annotations
func.func @annotations(%x : tensor<4xf32>, %t : tuple<tensor<*xf32>>) {
  // CHECK-NEXT: relax.on_device %{{.*}} {device = #relax.device<cuda:1, "texture">, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = relax.on_device %x {device = #relax.device<cuda:1, "texture">, constrain_result = true} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: relax.on_device %{{.*}} {device = #relax.device<?, "global">, constrain_body = false}
  %1 = relax.on_device %t {device = #relax.device<?, "global">, constrain_body = false} : (tuple<tensor<*xf32>>) -> tuple<tensor<*xf32>>
  // CHECK-NEXT: relax.device_copy %{{.*}} {src = #relax.device<cpu>, dst = #relax.device<cuda>} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.device_copy %x {src = #relax.device<cpu:0>, dst = #relax.device<cuda, "">} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: relax.stop_fusion %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.stop_fusion %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}
