// RUN: passline-opt %s -p canonicalize --allow-unregistered-dialect --split-input-file | filecheck %s

// An unregistered operation has unknown effects: it is no constant that leaves its loop.
// CHECK-LABEL: @loop
// CHECK-NEXT:    scf.for %i = %a to %b step %s {
// CHECK-NEXT:      "foo.use"() : () -> ()
func.func @loop(%a: index, %b: index, %s: index) {
  scf.for %i = %a to %b step %s {
    "foo.use"() : () -> ()
  }
  func.return
}

// -----

// It may end a region in a way of its own.
// CHECK-LABEL: @exit
// CHECK-NEXT:    scf.execute_region {
// CHECK-NEXT:      "foo.exit"() : () -> ()
func.func @exit() {
  scf.execute_region {
    "foo.exit"() : () -> ()
  }
  func.return
}

// -----

// It may enter any block of its regions.
// CHECK-LABEL: @blocks
// CHECK:         ^bb1:
// CHECK-NEXT:      "foo.b"() : () -> ()
func.func @blocks() {
  "foo.any"() ({
    "foo.a"() : () -> ()
  ^bb1:
    "foo.b"() : () -> ()
  }) : () -> ()
  func.return
}

// -----

// It may end a block.
// CHECK-LABEL: @branch
// CHECK:         "foo.jump"() [^bb1, ^bb2] : () -> ()
// CHECK-NEXT:  ^bb1:
func.func @branch() {
  "foo.jump"()[^bb1, ^bb2] : () -> ()
^bb1:
  func.return
^bb2:
  "foo.use"() : () -> ()
  func.return
}
