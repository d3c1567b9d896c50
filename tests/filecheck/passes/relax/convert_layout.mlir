// RUN: passline-opt %s -p 'convert-layout{desired=relax.nn.conv2d:NHWC}' --split-input-file | filecheck %s

// Must not fire: a kernel.
// UNCHANGED: @primitive
func.func @primitive(%x : tensor<1x3x5x4xf32>, %w : tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32> attributes {relax.primitive} {
  %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
  return %y : tensor<1x2x5x4xf32>
}

// -----

// Must not fire: a body of several blocks.
// CHECK-LABEL: @blocks
func.func @blocks(%x : tensor<1x3x5x4xf32>, %w : tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32> {
  // CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
  // CHECK-NEXT: cf.br ^next([[Y]] : tensor<1x2x5x4xf32>)
  %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
  cf.br ^next(%y : tensor<1x2x5x4xf32>)
^next(%z : tensor<1x2x5x4xf32>):
  // CHECK: relax.nn.relu %z : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  %r = relax.nn.relu %z : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  return %r : tensor<1x2x5x4xf32>
}

// -----

// The function called is converted by itself; a call has its operands as they were.
// CHECK-LABEL: @callee
func.func private @callee(%x : tensor<1x3x5x4xf32>, %w : tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32> {
  // CHECK: relax.nn.conv2d {{.*}} {data_layout = "NHWC", kernel_layout = "HWIO"}
  // CHECK-NEXT: [[Y:%.*]] = relax.layout_transform {{.*}} {src_layout = "NHWC", dst_layout = "NCHW"}
  // CHECK-NEXT: func.return [[Y]]
  %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
  return %y : tensor<1x2x5x4xf32>
}
// CHECK-LABEL: @caller
func.func @caller(%x : tensor<1x3x5x4xf32>, %v : tensor<3x3x1x1xf32>, %w : tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32> {
  // CHECK: [[Y:%.*]] = relax.nn.conv2d {{.*}} {data_layout = "NHWC", kernel_layout = "HWIO"}
  // CHECK-NEXT: [[T:%.*]] = relax.layout_transform [[Y]] {src_layout = "NHWC", dst_layout = "NCHW"}
  // CHECK-NEXT: [[Z:%.*]] = func.call @callee([[T]], %w)
  // CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[Z]] : (tensor<1x2x5x4xf32>)
  // CHECK-NEXT: func.return [[R]]
  %y = relax.nn.conv2d %x, %v : (tensor<1x3x5x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x5x4xf32>
  %z = func.call @callee(%y, %w) : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
  %r = relax.nn.relu %z : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  return %r : tensor<1x2x5x4xf32>
}

// -----

// Branches go on in the layout of what is above, and yield what they did; what they need as it was
// is made before both.
// CHECK-LABEL: @branches
func.func @branches(%c : i1, %x : tensor<1x3x5x4xf32>, %w : tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32> {
  // CHECK-NEXT: [[X:%.*]] = relax.layout_transform %x {src_layout = "NCHW", dst_layout = "NHWC"}
  // CHECK-NEXT: [[W:%.*]] = relax.layout_transform %w {src_layout = "OIHW", dst_layout = "HWIO"}
  // CHECK-NEXT: [[Y:%.*]] = relax.nn.conv2d [[X]], [[W]]
  // CHECK-NEXT: [[T:%.*]] = relax.layout_transform [[Y]] {src_layout = "NHWC", dst_layout = "NCHW"}
  // CHECK-NEXT: [[R:%.*]] = scf.if %c -> (tensor<1x2x5x4xf32>) {
  // CHECK-NEXT:   [[A:%.*]] = relax.nn.relu [[Y]] : (tensor<1x5x4x2xf32>)
  // CHECK-NEXT:   [[B:%.*]] = relax.layout_transform [[A]] {src_layout = "NHWC", dst_layout = "NCHW"}
  // CHECK-NEXT:   scf.yield [[B]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   [[L:%.*]] = relax.reshape [[T]]
  // CHECK-NEXT:   scf.yield [[L]]
  // CHECK-NEXT: }
  // CHECK-NEXT: [[S:%.*]] = relax.layout_transform [[R]] {src_layout = "NCHW", dst_layout = "NHWC"}
  // CHECK-NEXT: [[Z:%.*]] = relax.add [[S]], [[Y]] : (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>)
  // CHECK-NEXT: [[U:%.*]] = relax.layout_transform [[Z]] {src_layout = "NHWC", dst_layout = "NCHW"}
  // CHECK-NEXT: func.return [[U]]
  %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
  %r = scf.if %c -> (tensor<1x2x5x4xf32>) {
    %a = relax.nn.relu %y : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
    scf.yield %a : tensor<1x2x5x4xf32>
  } else {
    %l = relax.reshape %y {newshape = [1, 2, 5, 4]} : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
    scf.yield %l : tensor<1x2x5x4xf32>
  }
  %z = relax.add %r, %y : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  return %z : tensor<1x2x5x4xf32>
}

// -----

// A closure: what it takes and gives is as it was.
// CHECK-LABEL: @closure
func.func @closure(%x : tensor<1x3x5x4xf32>, %w : tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32> {
  // CHECK: [[Y:%.*]] = relax.nn.conv2d
  // CHECK-NEXT: [[F:%.*]] = relax.lambda(%a: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
  // CHECK-NEXT:   [[A:%.*]] = relax.layout_transform %a {src_layout = "NCHW", dst_layout = "NHWC"}
  // CHECK-NEXT:   [[B:%.*]] = relax.add [[Y]], [[A]] : (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>)
  // CHECK-NEXT:   [[C:%.*]] = relax.layout_transform [[B]] {src_layout = "NHWC", dst_layout = "NCHW"}
  // CHECK-NEXT:   relax.yield [[C]]
  // CHECK-NEXT: }
  // CHECK-NEXT: [[T:%.*]] = relax.layout_transform [[Y]] {src_layout = "NHWC", dst_layout = "NCHW"}
  // CHECK-NEXT: relax.invoke [[F]]([[T]])
  %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
  %f = relax.lambda(%a : tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
    %b = relax.add %y, %a : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
    relax.yield %b : tensor<1x2x5x4xf32>
  }
  %r = relax.invoke %f(%y) : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  return %r : tensor<1x2x5x4xf32>
}

// -----

// A graph, in the order of dependences.
// CHECK-LABEL: @graph
func.func @graph(%x : tensor<1x3x5x4xf32>, %w : tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32> {
  // CHECK: relax.nn.relu {{%.*}} : (tensor<1x5x4x2xf32>) -> tensor<1x5x4x2xf32>
  // CHECK: relax.nn.conv2d {{.*}} {data_layout = "NHWC", kernel_layout = "HWIO"}
  // CHECK: relax.layout_transform {{.*}} {src_layout = "NHWC", dst_layout = "NCHW"}
  // CHECK-NEXT: relax.output
  %g = relax.graph -> tensor<1x2x5x4xf32> {
    %r = relax.nn.relu %y : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
    %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
    relax.output %r : tensor<1x2x5x4xf32>
  }
  return %g : tensor<1x2x5x4xf32>
}

// -----

// Two elements of a tuple of which one is in another layout; where the tuple itself is used, both
// are as they were.
// CHECK-LABEL: @tuples
func.func @tuples(%x : tensor<1x3x5x4xf32>, %w : tensor<2x3x1x1xf32>) -> (tensor<1x2x5x4xf32>, tensor<1x3x5x4xf32>) {
  // CHECK: [[Y:%.*]] = relax.nn.conv2d
  // CHECK-NEXT: [[R:%.*]] = relax.nn.relu [[Y]] : (tensor<1x5x4x2xf32>)
  // CHECK-NEXT: [[S:%.*]] = relax.tanh %x
  // CHECK-NEXT: [[T:%.*]] = relax.layout_transform [[R]] {src_layout = "NHWC", dst_layout = "NCHW"}
  // CHECK-NEXT: func.return [[T]], [[S]]
  %y = relax.nn.conv2d %x, %w : (tensor<1x3x5x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x4xf32>
  %t = relax.tuple %x, %y : (tensor<1x3x5x4xf32>, tensor<1x2x5x4xf32>) -> tuple<tensor<1x3x5x4xf32>, tensor<1x2x5x4xf32>>
  %b = relax.tuple_get_item %t {index = 1} : (tuple<tensor<1x3x5x4xf32>, tensor<1x2x5x4xf32>>) -> tensor<1x2x5x4xf32>
  %a = relax.tuple_get_item %t {index = 0} : (tuple<tensor<1x3x5x4xf32>, tensor<1x2x5x4xf32>>) -> tensor<1x3x5x4xf32>
  %r = relax.nn.relu %b : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  %s = relax.tanh %a : (tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32>
  return %r, %s : tensor<1x2x5x4xf32>, tensor<1x3x5x4xf32>
}
