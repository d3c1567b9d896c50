// RUN: passline-opt %s -p plan-devices --config relax.fallback_device_type=cuda --split-input-file | filecheck %s

// What is on one device is not copied, whatever it is called.
// CHECK-LABEL: @homogeneous
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cpu>}, %b: tensor<2xf32> {relax.device = #relax.device<cpu>}, %c: tensor<2xf32> {relax.device = #relax.device<cpu>}, %d: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cpu>})
// CHECK-NEXT: [[S:%.*]] = relax.add %a, %b
// CHECK-NEXT: [[T:%.*]] = relax.add %c, %d
// CHECK-NEXT: [[R:%.*]] = relax.subtract [[S]], [[T]]
// CHECK-NEXT: func.return [[R]]
!t = tensor<2xf32>
func.func @homogeneous(%a : !t, %b : !t, %c : !t, %d : !t) -> !t {
  %0 = relax.add %a, %b : (!t, !t) -> !t
  %1 = relax.on_device %0 {device = #relax.device<cpu>} : (!t) -> !t
  %2 = relax.add %c, %d : (!t, !t) -> !t
  %3 = relax.on_device %2 {device = #relax.device<cpu>} : (!t) -> !t
  %4 = relax.subtract %1, %3 : (!t, !t) -> !t
  %5 = relax.on_device %4 {device = #relax.device<cpu>} : (!t) -> !t
  return %5 : !t
}

// -----

// Nothing is said: all on the fallback device.
// CHECK-LABEL: @fallback
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cuda>}, %b: tensor<2xf32> {relax.device = #relax.device<cuda>}, %c: tensor<2xf32> {relax.device = #relax.device<cuda>}, %d: tensor<2xf32> {relax.device = #relax.device<cuda>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK-NOT: relax.device_copy
!t = tensor<2xf32>
func.func @fallback(%a : !t, %b : !t, %c : !t, %d : !t) -> !t {
  %0 = relax.add %a, %b : (!t, !t) -> !t
  %1 = relax.add %c, %d : (!t, !t) -> !t
  %2 = relax.subtract %0, %1 : (!t, !t) -> !t
  return %2 : !t
}

// -----

// An annotated value, and its operands, are there; it is copied for its user.
// CHECK-LABEL: @left
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cpu>}, %b: tensor<2xf32> {relax.device = #relax.device<cpu>}, %c: tensor<2xf32> {relax.device = #relax.device<cuda>}, %d: tensor<2xf32> {relax.device = #relax.device<cuda>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK-NEXT: [[S:%.*]] = relax.add %a, %b
// CHECK-NEXT: [[L:%.*]] = relax.device_copy [[S]] {src = #relax.device<cpu>, dst = #relax.device<cuda>}
// CHECK-NEXT: [[T:%.*]] = relax.add %c, %d
// CHECK-NEXT: [[R:%.*]] = relax.subtract [[L]], [[T]]
// CHECK-NEXT: func.return [[R]]
!t = tensor<2xf32>
func.func @left(%a : !t, %b : !t, %c : !t, %d : !t) -> !t {
  %0 = relax.add %a, %b : (!t, !t) -> !t
  %1 = relax.on_device %0 {device = #relax.device<cpu>} : (!t) -> !t
  %2 = relax.add %c, %d : (!t, !t) -> !t
  %3 = relax.subtract %1, %2 : (!t, !t) -> !t
  return %3 : !t
}
// The same with a copy that is there already.
// CHECK-LABEL: @copied
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cpu>}, %b: tensor<2xf32> {relax.device = #relax.device<cpu>}, %c: tensor<2xf32> {relax.device = #relax.device<cuda>}, %d: tensor<2xf32> {relax.device = #relax.device<cuda>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK: relax.device_copy
// CHECK-NOT: relax.device_copy
func.func @copied(%a : !t, %b : !t, %c : !t, %d : !t) -> !t {
  %0 = relax.add %a, %b : (!t, !t) -> !t
  %1 = relax.device_copy %0 {src = #relax.device<cpu>, dst = #relax.device<cuda>} : (!t) -> !t
  %2 = relax.add %c, %d : (!t, !t) -> !t
  %3 = relax.subtract %1, %2 : (!t, !t) -> !t
  return %3 : !t
}

// -----

// Both operands.
// CHECK-LABEL: @both
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cpu>}, %b: tensor<2xf32> {relax.device = #relax.device<cpu>}, %c: tensor<2xf32> {relax.device = #relax.device<cpu>}, %d: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK-NEXT: [[S:%.*]] = relax.add %a, %b
// CHECK-NEXT: [[L:%.*]] = relax.device_copy [[S]]
// CHECK-NEXT: [[T:%.*]] = relax.add %c, %d
// CHECK-NEXT: [[M:%.*]] = relax.device_copy [[T]]
// CHECK-NEXT: relax.subtract [[L]], [[M]]
!t = tensor<2xf32>
func.func @both(%a : !t, %b : !t, %c : !t, %d : !t) -> !t {
  %0 = relax.add %a, %b : (!t, !t) -> !t
  %1 = relax.on_device %0 {device = #relax.device<cpu>} : (!t) -> !t
  %2 = relax.add %c, %d : (!t, !t) -> !t
  %3 = relax.on_device %2 {device = #relax.device<cpu>} : (!t) -> !t
  %4 = relax.subtract %1, %3 : (!t, !t) -> !t
  return %4 : !t
}

// -----

// One value annotated for two users: a copy for each.
// CHECK-LABEL: @shared
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cpu>}, %b: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK-NEXT: [[S:%.*]] = relax.add %a, %b
// CHECK-NEXT: [[L:%.*]] = relax.device_copy [[S]]
// CHECK-NEXT: [[M:%.*]] = relax.device_copy [[S]]
// CHECK-NEXT: relax.subtract [[L]], [[M]]
!t = tensor<2xf32>
func.func @shared(%a : !t, %b : !t) -> !t {
  %0 = relax.add %a, %b : (!t, !t) -> !t
  %1 = relax.on_device %0 {device = #relax.device<cpu>} : (!t) -> !t
  %2 = relax.on_device %0 {device = #relax.device<cpu>} : (!t) -> !t
  %3 = relax.subtract %1, %2 : (!t, !t) -> !t
  return %3 : !t
}

// -----

// What has no operands is annotated where it is not where the result of the function is.
// CHECK-LABEL: @constants
// CHECK-SAME: (%x: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK-NEXT: [[C:%.*]] = relax.constant
// CHECK-NEXT: [[L:%.*]] = relax.device_copy %x
// CHECK-NEXT: [[M:%.*]] = relax.add [[L]], [[C]]
// CHECK-NEXT: [[D:%.*]] = relax.full 3.0
// CHECK-NEXT: [[E:%.*]] = relax.on_device [[D]] {device = #relax.device<cpu>, constrain_result = true}
// CHECK-NEXT: [[F:%.*]] = relax.add %x, [[E]]
// CHECK-NEXT: relax.device_copy [[F]]
!t = tensor<2xf32>
func.func @constants(%x : !t) -> !t {
  %c = relax.constant dense<[1.0, 2.0]> : !t
  %0 = relax.device_copy %x {src = #relax.device<cpu>, dst = #relax.device<cuda>} : (!t) -> !t
  %1 = relax.add %0, %c : (!t, !t) -> !t
  %d = relax.full 3.0 : !t
  %2 = relax.add %x, %d : (!t, !t) -> !t
  %3 = relax.on_device %2 {device = #relax.device<cpu>} : (!t) -> !t
  %4 = relax.add %1, %3 : (!t, !t) -> !t
  return %4 : !t
}
// CHECK-LABEL: @annotated_constant
// CHECK-NEXT: [[C:%.*]] = relax.constant
// CHECK-NEXT: [[D:%.*]] = relax.on_device [[C]] {device = #relax.device<cpu>, constrain_result = true}
// CHECK-NEXT: [[L:%.*]] = relax.device_copy [[D]]
// CHECK-NEXT: relax.add %x, [[L]]
func.func @annotated_constant(%x : !t) -> !t {
  %c = relax.constant dense<[1.0, 2.0]> : !t
  %0 = relax.on_device %c {device = #relax.device<cpu>} : (!t) -> !t
  %1 = relax.add %x, %0 : (!t, !t) -> !t
  return %1 : !t
}

// -----

// Shapes are on the host, and so is what is computed of them.
// CHECK-LABEL: @shape_of
// CHECK-SAME: (%x: tensor<?xf32> {relax.device = #relax.device<cuda>}) -> (tensor<1xi64> {relax.device = #relax.device<cpu>})
// CHECK-NOT: relax.device_copy
func.func @shape_of(%x : tensor<?xf32> {relax.device = #relax.device<cuda>}) -> tensor<1xi64> {
  %0 = relax.shape_of %x : (tensor<?xf32>) -> tensor<1xi64>
  %1 = relax.add %0, %0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  return %1 : tensor<1xi64>
}
// CHECK-LABEL: @reshape
// CHECK-SAME: (%x: tensor<?xf32> {relax.device = #relax.device<cuda>}, %n: tensor<1xi64> {relax.device = #relax.device<cpu>}) -> (tensor<?xf32> {relax.device = #relax.device<cuda>})
// CHECK-NEXT: [[C:%.*]] = relax.constant
// CHECK-NEXT: [[D:%.*]] = relax.on_device [[C]]
// CHECK-NEXT: [[N:%.*]] = relax.multiply %n, [[D]]
// CHECK-NEXT: relax.dyn.reshape %x, [[N]]
func.func @reshape(%x : tensor<?xf32>, %n : tensor<1xi64>) -> tensor<?xf32> {
  %c = relax.constant dense<[1]> : tensor<1xi64>
  %0 = relax.multiply %n, %c : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %1 = relax.dyn.reshape %x, %0 : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// Nested annotations.
// CHECK-LABEL: @nested
// CHECK-SAME: (%x: tensor<2xf32> {relax.device = #relax.device<cuda>}, %y: tensor<2xf32> {relax.device = #relax.device<cuda>}, %z: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cpu>})
// CHECK-NEXT: [[A:%.*]] = relax.add %x, %y
// CHECK-NEXT: [[B:%.*]] = relax.device_copy [[A]] {src = #relax.device<cuda>, dst = #relax.device<cpu>}
// CHECK-NEXT: [[C:%.*]] = relax.subtract [[B]], %z
// CHECK-NEXT: func.return [[C]]
!t = tensor<2xf32>
func.func @nested(%x : !t, %y : !t, %z : !t) -> !t {
  %0 = relax.add %x, %y : (!t, !t) -> !t
  %1 = relax.on_device %0 {device = #relax.device<cuda>} : (!t) -> !t
  %2 = relax.subtract %1, %z : (!t, !t) -> !t
  %3 = relax.on_device %2 {device = #relax.device<cpu>} : (!t) -> !t
  return %3 : !t
}

// -----

// There and back: weights are where they are used.
// CHECK-LABEL: @network
// CHECK-SAME: (%x: tensor<1x1x2x2xf32> {relax.device = #relax.device<cpu>}, %w: tensor<1x1x1x1xf32> {relax.device = #relax.device<cpu>}) -> (tensor<1x1x2x2xf32> {relax.device = #relax.device<cpu>})
// CHECK-NEXT: [[A:%.*]] = relax.nn.conv2d %x, %w
// CHECK-NEXT: [[B:%.*]] = relax.device_copy [[A]] {src = #relax.device<cpu>, dst = #relax.device<cuda>}
// CHECK-NEXT: [[C:%.*]] = relax.add [[B]], [[B]]
// CHECK-NEXT: [[D:%.*]] = relax.device_copy [[C]] {src = #relax.device<cuda>, dst = #relax.device<cpu>}
// CHECK-NEXT: [[E:%.*]] = relax.nn.conv2d [[D]], %w
// CHECK-NEXT: func.return [[E]]
!d = tensor<1x1x2x2xf32>
!w = tensor<1x1x1x1xf32>
func.func @network(%x : !d, %w : !w) -> !d {
  %0 = relax.nn.conv2d %x, %w : (!d, !w) -> !d
  %1 = relax.on_device %0 {device = #relax.device<cpu>} : (!d) -> !d
  %2 = relax.add %1, %1 : (!d, !d) -> !d
  %3 = relax.on_device %2 {device = #relax.device<cuda>} : (!d) -> !d
  %4 = relax.nn.conv2d %3, %w : (!d, !w) -> !d
  %5 = relax.on_device %4 {device = #relax.device<cpu>} : (!d) -> !d
  return %5 : !d
}

// -----

// Elements are taken from a tuple first, and copied then.
// CHECK-LABEL: @tuple
// CHECK-NEXT: [[A:%.*]], [[B:%.*]] = relax.split %x
// CHECK-NEXT: [[T:%.*]] = relax.tuple [[A]], [[B]]
// CHECK-NEXT: [[C:%.*]] = relax.tuple_get_item [[T]] {index = 0}
// CHECK-NEXT: [[L:%.*]] = relax.device_copy [[C]]
// CHECK-NEXT: [[D:%.*]] = relax.tuple_get_item [[T]] {index = 1}
// CHECK-NEXT: [[M:%.*]] = relax.device_copy [[D]]
// CHECK-NEXT: relax.subtract [[L]], [[M]]
!t = tensor<2xf32>
func.func @tuple(%x : tensor<4xf32>) -> !t {
  %0, %1 = relax.split %x {sections = 2} : (tensor<4xf32>) -> (!t, !t)
  %2 = relax.tuple %0, %1 : (!t, !t) -> tuple<!t, !t>
  %3 = relax.on_device %2 {device = #relax.device<cpu>} : (tuple<!t, !t>) -> tuple<!t, !t>
  %4 = relax.tuple_get_item %3 {index = 0} : (tuple<!t, !t>) -> !t
  %5 = relax.tuple_get_item %3 {index = 1} : (tuple<!t, !t>) -> !t
  %6 = relax.subtract %4, %5 : (!t, !t) -> !t
  return %6 : !t
}

// -----

// Devices go along a chain up to the next annotation.
// CHECK-LABEL: @propagation
// CHECK-SAME: (%x: tensor<2xf32> {relax.device = #relax.device<cpu>}, %y: tensor<2xf32> {relax.device = #relax.device<cuda>}) -> (tensor<2xf32> {relax.device = #relax.device<cpu>})
// CHECK-NEXT: [[A:%.*]] = relax.negative %x
// CHECK-NEXT: [[B:%.*]] = relax.exp [[A]]
// CHECK-NEXT: [[C:%.*]] = relax.device_copy [[B]] {src = #relax.device<cpu>, dst = #relax.device<cuda>}
// CHECK-NEXT: [[D:%.*]] = relax.multiply [[C]], %y
// CHECK-NEXT: [[E:%.*]] = relax.device_copy [[D]] {src = #relax.device<cuda>, dst = #relax.device<cpu>}
// CHECK-NEXT: [[F:%.*]] = relax.tanh [[E]]
// CHECK-NEXT: [[G:%.*]] = relax.subtract [[F]], [[A]]
// CHECK-NEXT: func.return [[G]]
!t = tensor<2xf32>
func.func @propagation(%x : !t, %y : !t) -> !t {
  %0 = relax.negative %x : (!t) -> !t
  %1 = relax.exp %0 : (!t) -> !t
  %2 = relax.on_device %1 {device = #relax.device<cpu>} : (!t) -> !t
  %3 = relax.multiply %2, %y : (!t, !t) -> !t
  %4 = relax.on_device %3 {device = #relax.device<cuda>} : (!t) -> !t
  %5 = relax.tanh %4 : (!t) -> !t
  %6 = relax.subtract %5, %0 : (!t, !t) -> !t
  %7 = relax.on_device %6 {device = #relax.device<cpu>} : (!t) -> !t
  return %7 : !t
}

// -----

// A value that is used on two devices stays where it is first, and is copied for the other.
// CHECK-LABEL: @two_users
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cpu>}, %b: tensor<2xf32> {relax.device = #relax.device<cpu>}, %c: tensor<2xf32> {relax.device = #relax.device<cuda>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK-NEXT: [[S:%.*]] = relax.add %a, %b
// CHECK-NEXT: [[L:%.*]] = relax.device_copy [[S]]
// CHECK-NEXT: [[B:%.*]] = relax.device_copy %b
// CHECK-NEXT: [[T:%.*]] = relax.add [[B]], %c
// CHECK-NEXT: relax.subtract [[L]], [[T]]
!t = tensor<2xf32>
func.func @two_users(%a : !t, %b : !t, %c : !t) -> !t {
  %0 = relax.add %a, %b : (!t, !t) -> !t
  %1 = relax.on_device %0 {device = #relax.device<cpu>} : (!t) -> !t
  %2 = relax.add %b, %c : (!t, !t) -> !t
  %3 = relax.on_device %2 {device = #relax.device<cuda>} : (!t) -> !t
  %4 = relax.subtract %1, %3 : (!t, !t) -> !t
  return %4 : !t
}
// Once for all operands of a user.
// CHECK-LABEL: @twice
// CHECK-NEXT: [[B:%.*]] = relax.device_copy %b
// CHECK-NEXT: relax.add [[B]], [[B]]
func.func @twice(%b : !t {relax.device = #relax.device<cpu>}) -> !t {
  %0 = relax.add %b, %b : (!t, !t) -> !t
  %1 = relax.on_device %0 {device = #relax.device<cuda>} : (!t) -> !t
  return %1 : !t
}
