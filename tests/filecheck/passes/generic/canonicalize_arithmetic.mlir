// RUN: passline-opt %s -p 'canonicalize' | filecheck %s

// Integers and floats: flags, halves, casts, comparisons.

// The upper half of a sum or product.
// CHECK-LABEL: @halves(
// CHECK-NEXT:    %c = arith.constant true
// CHECK-NEXT:    %s = arith.constant 0 : i32
// CHECK-NEXT:    %l2 = arith.constant 1 : i32
// CHECK-NEXT:    {{%.*}} = arith.cmpi slt, %x, %s : i32
// CHECK-NEXT:    %h1 = arith.extsi {{%.*}} : i1 to i32
// CHECK-NEXT:    func.return %s, %c, %x, %s, %x, %h1, %l2, %s : i32, i1, i32, i32, i32, i32, i32, i32
func.func @halves(%x: i32) -> (i32, i1, i32, i32, i32, i32, i32, i32) {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %2 = arith.constant -1 : i32
  %s, %c = arith.addui_extended %2, %1 : i32, i1
  %l, %h = arith.mului_extended %x, %1 : i32
  %l1, %h1 = arith.mulsi_extended %x, %1 : i32
  %l2, %h2 = arith.mulsi_extended %2, %2 : i32
  func.return %s, %c, %l, %h, %l1, %h1, %l2, %h2 : i32, i1, i32, i32, i32, i32, i32, i32
}

// Of which only the lower one is used.
// CHECK-LABEL: @lower(
// CHECK-NEXT:    %s = arith.addi %x, %y : i32
// CHECK-NEXT:    %l = arith.muli %x, %y : i32
// CHECK-NEXT:    func.return %s, %l : i32, i32
func.func @lower(%x: i32, %y: i32) -> (i32, i32) {
  %s, %c = arith.addui_extended %x, %y : i32, i1
  %l, %h = arith.mulsi_extended %x, %y : i32
  func.return %s, %l : i32, i32
}

// A signed i1 has no 1.
// UNCHANGED: @sign
func.func @sign(%x: i1) -> (i1, i1) {
  %0 = arith.constant true
  %l, %h = arith.mulsi_extended %x, %0 : i1
  func.return %l, %h : i1, i1
}

// A product that does not wrap, divided by a factor.
// CHECK-LABEL: @quotients(
// CHECK-NEXT:    func.return %x, %y : i32, i32
func.func @quotients(%x: i32, %y: i32) -> (i32, i32) {
  %0 = arith.muli %x, %y overflow<nuw> : i32
  %1 = arith.divui %0, %y : i32
  %2 = arith.muli %x, %y overflow<nsw> : i32
  %3 = arith.divsi %2, %x : i32
  func.return %1, %3 : i32, i32
}

// One that may wrap, or in another sense.
// UNCHANGED: @may_wrap
func.func @may_wrap(%x: i32, %y: i32) -> (i32, i32) {
  %0 = arith.muli %x, %y : i32
  %1 = arith.divui %0, %y : i32
  %2 = arith.muli %x, %y overflow<nuw> : i32
  %3 = arith.divsi %2, %x : i32
  func.return %1, %3 : i32, i32
}

// Flags of both sums stay, unless the constant itself breaks them: 100 + 100 in eight bits.
// CHECK-LABEL: @flags(
// CHECK-NEXT:    {{%.*}} = arith.constant 40 : i8
// CHECK-NEXT:    {{%.*}} = arith.constant -56 : i8
// CHECK-NEXT:    {{%.*}} = arith.addi %x, {{%.*}} overflow<nsw> : i8
// CHECK-NEXT:    {{%.*}} = arith.addi %x, {{%.*}} : i8
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}} : i8, i8
func.func @flags(%x: i8) -> (i8, i8) {
  %0 = arith.constant 100 : i8
  %1 = arith.constant 20 : i8
  %2 = arith.addi %x, %1 overflow<nsw, nuw> : i8
  %3 = arith.addi %2, %1 overflow<nsw> : i8
  %4 = arith.addi %x, %0 overflow<nsw> : i8
  %5 = arith.addi %4, %0 overflow<nsw> : i8
  func.return %3, %5 : i8, i8
}

// An integer that is converted without loss compares as an integer.
// CHECK-LABEL: @compared(
// CHECK-NEXT:    {{%.*}} = arith.constant 5 : i8
// CHECK-NEXT:    {{%.*}} = arith.constant true
// CHECK-NEXT:    {{%.*}} = arith.constant false
// CHECK-NEXT:    {{%.*}} = arith.cmpi ult, %x, {{%.*}} : i8
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}}, {{%.*}}, {{%.*}} : i1, i1, i1, i1
func.func @compared(%x: i8) -> (i1, i1, i1, i1) {
  %0 = arith.uitofp %x : i8 to f32
  %1 = arith.sitofp %x : i8 to f32
  %2 = arith.constant 4.5 : f32
  %3 = arith.constant 300.0 : f32
  %4 = arith.cmpf olt, %0, %2 : f32
  %5 = arith.cmpf ole, %1, %3 : f32
  %6 = arith.cmpf ueq, %0, %2 : f32
  %7 = arith.cmpf ord, %1, %2 : f32
  func.return %4, %5, %6, %7 : i1, i1, i1, i1
}

// 24 bits are not enough for these.
// UNCHANGED: @rounded
func.func @rounded(%x: i32) -> i1 {
  %0 = arith.constant 16777216.0 : f32
  %1 = arith.sitofp %x : i32 to f32
  %2 = arith.cmpf oeq, %1, %0 : f32
  func.return %2 : i1
}

// Casts of casts.
// CHECK-LABEL: @casts(
// CHECK-NEXT:    {{%.*}} = arith.truncf %x : f32 to f16
// CHECK-NEXT:    {{%.*}} = arith.sitofp %i : i16 to f32
// CHECK-NEXT:    {{%.*}} = arith.bitcast %x : f32 to i32
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}}, {{%.*}}, %x : f16, f32, i32, f32
func.func @casts(%x: f32, %i: i16) -> (f16, f32, i32, f32) {
  %0 = arith.extf %x : f32 to f64
  %1 = arith.truncf %0 : f64 to f16
  %2 = arith.sitofp %i : i16 to f64
  %3 = arith.truncf %2 : f64 to f32
  %4 = arith.bitcast %x : f32 to i32
  %5 = arith.bitcast %4 : i32 to f32
  %6 = arith.bitcast %5 : f32 to i32
  func.return %1, %3, %6, %5 : f16, f32, i32, f32
}

// Selections of numbers by their condition.
// CHECK-LABEL: @selected(
// CHECK-NEXT:    %true = arith.constant true
// CHECK-NEXT:    {{%.*}} = arith.xori %c, %true : i1
// CHECK-NEXT:    {{%.*}} = arith.extui {{%.*}} : i1 to i32
// CHECK-NEXT:    {{%.*}} = arith.xori %c, %true : i1
// CHECK-NEXT:    func.return {{%.*}}, {{%.*}} : i32, i1
func.func @selected(%c: i1) -> (i32, i1) {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %false = arith.constant false
  %true = arith.constant true
  %2 = arith.select %c, %0, %1 : i32
  %3 = arith.select %c, %false, %true : i1
  func.return %2, %3 : i32, i1
}
