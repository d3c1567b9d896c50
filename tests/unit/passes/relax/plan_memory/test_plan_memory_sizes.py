"""Memory planned for unknown sizes: the same results at every size, and the same errors."""

from __future__ import annotations

import numpy as np
import pytest
from support.models.seeded import Array
from support.parsing import parsed
from support.programs.dynamic_programs import BRANCH, CHAIN, COUNT
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.memref import AllocOp

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.passes.relax.plan_memory.plan_memory import PlanMemory
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk

SIZES = [0, 1, 2, 3, 17]


def outcome(module: ModuleOp, *arguments: Array) -> list[Array] | str:
    """Return the results of @main, or the error."""
    try:
        results = interpret(module, entry_function(module, "main"))(*arguments)
    except PasslineError as error:
        return str(error)
    return [np.asarray(result) for result in results]


def check(text: str, *arguments: Array) -> list[Array]:
    """Check that @main returns the same before and after planning, and return it."""
    module = parsed(text)
    planned = PlanMemory()(module)
    verify(planned)
    before, after = outcome(module, *arguments), outcome(planned, *arguments)
    assert not isinstance(before, str) and not isinstance(after, str), (before, after)
    for expected, actual in zip(before, after, strict=True):
        np.testing.assert_array_equal(actual, expected, strict=True)
    return after


def matrix(rows: int) -> Array:
    return np.arange(4 * rows, dtype=np.float32).reshape(rows, 4)


@pytest.mark.parametrize("n", SIZES)
def test_chain(n: int):
    x = matrix(n)
    squares, same, flat, twice = check(CHAIN, x, x[:, 0].copy())
    np.testing.assert_array_equal(squares, 64 * x * x)
    np.testing.assert_array_equal(same, x[:, 0])
    np.testing.assert_array_equal(flat, squares.ravel())
    np.testing.assert_array_equal(twice, 2 * x[:, None])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("taken", [False, True])
def test_branch(n: int, taken: bool):
    first, _ = check(BRANCH, matrix(n), np.array(taken), np.array(n // 2))
    assert len(first) == (n - n // 2 if taken else n)


def test_a_branch_that_is_not_taken_may_have_a_negative_size():
    check(BRANCH, matrix(2), np.array(False), np.array(7))
    planned = PlanMemory()(parsed(BRANCH))
    error = outcome(planned, matrix(2), np.array(True), np.array(7))
    assert isinstance(error, str) and "a size of a result is negative" in error


@pytest.mark.parametrize("positive", [0, 1, 4])
def test_sizes_that_depend_on_data(positive: int):
    x = np.array([1.0] * positive + [-1.0] * 3, np.float32)
    _, ones, count = check(COUNT, x, np.array(False))
    assert len(ones) == positive == count[0]


@pytest.mark.parametrize(
    ("positive", "taken", "message"),
    [
        (5, False, "too many"),
        (1, True, "a size of a result is negative"),
        (3, True, "relax.dyn.reshape: the numbers of elements differ"),
        (4, True, "too many in the branch"),
    ],
)
def test_errors(positive: int, taken: bool, message: str):
    x = np.array([1.0] * positive + [-1.0] * 3, np.float32)
    module = parsed(COUNT)
    assert isinstance(outcome(module, x, np.array(taken)), str)
    error = outcome(PlanMemory()(module), x, np.array(taken))
    assert isinstance(error, str) and "assertion failed at x.mlir" in error
    assert f": {message}" in error


def test_names_of_dimensions_are_checked():
    planned = PlanMemory()(parsed(CHAIN))
    error = outcome(planned, matrix(2), np.zeros(3, np.float32))
    assert isinstance(error, str) and "dimension 0 of parameter 'z'" in error


def test_two_of_three_values_share_the_arena():
    """Of the values in a chain of any length, two are live at once."""
    allocations = [op for op in walk(PlanMemory()(parsed(CHAIN))) if isinstance(op, AllocOp)]
    assert len(allocations) == 5  # the arena and four results
