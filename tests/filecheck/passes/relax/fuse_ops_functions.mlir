// RUN: passline-opt %s -p fuse-ops --split-input-file | filecheck %s

// Other constants are parameters.
// CHECK-LABEL: @constants
// CHECK-NEXT: [[C:%.*]] = relax.constant
// CHECK-NEXT: [[F:%.*]] = relax.full
// CHECK-NEXT: func.call @fused_add_multiply(%x, [[C]], [[F]])
func.func @constants(%x : tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %f = relax.full 0.5 : tensor<2x2xf32>
  %0 = relax.add %x, %c : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %1 = relax.multiply %0, %f : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

// A tuple is made outside.
// CHECK-LABEL: @tuple_root
// CHECK-NEXT: [[M:%.*]] = func.call @fused_matmul(%x)
// CHECK-NEXT: [[T:%.*]] = func.call @fused_tile([[M]])
// CHECK-NEXT: [[R:%.*]] = relax.tuple [[T]], %x
// CHECK-NEXT: func.return [[R]]
func.func @tuple_root(%x : tensor<2x2xf32>) -> tuple<tensor<4x2xf32>, tensor<2x2xf32>> {
  %0 = relax.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.tile %0 {reps = [2, 1]} : (tensor<2x2xf32>) -> tensor<4x2xf32>
  %2 = relax.tuple %1, %x : (tensor<4x2xf32>, tensor<2x2xf32>) -> tuple<tensor<4x2xf32>, tensor<2x2xf32>>
  return %2 : tuple<tensor<4x2xf32>, tensor<2x2xf32>>
}

// -----

// Of a tuple that comes from elsewhere the elements are passed that are used.
// CHECK-LABEL: @tuple_parameter
// CHECK-NEXT: [[A:%.*]] = relax.tuple_get_item %t {index = 1}
// CHECK-NEXT: [[B:%.*]] = func.call @fused_exp_negative([[A]])
// CHECK-NEXT: func.return [[B]]
func.func @tuple_parameter(%t : tuple<tensor<2xf32>, tensor<4xf32>>) -> tensor<4xf32> {
  %0 = relax.tuple_get_item %t {index = 1} : (tuple<tensor<2xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.negative %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Only the results that are used are results of the function.
// CHECK-LABEL: @split_and_product
// CHECK-NEXT: [[S:%.*]] = func.call @fused_split(%x) : (tensor<4x4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: [[M:%.*]] = func.call @fused_matmul([[S]], %w)
// CHECK-NEXT: func.return [[M]]
// CHECK: func.return %a : tensor<4x2xf32>
func.func @split_and_product(%x : tensor<4x4xf32>, %w : tensor<2x4xf32>) -> tensor<4x4xf32> {
  %a, %b = relax.split %x {sections = 2, axis = 1} : (tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  %0 = relax.matmul %a, %w : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Indices that are constant are a parameter.
// CHECK-LABEL: @take
// CHECK-NEXT: [[I:%.*]] = relax.constant dense<[0, 2]>
// CHECK-NEXT: func.call @fused_concatenate_take(%x, [[I]])
func.func @take(%x : tensor<2xf32>) -> tensor<2xf32> {
  %i = relax.constant dense<[0, 2]> : tensor<2xi64>
  %0 = relax.concatenate %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = relax.take %0, %i {axis = 0} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// Sizes that are not known.
// CHECK-LABEL: @dynamic
// CHECK-NEXT: func.call @fused_squeeze_exp(%x) : (tensor<?x1xf32>) -> tensor<?xf32>
func.func @dynamic(%x : tensor<?x1xf32>) -> tensor<?xf32> {
  %0 = relax.squeeze %x {axis = [1]} : (tensor<?x1xf32>) -> tensor<?xf32>
  %1 = relax.exp %0 : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// A shape that depends on data is computed outside.
// CHECK-LABEL: @data_dependent
// CHECK-NEXT: [[A:%.*]] = func.call @fused_exp(%x)
// CHECK-NEXT: [[B:%.*]] = relax.dyn.reshape [[A]], %s
// CHECK-NEXT: func.call @fused_exp1([[B]])
func.func @data_dependent(%x : tensor<4xf32>, %s : tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.dyn.reshape %0, %s : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %2 = relax.exp %1 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// -----

// A cast of a size is between two kernels, and stays there (TVM #20195).
// CHECK-LABEL: @cast
// CHECK-NEXT: [[A:%.*]] = func.call @fused_exp(%x)
// CHECK-NEXT: [[B:%.*]] = tensor.cast [[A]]
// CHECK-NEXT: func.call @fused_exp_add([[B]])
func.func @cast(%x : tensor<?xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<4xf32>
  %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.add %2, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// What something opaque uses too ends its function, and is computed once.
// CHECK-LABEL: @opaque
// CHECK-NEXT: [[A:%.*]] = func.call @fused_exp(%x)
// CHECK-NEXT: [[B:%.*]] = "test.op"([[A]])
// CHECK-NEXT: func.call @fused_negative_add([[A]], [[B]])
func.func @opaque(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "test.op"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.add %2, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// Nobody needs what is not used.
// CHECK-LABEL: @dead
// CHECK-NEXT: func.call @fused_matmul_relu(%x)
// CHECK-NEXT: func.return
func.func @dead(%x : tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = relax.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relax.exp %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = relax.negative %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = relax.nn.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// A view alone is no kernel; a transposition with views around it is one.
// CHECK-LABEL: @views
// CHECK-NEXT: [[M:%.*]] = func.call @fused_matmul(%x)
// CHECK-NEXT: [[R:%.*]] = relax.reshape [[M]] {newshape = [2, 8]}
// CHECK-NEXT: [[N:%.*]] = func.call @fused_matmul1([[R]], %y)
// CHECK-NEXT: func.call @fused_reshape_transpose_reshape([[N]])
func.func @views(%x : tensor<4x4xf32>, %y : tensor<8x8xf32>) -> tensor<16xf32> {
  %0 = relax.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relax.reshape %0 {newshape = [2, 8]} : (tensor<4x4xf32>) -> tensor<2x8xf32>
  %2 = relax.matmul %1, %y : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %3 = relax.reshape %2 {newshape = [2, 4, 2]} : (tensor<2x8xf32>) -> tensor<2x4x2xf32>
  %4 = relax.transpose %3 {axes = [0, 2, 1]} : (tensor<2x4x2xf32>) -> tensor<2x2x4xf32>
  %5 = relax.reshape %4 {newshape = [16]} : (tensor<2x2x4xf32>) -> tensor<16xf32>
  return %5 : tensor<16xf32>
}

// -----

// Functions share what is equal; what differs in a constant, an attribute, a type or the order of
// its operands is not.
// CHECK-LABEL: @first
// CHECK-NEXT: func.call @fused_exp_add(%x)
// CHECK-NEXT: func.return
// CHECK-LABEL: @second
// CHECK-NEXT: func.call @fused_exp_add(%x)
// CHECK-NEXT: func.call @fused_exp_add1(%x)
// CHECK-NEXT: func.call @fused_exp_add2(%x)
// CHECK-NEXT: func.call @fused_exp_add3(%y)
// CHECK-NEXT: func.call @fused_subtract_exp(%x, %z)
// CHECK-NEXT: func.call @fused_subtract_exp(%z, %x)
// CHECK-NEXT: func.call @fused_exp_subtract(%x, %z)
// CHECK-NEXT: func.call @fused_exp_subtract1(%x, %z)
// CHECK-NEXT: func.return
func.func @first(%x : tensor<4xf32>) -> tensor<4xf32> {
  %c = relax.constant dense<1.0> : tensor<f32>
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.add %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @second(%x : tensor<4xf32>, %y : tensor<2xf32>, %z : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c = relax.constant dense<1.0> : tensor<f32>
  %d = relax.constant dense<2.0> : tensor<f32>
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.add %0, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = relax.add %2, %d : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = relax.add %4, %c {device = 1 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %6 = relax.exp %y : (tensor<2xf32>) -> tensor<2xf32>
  %7 = relax.add %6, %c : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %8 = relax.subtract %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %9 = relax.exp %8 : (tensor<4xf32>) -> tensor<4xf32>
  %10 = relax.subtract %z, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %11 = relax.exp %10 : (tensor<4xf32>) -> tensor<4xf32>
  %12 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %13 = relax.subtract %12, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %14 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %15 = relax.subtract %z, %14 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %3, %5, %7, %9, %11, %13, %15 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Not entered: kernels, and functions to be left alone. A name that is taken is not used again.
// UNCHANGED: @fused_exp_exp
// UNCHANGED: @skipped
// UNCHANGED: @composite
// CHECK-LABEL: @main
// CHECK-NEXT: func.call @fused_exp_exp(%x)
// CHECK-NEXT: func.call @fused_exp_exp1
func.func private @fused_exp_exp(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @skipped(%x : tensor<4xf32>) -> tensor<4xf32> attributes {passline.skip_optimization} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @composite(%x : tensor<4xf32>) -> tensor<4xf32> attributes {relax.composite = "a"} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @fused_exp_exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Operations in any order are to be put in order first.
// UNCHANGED: @graph
func.func @graph(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.graph -> tensor<4xf32> {
    %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    %1 = relax.negative %x : (tensor<4xf32>) -> tensor<4xf32>
    relax.output %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A lambda computes with what it captures; its body is its own.
// CHECK-LABEL: @lambda
// CHECK-NEXT: [[A:%.*]] = func.call @fused_exp(%x)
// CHECK-NEXT: relax.lambda
// CHECK: func.call @fused_add_exp(%{{.*}}, [[A]])
func.func @lambda(%x : tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %f = relax.lambda (%y : tensor<4xf32>) -> tensor<4xf32> {
    %2 = relax.add %y, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = relax.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %3 : tensor<4xf32>
  }
  %1 = relax.invoke %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// The residual has the sizes that the convolution computes from those of its data, by an expression of these.
// CHECK-LABEL: func.func private @fused_conv1d_add_relu
// CHECK-SAME: %0: tensor<1x4x?xf32> {onnx.dims = [unit, unit, "d0"]}
// CHECK-SAME: %1: tensor<1x4x?xf32> {onnx.dims = [unit, unit, "(d0 + 1) // 2"]}
func.func @computed_size(%x: tensor<1x4x?xf32> {onnx.dims = [unit, unit, "n"]}, %w: tensor<4x4x1xf32>, %v: tensor<4x4x3xf32>) -> tensor<1x4x?xf32> {
  %0 = relax.nn.conv1d %x, %w {strides = [2]} : (tensor<1x4x?xf32>, tensor<4x4x1xf32>) -> tensor<1x4x?xf32>
  %1 = relax.nn.conv1d %0, %v {strides = [2], padding = [1]} : (tensor<1x4x?xf32>, tensor<4x4x3xf32>) -> tensor<1x4x?xf32>
  %2 = relax.nn.conv1d %0, %w {strides = [2]} : (tensor<1x4x?xf32>, tensor<4x4x1xf32>) -> tensor<1x4x?xf32>
  %3 = relax.add %2, %1 : (tensor<1x4x?xf32>, tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  %4 = relax.nn.relu %3 : (tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  func.return %4 : tensor<1x4x?xf32>
}
