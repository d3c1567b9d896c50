"""Large modules compiled in parts, each by a process of its own."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed
from support.programs.dynamic_programs import CHAIN

from passline.compiler.native import compile_module, objects
from passline.compiler.native.jit import machine_of, processor_of
from passline.compiler.native.objects import (
    Part,
    available_cores,
    compile_apart,
    object_code,
    parts_of,
    undefined_symbols,
)
from passline.compiler.native.preparation.preparation import prepare
from passline.compiler.native.preparation.soft_promotion import CONVERSION
from passline.dialects.target import host
from passline.passmanager.errors import PasslineError

MODULE = """
"memref.global"() <{sym_name = "small", sym_visibility = "private", type = memref<2xf32>,
  initial_value = dense<[1.0, 2.0]> : tensor<2xf32>, constant}> : () -> ()
func.func @main(%x: memref<2xf32>, %y: memref<2xf32>) attributes {tir.outputs = 1 : i64} {
  func.call @add(%x, %y) : (memref<2xf32>, memref<2xf32>) -> ()
  func.call @double(%y) : (memref<2xf32>) -> ()
  func.return
}
func.func private @add(%x: memref<2xf32>, %y: memref<2xf32>) {
  %c = memref.get_global @small : memref<2xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  scf.for %i = %zero to %two step %one {
    %0 = memref.load %x[%i] : memref<2xf32>
    %1 = memref.load %c[%i] : memref<2xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %y[%i] : memref<2xf32>
  }
  func.return
}
func.func private @double(%y: memref<2xf32>) {
  %c = memref.get_global @small : memref<2xf32>
  %one = arith.constant 1 : index
  %0 = memref.load %c[%one] : memref<2xf32>
  %1 = memref.load %y[%one] : memref<2xf32>
  %2 = arith.truncf %1 : f32 to bf16
  %3 = arith.extf %2 : bf16 to f32
  %4 = arith.mulf %0, %3 : f32
  memref.store %4, %y[%one] : memref<2xf32>
  func.return
}
"""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide modules that are small, too, for two cores."""
    monkeypatch.setattr(objects, "PART_WORK", 1)
    monkeypatch.setattr(objects, "available_cores", lambda: 2)


def divided(text: str, count: int) -> list[Part]:
    module = prepare(parsed(text), "main").module
    return parts_of(module, "passline.main", count, CONVERSION)


def defined(part: Part) -> list[str]:
    """Return the functions with a body, and the constants, of a part."""
    return re.findall(r"^(?:define.*? )?@([\w.]+)(?: =|\()", part.ir, re.MULTILINE)


def test_functions_are_distributed():
    first, second = divided(MODULE, 2)
    names = [*defined(first), *defined(second)]
    functions = {"passline.main", "passline.add", "passline.double"}
    assert sorted(n for n in names if n in functions) == sorted(functions)
    exported = {"passline.add", "passline.double"}.intersection(first.exported + second.exported)
    assert exported, "the function that is not beside its caller is exported"
    assert sum("passline.main" in part.exported for part in (first, second)) == 1


def test_constants_and_conversions_are_in_each_part_that_needs_them():
    by_name = {name: part for part in divided(MODULE, 3) for name in defined(part)}
    add, double = by_name["passline.add"], by_name["passline.double"]
    assert add is not double
    assert "passline.small" in defined(add) and "passline.small" in defined(double)
    assert f'internal i16 @"{CONVERSION}' in double.ir or f"@{CONVERSION}" in double.ir


def test_no_more_parts_than_functions():
    assert len(divided(MODULE, 16)) == 3


def test_modules_with_variables_are_not_divided():
    (whole,) = divided(MODULE.replace(", constant}>", "}>"), 2)
    assert whole.exported == ("passline.main",)


def test_small_modules_are_not_divided(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(objects, "PART_WORK", 1 << 20)
    assert len(divided(MODULE, 2)) == 1


@needs_native
@pytest.mark.parametrize("cores", [1, 2, 3])
def test_parts_compute_the_same(cores: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(objects, "available_cores", lambda: cores)
    prepared = prepare(parsed(MODULE), "main")
    machine = machine_of(host())
    codes = object_code(prepared, host(), machine)
    assert len(codes) == cores
    assert "passline.add" not in undefined_symbols(*codes)
    (result,) = compile_module(parsed(MODULE))(np.array([1, 2], np.float32))
    np.testing.assert_array_equal(result, [2, 8])


@needs_native
def test_assertions_in_another_part():
    text = MODULE.replace(
        "%1 = memref.load %y[%one]",
        "%big = arith.constant 4.5 : f32\n%9 = memref.load %y[%one] : memref<2xf32>\n"
        '%ok = arith.cmpf olt, %9, %big : f32\ncf.assert %ok, "too large"\n'
        "%1 = memref.load %y[%one]",
    )
    function = compile_module(parsed(text))
    (result,) = function(np.array([1, 2], np.float32))
    np.testing.assert_array_equal(result, [2, 8])
    with pytest.raises(PasslineError, match="too large"):
        function(np.array([1, 3], np.float32))


@needs_native
def test_missing_functions_of_a_part_are_reported_with_their_place():
    text = MODULE.replace(
        "%2 = arith.truncf", "func.call @nowhere(%1) : (f32) -> ()\n%2 = arith.truncf"
    )
    text += "func.func private @nowhere(f32)\n"
    with pytest.raises(PasslineError, match=r"@nowhere is called.*x\.mlir:\d+"):
        compile_module(parsed(text))


@needs_native
def test_errors_of_a_worker():
    with pytest.raises(PasslineError, match="LLVM cannot parse the IR"):
        compile_apart(Part("nonsense", ()), processor_of(host()))
    with pytest.raises(PasslineError, match="ended with status"):
        compile_apart(Part("", ()), processor_of(host())._replace(triple="no-such-triple"))


def test_cores():
    assert available_cores() >= 1


@needs_native
def test_functions_of_unknown_sizes_are_called_alike_from_all_parts():
    module = parsed(CHAIN)
    prepared = prepare(module, "main")
    divided = parts_of(prepared.module, prepared.entry, 2, CONVERSION)
    callees = [
        text for part in divided for text in re.findall(r"void @passline\.double\((.*?)\)", part.ir)
    ]
    assert len(callees) > 2  # also declarations
    assert all(text.count("ptr") == text.count("i64") == 2 for text in callees)
    assert [prepared.entry in part.exported for part in divided].count(True) == 1
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.testing.assert_array_equal(compile_module(module)(x, x[:, 0])[0], 64 * x * x)
