// RUN: not passline-opt %s -p plan-devices --split-input-file 2>&1 | filecheck %s

// A copy from where the value is not.
// CHECK: error: 'relax.device_copy' op copies from #relax.device<cpu> a value that is on #relax.device<cuda>
// CHECK: note: 'func.func' op has parameter 0 on #relax.device<cuda>
!t = tensor<2xf32>
func.func @copy(%x : !t {relax.device = #relax.device<cuda>}) -> !t {
  %1 = relax.device_copy %x {src = #relax.device<cpu>, dst = #relax.device<cuda>} : (!t) -> !t
  return %1 : !t
}

// -----

// Functions on two devices, of which one is chosen: what says so of each.
// CHECK: error: 'scf.yield' op takes a function on #relax.device<cpu> that is on #relax.device<cuda>
// CHECK-NEXT: scf.yield %g
// CHECK: note: 'relax.on_device' op puts it on #relax.device<cuda>
// CHECK: note: 'relax.on_device' op puts it on #relax.device<cpu>
!t = tensor<2xf32>
func.func @function(%c : i1, %x : !t) -> !t {
  %f = relax.lambda(%a : !t) -> !t {
    %0 = relax.exp %a : (!t) -> !t
    %1 = relax.on_device %0 {device = #relax.device<cpu>} : (!t) -> !t
    relax.yield %1 : !t
  }
  %g = relax.lambda(%a : !t) -> !t {
    %0 = relax.exp %a : (!t) -> !t
    %1 = relax.on_device %0 {device = #relax.device<cuda>} : (!t) -> !t
    relax.yield %1 : !t
  }
  %h = scf.if %c -> ((!t) -> !t) {
    scf.yield %f : (!t) -> !t
  } else {
    scf.yield %g : (!t) -> !t
  }
  %2 = relax.invoke %h(%x) : (!t) -> !t
  return %2 : !t
}

// -----

// Attributes that say nothing.
// CHECK: error: 'func.func' op has parameter 0 on "cuda", which is not a device of this value
// CHECK: error: 'func.func' op has result 0 on [#relax.device<cpu>], which is not a device of this value
// CHECK: error: 'relax.lambda' op is on {{\[\[}}#relax.device<cpu>], []], which is not a device of this value
func.func @attribute(%x : tensor<2xf32> {relax.device = "cuda"}) -> (tensor<2xf32> {relax.device = [#relax.device<cpu>]}) {
  %f = relax.lambda(%a : tensor<2xf32>) -> tensor<2xf32> attributes {relax.device = [[#relax.device<cpu>], []]} {
    relax.yield %a : tensor<2xf32>
  }
  return %x : tensor<2xf32>
}

// -----

// A copy from another memory.
// CHECK: error: 'relax.device_copy' op copies from #relax.device<cuda, "b"> a value that is on #relax.device<cuda, "a">
// CHECK: note: 'func.func' op has parameter 0 on #relax.device<cuda, "a">
!t = tensor<2xf32>
func.func @memory(%x : !t {relax.device = #relax.device<cuda, "a">}) -> !t {
  %1 = relax.device_copy %x {src = #relax.device<cuda, "b">, dst = #relax.device<cuda>} : (!t) -> !t
  return %1 : !t
}

// -----

// An argument that is a function, and gives its result elsewhere than the parameter says.
// CHECK: error: 'func.call' op takes a function on #relax.device<cuda> that is on #relax.device<cpu>
// CHECK: note: 'relax.on_device' op puts it on #relax.device<cpu>
// CHECK: note: 'func.func' op has parameter 0 on #relax.device<cuda>
!t = tensor<2xf32>
func.func @argument(%x : !t) -> !t {
  %f = relax.lambda(%a : !t) -> !t {
    %0 = relax.exp %a : (!t) -> !t
    %1 = relax.on_device %0 {device = #relax.device<cpu>} : (!t) -> !t
    relax.yield %1 : !t
  }
  %2 = func.call @apply(%f, %x) : ((!t) -> !t, !t) -> !t
  return %2 : !t
}
func.func @apply(%f : (!t) -> !t {relax.device = [[#relax.device<cpu>], [#relax.device<cuda>]]}, %x : !t) -> !t {
  %0 = relax.invoke %f(%x) : (!t) -> !t
  return %0 : !t
}
