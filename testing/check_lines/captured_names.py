"""FileCheck variables for the names in printed IR: SSA values, blocks, aliases of attributes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

__all__ = ["CapturedNames", "escape"]

_NAME = r"(?:\d+|[A-Za-z_$.-][\w$.-]*)"
_TOKENS = re.compile(
    rf'"(?:[^"\\]|\\.)*"|//.*|(?P<sigil>[%^]|[#!](?=[A-Za-z_]))(?P<name>{_NAME})|[{{}}]'
)
_VALUE = rf"%{_NAME}(?::\d+)?"
_RESULTS = re.compile(rf"\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*=\s")
_ESCAPED = re.compile(r"\[\[|\{\{")


def escape(text: str) -> str:
    """Return text as FileCheck matches it literally: `[[` and `{{` would begin a block."""
    return _ESCAPED.sub(lambda match: r"{{\[\[}}" if match[0] == "[[" else r"{{\{\{}}", text)


class CapturedNames:
    """The names that are in scope at a line of printed IR, each with its FileCheck variable.

    A name is captured where it first appears, `%[[ARG0:.*]]`, and matched below, `%[[ARG0]]`. At
    the end of a region its names are forgotten, as printers use them again for other values.
    """

    def __init__(self, aliases: Collection[str]) -> None:
        """`aliases` are the names that the text defines: `#map`, `!type`."""
        self._aliases = aliases
        self._alias_variables: dict[str, str] = {}
        self._taken_aliases: set[str] = set()
        self._variables: dict[str, str] = {}
        self._regions: list[dict[str, str | None]] = [{}]  # what a region hides
        self._undefined: set[str] = set()  # used before their definition
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def enter_symbol(self) -> None:
        """Forget all values and blocks: the next line begins a top-level symbol operation."""
        self._variables, self._regions, self._undefined = {}, [{}], set()
        self._taken, self._numbers = set(), {}

    def pattern(self, line: str) -> str:
        """Return the pattern that matches a line of the text. Lines are given in their order."""
        parts = [*self._parts(line)]
        return "".join(parts)

    def _parts(self, line: str) -> Iterator[str]:
        results = _RESULTS.match(line)
        results_end = results.end() if results else 0
        is_block = line.lstrip().startswith("^")
        at_start = self._regions[-1]
        fresh: list[str] = []
        end = 0
        for match in _TOKENS.finditer(line):
            if match[0] == "{":
                self._regions.append({})
            elif match[0] == "}":
                self._leave_region()
            if not match["sigil"] or (match["sigil"] in "#!" and match[0] not in self._aliases):
                continue
            yield escape(line[end : match.start()])
            end = match.end()
            if match["sigil"] in "#!":
                yield self._alias(match[0])
            elif match.start() < results_end:
                yield self._result(match[0], at_start)
            elif (variable := self._variables.get(match[0])) is not None:
                yield f"{match['sigil']}[[{variable}]]"
            else:
                fresh.append(match[0])
                yield self._capture(
                    match[0], at_label=is_block and not line[: match.start()].strip()
                )
        yield escape(line[end:])
        # Names on a line that opens a region are the region's arguments.
        for name in fresh:
            self._regions[-1].setdefault(name, None)
        if not is_block and not line.rstrip().endswith("{"):
            self._undefined.update(fresh)

    def _result(self, name: str, region: dict[str, str | None]) -> str:
        """Return the pattern of a name in a list of results, which is defined there."""
        if name in self._undefined:
            self._undefined.discard(name)
            return f"%[[{self._variables[name]}]]"
        region.setdefault(name, self._variables.get(name))
        return self._capture(name)

    def _capture(self, name: str, *, at_label: bool = False) -> str:
        """Return the pattern of the first appearance of a name.

        All names of a line are in its pattern, so that `.*` cannot match more than one; but the
        label of a block may have a comment behind it.
        """
        variable = self._variables[name] = self._unique(_base(name))
        return f"{name[0]}[[{variable}:{'[^:]+' if at_label else '.*'}]]"

    def _alias(self, name: str) -> str:
        """Return the pattern of an alias. Its variable is global, as `$` says."""
        if (variable := self._alias_variables.get(name)) is not None:
            return f"{name[0]}[[{variable}]]"
        variable = f"${_base(name)}"
        if variable in self._taken_aliases:
            variable = f"{variable}_{len(self._taken_aliases)}"
        self._taken_aliases.add(variable)
        self._alias_variables[name] = variable
        return f"{name[0]}[[{variable}:.*]]"

    def _unique(self, base: str) -> str:
        """Return `base`, with a number if it is the variable of another value."""
        variable = base
        while variable in self._taken:
            number = self._numbers[base] = self._numbers.get(base, 0) + 1
            variable = f"{base}_{number}"
        self._taken.add(variable)
        return variable

    def _leave_region(self) -> None:
        """Forget the names of a region, and restore those that they hid."""
        hidden = self._regions.pop()
        if not self._regions:  # a brace too many: the text is no IR
            self._regions.append({})
        for name, variable in hidden.items():
            self._undefined.discard(name)
            if variable is None:
                self._variables.pop(name, None)
            else:
                self._variables[name] = variable


def _base(name: str) -> str:
    """Return the variable for a name: `%arg0` is `ARG0`, `%0` is `V0`, `^bb1` is `BB1`."""
    word = re.sub(r"\W", "_", name[1:]).upper()
    return f"{'V' if name[0] == '%' else 'BB'}{word}" if word[0].isdigit() else word
