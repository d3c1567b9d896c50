"""The reference part of the site, generated from docstrings and registries when it is built.

A hook of mkdocs: its pages exist only in the site, so that they are never out of date. `pages` is
all of it; the functions `on_...` are called by mkdocs.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import MISSING
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from interface import api, infrastructure
from operations import example, properties, syntax, values
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.passes import ModulePass

import passline
from passline import instruments
from passline.compiler.kernels.legalizations import RELAX
from passline.dialects.relax import FAMILIES, interfaces, operations
from passline.dialects.tir import Tir
from passline.passes import PASSES, PIPELINES
from passline.passmanager import PasslineError, find_pass
from passline.passmanager.anchors import anchor_of
from passline.passmanager.base import Pass
from passline.passmanager.conditions import default_conditions
from passline.passmanager.instrument import PassInstrument
from passline.passmanager.names import Rounding
from passline.passmanager.options import PassOption, pass_options, to_text
from passline.tools import failures
from passline.tools.bisect.bisect_tool import PasslineBisectMain
from passline.tools.compile import PasslineCompileMain
from passline.tools.listing import field_docs, summary
from passline.tools.opt import PasslineOptMain
from passline.tools.reduce.reduce_tool import PasslineReduceMain
from passline.tools.run import PasslineRunMain
from passline.tools.tune import PasslineTuneMain

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

__all__ = ["on_files", "on_page_markdown", "on_post_page", "on_post_template", "pages"]

ROOT = Path(__file__).parents[2]

SHIM = "https://unpkg.com/iframe-worker/shim"

GROUPS = {
    "relax": "Passes on tensors",
    "tir": "Passes on loops",
    "llvm": "Passes to the dialect llvm",
    "generic": "Passes on any dialect",
}
"""The packages in `passes/`, and the titles of their pages."""


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages to the files of the site."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Put links to the reference into the first page; in the repository they would lead nowhere."""
    links = (
        f"- [{text.partition(chr(10))[0].lstrip('# ')}]({path})" for path, text in pages().items()
    )
    return markdown.replace("<!-- reference -->", "\n".join(links))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Let a page take the shim of the plugin `offline` from this site, not from the network."""
    from mkdocs.utils import get_relative_url

    return output.replace(SHIM, get_relative_url("assets/iframe-worker.js", page.url))


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """Do the same for the page 404, which may be shown at any address."""
    return output.replace(SHIM, "/assets/iframe-worker.js")


@cache
def pages() -> dict[str, str]:
    """Return the pages: path -> text."""
    texts = {
        "reference/api.md": api(),
        "reference/passmanager.md": infrastructure(),
        "reference/pipelines.md": pipelines(),
        **{f"reference/passes-{group}.md": passes(group) for group in GROUPS},
        "reference/relax.md": relax(),
        "reference/tir.md": tir(),
        "reference/instruments.md": instrument_classes(),
        "reference/errors.md": errors(),
        "reference/options.md": options(),
    }
    return {path: "\n".join(lines) + "\n" for path, lines in texts.items()}


# Text


def doc_of(obj: object) -> str:
    """Return the own docstring of an object; empty for one that @dataclass generates."""
    doc = vars(obj).get("__doc__") or ""
    generated = isinstance(obj, type) and doc.startswith(f"{obj.__name__}(")
    return "" if generated else inspect.cleandoc(doc)


def prose(text: str) -> str:
    """Return text as markdown: what is not in backticks has no meaning there."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([*_<\[\]])", r"\\\1", part) for part in parts
    )


def cell(text: str) -> str:
    """Return text as one cell of a table."""
    return prose(" ".join(text.split())).replace("|", "\\|")


def code(text: str) -> str:
    """Return text as code in one cell of a table."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def table(*head: str, rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield a table and an empty line; nothing without rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if lines:
        yield from (f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines, "")


def markdown(doc: str) -> Iterator[str]:
    """Yield the lines of a docstring as markdown: indented blocks are code."""
    in_code = False
    for paragraph in re.split(r"\n\n+", doc):
        is_code = paragraph.startswith("    ")
        if in_code and not is_code:
            yield from ("```", "")
        elif in_code:
            yield ""
        elif is_code:
            yield f"```{'mlir' if '%' in paragraph or 'func.func' in paragraph else 'text'}"
        if is_code:
            yield "\n".join(line.removeprefix("    ") for line in paragraph.split("\n"))
        else:
            yield from (prose(titled(paragraph)), "")
        in_code = is_code
    if in_code:
        yield from ("```", "")


def titled(text: str) -> str:
    """Return text in which a pass's `Before:` and `After {options}:` are `Before` and so on."""
    return re.sub(r"^(Before|After) (\{.*\}):$", r"\1, with `\2`:", text, flags=re.MULTILINE)


# Passes


