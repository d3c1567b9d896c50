"""Compiled functions: their results and arguments, and the errors for wrong input."""

from __future__ import annotations

import gc
import math
import threading

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.native import compile_module
from passline.compiler.native.parameters import SMALL, BufferParameter
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.changes import Snapshot

pytestmark = needs_native

ROWS = """
tir.prim_func @main(%x: memref<SIZEx4xf32>, %n: index, %y: memref<SIZEx4xf32>) ATTRIBUTES {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %w = memref.get_global @w : memref<4xf32>
  tir.for parallel %i = %c0 extent %n {
    %t = memref.alloc() : memref<4xf32, "local">
    tir.for %j = %c0 extent %c4 {
      %v = memref.load %x[%i, %j] : memref<SIZEx4xf32>
      %b = memref.load %w[%j] : memref<4xf32>
      %s = arith.addf %v, %b : f32
      memref.store %s, %t[%j] : memref<4xf32, "local">
    }
    tir.call @twice(%t) : memref<4xf32, "local">
    tir.for vectorized %j = %c0 extent %c4 {
      %v = memref.load %t[%j] : memref<4xf32, "local">
      memref.store %v, %y[%i, %j] : memref<SIZEx4xf32>
    }
  }
}
tir.prim_func private @twice(%t: memref<4xf32, "local">) {
  %c0 = arith.constant 0 : index
  %v = vector.load %t[%c0] : memref<4xf32, "local">, vector<4xf32>
  %d = arith.addf %v, %v : vector<4xf32>
  vector.store %d, %t[%c0] : memref<4xf32, "local">, vector<4xf32>
}
"memref.global"() <{sym_name = "w", sym_visibility = "private", constant, type = memref<4xf32>,
    initial_value = dense<[1.0, 2.0, 3.0, -0.0]> : tensor<4xf32>}> : () -> ()
"""
OUTPUTS = "attributes {tir.outputs = 1 : i64}"
X = np.arange(12, dtype=np.float32).reshape(3, 4)
Y = 2 * (X + np.array([1, 2, 3, 0], np.float32))


def rows(size: str = "3", attributes: str = OUTPUTS) -> ModuleOp:
    return parsed(ROWS.replace("SIZE", size).replace("ATTRIBUTES", attributes))


def elementwise(op: str, element: str, size: int, vector: int = 1) -> ModuleOp:
    """Return a module that applies one operation to each element of a buffer."""
    buffer, value = f"memref<{size}x{element}>", element
    load, store, types = "memref.load", "memref.store", buffer
    if vector > 1:
        value = f"vector<{vector}x{element}>"
        load, store, types = "vector.load", "vector.store", f"{buffer}, {value}"
    return parsed(f"""
      tir.prim_func @main(%x: {buffer}, %y: {buffer}) {OUTPUTS} {{
        %c0 = arith.constant 0 : index
        %n = arith.constant {size // vector} : index
        %step = arith.constant {vector} : index
        tir.for %k = %c0 extent %n {{
          %i = arith.muli %k, %step : index
          %v = {load} %x[%i] : {types}
          %r = {op.format("%v")} : {value}
          {store} %r, %y[%i] : {types}
        }}
      }}""")


# Results


def test_results_are_new_arrays():
    module = rows()
    before = Snapshot(module)
    main = compile_module(module)
    x = X.copy()
    (first,), (second,) = main(x, 3), main(x, 3)
    np.testing.assert_array_equal(first, Y)
    np.testing.assert_array_equal(x, X)
    assert first is not second
    assert main.compile_seconds > 0
    assert not before.update(), "the module is changed"


def test_large_results_begin_at_lines_of_the_cache():
    for count in (1, 255, 256, 1000):
        result = BufferParameter("y", MemRefType(f32, [count]), is_output=True).new()
        assert result.shape == (count,) and result.dtype == np.float32
        assert result.ctypes.data % 64 == 0 or result.nbytes < SMALL


def test_it_computes_what_numpy_does():
    module = rows()
    (expected,) = interpret(module, entry_function(module, "main"))(X, 2)
    (actual,) = compile_module(module)(X, 2)
    np.testing.assert_array_equal(actual[:2], np.asarray(expected)[:2])


@pytest.mark.parametrize("size", ["3", "?"])
def test_without_results_the_arrays_of_the_caller_are_changed(size: str):
    y = np.zeros_like(X)
    assert compile_module(rows(size, ""))(X, 3, y) == ()
    np.testing.assert_array_equal(y, Y)


def test_sizes_that_are_not_known_are_those_of_the_arrays():
    main = compile_module(rows("?", ""))
    for count in (0, 1, 5):
        x = np.ones((count, 4), np.float32)
        main(x, count, y := np.empty_like(x))
        np.testing.assert_array_equal(y, np.full((count, 4), [4, 6, 8, 2]))


