"""PrimFuncPass and prim_func_pass: from functions, from classes, and by subclassing."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from support.parsing import parsed
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.dialects.func import FuncOp

from passline.dialects.tir.ops import PrimFuncOp
from passline.passes.tir.base import PrimFuncPass, prim_func_pass
from passline.passmanager import ConfigError, Pass, PassContext, Sequential
from passline.passmanager.instrument import PassInstrument
from passline.passmanager.registration import register_pass
from passline.passmanager.registry import PassInfo, installed

TEXT = """
tir.prim_func @a(%x: memref<4xf32>) {
}
func.func @tensors() {
  func.return
}
tir.prim_func @b(%x: memref<4xf32>) {
}
"""


def module() -> ModuleOp:
    return parsed(TEXT)


def mark(func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
    """Mark a function."""
    func.attributes["mark"] = StringAttr(func.sym_name.data)


def marks(module: ModuleOp) -> dict[str, str]:
    """Return the marks of the functions of a module, by name."""
    return {
        op.sym_name.data: str(op.attributes["mark"])
        for op in module.ops
        if isinstance(op, PrimFuncOp | FuncOp) and "mark" in op.attributes
    }


@dataclass(frozen=True)
class Count(PrimFuncPass):
    """Number a function."""

    name = "test-tir-count"
    opt_level = 2

    start: int = 1

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        func.attributes["mark"] = IntegerAttr(self.start, i64)
        ctx.count("numbered")


BOTH = {"a": '"a"', "b": '"b"'}


def test_a_function_becomes_a_pass_on_prim_funcs():
    pass_ = prim_func_pass(mark)
    assert (pass_.name, pass_.anchor) == ("mark", PrimFuncOp)
    before = module()
    assert marks(pass_(before)) == BOTH
    assert marks(before) == {}


def test_level_name_and_requirements():
    @prim_func_pass(opt_level=2, name="marks", required=["infer-type"])
    def pass_(func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        mark(func, module, ctx)

    assert isinstance(pass_, Pass)
    assert pass_.info == PassInfo("marks", 2, ("infer-type",))


def test_a_function_may_give_another():
    @prim_func_pass
    def renewed(func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> PrimFuncOp:
        mark(new := func.clone(), module, ctx)
        return new

    assert marks(renewed(module())) == BOTH


def test_a_class_becomes_a_pass_class():
    @prim_func_pass(opt_level=1)
    class Marks:
        """Marks functions."""

        def __init__(self, text: str) -> None:
            self.text = text

        def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
            func.attributes["mark"] = StringAttr(self.text)

    pass_ = Marks("x")
    assert isinstance(pass_, Pass)
    assert pass_.info.opt_level == 1
    assert marks(pass_(module())) == {"a": '"x"', "b": '"x"'}


def test_a_pass_of_ones_own_in_a_sequential(monkeypatch: pytest.MonkeyPatch):
    class Seen(PassInstrument):
        def __init__(self) -> None:
            self.names: list[str] = []

        def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
            self.names.append(info.name)

    monkeypatch.setattr(offer := installed(), "passes", dict(offer.passes))
    monkeypatch.setattr(offer, "names", dict(offer.names))
    register_pass(Count)
    pipeline = Sequential([Count(), prim_func_pass(mark)])
    with PassContext(opt_level=3, instruments=[seen := Seen()]):
        assert marks(pipeline(module())) == BOTH
    assert seen.names == ["sequential", "test-tir-count", "mark"]
    with PassContext(opt_level=3, disabled_pass=["mark"], config={"TestTirCount": {"start": 5}}):
        assert marks(pipeline(module())) == {"a": "5 : i64", "b": "5 : i64"}
    with PassContext(opt_level=1):
        assert marks(Sequential([Count()])(module())) == {}
    with pytest.raises(ConfigError, match="did you mean 'start'"):
        PassContext(config={"test-tir-count": {"strt": 5}})
