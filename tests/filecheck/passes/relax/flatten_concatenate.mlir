// RUN: passline-opt %s -p flatten-concatenate | filecheck %s
// RUN: passline-opt %s -p 'flatten-concatenate{max-operands=3}' | filecheck %s --check-prefix=THREE
// RUN: passline-opt %s -p 'flatten-concatenate{max-unknown=3}' | filecheck %s --check-prefix=DIVIDED

// At any depth, in place, along the same axis however it is counted.
// CHECK-LABEL: @nested
// THREE-LABEL: @nested
func.func @nested(%a : tensor<1x2xf32>, %b : tensor<1x3xf32>) -> tensor<1x12xf32> {
  // CHECK-NEXT: [[C:%.*]] = relax.concatenate %a, %a, %b, %b, %a {axis = 1} : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x2xf32>) -> tensor<1x12xf32>
  // CHECK-NEXT: func.return [[C]]
  // THREE-NEXT: [[A:%.*]] = relax.concatenate %a, %b {axis = -1}
  // THREE-NEXT: [[B:%.*]] = relax.concatenate [[A]], %b, %a {axis = 1}
  // THREE-NEXT: [[C:%.*]] = relax.concatenate %a, [[B]] {axis = 1}
  %0 = relax.concatenate %a, %b {axis = -1} : (tensor<1x2xf32>, tensor<1x3xf32>) -> tensor<1x5xf32>
  %1 = relax.concatenate %0, %b, %a {axis = 1} : (tensor<1x5xf32>, tensor<1x3xf32>, tensor<1x2xf32>) -> tensor<1x10xf32>
  %2 = relax.concatenate %a, %1 {axis = 1} : (tensor<1x2xf32>, tensor<1x10xf32>) -> tensor<1x12xf32>
  return %2 : tensor<1x12xf32>
}

// An inner concatenation with other uses is merged, and stays for these.
// CHECK-LABEL: @used
func.func @used(%a : tensor<1xf32>, %b : tensor<1xf32>, %c : tensor<1xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.concatenate %a, %b :
  // CHECK-NEXT: [[E:%.*]] = relax.exp [[A]]
  // CHECK-NEXT: [[B:%.*]] = relax.concatenate %a, %b, %c :
  // CHECK-NEXT: func.return [[E]], [[B]]
  %0 = relax.concatenate %a, %b : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %1 = relax.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = relax.concatenate %0, %c : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
  return %1, %2 : tensor<2xf32>, tensor<3xf32>
}

// Unknown shapes.
// CHECK-LABEL: @unknown
func.func @unknown(%a : tensor<*xf32>, %b : tensor<?x?xf32>) -> (tensor<*xf32>, tensor<?x?xf32>) {
  // CHECK-NEXT: [[A:%.*]] = relax.concatenate %a, %a, %a {axis = 1}
  // CHECK-NEXT: [[B:%.*]] = relax.concatenate %b, %b, %b {axis = -1}
  // CHECK-NEXT: func.return [[A]], [[B]]
  %0 = relax.concatenate %a, %a {axis = 1} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %1 = relax.concatenate %0, %a {axis = 1} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %2 = relax.concatenate %b, %b {axis = 1} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = relax.concatenate %2, %b {axis = -1} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1, %3 : tensor<*xf32>, tensor<?x?xf32>
}

// Must not fire: another axis, and a negative axis of unknown rank.
// UNCHANGED: @axes
func.func @axes(%a : tensor<2x2xf32>, %b : tensor<*xf32>) -> (tensor<4x4xf32>, tensor<*xf32>) {
  %0 = relax.concatenate %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %1 = relax.concatenate %0, %0 {axis = 1} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %2 = relax.concatenate %b, %b {axis = -1} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %3 = relax.concatenate %2, %b {axis = 1} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %1, %3 : tensor<4x4xf32>, tensor<*xf32>
}

// Must not fire: stacking is along a new dimension.
// UNCHANGED: @stack
func.func @stack(%a : tensor<2xf32>) -> tensor<4x2xf32> {
  %0 = relax.stack %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %1 = relax.concatenate %0, %0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// Long concatenations of unknown sizes are divided; those of known sizes are not.
// DIVIDED-LABEL: @long
func.func @long(%x0 : tensor<2x?xf32>, %x1 : tensor<2x?xf32>, %x2 : tensor<2x?xf32>, %x3 : tensor<2x?xf32>, %x4 : tensor<2x?xf32>, %x5 : tensor<2x?xf32>) -> tensor<2x?xf32> {
  // DIVIDED-NEXT: [[A:%.*]] = relax.concatenate %x0, %x1, %x2 {axis = 1}
  // DIVIDED-NEXT: [[B:%.*]] = relax.concatenate %x3, %x4, %x5 {axis = 1}
  // DIVIDED-NEXT: [[C:%.*]] = relax.stop_fusion [[A]]
  // DIVIDED-NEXT: [[D:%.*]] = relax.stop_fusion [[B]]
  // DIVIDED-NEXT: [[E:%.*]] = relax.concatenate [[C]], [[D]] {axis = 1}
  // DIVIDED-NEXT: func.return [[E]]
  %0 = relax.concatenate %x0, %x1, %x2, %x3, %x4, %x5 {axis = -1} : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// UNCHANGED: @rows
func.func @rows(%x : tensor<?x1xf32>) -> tensor<?x4xf32> {
  %0 = relax.concatenate %x, %x, %x, %x {axis = 1} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