@pytest.mark.parametrize("attributes", ["", OUTPUTS])
def test_arrays_of_any_strides(attributes: str):
    main = compile_module(rows("3", attributes))
    x = np.asfortranarray(X)
    y = np.zeros((4, 3), np.float32).T
    results = main(x, 3) if attributes else main(x, 3, y)
    np.testing.assert_array_equal(results[0] if attributes else y, Y)


def test_numbers_may_be_arrays():
    np.testing.assert_array_equal(compile_module(rows())(X, np.array(3))[0], Y)


def test_what_is_lowered_already_is_compiled():
    from passline.passes.tir.lower_tir import LowerTIR

    (y,) = compile_module(LowerTIR()(rows()))(X, 3)
    np.testing.assert_array_equal(y, Y)


def test_functions_that_are_not_called_are_left_out():
    module = rows()
    module.body.block.add_op(FuncOp("other", ([TensorType(f32, [2])], [])))
    (other,) = [op for op in module.ops if isinstance(op, FuncOp)]
    other.body.block.add_op(ReturnOp())
    np.testing.assert_array_equal(compile_module(module)(X, 3)[0], Y)


@pytest.mark.parametrize(
    ("element", "dtype", "op", "expected"),
    [
        ("f64", np.float64, "arith.mulf {0}, {0}", [1, 9, 4, 10000]),
        ("f32", np.float32, "arith.negf {0}", [-1, -3, 2, -100]),
        ("f16", np.float16, "arith.addf {0}, {0}", [2, 6, -4, 200]),
        ("bf16", np.float32, "arith.addf {0}, {0}", [2, 6, -4, 200]),
        ("i64", np.int64, "arith.muli {0}, {0}", [1, 9, 4, 10000]),
        ("i32", np.int32, "arith.floordivsi {0}, {0}", [1, 1, 1, 1]),
        ("i8", np.int8, "arith.addi {0}, {0}", [2, 6, -4, -56]),
        ("i1", np.bool_, "arith.ori {0}, {0}", [1, 1, 1, 1]),
        ("index", np.int64, "arith.addi {0}, {0}", [2, 6, -4, 200]),
    ],
)
def test_element_types(element: str, dtype: type[np.generic], op: str, expected: list[int]):
    x = np.array([1, 3, -2, 100]).astype(dtype)
    (y,) = compile_module(elementwise(op, element, 4))(x)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, np.array(expected).astype(dtype))


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("op", ["sin", "atan", "rsqrt", "cbrt", "floor"])
def test_functions_of_vectors(op: str, element: str):
    x = np.linspace(0.1, 50, 64, dtype=np.float32 if element == "f32" else np.float64)
    (y,) = compile_module(elementwise(f"math.{op} {{}}", element, 64, 16))(x)
    expected = np.power(x, -0.5) if op == "rsqrt" else getattr(np, op.replace("at", "arct"))(x)
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_buffers_on_the_heap():
    module = parsed(f"""
      tir.prim_func @main(%n: index, %y: memref<8xindex>) {OUTPUTS} {{
        %c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        tir.for %i = %c0 extent %c8 {{
          %t = memref.alloc(%n) : memref<?xindex>
          memref.store %i, %t[%i] : memref<?xindex>
          tir.call @move(%t, %i, %y) : memref<?xindex>, index, memref<8xindex>
        }}
      }}
      tir.prim_func private @move(%t: memref<?xindex>, %i: index, %y: memref<8xindex>) {{
        %v = memref.load %t[%i] : memref<?xindex>
        memref.store %v, %y[%i] : memref<8xindex>
      }}""")
    np.testing.assert_array_equal(compile_module(module)(8)[0], np.arange(8))


def test_copies_of_views():
    module = parsed("""
      tir.prim_func @main(%x: memref<4x4xf32>, %n: index, %y: memref<4x4xf32>) {
        %a = memref.subview %x[0, 1] [4, 2] [1, 1]
          : memref<4x4xf32> to memref<4x2xf32, strided<[4, 1], offset: 1>>
        %b = memref.subview %y[0, 0] [4, 2] [1, 2]
          : memref<4x4xf32> to memref<4x2xf32, strided<[4, 2]>>
        "memref.copy"(%a, %b) : (memref<4x2xf32, strided<[4, 1], offset: 1>>,
                                 memref<4x2xf32, strided<[4, 2]>>) -> ()
      }""")
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    compile_module(module)(x, 4, y := np.zeros_like(x))
    expected = np.zeros_like(x)
    expected[:, ::2] = x[:, 1:3]
    np.testing.assert_array_equal(y, expected)


