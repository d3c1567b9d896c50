// RUN: passline-opt %s -p 'lift-transform-params{shared-transform=true}' | filecheck %s --check-prefix=SHARED
// RUN: passline-opt %s -p 'lift-transform-params{functions=plain num-input=1}' | filecheck %s --check-prefix=PLAIN
// RUN: not passline-opt %s -p 'lift-transform-params{functions=plane}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not passline-opt %s -p 'lift-transform-params{functions=plain}' 2>&1 | filecheck %s --check-prefix=NUMBER
// RUN: not passline-opt %s -p 'lift-transform-params{functions=plain num-input=3}' 2>&1 | filecheck %s --check-prefix=RANGE
// RUN: not passline-opt %s -p 'lift-transform-params{functions=prefill,plain num-input=1 shared-transform=true}' 2>&1 | filecheck %s --check-prefix=WEIGHTS

// One function of what both compute; what one of them computes alone stays there. Both take all
// results, and weights that one of them still uses.
// SHARED-LABEL: func.func @transform_params(%w: tensor<4xf32>, %v: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
// SHARED-NEXT: [[E:%.*]] = relax.exp %w
// SHARED-NEXT: [[S:%.*]] = relax.add [[E]], %v
// SHARED-NEXT: func.return %w, [[E]], [[S]]
// SHARED: func.func @prefill(%x: tensor<?x4xf32>, %w: tensor<4xf32>, [[E:%.*]]: tensor<4xf32>, [[S:%.*]]: tensor<4xf32>)
// SHARED-NEXT: relax.multiply %x, [[S]]
// SHARED: func.func @decode(%x: tensor<4xf32>, %i: tensor<4xf32>, %w: tensor<4xf32>, [[E:%.*]]: tensor<4xf32>, [[S:%.*]]: tensor<4xf32>)
// SHARED-NEXT: relax.log %w
// SHARED: func.func @plain(%x: tensor<4xf32>, %w: tensor<4xf32>)
func.func @prefill(%x : tensor<?x4xf32>, %w : tensor<4xf32>, %v : tensor<4xf32>) -> (tensor<?x4xf32>) attributes {num_input = 1} {
  %0 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.add %0, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.multiply %x, %1 : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}
func.func @decode(%x : tensor<4xf32>, %i : tensor<4xf32>, %w : tensor<4xf32>, %v : tensor<4xf32>) -> tensor<4xf32> attributes {num_input = 2} {
  %0 = relax.log %w : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.add %1, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.add %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = relax.add %3, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = relax.add %4, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}

// PLAIN: func.func @prefill(%x: tensor<?x4xf32>, %w: tensor<4xf32>, %v: tensor<4xf32>)
// PLAIN: func.func @decode(%x: tensor<4xf32>, %i: tensor<4xf32>, %w: tensor<4xf32>, %v: tensor<4xf32>)
// PLAIN: func.func @plain_transform_params(%w: tensor<4xf32>) -> tensor<4xf32>
// NAME: error: there is no function @plane with a body, did you mean 'plain'?
// NUMBER: error: function @plain has no attribute 'num_input', and there is no option num-input
// RANGE: error: function @plain has 2 parameters, not 3 before its weights
// WEIGHTS: error: functions @prefill and @plain do not have the same weights
func.func @plain(%x : tensor<4xf32>, %w : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.multiply %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
