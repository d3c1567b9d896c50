// RUN: passline-opt %s | passline-opt | filecheck %s
// RUN: passline-opt %s --print-op-generic | passline-opt | filecheck %s

// CHECK-LABEL: func.func @indices(%a: index, %b: index) {
func.func @indices(%a: index, %b: index) {
  // CHECK-NEXT: %0 = index.add %a, %b
  %0 = index.add %a, %b
  // CHECK-NEXT: %1 = index.ceildivs %0, %a {note}
  %1 = index.ceildivs %0, %a {note}
  // CHECK-NEXT: %2 = index.cmp slt(%1, %b)
  %2 = index.cmp slt(%1, %b)
  // CHECK-NEXT: %3 = index.constant -4
  %3 = index.constant -4
  // CHECK-NEXT: %4 = index.bool.constant true
  %4 = index.bool.constant true
  // CHECK-NEXT: %5 = index.casts %a : index to i32
  %5 = index.casts %a : index to i32
  // CHECK-NEXT: %6 = index.castu %5 : i32 to index
  %6 = index.castu %5 : i32 to index
  // CHECK-NEXT: %7 = index.sizeof
  %7 = index.sizeof
  func.return
}
