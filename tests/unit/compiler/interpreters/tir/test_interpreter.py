"""The semantics of scalars, vectors and buffers, against values written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.parsing import parsed
from support.tables import table_test

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.passmanager import PasslineError
from passline.passmanager.ir.verifier import verify

Array = NDArray[Any]


def run(text: str, *arguments: object) -> tuple[Any, ...]:
    """Call `@f` of a module."""
    module = parsed(text)
    verify(module)
    return interpret(module, entry_function(module, "f"))(*arguments)  # pyright: ignore[reportArgumentType]


def result(op: str, type: str, *operands: tuple[str, str]) -> Any:
    """Return the result of `type` of an operation on constants, written as %0, %1, ..."""
    constants = "\n".join(
        f"%{i} = arith.constant {v}{colon(t)}" for i, (v, t) in enumerate(operands)
    )
    text = f"func.func @f() -> {type} {{\n{constants}\n%r = {op}\nreturn %r : {type}\n}}"
    (value,) = run(text)
    return value


def colon(type: str) -> str:
    """Return the type as it is written after a constant; true and false have none."""
    return "" if type == "i1" else f" : {type}"


INTEGERS = [
    ("arith.addi", "127", "1", -128),
    ("arith.subi", "-128", "1", 127),
    ("arith.muli", "100", "3", 44),
    ("arith.divsi", "-7", "2", -3),
    ("arith.divui", "-7", "2", 124),
    ("arith.floordivsi", "-7", "2", -4),
    ("arith.ceildivsi", "-7", "2", -3),
    ("arith.ceildivsi", "7", "2", 4),
    ("arith.remsi", "-7", "2", -1),
    ("arith.remui", "-7", "4", 1),
    ("arith.minsi", "-7", "2", -7),
    ("arith.minui", "-7", "2", 2),
    ("arith.maxsi", "-7", "2", 2),
    ("arith.maxui", "-7", "2", -7),
    ("arith.andi", "12", "10", 8),
    ("arith.ori", "12", "10", 14),
    ("arith.xori", "12", "10", 6),
    ("arith.shli", "3", "6", -64),
    ("arith.shrsi", "-64", "2", -16),
    ("arith.shrui", "-64", "2", 48),
]


@table_test("op, lhs, rhs, expected", INTEGERS)
def test_integers_wrap_around(op: str, lhs: str, rhs: str, expected: int):
    value = result(f"{op} %0, %1 : i8", "i8", (lhs, "i8"), (rhs, "i8"))
    assert value == expected and value.dtype == np.int8


@pytest.mark.parametrize(
    ("op", "expected"), [("shrui", 2**63 - 1), ("divui", 2**63 - 1), ("remui", 1), ("maxui", -1)]
)
def test_unsigned_results_take_all_bits(op: str, expected: int):
    operands = ("-1", "i64"), ("1" if op == "shrui" else "2", "i64")
    assert result(f"arith.{op} %0, %1 : i64", "i64", *operands) == expected


COMPARISONS = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]


@table_test("predicate, expected", [*zip(COMPARISONS, "0111000011", strict=True)])
def test_integers_compare_with_and_without_a_sign(predicate: str, expected: str):
    value = result(f"arith.cmpi {predicate}, %0, %1 : i8", "i1", ("-1", "i8"), ("1", "i8"))
    assert value == bool(int(expected))


def test_a_bit_is_minus_one_with_a_sign():
    assert result("arith.extsi %0 : i1 to i8", "i8", ("true", "i1")) == -1
    assert result("arith.extui %0 : i1 to i8", "i8", ("true", "i1")) == 1
    assert result("arith.cmpi slt, %0, %1 : i1", "i1", ("true", "i1"), ("false", "i1"))
    assert not result("arith.addi %0, %1 : i1", "i1", ("true", "i1"), ("true", "i1"))


@table_test(
    "predicate, numbers, nan",
    [
        ("false", False, False),
        ("oeq", False, False),
        ("ogt", False, False),
        ("olt", True, False),
        ("one", True, False),
        ("ord", True, False),
        ("ueq", False, True),
        ("ult", True, True),
        ("uge", False, True),
        ("une", True, True),
        ("uno", False, True),
        ("true", True, True),
    ],
)
def test_floats_compare_ordered_and_not(predicate: str, numbers: bool, nan: bool):
    for other, expected in (("2.0", numbers), ("0x7FC00000", nan)):
        op = f"arith.cmpf {predicate}, %0, %1 : f32"
        assert result(op, "i1", ("1.0", "f32"), (other, "f32")) == expected


def test_floats_are_rounded_after_each_operation():
    value = result("arith.addf %0, %1 : f32", "f32", ("16777216.0", "f32"), ("1.0", "f32"))
    assert value == 16777216.0 and value.dtype == np.float32
    value = result("arith.addf %0, %1 : bf16", "bf16", ("256.0", "bf16"), ("1.0", "bf16"))
    assert value == 256.0
    exact = ("4097.0", "f32")
    value = result("math.fma %0, %0, %1 : f32", "f32", exact, ("-16785408.0", "f32"))
    assert value == 1.0  # 4097 squared is 16785409, which is no f32


def test_minima_and_maxima_differ_in_nan():
    nan = ("0x7FC00000", "f32")
    assert math.isnan(result("arith.maximumf %0, %1 : f32", "f32", ("1.0", "f32"), nan))
    assert result("arith.maxnumf %0, %1 : f32", "f32", ("1.0", "f32"), nan) == 1.0
    assert math.isnan(result("arith.minimumf %0, %1 : f32", "f32", ("1.0", "f32"), nan))
    assert result("arith.minnumf %0, %1 : f32", "f32", ("1.0", "f32"), nan) == 1.0


@table_test(
    "op, operand, type, expected",
    [
        ("arith.fptosi %0 : f32 to i8", ("-2.9", "f32"), "i8", -2),
        ("arith.sitofp %0 : i8 to f32", ("-1", "i8"), "f32", -1.0),
        ("arith.uitofp %0 : i8 to f32", ("-1", "i8"), "f32", 255.0),
        ("arith.trunci %0 : i32 to i8", ("300", "i32"), "i8", 44),
        ("arith.extui %0 : i8 to i32", ("-1", "i8"), "i32", 255),
        ("arith.truncf %0 : f64 to f32", ("0.1", "f64"), "f32", np.float32(0.1)),
        ("arith.bitcast %0 : f32 to i32", ("1.0", "f32"), "i32", 0x3F800000),
        ("arith.index_cast %0 : i8 to index", ("-1", "i8"), "index", -1),
        ("math.ctpop %0 : i8", ("-1", "i8"), "i8", 8),
        ("math.ctlz %0 : i8", ("1", "i8"), "i8", 7),
        ("math.cttz %0 : i8", ("0", "i8"), "i8", 8),
        ("math.round %0 : f32", ("-2.5", "f32"), "f32", -3.0),
        ("math.roundeven %0 : f32", ("-2.5", "f32"), "f32", -2.0),
        ("math.erf %0 : f32", ("0.5", "f32"), "f32", np.float32(0.5204999)),
    ],
)
def test_conversions_and_functions(op: str, operand: tuple[str, str], type: str, expected: float):
    assert result(op, type, operand) == expected


def test_vectors_are_computed_lane_by_lane():
    text = """
    tir.prim_func @f(%a: memref<8xf32>, %n: index, %out: memref<8xf32>) attributes
        {tir.outputs = 1 : i64} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %two = arith.constant dense<2.0> : vector<4xf32>
      %v = vector.load %a[%c0] : memref<8xf32>, vector<4xf32>
      %w = arith.mulf %v, %two : vector<4xf32>
      vector.store %w, %out[%c0] : memref<8xf32>, vector<4xf32>
      %mask = vector.create_mask %n : vector<4xi1>
      %m = vector.maskedload %a[%c4], %mask, %two
        : memref<8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
      vector.maskedstore %out[%c4], %mask, %m : memref<8xf32>, vector<4xi1>, vector<4xf32>
    }
    """
    (out,) = run(text, np.arange(8, dtype=np.float32), 3)
    assert out.tolist() == [0, 2, 4, 6, 4, 5, 6, 0]


def test_masked_lanes_are_not_accessed():
    text = """
    tir.prim_func @f(%a: memref<2xf32>, %out: memref<4xf32>) attributes {tir.outputs = 1 : i64} {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %none = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
      %mask = vector.create_mask %c2 : vector<4xi1>
      %m = vector.maskedload %a[%c0], %mask, %none
        : memref<2xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
      vector.store %m, %out[%c0] : memref<4xf32>, vector<4xf32>
    }
    """
    (out,) = run(text, np.array([8, 9], np.float32))
    assert out.tolist() == [8, 9, 3, 4]


def test_views_share_memory():
    text = """
    tir.prim_func @f(%a: memref<4x6xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = arith.constant -1 : i32
      %row = memref.subview %a[1, 2] [2, 3] [1, 1]
        : memref<4x6xi32> to memref<2x3xi32, strided<[6, 1], offset: 8>>
      memref.store %x, %row[%c0, %c1] : memref<2x3xi32, strided<[6, 1], offset: 8>>
      %flat = memref.collapse_shape %a [[0, 1]] : memref<4x6xi32> into memref<24xi32>
      memref.store %x, %flat[%c0] : memref<24xi32>
      %other = memref.reinterpret_cast %a to offset: [23], sizes: [1], strides: [1]
        : memref<4x6xi32> to memref<1xi32, strided<[1], offset: 23>>
      memref.store %x, %other[%c0] : memref<1xi32, strided<[1], offset: 23>>
    }
    """
    (a,) = run(text, np.zeros((4, 6), np.int32))
    assert np.argwhere(a).tolist() == [[0, 0], [1, 3], [3, 5]]


def test_bytes_are_seen_as_numbers():
    text = """
    tir.prim_func @f(%out: memref<2xf32>) attributes {tir.outputs = 1 : i64} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %x = arith.constant 1.5 : f32
      %arena = memref.alloc() : memref<16xi8>
      %view = memref.view %arena[%c8][] : memref<16xi8> to memref<2xf32>
      memref.store %x, %view[%c0] : memref<2xf32>
      "memref.copy"(%view, %out) : (memref<2xf32>, memref<2xf32>) -> ()
    }
    """
    (out,) = run(text)
    assert out.tolist() == [1.5, 0]


def test_the_arguments_of_a_caller_stay_as_they_are():
    text = """
    tir.prim_func @f(%a: memref<2xf32>, %b: memref<2xf32>) {
      "memref.copy"(%a, %b) : (memref<2xf32>, memref<2xf32>) -> ()
    }
    """
    a, b = np.ones(2, np.float32), np.zeros(2, np.float32)
    results = run(text, a, b)
    assert [r.tolist() for r in results] == [[1, 1], [1, 1]] and b.tolist() == [0, 0]


def test_a_call_changes_the_buffers_it_is_given():
    text = """
    tir.prim_func @f(%a: memref<2xf32>) {
      tir.call @g(%a) : memref<2xf32>
    }
    tir.prim_func private @g(%a: memref<2xf32>) {
      %c1 = arith.constant 1 : index
      %x = arith.constant 3.0 : f32
      tir.for %i = %c1 extent %c1 {
        memref.store %x, %a[%i] : memref<2xf32>
      }
    }
    """
    assert run(text, np.zeros(2, np.float32))[0].tolist() == [0, 3]


def test_call_tir_gives_its_kernel_arrays():
    text = """
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = relax.call_tir @double(%x) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    tir.prim_func private @double(%x: memref<2xf32>, %out: memref<2xf32>) {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      tir.for vectorized %i = %c0 extent %c2 {
        %0 = memref.load %x[%i] : memref<2xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %out[%i] : memref<2xf32>
      }
    }
    """
    assert run(text, np.array([1, 2], np.float32))[0].tolist() == [2, 4]


def test_call_tir_gives_its_kernel_elements_in_a_row():
    """Strided arrays (of `full`, a transposed tensor, a slice) are passed as contiguous buffers."""
    text = """
    func.func @f(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
      %full = relax.full 5.0 : tensor<3x2xf32>
      %0 = relax.transpose %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %1 = relax.call_tir @flat(%0) : (tensor<3x2xf32>) -> tensor<6xf32>
      %2 = relax.call_tir @flat(%full) : (tensor<3x2xf32>) -> tensor<6xf32>
      return %1, %2 : tensor<6xf32>, tensor<6xf32>
    }
    tir.prim_func private @flat(%x: memref<3x2xf32>, %out: memref<6xf32>) {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %flat = "memref.reinterpret_cast"(%x) <{
        static_offsets = array<i64: 0>, static_sizes = array<i64: 6>,
        static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>
      }> : (memref<3x2xf32>) -> memref<6xf32>
      tir.for %i = %c0 extent %c6 {
        %0 = memref.load %flat[%i] : memref<6xf32>
        memref.store %0, %out[%i] : memref<6xf32>
      }
    }
    """
    transposed, full = run(text, np.arange(6, dtype=np.float32).reshape(2, 3))
    assert transposed.tolist() == [0, 3, 1, 4, 2, 5]
    assert full.tolist() == [5] * 6


def test_an_index_out_of_bounds_is_an_error():
    text = """
    tir.prim_func @f(%a: memref<2xf32>, %i: index) {
      %0 = memref.load %a[%i] : memref<2xf32>
    }
    """
    with pytest.raises(PasslineError, match=r"index \[-1\] is out of the bounds of a buffer of 2"):
        run(text, np.zeros(2, np.float32), -1)


def test_a_parallel_loop_of_scf_runs_in_order():
    text = """
    func.func @f(%a: memref<2x3xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %x = arith.constant 1.0 : f32
      "scf.parallel"(%c0, %c0, %c2, %c3, %c1, %c2)
        <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
      ^bb0(%i: index, %j: index):
        memref.store %x, %a[%i, %j] : memref<2x3xf32>
        "scf.reduce"() : () -> ()
      }) : (index, index, index, index, index, index) -> ()
      return
    }
    """
    assert run(text, np.zeros((2, 3), np.float32))[0].tolist() == [[1, 0, 1], [1, 0, 1]]
