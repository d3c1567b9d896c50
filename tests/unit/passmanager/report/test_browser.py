"""The page in a real browser: Debian's chromium, driven by playwright."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.passes.records import record_of
from support.passes.toy import Append, Fail, Nothing, Tag, module, named
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.passes import ModulePass

from passline.passmanager import PassContext, Sequential
from passline.passmanager.instruments import RecordInstrument
from passline.passmanager.report.page import render_page
from passline.passmanager.report.record_reader import Record, read_record

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api")

from playwright.sync_api import Browser, Page, TimeoutError, expect, sync_playwright  # noqa: E402


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Chromium's sandbox needs privileges that containers lack.
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


NOTE_WRITTEN = """
    window.written = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      written.push(text);
      fillText.call(this, text, ...rest);
    };
"""
"""A script that notes the texts which are drawn in pictures."""


class Report:
    """A report that is open in the browser; `errors` are the messages of the console."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.add_init_script(NOTE_WRITTEN)
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")

    def names(self) -> list[str]:
        """Return the names in the timeline that are visible."""
        return self.page.locator("#timeline li:visible .name").all_text_contents()

    def open(self, name: str) -> None:
        """Click a pass, and wait for its contents."""
        row = self.page.locator("#timeline li", has_text=re.compile(rf"^\W*{name}")).first
        shown = f"main[data-shown='{row.get_attribute('data-index')}']"
        row.click()
        try:
            self.page.wait_for_selector(shown, timeout=10_000)
        except TimeoutError:  # rows move when they are drawn first: a click may have met none
            row.click()
            self.page.wait_for_selector(shown)

    def decoded(self) -> int:
        """Return how many texts of IR were unpacked."""
        return self.page.evaluate("passline.work.decoded")


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Opener]:
    opener = Opener(browser, tmp_path)
    yield opener
    opener.close()


