"""Placement: where a pass stands that says where it belongs, and what contradicts itself."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pytest
from support.passes.toy import Append, named
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass as XDSLModulePass

from passline.passmanager import (
    Fixpoint,
    ModulePass,
    PassDependencyError,
    PassPlacementError,
    Sequential,
    StagedPipeline,
    info_of,
)
from passline.passmanager.placement import Addition, Placement, order_passes, placement_of

Row = Sequence[ModulePass]


def passes(names: str) -> list[ModulePass]:
    return [named(name) for name in names.split()]


def staged(**stages: str) -> StagedPipeline:
    return StagedPipeline({name: passes(names) for name, names in stages.items()})


def names(passes: Iterable[XDSLModulePass]) -> str:
    return " ".join(pass_.name for pass_ in passes)


# Where a pass stands

AFTER_X = named("z", behind=["x"])


@table_test(
    ("further", "expected"),
    [
        ([named("x", behind=["b"])], "a b x c d"),
        ([named("x", behind=["c", "a"])], "a b c x d"),
        ([named("x", ahead=["c"])], "a b x c d"),
        ([named("x", ahead=["d", "b"])], "a x b c d"),
        ([named("x", behind=["a"], ahead=["d"])], "a x b c d"),
        ([named("x")], "a b c d x"),
        ([named("x"), named("w")], "a b c d x w"),
        ([named("x", ahead=["a"])], "x a b c d"),
        # Among each other
        ([named("x", behind=["y"]), named("y", behind=["b"])], "a b y x c d"),
        ([named("x", ahead=["y"]), named("y", behind=["b"])], "a b x y c d"),
        ([named("x", ahead=["y"]), named("y", ahead=["x2"]), named("x2")], "a b c d x y x2"),
        ([named("x", behind=["b"]), named("w", ahead=["c"])], "a b x w c d"),
        ([named("w", ahead=["c"]), named("x", behind=["b"])], "a b x w c d"),
        ([named("y", behind=["b"]), named("x", behind=["b"])], "a b y x c d"),
        ([named("x", behind=["b"]), named("y", behind=["b"]), AFTER_X], "a b x z y c d"),
        ([named("x", behind=["y"]), named("y", ahead=["x"])], "a b c d y x"),
        # Spellings
        ([named("x", behind=["B"])], "a b x c d"),
        ([named("two-words", ahead=["a"]), named("x", ahead=["TwoWords"])], "x two-words a b c d"),
    ],
)  # fmt: skip
def test_a_further_pass_stands_at_its_place(further: Row, expected: str) -> None:
    assert names(Sequential(passes("a b c d")).extended(*further).passes) == expected


@table_test(
    ("further", "expected"),
    [
        ([named("x", within="first")], "a b x c d"),
        ([named("x", within="first", behind=["a"])], "a x b c d"),
        ([named("x", within="first", ahead=["b"])], "a x b c d"),
        ([named("x", within="second", behind=["a"])], "a b c d x"),
        ([named("x", within="first", ahead=["d"])], "a b x c d"),
        ([named("x", behind=["first"])], "a b x c d"),
        ([named("x", ahead=["second"])], "a b x c d"),
        ([named("x", ahead=["first"])], "x a b c d"),
        ([named("x", within="none")], "a b x c d"),
        ([named("x", within="First")], "a b x c d"),
        # After a stage is after all that was added to it.
        ([named("x", behind=["first"]), named("y", within="first")], "a b y x c d"),
        ([named("x", ahead=["second"]), named("y", behind=["first"])], "a b y x c d"),
    ],
)
def test_a_stage_is_a_place(further: Row, expected: str) -> None:
    pipeline = staged(first="a b", none="", second="c d")
    assert names(pipeline.extended(*further).passes) == expected


def test_stages_keep_what_was_added_to_them() -> None:
    pipeline = staged(first="a b", none="", second="c")
    extended = pipeline.extended(
        named("x", within="first"), named("y", within="none"), named("z", behind=["first"])
    )
    found = {
        name: names(extended.passes[span.start : span.stop])
        for name, span in extended.stages.items()
    }
    assert found == {"first": "a b x", "none": "y", "second": "c"}
    assert names(extended.extended(named("w", within="none")).passes) == "a b x z y w c"


def test_a_nested_pass_stands_for_the_first_pipeline_around_it() -> None:
    nested = Sequential([named("c"), named("e")], name="nested")
    pipeline = Sequential([named("a"), Fixpoint(passes("b c")), nested, named("d")])
    further = named("x", behind=["b"]), named("y", ahead=["e"]), named("z", behind=["c"])
    found = [info_of(pass_).name for pass_ in pipeline.extended(*further).passes]
    assert found == ["a", "fixpoint", "x", "z", "y", "nested", "d"]


def test_of_a_pass_that_occurs_twice_the_last_and_the_first_count() -> None:
    pipeline = Sequential(passes("a b a c"))
    found = pipeline.extended(named("x", behind=["a"]), named("y", ahead=["a"]))
    assert names(found.passes) == "y a b a x c"


def test_what_a_written_pass_says_of_a_further_one_counts() -> None:
    pipeline = Sequential([named("a", behind=["x"]), named("b"), named("c", ahead=["y"])])
    assert names(pipeline.extended(named("x"), named("y")).passes) == "x a b c y"


def test_written_passes_stand_as_written_whatever_they_say() -> None:
    pipeline = Sequential([named("a", behind=["b"]), named("b", ahead=["a"])])
    assert names(pipeline.extended(named("x")).passes) == "a b x"


def test_a_given_place_replaces_that_of_the_class() -> None:
    pipeline = staged(first="a b", second="c")
    placed = named("x", behind=["b"])
    assert names(pipeline.extended(placed, after=["a"]).passes) == "a x b c"
    assert names(pipeline.extended(placed, before=["a"]).passes) == "x a b c"
    assert names(pipeline.extended(placed, stage="second").passes) == "a b c x"


# Contradictions


@table_test(
    ("further", "chain"),
    [
        (
            [named("x", behind=["c"], ahead=["a"])],
            ["'x' is after 'c' (x.after)", "'x' is before 'a' (x.before)", "'a' stands before 'c'"],
        ),
        (
            [named("x", behind=["y"]), named("y", behind=["x"])],
            ["'x' is after 'y' (x.after)", "'y' is after 'x' (y.after)"],
        ),
        ([named("x", behind=["x"])], ["'x' is after 'x' (x.after)"]),
        (
            [named("x", within="first", behind=["c"])],
            ["'x' is in stage 'first' (x.stage)", "the end of stage 'first' stands before 'c'"],
        ),
        (
            [
                named("x", behind=["c"]),
                named("y", behind=["x"]),
                named("z", behind=["y"], ahead=["a"]),
            ],
            ["'x' is after 'c'", "'y' is after 'x'", "'z' is after 'y'", "'z' is before 'a'"],
        ),
    ],
)  # fmt: skip
def test_a_contradiction_is_an_error_with_its_chain(further: Row, chain: list[str]) -> None:
    with pytest.raises(PassPlacementError) as caught:
        staged(first="a b", second="c").extended(*further)
    message = str(caught.value)
    assert message.startswith("placements contradict each other: ")
    assert [fact for fact in chain if fact not in message] == []


def test_the_chain_has_nothing_else() -> None:
    further = [
        named("x", behind=["b"], ahead=["a"]),
        named("w", behind=["x"]),
        named("v", ahead=["x"]),
    ]
    with pytest.raises(PassPlacementError) as caught:
        Sequential(passes("a b")).extended(*further)
    facts = str(caught.value).partition(": ")[2].split(", ")
    assert sorted(facts) == [
        "'a' stands before 'b' in the pipeline",
        "'x' is after 'b' (x.after)",
        "'x' is before 'a' (x.before)",
    ]


def test_a_written_pass_may_contradict_a_further_one() -> None:
    pipeline = Sequential([named("a"), named("b", behind=["x"])])
    with pytest.raises(PassDependencyError, match=r"'b' is after 'x' \(b.after\)"):
        pipeline.extended(named("x", behind=["b"]))


# Places that do not exist


@table_test(
    ("further", "warning"),
    [
        (
            named("x", behind=["first-pas"]),
            "'x' is placed after 'first-pas', which is neither a pass nor a stage, did you mean "
            "'first-pass'?",
        ),
        (
            named("x", ahead=["canonicalize"]),
            "'x' is placed before 'canonicalize', which is not in the pipeline",
        ),
        (
            named("x", within="simplfy"),
            "'x' is placed in stage 'simplfy', which the pipeline does not have, did you mean "
            "'simplify'?",
        ),
        (
            named("x", within="zzz"),
            "'x' is placed in stage 'zzz', which the pipeline does not have; it has simplify, end",
        ),
    ],
)
def test_a_place_that_does_not_exist_is_a_warning(further: ModulePass, warning: str) -> None:
    said: list[str] = []
    pipeline = staged(simplify="first-pass b", end="c")
    assert names(pipeline.extended(further, warn=said.append).passes) == "first-pass b c x"
    assert said == [warning]


def test_the_other_places_count() -> None:
    said: list[str] = []
    placed = named("x", behind=["a", "gone"])
    assert names(Sequential(passes("a b")).extended(placed, warn=said.append).passes) == "a x b"
    assert len(said) == 1


def test_a_warning_is_logged_by_default(caplog: pytest.LogCaptureFixture) -> None:
    Sequential(passes("a b")).extended(named("x", behind=["aa"]))
    assert "did you mean 'a'?" in caplog.text


# What a class says


def test_a_string_is_no_list_of_places() -> None:
    with pytest.raises(TypeError, match=r"Wrong.after is a list of names: write \['a'\]"):

        class Wrong(Append):  # pyright: ignore[reportUnusedClass]
            after = "a"  # pyright: ignore


def test_a_stage_is_one_name() -> None:
    with pytest.raises(TypeError, match="Wrong.stage is the name of a stage, not "):

        class Wrong(Append):  # pyright: ignore[reportUnusedClass]
            stage = ("a",)  # pyright: ignore


def test_a_place_with_an_annotation_would_be_an_option() -> None:
    with pytest.raises(TypeError, match="Wrong.after has an annotation"):

        class Wrong(Append):  # pyright: ignore[reportUnusedClass]
            after: tuple[str, ...] = ("a",)  # pyright: ignore


def test_misspelled_metadata_is_found() -> None:
    with pytest.raises(TypeError, match="Wrong.befor has no meaning, did you mean 'before'?"):

        class Wrong(Append):  # pyright: ignore[reportUnusedClass]
            befor = ("a",)


class Foreign(XDSLModulePass):
    """A pass of xDSL that says where it belongs."""

    name = "foreign"
    after = ("a",)
    before = "c"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


@dataclass(frozen=True)
class WithOptions(XDSLModulePass):
    """One with options of these names."""

    name = "with-options"
    after: str = "a"
    stage: int = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


def test_a_pass_of_xdsl_may_say_it_too() -> None:
    assert placement_of(Foreign()) == Placement(("a",), ("c",))
    assert names(Sequential(passes("a b c")).extended(Foreign()).passes) == "a foreign b c"


def test_its_options_are_no_places() -> None:
    assert placement_of(WithOptions()) == Placement()


# Many passes


def drawn(random: random.Random, count: int) -> tuple[list[ModulePass], list[ModulePass]]:
    """Return written passes, and further ones whose places do not contradict each other."""
    further = [f"p{i}" for i in range(count)]
    written = [f"w{i}" for i in range(20)]
    order = [*further]
    random.shuffle(order)
    for place, name in zip(sorted(random.sample(range(count + 20), 20)), written, strict=True):
        order.insert(place, name)
    at = {name: i for i, name in enumerate(order)}

    def some(names: Sequence[str]) -> list[str]:
        return random.sample(names, min(len(names), random.randrange(3)))

    def make(name: str) -> ModulePass:
        return named(name, behind=some(order[: at[name]]), ahead=some(order[at[name] + 1 :]))

    return [named(name) for name in written], [make(name) for name in further]


def order_of(written: Row, further: Row, stages: Mapping[str, range] | None = None) -> list[str]:
    by_name = sorted(further, key=lambda pass_: pass_.name)
    additions = [Addition(p, placement_of(p), source="x", by_itself=True) for p in by_name]
    return [p.name for p in order_passes(written, stages or {}, additions).passes]


@pytest.mark.parametrize("seed", range(20))
def test_all_constraints_hold_whatever_the_order_of_registration(seed: int) -> None:
    source = random.Random(seed)
    written, further = drawn(source, 60)
    found = order_of(written, further)
    at = {name: i for i, name in enumerate(found)}
    assert [name for name in found if name[0] == "w"] == [pass_.name for pass_ in written]
    for pass_ in further:
        if pass_.name in at:
            assert all(at[name] < at[pass_.name] for name in pass_.after if name in at)
            assert all(at[name] > at[pass_.name] for name in pass_.before if name in at)
    for _ in range(3):
        source.shuffle(further)
        assert order_of(written, further) == found


def test_a_thousand_passes_after_each_other() -> None:
    chain = [named(f"x{i}", behind=[f"x{i - 1}"] if i else ["b"]) for i in range(1000)]
    random.Random(1).shuffle(chain)
    found = [pass_.name for pass_ in Sequential(passes("a b c")).extended(*chain).passes]
    assert found == ["a", "b", *(f"x{i}" for i in range(1000)), "c"]
    chain = [named(f"x{i}", ahead=[f"x{i + 1}"] if i < 999 else ["c"]) for i in range(1000)]
    found = [pass_.name for pass_ in Sequential(passes("a b c")).extended(*chain).passes]
    assert found == ["a", "b", *(f"x{i}" for i in range(1000)), "c"]


def test_a_pass_around_another_stands_where_that_belongs() -> None:
    found = Sequential(passes("a b")).extended(Fixpoint(named("x", behind=["a"])))
    assert str(found) == "sequential(a,fixpoint(x),b)"
