"""BindTarget: which target a module gets, of those that it may have."""

from __future__ import annotations

from contextlib import nullcontext

from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

from passline.dialects.target import Target, known_target, set_target
from passline.passes.tir.bind_target import BindTarget


@table_test(
    ("module", "option", "keep", "entered", "expected"),
    [
        ("", "", False, "", "x86-64-v3"),
        ("", "", False, "x86-64-v4", "x86-64-v4"),
        ("", "aarch64", False, "x86-64-v4", "aarch64"),
        ("x86-64", "", False, "x86-64-v4", "x86-64-v4"),
        ("x86-64", "aarch64", False, "x86-64-v4", "aarch64"),
        ("", "aarch64", True, "", "aarch64"),
        ("", "aarch64", True, "x86-64-v4", "x86-64-v4"),
        ("x86-64", "aarch64", True, "x86-64-v4", "x86-64"),
    ],
)
def test_precedence(module: str, option: str, keep: bool, entered: str, expected: str) -> None:
    prog = ModuleOp([])
    if module:
        set_target(prog, Target(module))
    with Target(entered) if entered else nullcontext():
        bound = BindTarget(option, keep)(prog)
    assert known_target(bound) == Target(expected)
