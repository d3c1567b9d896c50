// RUN: passline-opt %s -p plan-devices --config relax.fallback_device_type=cuda --split-input-file | filecheck %s

// Opaque functions are not looked into; scalars are on no device.
// CHECK-LABEL: func.func @primitive(%a: tensor<2xf32>) -> tensor<2xf32> attributes {relax.primitive}
// CHECK-NEXT: relax.on_device
// CHECK-LABEL: func.func @skipped(%a: tensor<2xf32>) -> tensor<2xf32> attributes {passline.skip_optimization}
// CHECK-NEXT: relax.on_device
// CHECK-LABEL: func.func @scalars(%n: i32) -> i32
!t = tensor<2xf32>
func.func @primitive(%a : !t) -> !t attributes {relax.primitive} {
  %0 = relax.on_device %a {device = #relax.device<cpu>} : (!t) -> !t
  return %0 : !t
}
func.func @skipped(%a : !t) -> !t attributes {passline.skip_optimization} {
  %0 = relax.on_device %a {device = #relax.device<cpu>} : (!t) -> !t
  return %0 : !t
}
func.func @scalars(%n : i32) -> i32 {
  %0 = arith.addi %n, %n : i32
  return %0 : i32
}

// -----

// An annotation on what a function returns is one on the result: everything follows.
// CHECK-LABEL: @result
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cpu>}, %b: tensor<2xf32> {relax.device = #relax.device<cpu>}, %c: tensor<2xf32> {relax.device = #relax.device<cpu>}, %d: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cpu>})
// CHECK-NEXT: [[F:%.*]] = relax.lambda([[X:%.*]]: tensor<2xf32>, [[Y:%.*]]: tensor<2xf32>) -> tensor<2xf32> attributes {relax.device = {{\[\[}}#relax.device<cpu>, #relax.device<cpu>], [#relax.device<cpu>]]} {
// CHECK-NEXT:   [[S:%.*]] = relax.add [[X]], [[Y]]
// CHECK-NEXT:   relax.yield [[S]]
// CHECK-NOT: relax.device_copy
!t = tensor<2xf32>
func.func @result(%a : !t, %b : !t, %c : !t, %d : !t) -> !t {
  %f = relax.lambda(%x : !t, %y : !t) -> !t {
    %0 = relax.add %x, %y : (!t, !t) -> !t
    %1 = relax.on_device %0 {device = #relax.device<cpu>} : (!t) -> !t
    relax.yield %1 : !t
  }
  %2 = relax.invoke %f(%a, %b) : (!t, !t) -> !t
  %3 = relax.add %c, %d : (!t, !t) -> !t
  %4 = relax.subtract %2, %3 : (!t, !t) -> !t
  return %4 : !t
}
// One on the call is one on the function, but not on its users.
// CHECK-LABEL: @call
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cpu>}, %b: tensor<2xf32> {relax.device = #relax.device<cpu>}, %c: tensor<2xf32> {relax.device = #relax.device<cuda>}, %d: tensor<2xf32> {relax.device = #relax.device<cuda>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK-NEXT: relax.lambda
// CHECK-SAME: {{\[\[}}#relax.device<cpu>, #relax.device<cpu>], [#relax.device<cpu>]]
// CHECK: [[C:%.*]] = relax.invoke
// CHECK-NEXT: [[L:%.*]] = relax.device_copy [[C]]
// CHECK-NEXT: [[D:%.*]] = relax.add %c, %d
// CHECK-NEXT: relax.subtract [[L]], [[D]]
func.func @call(%a : !t, %b : !t, %c : !t, %d : !t) -> !t {
  %f = relax.lambda(%x : !t, %y : !t) -> !t {
    %0 = relax.add %x, %y : (!t, !t) -> !t
    relax.yield %0 : !t
  }
  %1 = relax.invoke %f(%a, %b) : (!t, !t) -> !t
  %2 = relax.on_device %1 {device = #relax.device<cpu>} : (!t) -> !t
  %3 = relax.add %c, %d : (!t, !t) -> !t
  %4 = relax.subtract %2, %3 : (!t, !t) -> !t
  return %4 : !t
}

// -----

// A function of a function: what its argument is annotated as flows back through both.
// CHECK-LABEL: @higher_order
// CHECK-SAME: (%x: tensor<2xf32> {relax.device = #relax.device<cuda>}, %y: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK: relax.lambda([[G:%.*]]: (tensor<2xf32>) -> tensor<2xf32>)
// CHECK: relax.lambda([[A:%.*]]: tensor<2xf32>)
// CHECK-SAME: {{\[\[}}#relax.device<cpu>], [#relax.device<cuda>]]
// CHECK-NEXT: [[B:%.*]] = relax.device_copy [[A]]
// CHECK-NEXT: relax.invoke [[G]]([[B]])
!t = tensor<2xf32>
func.func @higher_order(%x : !t, %y : !t) -> !t {
  %f = relax.lambda(%g : (!t) -> !t) -> ((!t) -> !t) {
    %h = relax.lambda(%a : !t) -> !t {
      %0 = relax.on_device %a {device = #relax.device<cpu>} : (!t) -> !t
      %1 = relax.invoke %g(%0) : (!t) -> !t
      %2 = relax.add %1, %x : (!t, !t) -> !t
      relax.yield %2 : !t
    }
    relax.yield %h : (!t) -> !t
  }
  %n = relax.lambda(%b : !t) -> !t {
    %3 = relax.negative %b : (!t) -> !t
    relax.yield %3 : !t
  }
  %k = relax.invoke %f(%n) : ((!t) -> !t) -> ((!t) -> !t)
  %4 = relax.invoke %k(%y) : (!t) -> !t
  %5 = relax.subtract %x, %4 : (!t, !t) -> !t
  return %5 : !t
}

// -----

// A function in a tuple is in one place, with all that it takes and gives.
// CHECK-LABEL: @in_tuple
// CHECK-SAME: (%x: tensor<2xf32> {relax.device = #relax.device<cpu>}, %y: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cpu>})
// CHECK-NOT: relax.device_copy
!t = tensor<2xf32>
func.func @in_tuple(%x : !t, %y : !t) -> !t {
  %f = relax.lambda(%a : !t, %b : !t) -> !t {
    %0 = relax.on_device %b {device = #relax.device<cpu>, constrain_result = true} : (!t) -> !t
    %1 = relax.add %a, %0 : (!t, !t) -> !t
    relax.yield %1 : !t
  }
  %t = relax.tuple %f, %x : ((!t, !t) -> !t, !t) -> tuple<(!t, !t) -> !t, !t>
  %g = relax.tuple_get_item %t {index = 0} : (tuple<(!t, !t) -> !t, !t>) -> ((!t, !t) -> !t)
  %z = relax.tuple_get_item %t {index = 1} : (tuple<(!t, !t) -> !t, !t>) -> !t
  %2 = relax.invoke %g(%z, %y) : (!t, !t) -> !t
  return %2 : !t
}

// -----

// Functions that a branch chooses are in one place: one of them uses what is on the CPU.
// CHECK-LABEL: @choice
// CHECK-SAME: (%c: i1, %x: tensor<2xf32> {relax.device = #relax.device<cpu>}, %y: tensor<2xf32> {relax.device = #relax.device<cpu>}, %z: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cpu>})
// CHECK-NOT: relax.device_copy
!t = tensor<2xf32>
func.func @choice(%c : i1, %x : !t, %y : !t, %z : !t) -> !t {
  %f = scf.if %c -> ((!t) -> !t) {
    %1 = relax.lambda(%a : !t) -> !t {
      %2 = relax.on_device %y {device = #relax.device<cpu>, constrain_result = true} : (!t) -> !t
      %3 = relax.add %a, %2 : (!t, !t) -> !t
      relax.yield %3 : !t
    }
    scf.yield %1 : (!t) -> !t
  } else {
    %4 = relax.lambda(%a : !t) -> !t {
      relax.yield %a : !t
    }
    scf.yield %4 : (!t) -> !t
  }
  %5 = relax.invoke %f(%x) : (!t) -> !t
  %6 = relax.subtract %5, %z : (!t, !t) -> !t
  return %6 : !t
}

// -----

// A branch gives what both of its regions give, on one device: the other copies.
// CHECK-LABEL: @branch
// CHECK-SAME: (%c: i1, %x: tensor<2xf32> {relax.device = #relax.device<cpu>}, %y: tensor<2xf32> {relax.device = #relax.device<cuda>}) -> (tensor<2xf32> {relax.device = #relax.device<cpu>})
// CHECK: scf.if
// CHECK-NEXT:   relax.exp %x
// CHECK-NEXT:   scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT:   [[B:%.*]] = relax.exp %y
// CHECK-NEXT:   [[C:%.*]] = relax.device_copy [[B]] {src = #relax.device<cuda>, dst = #relax.device<cpu>}
// CHECK-NEXT:   scf.yield [[C]]
!t = tensor<2xf32>
func.func @branch(%c : i1, %x : !t {relax.device = #relax.device<cpu>}, %y : !t {relax.device = #relax.device<cuda>}) -> !t {
  %0 = scf.if %c -> (!t) {
    %1 = relax.exp %x : (!t) -> !t
    scf.yield %1 : !t
  } else {
    %2 = relax.exp %y : (!t) -> !t
    scf.yield %2 : !t
  }
  return %0 : !t
}

// -----

// What a loop carries stays where it is: what comes in is copied before it.
// CHECK-LABEL: @loop
// CHECK: [[C:%.*]] = relax.device_copy %x
// CHECK-NEXT: scf.for {{.*}} iter_args([[S:%.*]] = [[C]])
// CHECK-NEXT:   relax.add [[S]], %y
// CHECK-NOT: relax.device_copy
!t = tensor<2xf32>
func.func @loop(%n : index, %x : !t {relax.device = #relax.device<cpu>}, %y : !t {relax.device = #relax.device<cuda>}) -> (!t {relax.device = #relax.device<cuda>}) {
  %x1 = relax.on_device %x {device = #relax.device<cpu>} : (!t) -> !t
  %0 = scf.for %i = %n to %n step %n iter_args(%s = %x1) -> (!t) {
    %1 = relax.add %s, %y : (!t, !t) -> !t
    scf.yield %1 : !t
  }
  return %0 : !t
}
// CHECK-LABEL: @while
// CHECK-SAME: (%c: i1, %x: tensor<2xf32> {relax.device = #relax.device<opencl>}) -> (tensor<2xf32> {relax.device = #relax.device<opencl>})
func.func @while(%c : i1, %x : !t) -> !t {
  %0 = scf.while (%a = %x) : (!t) -> !t {
    scf.condition(%c) %a : !t
  } do {
  ^bb0(%b : !t):
    %1 = relax.exp %b : (!t) -> !t
    %2 = relax.on_device %1 {device = #relax.device<opencl>, constrain_result = true} : (!t) -> !t
    scf.yield %2 : !t
  }
  return %0 : !t
}
// CHECK-LABEL: @graph
// CHECK-SAME: (%x: tensor<2xf32> {relax.device = #relax.device<opencl>}) -> (tensor<2xf32> {relax.device = #relax.device<opencl>})
func.func @graph(%x : !t) -> !t {
  %0 = relax.graph -> !t {
    %1 = relax.exp %2 : (!t) -> !t
    %2 = relax.on_device %x {device = #relax.device<opencl>, constrain_result = true} : (!t) -> !t
    relax.output %1 : !t
  }
  return %0 : !t
}

// -----

// A parameter on the CPU is copied in the function, and the caller's argument follows; a closure
// of the function as well.
// CHECK-LABEL: @callee
// CHECK-SAME: (%x: tensor<2xf32> {relax.device = #relax.device<cuda>}, %y: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK-NEXT: [[Y:%.*]] = relax.device_copy %y
// CHECK-NEXT: relax.add %x, [[Y]]
// CHECK-LABEL: @caller
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cuda>}, %b: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK-NEXT: relax.exp %b
// CHECK-NEXT: func.call @callee
// CHECK-LABEL: @closure
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cuda>}, %b: tensor<2xf32> {relax.device = #relax.device<cpu>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK-NOT: relax.device_copy
!t = tensor<2xf32>
func.func @callee(%x : !t {relax.device = #relax.device<cuda>}, %y : !t {relax.device = #relax.device<cpu>}) -> !t {
  %0 = relax.add %x, %y : (!t, !t) -> !t
  return %0 : !t
}
func.func @caller(%a : !t, %b : !t) -> !t {
  %0 = relax.exp %b : (!t) -> !t
  %1 = func.call @callee(%a, %0) : (!t, !t) -> !t
  return %1 : !t
}
func.func @closure(%a : !t, %b : !t) -> !t {
  %f = relax.make_closure @callee(%a) : (!t) -> ((!t) -> !t)
  %0 = relax.invoke %f(%b) : (!t) -> !t
  return %0 : !t
}

// -----

// A weak annotation is where a value may be copied, which happens only where it has to be.
// CHECK-LABEL: @weak
// CHECK-SAME: (%a: tensor<2xf32> {relax.device = #relax.device<cuda, "texture">}, %b: tensor<2xf32> {relax.device = #relax.device<cuda, "global">}, %c: tensor<2xf32> {relax.device = #relax.device<cuda, "global">})
// CHECK-NEXT: [[A:%.*]] = relax.device_copy %a {src = #relax.device<cuda, "texture">, dst = #relax.device<cuda, "global">}
// CHECK-NEXT: [[S:%.*]] = relax.add [[A]], %b
// CHECK-NEXT: relax.add [[S]], %c
!t = tensor<2xf32>
func.func @weak(%a : !t {relax.device = #relax.device<cuda, "texture">}, %b : !t {relax.device = #relax.device<cuda, "global">}, %c : !t) -> !t {
  %0 = relax.on_device %a {device = #relax.device<cuda>, constrain_body = false} : (!t) -> !t
  %1 = relax.add %0, %b : (!t, !t) -> !t
  %2 = relax.on_device %1 {device = #relax.device<cuda, "global">, constrain_body = false, constrain_result = true} : (!t) -> !t
  %3 = relax.add %2, %c : (!t, !t) -> !t
  return %3 : !t
}

// -----

// Kernels say which memory their buffers are in, and run on one device.
// CHECK-LABEL: func.func @kernels
// CHECK-SAME: (%x: tensor<2xf32> {relax.device = #relax.device<cuda, "texture">}) -> (tensor<2xf32> {relax.device = #relax.device<cuda, "texture">})
// CHECK-NEXT: [[A:%.*]] = relax.call_tir @kernel(%x)
// CHECK-NEXT: [[B:%.*]] = relax.device_copy [[A]] {src = #relax.device<cuda, "global">, dst = #relax.device<cuda, "texture">}
// CHECK-NEXT: [[C:%.*]] = relax.call_tir @kernel([[B]])
// CHECK-NEXT: [[D:%.*]] = relax.device_copy [[C]]
!t = tensor<2xf32>
func.func private @kernel(memref<2xf32, "texture">, memref<2xf32, "global">)
func.func @kernels(%x : !t) -> (!t {relax.device = #relax.device<cuda, "texture">}) {
  %0 = relax.call_tir @kernel(%x) : (!t) -> !t
  %1 = relax.call_tir @kernel(%0) : (!t) -> !t
  return %1 : !t
}

// -----

// Opaque functions compute where they are called, unless they say where.
// CHECK-LABEL: func.func @calls
// CHECK-SAME: (%x: tensor<2xf32> {relax.device = #relax.device<cpu>}, %y: tensor<2xf32> {relax.device = #relax.device<cuda>}) -> (tensor<2xf32> {relax.device = #relax.device<cuda>})
// CHECK-NEXT: [[A:%.*]] = func.call @anywhere(%x)
// CHECK-NEXT: [[L:%.*]] = relax.device_copy [[A]]
// CHECK-NEXT: [[B:%.*]] = func.call @anywhere(%y)
// CHECK-NEXT: [[M:%.*]] = relax.device_copy %x {src = #relax.device<cpu>, dst = #relax.device<vulkan>}
// CHECK-NEXT: func.call @vulkan([[M]])
!t = tensor<2xf32>
func.func private @anywhere(!t) -> !t
func.func @vulkan(%a : !t {relax.device = #relax.device<vulkan>}) -> (!t {relax.device = #relax.device<cuda>}) attributes {relax.primitive} {
  return %a : !t
}
func.func @calls(%x : !t, %y : !t) -> !t {
  %0 = func.call @anywhere(%x) : (!t) -> !t
  %1 = relax.on_device %0 {device = #relax.device<cpu>} : (!t) -> !t
  %2 = func.call @anywhere(%y) : (!t) -> !t
  %3 = func.call @vulkan(%x) : (!t) -> !t
  %4 = relax.add %1, %2 : (!t, !t) -> !t
  %5 = relax.add %3, %4 : (!t, !t) -> !t
  return %5 : !t
}
