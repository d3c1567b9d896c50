"""What is compared besides results: effects in their order; numbers that are not finite."""

from __future__ import annotations

import pytest
from support.parsing import parsed

from passline.compiler.interpreters.equivalence import Equivalence


def printing(*lines: str) -> str:
    return "\n".join(
        (
            "func.func @main(%a: i32, %b: i32) -> i32 {",
            *(f"  {line}" for line in lines),
            "  func.return %a : i32",
            "}",
        )
    )


FIRST, SECOND = 'printf.print_format "a {}", %a : i32', 'printf.print_format "b {}", %b : i32'

CHANGED = {
    "dropped": ((FIRST,), (), "the effect 'printf.print_format, format_str = \"a {}\"' is missing"),
    "new": ((), (FIRST,), "is new"),
    "doubled": ((FIRST,), (FIRST, FIRST), "is new"),
    "reordered": ((FIRST, SECOND), (SECOND, FIRST), "effect 0 is 'printf.print_format, format_str"),
    "other operand": ((FIRST,), (FIRST.replace("%a", "%b"),), "effect 0, "),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_effect(name: str):
    before, after, reason = CHANGED[name]
    difference = Equivalence(parsed(printing(*before))).compare(parsed(printing(*after)))
    assert difference is not None
    assert reason in difference.reason


def test_the_same_effects_in_a_called_function():
    called = (
        printing("func.call @p(%a) : (i32) -> ()", SECOND)
        + f"""
    func.func private @p(%a: i32) {{
      {FIRST}
      func.return
    }}"""
    )
    assert Equivalence(parsed(called)).compare(parsed(printing(FIRST, SECOND))) is None


T, V = "tensor<4x4xf32>", "tensor<4xf32>"


def scaled(result: str, *, late: bool) -> str:
    """Return `result((x @ w) * s)`, or `result(x @ (w * s))`."""
    product = f"relax.matmul %x, {{}} : ({T}, {T}) -> {T}"
    times = f"relax.multiply {{}}, %s : ({T}, {V}) -> {T}"
    ops = (
        [product.format("%w"), times.format("%0")]
        if late
        else [
            times.format("%w"),
            product.format("%0"),
        ]
    )
    return f"""
    func.func @main(%x: {T}, %w: {T}, %s: {V}) -> {T} {{
      %0 = {ops[0]}
      %1 = {ops[1]}
      %2 = relax.{result} %1 : ({T}) -> {T}
      func.return %2 : {T}
    }}"""


def test_a_factor_that_moves_across_a_sum_may_change_what_is_infinite():
    check = Equivalence(parsed(scaled("tanh", late=True)), seeds=4)
    assert check.compare(parsed(scaled("tanh", late=False)), rounds=True) is None


def test_another_function_is_still_found():
    check = Equivalence(parsed(scaled("tanh", late=True)))
    difference = check.compare(parsed(scaled("sigmoid", late=False)), rounds=True)
    assert difference is not None


def test_a_pass_that_does_not_round_is_compared_at_infinities_too():
    head, tail = f"func.func @main(%x: {V}) -> {V} {{", f"return %0 : {V}\n}}"
    text = f"{head}\n%0 = relax.tanh %x : ({V}) -> {V}\n{tail}"
    # inf becomes -1
    wrong = f"""{head}
      %i = relax.full 0x7F800000 : {V}
      %m = relax.full -1.0 : {V}
      %e = relax.equal %x, %i : ({V}, {V}) -> tensor<4xi1>
      %y = relax.where %e, %m, %x : (tensor<4xi1>, {V}, {V}) -> {V}
      %0 = relax.tanh %y : ({V}) -> {V}
      {tail}"""
    difference = Equivalence(parsed(text)).compare(parsed(wrong))
    assert difference is not None
    assert "before 1.0" in difference.reason
