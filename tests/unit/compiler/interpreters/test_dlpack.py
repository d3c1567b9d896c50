"""Arrays of other libraries as arguments, and results as theirs."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.dlpack_exporter import CUDA, Exporter
from support.native.needs_llvmlite import has_native, needs_native
from support.parsing import parsed
from support.tables import table_test

import passline
from passline.compiler.interpreters import dlpack
from passline.compiler.interpreters.dlpack import array_for
from passline.passmanager import PasslineError

Array = NDArray[Any]

MODULE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relax.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func @constant(%x: tensor<4xf32>) -> tensor<2xf32> {
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  func.return %c : tensor<2xf32>
}
func.func @scaled(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %t = tensor.from_elements %s : tensor<1xf32>
  %y = relax.multiply %x, %t : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @both(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %z = relax.subtract %x, %y : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  func.return %z : tensor<?x2xf32>
}
func.func @first(%t: tuple<tensor<4xf32>, tensor<4xf32>>)
    -> tuple<tensor<4xf32>, tensor<4xf32>> {
  func.return %t : tuple<tensor<4xf32>, tensor<4xf32>>
}
func.func @bf16(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %y = relax.add %x, %x : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  func.return %y : tensor<4xbf16>
}
func.func @f8(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  func.return %x : tensor<4xf8E5M2>
}
"""
X: Array = np.array([1, 2, 3, 4], np.float32)
BF16: Array = np.array([0x3F80, 0x4000, 0x4040, 0xC000], np.uint16)  # 1, 2, 3, -2
ENGINES = ["numpy", pytest.param("native", marks=needs_native)]


def compiled(engine: Any, function: str = "main") -> passline.CompiledFunction:
    return passline.compile(MODULE, function=function, engine=engine)


class Library:
    """The functions of a library whose arrays are `Mine`."""

    @staticmethod
    def from_dlpack(array: Any) -> Mine:
        return Mine(np.from_dlpack(array))


class Mine(Exporter):
    """An array of a library that makes its arrays of others."""

    def __array_namespace__(self) -> type[Library]:
        return Library


# Arguments


@table_test("is_old", [False, True])
def test_memory_is_shared_and_given_back_once(is_old: bool):
    given = Exporter(X.copy(), is_old=is_old)
    array = array_for("x", given)
    assert array.__array_interface__["data"][0] == given.address
    assert (given.exported, given.deleted) == (1, 0)
    view = array[1:]
    del array
    gc.collect()
    assert given.deleted == 0
    del view
    gc.collect()
    assert given.deleted == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_functions_take_arrays_of_other_libraries(engine: str):
    given = Exporter(X.copy())
    function = compiled(engine)
    for arguments in ((given,), ({"x": given},)):
        (result,) = function(*arguments)
        np.testing.assert_array_equal(result, 2 * X, strict=True)
    gc.collect()
    assert given.exported == given.deleted == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_strides_are_those_of_the_array(engine: str):
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3).T, np.ones((6, 4), np.float32)[::2, ::2]
    (result,) = compiled(engine, "both")(Exporter(x), Exporter(y))
    np.testing.assert_array_equal(result, x - 1, strict=True)
    (none,) = compiled(engine, "both")(Exporter(x[:0]), Exporter(y[:0]))
    assert none.shape == (0, 2)


def test_machine_code_reads_and_writes_where_the_array_is():
    pytest.importorskip("llvmlite")
    from passline.compiler.native import compile_module

    function = compile_module(
        parsed("""
        tir.prim_func @main(%x: memref<4xf32>, %n: i8) {
          %c0 = arith.constant 0 : index
          %f = arith.sitofp %n : i8 to f32
          memref.store %f, %x[%c0] : memref<4xf32>
        }""")
    )
    given = Exporter(X.copy())
    function(given, 7)  # pyright: ignore[reportArgumentType]
    assert given.array.tolist() == [7, 2, 3, 4]
    gc.collect()
    assert given.deleted == 1


def test_results_that_are_arguments_keep_the_memory():
    given = Exporter(X.copy())
    (result,) = passline.run(MODULE, given, function="identity")
    gc.collect()
    assert result.__array_interface__["data"][0] == given.address and given.deleted == 0
    del result
    gc.collect()
    assert given.deleted == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_arrays_with_an_array_interface_are_read_where_they_are(engine: Any):
    class OfInterface:
        __array_interface__ = X.__array_interface__

    given: Any = OfInterface()
    (result,) = passline.compile(MODULE, engine=engine)(given)
    assert isinstance(result, np.ndarray) and result.tolist() == [2, 4, 6, 8]
    (same,) = passline.run(MODULE, given, function="identity")
    assert np.shares_memory(same, X)


def test_arrays_that_are_read_only_are_read():
    (x := X.copy()).flags.writeable = False
    assert passline.run(MODULE, Exporter(x))[0].tolist() == [2, 4, 6, 8]


