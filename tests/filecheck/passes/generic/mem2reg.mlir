// RUN: passline-opt %s -p mem2reg --split-input-file | filecheck %s

// A load gets the value of the store before it.
// CHECK-LABEL: func.func @straight
// CHECK-NEXT: %[[A:.*]] = arith.addi %x, %x
// CHECK-NEXT: func.return %[[A]]
func.func @straight(%x: i32) -> i32 {
  %m = memref.alloca() : memref<i32>
  memref.store %x, %m[] : memref<i32>
  %0 = memref.load %m[] : memref<i32>
  %1 = arith.addi %0, %x : i32
  memref.store %1, %m[] : memref<i32>
  %2 = memref.load %m[] : memref<i32>
  return %2 : i32
}

// What several stores may have stored becomes an argument of the block that needs it.
// CHECK-LABEL: func.func @join
// CHECK: cf.cond_br %c, ^[[A:.*]], ^[[J:.*]](%x : i32)
// CHECK: ^[[A]]:
// CHECK-NEXT: cf.br ^[[J]](%y : i32)
// CHECK: ^[[J]](%[[M:.*]]: i32):
// CHECK-NEXT: func.return %[[M]]
func.func @join(%c: i1, %x: i32, %y: i32) -> i32 {
  %m = memref.alloca() : memref<1xi32>
  %c0 = arith.constant 0 : index
  memref.store %x, %m[%c0] : memref<1xi32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  memref.store %y, %m[%c0] : memref<1xi32>
  cf.br ^bb2
^bb2:
  %0 = memref.load %m[%c0] : memref<1xi32>
  return %0 : i32
}

// Two slots in a loop: each has its place among the operands of the branches.
// CHECK-LABEL: func.func @loop
// CHECK: cf.br ^[[H:.*]](%{{.*}}, %x : i32, i32)
// CHECK: ^[[H]](%[[N:.*]]: i32, %[[S:.*]]: i32):
// CHECK: cf.cond_br %{{.*}}, ^[[B:.*]], ^[[E:.*]]
// CHECK: ^[[B]]:
// CHECK: cf.br ^[[H]](%{{.*}}, %{{.*}} : i32, i32)
// CHECK: ^[[E]]:
// CHECK-NEXT: func.return %[[S]]
func.func @loop(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = memref.alloca() : memref<i32>
  %s = memref.alloca() : memref<i32>
  memref.store %c0, %n[] : memref<i32>
  memref.store %x, %s[] : memref<i32>
  cf.br ^head
^head:
  %0 = memref.load %n[] : memref<i32>
  %1 = arith.cmpi slt, %0, %x : i32
  cf.cond_br %1, ^body, ^end
^body:
  %2 = memref.load %n[] : memref<i32>
  %3 = arith.addi %2, %c1 : i32
  memref.store %3, %n[] : memref<i32>
  %4 = memref.load %s[] : memref<i32>
  %5 = arith.muli %4, %3 : i32
  memref.store %5, %s[] : memref<i32>
  cf.br ^head
^end:
  %6 = memref.load %s[] : memref<i32>
  return %6 : i32
}

// A switch passes values, too.
// CHECK-LABEL: func.func @switch
// CHECK: cf.switch
// CHECK-NEXT: default: ^[[D:.*]](%x : i32),
// CHECK-NEXT: 1: ^[[D]](%x : i32),
// CHECK-NEXT: 2: ^[[O:.*]]
// CHECK: ^[[O]]:
// CHECK-NEXT: cf.br ^[[D]](%y : i32)
func.func @switch(%i: i32, %x: i32, %y: i32) -> i32 {
  %m = memref.alloca() : memref<i32>
  memref.store %x, %m[] : memref<i32>
  cf.switch %i : i32, [default: ^end, 1: ^end, 2: ^other]
^other:
  memref.store %y, %m[] : memref<i32>
  cf.br ^end
^end:
  %0 = memref.load %m[] : memref<i32>
  return %0 : i32
}

// The pointer of one slot in another one: both go.
// CHECK-LABEL: func.func @pointer
// CHECK-NEXT: func.return %x
func.func @pointer(%x: i32) -> i32 {
  %m = memref.alloca() : memref<i32>
  %p = memref.alloca() : memref<memref<i32>>
  memref.store %x, %m[] : memref<i32>
  memref.store %m, %p[] : memref<memref<i32>>
  %0 = memref.load %p[] : memref<memref<i32>>
  %1 = memref.load %0[] : memref<i32>
  return %1 : i32
}

