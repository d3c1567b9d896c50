// RUN: passline-opt %s -p expand-tuple-arguments | filecheck %s

// A tuple in a tuple; the order of the elements is kept, and that of the other parameters.
// CHECK-LABEL: func.func private @nested
// CHECK-SAME: (%a: i1, [[A:%.*]]: tensor<4xf32>, [[B:%.*]]: tensor<3xf32>, [[C:%.*]]: tensor<2xf32>, %c: f32) -> tensor<2xf32>
// CHECK-NEXT: func.return [[C]]
!inner = tuple<tensor<3xf32>, tensor<2xf32>>
!outer = tuple<tensor<4xf32>, !inner>
func.func private @nested(%a: i1, %t: !outer, %c: f32) -> tensor<2xf32> {
  %0 = relax.tuple_get_item %t {index = 1} : (!outer) -> !inner
  %1 = relax.tuple_get_item %0 {index = 1} : (!inner) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}

// The tuple is made here, or is a value whose elements are taken.
// CHECK-LABEL: @call
// CHECK-NEXT: func.call @nested(%a, %w, %x, %y, %c)
// CHECK-NEXT: [[P:%.*]] = relax.tuple_get_item %t {index = 0}
// CHECK-NEXT: [[Q:%.*]] = relax.tuple_get_item %t {index = 1}
// CHECK-NEXT: [[R:%.*]] = relax.tuple_get_item [[Q]] {index = 0}
// CHECK-NEXT: [[S:%.*]] = relax.tuple_get_item [[Q]] {index = 1}
// CHECK-NEXT: func.call @nested(%a, [[P]], [[R]], [[S]], %c)
func.func @call(%a: i1, %w: tensor<4xf32>, %x: tensor<3xf32>, %y: tensor<2xf32>, %c: f32, %t: !outer) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = relax.tuple %x, %y : (tensor<3xf32>, tensor<2xf32>) -> !inner
  %1 = relax.tuple %w, %0 : (tensor<4xf32>, !inner) -> !outer
  %2 = func.call @nested(%a, %1, %c) : (i1, !outer, f32) -> tensor<2xf32>
  %3 = func.call @nested(%a, %t, %c) : (i1, !outer, f32) -> tensor<2xf32>
  func.return %2, %3 : tensor<2xf32>, tensor<2xf32>
}

// A tuple that is needed as a whole is made again.
// CHECK-LABEL: func.func private @whole
// CHECK-SAME: ([[A:%.*]]: tensor<3xf32>, [[B:%.*]]: tensor<2xf32>)
// CHECK-NEXT: [[T:%.*]] = relax.tuple [[A]], [[B]]
// CHECK-NEXT: func.return [[T]], [[A]]
func.func private @whole(%t: !inner) -> (!inner, tensor<3xf32>) {
  %0 = relax.tuple_get_item %t {index = 0} : (!inner) -> tensor<3xf32>
  func.return %t, %0 : !inner, tensor<3xf32>
}
func.func @whole_caller(%t: !inner) -> !inner {
  %0, %1 = func.call @whole(%t) : (!inner) -> (!inner, tensor<3xf32>)
  func.return %0 : !inner
}

// Must not fire: a public function, a declaration, and one whose references are no calls only.
// UNCHANGED: @public
func.func @public(%t: !inner) -> !inner {
  func.return %t : !inner
}
func.func private @declared(!inner) -> !inner
// UNCHANGED: @caller
func.func @caller(%t: !inner) -> !inner {
  %0 = func.call @declared(%t) : (!inner) -> !inner
  %1 = func.call @public(%0) : (!inner) -> !inner
  func.return %1 : !inner
}
// UNCHANGED: @referenced
func.func private @referenced(%t: !inner) -> !inner {
  func.return %t : !inner
}
func.func @reference(%t: !inner) -> !inner {
  %0 = func.call @referenced(%t) {note = @referenced} : (!inner) -> !inner
  func.return %0 : !inner
}