class Opener:
    """Opens records as reports; in the end no report may have complained, or loaded a file."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser, self.folder = browser, folder
        self.reports: list[Report] = []

    def __call__(self, *passes: ModulePass, ir: ModuleOp | None = None) -> Report:
        return self.open(record_of(*passes, ir=ir))

    def open(self, record: Record) -> Report:
        """Open the report of `record`."""
        file = self.folder / f"{len(self.reports)}.html"
        file.write_text(render_page(record))
        self.reports.append(Report(self.browser.new_page(), file))
        return self.reports[-1]

    def close(self) -> None:
        for report in self.reports:
            assert report.errors == []
            assert all(url.startswith(("file:", "data:")) for url in report.requests)
            report.page.close()


def chain(length: int) -> ModuleOp:
    """Return a module with a function of `length` ops, each of which uses the one before."""
    func = FuncOp("f", ([i32], [i32]))
    value = func.args[0]
    for _ in range(length):
        func.body.block.add_op(op := TestOp([value], [i32]))
        value = op.results[0]
    func.body.block.add_op(ReturnOp(value))
    return ModuleOp([func])


def marking(number: int) -> ModulePass:
    """Return a pass that gives one op of the first function an attribute."""

    def body(module: ModuleOp, ctx: PassContext) -> None:
        ops = [*next(iter(module.ops)).regions[0].block.ops]
        ops[number % len(ops)].attributes["mark"] = StringAttr(str(number))

    return named(f"mark-{number}", body=body)


def test_overview(show: Opener) -> None:
    page = show(Append(), Nothing(), Tag()).page
    assert "3 passes · 2 changed the IR" in page.locator("#summary").inner_text()
    expect(page.locator("main h2")).to_have_text("Overview")
    expect(page.locator(".chart canvas")).to_be_visible()
    expect(page.locator("tbody tr", has_text="toy-append")).to_contain_text("1")


def test_diff_shows_the_change(show: Opener) -> None:
    report = show(Append(), Nothing(), Tag())
    report.open("toy-tag")
    row = report.page.locator(".function[data-symbol=f] .row.changed")
    expect(row.locator(".old")).to_have_text("func.func @f() {")
    expect(row.locator(".new")).to_have_text('func.func @f() attributes {seen = "yes"} {')
    marked = "".join(row.locator(".new mark").all_inner_texts())
    assert 'seen = "yes"' in marked and "func" not in marked
    expect(report.page.locator(".function[data-symbol=g] .counts")).to_have_text("+1 \u22121")


def test_unchanged_functions_are_there_on_demand(show: Opener) -> None:
    report = show(Append())
    report.open("toy-append")
    others = report.page.locator(".others")
    expect(others.locator("> summary")).to_have_text("2 unchanged functions")
    others.locator("> summary").click()
    others.locator("[data-symbol=g] > summary").click()
    expect(others.locator("[data-symbol=g] .new").first).to_have_text("func.func @g() {")


def test_line_tells_who_made_and_who_erases_it(show: Opener) -> None:
    def body(module: ModuleOp, ctx: PassContext) -> None:
        assert (last := module.body.block.last_op) is not None
        last.detach()

    report = show(Append(), named("erases", body=body))
    report.open("erases")
    code = report.page.locator(".row .old code")
    expect(code).to_have_attribute(
        "title", "made by toy-append (1 of 2)\nerased by erases (2 of 2)"
    )


def test_lines_far_from_a_change_are_folded(show: Opener) -> None:
    report = show(marking(50), ir=chain(100))
    report.open("mark-50")
    rows, gap = report.page.locator(".row"), report.page.locator(".gap")
    assert rows.count() == 7 and gap.all_inner_texts() == [
        "48 unchanged lines",
        "48 unchanged lines",
    ]
    colour = "cell => getComputedStyle(cell).backgroundColor"
    (changed,) = {*report.page.locator(".row.changed .new").evaluate_all(f"c => c.map({colour})")}
    (same,) = {
        *report.page.locator(".row:not(.changed) .new").evaluate_all(f"c => c.map({colour})")
    }
    assert changed != same == "rgba(0, 0, 0, 0)"
    gap.first.click()
    expect(gap).to_have_count(1)
    expect(rows).to_have_count(7 + 48)


def test_filter(show: Opener) -> None:
    report = show(Append(), Nothing(), Tag())
    assert report.names() == ["sequential", "toy-append", "toy-nothing", "toy-tag"]
    report.page.locator("#filter").fill("NOTH")
    assert report.names() == ["sequential", "toy-nothing"]  # the pipeline names it too
    report.page.locator("#filter").fill("@g")
    assert report.names() == ["toy-tag"]
    report.page.locator("#filter").fill("no such pass")
    assert report.names() == []
    report.page.locator("#filter").fill("")
    report.page.locator("#changed-only").check()
    assert report.names() == ["sequential", "toy-append", "toy-tag"]


def test_keys(show: Opener) -> None:
    report = show(Append(), Nothing(), Tag())
    title = report.page.locator("main h2")
    for key, shown in [
        ("n", "toy-append"),
        ("n", "toy-tag"),
        ("k", "toy-nothing"),
        ("o", "Overview"),
    ]:
        report.page.keyboard.press(key)
        expect(title).to_have_text(shown)
    report.page.keyboard.press("/")
    report.page.keyboard.type("tag")
    expect(report.page.locator("#filter")).to_have_value("tag")
    report.page.keyboard.press("Escape")
    report.page.keyboard.press("?")
    expect(report.page.locator("#keys")).to_be_visible()


def shown(report: Report, title: str) -> None:
    """Expect the page to show what has this title, and mark its row."""
    expect(report.page.locator("main h2")).to_have_text(title)
    marked = report.page.locator("#timeline [aria-current] .name")
    expect(marked).to_have_text([title] if title != "Overview" else [])


def test_back_and_forward_go_from_pass_to_pass(show: Opener) -> None:
    report = show(Append(), Nothing(), Tag())
    report.open("toy-append")
    report.page.keyboard.press("j")
    report.page.keyboard.press("n")
    shown(report, "toy-tag")
    for title in ("toy-nothing", "toy-append", "Overview"):
        report.page.go_back()
        shown(report, title)
    report.page.go_forward()
    shown(report, "toy-append")


def test_changed_address_shows_another_pass(show: Opener) -> None:
    report = show(Append(), Nothing(), Tag())
    address = report.page.url.partition("#")[0]
    for name, title in [("3", "toy-tag"), ("2", "toy-nothing"), ("overview", "Overview")]:
        report.page.evaluate("name => { location.hash = name }", name)
        shown(report, title)
    report.page.goto(f"{address}#1")
    shown(report, "toy-append")
    report.page.goto(f"{address}#99")
    shown(report, "Overview")


def test_rows_are_reached_by_tab(show: Opener) -> None:
    report = show(Append(), Nothing(), Tag())
    report.page.locator("#changed-only").focus()
    for name in ("sequential", "toy-append", "toy-nothing", "toy-tag"):
        report.page.keyboard.press("Tab")
        focused = report.page.locator("#timeline a:focus-visible")
        expect(focused.locator(".name")).to_have_text(name)
        assert focused.evaluate("link => getComputedStyle(link).outlineStyle") == "solid"
    report.page.keyboard.press("Enter")
    shown(report, "toy-tag")
    report.page.keyboard.press("ArrowUp")
    shown(report, "toy-nothing")
    expect(focused.locator(".name")).to_have_text("toy-nothing")


def test_passes_are_counted_as_in_the_summary(show: Opener) -> None:
    report = show(Append(), Sequential([Nothing(), Tag()], name="inner"), Nothing())
    assert "4 passes" in report.page.locator("#summary").inner_text()
    report.open("toy-tag")
    expect(report.page.locator(".facts li").first).to_have_text("pass 3 of 4")
    report.open("inner")
    assert "of" not in report.page.locator(".facts li").first.inner_text()


class Clock:
    """A clock that ticks at each look, and that a pass can set forward."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def test_slow_pass_stands_out(show: Opener) -> None:
    def body(_module: ModuleOp, ctx: PassContext) -> None:
        clock.now += 3

    clock = Clock()
    record = RecordInstrument(clock=clock)
    with PassContext(instruments=[record]):
        Sequential([*[Nothing()] * 20, named("slow", body=body), Tag()])(module("f"))
    page = show.open(read_record(record.lines)).page
    expect(page.locator("#timeline li.slow .name")).to_have_text(["slow"])
    widths = page.locator("#timeline .duration .bar").evaluate_all(
        "bars => bars.map((bar) => bar.getBoundingClientRect().width)"
    )
    assert max(widths) == widths[20] > 10 * max(widths[:20])
    expect(page.locator("#timeline li.slow .time")).to_have_attribute("title", re.compile("time"))


