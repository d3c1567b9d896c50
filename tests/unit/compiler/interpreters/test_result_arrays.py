"""Results in arrays of the caller (`out=`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.dlpack_exporter import CUDA, Exporter
from support.native.needs_llvmlite import needs_native

import passline
from passline.passmanager import PasslineError

Array = NDArray[Any]

MODULE = """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = relax.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y, %x : tensor<4xf32>, tensor<4xf32>
}
func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relax.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @matrix(%x: tensor<2x2xf32>, %z: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = relax.matmul %x, %z : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}
func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relax.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}
func.func @bf16(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %y = relax.add %x, %x : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  func.return %y : tensor<4xbf16>
}
func.func @pair(%x: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  %t = relax.tuple %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  func.return %t : tuple<tensor<4xf32>, tensor<4xf32>>
}
"""
X: Array = np.array([1, 2, 3, 4], np.float32)
BF16: Array = np.array([0x3F80, 0x4000, 0x4040, 0xC000], np.uint16)  # 1, 2, 3, -2
engines = pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=needs_native)])


def compiled(engine: Any, function: str) -> passline.CompiledFunction:
    return passline.compile(MODULE, function=function, engine=engine)


def empty() -> Array:
    return np.full(4, np.nan, np.float32)


@engines
def test_results_are_written_to_arrays_of_the_caller(engine: str):
    one, two = compiled(engine, "one"), compiled(engine, "main")
    for out in (empty(), np.full(8, np.nan, np.float32)[::2], Exporter(empty())):
        for given in (X, {"x": X}, Exporter(X)):
            (result,) = one(given, out=out)
            assert result is out
            np.testing.assert_array_equal(getattr(out, "array", out), 2 * X, strict=True)
    for out in ([empty(), empty()], (Exporter(empty()), empty())):
        first, second = two(X, out=out)
        assert first is out[0] and second is out[1]
        np.testing.assert_array_equal(getattr(first, "array", first), 2 * X, strict=True)
        np.testing.assert_array_equal(second, X, strict=True)


@engines
def test_results_of_unknown_size_are_written(engine: str):
    function, out = compiled(engine, "unknown"), empty()
    function(X, out=out)
    np.testing.assert_array_equal(out, 2 * X)
    out[...] = 7
    with pytest.raises(PasslineError, match="result 'y' is of 3: `out` is of 4"):
        function(X[:3], out=out)
    assert out.tolist() == [7, 7, 7, 7]


@engines
def test_arrays_may_share_memory_with_arguments(engine: str):
    x = X.copy()
    compiled(engine, "one")(x, out=x)
    np.testing.assert_array_equal(x, 2 * X)
    x, y = X.copy(), empty()
    compiled(engine, "main")(x, out=(x, y))
    np.testing.assert_array_equal(x, 2 * X)
    np.testing.assert_array_equal(y, X)
    memory = np.arange(6, dtype=np.float32)
    x, z, out = memory[:4].reshape(2, 2), memory[1:5].reshape(2, 2), memory[2:].reshape(2, 2)
    expected = x @ z
    for arguments in ((x, z), (Exporter(x), Exporter(z))):
        memory[...] = range(6)
        compiled(engine, "matrix")(*arguments, out=out)
        np.testing.assert_array_equal(out, expected)


@engines
def test_arrays_that_share_memory_get_one_result_after_the_other(engine: str):
    memory = np.zeros(6, np.float32)
    compiled(engine, "main")(X, out=(memory[:4], memory[2:]))
    assert memory.tolist() == [2, 4, 1, 2, 3, 4]


@engines
def test_bf16_is_written_as_the_array_has_it(engine: str):
    function = compiled(engine, "bf16")
    function(Exporter(BF16, code=4), out=(out := empty()))
    assert out.tolist() == [2, 4, 6, -4]
    for bits in (np.zeros(4, np.uint16), np.zeros(8, np.uint16)[::2]):
        function(X, out=Exporter(bits, code=4))
        assert bits.tolist() == [0x4000, 0x4080, 0x40C0, 0x4100]


@engines
def test_arrays_that_do_not_fit_are_refused(engine: str):
    (frozen := empty()).flags.writeable = False
    for out, message in (
        (empty()[:3], "result 'y' is tensor<4xf32>: expected float32 of 4, got float32 of 3"),
        (np.zeros(4), "result 'y' is tensor<4xf32>: expected float32, got float64 of 4"),
        (Exporter(BF16, code=4), "result 'y' is tensor<4xf32>: expected float32, got bf16 of 4"),
        (frozen, "`out` for result 'y' is read-only"),
        (Exporter(frozen), "`out` for result 'y' is read-only"),
        (7, "`out` for result 'y' is of class int: expected an array"),
        ((), "`out` has 0 arrays: expected one for each of 1 result"),
        ([empty(), empty()], "`out` has 2 arrays: expected one for each of 1 result"),
        (
            Exporter(X, device=(CUDA, 1)),
            "`out` for result 'y' is on cuda:1: expected an array in the memory of the processor",
        ),
    ):
        with pytest.raises(PasslineError) as caught:
            compiled(engine, "one")(X, out=out)  # pyright: ignore[reportCallIssue, reportArgumentType]
        assert str(caught.value) == message


@engines
def test_nothing_is_written_if_an_array_does_not_fit(engine: str):
    out = empty()
    with pytest.raises(PasslineError, match="result 'x' is"):
        compiled(engine, "main")(X, out=(out, empty()[:3]))
    with pytest.raises(PasslineError, match="expected float32 of 4, got float32 of 3"):
        compiled(engine, "main")(X[:3], out=(out, empty()))
    assert np.isnan(out).all()


def test_tuples_are_refused():
    with pytest.raises(
        PasslineError, match="result .* is tuple<.*>: `out` is for results that are"
    ):
        passline.run(MODULE, X, function="pair", out=empty())


@needs_native
def test_machine_code_writes_to_the_array():
    """Where it can; a result elsewhere is copied."""
    native: Any = compiled("native", "one")._call  # pyright: ignore[reportPrivateUsage]
    for out, is_direct in (
        (memory := empty(), True),
        (np.empty((5, 4), np.float32)[2], True),
        (np.empty(8, np.float32)[::2], False),
        (np.zeros(17, np.uint8)[1:].view(np.float32), False),
        (X, False),
    ):
        (result,) = native.call_into([out], [X])
        assert (result is out) == is_direct
        assert result.tolist() == [2, 4, 6, 8]
    assert native.call_into([memory[::-1]], [X])[0] is not memory
