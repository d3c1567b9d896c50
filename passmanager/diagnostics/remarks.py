"""Remarks: optimization remarks of passes as data, their selection, and their text and YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from xdsl.ir import Operation

from ..ir.symbols import symbol_of
from ..ir.walk import ancestors
from ..registration.names import did_you_mean
from ..run import PassFrame
from .diagnostics import Diagnostic, Severity, Where, op_at, place_in_file

__all__ = [
    "Argument",
    "Remark",
    "RemarkFilter",
    "RemarkKind",
    "make_remark",
    "yaml_text",
]

Argument = str | int | float
"""The value of an argument of a remark."""


class RemarkKind(Enum):
    """The kind of a remark; the values are LLVM's words."""

    PASSED = "Passed"
    MISSED = "Missed"
    FAILED = "Failure"
    ANALYSIS = "Analysis"


@dataclass
class Remark(Diagnostic):
    """A remark as data; its message is the whole remark as text, in MLIR's format."""

    kind: RemarkKind = field(kw_only=True)
    name: str = field(kw_only=True)
    pass_name: str = field(kw_only=True)
    function: str = field(kw_only=True)
    """The symbol of the function of its subject, empty if unknown."""
    arguments: dict[str, Argument] = field(kw_only=True)


class RemarkFilter:
    """A selection of remarks by kind and pass.

    `patterns` has a regular expression, searched in the names of passes, for each kind, or for all
    kinds under `all`; a single string is for all kinds. Errors: ValueError for an unknown kind or
    an invalid regular expression.
    """

    def __init__(self, patterns: str | Mapping[str, str] | None = None) -> None:
        given = {"all": patterns} if isinstance(patterns, str) else patterns or {}
        self._patterns: list[tuple[frozenset[RemarkKind], re.Pattern[str]]] = []
        for name, pattern in given.items():
            try:
                self._patterns.append((_kinds_called(name), re.compile(pattern)))
            except re.error as error:
                raise ValueError(f"remark_filter: '{pattern}' for {name}: {error}") from None

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def kinds(self, pass_name: str) -> frozenset[RemarkKind]:
        """Return the kinds of remarks that are wanted from a pass."""
        found = [kinds for kinds, pattern in self._patterns if pattern.search(pass_name)]
        return frozenset[RemarkKind]().union(*found)


def _kinds_called(name: str) -> frozenset[RemarkKind]:
    known = {kind.name.lower(): frozenset([kind]) for kind in RemarkKind}
    known["all"] = frozenset(RemarkKind)
    if name not in known:
        hint = did_you_mean(name, known) or f"; choose from {', '.join(known)}"
        raise ValueError(f"remark_filter: unknown kind of remarks '{name}'{hint}")
    return known[name]


def make_remark(
    frame: PassFrame,
    kind: RemarkKind,
    where: Where,
    name: str,
    message: str,
    arguments: Mapping[str, Argument],
    scope: Operation | None = None,
) -> Remark:
    """Return a remark of the pass of `frame` about `where`; `scope` is the op that held `where`, if
    that has been erased.
    """
    values: dict[str, Argument] = {"Remark": message}
    if isinstance(where, Operation):
        values["Op"] = where.name
    values.update(arguments)
    pass_name = frame.info.name
    function = _function_of(scope or op_at(where)) or _function_of(frame.function)
    parts = [f"[{kind.value}] {name}", f"Category:{pass_name}"]
    parts += [f"Function={function}"] if function else []
    parts += [", ".join(f"{key}={_shown(value)}" for key, value in values.items())]
    return Remark(
        Severity.REMARK,
        " | ".join(parts),
        place_in_file(where),
        kind=kind,
        name=name,
        pass_name=pass_name,
        function=function,
        arguments=values,
    )


def _function_of(op: Operation | None) -> str:
    """Return the symbol of the innermost symbol op around `op`, or `op` itself; empty if none."""
    return next((name for around in ancestors(op) if (name := symbol_of(around))), "")


def _shown(value: Argument) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


# YAML


def yaml_text(remarks: Iterable[Remark]) -> str:
    """Return the remarks in the YAML format of LLVM's `-pass-remarks-output` and of MLIR."""
    return "".join(f"{line}\n" for remark in remarks for line in _yaml_lines(remark))


def _yaml_lines(remark: Remark) -> Iterator[str]:
    yield f"--- !{remark.kind.value}"
    yield _yaml_entry("Pass", _scalar(remark.pass_name))
    yield _yaml_entry("Name", _scalar(remark.name))
    if (loc := remark.location) is not None:
        file, line, column = _scalar(loc.filename.data), loc.line.data, loc.column.data
        place = f"{{ File: {file}, Line: {line}, Column: {column} }}"
        yield _yaml_entry("DebugLoc", place)
    # LLVM's reader rejects a remark without a function.
    yield _yaml_entry("Function", _scalar(remark.function or "<unknown function>"))
    yield "Args:"
    for key, value in remark.arguments.items():
        yield f"  - {_yaml_entry(_scalar(key), _scalar(str(value)))}"
    yield "..."


def _yaml_entry(key: str, value: str) -> str:
    return f"{f'{key}:':<16} {value}"


_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*( [\w./-]+)*", re.ASCII)
_NOT_STRINGS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def _scalar(text: str) -> str:
    """Return a text as a YAML scalar: plain where no reader takes it for something else, else
    quoted.
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_STRINGS:
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    """Return a character as written in double quotes."""
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    return (
        f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}" if code < 65536 else f"\\U{code:08X}"
    )