def test_loading_is_one_row_and_takes_no_part_of_the_axis(show: Opener) -> None:
    def body(_module: ModuleOp, ctx: PassContext) -> None:
        clock.now += 1

    clock = Clock()
    record = RecordInstrument(clock=clock)

    def load(_module: ModuleOp, ctx: PassContext) -> None:
        clock.now += 10
        record.add_load(10)

    with PassContext(instruments=[record]):
        with record.phase("Import"):
            clock.now += 50
        record.add_load(50)
        first, second = named("first", body=body), named("second", body=body)
        Sequential([first, named("loads", body=load), second])(module("f"))
    report = show.open(read_record(record.lines))
    assert report.names()[:2] == ["Load", "Import"] and report.names().count("Load") == 1
    expect(report.page.locator("#timeline li .time").first).to_have_text("60.00 s")
    assert report.page.locator("#summary").inner_text().endswith(" s without Load")
    bars = report.page.locator("#timeline .track .bar").evaluate_all(
        "bars => bars.map((bar) => bar.getBoundingClientRect().width)"
    )
    assert len(bars) == 4 and min(bars[1], bars[3]) > 0.4 * bars[0]


@pytest.mark.parametrize("width", [1000, 600])
def test_times_are_below_each_other(show: Opener, width: int) -> None:
    record = RecordInstrument()
    with PassContext(instruments=[record]):
        with record.phase("Import"):
            pass
        Tag()(module("f"))
    page = show.open(read_record(record.lines)).page
    page.set_viewport_size({"width": width, "height": 700})
    lefts = page.locator("#timeline .time").evaluate_all(
        "times => times.map((time) => time.getBoundingClientRect().left)"
    )
    assert len(lefts) == 2 and lefts[0] == lefts[1]


