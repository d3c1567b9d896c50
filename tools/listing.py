"""The output of the options that ask for information: `--list-passes`, `--help-pass` and so on."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import get_args

from xdsl.passes import ModulePass

from ..passmanager.anchors import anchor_of
from ..passmanager.base import Pass
from ..passmanager.config import config_types
from ..passmanager.errors import PassNotFoundError
from ..passmanager.instrument import PassInstrument
from ..passmanager.names import Rounding, find_name, name_key, unknown_pass
from ..passmanager.options import PassOption, pass_options, to_text
from .command_line.short_help import filled, output_width, rows, terminal_width
from .extension import ToolExtension

Passes = Mapping[str, Callable[[], type[ModulePass]]]


def answer(
    args: argparse.Namespace,
    passes: Passes,
    dialects: Iterable[str],
    extensions: Iterable[ToolExtension],
) -> str | None:
    """Return the information that the options ask for instead of a run, or None."""
    if args.list_passes == "short":
        return "\n".join(list_passes_shortly(passes, dialects)).rstrip()
    if args.list_passes:
        return "\n".join(list_passes(passes))
    if args.help_pass is not None:
        return "\n".join(help_pass(args.help_pass, passes))
    if args.list_dialects:
        return "\n".join(sorted(dialects))
    if args.list_instruments:
        return "\n".join(list_instruments(extensions))
    if args.list_conditions:
        return "\n".join(list_conditions())
    if args.list_configs:
        return "\n".join(list_configs())
    return None


def list_passes_shortly(passes: Passes, dialects: Iterable[str]) -> Iterator[str]:
    """Yield each pass with its summary, by project and dialect; of those of xDSL, a terminal shows
    the names only."""
    known, fits = set(dialects), output_width()
    groups: dict[tuple[int, str], list[str]] = {}
    for name in sorted(passes):
        groups.setdefault(_group(name, passes[name](), known), []).append(name)
    headed = False
    for (rank, group), names in sorted(groups.items()):
        if rank == _XDSL and not headed:
            headed = True
            title = "xDSL's, by the dialect in their names (--help-pass=NAME describes one):"
            yield from filled(title, fits)
        if rank == _XDSL and fits is not None:
            yield from rows([(f"{group:{min(18, fits // 4)}}", ", ".join(names))], fits)
        else:
            yield f"{group}:"
            sentences = {name: summary(passes[name]()).partition("; source:")[0] for name in names}
            pairs = [
                (name, f"{s.removesuffix('.')}." if s else "") for name, s in sentences.items()
            ]
            yield from rows(pairs, fits)
            yield ""


_OURS, _PLUGIN, _XDSL = range(3)
"""The order of the groups."""


def _group(name: str, cls: type[ModulePass], dialects: Container[str]) -> tuple[int, str]:
    """Return the group of a pass: its rank, and its title."""
    package, _, place = cls.__module__.partition(".")
    if package == "xdsl":
        return _XDSL, _dialect_in(name, dialects)
    if package != __name__.partition(".")[0]:
        return _PLUGIN, package
    folder = place.removeprefix("passes.").partition(".")[0]
    return _OURS, {"generic": "any dialect", "pipelines": "pipelines"}.get(folder, folder)


def _dialect_in(name: str, dialects: Container[str]) -> str:
    """Return the first dialect in the name of a pass, `arith` of `convert-arith`, or `other`."""
    words = name.split("-")
    for start in range(len(words)):
        for end in range(len(words), start, -1):
            if (part := "_".join(words[start:end])) in dialects:
                return part
    return "other"


def list_passes(passes: Passes) -> Iterator[str]:
    """Yield for each pass its name, level and requirements, then its summary and options."""
    width, fits = max(map(len, passes), default=0), output_width()
    for name in sorted(passes):
        cls = passes[name]()
        yield from filled(_metadata(cls), fits, " " * 8, f"{name:{width}}  ")
        if text := summary(cls):
            yield from filled(text, fits, " " * 4)
        for option in pass_options(cls):
            yield from filled(_option(option), fits, " " * 8, " " * 4)


def _metadata(cls: type[ModulePass]) -> str:
    if not issubclass(cls, Pass):
        return ""
    requires = f"  requires {', '.join(cls.required)}" if cls.required else ""
    return f"level {cls.opt_level}{requires}"


def _doc(cls: type) -> str:
    """Return the docstring of a class; empty for the one that @dataclass generates."""
    doc = cls.__dict__.get("__doc__") or ""
    return "" if doc.startswith(f"{cls.__name__}(") else inspect.cleandoc(doc)


def summary(cls: type) -> str:
    """Return the first sentence of the docstring of a class as one line."""
    paragraph = " ".join(_doc(cls).split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s+(?=[A-Z])", paragraph)[0]


def _option(option: PassOption) -> str:
    default = ""
    if option.default is not dataclasses.MISSING:
        default = f" = {to_text(option.default) or '()'}"
    return f"{option.name}: {option.type_text}{default}"


def help_pass(name: str, passes: Passes) -> Iterator[str]:
    """Yield the description of a pass: docstring, level, requirements, options, keys of `--config`.

    Errors: PassNotFoundError with the nearest name.
    """
    names = {name_key(known): known for known in passes}
    if (found := find_name(name, names)) is None:
        raise PassNotFoundError(f"there is no pass '{name}'{unknown_pass(name, passes)}")
    cls = passes[found]()
    yield found
    if doc := _doc(cls):
        yield textwrap.indent(doc, "  ")
    yield ""
    if issubclass(cls, Pass):
        preserved = [p if isinstance(p, str) else p.__name__ for p in cls.preserves]
        yield f"  level: {cls.opt_level}"
        yield f"  required: {', '.join(cls.required) or 'nothing'}"
        yield f"  preserves: {', '.join(preserved) or 'nothing'}"
        if cls.after or cls.before or cls.stage:
            from ..passmanager.placement import placement_of

            yield f"  placed: {placement_of(cls)}"
        yield from _conditions(cls, "requires")
        yield from _conditions(cls, "ensures")
        if (rounding := Rounding.of(cls.rounds)) is not None:
            yield f"  rounds: {rounding.text}"
        for counter, text in sorted(cls.statistics.items()):
            yield f"  counts {counter}: {text}"
        if cls.changes_interface:
            yield "  changes the interface: public functions, or their parameters"
    yield f"  runs on: {anchor_of(cls)}"
    yield f"  defined in: {cls.__module__}.{cls.__name__}"
    yield from _help_options(found, cls)


def _conditions(cls: type[Pass], attribute: str) -> Iterator[str]:
    """Yield a line for each condition that passes of a class require or ensure."""
    if getattr(cls, attribute):
        from ..passmanager.conditions import default_conditions

        for condition in default_conditions(cls, attribute):
            yield f"  {attribute} that {condition.statement} ({condition})"


def _help_options(name: str, cls: type[ModulePass]) -> Iterator[str]:
    options = pass_options(cls)
    if not options:
        yield "  options: none"
        return
    first = options[0]
    yield f"  options, as {name}{{{first.name}=...}} or --config {name}.{first.name}=...:"
    docs = field_docs(cls)
    for option in options:
        yield f"    {_option(option)}"
        if doc := option.help or docs.get(option.field, ""):
            yield from filled(" ".join(doc.split()), min(88, terminal_width()), " " * 8)
        for type_ in (option.type, *get_args(option.type)):
            if isinstance(type_, type) and dataclasses.is_dataclass(type_):
                yield from (f"        {_option(inner)}" for inner in pass_options(type_))


def field_docs(cls: type) -> dict[str, str]:
    """Return the strings below the fields in the source of a class: field name -> text."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return {}
    (definition,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    found: dict[str, str] = {}
    for field, below in zip(definition.body, definition.body[1:]):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id)), ast.Expr(ast.Constant(str(doc))):
                found[id] = doc
            case _:
                pass
    return found


