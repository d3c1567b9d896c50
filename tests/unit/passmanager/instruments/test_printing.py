"""IRPrinter: formats, selection of passes, and robustness."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from threading import Barrier

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, Tag, module, named, toy_context
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from passline.passmanager import Fixpoint, FunctionPass, PassContext, Sequential
from passline.passmanager.instruments import (
    IRPrinter,
    PassPrintingInstrument,
    PrintAfterAll,
    PrintBeforeAll,
)
from passline.passmanager.instruments.printing import ir_text, print_ir
from passline.passmanager.ir.changes import Snapshot

Capture = pytest.CaptureFixture[str]


def titles(capsys: Capture) -> list[str]:
    """Return the titles of the dumps on stderr, in order; stdout must be empty."""
    printed = capsys.readouterr()
    assert printed.out == ""
    return re.findall(r"^// -----// IR Dump (.+) //----- //$", printed.err, re.MULTILINE)


def nested(*passes: Append | Fail | Nothing | Tag) -> Sequential:
    return Sequential([Sequential([Fixpoint(Sequential(passes), 2)], name="inner")])


def first_function(m: ModuleOp) -> FuncOp:
    func = next(iter(m.ops))
    assert isinstance(func, FuncOp)
    return func


def break_terminator(m: ModuleOp, ctx: PassContext) -> None:
    """A pass that leaves IR that is invalid, but can be printed."""
    func = first_function(m)
    func.body.block.erase_op(next(iter(func.body.block.ops)))


def break_property(m: ModuleOp, ctx: PassContext) -> None:
    """A pass that leaves IR that can be printed in generic form only."""
    del first_function(m).properties["function_type"]


# Formats


def test_dump_is_banner_ir_and_an_empty_line(capsys: Capture) -> None:
    with PassContext(instruments=[PrintBeforeAll(), PrintAfterAll()]):
        Append("y")(module("f"))
    assert (
        capsys.readouterr().err
        == """\
// -----// IR Dump Before toy-append: toy-append{tag="y"} //----- //
builtin.module {
  func.func @f() {
    func.return
  }
}

// -----// IR Dump After toy-append: toy-append{tag="y"} //----- //
builtin.module {
  func.func @f() {
    func.return
  }
  "test.op"() {tag = "y"} : () -> ()
}

"""
    )


def test_compiler_explorer_finds_the_banners_and_pairs_them(capsys: Capture) -> None:
    with PassContext(instruments=[PrintBeforeAll(), PrintAfterAll()]):
        Sequential([Append("a\nb"), Nothing()])(module())
    lines = capsys.readouterr().err.splitlines()
    header = re.compile(r"^// -----// (IR Dump (?:Before|After) .+) //----- //$")
    found = [match[1] for line in lines if (match := header.match(line))]
    before, after = found[::2], found[1::2]
    assert [title.replace("Before", "After") for title in before] == after
    assert before[1] == "IR Dump Before toy-nothing"


def test_invalid_ir_is_printed_in_generic_form_after_a_failure(capsys: Capture) -> None:
    with PassContext(instruments=[IRPrinter(after_failure=True)]):
        with pytest.raises(Exception):
            named("breaks", body=break_terminator)(module("f"))
    assert (
        capsys.readouterr().err
        == """\
// -----// IR Dump After breaks Failed //----- //
"builtin.module"() ({
  "func.func"() <{sym_name = "f", function_type = () -> ()}> ({
  ^bb0:
  }) : () -> ()
}) : () -> ()

"""
    )


def test_valid_ir_is_printed_as_ever_after_a_failure(capsys: Capture) -> None:
    with PassContext(instruments=[IRPrinter(after_failure=True)]):
        with pytest.raises(ValueError):
            Fail("why")(module())
    assert (
        capsys.readouterr().err
        == """\
// -----// IR Dump After toy-fail: toy-fail{message="why"} Failed //----- //
builtin.module {
}

"""
    )


def test_function_is_printed_under_its_own_banner(capsys: Capture) -> None:
    with PassContext(instruments=[IRPrinter(after=["toy-tag"], functions=["@g"])]):
        Tag()(module("f", "g"))
    assert (
        capsys.readouterr().err
        == """\
// -----// IR Dump After toy-tag ('func.func' operation: @g) //----- //
func.func @g() attributes {seen = "yes"} {
  func.return
}

