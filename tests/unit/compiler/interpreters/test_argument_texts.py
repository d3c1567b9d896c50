"""Arguments as a user writes them: numbers and lists, of the types of the parameters."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed
from support.tables import table_test

from passline.compiler.interpreters.arguments import split_values, written_arguments
from passline.compiler.interpreters.signature import Function, entry_function
from passline.passmanager import PasslineError


def function(*types: str) -> Function:
    parameters = ", ".join(f"%x{i}: {type}" for i, type in enumerate(types))
    text = f"func.func @main({parameters}) {{ func.return }}"
    return entry_function(parsed(text), "main")


@table_test(
    "type, text, value",
    [
        ("i32", "-4", np.int64(-4).astype("i4")),
        ("i32", "0xff", np.int32(255)),
        ("i8", "255", np.int8(-1)),
        ("ui8", "255", np.uint8(255)),
        ("ui64", "18446744073709551615", np.uint64(2**64 - 1)),
        ("i64", "18446744073709551615", np.int64(-1)),
        ("index", "7", np.int64(7)),
        ("i1", "true", np.bool_(True)),
        ("f32", "-1e3", np.float32(-1000)),
        ("f64", "-inf", np.float64(-np.inf)),
        ("f16", "nan", np.float16(np.nan)),
        ("bf16", "1.00390625", np.float32(1)),
        ("tensor<f32>", "3", np.float32(3)),
        ("tensor<2x2xf32>", "[[1, 2.5], [-3, .5]]", np.array([[1, 2.5], [-3, 0.5]], np.float32)),
        ("tensor<?xi1>", "[true, false, 1]", np.array([True, False, True])),
        ("tensor<2xindex>", "(1, 2)", np.array([1, 2], np.int64)),
        ("memref<?x2xi16>", "[[1, -2]]", np.array([[1, -2]], np.int16)),
        ("tensor<0x3xf32>", "[]", np.zeros((0, 3), np.float32)),
        ("tensor<2x0xf32>", "[[], []]", np.zeros((2, 0), np.float32)),
    ],
)
def test_values(type: str, text: str, value: object) -> None:
    (found,) = written_arguments(function(type), [text]).values()
    np.testing.assert_array_equal(found, np.asarray(value), strict=True)


@table_test(
    "type, text, message",
    [
        ("i32", "1.5", "expected an integer, got 1.5"),
        ("i8", "256", "256 is out of range"),
        ("ui8", "-1", "-1 is out of range"),
        ("si8", "255", "255 is out of range"),
        ("f32", "1e39", "1e+39 is out of range"),
        ("f32", "1" * 400, "a number is out of range"),
        ("f32", "[1.0]", "expected a number, got a list of 1 numbers"),
        ("tensor<2xf32>", "1.0", "expected a list of 2 numbers, got a number"),
        ("tensor<?x2xf32>", "[1, 2]", "expected a list of ?x2 numbers, got a list of 2 numbers"),
        ("tensor<2x2xf32>", "[[1, 2], [3]]", "expected lists of one length in each dimension"),
        ("tensor<2xf32>", "x.mlir", "expected a number, or a list as [1.0, 2.0], got 'x.mlir'"),
        ("f32", "__import__('os')", "expected a number, or a list as [1.0, 2.0], got"),
        ("f32", "", "expected a number, or a list as [1.0, 2.0], got ''"),
        ("f32", "-[1]", "expected a number, or a list as [1.0, 2.0], got '-[1]'"),
        ("tensor<1xf32>", "[" * 3000, "expected a number, or a list as [1.0, 2.0], got"),
        ("tensor<*xf32>", "[1.0]", "a value of this type cannot be written as text"),
        ("none", "1", "a value of this type cannot be written as text"),
    ],
)
def test_a_mistake_is_named_with_the_parameter(type: str, text: str, message: str) -> None:
    with pytest.raises(PasslineError) as caught:
        written_arguments(function("i32", type), ["0", text])
    assert str(caught.value).startswith(f"argument 2 of @main, 'x1', is {type}: {message}")


def test_another_number_of_arguments() -> None:
    with pytest.raises(PasslineError, match=r"^@main takes 1 argument \(i32\), 2 given$"):
        written_arguments(function("i32"), ["1", "2"])
    with pytest.raises(PasslineError, match=r"^@main takes 0 arguments, 1 given$"):
        written_arguments(function(), ["1"])


def test_values_are_separated_by_commas() -> None:
    assert split_values("-4, [1.0, [2]], inf") == ["-4", "[1.0, [2]]", "inf"]
    assert split_values("") == []
    for text in ("[1", "1] + [2", "1 2"):
        with pytest.raises(PasslineError, match="expected values as 4"):
            split_values(text)