def list_instruments(extensions: Iterable[ToolExtension]) -> Iterator[str]:
    """Yield a line for each built-in instrument, and for those of extensions."""
    from ..passmanager import instruments

    offered: list[object] = [getattr(instruments, name) for name in instruments.__all__]
    classes = [c for c in offered if isinstance(c, type) and issubclass(c, PassInstrument)]
    classes += [cls for extension in extensions for cls in extension.instrument_classes()]
    classes.sort(key=lambda cls: cls.__name__)
    width = max(len(cls.__name__) for cls in classes)
    for cls in classes:
        first = f"{cls.__name__:{width}}  "
        yield from filled(summary(cls), output_width(), " " * len(first), first)


def list_conditions() -> Iterator[str]:
    """Yield for each condition what it states, and the passes after which it holds."""
    from ..passmanager.condition_checks import establishing_passes, registered_conditions
    from ..passmanager.conditions import GENERIC, MAKERS

    for name in MAKERS:
        yield f"{name}(NAME, ...)"
    for condition in (*GENERIC, *registered_conditions()):
        yield from filled(condition.statement, output_width(), " " * 4, f"{condition}: ")
        if passes := ", ".join(establishing_passes(condition)):
            yield f"    after {passes}"


def list_configs() -> Iterator[str]:
    """Yield a line for each key of `--config`, with its type."""
    types = config_types()
    width = max(map(len, types), default=0)
    for key, description in types.items():
        yield f"{key:{width}}  {description['type']}"
