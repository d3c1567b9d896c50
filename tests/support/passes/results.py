"""Functions run by the semantics on numpy, and the comparison of their results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, TensorType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import Function, entry_function, input_types
from passline.passmanager import PasslineError
from passline.passmanager.registry import make_ir_context

__all__ = ["check_equal", "compare", "random_arguments", "run"]

Values: TypeAlias = tuple[object, ...]

TENSORS = (TensorType, MemRefType, TupleType)

OPEN = re.compile(r"index|\?")
"""The parts of a type for which a size has to be chosen: index and unknown dimensions."""


def compare(before: ModuleOp, after: ModuleOp) -> int:
    """Run the functions that both modules have on the same random inputs, and compare the
    results; return the number of comparisons."""
    compared = 0
    for func in before.ops:
        if not isinstance(func, Function) or func.is_declaration:
            continue
        others = [op for op in after.ops if isinstance(op, Function)]
        other = next((op for op in others if op.sym_name == func.sym_name), None)
        if other is None or len(input_types(other)) != len(input_types(func)):
            continue  # after lowering a function also takes the buffers of its results
        types = input_types(func)
        if isinstance(func, FuncOp) and not all(isinstance(t, TENSORS) for t in types):
            continue  # other tests run functions of scalars, which may be trip counts
        for size in (2, 5) if OPEN.search(str(func.function_type)) else (2,):
            arguments = random_arguments(types, size)
            if arguments is None:
                break
            try:
                expected = run(before, func.sym_name.data, arguments)
            except PasslineError:
                continue  # an op without semantics, or an access out of bounds
            actual = run(after, func.sym_name.data, arguments)
            check_equal(actual, expected)
            compared += 1
    return compared


def check_equal(actual: object, expected: object) -> None:
    """Raise AssertionError unless two values are equal: tuples element by element, numbers with
    a tolerance. Functions are not compared."""
    if isinstance(expected, tuple):
        assert isinstance(actual, tuple)
        actual, expected = cast(Values, actual), cast(Values, expected)
        for pair in zip(actual, expected, strict=True):
            check_equal(*pair)
    elif not callable(expected):
        np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-6)


def random_arguments(types: Sequence[Attribute], size: int = 2) -> Values | None:
    """Return random arguments: numpy arrays for tensors, buffers and numbers, and tuples of them;
    None if there is another type.

    `size` is used as each index and each unknown dimension.
    """
    rng = np.random.default_rng(0)
    arguments: list[object] = []
    for type_ in types:
        if isinstance(type_, TupleType):
            if (elements := random_arguments(type_.types.data, size)) is None:
                return None
            arguments.append(elements)
            continue
        if isinstance(type_, IndexType):
            arguments.append(size)
            continue
        shaped = re.fullmatch(r"(?:tensor|memref)<((?:[0-9?]+x)*)(\w+)(?:, \".*\")?>", str(type_))
        sizes, element = shaped.groups() if shaped else ("", str(type_))
        match = re.fullmatch(r"([fi])(\d+)", element)
        if match is None:
            return None
        shape = [size if n == "?" else int(n) for n in sizes.split("x") if n]
        if match[1] == "f":
            array = rng.uniform(0.5, 2, shape)
            arguments.append(np.asarray(array).astype(f"f{int(match[2]) // 8}"))
        elif match[2] == "1":
            arguments.append(np.asarray(rng.integers(0, 2, shape)).astype(bool))
        else:
            arguments.append(np.asarray(rng.integers(0, 5, shape)).astype(f"i{int(match[2]) // 8}"))
    return tuple(arguments)


def run(module: ModuleOp, name: str, arguments: Values, *listeners: Interpreter.Listener) -> Values:
    """Run a function of the module by the numpy semantics; PasslineError if an op has none."""
    ctx = make_ir_context()
    return interpret(module, entry_function(module, name), ctx, listeners)(*arguments)
