"""Deeply nested IR in the Python interface, whose process has Python's own limit of recursion."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from support.passes.toy import module, named
from xdsl.dialects.builtin import ModuleOp

import passline
from passline.passes import DeadCodeElimination
from passline.passmanager import PassContext, PasslineError
from passline.passmanager.limits import deep_recursion

DEPTH = 2000


@pytest.fixture(autouse=True)
def limit() -> Generator[None]:
    """Set Python's default, and check that it is set again at the end."""
    sys.setrecursionlimit(1000)
    yield
    assert sys.getrecursionlimit() == 1000


def nested(depth: int) -> str:
    ifs = "scf.if %c {\n" * depth + '"test.op"() : () -> ()\n' + "}\n" * depth
    return f"func.func @main(%c: i1) {{\n{ifs}func.return\n}}\n"


def test_deeply_nested_ir_is_read_transformed_and_written(tmp_path: Path) -> None:
    path = tmp_path / "deep.mlir"
    result = DeadCodeElimination()(passline.load(nested(DEPTH)))
    passline.save(result, path)
    assert path.read_text().count("scf.if") == DEPTH


def test_ir_that_is_nested_too_deeply_is_an_error() -> None:
    with pytest.raises(PasslineError, match="^the IR is nested too deeply$"):
        passline.load('"x.y"() ({' * 40_000, allow_unregistered=True)


def test_pass_runs_under_the_higher_limit() -> None:
    def recurse(m: ModuleOp, ctx: PassContext) -> None:
        def inner(depth: int) -> None:
            if depth:
                inner(depth - 1)

        inner(5000)

    named("recurse", body=recurse)(module())


def test_limit_is_raised_until_the_last_thread_is_done() -> None:
    entered, left = threading.Event(), threading.Event()

    def work() -> None:
        with deep_recursion():
            entered.set()
            left.wait()

    with deep_recursion():
        high = sys.getrecursionlimit()
        thread = threading.Thread(target=work)
        thread.start()
        entered.wait()
    assert sys.getrecursionlimit() == high > 1000
    left.set()
    thread.join()


def test_limit_that_a_pass_sets_stays() -> None:
    with deep_recursion():
        sys.setrecursionlimit(300_000)
    assert sys.getrecursionlimit() == 300_000
    sys.setrecursionlimit(1000)
