"""Machine code of functions of unknown sizes: results, errors, memory, threads."""

from __future__ import annotations

import ctypes
import gc
import sys
from threading import Thread

import numpy as np
import pytest
from support.models.seeded import Array
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed
from support.programs.dynamic_programs import BRANCH, CHAIN, COUNT, SHRINK
from xdsl.dialects.llvm import FuncOp

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.native import compile_module
from passline.compiler.native.entry import HUGE_PAGE, LARGE
from passline.compiler.native.function import NativeFunction
from passline.compiler.native.preparation.preparation import prepare
from passline.passmanager.errors import PasslineError

pytestmark = needs_native


@pytest.fixture(scope="module", params=["chain", "branch", "count", "shrink"])
def name(request: pytest.FixtureRequest) -> str:
    return request.param


TEXTS = {"chain": CHAIN, "branch": BRANCH, "count": COUNT, "shrink": SHRINK}
Case = tuple[Array, ...]


@pytest.fixture(scope="module")
def compiled() -> dict[str, NativeFunction]:
    return {name: compile_module(parsed(text)) for name, text in TEXTS.items()}


def matrix(rows: int) -> Array:
    return np.arange(4 * rows, dtype=np.float32).reshape(rows, 4)


def signs(positive: int, negative: int) -> Array:
    return np.array([1.0] * positive + [-1.0] * negative, np.float32)


