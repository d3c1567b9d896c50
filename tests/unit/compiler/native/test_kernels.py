"""Kernels compiled in groups, each in a process of its own."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed

from passline.compiler.interpreters.arrays import Array
from passline.compiler.native import NativeFunction, compile_module, function
from passline.compiler.native import kernel_groups as kernels
from passline.compiler.native.kernel_groups import Compiling, is_divisible, kernels_of
from passline.compiler.native.preparation import owned_memory as polls
from passline.compiler.native.preparation.assertions import Failures
from passline.passmanager.context import PassContext
from passline.passmanager.errors import PasslineError
from passline.passmanager.instruments import PassTimingInstrument

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only on Linux")

MODULE = """
func.func @main(%x: tensor<64x64xf32>, %i: tensor<3xi64>) -> (tensor<3x64xf32>, tensor<64xi1>) {
  %0 = relax.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = relax.matmul %0, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = relax.nn.softmax %1 {axis = 1} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = relax.take %2, %i {axis = 0} : (tensor<64x64xf32>, tensor<3xi64>) -> tensor<3x64xf32>
  %4 = relax.sum %2 {axis = [0]} : (tensor<64x64xf32>) -> tensor<64xf32>
  %5 = relax.isnan %4 : (tensor<64xf32>) -> tensor<64xi1>
  func.return %3, %5 : tensor<3x64xf32>, tensor<64xi1>
}
"""

KERNELS = """
"memref.global"() <{sym_name = "table", sym_visibility = "private", type = memref<2xf32>,
  initial_value = dense<[1.0, 2.0]> : tensor<2xf32>, constant}> : () -> ()
