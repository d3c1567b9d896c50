"""Pipelines by name: TVM's, and those of functions that are registered."""

from __future__ import annotations

import pytest
from support.passes.toy import Append, module, register_in_test, tags
from xdsl.dialects.builtin import ModuleOp

import passline
from passline.passmanager import (
    ModulePass,
    PassContext,
    PassNotFoundError,
    Sequential,
    module_pass,
    parse_pipeline,
)


def test_names_of_tvm() -> None:
    assert passline.get_pipeline().name == "optimize"
    assert passline.get_pipeline("zero").name == "optimize"
    assert str(passline.get_pipeline("default")).startswith('sequential{name="default"}(')
    assert passline.get_pipeline("lower-to-tir").name == "lower-to-tir"


def test_a_registered_function_makes_a_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    register_in_test(monkeypatch)

    @passline.register_pipeline("my-pipe")
    def my_pipe(tag: str = "a", more: bool = False) -> Sequential:
        return Sequential([Append(tag), *[Append("more")] * more], name="my-pipe")

    assert tags(passline.get_pipeline("my-pipe")(module())) == ["a"]
    assert tags(passline.get_pipeline("MyPipe", tag="b", more=True)(module())) == ["b", "more"]
    assert tags(parse_pipeline("my-pipe,my_pipe")(module())) == ["a", "a"]
    assert tags(my_pipe("c")(module())) == ["c"]
    with PassContext(disabled_pass=["my-pipe"]):
        assert tags(parse_pipeline("my-pipe")(module())) == []


def test_a_decorated_pass_is_a_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    register_in_test(monkeypatch)

    @passline.register_pipeline("my-pipe")
    def my_pipe() -> ModulePass:
        @module_pass(opt_level=0)
        def run(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
            return Sequential([Append("x"), Append("y")])(mod)

        return run

    assert tags(passline.get_pipeline("my-pipe")(module())) == ["x", "y"]


def test_unknown_names_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    register_in_test(monkeypatch)
    with pytest.raises(PassNotFoundError, match="no pipeline 'optimise', did you mean 'optimize'"):
        passline.get_pipeline("optimise")
    with pytest.raises(PassNotFoundError, match="'static_shape_tuning' has no counterpart: passl"):
        passline.get_pipeline("static_shape_tuning")
    with pytest.raises(TypeError, match="pipeline 'zero' has no option 'target'"):
        passline.get_pipeline("zero", target="x")
    with pytest.raises(ValueError, match="there is a pass or pipeline 'OPTIMIZE' already"):
        passline.register_pipeline("OPTIMIZE")