def cases(name: str, *, valid: bool = True) -> list[Case]:
    """Return arguments for a program; those that are not `valid` fail an assertion."""
    match name, valid:
        case "chain", True:
            return [(matrix(n), matrix(n)[:, 0]) for n in (0, 1, 2, 3, 17)]
        case "chain", False:
            return []  # the arguments are checked before the call
        case "branch", True:
            pairs = [(n, taken) for n in (0, 1, 2, 17) for taken in (False, True)]
            return [(matrix(n), np.array(taken), np.array(n // 2)) for n, taken in pairs]
        case "branch", False:
            return [(matrix(n), np.array(True), np.array(n + 1)) for n in (0, 3)]
        case "shrink", _:
            pairs = [(0, 0), (3, 0), (3, 2), (9, 9)] if valid else [(0, 1), (3, 4), (3, 9)]
            return [(signs(n, 0), np.array(k)) for n, k in pairs]
        case _, True:
            return [(signs(n, m), np.array(False)) for n in (0, 1, 4) for m in (0, 3)]
        case _:
            return [(signs(n, 3), np.array(n != 5)) for n in (1, 3, 4, 5)]


def test_results(name: str, compiled: dict[str, NativeFunction]):
    module = parsed(TEXTS[name])
    expected = interpret(module, entry_function(module, "main"))
    for arguments in cases(name):
        pairs = zip(compiled[name](*arguments), expected(*arguments), strict=True)
        for actual, other in pairs:
            np.testing.assert_array_equal(actual, np.asarray(other), strict=True)


@pytest.mark.parametrize("element", ["bf16", "f16", "i1", "f64", "i8"])
def test_element_types(element: str):
    text = """
    func.func @main(%x: tensor<?xE>, %y: tensor<?xE>) -> (tensor<?x?xE>, tensor<?xE>) {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xE>
      %m = tensor.dim %y, %c0 : tensor<?xE>
      %0 = relax.call_tir @k(%x, %y) sizes(%n, %m)
        : (tensor<?xE>, tensor<?xE>) -> tensor<?x?xE>
      func.return %0, %x : tensor<?x?xE>, tensor<?xE>
    }
    tir.prim_func private @k(%x: memref<?xE>, %y: memref<?xE>, %z: memref<?x?xE>) {
      %c0 = arith.constant 0 : index
      %n = "memref.dim"(%x, %c0) : (memref<?xE>, index) -> index
      %m = "memref.dim"(%y, %c0) : (memref<?xE>, index) -> index
      tir.for %i = %c0 extent %n {
        tir.for %j = %c0 extent %m {
          %a = memref.load %x[%i] : memref<?xE>
          %b = memref.load %y[%j] : memref<?xE>
          %even = arith.cmpi ult, %i, %j : index
          %c = arith.select %even, %a, %b : E
          memref.store %c, %z[%i, %j] : memref<?x?xE>
        }
      }
    }""".replace("xE", f"x{element}").replace(": E", f": {element}")
    dtype = {"bf16": "f4", "f16": "f2", "i1": "?", "f64": "f8", "i8": "i1"}[element]
    main = compile_module(parsed(text))
    for n, m in (2, 3), (3, 2), (0, 2), (2, 0):
        x, y = np.arange(n).astype(dtype), np.arange(m).astype(dtype)
        table, same = main(x, y)
        expected = np.where(np.arange(n)[:, None] < np.arange(m), x[:, None], y)
        np.testing.assert_array_equal(table, expected, strict=True)
        np.testing.assert_array_equal(same, x, strict=True)


def test_kernels_get_pointers_that_do_not_overlap():
    module = prepare(parsed(CHAIN), "main").module
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    double = functions["passline.double"]
    assert double.arg_attrs is not None
    assert [str(type) for type in double.function_type.inputs] == ["!llvm.ptr", "i64"] * 2
    assert ["llvm.noalias" in each.data for each in double.arg_attrs] == [True, False] * 2


def test_results_outlive_the_function():
    function: NativeFunction | None = compile_module(parsed(CHAIN))
    results = function(matrix(3), matrix(3)[:, 0])
    part = results[0][1:]
    del function, results
    gc.collect()
    np.testing.assert_array_equal(part, 64 * matrix(3)[1:] ** 2)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is that of the C library")
def test_large_results_begin_at_huge_pages():
    function = compile_module(parsed(CHAIN))
    for rows in (LARGE // 32, LARGE // 16):
        each = np.ones((rows, 4), np.float32)
        result = function(each, each[:, 0])[0]
        assert (each.nbytes >= LARGE) <= (result.ctypes.data % HUGE_PAGE == 0)
        np.testing.assert_array_equal(result, 64 * each**2)


# Errors


def test_a_failing_assertion(compiled: dict[str, NativeFunction]):
    with pytest.raises(PasslineError, match=r"failed at x.mlir:\d+:\d+: too many in the branch"):
        compiled["count"](signs(4, 3), np.array(True))
    with pytest.raises(PasslineError, match="a size of a result is negative"):
        compiled["branch"](matrix(2), np.array(True), np.array(7))
    with pytest.raises(PasslineError, match=r"too many \(called at x.mlir"):
        compiled["count"](signs(5, 3), np.array(True))


def test_a_size_that_exceeds_the_memory():
    text = """
    func.func @main(%n: index) -> tensor<?xf32> {
      %0 = relax.call_tir @k() sizes(%n) : () -> tensor<?xf32>
      %1 = relax.call_tir @k() sizes(%n) : () -> tensor<?xf32>
      func.return %1 : tensor<?xf32>
    }
    tir.prim_func private @k(%x: memref<?xf32>) {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      memref.store %one, %x[%c0] : memref<?xf32>
    }"""
    main = compile_module(parsed(text))
    assert main(np.array(3))[0][0] == 1
    with pytest.raises(PasslineError, match="there is not enough memory"):
        main(np.array(1 << 60))


def test_arguments_that_do_not_match(compiled: dict[str, NativeFunction]):
    with pytest.raises(PasslineError, match="parameter 'x' is memref<.x4xf32>: expected float32"):
        compiled["chain"](np.zeros((3, 5), np.float32), np.zeros(3, np.float32))
    with pytest.raises(PasslineError, match="dimension 0 of parameter 'z' is 'n', which is 2"):
        compiled["chain"](matrix(2), np.zeros(3, np.float32))


# Memory


class Mallinfo(ctypes.Structure):
    """The statistics of the heap that glibc's `mallinfo2` returns."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "used")
    ] + [("free", ctypes.c_size_t), ("keepcost", ctypes.c_size_t)]


def used_bytes() -> int:
    """Return the bytes of the heap that are in use."""
    mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo is None:
        pytest.skip("this C library has no mallinfo2")
    mallinfo.restype = Mallinfo
    gc.collect()
    info = mallinfo()
    return info.used + info.hblkhd


def call(function: NativeFunction, arguments: Case) -> bool:
    """Call a function, and return whether it succeeds."""
    try:
        function(*arguments)
    except PasslineError:
        return False
    return True


@pytest.mark.parametrize("valid", [True, False])
def test_no_memory_is_lost(name: str, valid: bool, compiled: dict[str, NativeFunction]):
    function, all_cases = compiled[name], cases(name, valid=valid)
    for arguments in all_cases * 20:
        assert call(function, arguments) == valid

    def growth() -> int:
        before = used_bytes()
        for arguments in all_cases * (1000 // max(len(all_cases), 1)):
            call(function, arguments)
        return used_bytes() - before

    # Each lost buffer would take 32 bytes or more, and at least one is made in each call. Other
    # threads of the process, such as those of pytest-xdist, allocate now and then.
    assert any(growth() < 16_000 for _ in range(3))


def test_a_result_takes_memory_as_long_as_it_is_used(compiled: dict[str, NativeFunction]):
    arguments = matrix(100), matrix(100)[:, 0]
    compiled["chain"](*arguments)
    before = used_bytes()
    kept = [compiled["chain"](*arguments) for _ in range(20)]
    assert used_bytes() - before > 20 * arguments[0].nbytes
    kept.clear()
    assert used_bytes() - before < 16_000


def test_threads(compiled: dict[str, NativeFunction]):
    """Calls of other sizes, and calls that fail, do not disturb each other."""
    wrong: list[object] = []

    def run(n: int) -> None:
        for i in range(200):
            good = i % 3 > 0
            x = signs(n if good else 5, 3 * n)
            try:
                squares, ones, count = compiled["count"](x, np.array(False))
                if not good or count[0] != n or len(ones) != n or len(squares) != len(x):
                    wrong.append((n, i))
            except PasslineError as error:
                if good:
                    wrong.append(error)

    threads = [Thread(target=run, args=(n,)) for n in (1, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


NAMED = """
func.func @main(%x: tensor<?xf32> {onnx.dims = ["n"]}, %y: tensor<?xf32> {onnx.dims = ["n"]})
    -> tensor<?xf32> {
  %r = relax.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}
"""


def test_sizes_are_checked_in_each_call():
    native = compile_module(parsed(NAMED))
    for n in (2, 3, 2, 3):
        (y,) = native(np.ones(n, np.float32), np.arange(n, dtype=np.float32))
        np.testing.assert_array_equal(y, np.arange(n) + 1)
        with pytest.raises(PasslineError, match="'n'"):
            native(np.ones(n, np.float32), np.ones(n + 1, np.float32))


def test_results_live_as_long_as_they_are_used():
    native = compile_module(parsed(NAMED))
    x = np.arange(1000, dtype=np.float32)
    parts = [native(x, x * i)[0][10:] for i in range(20)]
    gc.collect()
    for i, part in enumerate(parts):
        np.testing.assert_array_equal(part, (x + x * i)[10:])
        part += 1  # it is writable


@pytest.mark.parametrize("axis", [0, 1])
def test_index_of_a_maximum_along_an_unknown_axis(axis: int):
    """The first of equal elements, and of several NaNs, is the maximum."""
    data, result = "tensor<?x?xf32>", "tensor<?xi64>"
    function = compile_module(
        parsed(f"""func.func @main(%x: {data}) -> {result} {{
          %r = relax.argmax %x {{axis = {axis}}} : ({data}) -> {result}
          func.return %r : {result}
        }}""")
    )
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (3, 7), (40, 100), (100, 40)):
        x = rng.integers(-3, 4, shape).astype(np.float32)
        x[x == 3] = np.nan if axis else np.inf
        (actual,) = function(x)
        np.testing.assert_array_equal(actual, np.argmax(x, axis), strict=True)
    with pytest.raises(PasslineError, match="relax.argmax needs at least one element"):
        function(np.zeros((0, 0), np.float32))
