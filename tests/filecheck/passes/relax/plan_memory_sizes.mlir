// RUN: passline-opt %s -p plan-memory --split-input-file | filecheck %s
// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)

// Buffers of the same size share bytes: three values, two of which are live at once. A function
// with a result of unknown size allocates and returns it.
// CHECK-LABEL: func.func @chain(%x: memref<?x4xf32>) -> memref<?x4xf32> {
// CHECK:         [[N:%.*]] = memref.dim %x, %{{.*}} : memref<?x4xf32>
// CHECK:         [[UNIT:%.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK:         [[TWO:%.*]] = arith.constant 2 : index
// CHECK-NEXT:    [[BYTES:%.*]] = arith.muli [[TWO]], [[UNIT]] : index
// CHECK-NEXT:    %arena = memref.alloc([[BYTES]]) {alignment = 64 : i64} : memref<?xi8>
// CHECK:         [[RESULT:%.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xi8>
// CHECK-NEXT:    %a = memref.view %arena[[[OFFSET:%.*]]][[[N]]] : memref<?xi8> to memref<?x4xf32>
// CHECK-NEXT:    func.call @k(%x, %a)
// CHECK-NEXT:    %b = memref.view %arena[[[UNIT]]][[[N]]] : memref<?xi8> to memref<?x4xf32>
// CHECK-NEXT:    func.call @k(%a, %b)
// CHECK-NEXT:    %c = memref.view %arena[[[OFFSET]]][[[N]]] : memref<?xi8> to memref<?x4xf32>
// CHECK-NEXT:    func.call @k(%b, %c)
// CHECK-NEXT:    %d = memref.view [[RESULT]][%{{.*}}][[[N]]] : memref<?xi8> to memref<?x4xf32>
// CHECK-NEXT:    func.call @k(%c, %d)
// CHECK-NEXT:    memref.dealloc %arena : memref<?xi8>
// CHECK-NEXT:    func.return %d : memref<?x4xf32>
func.func private @k(memref<?x4xf32>, memref<?x4xf32>)
func.func @chain(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %a = relax.call_tir @k(%x) sizes(%n) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = relax.call_tir @k(%a) sizes(%n) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = relax.call_tir @k(%b) sizes(%n) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %d = relax.call_tir @k(%c) sizes(%n) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %d : tensor<?x4xf32>
}

// -----

// Sizes that are multiples of one expression share bytes: the buffer of 8 * n floats takes the place
// of two of 4 * n floats. A function whose results have static shapes writes into parameters.
// CHECK-LABEL: func.func @multiples(%x: memref<?x4xf32>, %e: memref<4xf32>) attributes {tir.outputs = 1 : i64} {
// CHECK:         [[TWO:%.*]] = arith.constant 2 : index
// CHECK-NEXT:    [[BYTES:%.*]] = arith.muli [[TWO]], [[UNIT:%.*]] : index
// CHECK-NEXT:    %arena = memref.alloc([[BYTES]])
// CHECK:         %a = memref.view %arena[[[ZERO:%.*]]][[[N:%.*]]]
// CHECK:         %b = memref.view %arena[[[UNIT]]][[[N]]]
// CHECK:         func.call @sum(%b, %e)
// CHECK:         %c = memref.view %arena[[[ZERO]]][[[N]]] : memref<?xi8> to memref<?x8xf32>
// CHECK-NEXT:    func.call @wide(%c)
// CHECK-NEXT:    memref.dealloc %arena
// CHECK-NEXT:    func.return
func.func private @k(memref<?x4xf32>, memref<?x4xf32>)
func.func private @sum(memref<?x4xf32>, memref<4xf32>)
func.func private @wide(memref<?x8xf32>)
func.func @multiples(%x: tensor<?x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %a = relax.call_tir @k(%x) sizes(%n) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = relax.call_tir @k(%a) sizes(%n) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %e = relax.call_tir @sum(%b) : (tensor<?x4xf32>) -> tensor<4xf32>
  %c = relax.call_tir @wide() sizes(%n) : () -> tensor<?x8xf32>
  return %e : tensor<4xf32>
}

// -----