// CHECK-LABEL: llvm.func @llvm
// CHECK-NOT: llvm.alloca
// CHECK: llvm.return %x
llvm.func @llvm(%x: i32) -> i32 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %m = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %x, %m : i32, !llvm.ptr
  %0 = llvm.load %m : !llvm.ptr -> i32
  llvm.return %0 : i32
}

// Must not fire: other uses, several elements, accesses in a region of another operation.
// UNCHANGED: @other_uses
func.func @other_uses(%x: i32) -> i32 {
  %m = memref.alloca() : memref<i32>
  memref.store %x, %m[] : memref<i32>
  func.call @use(%m) : (memref<i32>) -> ()
  %0 = memref.load %m[] : memref<i32>
  return %0 : i32
}
func.func private @use(%m: memref<i32>)

// UNCHANGED: @elements
func.func @elements(%x: i32, %i: index) -> i32 {
  %m = memref.alloca() : memref<2xi32>
  memref.store %x, %m[%i] : memref<2xi32>
  %0 = memref.load %m[%i] : memref<2xi32>
  return %0 : i32
}

// UNCHANGED: @nested
func.func @nested(%c: i1, %x: i32, %y: i32) -> i32 {
  %m = memref.alloca() : memref<i32>
  memref.store %x, %m[] : memref<i32>
  scf.if %c {
    memref.store %y, %m[] : memref<i32>
  }
  %0 = memref.load %m[] : memref<i32>
  return %0 : i32
}

// UNCHANGED: @escapes
func.func @escapes(%p: memref<memref<i32>>, %x: i32) -> i32 {
  %m = memref.alloca() : memref<i32>
  memref.store %x, %m[] : memref<i32>
  memref.store %m, %p[] : memref<memref<i32>>
  %0 = memref.load %m[] : memref<i32>
  return %0 : i32
}

// Another type of the same size is stored or loaded, or a smaller one is loaded.
// CHECK-LABEL: @conversions(
// CHECK-NEXT:    [[V0:%\w+]] = llvm.bitcast %bits : i32 to vector<2xi16>
// CHECK-NEXT:    "test.op"(%bits, [[V0]]) : (i32, vector<2xi16>) -> ()
// CHECK-NEXT:    [[V1:%\w+]] = llvm.ptrtoint %p : !llvm.ptr to i64
// CHECK-NEXT:    [[V2:%\w+]] = llvm.trunc [[V1]] : i64 to i16
// CHECK-NEXT:    llvm.return [[V2]] : i16
llvm.func @conversions(%bits: i32, %p: !llvm.ptr) -> i16 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %0 = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  llvm.store %bits, %0 : i32, !llvm.ptr
  %1 = llvm.load %0 : !llvm.ptr -> i32
  %2 = llvm.load %0 : !llvm.ptr -> vector<2xi16>
  "test.op"(%1, %2) : (i32, vector<2xi16>) -> ()
  %3 = llvm.alloca %one x i64 : (i32) -> !llvm.ptr
  llvm.store %p, %3 : !llvm.ptr, !llvm.ptr
  %4 = llvm.load %3 : !llvm.ptr -> i16
  llvm.return %4 : i16
}

// More than the slot is loaded, less is stored, the bits of a type are not whole bytes, pointers of
// two address spaces.
// UNCHANGED: @not_converted
llvm.func @not_converted(%x: i16, %y: i24, %p: !llvm.ptr<1>) -> i64 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %0 = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  %1 = llvm.load %0 : !llvm.ptr -> i64
  %2 = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.store %x, %2 : i16, !llvm.ptr
  %3 = llvm.alloca %one x i24 : (i32) -> !llvm.ptr
  %4 = llvm.load %3 : !llvm.ptr -> i20
  "test.op"(%4) : (i20) -> ()
  %5 = llvm.alloca %one x !llvm.ptr : (i32) -> !llvm.ptr
  llvm.store %p, %5 : !llvm.ptr<1>, !llvm.ptr
  llvm.return %1 : i64
}