def test_numbers_and_tuples_may_be_of_other_libraries():
    (result,) = passline.run(MODULE, X, Exporter(np.array(3, np.float32)), function="scaled")
    assert result.tolist() == [3, 6, 9, 12]
    pair: Any = (Mine(X), Mine(-X))
    results: Any = passline.run(MODULE, pair, function="first")
    first, second = results
    assert isinstance(first, Mine) and second.array.tolist() == [-1, -2, -3, -4]


@pytest.mark.parametrize("engine", ENGINES)
def test_devices_are_refused_by_name(engine: str):
    function = compiled(engine, "scaled" if engine == "numpy" else "both")
    names = ("x", "s") if engine == "numpy" else ("x", "y")
    for (device, number), text in {
        (CUDA, 0): "cuda:0",
        (CUDA, 3): "cuda:3",
        (10, 1): "rocm:1",
        (99, 0): "device 99:0",
    }.items():
        away = Exporter(X, device=(device, number))
        for name, arguments in zip(names, ((away, X), (X, away)), strict=True):
            with pytest.raises(PasslineError) as caught:
                function(*arguments)
            assert str(caught.value) == (
                f"argument '{name}' is on {text}: expected an array in the memory of the processor"
            )


def test_memory_of_the_host_that_is_pinned_is_read():
    assert passline.run(MODULE, Exporter(X, device=(3, 0)))[0].tolist() == [2, 4, 6, 8]


class Unshared:
    """An array whose library does not share it now."""

    def __init__(self, reason: Exception) -> None:
        self._reason = reason

    def __dlpack__(self, *, stream: None = None) -> object:
        raise self._reason

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class Copied(Unshared):
    """One that its library copies."""

    def __array__(self, dtype: object = None, copy: object = None) -> Array:
        return X


class OnNoDevice(Unshared):
    """One of a device that DLPack does not know."""

    def __dlpack_device__(self) -> tuple[int, int]:
        raise self._reason


def test_reasons_of_the_library_are_told():
    for cls, reason in (
        (Unshared, BufferError("it needs a gradient: use detach()\nmore")),
        (OnNoDevice, ValueError("unknown device meta")),
        (Unshared, KeyError()),
    ):
        with pytest.raises(PasslineError) as caught:
            passline.run(MODULE, cls(reason))
        told = str(reason).partition("\n")[0] or "KeyError"
        assert str(caught.value) == f"argument 'x' cannot be read: {told}"


def test_arrays_that_are_not_shared_are_copied():
    assert passline.run(MODULE, Copied(BufferError()))[0].tolist() == [2, 4, 6, 8]


def test_arrays_that_do_not_fit_are_refused():
    for array, got in (
        (Exporter(X.astype(np.int32)), "expected float32, got int32 of 4"),
        (Exporter(X[:3]), "expected float32 of 4, got float32 of 3"),
        (Exporter(BF16, code=4), "expected float32, got bf16 of 4"),
    ):
        with pytest.raises(PasslineError, match=f"parameter 'x' is tensor<4xf32>: {got}"):
            passline.run(MODULE, array)
    with pytest.raises(PasslineError, match="takes 1 argument, 2 are given"):
        passline.run(MODULE, Exporter(X), Exporter(X))
    with pytest.raises(PasslineError, match="argument '1' is on cuda:0"):
        passline.run(MODULE, X, Exporter(X, device=(CUDA, 0)))


# Floats that numpy lacks


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("is_old", [False, True])
def test_bf16_crosses_as_bits(engine: str, is_old: bool):
    function = compiled(engine, "bf16")
    given = Exporter(BF16.copy(), code=4, is_old=is_old)
    (result,) = function(given)
    np.testing.assert_array_equal(result, np.array([2, 4, 6, -4], np.float32), strict=True)
    (strided,) = function(Exporter(np.repeat(BF16, 2)[::2], code=4))
    np.testing.assert_array_equal(strided, result, strict=True)
    gc.collect()
    assert (given.exported, given.deleted) == (2, 1)  # numpy refuses it first


def test_bf16_of_ml_dtypes_is_taken():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for engine in ("numpy", "native") if has_native() else ("numpy",):
        (result,) = compiled(engine, "bf16")(X.astype(ml_dtypes.bfloat16))
        np.testing.assert_array_equal(result, 2 * X, strict=True)


def test_bits_without_their_type_are_refused():
    with pytest.raises(PasslineError, match="'x' is tensor<4xbf16>: expected float32, got uint16"):
        passline.run(MODULE, Exporter(BF16), function="bf16")


def test_floats_of_8_bits_cross_as_bits():
    bits = np.array([0x3C, 0x40, 0xC0, 0x00], np.uint8)  # 1, 2, -2, 0
    (result,) = passline.run(MODULE, Exporter(bits, code=12), function="f8")
    assert result.dtype == np.float32 and result.tolist() == [1, 2, -2, 0]
    with pytest.raises(PasslineError, match="numpy has no elements of DLPack's type 7"):
        passline.run(MODULE, Exporter(bits, code=7), function="f8")
    with pytest.raises(PasslineError, match="expected float32, got f8E4M3FN"):
        passline.run(MODULE, Exporter(bits, code=10), function="f8")