def pipelines() -> Iterator[str]:
    """Yield the page of the named pipelines, with an overview of all passes."""
    yield from ("# Pipelines and passes", "")
    yield "A named pipeline stands wherever a pass may. `-O0` to `-O3` run `optimize`; the level"
    yield from ("selects its passes.", "")
    yield "Other projects add passes to them by [stages](../howto/placement.md)."
    yield ""
    for name, stages in PIPELINES.items():
        yield from (f"## {name}", "", "```text")
        for stage, steps in stages.by_name.items():
            yield f"{stage}:"
            yield from (f"  {step}" for step in steps)
        yield from ("```", "")
    for group, title in GROUPS.items():
        yield from (f"## {title}", "")
        yield from table(
            *("pass", "level", "requires", ""),
            rows=(
                (
                    f"[{name}](passes-{group}.md#{name})",
                    str(cls.opt_level),
                    ", ".join(cls.required),
                    cell(summary(cls)),
                )
                for name, cls in passes_in(group)
            ),
        )


def passes_in(group: str) -> Iterator[tuple[str, type[Pass]]]:
    """Yield the passes of a package, by name."""
    for name, place in sorted(PASSES.items()):
        cls = find_pass(name)
        if place.startswith(f"{group}.") and issubclass(cls, Pass):
            yield name, cls


def passes(group: str) -> Iterator[str]:
    """Yield the page of a group of passes."""
    yield from (f"# {GROUPS[group]}", "")
    for name, cls in passes_in(group):
        yield from (f"## {name}", "")
        yield from markdown(doc_of(cls))
        preserved = [p if isinstance(p, str) else p.__name__ for p in cls.preserves]
        facts = {
            "level": str(cls.opt_level),
            "requires": ", ".join(cls.required),
            "preserves": ", ".join(preserved),
            "needs that": statements(cls, "requires"),
            "ensures that": statements(cls, "ensures"),
            "rounds": rounding.text if (rounding := Rounding.of(cls.rounds)) else "",
            "changes the interface": "True" if cls.changes_interface else "",
            "runs on": anchor_of(cls),
            "class": f"{cls.__module__}.{cls.__name__}",
            "examples": filecheck_file(cls),
        }
        yield from table("", "", rows=((key, code(fact)) for key, fact in facts.items() if fact))
        yield from option_table(cls)


def statements(cls: type[Pass], attribute: str) -> str:
    """Return what the conditions that a pass requires or ensures say, with their names."""
    conditions = default_conditions(cls, attribute)
    return "; ".join(f"{each.statement} ({each})" for each in conditions)


def filecheck_file(cls: type[Pass]) -> str:
    """Return the FileCheck file of a pass, which mirrors its module; empty if there is none."""
    module = cls.__module__.removeprefix("passline.passes.").replace(".", "/")
    for path in (module, module.rpartition("/")[0]):
        file = Path("tests/filecheck/passes", path).with_suffix(".mlir")
        if (ROOT / file).exists():
            return file.as_posix()
    return ""


def option_table(cls: type[ModulePass]) -> Iterator[str]:
    """Yield the table of the options of a pass."""
    docs = field_docs(cls)

    def row(option: PassOption) -> tuple[str, ...]:
        default = "" if option.default is MISSING else to_text(option.default)
        help = option.help or docs.get(option.field, "")
        return code(option.name), code(option.type_text), code(default), cell(help)

    yield from table("option", "type", "default", "", rows=map(row, pass_options(cls)))


# Operations


def relax() -> Iterator[str]:
    """Yield the page of the operations of relax, by family."""
    yield from ("# Operations of relax", "")
    yield from ("What they compute where tools disagree is in [relax](../relax.md).", "")
    for family in FAMILIES:
        title = family.__name__.rpartition("relax.")[2].replace("_", " ").replace(".", ": ")
        yield from (f"## {title.capitalize()}", "")
        for op in operations(family):
            yield from operation(op)


def tir() -> Iterator[str]:
    """Yield the page of the operations of tir."""
    yield from ("# Operations of tir", "")
    yield from ("Their semantics and passes are in [tir](../tir.md).", "")
    for op in Tir.operations:
        yield from operation(op)


def operation(cls: type[Operation]) -> Iterator[str]:
    """Yield the section of an operation."""
    assert issubclass(cls, IRDLOperation)
    definition = cls.get_irdl_definition()
    yield from (f"### {cls.name}", "")
    yield from markdown(doc_of(cls))
    if form := syntax(cls):
        yield from ("```text", form, "```", "")
    if shown := example(cls):
        yield from ("Example:", "", "```mlir", shown, "```", "")
    yield from table(
        *("", "", "type"),
        rows=((kind, code(name), cell(type)) for kind, name, type in values(definition)),
    )
    yield from table(
        *("property", "type", "default"),
        rows=(
            (code(name), cell(type), default if default in STATES else code(default))
            for name, type, default in properties(definition)
        ),
    )
    yield from table("", "", rows=facts_of(cls))


STATES = ("required", "optional")
"""The texts in place of the default of a property that has none."""


