"""The HTML of notebooks: escaping, tables, sections; and passes, plans and contexts as HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from support.notebooks import Rich, html_of
from support.passes.toy import Append, Nothing, Recorder, module, named
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import Fixpoint, ModulePass, PassContext, Sequential
from passline.passmanager.instruments import PassTimingInstrument, StatisticsInstrument
from passline.passmanager.output.html import Html, Number, element, fold, join, table

EVIL = '<script>"&'
ESCAPED = "&lt;script&gt;&quot;&amp;"


@dataclass(frozen=True)
class Evil(ModulePass):
    """Documentation with <b>markup</b>."""

    name = "toy-evil"

    text: str = ""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        ctx.count(EVIL)


def test_text_is_escaped_and_html_is_not() -> None:
    assert join(EVIL, Html("<b>")) == f"{ESCAPED}<b>"
    assert element("p", EVIL, class_=EVIL) == f'<p class="{ESCAPED}">{ESCAPED}</p>'
    assert table([EVIL], [[EVIL]]).count(ESCAPED) == 2
    assert fold(EVIL, EVIL) == f"<details><summary>{ESCAPED}</summary>{ESCAPED}</details>"


def test_empty_attribute_is_left_out() -> None:
    assert element("p", class_="") == "<p></p>"


def test_numbers_are_told_and_blanks_indent() -> None:
    rows = table(["a"], [[3], [Number("0.50")], ["  x"], [Html("<b>y</b>")]], ["skip"])
    assert '<tr class="skip"><td class="number">3</td></tr>' in rows
    assert '<td class="number">0.50</td>' in rows
    assert '<td style="padding-left: 1.5em">x</td>' in rows and "<td><b>y</b></td>" in rows


def test_section_may_be_open() -> None:
    assert fold("a", "b", is_open=True).startswith("<details open>")


# Objects


def test_pass_has_its_level_requirements_documentation_and_options() -> None:
    page = html_of(Append("abc"))
    assert "<b>toy-append</b>: level 0" in page and "Append an op with a tag" in page
    assert "<td>tag</td><td>&quot;abc&quot;</td><td>str</td>" in page
    required = html_of(named("a", level=2, requires=["infer-type"]))
    assert "<b>a</b>: level 2, requires infer-type" in required and "<table>" not in required


def test_composite_has_a_table_of_its_passes() -> None:
    pipeline = Sequential([Append("x"), Fixpoint([named("a", level=2), Nothing()])])
    page = html_of(pipeline)
    names = ("fixpoint", "sequential", "a", "toy-nothing")
    places = [page.index(f">{name}</td>") for name in names]
    assert places == sorted(places)
    assert 'padding-left: 2.5em">a</td><td class="number">2</td>' in page


def test_plan_is_a_table_with_the_reasons() -> None:
    pipeline = Sequential([Append(), named("a", level=3)])
    plan = pipeline.plan(PassContext(opt_level=2))
    assert repr(plan) == "1 run, 1 skipped\nrun  toy-append\nskip a  # opt_level 3 > 2"
    page = html_of(plan)
    assert '<tr class="skip"><td>skip</td><td>a</td><td>3</td><td>opt_level 3 &gt; 2</td>' in page
    assert repr(Sequential([]).plan()) == "0 run, 0 skipped"


def test_context_is_a_table_of_its_settings() -> None:
    page = html_of(PassContext(3, disabled_pass=["a", "b"], instruments=[Recorder()]))
    assert "<td>opt_level</td><td>3</td>" in page
    assert "<td>disabled_pass</td><td>a, b</td>" in page and "<td>Recorder</td>" in page


def test_timing_is_a_table_with_shares() -> None:
    timing = PassTimingInstrument()
    assert repr(timing) == "<PassTimingInstrument: 0 passes in 0.0000 seconds>"
    with PassContext(instruments=[timing]):
        Sequential([Append(), Nothing()])(module())
    assert re.fullmatch(r"<PassTimingInstrument: 3 passes in \d+\.\d{4} seconds>", repr(timing))
    assert str(timing) == timing.report()
    page = html_of(timing)
    assert 'padding-left: 1.5em">toy-append</td><td class="number">' in page
    assert 'class="bar"' in page and page.startswith("<p>PassTimingInstrument: 3 passes")


def test_statistics_are_a_table() -> None:
    statistics = StatisticsInstrument()
    with PassContext(instruments=[statistics]):
        Sequential([Append(), Nothing()])(module())
    assert repr(statistics) == "<StatisticsInstrument: 2 passes>"
    assert str(statistics) == statistics.report()
    numbers = '<td class="number">1</td><td class="number">1</td><td class="number">0</td>'
    assert f"<td>toy-append</td>{numbers}<td>1 test.op created</td>" in html_of(statistics)


def objects() -> list[Rich]:
    """Return objects of each kind that have a text with markup in them."""
    timing, statistics = PassTimingInstrument(), StatisticsInstrument()
    config = {"toy-append": {"tag": EVIL}}
    context = PassContext(instruments=[timing, statistics], disabled_pass=[EVIL], config=config)
    with context:
        Sequential([Evil()])(module())
    pipeline = Sequential([Evil(EVIL)], name=EVIL)
    return [Evil(EVIL), pipeline, pipeline.plan(PassContext()), context, statistics]


@pytest.mark.parametrize("index", range(5))
def test_every_text_is_escaped(index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from passline.passmanager import register_pass
    from passline.passmanager.registry import installed

    monkeypatch.setattr(installed(), "passes", dict(installed().passes))
    monkeypatch.setattr(installed(), "names", dict(installed().names))
    register_pass(Append)
    page = html_of(objects()[index])
    assert "&lt;script&gt;" in page and "<script" not in page and "<b>markup" not in page
