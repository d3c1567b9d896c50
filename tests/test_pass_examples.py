"""The examples in the docstrings of passes: the IR before and after the pass, which is run.

Before:

    func.func @f() {
      ...
    }

After {option=value}:

    func.func @f() {
      ...
    }
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from support.suites.inprocess import passline_opt
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from passline.passes import PASSES
from passline.passmanager import PassContext, find_pass
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

WITHOUT_EXAMPLE = {
    "alter-op-layout": "its hook is a Python function",
    "bind-params": "its arrays are in a file",
    "check-conditions": "changes nothing",
    "composite-fixed-point-pass": "does what its option says",
    "generate-runtime-verification": "its messages have the location, which is that of a file",
    "print-op-graph": "prints a graph and changes nothing",
    "snapshot-op-locations": "changes locations alone",
    "strip-debuginfo": "changes locations alone",
    "view-op-graph": "prints a graph and changes nothing",
    "print-ir": "prints the module and changes nothing",
    "print-op-stats": "prints a table and changes nothing",
    "run-codegen": "what a back end makes of a function is not text",
}


class Example(NamedTuple):
    """The IR before and after a pass with some options, in braces as a pipeline spells them."""

    before: str
    after: str
    options: str = ""


_PARAGRAPH = re.compile(r"^(?P<title>Before|After)(?: (?P<options>\{.*\}))?:$", re.MULTILINE)


def examples_in(doc: str) -> Iterator[Example]:
    """Yield the examples in a docstring without common indentation."""
    before = ""
    for match in _PARAGRAPH.finditer(doc):
        text = indented_block(doc[match.end() :])
        if match["title"] == "Before":
            before = text
        else:
            yield Example(before, text, match["options"] or "")


def indented_block(text: str) -> str:
    """Return the indented lines at the start of `text`, without their common indentation."""
    lines: list[str] = []
    for line in text.strip("\n").split("\n"):
        if line and not line.startswith(" "):
            break
        lines.append(line)
    return textwrap.dedent("\n".join(lines)).strip("\n")


def docstring(name: str) -> str:
    """Return the docstring of the class of a pass."""
    return inspect.cleandoc(find_pass(name).__dict__.get("__doc__") or "")


def parse(text: str) -> ModuleOp:
    return parse_module(make_ir_context(), text, "example.mlir")


def anonymous_text(module: ModuleOp) -> str:
    """Return the text of a module whose values have lost their names."""
    for op in walk(module):
        values: list[SSAValue] = [*op.results]
        values += (arg for region in op.regions for block in region.blocks for arg in block.args)
        for value in values:
            value.name_hint = None
    return str(module)


def transformed(name: str, example: Example) -> ModuleOp:
    """Return the module of `example.before` after the pass, at any level, as with `-p`."""
    ctx = make_ir_context()
    module = parse_module(ctx, example.before, "example.mlir")
    with PassContext(opt_level=4):
        parse_pipeline(f"{name}{example.options}").apply(ctx, module)
    return module


@table_test("name", PASSES)
def test_the_example_of_a_pass_is_right(name: str) -> None:
    examples = [*examples_in(docstring(name))]
    assert examples or name in WITHOUT_EXAMPLE, f"{name} has no `Before:` and `After:`"
    for example in examples:
        assert example.before and example.after
        result = anonymous_text(transformed(name, example))
        assert result == anonymous_text(parse(example.after))
        assert result != anonymous_text(parse(example.before)), "the example shows no change"


@table_test("name", PASSES)
def test_help_shows_the_example_with_its_lines(name: str) -> None:
    shown = passline_opt(f"--help-pass={name}").stdout
    for example in examples_in(docstring(name)):
        assert textwrap.indent(example.before, " " * 6) in shown
        assert textwrap.indent(example.after, " " * 6) in shown


def test_the_passes_without_an_example_are_passes() -> None:
    assert WITHOUT_EXAMPLE.keys() <= PASSES.keys()


# The format

DOC = """\
Do something.

Before:

    func.func @f() {
      func.return
    }

    func.func @g()

After {x="a: {b}"}:

    func.func @f()

Source: somewhere.
"""


def test_blocks_end_with_the_indentation() -> None:
    before = "func.func @f() {\n  func.return\n}\n\nfunc.func @g()"
    assert [*examples_in(DOC)] == [Example(before, "func.func @f()", '{x="a: {b}"}')]


def test_names_of_values_and_blanks_do_not_count() -> None:
    named = "func.func @f(%x: i32) -> i32 { func.return %x : i32 }"
    other = "func.func @f(%y : i32) -> i32 {\n  func.return %y : i32\n}"
    assert anonymous_text(parse(named)) == anonymous_text(parse(other))


def test_a_wrong_example_is_seen() -> None:
    dead = "func.func @f() { %0 = arith.constant 1 : i32 func.return }"
    result = transformed("dead-code-elimination", Example(dead, dead))
    assert anonymous_text(result) != anonymous_text(parse(dead))
