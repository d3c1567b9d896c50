"""What notebooks show, as text and as HTML: modules and operations, passes, plans and contexts."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from .context import PassContext
from .instruments.printing import ir_text, top_level
from .ir.text.highlight import highlighted
from .ir.text.printer import PrintStyle
from .ir.walk import brief, walk
from .options import pass_options, to_text
from .output.html import Html, block, element, fold, join, table, to_html
from .plan import Plan
from .runner import AbstractPass, info_of, is_own

__all__ = ["Shown", "load_ipython_extension", "offer_display", "show"]


STYLE = PrintStyle(elide_elements=16)
LINES = 1000
"""The number of lines of a function that are shown."""
FUNCTIONS = 200
"""The number of operations of a module that are shown."""
OPEN = 60
"""The number of lines of a module up to which its functions are unfolded."""


def show(op: Operation) -> Shown:
    """Show a module or another operation as IR, with large constants elided: in a notebook with
    highlighting, each function in a section that folds; at a Python prompt as text; a program
    prints it.

    The object that is returned is what a notebook or prompt displays. Source: `mod.show()` of TVM.
    """
    if not isinstance(op, Operation):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"show takes a module or another operation, not {brief(op)}")
    shown = Shown(op)
    if not _displays_results():
        print(shown)
    return shown


def _displays_results() -> bool:
    """Return whether this process is IPython, or Python at a prompt: they display a result."""
    return _shell() is not None or hasattr(sys, "ps1")


# An object of ours, and not a module that knows how to show itself: modules are xDSL's, which is
# not patched, and a subclass of ModuleOp would get lost in the first pass that makes a module.
@dataclass(frozen=True, eq=False)
class Shown:
    """An operation that is shown as IR."""

    op: Operation

    def __str__(self) -> str:
        return ir_text(self.op, STYLE, trusted=False)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_of(self.op)


def html_of(op: Operation) -> str:
    """Return the IR of an operation as HTML, the operations in a module as sections."""
    if not isinstance(op, ModuleOp):
        return block(highlighted(_first_lines(ir_text(op, STYLE, trusted=False))))
    inner_ops = top_level(op)
    texts = [ir_text(inner, STYLE, trusted=False) for inner in inner_ops[:FUNCTIONS]]
    if more := len(inner_ops) - len(texts):
        texts.append(f"// {more} more operations")
    is_open = sum(text.count("\n") + 1 for text in texts) <= OPEN
    count = sum(1 for _ in walk(op)) - 1
    symbol = f" @{op.sym_name.data}" if op.sym_name is not None else ""
    title = f"builtin.module{symbol}: {count} operation{'' if count == 1 else 's'}"
    return block(fold(title, *_sections(texts, is_open), is_open=True))


def _sections(texts: list[str], is_open: bool) -> Iterator[Html]:
    """Yield the texts of operations, those of several lines as sections that fold."""
    for text in texts:
        first, newline, rest = text.partition("\n")
        if not newline:
            yield highlighted(text)
            continue
        lines = element("span", f"  // {rest.count(newline) + 2} lines", class_="c")
        summary = join(highlighted(first, tag="span"), lines)
        yield fold(summary, highlighted(_first_lines(rest)), is_open=is_open)


def _first_lines(text: str) -> str:
    """Return the first `LINES` lines of a text."""
    lines = text.split("\n", LINES)
    if len(lines) <= LINES:
        return text
    more = lines.pop().count("\n") + 1
    return "\n".join([*lines, f"// {more} more lines: str(module) or passline.save has them all"])


# IPython


class _Formatter(Protocol):
    def for_type(self, typ: type, func: Callable[..., object] | None = None) -> object: ...


class _Printer(Protocol):
    def text(self, text: str) -> None: ...


class _Shell(Protocol):
    @property
    def display_formatter(self) -> _DisplayFormatter: ...


class _DisplayFormatter(Protocol):
    @property
    def formatters(self) -> dict[str, _Formatter]: ...


def _shell() -> _Shell | None:
    """Return the shell of IPython that this process is; None if it is not one."""
    if (module := sys.modules.get("IPython")) is None:
        return None
    return cast("Callable[[], _Shell | None]", getattr(module, "get_ipython", lambda: None))()


def load_ipython_extension(ipython: _Shell) -> None:
    """Let IPython show operations of xDSL as `show` does: `%load_ext passline`."""
    formatters = ipython.display_formatter.formatters
    formatters["text/html"].for_type(Operation, html_of)
    formatters["text/plain"].for_type(Operation, _print)


def _print(op: Operation, printer: _Printer, cycle: bool) -> None:
    printer.text(str(Shown(op)))


def offer_display() -> None:
    """Do the same if this process is a notebook or another shell of IPython, unless that has been
    told already how to show operations.
    """
    if (shell := _shell()) is None:
        return
    if shell.display_formatter.formatters["text/html"].for_type(Operation) is None:
        load_ipython_extension(shell)


# The HTML of a pass, with its options or the passes in it, of a plan, and of a context.


@to_html.register
def html_of_context(context: PassContext) -> str:
    """Return a table of the settings of a context."""
    rows = [
        ("opt_level", str(context.opt_level)),
        ("required_pass", ", ".join(context.required_pass)),
        ("disabled_pass", ", ".join(context.disabled_pass)),
        ("instruments", ", ".join(i.name for i in context.instruments)),
        *((f"config: {key}", repr(value)) for key, value in context.config.items()),
        ("verify_each", str(context.verify_each)),
        ("verify_dominance", str(context.verify_dominance)),
        ("verify_preserves", str(context.verify_preserves)),
        ("rollback", str(context.rollback)),
        ("check_conditions", context.check_conditions),
    ]
    return block(element("p", element("b", type(context).__name__)), table(("", ""), rows))


@to_html.register
def html_of_plan(plan: Plan) -> str:
    """Return a table of the steps of a plan."""
    rows = [step.columns for step in plan.steps]
    header = ("", "pass", "level", "reason")
    body = table(header, rows, [step.action for step in plan.steps])
    return block(element("p", plan.summary), body)


@to_html.register
def html_of_pass(pass_: AbstractPass) -> str:
    """Return the name, level and requirements of a pass, the first paragraph of its documentation,
    and a table of its options, or of the passes in it.
    """
    info = pass_.info
    required = f", requires {', '.join(info.required)}" if info.required else ""
    head = element("p", element("b", info.name), f": level {info.opt_level}{required}")
    if pass_.children:
        rows = [row for child in pass_.children for row in _rows(child, 0)]
        return block(head, table(("pass", "level", "requires"), rows))
    text = (inspect.getdoc(type(pass_)) or "").partition("\n\n")[0]
    return block(head, element("p", text), _options(pass_))


def _rows(pass_: ModulePass, depth: int) -> Iterator[tuple[object, ...]]:
    """Yield a row for a pass, followed by those for the passes in it."""
    info = info_of(pass_)
    name = info.name if info.composite else info.text
    yield "  " * depth + name, info.opt_level, ", ".join(info.required)
    for child in pass_.children if is_own(pass_) else ():
        yield from _rows(child, depth + 1)


def _options(pass_: AbstractPass) -> Html:
    options = pass_options(type(pass_))
    if not options:
        return Html()
    rows = [
        (option.name, to_text(getattr(pass_, option.field)), option.type_text, option.help)
        for option in options
    ]
    return join(table(("option", "value", "type", ""), rows))
