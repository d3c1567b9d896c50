"""Remarks: what passes did and what they could not do, by kind, for those who want to know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from xdsl.ir import Operation

from .diagnostics import Diagnostic, Severity, Where, op_at, place_in_file
from .info import did_you_mean
from .ir.symbols import symbol_of
from .run import Frame

__all__ = [
    "Argument",
    "Remark",
    "RemarkFilter",
    "RemarkKind",
    "Remarks",
    "make_remark",
    "yaml_text",
]

Argument = str | int | float
"""What a remark may say beside its message."""


class RemarkKind(Enum):
    """What a pass says of a transformation; the values are LLVM's words."""

    PASSED = "Passed"
    MISSED = "Missed"
    FAILED = "Failure"
    ANALYSIS = "Analysis"


@dataclass
class Remark(Diagnostic):
    """A remark as data; its message is all of it as text, in MLIR's format."""

    kind: RemarkKind = field(kw_only=True)
    name: str = field(kw_only=True)
    pass_name: str = field(kw_only=True)
    function: str = field(kw_only=True)
    """The function that it is about, empty if that is not known."""
    arguments: dict[str, Argument] = field(kw_only=True)


class RemarkFilter:
    """Which kinds of remarks are wanted of which passes.

    `patterns` has a regular expression, to be found in the names of passes, for each kind, or under
    `all` for every kind; a string is one for all. Errors: ValueError for a kind that there is not,
    and for what is no regular expression.
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
        """The kinds of remarks that are wanted of a pass."""
        found = [kinds for kinds, pattern in self._patterns if pattern.search(pass_name)]
        return frozenset[RemarkKind]().union(*found)


def _kinds_called(name: str) -> frozenset[RemarkKind]:
    known = {kind.name.lower(): frozenset([kind]) for kind in RemarkKind}
    known["all"] = frozenset(RemarkKind)
    if name not in known:
        hint = did_you_mean(name, known) or f"; choose from {', '.join(known)}"
        raise ValueError(f"remark_filter: there is no kind of remarks '{name}'{hint}")
    return known[name]


class Remarks:
    """Where the pass of `frame` makes remarks of these kinds; false if there are none, so that a
    pass need not find out what nobody wants to know.

    Each has a name, the same for all that say the same, a message, and arguments as data. Source:
    MLIR's `remark::passed`, `missed`, `failed` and `analysis`.
    """

    def __init__(
        self, frame: Frame | None = None, kinds: frozenset[RemarkKind] = frozenset()
    ) -> None:
        self._frame = frame
        self._kinds = kinds

    def __bool__(self) -> bool:
        return bool(self._kinds)

    def passed(self, where: Where, name: str, message: str, /, **arguments: Argument) -> None:
        """Say what has been done."""
        self.emit(RemarkKind.PASSED, where, name, message, arguments)

    def missed(self, where: Where, name: str, message: str, /, **arguments: Argument) -> None:
        """Say what has not been done, and why."""
        self.emit(RemarkKind.MISSED, where, name, message, arguments)

    def failed(self, where: Where, name: str, message: str, /, **arguments: Argument) -> None:
        """Say what has been tried in vain, and why."""
        self.emit(RemarkKind.FAILED, where, name, message, arguments)

    def analysis(self, where: Where, name: str, message: str, /, **arguments: Argument) -> None:
        """Say what has been found out."""
        self.emit(RemarkKind.ANALYSIS, where, name, message, arguments)

    def emit(
        self,
        kind: RemarkKind,
        where: Where,
        name: str,
        message: str,
        arguments: Mapping[str, Argument],
        scope: Operation | None = None,
    ) -> None:
        """Make a remark, if its kind is wanted; `scope` is what holds, or held, an op that may be
        erased by now.
        """
        frame = self._frame
        if frame is not None and kind in self._kinds:
            frame.diagnostics.add(make_remark(frame, kind, where, name, message, arguments, scope))


def make_remark(
    frame: Frame,
    kind: RemarkKind,
    where: Where,
    name: str,
    message: str,
    arguments: Mapping[str, Argument],
    scope: Operation | None = None,
) -> Remark:
    """Make a remark of the pass of `frame`; `scope` is the op that held `where`, if
    that is erased by now."""
    said: dict[str, Argument] = {"Remark": message}
    if isinstance(where, Operation):
        said["Op"] = where.name
    said.update(arguments)
    pass_name = frame.info.name
    function = _function_of(scope or op_at(where)) or _function_of(frame.function)
    parts = [f"[{kind.value}] {name}", f"Category:{pass_name}"]
    parts += [f"Function={function}"] if function else []
    parts += [", ".join(f"{key}={_shown(value)}" for key, value in said.items())]
    return Remark(
        Severity.REMARK,
        " | ".join(parts),
        place_in_file(where),
        kind=kind,
        name=name,
        pass_name=pass_name,
        function=function,
        arguments=said,
    )


def _function_of(op: Operation | None) -> str:
    """The name of the symbol that `op` is, or is in; empty if there is none."""
    while op is not None:
        if name := symbol_of(op):
            return name
        op = op.parent_op()
    return ""


def _shown(value: Argument) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


# YAML


def yaml_text(remarks: Iterable[Remark]) -> str:
    """The remarks as LLVM's `-pass-remarks-output` and MLIR write them, for the tools that read
    these.
    """
    return "".join(f"{line}\n" for remark in remarks for line in _yaml_lines(remark))


def _yaml_lines(remark: Remark) -> Iterator[str]:
    yield f"--- !{remark.kind.value}"
    yield _yaml_entry("Pass", _scalar(remark.pass_name))
    yield _yaml_entry("Name", _scalar(remark.name))
    if (loc := remark.location) is not None:
        file, line, column = _scalar(loc.filename.data), loc.line.data, loc.column.data
        place = f"{{ File: {file}, Line: {line}, Column: {column} }}"
        yield _yaml_entry("DebugLoc", place)
    # LLVM takes no remark without a function.
    yield _yaml_entry("Function", _scalar(remark.function or "<unknown function>"))
    yield "Args:"
    for key, value in remark.arguments.items():
        yield f"  - {_yaml_entry(_scalar(key), _scalar(str(value)))}"
    yield "..."


def _yaml_entry(key: str, value: str) -> str:
    return f"{f'{key}:':<16} {value}"


_PLAIN = re.compile(r"[A-Za-z_/][\w./-]*( [\w./-]+)*", re.ASCII)
_OTHER_THAN_TEXT = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def _scalar(text: str) -> str:
    """A text in YAML: as it is where that cannot be misread, else in quotes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _OTHER_THAN_TEXT:
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    """A character between double quotes."""
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    return (
        f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}" if code < 65536 else f"\\U{code:08X}"
    )
