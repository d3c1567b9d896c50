"""The decision whether a pass runs: by its call, the context and the instruments."""

from __future__ import annotations

from collections.abc import Callable

from support.passes.toy import Append, Recorder, collect, module, named, tags
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import Pass, PassContext, PassInfo, Sequential, pass_instrument

BLOCK = frozenset(["probe"])

CONTEXTS: dict[str, Callable[[], PassContext]] = {
    "nothing set": lambda: PassContext(),
    "disabled": lambda: PassContext(disabled_pass=["probe"]),
    "level too high": lambda: PassContext(opt_level=1),
    "level too high, but required": lambda: PassContext(opt_level=1, required_pass=["probe"]),
    "disabled and required": lambda: PassContext(required_pass=["probe"], disabled_pass=["probe"]),
    "should_run False": lambda: PassContext(instruments=[Recorder(blocks=BLOCK)]),
    "should_run False, but required": lambda: PassContext(
        required_pass=["probe"], instruments=[Recorder(blocks=BLOCK)]
    ),
}

CALLS: dict[str, Callable[[Pass], Pass]] = {
    "direct": lambda probe: probe,
    "child": lambda probe: Sequential([probe]),
    "required": lambda probe: Sequential([named("needs", requires=["probe"]), only_named(probe)]),
}


def only_named(probe: Pass) -> Pass:
    """Return a pipeline with a pass that requirements find, but that never runs."""
    return Sequential([probe], opt_level=100, name="never")


def runs(call: str, context: str) -> bool:
    with CONTEXTS[context]() as ctx:
        ctx.renderer = collect([])
        return "probe" in tags(CALLS[call](named("probe", level=2))(module()))


@table_test(
    ("context", "direct", "child", "required"),
    [
        ("nothing set", True, True, True),
        ("disabled", True, False, True),
        ("level too high", True, False, True),
        ("level too high, but required", True, True, True),
        ("disabled and required", True, False, True),
        ("should_run False", False, False, False),
        ("should_run False, but required", True, True, True),
    ],
)
def test_whether_it_runs(context: str, direct: bool, child: bool, required: bool) -> None:
    found = [runs(call, context) for call in ("direct", "child", "required")]
    assert found == [direct, child, required]


@table_test("context", ["nothing set", "disabled", "should_run False"])
def test_dependent_runs_whatever_becomes_of_its_requirement(context: str) -> None:
    with CONTEXTS[context]() as ctx:
        ctx.renderer = collect([])
        assert "needs" in tags(CALLS["required"](named("probe", level=2))(module()))


def test_pass_is_blocked_by_the_name_that_tvm_gives_it() -> None:
    @pass_instrument
    class Skips:
        def should_run(self, module: ModuleOp, info: PassInfo) -> bool:
            return info.name != "ToyAppend"

    with PassContext(instruments=[Skips()]):
        assert tags(Sequential([Append("a")])(module())) == []
