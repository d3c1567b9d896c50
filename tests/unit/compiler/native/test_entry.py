"""The entry of a compiled function: which arrays it reads as they are, and where results are."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed

from passline.compiler.native import NativeFunction, compile_module, function
from passline.compiler.native.entry import DONE, REFUSED
from passline.compiler.native.parameters import ROOM
from passline.passmanager.errors import PasslineError

Array = NDArray[Any]

pytestmark = needs_native

DOUBLE = """
func.func @main(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %y = relax.add %x, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %z = relax.add %y, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %y, %z : tensor<?x4xf32>, tensor<?x4xf32>
}
"""
IN_PLACE = """
tir.prim_func @main(%x: memref<3x4xf32>, %n: i8) {
  %c0 = arith.constant 0 : index
  %f = arith.sitofp %n : i8 to f32
  memref.store %f, %x[%c0, %c0] : memref<3x4xf32>
}
"""
X: Array = np.arange(12, dtype=np.float32).reshape(3, 4)


def compiled(text: str) -> NativeFunction:
    return compile_module(parsed(text))


@pytest.fixture(scope="module")
def double() -> NativeFunction:
    return compiled(DOUBLE)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list of the arguments that are checked in Python from now on."""
    checked: list[object] = []
    check = function.check_arguments

    def recorded(func: Any, arguments: Any, **options: Any) -> object:
        checked.append(arguments)
        return check(func, arguments, **options)

    monkeypatch.setattr(function, "check_arguments", recorded)
    return checked


def read_only(array: Array) -> Array:
    (copy := array.copy()).flags.writeable = False
    return copy


def unaligned(array: Array) -> Array:
    memory = np.empty(array.nbytes + 1, np.uint8)
    (view := memory[1:].view(array.dtype).reshape(array.shape))[...] = array
    assert not view.flags.aligned
    return view


def test_arrays_that_fit_are_read_where_they_are(
    double: NativeFunction, checks: list[object], tmp_path: Path
):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for array in (X, read_only(X), mapped, X[:0], X[1:2], X[1:], np.asfortranarray(X[:1])):
        y, z = double(array)
        np.testing.assert_array_equal(y, 2 * np.asarray(array), strict=True)
        np.testing.assert_array_equal(z, 3 * np.asarray(array), strict=True)
    assert not checks


class Convertible:
    """An object that numpy makes an array of."""

    def __array__(self, dtype: object = None, copy: object = None) -> Array:
        return X


def test_other_arrays_are_copied(double: NativeFunction, checks: list[object]):
    given = (np.asfortranarray(X), X[::2], X[::-1], unaligned(X), Convertible())
    for count, array in enumerate(given, 1):
        (y, _) = double(array)  # pyright: ignore[reportArgumentType]
        np.testing.assert_array_equal(y, 2 * np.asarray(array), strict=True)
        assert len(checks) == count


@pytest.mark.parametrize(
    ("array", "got"),
    [
        (X.astype(">f4"), "expected float32, got >f4"),
        (X.astype(np.int32), "expected float32, got int32"),
        (X.astype(np.float64), "expected float32, got float64"),
        (X.astype(object), "expected float32, got object"),
        (X[0], "expected float32 of ?x4, got float32 of 4"),
        (X.T.copy(), "expected float32 of ?x4, got float32 of 4x3"),
        (X[None], "expected float32 of ?x4, got float32 of 1x3x4"),
        (np.float32(3), "got float32 of no dimensions"),
    ],
)
def test_arrays_of_other_types_are_refused(double: NativeFunction, array: Array, got: str):
    double(X)
    with pytest.raises(PasslineError) as error:
        double(array)
    assert got in str(error.value)


def test_another_number_of_arguments_is_refused(double: NativeFunction):
    for arguments in ((), (X, X)):
        with pytest.raises(PasslineError, match=f"takes 1 argument, {len(arguments)} are given"):
            double(*arguments)


def test_arrays_that_are_changed_are_writable(checks: list[object]):
    native = compiled(IN_PLACE)
    for array in (X.copy(), np.asfortranarray(X), read_only(X)):
        assert native(array, 7) == ()
        assert array[0, 0] == (7 if array.flags.writeable else 0)
        assert array[0, 1] == 1
    checks.clear()
    native(array := X.copy(), np.array(-3, np.int8))
    assert array[0, 0] == -3 and not checks


def test_numbers_are_those_of_the_type():
    native = compiled(IN_PLACE)
    for number, expected in (-128, -128), (127, 127), (255, -1), (np.array(200, np.uint8), -56):
        native(array := X.copy(), number)
        assert array[0, 0] == expected
    with pytest.raises(PasslineError, match="256 is out of range"):
        native(X.copy(), 256)


@pytest.mark.parametrize(
    ("type", "dtype", "numbers"),
    [
        ("i1", "?", {True: True, 0: False, -1: True}),
        ("i16", "i2", {-3: -3, 65535: -1}),
        ("i32", "i4", {1 << 30: 1 << 30}),
        ("i64", "i8", {-(1 << 63): -(1 << 63), (1 << 64) - 1: -1}),
        ("index", "i8", {5: 5}),
        ("f32", "f4", {0.1: np.float32(0.1), 1e300: np.inf, 3: 3}),
        ("f64", "f8", {0.1: 0.1, 1e300: 1e300}),
    ],
)
def test_types_of_numbers(type: str, dtype: str, numbers: dict[float, float]):
    native = compiled(f"""
      tir.prim_func @main(%n: {type}, %y: memref<1x{type}>) attributes {{tir.outputs = 1 : i64}} {{
        %c0 = arith.constant 0 : index
        memref.store %n, %y[%c0] : memref<1x{type}>
      }}""")
    for number, expected in numbers.items():
        np.testing.assert_array_equal(native(number)[0], np.array([expected], dtype), strict=True)


def test_small_results_are_in_the_memory_of_the_call(double: NativeFunction):
    """As many as there is room for; they begin at multiples of 16 bytes."""
    for rows in (0, 1, 3, ROOM // 32, ROOM // 16, ROOM // 16 + 1, 1000):
        x = np.full((rows, 4), 3, np.float32)
        y, z = double(x)
        small = [isinstance(array.base, ctypes.Array) for array in (y, z)]
        assert all(small)
        is_shared = y.base is z.base
        assert is_shared == (2 * x.nbytes <= ROOM)
        np.testing.assert_array_equal(y, 2 * x, strict=True)
        np.testing.assert_array_equal(z, 3 * x, strict=True)
        for array in (y, z):
            assert array.flags.writeable and array.flags.aligned
            array += 1


def test_the_code_checks_alone(double: NativeFunction):
    """The entry returns without a call of the function if it cannot read the arrays."""
    call, words = double._call, double._layout.new()  # pyright: ignore[reportPrivateUsage]
    place = ctypes.addressof(words)
    assert call(place, X.__array_struct__) == DONE
    assert call(place, X.T.__array_struct__) == REFUSED
    assert call(place, X.__array_struct__, X.__array_struct__) == REFUSED
    assert call(place) == REFUSED


def test_a_finalizer_in_a_cycle_may_call_the_code():
    results: list[Array] = []

    class Model:
        def __init__(self, native: NativeFunction) -> None:
            self.native, self.itself = native, self

        def __del__(self) -> None:
            results.extend(self.native(X))

    Model(compiled(DOUBLE))
    gc.collect()
    np.testing.assert_array_equal(results[0], 2 * X)