def test_names_of_the_c_library_are_free():
    module = parsed("""
      tir.prim_func private @sin(%x: memref<16xf64>) {
        %c0 = arith.constant 0 : index
        %v = memref.load %x[%c0] : memref<16xf64>
        %s = math.sin %v : f64
        memref.store %s, %x[%c0] : memref<16xf64>
      }
      tir.prim_func @main(%x: memref<16xf64>) {
        tir.call @sin(%x) : memref<16xf64>
      }""")
    x = np.full(16, 0.5)
    compile_module(module)(x)
    np.testing.assert_allclose(x[:2], [math.sin(0.5), 0.5], rtol=1e-15)


# Constants


def constant_module(element: str, shape: str, value: str, constant: str) -> ModuleOp:
    """Return a module whose `main` returns the elements of a global, and adds 1 to them
    afterwards unless the global is constant."""
    return parsed(f"""
      tir.prim_func @main(%y: memref<{shape}x{element}>) {OUTPUTS} {{
        %c0 = arith.constant 0 : index
        %n = arith.constant {shape} : index
        %one = arith.constant 1 : {element}
        %k = memref.get_global @k : memref<{shape}x{element}>
        tir.for %i = %c0 extent %n {{
          %v = memref.load %k[%i] : memref<{shape}x{element}>
          memref.store %v, %y[%i] : memref<{shape}x{element}>
          {"" if constant else "%w = arith.addi %v, %one : " + element}
          {"" if constant else f"memref.store %w, %k[%i] : memref<{shape}x{element}>"}
        }}
      }}
      "memref.global"() <{{sym_name = "k", sym_visibility = "private", {constant}
        type = memref<{shape}x{element}>, alignment = 64 : i64,
        initial_value = dense<{value}> : tensor<{shape}x{element}>}}> : () -> ()""")


@pytest.mark.parametrize("count", [4, 4000])
def test_constants_outlive_the_module(count: int):
    module = constant_module("i32", str(count), str([*range(count)]), "constant,")
    main = compile_module(module)
    module.erase()
    del module
    gc.collect()
    np.testing.assert_array_equal(main()[0], np.arange(count))


def test_true_is_one():
    module = constant_module("i1", "2000", "true", "constant,")
    np.testing.assert_array_equal(compile_module(module)()[0], np.ones(2000, bool))


@pytest.mark.parametrize("count", [4, 4000])
def test_a_global_that_changes_is_no_constant(count: int):
    module = constant_module("i32", str(count), str([*range(count)]), "")
    main = compile_module(module)
    first, second = main()[0], main()[0]
    np.testing.assert_array_equal(second, first + 1)
    np.testing.assert_array_equal(compile_module(module)()[0], first)


# Lifetimes


def test_functions_come_and_go():
    for _ in range(3):
        main = compile_module(rows())
        np.testing.assert_array_equal(main(X, 3)[0], Y)
        del main
        gc.collect()


def test_threads():
    main = compile_module(rows())
    wrong: list[object] = []

    def work() -> None:
        for _ in range(100):
            if not np.array_equal(main(X, 3)[0], Y):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# Errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @main(%x: i32) -> i32 { func.return %x : i32 }",
            "function @main at x.mlir:1:1 returns numbers: in place of i32, expected tensor<i32>, "
            "computed by operations of relax, or a parameter memref<i32> to store it in",
        ),
        ("tir.prim_func @mian() { }", "no function @main, did you mean 'mian'?"),
        (
            f"tir.prim_func @main(%x: memref<4xf32>, %y: memref<?xf32>) {OUTPUTS} {{ }}",
            "result 'y' is memref<?xf32>: expected a static shape",
        ),
        (
            "tir.prim_func @main(%x: memref<4xf32, strided<[2]>>) { }",
            "parameter 'x' is memref<4xf32, strided<[2]>>: expected no layout",
        ),
        (
            "tir.prim_func @main(%x: memref<4xi3>) { }",
            "parameter 'x' is memref<4xi3>: expected integers of 1, 2, 4, 8, 16, 32, 64 bits",
        ),
        (
            "func.func @main(%x: memref<?xf32>) -> memref<?xf32> "
            "{ func.return %x : memref<?xf32> }",
            "'func.return' at x.mlir:1:55 returns a buffer that the function does not allocate",
        ),
        (
            "func.func @main() -> (memref<4xf32>, memref<4xf32>) {\n"
            "  %x = memref.alloc() : memref<4xf32>\n"
            "  func.return %x, %x : memref<4xf32>, memref<4xf32>\n"
            "}",
            "'func.return' at x.mlir:3:3 returns a buffer that the function does not allocate, a "
            "part of one, or one twice",
        ),
        (
            "func.func @main() -> memref<4xf32> {\n"
            "  %x = memref.alloc() : memref<64xi8>\n"
            "  %i = arith.constant 32 : index\n"
            "  %y = memref.view %x[%i][] : memref<64xi8> to memref<4xf32>\n"
            "  func.return %y : memref<4xf32>\n"
            "}",
            "'func.return' at x.mlir:5:3 returns a buffer that the function does not allocate, a "
            "part of one",
        ),
        (
            "tir.prim_func @main(%x: f16) { }",
            "parameter 'x' is f16: expected a memref, index, f32, f64, or an integer of 1, 8, 16, "
            "32, 64 bits",
        ),
        (
            "tir.prim_func @main(%x: memref<4xf32>) { tir.call @f(%x) : memref<4xf32> }\n"
            "tir.prim_func @f(memref<4xf32>)",
            "function @f is called, but has no body",
        ),
        (
            "tir.prim_func @main(%x: memref<4xf32>) {\n"
            "%t = relax.full 1.0 : tensor<4xf32>\n"
            '"test.use"(%t) : (tensor<4xf32>) -> () }',
            "'relax.full' at x.mlir:2:6 cannot be compiled to machine code",
        ),
        (
            "tir.prim_func @main(%x: memref<4xf32>) {\n"
            "%c0 = arith.constant 0 : index\n"
            "%c4 = arith.constant 4 : index\n"
            "%f = arith.constant 1.0 : f32\n"
            'tir.for thread_binding "blockIdx.x" %i = %c0 extent %c4 {\n'
            "memref.store %f, %x[%i] : memref<4xf32> } }",
            "pass 'lower-tir{scalarize=false}'",
        ),
    ],
)
def test_what_cannot_be_compiled(text: str, message: str):
    with pytest.raises(PasslineError) as error:
        compile_module(parsed(text))
    notes = "\n".join(getattr(error.value, "__notes__", ()))
    assert message in f"{error.value}\n{notes}"