"""
    )


def test_print_ir_on_a_stream(capsys: Capture) -> None:
    print_ir("HERE", module(), stream := StringIO())
    assert stream.getvalue() == "// -----// IR Dump HERE //----- //\nbuiltin.module {\n}\n\n"
    assert capsys.readouterr() == ("", "")


# Which passes


def test_names_in_any_spelling(capsys: Capture) -> None:
    printer = IRPrinter(before=["ToyAppend"], after=["toy.append", "toy_nothing"])
    with PassContext(instruments=[printer]):
        Sequential([Append(), Nothing(), Tag()])(module())
    assert titles(capsys) == ["Before toy-append", "After toy-append", "After toy-nothing"]


def test_composites_are_printed_only_if_named(capsys: Capture) -> None:
    pipeline = Sequential([Sequential([Append()], name="inner")])
    with PassContext(instruments=[PrintAfterAll(), IRPrinter(before=["inner"])]):
        pipeline(module())
    inner = 'Before inner: sequential{name="inner"}(toy-append)'
    assert titles(capsys) == [inner, "After toy-append"]


def test_nothing_is_printed_unless_asked_for(capsys: Capture) -> None:
    with PassContext(instruments=[IRPrinter(), IRPrinter(before=[], after=())]):
        Append()(module())
    assert titles(capsys) == []


def test_tvm_instrument_takes_names_before_and_after(capsys: Capture) -> None:
    printer = PassPrintingInstrument(["ToyNothing"], ["toy-append"])
    with PassContext(instruments=[printer]):
        Sequential([Append(), Nothing()])(module())
    assert titles(capsys) == ["After toy-append", "Before toy-nothing"]


@table_test(
    "make",
    [
        lambda: IRPrinter(before="cse"),
        lambda: IRPrinter(after="cse"),
        lambda: IRPrinter(functions="f"),
        lambda: PassPrintingInstrument("cse", []),
        lambda: PassPrintingInstrument([], "cse"),
    ],
)
def test_string_where_a_list_is_meant_is_an_error(make: Callable[[], IRPrinter]) -> None:
    with pytest.raises(TypeError, match="is a list of names"):
        make()


def test_unknown_names_as_they_were_given_and_once() -> None:
    printer = IRPrinter(before=["CSE", "Nonsuch", "other"], after=["Nonsuch", "dce"])
    assert printer.unknown_names(["cse", "DCE"]) == ["Nonsuch", "other"]
    assert IRPrinter(before=True, after_change=True).unknown_names([]) == []


# After a change


def test_after_change_prints_the_start_and_then_what_changed(capsys: Capture) -> None:
    printer = IRPrinter(after_change=True)
    with PassContext(instruments=[printer], verify_each=False):
        Sequential([Nothing(), Append("a"), Nothing(), Append("a")])(module())
        Nothing()(module())
    append = 'After toy-append: toy-append{tag="a"}'
    assert titles(capsys) == ["At Start", append, append, "At Start"]


def test_after_change_leaves_out_some_of_the_named(capsys: Capture) -> None:
    printer = IRPrinter(after=["toy-append", "toy-nothing", "inner"], after_change=True)
    with PassContext(instruments=[printer]):
        Sequential([Append(), Nothing(), Tag(), Sequential([Tag()], name="inner")])(module("f"))
    assert titles(capsys) == ["At Start", "After toy-append"]


def test_named_composite_is_printed_if_a_pass_in_it_changed_something(capsys: Capture) -> None:
    printer = IRPrinter(after=["inner"], after_change=True)
    with PassContext(instruments=[printer]):
        Sequential([Sequential([Append(), Nothing()], name="inner")])(module())
    inner = 'After inner: sequential{name="inner"}(toy-append,toy-nothing)'
    assert titles(capsys) == ["At Start", inner]


def test_only_functions_that_changed(capsys: Capture) -> None:
    class TagG(FunctionPass):
        name = "tag-g"

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            if func.sym_name.data == "g":
                func.attributes["seen"] = StringAttr("yes")

    printer = IRPrinter(after_change=True, functions=["f", "g"])
    with PassContext(instruments=[printer]):
        Sequential([TagG(), Append(), Tag()])(module("f", "g", "h"))
    f, g = (f" ('func.func' operation: @{name})" for name in "fg")
    assert titles(capsys) == [
        f"At Start{f}",
        f"At Start{g}",
        f"After tag-g{g}",
        f"After toy-tag{f}",
    ]


def test_deleted_function(capsys: Capture) -> None:
    def delete(m: ModuleOp, ctx: PassContext) -> None:
        m.body.block.erase_op(first_function(m))

    with PassContext(instruments=[IRPrinter(after_change=True, functions=["f"])]):
        Sequential([named("deletes", body=delete), Append()])(module("f", "g"))
    assert capsys.readouterr().err.endswith(
        "// -----// IR Dump After deletes ('func.func' operation: @f) //----- //\n// deleted\n\n"
    )


def test_module_scope_prints_the_module_when_a_function_of_the_filter_changed(
    capsys: Capture,
) -> None:
    printer = IRPrinter(after_change=True, module_scope=True, functions=["g"])
    with PassContext(instruments=[printer]):
        Sequential([Append(), Tag()])(module("f", "g"))
    printed = capsys.readouterr().err
    assert printed.count("IR Dump") == printed.count("builtin.module") == 2
    assert "IR Dump At Start //" in printed and "IR Dump After toy-tag //" in printed


# After a failure


def test_failing_pass_is_printed_if_it_is_named_or_all_are(capsys: Capture) -> None:
    named_, all_, change = (
        IRPrinter(after=["toy-fail"]),
        IRPrinter(after=True),
        IRPrinter(after_change=True),
    )
    for printer in (named_, all_, change, IRPrinter(after=["toy-append"]), IRPrinter(before=[])):
        with PassContext(instruments=[printer]), pytest.raises(ValueError):
            Sequential([Fail()])(module())
    assert titles(capsys) == ["After toy-fail Failed"] * 2 + ["At Start", "After toy-fail Failed"]


# Broken IR


def test_ir_that_only_the_generic_form_can_show() -> None:
    m = module("f")
    break_property(m, PassContext())
    assert ir_text(m).startswith('"builtin.module"() ({\n  "func.func"() <{sym_name = "f"}>')


def test_ir_that_cannot_be_printed() -> None:
    m = module()
    m.attributes["a"] = 3  # pyright: ignore[reportArgumentType]
    assert ir_text(m) == ir_text(m, trusted=False)
    assert re.fullmatch(r"// 'builtin.module' cannot be printed: \w+: .+", ir_text(m))


def test_printing_leaves_unregistered_ops_as_they_are() -> None:
    context = toy_context()
    context.allow_unregistered = True
    m = Parser(context, '"a.b"() ({ func.func @f() { func.return } }) : () -> ()').parse_module()
    op = next(iter(m.ops))
    assert isinstance(op, UnregisteredOp)
    op.attributes["later"] = StringAttr("x")
    snapshot = Snapshot(m)
    first = ir_text(m)
    assert ir_text(m) == first and not snapshot.update()
    func = next(iter(op.regions[0].block.ops))
    func.properties["function_type"] = 3  # pyright: ignore[reportArgumentType]
    assert "cannot be printed" in ir_text(m)
    assert op.op_name.data == "a.b"


# What it survives


def all_kinds() -> IRPrinter:
    return IRPrinter(before=["toy-nothing"], after_change=True, after_failure=True)


def test_failing_pass_inside_nested_pipelines(capsys: Capture) -> None:
    with PassContext(instruments=[all_kinds()]):
        with pytest.raises(ValueError):
            nested(Append(), Fail())(module())
        Append("b")(module())
    assert titles(capsys) == [
        "At Start",
        "After toy-append",
        "After toy-fail Failed",
        "At Start",
        'After toy-append: toy-append{tag="b"}',
    ]


def test_skipped_passes(capsys: Capture) -> None:
    blocker = Recorder(blocks=frozenset(["toy-append"]))
    with PassContext(disabled_pass=["toy-tag"], instruments=[all_kinds(), blocker]):
        Sequential([Tag(), Append(), Nothing()])(module("f"))
    assert titles(capsys) == ["At Start", "Before toy-nothing"]


def test_hook_of_another_instrument_that_raises(capsys: Capture) -> None:
    with PassContext(instruments=[all_kinds(), Recorder(fail_in=frozenset(["before"]))]) as ctx:
        with pytest.raises(RuntimeError):
            nested(Append())(module())
        ctx.instruments = ctx.instruments[:1]
        Sequential([Nothing(), Append()])(module())
    assert titles(capsys) == ["At Start", "At Start", "Before toy-nothing", "After toy-append"]


def test_instrument_that_joins_in_the_middle(capsys: Capture) -> None:
    printer = all_kinds()

    def join(m: ModuleOp, ctx: PassContext) -> None:
        ctx.override_instruments([printer])

    with PassContext():
        Sequential([named("joins", body=join), Append()])(module())
    assert titles(capsys) == ["At Start", "After toy-append"]


def test_two_threads(capsys: Capture) -> None:
    barrier = Barrier(2, timeout=10)
    printer = all_kinds()

    def run(name: str) -> None:
        def meet(m: ModuleOp, ctx: PassContext) -> None:
            barrier.wait()

        wait = named("waits", body=meet)
        with PassContext(instruments=[printer]):
            Sequential([wait, Append(name), wait, Nothing(), Append(name), wait])(module(name))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, ("left", "right")))
    printed = capsys.readouterr().err
    dumps = [dump for dump in printed.split("// -----// ") if dump]
    for name, other in (("left", "right"), ("right", "left")):
        mine = [dump for dump in dumps if f"@{name}()" in dump]
        assert [dump.count(f'{{tag = "{name}"}}') for dump in mine] == [0, 1, 1, 2]
        assert not any(other in dump for dump in mine)


def test_entered_twice(capsys: Capture) -> None:
    printer = all_kinds()
    with PassContext(instruments=[printer]):
        with PassContext(instruments=[printer]):
            Append()(module())
        Append()(module())
    assert titles(capsys) == ["At Start", "After toy-append"] * 2


def test_run_within_a_run(capsys: Capture) -> None:
    def run_another(m: ModuleOp, ctx: PassContext) -> None:
        Append("inner")(module("g"))
        Append("outer").apply(ctx.ir_context, m)

    with PassContext(instruments=[all_kinds()]):
        Sequential([named("calls", body=run_another)])(module("f"))
    inner, outer = (f'After toy-append: toy-append{{tag="{t}"}}' for t in ("inner", "outer"))
    assert titles(capsys) == ["At Start", "At Start", inner, outer, "After calls"]