def test_phases_show_what_was_read_and_written(show: Opener) -> None:
    record = RecordInstrument()
    with PassContext(instruments=[record]):
        with record.phase("Import"):
            ir = module("f", "g")
        Append().apply(Context(), ir)
        with record.phase("Output"):
            str(ir)
    report = show.open(read_record(record.lines))
    report.open("Import")
    expect(report.page.locator(".function .symbol")).to_have_text(["@f", "@g"])
    expect(report.page.locator("[data-symbol=f] .new").first).to_have_text("func.func @f() {")
    report.open("Output")
    expect(report.page.locator(".function .symbol")).to_have_text(["@f", "@g", "test.op"])


def test_chart_names_passes_and_shows_values(show: Opener) -> None:
    page = show(Append(), Nothing(), Tag()).page
    written = page.evaluate("written")
    names = [text for text in written if text.startswith("toy-")]
    assert [*dict.fromkeys(names)] == ["toy-append", "toy-nothing", "toy-tag"]
    assert written[-2:] == ["4", "5"]
    values = page.locator(".u-legend .u-series", has_text="all ops").locator(".u-value")
    expect(values).to_have_text("4 \u2192 5")
    page.locator(".chart .u-over").hover()
    expect(values).not_to_have_text("4 \u2192 5")
    page.locator("h1").hover()
    expect(values).to_have_text("4 \u2192 5")


def test_failure_is_what_is_shown_first(show: Opener) -> None:
    page = show(Append(), Fail("bad <b>luck</b>"), Nothing()).page
    expect(page.locator("main h2")).to_have_text("toy-fail")
    expect(page.locator("main > .error")).to_have_text("ValueError bad <b>luck</b>")
    expect(page.locator("#summary")).to_contain_text("toy-fail failed")


def test_remarks(show: Opener) -> None:
    def body(module: ModuleOp, ctx: PassContext) -> None:
        for op in module.ops:
            ctx.actions.missed(op, "TooLarge", "too <i>large</i>")

    report = show(named("noisy", body=body))
    report.open("noisy")
    report.page.locator("[role=tab]", has_text="Remarks").click()
    notes = report.page.locator(".remarks .note")
    expect(notes).to_have_count(2)
    expect(notes.first).to_contain_text("too <i>large</i>")
    report.page.locator("main input[type=search]").fill("function=g")
    expect(notes).to_have_count(1)


def test_graph_is_saved_for_graphviz(show: Opener) -> None:
    report = show(marking(2), ir=chain(2))
    report.open("mark-2")
    report.page.keyboard.press("2")
    with report.page.expect_download() as download:
        report.page.get_by_role("button", name="DOT").click()
    dot = Path(download.value.path()).read_text()
    assert dot.startswith('digraph "f" {\n  node [shape=box];\n  "n1" [label="test.op"];\n')
    assert dot.endswith('  "n1" -> "n2";\n}\n')


