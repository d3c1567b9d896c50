"""Conditions: what passes require and ensure, when it is checked, and what the errors say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pytest
from support.passes.toy import (
    Append,
    Nothing,
    Recorder,
    Tag,
    collect,
    module,
    named,
    register_in_test,
    tags,
    toy_context,
)
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass as XDSLModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import SymbolOpInterface

from passline.passmanager import (
    Condition,
    ConditionError,
    ConfigError,
    Fixpoint,
    FunctionPass,
    ModulePass,
    PassContext,
    PassContractError,
    PatternPass,
    Sequential,
    condition,
    no_op_of,
    only_dialects,
    parse_pipeline,
    static_shapes,
)
from passline.passmanager.conditions import parse_condition
from passline.passmanager.context import ConditionMode
from passline.passmanager.instruments import DebugCounter, RecordInstrument
from passline.passmanager.ir.text.parser import parse_module

checked: list[str] = []
"""The symbols of the ops on which `untagged` was checked."""


@condition("untagged", "no function has been seen")
def untagged(op: Operation) -> Iterator[tuple[Operation, str]]:
    if isinstance(op, FuncOp):
        checked.append(op.sym_name.data)
        if "seen" in op.attributes:
            yield op, "has been seen"


@condition("two-functions", "there are two functions", whole_module=True)
def two_functions(op: Operation) -> list[Operation]:
    assert isinstance(op, ModuleOp)
    return [] if len([*op.ops]) == 2 else [op]


NO_TEST = no_op_of("test.op")


class Needs(ModulePass):
    """A pass that needs functions that no pass has tagged."""

    name = "toy-needs"
    requires = (untagged,)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        pass


class Untag(FunctionPass):
    name = "toy-untag"
    ensures = (untagged,)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        func.attributes.pop("seen", None)


class Lie(ModulePass):
    """A pass that ensures what it breaks."""

    name = "toy-lie"
    ensures = (NO_TEST,)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        module.body.block.add_op(TestOp())


def pass_with(
    pass_name: str, requires: Iterable[Condition] = (), ensures: Iterable[Condition] = ()
) -> ModulePass:
    """Return a pass that changes nothing, with these conditions."""
    body = {"requires": tuple(requires), "ensures": tuple(ensures), "name": pass_name}
    return type("Made", (Nothing,), body)()


def run(
    *passes: XDSLModulePass, mode: ConditionMode = "always", on: ModuleOp | None = None
) -> ModuleOp:
    """Run passes in a context that checks conditions."""
    checked.clear()
    with PassContext(check_conditions=mode):
        return Sequential(passes)(on or module("f", "g"))


def error_of(*passes: XDSLModulePass, mode: ConditionMode = "always") -> ConditionError:
    with pytest.raises(ConditionError) as caught:
        run(*passes, mode=mode)
    return caught.value


MODES = table_test("mode", ["changed", "always"])

# When conditions are checked


def test_nothing_is_checked_by_default() -> None:
    with PassContext() as ctx:
        Sequential([Tag(), Needs(), Lie()])(module("f"))
    assert ctx.check_conditions == "never" and not ctx.checks_conditions


@MODES
def test_a_pass_runs_if_what_it_requires_holds(mode: ConditionMode) -> None:
    run(Needs(), Tag(), Untag(), Needs(), mode=mode)


@MODES
def test_a_pass_does_not_run_if_it_does_not_hold(mode: ConditionMode) -> None:
    with pytest.raises(ConditionError, match="'toy-needs' requires 'untagged'"):
        run(Tag(), Needs(), mode=mode)


@MODES
def test_a_pass_that_does_not_ensure_what_it_says_fails(mode: ConditionMode) -> None:
    with pytest.raises(ConditionError, match=r"'toy-lie' ensures 'no-op-of\(test.op\)'"):
        run(Lie(), mode=mode)


def test_always_checks_each_time_and_changed_only_what_changed() -> None:
    class TagF(FunctionPass):
        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            if func.sym_name.data == "f":
                func.attributes["other"] = StringAttr("x")

    run(Needs(), Needs(), mode="always")
    assert checked == ["f", "g"] * 2
    run(Needs(), Needs(), TagF(), Needs(), mode="changed")
    assert checked == ["f", "g", "f"]


def test_a_condition_on_the_module_is_checked_on_it() -> None:
    run(pass_with("a", [two_functions]))
    with pytest.raises(ConditionError, match="which 'builtin.module' breaks"):
        run(pass_with("a", [two_functions]), on=module("f"))


def test_a_preserved_condition_is_kept_over_a_change() -> None:
    class Keeps(Tag):
        preserves = (untagged,)

    run(Needs(), Keeps(), Needs(), mode="changed")  # it trusts the claim
    with PassContext(check_conditions="changed", verify_preserves=True):
        with pytest.raises(PassContractError, match="claims to preserve untagged"):
            Sequential([Needs(), Keeps()])(module("f"))


def test_a_function_pass_is_checked_on_the_functions_that_it_visits() -> None:
    class OnFunctions(Untag):
        requires = (untagged,)

    skipped = module("f")
    func = skipped.body.block.first_op
    assert func is not None
    func.attributes |= {name: StringAttr("") for name in ("seen", "passline.skip_optimization")}
    run(OnFunctions(), on=skipped)
    with pytest.raises(ConditionError):
        run(Needs(), on=skipped)


def test_a_nested_pass_has_the_conditions_of_the_pass_in_it() -> None:
    class Nestable(Needs):
        name = "toy-nestable"
        nestable = True

    (nested,) = parse_pipeline("func.func(n)", {"n": lambda: Nestable}).passes
    run(nested)
    assert checked == ["f", "g"]
    with pytest.raises(ConditionError, match="'toy-nestable' requires"):
        run(Tag(), nested)


def test_conditions_of_a_pipeline_are_checked_around_it() -> None:
    class Pipeline(Sequential):
        requires, ensures = (untagged,), (NO_TEST,)

    run(Pipeline([Nothing()]))
    assert "pass 'sequential' requires" in str(error_of(Tag(), Pipeline([Nothing()])))
    assert "pass 'sequential' ensures" in str(error_of(Pipeline([Append()])))


def test_conditions_may_depend_on_options() -> None:
    @dataclass(frozen=True)
    class Optional(Nothing):
        strict: bool = True

        @property
        def requires(self) -> tuple[Condition, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
            return (untagged,) if self.strict else ()

    run(Tag(), Optional(strict=False))
    error_of(Tag(), Optional())


def test_passes_of_xdsl_have_none_or_their_own() -> None:
    class Foreign(XDSLModulePass):
        name = "foreign"

        def apply(self, ctx: object, op: ModuleOp) -> None: ...

    run(Tag(), Foreign())
    Foreign.requires = (untagged,)  # pyright: ignore[reportAttributeAccessIssue]
    assert "'foreign' requires 'untagged'" in str(error_of(Tag(), Foreign()))


def test_checks_are_analyses_that_instruments_see() -> None:
    recorder = Recorder()
    with PassContext(check_conditions="changed", instruments=[recorder]):
        Needs()(module("f"))
    assert "%1 before_analysis untagged" in recorder.events


def test_the_failure_reaches_instruments_and_the_module_is_restored() -> None:
    recorder, ir = Recorder(), module("f")
    with PassContext(check_conditions="always", instruments=[recorder], rollback=True):
        with pytest.raises(ConditionError):
            Lie().apply(toy_context(), ir)
    assert recorder.events[-2] == "%1 failed toy-lie ConditionError" and not tags(ir)
    assert len([*ir.ops]) == 1


def test_a_pass_that_may_not_take_its_steps_ensures_nothing() -> None:
    with PassContext(check_conditions="always", instruments=[DebugCounter({})]):
        Lie()(module("f"))


def test_changes_of_a_fixpoint_are_seen() -> None:
    with pytest.raises(ConditionError):
        run(Fixpoint(Tag()), Needs(), mode="changed")


# What the error says


def test_the_error_names_pass_operation_place_and_the_pass_that_changed_it() -> None:
    text = "func.func @f() {\n  func.return\n}"
    ir = parse_module(toy_context(), text, "toy.mlir")
    with PassContext(check_conditions="always"), pytest.raises(ConditionError) as caught:
        Sequential([Tag(), Nothing(), Needs()])(ir)
    assert str(caught.value) == (
        "pass 'toy-needs' requires 'untagged' (no function has been seen), but @f has been seen "
        "at toy.mlir:1:1; it was last changed by 'toy-tag'"
    )
    assert isinstance(caught.value.op, FuncOp)
    assert caught.value.__notes__[0] == "in pass 'toy-needs' (3 of 3)"


def test_the_error_says_that_no_pass_changed_the_operation() -> None:
    ir = run(Tag())
    with PassContext(check_conditions="always"), pytest.raises(ConditionError) as caught:
        Sequential([Append(), Needs()])(ir)
    assert caught.value.blame == "no pass has changed it"


@MODES
def test_the_last_change_is_known_without_verification(mode: ConditionMode) -> None:
    with PassContext(check_conditions=mode, verify_each=False):
        with pytest.raises(ConditionError, match="it was last changed by 'toy-tag'"):
            Sequential([Needs(), Tag(), Needs()])(module("f"))


def test_the_error_names_the_pattern_that_made_the_operation() -> None:
    class Rename(RewritePattern):
        def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
            if isinstance(op, TestOp) and "old" in op.attributes:
                rewriter.replace(op, TestOp())

    class Renames(PatternPass):
        name = "toy-renames"

        def patterns(self) -> list[RewritePattern]:
            return [Rename()]

    ir = module("f")
    func = ir.body.block.first_op
    assert isinstance(func, FuncOp) and func.body.block.first_op is not None
    func.body.block.insert_op_before(
        TestOp(attributes={"old": StringAttr("")}), func.body.block.first_op
    )
    record = RecordInstrument()
    with PassContext(check_conditions="changed", instruments=[record]):
        with pytest.raises(ConditionError) as caught:
            Sequential([Renames(), Nothing(), pass_with("a", [NO_TEST])])(ir)
    assert caught.value.blame == "it was last changed by 'toy-renames' (pattern Rename)"


def test_the_error_counts_what_breaks_the_condition() -> None:
    def twice(op: Operation) -> tuple[Operation, Operation, Operation]:
        return op, op, op

    error = error_of(pass_with("a", [Condition("three", "there are three", twice)]))
    assert ", which @f breaks (and 2 more)" in str(error)


@table_test(
    ("passes", "advice"),
    [
        ([Tag(), Needs()], ""),
        ([Tag(), Needs(), Untag()], "move toy-untag before it"),
        ([Untag(), Tag(), Needs()], "run toy-untag again before it"),
        ([Untag(), Sequential([Tag(), Needs()])], "run toy-untag again before it"),
        ([Needs(), Untag(), Tag(), Needs()], "run toy-untag again before it"),
    ],
)
def test_advice_comes_from_the_pipeline(passes: list[ModulePass], advice: str) -> None:
    assert error_of(*passes).advice == advice


def test_advice_says_that_a_pass_is_skipped() -> None:
    class Late(Untag):
        name = "toy-late"
        opt_level = 3

    advice = error_of(Tag(), Late(), Needs()).advice
    assert advice == "toy-late would establish it, but is skipped (opt_level 3 > 2)"


def test_advice_comes_from_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    register_in_test(monkeypatch, Untag)
    assert error_of(Tag(), Needs()).advice == "run toy-untag first"


def test_a_pass_that_cannot_be_imported_is_no_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> type[ModulePass]:
        raise ImportError("numpy")

    register_in_test(monkeypatch, Untag)
    from passline.passmanager.registry import installed

    installed().passes["toy-broken"] = broken
    assert error_of(Tag(), Needs()).advice == "run toy-untag first"


def test_a_stronger_condition_establishes_a_weaker_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Removes(Nothing):
        name = "toy-removes"
        ensures = (no_op_of(TestOp, "a.b"),)

    register_in_test(monkeypatch, Removes)
    assert error_of(Append(), pass_with("a", [NO_TEST])).advice == "run toy-removes first"


def test_a_broken_promise_has_other_advice() -> None:
    assert error_of(Lie()).advice.startswith("the pass broke its promise")


def test_an_unknown_operation_is_warned_about_once() -> None:
    found: list[str] = []
    typo = pass_with("a", [no_op_of("test.opp")])
    with PassContext(check_conditions="always", renderer=collect(found)):
        Sequential([typo, typo]).apply(toy_context(), module("f"))
    assert found == [
        "warning: condition 'no-op-of(test.opp)': there is no operation 'test.opp', "
        "did you mean 'test.op'?"
    ]


# Conditions


@table_test(
    ("made", "text", "operations"),
    [
        (no_op_of("test.op"), "no-op-of(test.op)", 1),
        (no_op_of(TestOp, "a.b"), "no-op-of(test.op, a.b)", 1),
        (no_op_of(SymbolOpInterface), "no-op-of(SymbolOpInterface)", 0),
        (only_dialects("func"), "only-dialects(func)", 1),
        (only_dialects("func", "test"), "only-dialects(func, test)", 0),
        (static_shapes, "static-shapes", 0),
        (untagged, "untagged", 0),
    ],
)
def test_conditions_on_any_dialect(made: Condition, text: str, operations: int) -> None:
    ir = Append()(module("f"))
    assert str(made) == text == made.__name__
    assert len([*made.violations(ir)]) == operations
    assert made.holds(ir) == (not operations)


@table_test(
    ("type", "is_static"),
    [
        ("tensor<4xf32>", True),
        ("tensor<?xf32>", False),
        ("tensor<*xf32>", False),
        ("memref<4x?xf32>", False),
        ("memref<*xf32>", False),
        ("vector<4xf32>", True),
        ("index", True),
    ],
)
def test_static_shapes_are_those_of_results_and_arguments(type: str, is_static: bool) -> None:
    text = f"func.func @f(%x: {type}) {{ func.return }}"
    ir = parse_module(toy_context(), text, "toy.mlir")
    assert static_shapes.holds(ir) == is_static


def test_conditions_are_equal_if_their_texts_are() -> None:
    assert no_op_of("a.b") == no_op_of("a.b") != no_op_of("a.c")
    assert len({no_op_of("a.b"), no_op_of("a.b")}) == 1


def test_a_condition_follows_from_a_stronger_one() -> None:
    one, both = no_op_of("a.b"), no_op_of("a.b", "a.c")
    assert one.follows_from(both) and not both.follows_from(one)
    narrow, wide = only_dialects("a"), only_dialects("b", "a")
    assert wide.follows_from(narrow) and not narrow.follows_from(wide)
    assert untagged.follows_from(untagged) and not untagged.follows_from(static_shapes)


@table_test("make", [no_op_of, only_dialects])
def test_conditions_with_arguments_need_some(make: Callable[[], Condition]) -> None:
    with pytest.raises(ValueError, match=r"takes names"):
        make()


@table_test("name", ["Big", "two words", "", "a_b", "-a"])
def test_the_name_of_a_condition_is_in_kebab_case(name: str) -> None:
    with pytest.raises(ValueError, match="is kebab-case"):
        condition(name, "")(lambda op: ())


# Text


@table_test(
    ("text", "made"),
    [
        ("static-shapes", static_shapes),
        ("StaticShapes", static_shapes),
        (" no_op_of( test.op ,a.b ) ", no_op_of("test.op", "a.b")),
        ("only-dialects(llvm)", only_dialects("llvm")),
        ("untagged", untagged),
    ],
)
def test_text_is_read(text: str, made: Condition) -> None:
    assert parse_condition(text, [untagged]) == made
    assert parse_condition(str(made), [untagged]) == made


@table_test(
    ("text", "message"),
    [
        ("static-shape", r"no condition 'static-shape', did you mean 'static-shapes'\?"),
        ("no-ops-of(a.b)", r"did you mean 'no-op-of'\?"),
        ("no-op-of", r"takes arguments: write no-op-of\(a, b\)"),
        ("static-shapes(a)", "takes no arguments"),
        ("no-op-of(a.b,)", "has an empty argument"),
        ("no-op-of(a.b", "is no condition: expected a name"),
        ("", "is no condition"),
    ],
)
def test_invalid_text_is_answered(text: str, message: str) -> None:
    with pytest.raises(ConditionError, match=message):
        parse_condition(text, [untagged])


# Mistakes


@table_test(
    ("attribute", "value", "message"),
    [
        ("requires", ("infer-type",), r"passes are named in `required`, as required = \('infer"),
        ("requires", "infer-type", r"'infer-type' is text"),
        ("ensures", untagged, r"C\.ensures is a list of conditions: write \(untagged,\)"),
        ("ensures", (3,), "holds 3"),
        ("requires", 3, "holds 3"),
        ("requires", (Nothing,), "holds the class Nothing"),
        ("required", (untagged,), "the condition 'untagged' belongs in `requires`"),
        ("required", untagged, "the condition 'untagged' belongs in `requires`"),
    ],
)
def test_what_is_no_condition_is_an_error(attribute: str, value: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        type("C", (ModulePass,), {attribute: value})


@table_test(
    ("mode", "message"),
    [("alway", r"did you mean 'always'\?"), (True, "not True"), ("", "changed or always")],
)
def test_an_unknown_mode_is_an_error(mode: object, message: str) -> None:
    with pytest.raises(ConfigError, match=f"check_conditions is never, .*{message}|{message}"):
        PassContext(check_conditions=mode)  # pyright: ignore[reportArgumentType]


@MODES
def test_a_condition_that_raises_is_named_with_the_pass(mode: ConditionMode) -> None:
    @condition("broken", "nothing")
    def broken(op: Operation) -> Iterator[Operation]:
        raise KeyError("x")

    error = error_of(pass_with("a", [broken]), mode=mode)
    assert str(error) == "condition 'broken' cannot be checked: KeyError: 'x'"
    assert error.__notes__[:2] == [
        "in condition 'broken', which the pass requires",
        "in pass 'a' (1 of 1)",
    ]
    assert isinstance(error.__cause__, KeyError)


@table_test("found", ["text", 3, ("a", "b"), None])
def test_a_condition_that_yields_no_operation_is_an_error(found: object) -> None:
    odd = Condition("odd", "", lambda op: [found])  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConditionError, match="condition 'odd' yields .*: expected an operation"):
        run(pass_with("a", [odd]))


def test_a_condition_that_returns_no_list_cannot_be_checked() -> None:
    odd = Condition("odd", "", lambda op: None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConditionError, match="condition 'odd' cannot be checked: TypeError"):
        run(pass_with("a", [odd]))


def test_text_in_a_computed_attribute_is_an_error_when_it_is_checked() -> None:
    class Computed(Nothing):
        @property
        def requires(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
            return ("infer-type",)

    with pytest.raises(TypeError, match=r"Computed\.requires is a list of conditions"):
        run(Computed())


def test_a_required_pass_still_runs_before_its_dependent(monkeypatch: pytest.MonkeyPatch) -> None:
    register_in_test(monkeypatch, Untag)

    class Both(Needs):
        required = ("toy-untag",)

    run(Tag(), Both())
    assert named("a", requires=["b"]).info.required == ("b",)
