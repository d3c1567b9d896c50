"""`passline.show`, and the display of operations in IPython."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html import unescape
from types import ModuleType, SimpleNamespace

import pytest
from support.notebooks import html_of
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation

import passline
from passline.passmanager import notebook as notebook

TEXT = """
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = relax.nn.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
func.func private @g()
"""


def html(op: Operation) -> str:
    return html_of(passline.show(op))


def text_of(page: str) -> str:
    """Return the text of a page without its markup."""
    return unescape(re.sub(r"<[^>]*>", "", page))


def test_repr_is_the_ir() -> None:
    module = passline.load(TEXT)
    assert repr(passline.show(module)) == str(module)


def test_large_constants_are_elided() -> None:
    numbers = ", ".join(f"{i}.0" for i in range(100))
    module = passline.load(f"%c = relax.constant dense<[{numbers}]> : tensor<100xf32>")
    assert "dense_resource<__elided__>" in repr(passline.show(module))
    assert "__elided__" in html(module) and "99." not in html(module)


def test_each_function_folds() -> None:
    page = html(passline.load(TEXT))
    assert page.count("<details open>") == 2  # the module and @f; a declaration has one line
    assert "builtin.module: 4 operations" in page and "// 4 lines" in page


def test_functions_of_a_large_module_are_folded() -> None:
    module = passline.load("".join(f"func.func @f{i}() {{ func.return }}\n" for i in range(30)))
    page = html(module)
    assert page.count("<details>") == 30 and page.count("<details open>") == 1


def test_all_of_the_ir_is_there() -> None:
    shown = text_of(html(passline.load(TEXT)))
    for line in TEXT.strip().splitlines():
        assert line.strip().removesuffix(" {") in shown


def test_tokens_have_classes() -> None:
    page = html(passline.load(TEXT))
    assert '<span class="k">relax.nn.relu</span>' in page
    assert '<span class="nf">@f</span>' in page and '<span class="nv">%x</span>' in page


def test_text_of_the_ir_is_escaped() -> None:
    evil = "<script>alert('&')</script>"
    module = ModuleOp([TestOp(attributes={"a": StringAttr(evil)})], sym_name=StringAttr(evil))
    page = html(module)
    assert "<script" not in page and "&lt;script&gt;" in page


def test_long_function_is_shown_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "LINES", 2)
    (function, _) = passline.load(TEXT).ops
    assert "// 2 more lines" in html(function) and "func.return" not in html(function)


def test_module_of_many_functions_is_shown_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "FUNCTIONS", 1)
    page = html(passline.load(TEXT))
    assert "// 1 more operations" in page and "@f" in page and "@g" not in page


def test_operation_that_is_no_module_is_shown() -> None:
    (function, _) = passline.load(TEXT).ops
    assert isinstance(function, FuncOp)
    assert "relax.nn.relu" in html(function) and "<details" not in html(function)


def test_invalid_ir_is_shown_in_generic_form() -> None:
    module = passline.load("func.func @f() -> i32 { func.return }", verify_ir=False)
    assert '"func.return"' in repr(passline.show(module))


def test_show_of_a_path_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="show takes a module or another operation, not 'x.mlir'"):
        passline.show("x.mlir")  # pyright: ignore[reportArgumentType]


# IPython, with a stand-in for its shell


class Formatter:
    """The formatter of one format."""

    def __init__(self) -> None:
        self.types: dict[type, Callable[..., object]] = {}

    def for_type(self, typ: type, func: Callable[..., object] | None = None) -> object:
        old = self.types.get(typ)
        if func is not None:
            self.types[typ] = func
        return old


class Shell:
    """A shell of IPython."""

    def __init__(self) -> None:
        self.formatters = {"text/html": Formatter(), "text/plain": Formatter()}
        self.display_formatter = SimpleNamespace(formatters=self.formatters)


def shown(shell: Shell, op: Operation) -> tuple[str, object]:
    """Return an operation as the shell shows it: as text and as HTML."""
    written: list[str] = []
    printer = SimpleNamespace(text=written.append)
    shell.formatters["text/plain"].types[Operation](op, printer, False)
    page = str(shell.formatters["text/html"].types[Operation](op))
    return "".join(written), page.partition("</style>")[2]


def test_extension_shows_operations_as_show_does() -> None:
    shell = Shell()
    passline.load_ipython_extension(shell)  # pyright: ignore[reportArgumentType]
    module = passline.load(TEXT)
    assert shown(shell, module) == (str(module), html(module))


def test_load_in_a_shell_makes_it_show_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    shell, ipython = Shell(), ModuleType("IPython")
    setattr(ipython, "get_ipython", lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    module = passline.load(TEXT)
    assert shown(shell, module) == (str(module), html(module))


def test_load_keeps_another_way_to_show_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    shell, ipython = Shell(), ModuleType("IPython")
    shell.formatters["text/html"].for_type(Operation, str)
    setattr(ipython, "get_ipython", lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    passline.load(TEXT)
    assert shell.formatters["text/html"].types == {Operation: str}


def test_load_outside_of_a_shell_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ipython = ModuleType("IPython")
    setattr(ipython, "get_ipython", lambda: None)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert isinstance(passline.load(TEXT), ModuleOp)


def test_a_program_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    shown = passline.show(passline.load("func.func private @f()"))
    assert capsys.readouterr().out == f"{shown}\n"


@pytest.mark.parametrize("prompt", [True, False])
def test_a_prompt_displays_it_itself(
    prompt: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if prompt:
        monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    else:
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=object))
    shown = notebook.show(ModuleOp([]))
    assert "builtin.module" in repr(shown) and not capsys.readouterr().out