def facts_of(cls: type[IRDLOperation]) -> Iterator[tuple[str, str]]:
    """Yield the rows of what passes know about an operation."""
    definition = cls.get_irdl_definition()
    is_view = issubclass(cls, interfaces.View)
    kernel = "not needed" if is_view else "yes" if cls in RELAX else ""
    offered = {getattr(interfaces, name) for name in interfaces.__all__}
    facts = {
        "regions": ", ".join(name for name, _ in definition.regions),
        "interfaces": ", ".join(base.__name__ for base in cls.__mro__ if base in offered),
        "kernel": kernel,
        "traits": ", ".join(sorted(type(trait).__name__ for trait in definition.traits.traits)),
    }
    return ((key, code(fact)) for key, fact in facts.items() if fact)


# Instruments, errors, options


def instrument_classes() -> Iterator[str]:
    """Yield the page of the instruments."""
    yield from ("# Instruments", "")
    yield "Classes of `passline.instruments`. The options of the command line that add"
    yield from ("them are in [passline-opt](../passline-opt.md#looking-at-passes).", "")
    for name in dir(instruments):
        cls: object = getattr(instruments, name)
        if isinstance(cls, type) and issubclass(cls, PassInstrument) and cls is not PassInstrument:
            yield from (f"## {name}", "")
            yield from ("```python", f"{name}{parameters(cls)}", "```", "")
            yield from markdown(doc_of(cls))
            docs = field_docs(cls)
            public = [(code(field), cell(doc)) for field, doc in docs.items() if field[0] != "_"]
            yield from table("field", "", rows=public)
    yield from ("## PassInstrument", "", "The base class, with the hooks:", "")
    hooks = [(name, hook) for name, hook in vars(PassInstrument).items() if callable(hook)]
    yield from table(
        *("hook", ""),
        rows=(
            (code(f"{name}({', '.join([*inspect.signature(hook).parameters][1:])})"), cell(doc))
            for name, hook in hooks
            if (doc := doc_of(hook))
        ),
    )


def parameters(cls: type) -> str:
    """Return the parameters of the constructor of a class, as they are written."""
    given = inspect.signature(cls)
    items = [re.sub(r": '([^']*)'", r": \1", str(item)) for item in given.parameters.values()]
    kinds = [item.kind for item in given.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        items.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    short = f"({', '.join(items)})"
    return short if len(short) < 70 else "(\n    " + ",\n    ".join(items) + ",\n)"


def errors() -> Iterator[str]:
    """Yield the page of the exceptions and the exit statuses."""
    yield from ("# Errors and exit statuses", "", "## Exit statuses", "")
    yield from table("status", "", rows=((f"{status}", cell(doc)) for status, doc in statuses()))
    yield from ("## Exceptions", "")
    yield "Each exception that Passline raises on purpose is a `PasslineError`. An exception out of"
    yield from ("a pass has notes with the pass, its position and the function.", "")
    import_all()
    for cls in sorted(subclasses(PasslineError), key=lambda cls: cls.__name__):
        bases = ", ".join(base.__name__ for base in cls.__bases__)
        yield from (f"### {cls.__name__}", "", f"`{cls.__module__}`, derived from `{bases}`.", "")
        yield from markdown(doc_of(cls))


def statuses() -> Iterator[tuple[int, str]]:
    """Yield the exit statuses, with the strings below the constants of `failures.py`."""
    yield 0, "Success."
    body = ast.parse(inspect.getsource(failures)).body
    for statement, below in pairwise(body):
        match statement, below:
            case ast.Assign(value=ast.Constant(int(status))), ast.Expr(ast.Constant(str(doc))):
                yield status, doc
            case _:
                pass


def import_all() -> None:
    """Import all modules of Passline, so that all subclasses are known."""
    for package in ("compiler", "passes", "passmanager", "tools"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if not {"template", "vendor"} & {*parts}:
                import_module(".".join(("passline", *parts)).removesuffix(".__init__"))


def subclasses(cls: type) -> set[type]:
    """Return a class and those of its subclasses that are Passline's and public."""
    public = cls.__module__.startswith("passline.") and not cls.__name__.startswith("_")
    found: set[type] = {cls} if public else set()
    for derived in cls.__subclasses__():
        found |= subclasses(derived)
    return found


def options() -> Iterator[str]:
    """Yield the page of the options of the commands, as `--help` prints them."""
    os.environ["COLUMNS"] = "100"
    yield from ("# Options of the commands", "", f"Of Passline {passline.__version__}.", "")
    tools = (PasslineOptMain, PasslineRunMain, PasslineCompileMain, PasslineReduceMain)
    for tool in (*tools, PasslineBisectMain, PasslineTuneMain):
        needed: dict[type[object], list[str]] = {
            PasslineReduceMain: ["-p", "cse"],
            PasslineBisectMain: ["-p", "cse"],
            PasslineCompileMain: ["--emit=ll"],
        }
        parser = tool(args=["x.mlir", *needed.get(tool, [])])
        name = f"passline-{tool.__name__.removeprefix('Passline').removesuffix('Main').lower()}"
        parser.arg_parser.prog = name
        yield from (f"## {name}", "", "```text", parser.arg_parser.format_help(), "```", "")
