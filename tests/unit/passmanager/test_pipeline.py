"""Pipelines as text: parsing, printing, and the errors for invalid text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.passes.toy import Append, Fail, Nothing, Tag, module, tags
from support.tables import table_test
from xdsl import passes as xdsl_passes
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.test import TestOp
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.mlir_opt import MLIROptPass

from passline.passmanager import (
    Fixpoint,
    FunctionPass,
    ModulePass,
    PassContext,
    PasslineError,
    PipelineSyntaxError,
    Repeat,
    Sequential,
)
from passline.passmanager.anchors import anchor_of
from passline.passmanager.pipeline import parse_pipeline, pipeline_text


class Colour(StrEnum):
    RED = "red"
    DARK_BLUE = "dark-blue"


class Mode(Enum):
    FAST = auto()
    EXACT = auto()


@dataclass(frozen=True)
class Many(Nothing):
    """A pass with an option of every type."""

    name = "toy.Many"

    i: int = 0
    f: float = 0.5
    b: bool = False
    s: str = ""
    maybe_int: int | None = None
    maybe_text: str | None = "x"
    ints: tuple[int, ...] = ()
    floats: tuple[float, ...] = (1.0,)
    bools: tuple[bool, ...] = (True,)
    texts: tuple[str, ...] | None = None
    holes: tuple[int | None, ...] = ()
    pair: tuple[int, str] = (0, "")
    choice: Literal["auto", "no", 3, True] = "auto"
    colour: Colour = Colour.RED
    mode: Mode = Mode.FAST
    either: str | int = 0


@dataclass(frozen=True)
class Foreign(xdsl_passes.ModulePass):
    """A pass of another project."""

    name = "foreign"

    limit: int | None = None
    names: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


@dataclass(frozen=True)
class Needs(Nothing):
    """A pass with a required option whose value is checked."""

    name = "toy-needs"

    max_size: int

    def __post_init__(self) -> None:
        if self.max_size < 0:
            raise ValueError("max_size is not negative")


class OnTest(FunctionPass[TestOp]):
    """A pass that visits test ops."""

    name = "toy-on-test"

    def transform_function(self, func: TestOp, module: ModuleOp, ctx: PassContext) -> None:
        pass


PASSES: tuple[type[xdsl_passes.ModulePass], ...] = (
    *(Append, Fail, Foreign, Many, Needs, Nothing, OnTest, Tag),
    *(CanonicalizePass, CommonSubexpressionElimination, MLIROptPass),
)
AVAILABLE: dict[str, Callable[[], type[xdsl_passes.ModulePass]]] = {
    cls.name: (lambda cls=cls: cls) for cls in PASSES
}


def parse(text: str) -> Sequential:
    return parse_pipeline(text, AVAILABLE)


def parse_one(text: str) -> xdsl_passes.ModulePass:
    """Return the only pass of a pipeline."""
    (pass_,) = parse(text).passes
    return pass_


def many(options: str) -> Many:
    """Return a Many with these options."""
    pass_ = parse_one(f"toy.Many{{{options}}}")
    assert isinstance(pass_, Many)
    return pass_


def names(text: str) -> list[str]:
    return [pass_.name for pass_ in parse(text).passes]


def refusal(text: str) -> PipelineSyntaxError:
    """Return the error for invalid text."""
    with pytest.raises(PipelineSyntaxError) as caught:
        parse(text)
    return caught.value


def marked(text: str) -> tuple[str, int, str]:
    """Return the message, the offset of the caret in the text, and the text above it."""
    error = refusal(text)
    assert error.text == text
    *_, line, marker = str(error).split("\n")
    above = line[marker.index("^") : marker.rindex("^") + 1]
    assert text[error.start :].startswith(above)
    return error.message, error.start, above


# Passes


def test_passes_in_order() -> None:
    assert names("toy-nothing,toy-append,cse") == ["toy-nothing", "toy-append", "cse"]


def test_empty_text_is_the_empty_pipeline() -> None:
    assert names("") == [] and names(" \n ") == []


@table_test("text", ["ToyAppend", "toy.Append", "toy_append", "TOY-APPEND"])
def test_tvm_spelling_of_a_pass(text: str) -> None:
    assert parse_one(text) == Append()


@table_test("text", ["toy.Many", "toy-many", "ToyMany"])
def test_pass_that_is_named_with_a_dot(text: str) -> None:
    assert parse_one(text) == Many()


def test_installed_passes_are_known_without_a_list() -> None:
    (pass_,) = parse_pipeline("canonicalize").passes
    assert isinstance(pass_, CanonicalizePass)


def test_pipeline_runs() -> None:
    pipeline = parse('toy-append{tag="a"},sequential(toy-append{tag="b"}),toy-append{tag=c}')
    assert tags(pipeline(module())) == ["a", "b", "c"]


def test_unknown_pass_gets_the_nearest() -> None:
    assert refusal("csee").message == "there is no pass 'csee', did you mean 'cse'?"


def test_unknown_pass_near_to_none() -> None:
    message = "there is no pass 'qqqq'; a pass of MLIR's runs as mlir-opt[qqqq]"
    assert refusal("qqqq").message == message
    with pytest.raises(PipelineSyntaxError) as caught:
        parse_pipeline("qqqq", {"cse": AVAILABLE["cse"]})
    assert caught.value.message == "there is no pass 'qqqq'"


def test_refusal_is_an_exception_of_ours() -> None:
    assert isinstance(refusal("cse,,cse"), PasslineError)


def test_refusal_shows_the_text_and_a_caret() -> None:
    assert str(refusal("cse,csee{}")) == (
        "there is no pass 'csee', did you mean 'cse'?\n  cse,csee{}\n      ^^^^"
    )


@table_test(
    ("text", "start", "above"),
    [("cse,,cse", 4, ","), ("cse,", 4, ""), (",cse", 0, ","), ("sequential(cse,)", 15, ")")],
)
def test_comma_without_a_pass(text: str, start: int, above: str) -> None:
    assert marked(text) == ("expected the name of a pass", start, above)


@table_test(("text", "start"), [("cse cse", 4), ("cse]", 3), ("cse{}{}", 5)])
def test_pass_without_a_comma(text: str, start: int) -> None:
    assert marked(text) == ("expected ',' or the end after a pass", start, text[start])


@table_test("text", ["=cse", "{x=1}", '"cse"', "-cse", "(cse)"])
def test_text_that_is_no_name(text: str) -> None:
    assert marked(text) == ("expected the name of a pass", 0, text[0])


def test_two_pipelines_make_one() -> None:
    both = Sequential([*parse("canonicalize").passes, *parse("cse").passes])
    assert pipeline_text(both) == "canonicalize,cse"


# Blanks


@table_test(
    "text",
    [
        "cse, canonicalize",
        " cse,canonicalize ",
        "cse\n,\n\tcanonicalize\n",
        "cse{ } , canonicalize {\n}",
        "builtin.module( cse , canonicalize )",
        "builtin.module\n(cse,canonicalize\n)",
    ],
)
def test_blanks_between_passes(text: str) -> None:
    assert names(text) == ["cse", "canonicalize"]


@table_test(
    "options", ["i=2 ints=1,2", " i = 2  ints=1, 2 ", "i=2\nints=1 ,\n2\n", "\ti=2\t ints = 1,2"]
)
def test_blanks_between_options(options: str) -> None:
    assert many(options) == Many(i=2, ints=(1, 2))


@table_test(
    ("options", "expected"),
    [
        ("i=2, s=x", Many(i=2, s="x")),
        ("b,i=2", Many(b=True, i=2)),
        ("i=2 , ints=1,2,s=x", Many(i=2, ints=(1, 2), s="x")),
        ("ints=1,2, b=true", Many(ints=(1, 2), b=True)),
    ],
)
def test_commas_between_options(options: str, expected: Many) -> None:
    assert many(options) == expected


def test_word_after_a_comma_is_an_element_not_a_flag() -> None:
    assert many("texts=a,b") == Many(texts=("a", "b"))
    assert many("texts=a b") == Many(texts=("a",), b=True)
    assert refusal("toy.Many{i=2,b}").message.endswith("expected a whole number, got 2,b")


# Composites and anchors


def test_sequential_with_options() -> None:
    pipeline = parse_one('sequential{name="mine" opt-level=2 required=cse,"b"}(cse,toy-tag)')
    assert isinstance(pipeline, Sequential)
    info = pipeline.info
    assert (info.name, info.opt_level, info.required) == ("mine", 2, ("cse", "b"))
    assert [pass_.name for pass_ in pipeline.passes] == ["cse", "toy-tag"]


def test_sequential_of_nothing() -> None:
    pipeline = parse_one("sequential()")
    assert isinstance(pipeline, Sequential) and pipeline.passes == ()


def test_fixpoint_with_options() -> None:
    pipeline = parse_one("fixpoint{max-iterations=3}(cse)")
    assert isinstance(pipeline, Fixpoint) and pipeline.options.max_iterations == 3
    assert pipeline.pass_ == CommonSubexpressionElimination()


def test_fixpoint_of_several_passes() -> None:
    pipeline = parse_one("fixpoint(cse,canonicalize)")
    assert isinstance(pipeline, Fixpoint) and isinstance(pipeline.pass_, Sequential)
    assert pipeline_text(pipeline) == "fixpoint(sequential(cse,canonicalize))"


def test_tvm_spelling_of_a_composite() -> None:
    assert isinstance(parse_one("Sequential(cse)"), Sequential)
    assert isinstance(parse_one("Fixpoint(cse)"), Fixpoint)


def test_repeat() -> None:
    pipeline = parse_one("repeat{n=2}(cse,canonicalize)")
    assert isinstance(pipeline, Repeat) and pipeline.options.n == 2
    assert pipeline_text(pipeline) == "repeat{n=2}(sequential(cse,canonicalize))"
    assert marked("cse,repeat(cse)") == ("'repeat' needs the option 'n'", 4, "repeat")
    assert refusal("repeat{n=0}(cse)").message == "'repeat': n is 1 or more, not 0"


def test_outermost_any_groups_as_in_mlir() -> None:
    assert names("any(cse,toy-append),any(toy-tag)") == ["cse", "toy-append", "toy-tag"]
    assert refusal("any{n=1}(cse)").message == "'any(...)' has no options"


def test_name_in_another_alphabet_is_not_cut() -> None:
    message = "there is no pass 'größe'; a pass of MLIR's runs as mlir-opt[größe]"
    assert marked("cse,größe") == (message, 4, "größe")


@table_test("name", ["sequential", "fixpoint", "repeat", "any"])
def test_composite_without_passes(name: str) -> None:
    message = f"'{name}' is made of passes: write {name}(...)"
    assert marked(f"cse,{name}") == (message, 4, name)


def test_misspelled_composite_gets_the_nearest() -> None:
    message = "there is no pass 'sequental', did you mean 'sequential'?"
    assert marked("sequental(cse)") == (message, 0, "sequental")


def test_composite_refuses_what_its_constructor_refuses() -> None:
    message, start, _ = marked("cse,fixpoint{max-iterations=0}(cse)")
    assert (message, start) == ("'fixpoint': max_iterations is 1 or more, not 0", 4)
    assert refusal("sequential{opt-level=-1}(cse)").message == (
        "'sequential': opt_level is 0 or more, not -1"
    )


def test_builtin_module_groups() -> None:
    assert names("builtin.module(cse,toy-append),cse") == ["cse", "toy-append", "cse"]


def test_func_anchor_holds_function_passes() -> None:
    assert names("builtin.module(func.func(toy-tag,toy-tag),cse)") == ["toy-tag", "toy-tag", "cse"]


def test_func_anchor_holds_composites_of_function_passes() -> None:
    (pass_,) = parse("func.func(fixpoint(toy-tag))").passes
    assert isinstance(pass_, Fixpoint)


def test_anchor_of_another_kind_of_function() -> None:
    assert names("test.op(toy-on-test)") == ["toy-on-test"]
    assert anchor_of(OnTest) == "test.op"


def test_module_pass_in_a_function_anchor() -> None:
    assert marked("cse,func.func(toy-tag,toy-append)") == (
        "'toy-append' needs the whole module, and cannot run on one 'func.func' alone: "
        "write it outside of func.func(...)",
        4,
        "func.func",
    )


def test_nested_module_pass_in_a_function_anchor() -> None:
    message = refusal("func.func(sequential(cse,fixpoint(toy-append)))").message
    assert message.startswith("'toy-append' needs the whole module")
    assert "'toy-append' needs" in refusal("builtin.module(any(toy-append))").message


@table_test(
    ("text", "read"),
    [
        ("func.func(cse,toy-tag)", "func.func(cse),toy-tag"),
        ("builtin.module(any(cse,toy-tag))", "any(cse),toy-tag"),
        ("gpu.module(gpu.func(cse))", "gpu.module(gpu.func(cse))"),
        ("func.func(sequential{name=x}(cse))", 'sequential{name="x"}(func.func(cse))'),
        ("func.func(repeat{n=2}(cse),fixpoint(cse))", None),
    ],
)
def test_passes_nested_under_an_anchor(text: str, read: str | None) -> None:
    read = read or "repeat{n=2}(func.func(cse)),fixpoint(func.func(cse))"
    assert pipeline_text(parse(text)) == read
    again = f"builtin.module({read})"
    assert pipeline_text(parse(again)) == read


@table_test(
    ("text", "read"),
    [
        ("builtin.module(builtin.module(cse))", "builtin.module(builtin.module(cse))"),
        ("any(builtin.module(toy-append))", "builtin.module(builtin.module(toy-append))"),
        (
            "builtin.module(builtin.module(func.func(cse,toy-tag)),cse)",
            "builtin.module(builtin.module(func.func(cse))),builtin.module(builtin.module(toy-tag)),"
            "cse",
        ),
    ],
)
def test_passes_on_modules_in_the_module(text: str, read: str) -> None:
    assert pipeline_text(parse(text)) == read
    assert pipeline_text(parse(read)) == read


@table_test("anchor", ["func.fun", "test.op"])
def test_anchor_that_can_match_nothing(anchor: str) -> None:
    assert refusal(f"{anchor}(toy-tag)").message == (
        f"'toy-tag' runs on 'func.func', not on '{anchor}': did you mean func.func(toy-tag)?"
    )


def test_anchor_has_no_options() -> None:
    assert marked("func.func{x=1}(toy-tag)") == ("'func.func(...)' has no options", 10, "x=1")


@table_test("name", ["cse", "toy.Many", "ToyMany"])
def test_pass_with_passes_in_parentheses(name: str) -> None:
    message = f"pass '{name}' has no passes in parentheses"
    assert marked(f"{name}(cse)") == (message, 0, name)


def test_parenthesis_that_closes_nothing() -> None:
    assert marked("sequential(cse))") == ("unmatched ')'", 15, ")")


def test_parenthesis_that_is_not_closed() -> None:
    message = "expected ')' at the end of 'sequential(...)', got "
    assert marked("sequential(cse") == (message + "the end", 14, "")
    assert marked("sequential(cse cse)") == (message + "'c'", 15, "c")


# mlir-opt[...]


def test_mlir_opt_is_spelled_as_in_xdsl() -> None:
    expected = xdsl_passes.PassPipeline.parse_spec(AVAILABLE, "mlir-opt[cse,func.func(a{x=1})]")
    assert parse("mlir-opt[cse,func.func(a{x=1})]").passes == expected.passes


def test_mlir_opt_between_other_passes() -> None:
    assert names("cse,mlir-opt[ a[b],c ], cse") == ["cse", "mlir-opt", "cse"]


def test_mlir_opt_as_a_pass_with_options() -> None:
    assert parse_one('mlir-opt{arguments="-p","a b"}') == MLIROptPass(arguments=("-p", "a b"))


def test_mlir_opt_that_is_not_closed() -> None:
    assert marked("cse,mlir-opt[a[b]") == ("unclosed '['", 12, "[")


# Options


@table_test(
    ("options", "expected"),
    [
        ("i=-7", Many(i=-7)),
        ("f=1", Many(f=1.0)),
        ("f=1e-5", Many(f=1e-5)),
        ("f=1e5", Many(f=1e5)),
        ("f=.5e1", Many(f=5.0)),
        ("f=inf", Many(f=float("inf"))),
        ("b", Many(b=True)),
        ("b=true", Many(b=True)),
        ("b i=1", Many(b=True, i=1)),
        ("i=1 b", Many(b=True, i=1)),
        ("s=5", Many(s="5")),
        ("s=true", Many(s="true")),
        ("s=a.b", Many(s="a.b")),
        ("s=a/b", Many(s="a/b")),
        ("s=2d-grid", Many(s="2d-grid")),
        ("s=ä→b", Many(s="ä→b")),
        ('s="a b, c} (d)"', Many(s="a b, c} (d)")),
        (r's="say \"hi\" \\ \n\t"', Many(s='say "hi" \\ \n\t')),
        ('s="two\nlines"', Many(s="two\nlines")),
        ('s="日本\u2028"', Many(s="日本\u2028")),
        ('s=""', Many()),
        ("maybe-int=3", Many(maybe_int=3)),
        ("maybe-text=none", Many(maybe_text=None)),
        ('maybe-text="none"', Many(maybe_text="none")),
        ("ints=1", Many(ints=(1,))),
        ("ints=1,-2,3", Many(ints=(1, -2, 3))),
        ("bools=true,false", Many(bools=(True, False))),
        ("bools", Many(bools=())),
        ("floats b", Many(floats=(), b=True)),
        ("texts=a,b", Many(texts=("a", "b"))),
        ("texts={a,b}", Many(texts=("a", "b"))),
        ('ints={1, 2} texts={ "a}b" }', Many(ints=(1, 2), texts=("a}b",))),
        ("floats={} b", Many(floats=(), b=True)),
        ("s= b=true", Many(b=True)),
        ('texts="a,b",c i=2', Many(texts=("a,b", "c"), i=2)),
        ("texts", Many(texts=())),
        ("holes=1,none", Many(holes=(1, None))),
        ("pair=1,x", Many(pair=(1, "x"))),
        ("choice=no", Many(choice="no")),
        ("choice=3", Many(choice=3)),
        ("choice=true", Many(choice=True)),
        ("colour=dark-blue", Many(colour=Colour.DARK_BLUE)),
        ("mode=EXACT", Many(mode=Mode.EXACT)),
        ("either=5", Many(either=5)),
        ("either=x", Many(either="x")),
        ("maybe_int=3", Many(maybe_int=3)),
    ],
)
def test_option_is_read(options: str, expected: Many) -> None:
    assert many(options) == expected


def test_options_of_a_foreign_pass() -> None:
    assert parse_one("foreign{limit=3 names=a,b}") == Foreign(3, ("a", "b"))


def test_unknown_option_names_the_pass_and_the_nearest() -> None:
    message = "'foreign' has no option 'limits', did you mean 'limit'?"
    assert marked("cse,foreign{names=a limits=1}") == (message, 20, "limits")


def test_unknown_option_of_a_pass_without_options() -> None:
    message = "'canonicalize' has no option 'foo'; it has none"
    assert marked("canonicalize{foo=1}") == (message, 13, "foo")


def test_unknown_option_of_a_composite() -> None:
    assert refusal("fixpoint{max=1}(cse)").message == (
        "'fixpoint' has no option 'max'; its options are max-iterations"
    )


@table_test("again", ["i=2", "i=1", "i"])
def test_option_given_twice(again: str) -> None:
    message = "option 'i' of 'toy.Many' is given twice"
    assert marked(f"toy.Many{{i=1 {again}}}") == (message, 13, again)


def test_option_given_twice_in_two_spellings() -> None:
    assert "given twice" in refusal("toy.Many{maybe-int=1 maybe_int=2}").message


@table_test(
    ("option", "expected"),
    [
        ("i=true", "a whole number, got true"),
        ("i=1.5", "a whole number, got 1.5"),
        ("i", "a whole number, got no value"),
        ("i=1,2", "a whole number, got 1,2"),
        ('f="1"', 'a number, got "1"'),
        ("b=yes", "true or false, got yes"),
        ("s", "a string, got no value"),
        ("ints=1,x", "a list (each a whole number), got 1,x"),
        ("pair=1", "(a whole number, a string), got 1"),
        ("choice=x", "one of auto, no, 3, true, got x"),
        ("colour=blue", "one of red, dark-blue, got blue"),
        ("mode=1", "one of FAST, EXACT, got 1"),
    ],
)
def test_option_of_a_wrong_type(option: str, expected: str) -> None:
    name = option.partition("=")[0]
    assert marked(f"toy.Many{{maybe-int=1 {option}}}") == (
        f"option '{name}' of 'toy.Many': expected {expected}",
        21,
        option,
    )


MLIR_TEXT = (
    "builtin.module(func.func(canonicalize{disable-patterns={c} enable-patterns={a,b} "
    "max-iterations=10 region-simplify=normal test-convergence=false top-down=true}),"
    "inline{default-pipeline= op-pipelines={func.func(canonicalize{  top-down=true},cse)} "
    "max-iterations=4 },canonicalize{enable-patterns=a,b,top-down=true},inline{op-pipelines=x(y)})"
)


def test_options_of_mlir_are_ignored_with_a_warning() -> None:
    warnings: list[str] = []
    available = {**AVAILABLE, "inline": lambda: Foreign}
    pipeline = parse_pipeline(MLIR_TEXT, available, warnings.append)
    assert pipeline_text(pipeline) == "func.func(canonicalize),foreign,canonicalize,foreign"
    begin = "'canonicalize' here has no option disable-patterns, enable-patterns, max-iterations"
    assert warnings[0].startswith(begin)
    assert [w.split(":")[0] for w in warnings[1:]] == [
        "'inline' here has no option default-pipeline, op-pipelines, max-iterations",
        "'canonicalize' here has no option enable-patterns, top-down",
        "'inline' here has no option op-pipelines",
    ]
    assert "top-down: ignored" in warnings[0]


def test_value_of_an_ignored_option_that_is_not_closed() -> None:
    assert marked("canonicalize{enable-patterns={a}")[:2] == ("unclosed '{'", 12)
    assert marked("canonicalize{enable-patterns=(a}")[:2] == ("unclosed '('", 29)


def test_required_option_that_is_missing() -> None:
    assert marked("cse,toy-needs,cse") == (
        "'toy-needs' needs the option 'max-size'",
        4,
        "toy-needs",
    )


def test_required_option() -> None:
    assert parse_one("toy-needs{max-size=3}") == Needs(3)


def test_value_that_the_pass_itself_refuses() -> None:
    assert marked("cse,toy-needs{max-size=-1}") == (
        "'toy-needs': max_size is not negative",
        4,
        "toy-needs",
    )


@table_test(
    ("text", "message", "start"),
    [
        ("canonicalize{", "unclosed '{'", 12),
        ("toy.Many{i=1", "unclosed '{'", 8),
        ("toy.Many{i=1,", "expected a value", 13),
        ("toy.Many{i=}", "expected a value", 11),
        ("toy.Many{i=1,}", "expected a value", 13),
        ("toy.Many{ints=1,,2}", "expected a value", 16),
        ("toy.Many{i={}}", "option 'i' of 'toy.Many': expected a whole number, got no value", 9),
        ("toy.Many{ints={1}", "unclosed '{'", 8),
        ("toy.Many{ints={1,}}", "expected a value", 17),
        ("toy.Many{ints={1 2}}", "expected ',' or '}' in a list, got '2'", 17),
        ("toy.Many{b,}", "expected the name of an option", 11),
        ("toy.Many{b,,i=1}", "expected the name of an option", 11),
        ("toy.Many{,}", "expected the name of an option, or '}'", 9),
        ("toy.Many{=1}", "expected the name of an option, or '}'", 9),
        ('toy.Many{"i"=1}', "expected the name of an option, or '}'", 9),
        ("toy.Many{i{1}", "expected the name of an option, or '}'", 10),
        ('toy.Many{s="x}', "unclosed '\"'", 11),
        (r'toy.Many{s="x\"}', "unclosed '\"'", 11),
    ],
)
def test_options_that_are_no_options(text: str, message: str, start: int) -> None:
    assert marked(text)[:2] == (message, start)


# Text of several lines


def test_caret_is_under_the_right_column_of_the_right_line() -> None:
    text = "builtin.module(\n  cse,\n  toy.Many{i=1\n    f=x},\n  cse)"
    assert str(refusal(text)) == (
        "option 'f' of 'toy.Many': expected a number, got x\n      f=x},\n      ^^^"
    )
    assert refusal(text).start == text.index("f=x")


def test_caret_is_on_the_last_line_when_the_end_is_missing() -> None:
    assert str(refusal("sequential(\n  cse\n\n")).endswith("\n    cse\n       ^")


def test_caret_does_not_run_over_the_end_of_its_line() -> None:
    assert str(refusal('toy.Many{i="a\nb"}')).endswith('\n  toy.Many{i="a\n           ^^^^')


# Writing


@table_test(
    ("pipeline", "text"),
    [
        (Sequential([]), ""),
        (Sequential([Nothing(), Append("y")]), 'toy-nothing,toy-append{tag="y"}'),
        (Sequential([Sequential([])]), "sequential()"),
        (Sequential([Nothing()], opt_level=2), "sequential{opt-level=2}(toy-nothing)"),
        (Sequential([Nothing()], name="x"), 'sequential{name="x"}(toy-nothing)'),
        (Fixpoint(Nothing(), 3), "fixpoint{max-iterations=3}(toy-nothing)"),
        (Sequential([Fixpoint(Foreign(1))]), "fixpoint(foreign{limit=1})"),
        (Append(), "toy-append"),
        (Foreign(names=("a", "b")), 'foreign{names="a","b"}'),
        (Many(ints=(), floats=()), "toy.Many{floats}"),
    ],
)
def test_pipeline_as_text(pipeline: ModulePass, text: str) -> None:
    assert pipeline_text(pipeline) == text


@table_test("text", ['s="a"b', "a\\", "\n\r\t\v\f\0", "{},=()[]", "日本 ä", "\\n"])
def test_any_string_is_read_back(text: str) -> None:
    assert parse_one(str(Many(s=text))) == Many(s=text)


def test_not_a_number_is_read_back() -> None:
    assert str(parse_one("toy.Many{f=nan}")) == "toy.Many{f=nan}"


def test_written_lists_of_words_are_read_back() -> None:
    pass_ = Many(bools=(True, False), holes=(None, None), b=True)
    assert parse_one(str(pass_)) == pass_


def leaves() -> st.SearchStrategy[xdsl_passes.ModulePass]:
    """A strategy for passes with any options."""
    return st.one_of(
        st.just(Nothing()),
        st.builds(Append, st.text()),
        st.builds(Needs, st.integers(min_value=0)),
        st.builds(Foreign, st.none() | st.integers(), st.lists(st.text()).map(tuple)),
        st.builds(
            Many,
            i=st.integers(),
            f=st.floats(allow_nan=False),
            b=st.booleans(),
            s=st.text(),
            maybe_int=st.none() | st.integers(),
            maybe_text=st.none() | st.just("none") | st.text(),
            ints=st.lists(st.integers(), max_size=3).map(tuple),
            floats=st.lists(st.floats(allow_nan=False), max_size=3).map(tuple),
            bools=st.lists(st.booleans(), max_size=3).map(tuple),
            texts=st.none() | st.lists(st.text(max_size=5), max_size=3).map(tuple),
            holes=st.lists(st.none() | st.integers(), max_size=3).map(tuple),
            pair=st.tuples(st.integers(), st.text(max_size=5)),
            choice=st.sampled_from(["auto", "no", 3, True]),
            colour=st.sampled_from(Colour),
            mode=st.sampled_from(Mode),
            either=st.integers() | st.text(max_size=5) | st.just("5"),
        ),
    )


def composites(
    children: st.SearchStrategy[xdsl_passes.ModulePass],
) -> st.SearchStrategy[xdsl_passes.ModulePass]:
    sequentials = st.builds(
        Sequential,
        st.lists(children, max_size=4),
        opt_level=st.integers(min_value=0),
        name=st.just("sequential") | st.text().map(lambda s: f"x{s}"),
        required=st.lists(st.text(), max_size=3),
    )
    repeating = (st.builds(cls, children, st.integers(min_value=1)) for cls in (Fixpoint, Repeat))
    return st.one_of(sequentials, *repeating)


def pipelines() -> st.SearchStrategy[xdsl_passes.ModulePass]:
    return st.recursive(leaves(), composites, max_leaves=8)


def same(one: xdsl_passes.ModulePass, other: xdsl_passes.ModulePass) -> bool:
    """Return whether two pipelines have the same classes and options."""
    match one, other:
        case Sequential(), Sequential():
            return one.options == other.options and all(
                same(a, b) for a, b in zip(one.passes, other.passes, strict=True)
            )
        case (Fixpoint(), Fixpoint()) | (Repeat(), Repeat()):
            return one.options == other.options and same(one.pass_, other.pass_)
        case Nothing(), Nothing() if type(one) is Nothing:
            return type(other) is Nothing
        case _:
            return one == other


@given(st.lists(pipelines(), max_size=3).map(Sequential))
def test_what_is_written_is_read_back(pipeline: Sequential) -> None:
    text = pipeline_text(pipeline)
    read = parse(text)
    assert pipeline_text(read) == text
    assert same(read, pipeline)


@given(st.text(alphabet='ci1 \n,={}()[]".-\\', max_size=12).map(lambda s: f"toy.Many{s}"))
def test_any_text_is_a_pipeline_or_is_refused_with_a_place_in_it(text: str) -> None:
    try:
        parse(text)
    except PipelineSyntaxError as error:
        assert 0 <= error.start <= len(text)
