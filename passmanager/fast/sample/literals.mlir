"test.op"() {a = 1, b = -1, c = 0x1F, d = 1 : i8, e = -128 : i8, f = 255 : ui8, g = 7 : index, h = -9 : si32, i = 12345678901234567890 : ui64, j = 340282366920938463463 : i128} : () -> ()
"test.op"() {a = 2, b = -2, c = 0x2F, d = 3 : i8, e = -127 : i8, f = 254 : ui8, g = 8 : index, h = -8 : si32, i = 1234567890123456789 : ui64, j = 340282366920938463464 : i128} : () -> ()
// -----
"test.op"() {a = true, b = false, c = 1 : i1, d = 0 : i1, e = unit, f, g = [true, false, 1 : i1]} : () -> ()
"test.op"() {a = false, b = true, c = -1 : i1, e = [unit], g = []} : () -> ()
// -----
"test.op"() {a = 1.0, b = -1.5, c = 2.0e10, d = 1.0E-5, e = 0.1 : f32, f = 0.1 : f16, g = 3.14159 : f64, h = 1.0e300, i = -0.0 : f32, j = 16777217.0 : f32} : () -> ()
"test.op"() {a = 2.0, b = 0.3333333333333333, c = 1.0e-300, d = 65504.0 : f16, e = 1.5 : bf16, f = 123456.789 : f32, g = 5. : f32, h = 0.0} : () -> ()
// -----
"test.op"() {a = "text", b = "", c = "with \"quotes\" and \\ and \n\t", d = "\00\41", e = "a b", "quoted name" = 1 : i32, f.g = "dotted", under_score = "x"} : () -> ()
"test.op"() {a = "text2", b = "%0", c = "// no comment", d = "{}", e = "->"} : () -> ()
// -----
"test.op"() {a = @f, b = @f::@g, c = @"quoted symbol", d = @f::@"g h"::@i, e = [@a, @b]} : () -> ()
"test.op"() {a = @g, b = @h::@i, c = @"another one", d = @_x::@y$z} : () -> ()
// -----
"test.op"() {a = [], b = [1, 2.0, "x", @s], c = [[1], [[2]]], d = {}, e = {x = 1, y = {z = "q"}}, f = [{k = 1 : i8}, {k = 2 : i8}], g = {"a b" = 1}} : () -> ()
"test.op"() {a = [1 : i8], b = [{}], e = {y = 2, x = 1}, d = {u, v = unit}} : () -> ()
// -----
"test.op"() {a = array<i1: true, false>, b = array<i8: 1, -1>, c = array<i32: 1, 2, 3>, d = array<i64>, e = array<f32: 1.0, -2.5>, f = array<f64: 1.0e10>, g = array<i64: -9223372036854775808>} : () -> ()
"test.op"() {a = array<i1: false>, b = array<i8>, c = array<i32: 5>, d = array<i64: 1, 2>, e = array<f32>} : () -> ()
// -----
"test.op"() {a = dense<1> : tensor<2xi32>, b = dense<[1, 2]> : tensor<2xi32>, c = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>, d = dense<-1> : tensor<i8>, e = dense<[true, false]> : tensor<2xi1>, f = dense<> : tensor<0xi32>} : () -> ()
"test.op"() {a = dense<1.0> : tensor<2xf32>, b = dense<[1.0, -2.5, 3.0e10]> : tensor<3xf64>, c = dense<[0.1, 0.2]> : vector<2xf16>, d = dense<[[1.0], [2.0]]> : tensor<2x1xf32>, e = dense<[1, 2]> : vector<2xindex>} : () -> ()
"test.op"() {a = dense<"0x0100000002000000"> : tensor<2xi32>, b = dense<"0x0000803F"> : tensor<f32>, d = dense<(1.0, 2.0)> : tensor<complex<f32>>} : () -> ()
// -----
"test.op"() {a = i32, b = tensor<?x2xf32>, c = (i32, f32) -> i1, d = () -> (), e = index, f = none, g = tuple<i32, tuple<>>, h = complex<f64>, i = memref<2xi8, 1 : i32>, j = vector<4x[8]xf32>, k = f80, l = f128, m = bf16} : () -> ()
"test.op"() {a = i64, b = tensor<*xf32>, c = (i32) -> (i1, i2), d = () -> i8, e = ui16, f = si7, g = memref<*xi32>, h = memref<?x?xf32, strided<[?, 1], offset: ?>>, i = tensor<2x3xi4, "encoding">} : () -> ()
// -----
"test.op"() {a = affine_map<(d0, d1)[s0] -> (d0 + s0 * 2, d1 floordiv 4, -d0 mod 3)>, b = affine_map<() -> ()>, c = affine_set<(d0) : (d0 - 1 >= 0, d0 == 0)>, d = affine_map<(d0) -> (d0 ceildiv 2)>} : () -> ()
"test.op"() {a = affine_map<(d0, d1)[s0] -> (d1, d0)>, c = affine_set<(d0)[s0] : (d0 - s0 >= 0)>, e = [affine_map<(d0) -> (d0)>]} : () -> ()
// -----
"test.op"() {a = #unknown.attr<1 + {x}>, b = !unknown.type<"<", [x]>, c = #unknown.plain, d = !unknown.plain} : () -> ()
"test.op"() {a = #unknown.attr<2>, b = !unknown.type<x>, f = loc("f":1:2), g = loc(unknown)} : () -> ()
// -----
#alias = 5 : i32
!alias = f32
#map = affine_map<(d0) -> (d0)>
%0 = "test.op"() {a = #alias, b = [#alias, #map]} : () -> !alias
%1 = "test.op"() {a = #alias, b = [#alias, #map]} : () -> tensor<2x!alias>
%2 = "test.op"() {a = !alias} : () -> !alias
// -----
"test.op"() <{p = 1 : i32, q = "x"}> {a = 2 : i32} : () -> ()
"test.op"() <{p = 3 : i32, q = "y"}> {a = 4 : i32} : () -> ()
"test.op"() <{}> {} : () -> ()
%0 = "unregistered.op"() <{p = 1 : i32}> {a = 2 : i32} : () -> i32
%1 = "unregistered.op"(%0) ({
  "unregistered.inner"() : () -> ()
}) {a = 3 : i32} : (i32) -> i32