def test_no_line_of_a_diff_breaks_in_an_arrow(show: Opener) -> None:
    report = show(marking(2), ir=chain(3))
    report.open("mark-2")
    arrow = report.page.locator("main .hljs-arrow").first
    narrow = "arrow => Object.assign(arrow.parentElement.style, {display: 'block', width: '1px'})"
    arrow.evaluate(narrow)
    assert arrow.evaluate("arrow => arrow.parentElement.getClientRects()[0].height") > 50
    assert arrow.evaluate("arrow => arrow.getClientRects().length") == 1


def test_graph(show: Opener) -> None:
    report = show(marking(2), ir=chain(5))
    report.open("mark-2")
    report.page.keyboard.press("2")
    expect(report.page.locator(".graph .node")).to_have_count(5)
    expect(report.page.locator(".graph .edge")).to_have_count(4)
    expect(report.page.locator(".graph .node.new")).to_have_count(1)


def test_click_shows_what_is_known_of_an_operation(show: Opener) -> None:
    report = show(marking(2), ir=chain(5))
    report.open("mark-2")
    panel = report.page.locator("#operation")
    expect(panel).to_be_hidden()
    lines = report.page.locator(".row .new code.op")
    lines.filter(has_text="mark").click()
    expect(panel.locator("h3")).to_have_text("test.op")
    expect(panel.locator("dt")).to_have_text(["Type", "Attributes", "History", "Uses"])
    type, attributes, history, uses = panel.locator("dd").all_inner_texts()
    assert (type, attributes, history) == ("i32", 'mark = "2"', "from the input")
    used = report.page.locator(".new code.use")
    expect(used).to_have_text([uses])
    assert '"test.op"(%3)' in uses
    expect(report.page.locator(".new code.picked")).to_contain_text("mark")
    colour = "code => getComputedStyle(code).backgroundColor"
    assert used.evaluate(colour) not in ("rgba(0, 0, 0, 0)", lines.last.evaluate(colour))
    panel.locator("button.line").click()
    expect(report.page.locator(".new code.picked")).to_have_text(uses)
    report.page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(report.page.locator("code:is(.use, .picked)")).to_have_count(0)


def test_use_that_is_folded_is_unfolded(show: Opener) -> None:
    report = show(marking(150), ir=chain(300))
    report.open("mark-150")
    expect(report.page.locator(".gap")).to_have_count(2)
    report.page.locator(".new code.op", has_text="mark").click()
    for _ in range(20):  # from use to use
        report.page.locator("#operation button.line").click()
    expect(report.page.locator(".new code.picked")).to_be_visible()
    expect(report.page.locator(".gap")).to_have_count(1)
    report.page.keyboard.press("k")
    expect(report.page.locator("#operation")).to_be_hidden()


def test_operations_are_reached_by_keys(show: Opener) -> None:
    report = show(marking(2), ir=chain(5))
    report.open("mark-2")
    report.page.locator(".function summary").focus()
    keyboard = report.page.keyboard
    for key in ("Tab", "Tab", "ArrowDown", "ArrowDown", "Enter"):
        keyboard.press(key)
    expect(report.page.locator("code.picked")).to_have_text(re.compile(r"%2 = .test.op"))
    assert report.page.evaluate("document.activeElement.matches('.picked')")


def test_history_links_to_the_passes(show: Opener) -> None:
    def body(module: ModuleOp, ctx: PassContext) -> None:
        assert (last := module.body.block.last_op) is not None
        last.detach()

    report = show(Append(), Nothing(), named("erases", body=body))
    report.open("erases")
    report.page.locator(".old code.op").click()
    history = report.page.locator("#operation .history li")
    expect(history).to_have_text(["made by toy-append (1 of 3)", "erased by erases (3 of 3)"])
    history.first.locator("a").click()
    shown(report, "toy-append")
    expect(report.page.locator("#operation")).to_be_hidden()
    report.page.go_back()
    shown(report, "erases")