class Typed:
    """An array that has crossed, with the type of its elements."""

    def __init__(self, array: Any) -> None:
        self.bits = dlpack._bits(array)  # pyright: ignore[reportPrivateUsage]

    @staticmethod
    def from_dlpack(array: Any) -> Typed:
        return Typed(array)


@pytest.mark.parametrize("engine", ENGINES)
def test_results_of_bf16_are_bf16_in_other_libraries(engine: str):
    class Given(Exporter):
        def __array_namespace__(self) -> type[Typed]:
            return Typed

    (result,) = compiled(engine, "bf16")(Given(BF16, code=4))
    assert result.bits.dtype.names == ("bf16",)
    assert result.bits.view(np.uint16).tolist() == [0x4000, 0x4080, 0x40C0, 0xC080]


# Results


@pytest.mark.parametrize("engine", ENGINES)
def test_results_are_of_the_library_of_the_first_array_that_is_not_numpys(engine: str):
    x, y = np.ones((3, 2), np.float32), np.zeros((3, 2), np.float32)
    function = compiled(engine, "both")
    for arguments in ((Mine(x), y), (x, Mine(y)), (Mine(x), Exporter(y))):
        (result,) = function(*arguments)
        assert isinstance(result, Mine)
        np.testing.assert_array_equal(result.array, x, strict=True)
    for arguments in ((x, y), (Exporter(x), Mine(y)), (x, Exporter(y))):
        assert isinstance(function(*arguments)[0], np.ndarray)


def test_results_are_of_the_package_of_the_class(monkeypatch: pytest.MonkeyPatch):
    """As those of PyTorch, whose arrays do not tell their library."""
    made: list[object] = []
    package = SimpleNamespace(from_dlpack=lambda array: made.append(array) or "made")  # pyright: ignore
    monkeypatch.setitem(dlpack.sys.modules, "package_of_arrays", package)  # pyright: ignore
    base = type("Base", (Exporter,), {"__module__": "package_of_arrays.core"})
    derived = type("Derived", (base,), {})
    assert passline.run(MODULE, derived(X)) == ("made",)
    assert len(made) == 1


def test_constants_do_not_leave_as_memory_that_libraries_may_write_to():
    (result,) = passline.run(MODULE, Mine(X), function="constant")
    result.array[...] = 0
    assert passline.run(MODULE, Mine(X), function="constant")[0].array.tolist() == [1, 2]


def test_functions_on_buffers_return_copies_of_the_library():
    module = """
    tir.prim_func @main(%x: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %f = arith.constant 7.0 : f32
      memref.store %f, %x[%c0] : memref<4xf32>
    }"""
    for engine in ("numpy", "native") if has_native() else ("numpy",):
        given = Mine(X.copy())
        (result,) = passline.compile(module, engine=engine)(given)
        assert isinstance(result, Mine) and result.array.tolist() == [7, 2, 3, 4]
        assert given.array.tolist() == X.tolist()


# Libraries


def values(array: Any) -> list[float]:
    return np.from_dlpack(array).tolist()


def tvm_tensor(array: Array) -> Any:
    return pytest.importorskip("tvm_ffi").from_dlpack(array)


def torch_tensor(array: Array) -> Any:
    return pytest.importorskip("torch").from_dlpack(array)


def jax_array(array: Array) -> Any:
    return pytest.importorskip("jax.numpy").asarray(array)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("tensor", [tvm_tensor, torch_tensor, jax_array])
def test_libraries(engine: str, tensor: Any):
    given = tensor(X.copy())
    (result,) = compiled(engine)(given)
    assert type(result) is type(given) and values(result) == [2, 4, 6, 8]
    (again,) = compiled(engine)(result)
    assert values(again) == [4, 8, 12, 16]


@pytest.mark.parametrize("engine", ENGINES)
def test_torch(engine: str):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([1.0, 2, 3, 4])
    with pytest.raises(PasslineError, match="argument 'x' cannot be read: .*detach"):
        compiled(engine)(tensor.requires_grad_())
    with pytest.raises(PasslineError, match="argument 'x' cannot be read: .*meta"):
        compiled(engine)(torch.empty(4, device="meta"))
    (result,) = compiled(engine, "bf16")(tensor.detach().bfloat16())
    assert result.dtype == torch.bfloat16 and result.tolist() == [2, 4, 6, 8]
    out = torch.empty(4)
    (same,) = compiled(engine)(tensor.detach(), out=out)
    assert same is out and out.tolist() == [2, 4, 6, 8]


@pytest.mark.parametrize("engine", ENGINES)
def test_jax(engine: str):
    numpy = pytest.importorskip("jax.numpy")
    array = numpy.asarray(X)
    (result,) = compiled(engine, "bf16")(array.astype(numpy.bfloat16))
    assert result.dtype == numpy.bfloat16 and result.tolist() == [2, 4, 6, 8]
    with pytest.raises(PasslineError, match="`out` for result 'y' is read-only"):
        compiled(engine)(array, out=array)