// Sizes of two parameters cannot be compared: each has an area of its own.
// CHECK-LABEL: func.func @apart(%x: memref<?xf32>, %y: memref<?xf32>, %e: memref<4xf32>)
// CHECK:         [[KNOWN:%.*]] = arith.constant 64 : index
// CHECK:         [[SECOND:%.*]] = arith.addi [[KNOWN]], %{{.*}} : index
// CHECK:         [[SUM:%.*]] = arith.addi [[SECOND]], %{{.*}} : index
// CHECK-NEXT:    %arena = memref.alloc([[SUM]])
// CHECK:         %a = memref.view %arena[[[KNOWN]]]
// CHECK:         %b = memref.view %arena[[[SECOND]]]
// CHECK:         %f = memref.view %arena[%{{.*}}][] : memref<?xi8> to memref<4xf32>
func.func private @k(memref<?xf32>, memref<?xf32>)
func.func private @sum(memref<?xf32>, memref<4xf32>)
func.func @apart(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %a = relax.call_tir @k(%x) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %e = relax.call_tir @sum(%a) : (tensor<?xf32>) -> tensor<4xf32>
  %b = relax.call_tir @k(%y) sizes(%m) : (tensor<?xf32>) -> tensor<?xf32>
  %f = relax.call_tir @sum(%b) : (tensor<?xf32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

// A buffer of n + 2 elements takes the place of one of n, which is not larger.
// CHECK-LABEL: func.func @larger(%x: memref<?xf32>, %e: memref<4xf32>)
// CHECK:         %a = memref.view %arena[[[START:%.*]]][
// CHECK:         %b = memref.view %arena[[[START]]][
func.func private @k(memref<?xf32>, memref<?xf32>)
func.func private @sum(memref<?xf32>, memref<4xf32>)
func.func @larger(%x: tensor<?xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.addi %n, %c2 : index
  %a = relax.call_tir @k(%x) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %e = relax.call_tir @sum(%a) : (tensor<?xf32>) -> tensor<4xf32>
  %b = relax.call_tir @k(%x) sizes(%m) : (tensor<?xf32>) -> tensor<?xf32>
  %f = relax.call_tir @sum(%b) : (tensor<?xf32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// Dimensions of one name have one size, which is asserted: b shares the bytes of a. The callers of
// a private function need not keep to names.
// CHECK-LABEL: func.func @names
// CHECK:         [[N:%.*]] = memref.dim %x, %{{.*}} : memref<?xf32>
// CHECK-NEXT:    [[M:%.*]] = memref.dim %y, %{{.*}} : memref<?xf32>
// CHECK-NEXT:    [[C:%.*]] = arith.cmpi eq, [[M]], [[N]] : index
// CHECK-NEXT:    cf.assert [[C]], "dimension 0 of parameter 'y' is 'length': expected the size by dimension 0 of parameter 'ids'"
// CHECK:         %a = memref.view %arena[[[ZERO:%.*]]][[[N]]]
// CHECK:         %b = memref.view %arena[[[ZERO]]][[[N]]]
// CHECK-LABEL: func.func private @no_names
// CHECK-NOT:     cf.assert
func.func private @k(memref<?xf32>, memref<?xf32>)
func.func private @sum(memref<?xf32>, memref<4xf32>)
func.func @names(%x: tensor<?xf32> {onnx.name = "ids", onnx.dims = ["length"]}, %y: tensor<?xf32> {onnx.dims = ["length"]}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %a = relax.call_tir @k(%x) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %e = relax.call_tir @sum(%a) : (tensor<?xf32>) -> tensor<4xf32>
  %b = relax.call_tir @k(%y) sizes(%m) : (tensor<?xf32>) -> tensor<?xf32>
  %f = relax.call_tir @sum(%b) : (tensor<?xf32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}
func.func private @no_names(%x: tensor<?xf32> {onnx.dims = ["n"]}, %y: tensor<?xf32> {onnx.dims = ["n"]}) {
  return
}

// -----

// REQUIRES-XDSL: 0.60 (the custom form of `memref.alloca` and `memref.dim`)
// An expression of names is computed, and asserted.
// CHECK-LABEL: func.func @expression
// CHECK:         [[N:%.*]] = memref.dim %x
// CHECK:         [[M:%.*]] = memref.dim %y
// CHECK:         [[TWICE:%.*]] = arith.muli [[N]], %{{.*}} : index
// CHECK-NEXT:    [[C:%.*]] = arith.cmpi eq, [[M]], [[TWICE]] : index
// CHECK-NEXT:    cf.assert [[C]], "dimension 0 of parameter 'y' is '2 * n': expected the size by dimension 0 of parameter 'x'"
func.func @expression(%y: tensor<?xf32> {onnx.dims = ["2 * n"]}, %x: tensor<?xf32> {onnx.dims = ["n"]}) {
  return
}

// -----

// A reshaped parameter is the same bytes with other sizes. A returned one is copied.
// CHECK-LABEL: func.func @parameter
// CHECK:         memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xi8>
// CHECK:         [[COPY:%.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xi8>
// CHECK:         [[FLAT:%.*]] = memref.reinterpret_cast %x to offset: [0], sizes: [%{{.*}}], strides: [1] : memref<?x4xf32> to memref<?xf32>
// CHECK:         func.call @k([[FLAT]], %e)
// CHECK-NEXT:    [[RESULT:%.*]] = memref.view [[COPY]]
// CHECK-NEXT:    "memref.copy"(%x, [[RESULT]])
// CHECK-NEXT:    func.return %e, [[RESULT]] : memref<4xf32>, memref<?x4xf32>
func.func private @k(memref<?xf32>, memref<4xf32>)
func.func @parameter(%x: tensor<?x4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  %f = relax.flatten %x : (tensor<?x4xf32>) -> tensor<?xf32>
  %e = relax.call_tir @k(%f) : (tensor<?xf32>) -> tensor<4xf32>
  return %e, %x : tensor<4xf32>, tensor<?x4xf32>
}

// -----

// Each branch yields an allocation of its own, which is freed after its last use; what the branch
// alone needs is in the arena.
// CHECK-LABEL: func.func @branch
// CHECK:         %arena = memref.alloc
// CHECK:         [[IF:%.*]] = scf.if %p -> (memref<?xf32>) {
// CHECK:           [[B:%.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xi8>
// CHECK-NEXT:      %c = memref.view [[B]]
// CHECK-NEXT:      func.call @k(%x, %b)
// CHECK-NEXT:      func.call @k(%b, %c)
// CHECK-NEXT:      scf.yield %c : memref<?xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      [[D:%.*]] = memref.alloc
// CHECK-NEXT:      [[E:%.*]] = memref.view [[D]]
// CHECK-NEXT:      "memref.copy"(%x, [[E]])
// CHECK-NEXT:      scf.yield [[E]] : memref<?xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    memref.dealloc %arena
// CHECK:         func.call @sum([[IF]], %e)
// CHECK-NEXT:    memref.dealloc [[IF]] : memref<?xf32>
// CHECK-NEXT:    func.return
func.func private @k(memref<?xf32>, memref<?xf32>)
func.func private @sum(memref<?xf32>, memref<4xf32>)
func.func @branch(%x: tensor<?xf32>, %p: i1) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %a = scf.if %p -> (tensor<?xf32>) {
    %b = relax.call_tir @k(%x) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
    %c = relax.call_tir @k(%b) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
    scf.yield %c : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  %e = relax.call_tir @sum(%a) : (tensor<?xf32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

// A size that depends on data is asserted where it is known, and its buffer allocated there; it is
// freed after its last use.
// CHECK-LABEL: func.func @data
// CHECK:         func.call @count(%x, %c)
// CHECK-NEXT:    [[L:%.*]] = memref.load %c[
// CHECK-NEXT:    memref.dealloc %arena
// CHECK-NEXT:    [[N:%.*]] = arith.index_cast [[L]] : i64 to index
// CHECK-NEXT:    [[OK:%.*]] = arith.cmpi sge, [[N]], %{{.*}} : index
// CHECK-NEXT:    cf.assert [[OK]], "a size of a result is negative"
// CHECK-NEXT:    [[BYTES:%.*]] = arith.muli [[N]], %{{.*}} : index
// CHECK-NEXT:    [[OWN:%.*]] = memref.alloc([[BYTES]]) {alignment = 64 : i64} : memref<?xi8>
// CHECK-NEXT:    %a = memref.view [[OWN]][%{{.*}}][[[N]]]
// CHECK:         [[NEXT:%.*]] = memref.alloc(
// CHECK:         func.call @k(%a, %b)
// CHECK-NEXT:    memref.dealloc [[OWN]]
// CHECK-NEXT:    func.call @sum(%b, %e)
// CHECK-NEXT:    memref.dealloc [[NEXT]]
func.func private @k(memref<?xf32>, memref<?xf32>)
func.func private @count(memref<?xf32>, memref<1xi64>)
func.func private @sum(memref<?xf32>, memref<4xf32>)
func.func @data(%x: tensor<?xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c = relax.call_tir @count(%x) : (tensor<?xf32>) -> tensor<1xi64>
  %l = tensor.extract %c[%c0] : tensor<1xi64>
  %n = arith.index_cast %l : i64 to index
  %a = relax.call_tir @k(%x) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %b = relax.call_tir @k(%a) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %e = relax.call_tir @sum(%b) : (tensor<?xf32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

// A size that may be negative is asserted; the arena, which is allocated before, takes it as 0.
// CHECK-LABEL: func.func @negative
// CHECK:         arith.maxsi [[M:%.*]], %{{.*}} : index
// CHECK:         %arena = memref.alloc
// CHECK:         arith.cmpi sge, [[M]], %{{.*}} : index
// CHECK-NEXT:    cf.assert %{{.*}}, "a size of a result is negative"
func.func private @k(memref<?xf32>, memref<?xf32>)
func.func @negative(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.subi %n, %c2 : index
  %a = relax.call_tir @k(%x) sizes(%m) : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// A shape that is computed from scalars is no buffer.
// CHECK-LABEL: func.func @reshape
// CHECK-NOT:     memref.store
// CHECK:         cf.assert %{{.*}}, "relax.dyn.reshape: the numbers of elements differ"
// CHECK:         memref.reinterpret_cast %x to offset: [0], sizes: [%{{.*}}, 4], strides: [4, 1] : memref<?xf32> to memref<?x4xf32>
func.func private @k(memref<?x4xf32>)
func.func @reshape(%x: tensor<?xf32>, %n: index) {
  %c4 = arith.constant 4 : i64
  %i = arith.index_cast %n : index to i64
  %s = tensor.from_elements %i, %c4 : tensor<2xi64>
  %0 = relax.dyn.reshape %x, %s {allowzero = true} : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  relax.call_tir @k(%0) : (tensor<?x4xf32>) -> ()
  return
}

// -----

// The results of a function belong to its caller, which frees them, or returns them in turn.
// CHECK-LABEL: func.func private @callee(%x: memref<?xf32>) -> (memref<?xf32>, memref<?xf32>)
// CHECK-LABEL: func.func @caller(%x: memref<?xf32>) -> memref<?xf32> {
// CHECK:         [[A:%.*]], [[B:%.*]] = func.call @callee(%x) : (memref<?xf32>) -> (memref<?xf32>, memref<?xf32>)
// CHECK:         memref.dealloc [[A]] : memref<?xf32>
// CHECK:         func.return [[B]] : memref<?xf32>
func.func private @k(memref<?xf32>, memref<?xf32>)
func.func private @callee(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %a = relax.call_tir @k(%x) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  return %a, %x : tensor<?xf32>, tensor<?xf32>
}
func.func @caller(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a, %b = func.call @callee(%x) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %b : tensor<?xf32>
}

// -----

// A cast to a static shape is asserted.
// CHECK-LABEL: func.func @cast
// CHECK:         cf.assert %{{.*}}, "tensor.cast: dimension 0 of a tensor is not 4"
// CHECK-NEXT:    [[X:%.*]] = memref.reinterpret_cast %x
// CHECK-NEXT:    func.call @k([[X]], %y)
func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @cast(%x: tensor<?xf32>) -> tensor<4xf32> {
  %0 = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  %y = relax.call_tir @k(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