def test_operation_that_was_moved_says_where(show: Opener) -> None:
    def body(module: ModuleOp, ctx: PassContext) -> None:
        funcs = [op for op in module.ops if isinstance(op, FuncOp)]
        assert (op := funcs[0].body.block.first_op) is not None
        op.detach()
        funcs[1].body.block.insert_ops_before([op], funcs[1].body.block.ops.first)  # pyright: ignore

    ir = module("f", "g")
    assert isinstance(func := ir.body.block.first_op, FuncOp)
    func.body.block.insert_ops_before([TestOp()], func.body.block.ops.first)  # pyright: ignore
    report = show(named("moves", body=body), ir=ir)
    report.open("moves")
    expect(report.page.locator(".gone")).to_have_text(["\u2192 @g"])
    report.page.locator("[data-symbol=g] .new code.op", has_text="test.op").click()
    history = report.page.locator("#operation .history li")
    expect(history).to_have_text(["from the input", "moved by moves (1 of 1) into @g"])


def test_nodes_are_called_after_their_callee(show: Opener) -> None:
    """By the rule that an attribute refers to a symbol, whatever the op."""

    def body(module: ModuleOp, ctx: PassContext) -> None:
        caller = FuncOp("caller", ([i32], [i32]))
        (value,) = caller.args
        call = TestOp([value], [i32], {"kernel": SymbolRefAttr("f")})
        caller.body.block.add_ops([call, plain := TestOp([call.results[0]], [i32])])
        caller.body.block.add_op(ReturnOp(plain))
        module.body.block.add_op(caller)

    report = show(named("outlines", body=body), ir=chain(30))
    report.open("outlines")
    report.page.keyboard.press("2")
    nodes = report.page.locator(".graph .node")
    expect(nodes.locator("text")).to_have_text(["@f", "test.op"])
    nodes.first.click()
    expect(report.page.locator("#operation h3")).to_have_text("test.op")
    expect(report.page.locator("#operation dd").nth(1)).to_have_text("kernel = @f")
    expect(report.page.locator(".graph .node.use text")).to_have_text("test.op")


def test_call_of_a_small_function_is_a_group(show: Opener) -> None:
    from xdsl.dialects.func import CallOp

    def body(module: ModuleOp, ctx: PassContext) -> None:
        func = FuncOp("caller", ([i32], [i32]))
        func.body.block.add_ops([call := CallOp("f", [func.args[0]], [i32]), ReturnOp(call)])
        module.body.block.add_op(func)

    report = show(named("outlines", body=body), ir=chain(3))
    report.open("outlines")
    report.page.keyboard.press("2")
    expect(report.page.locator("select")).to_contain_text("@caller •")
    expect(report.page.locator(".graph .group")).to_have_count(1)
    expect(report.page.locator(".graph .node")).to_have_count(3)


def test_nothing_of_the_record_is_read_as_html(show: Opener) -> None:
    evil = '</script><img src=x onerror="document.title=1"><!--'
    report = show(Append(evil))
    report.open("toy-append")
    expect(report.page.locator(".row .new")).to_contain_text("</script><img")
    assert report.page.locator("main img").count() == 0
    assert report.page.title() == "toy.mlir"


def test_a_click_unpacks_the_ir_of_one_pass(show: Opener) -> None:
    report = show(*[marking(n) for n in range(300)], ir=chain(400))
    assert len(report.names()) == 301 and report.decoded() == 0
    for number in (100, 200):
        before = report.decoded()
        report.open(f"mark-{number}")
        assert report.decoded() - before == 2
    assert report.page.locator(".row").count() < 20


def test_light_and_dark(show: Opener) -> None:
    page = show(Nothing()).page
    colour = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(colour)
    page.keyboard.press("t")
    assert page.evaluate(colour) != dark
    page.emulate_media(color_scheme="light")
    light = page.evaluate(colour)
    page.keyboard.press("t")
    assert page.evaluate(colour) == dark != light