def test_types_that_do_not_fit_are_said_with_their_place():
    text = """tir.prim_func @main(%x: memref<4xf32>, %y: memref<i1>, %f: f32) {
      %b = vector.broadcast %f : f32 to vector<4xf32>
      %v = "arith.cmpf"(%b, %b) <{predicate = 4 : i64, fastmath = #arith.fastmath<none>}>
        : (vector<4xf32>, vector<4xf32>) -> i1
      memref.store %v, %y[] : memref<i1>
    }"""
    message = r"expected a result of vector<4xi1>, got i1(\n.*)* in 'arith.cmpf' at x.mlir:3:12"
    with pytest.raises(PasslineError, match=message):
        compile_module(parsed(text))


def test_arguments_that_do_not_fit():
    main = compile_module(rows())
    with pytest.raises(PasslineError, match="takes 2 arguments, 1 is given"):
        main(X)
    with pytest.raises(PasslineError, match="'x' is memref<3x4xf32>: expected float32, got int"):
        main(X.astype(int), 3)
    number = "parameter 'n' is index: expected an integer, got "
    for value, got in ("3", "<U1"), (3.5, "float64"), (np.array([3]), "an array of 1 dimensions"):
        with pytest.raises(PasslineError, match=number + got):
            main(X, value)  # pyright: ignore[reportArgumentType]


EMPTY = """
tir.prim_func @main(%x: memref<2x0x3xf32>, %y: memref<0x2xf32>, %out: memref<3xf32>) ATTRIBUTES {
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  memref.store %two, %out[%c1] : memref<3xf32>
  tir.call @nothing(%x) : memref<2x0x3xf32>
}
tir.prim_func private @nothing(%x: memref<2x0x3xf32>) {}
"""


def test_buffers_without_elements():
    """MLIR passes a buffer with a stride of 0 as a descriptor only."""
    function = compile_module(parsed(EMPTY.replace("ATTRIBUTES", OUTPUTS)))
    (out,) = function(np.zeros((2, 0, 3), np.float32), np.zeros((0, 2), np.float32))
    assert out[1] == 2


@pytest.mark.parametrize("count", [101, 2000])
def test_constants_of_bools(count: int):
    """In MLIR's hexadecimal form of a constant, i1 elements are packed, 8 to a byte."""
    module = parsed(
        f"""
tir.prim_func @main(%y: memref<{count}xi1>) {OUTPUTS} {{
  %w = memref.get_global @w : memref<{count}xi1>
  "memref.copy"(%w, %y) : (memref<{count}xi1>, memref<{count}xi1>) -> ()
}}
"memref.global"() <{{sym_name = "w", sym_visibility = "private", constant,
    type = memref<{count}xi1>, initial_value =
    dense<{["true" if i % 3 else "false" for i in range(count)]}> : tensor<{count}xi1>}}> : () -> ()
""".replace("'", "")
    )
    (y,) = compile_module(module)()
    np.testing.assert_array_equal(y, [i % 3 > 0 for i in range(count)])