"memref.global"() <{sym_name = "state", sym_visibility = "private", type = memref<2xf32>,
  initial_value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> ()
tir.prim_func @main(%x: memref<2xf32>) {
  tir.call @plain(%x) : memref<2xf32>
  tir.call @variable(%x) : memref<2xf32>
  tir.call @asserting(%x) : memref<2xf32>
  tir.call @calling(%x) : memref<2xf32>
  tir.call @public(%x) : memref<2xf32>
}
tir.prim_func private @plain(%x: memref<2xf32>) {
  %0 = memref.get_global @table : memref<2xf32>
  "memref.copy"(%0, %x) : (memref<2xf32>, memref<2xf32>) -> ()
}
tir.prim_func private @variable(%x: memref<2xf32>) {
  %0 = memref.get_global @state : memref<2xf32>
  "memref.copy"(%0, %x) : (memref<2xf32>, memref<2xf32>) -> ()
}
tir.prim_func private @asserting(%x: memref<2xf32>) {
  %0 = arith.constant true
  cf.assert %0, "no"
}
tir.prim_func private @calling(%x: memref<2xf32>) {
  tir.call @plain(%x) : memref<2xf32>
}
tir.prim_func @public(%x: memref<2xf32>) {
}
"""


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Compile the kernels of small modules in two groups, also where pytest has other threads;
    return a list that gets the number of object files of each module."""
    monkeypatch.setattr(kernels, "available_cores", lambda: 2)
    monkeypatch.setattr(kernels, "can_fork", lambda: True)
    monkeypatch.setattr(kernels, "MIN_WORK", 1)
    counts: list[int] = []
    compile_kernels = kernels.compile_kernels

    def counting(*arguments: object) -> object:
        found = compile_kernels(*arguments)  # pyright: ignore[reportArgumentType]
        counts.append(0 if found is None else len(found[1]))
        return found

    monkeypatch.setattr(function, "compile_kernels", counting)
    return counts


def inputs() -> tuple[Array, Array]:
    x = np.random.default_rng(0).standard_normal((64, 64), np.float32)
    return x, np.array([3, 0, 63])


def check(compiled: NativeFunction) -> None:
    x, i = inputs()
    product = np.exp(x) @ x
    expected = np.exp(product - product.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    taken, is_nan = compiled(x, i)
    np.testing.assert_allclose(taken, expected[i], rtol=1e-3, atol=1e-6)
    assert not is_nan.any() and is_nan.dtype == np.bool_


@needs_native
@pytest.mark.parametrize("threads", [1, 2])
def test_groups_compute_the_same(threads: int, two_cores: list[int]):
    compiled = compile_module(parsed(MODULE), threads=threads)
    assert two_cores == [3]
    check(compiled)


COPIES = """
func.func private @nowhere(f32)
tir.prim_func @main(%x: memref<f32>, %y: memref<f32>) {
  tir.call @copy(%x, %y) : memref<f32>, memref<f32>
  tir.call @back(%y, %x) : memref<f32>, memref<f32>
  %0 = memref.load %x[] : memref<f32>
  LAST
}
tir.prim_func private @copy(%x: memref<f32>, %y: memref<f32>) {
  %0 = memref.load %x[] : memref<f32>
  memref.store %0, %y[] : memref<f32>
}
tir.prim_func private @back(%x: memref<f32>, %y: memref<f32>) {
  %0 = memref.load %x[] : memref<f32>
  memref.store %0, %y[] : memref<f32>
}
"""


@needs_native
def test_callers_of_kernels_may_fail(two_cores: list[int]):
    test = '%1 = arith.cmpf oeq, %0, %0 : f32\n  cf.assert %1, "not a number"'
    compiled = compile_module(parsed(COPIES.replace("LAST", test)))
    assert two_cores == [3]
    y = np.zeros((), np.float32)
    compiled(np.array(3, np.float32), y)
    assert y == 3
    with pytest.raises(PasslineError, match=r"x\.mlir:8.*not a number"):
        compiled(np.array(np.nan, np.float32), y)


@needs_native
def test_kernels_that_take_long_are_interrupted_in_any_group(
    two_cores: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(polls, "LONG_RUN", 1000)
    monkeypatch.setattr(polls, "LONG_ITERATION", 100)
    code = function.compile_code(parsed(MODULE))
    assert two_cores == [3]
    assert code.is_long
    texts = [text for text, _ in code.failures.assertions]
    assert texts.count(polls.INTERRUPTED) > 3
    check(function.NativeFunction(code, 0.0))


@needs_native
def test_a_group_that_fails_is_compiled_with_the_others(
    two_cores: list[int], monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise PasslineError("in another process")

    monkeypatch.setattr(Compiling, "prepare_group", fail)
    check(compile_module(parsed(MODULE)))
    assert two_cores == [0]


@needs_native
def test_errors_of_a_group_are_those_of_the_module(
    two_cores: list[int], capfd: pytest.CaptureFixture[str]
):
    with PassContext(disabled_pass=["lower-tir"]), pytest.raises(PasslineError) as error:
        compile_module(parsed(MODULE))
    assert two_cores == [0]
    assert "cannot be compiled to machine code" in str(error.value)
    assert capfd.readouterr().err == ""


@needs_native
def test_symbols_that_are_missing_are_reported_with_their_place(two_cores: list[int]):
    text = COPIES.replace("LAST", "func.call @nowhere(%0) : (f32) -> ()")
    with pytest.raises(PasslineError, match=r"@nowhere is called.*x\.mlir:7"):
        compile_module(parsed(text))
    assert two_cores == [3]


def test_kernels_are_functions_that_need_no_others():
    (plain,) = kernels_of(parsed(KERNELS), "main")
    assert plain.sym_name.data == "plain"
    unknown = KERNELS + "tir.prim_func private @unknown(%x: memref<?xf32>) {\n}\n"
    names = [kernel.sym_name.data for kernel in kernels_of(parsed(unknown), "main")]
    assert names == ["plain", "unknown"]


def test_who_watches_the_passes_sees_them_in_this_process(two_cores: list[int]):
    module = parsed(MODULE)
    assert is_divisible(module) and two_cores == []
    with PassContext(instruments=[PassTimingInstrument()]):
        assert not is_divisible(module)
    with PassContext(remark_filter=".*"):
        assert not is_divisible(module)


def test_the_numbers_of_failures_in_parts_are_different():
    first, second = Failures(part=0, parts=2), Failures(part=1, parts=2)
    from xdsl.dialects import arith, cf
    from xdsl.dialects.builtin import IntegerAttr, i1

    yes = arith.ConstantOp(IntegerAttr(1, i1))
    numbers = [
        each.add_assertion(cf.AssertOp(yes, text))
        for each, text in ((first, "a"), (second, "b"), (second, "c"))
    ]
    both = Failures.of_parts([first, second])
    assert [both.assertions[number - 1][0] for number in numbers] == ["a", "b", "c"]
