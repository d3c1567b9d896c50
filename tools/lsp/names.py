"""The names in a text of MLIR: where values, blocks and symbols are defined and used.

They are found from tokens and brackets alone, so that a text that does not parse has them too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ...passmanager.ir.text.highlight import MLIR_TOKENS

VALUE, BLOCK, SYMBOL = "Name.Variable", "Name.Label", "Name.Function"
OP, WORD, STRING, TYPE = "Keyword", "Name", "String", "Keyword.Type"
NUMBERS = ("Number.Hex", "Number.Integer", "Number.Float")

_KINDS = [kind for _, kind in MLIR_TOKENS]
_scan = re.compile("|".join(f"({pattern})" for pattern, _ in MLIR_TOKENS)).finditer
_LEFT_OUT = ("Text.Whitespace", "Comment")

_BARE_OPS = frozenset(("module", "return", "call", "func", "yield"))
"""The operations that are written without their dialect, and that no clause of another one begins
with."""

NAME_OF_SYMBOL = ("sym_name",)
"""The properties that name a symbol in generic form."""


class Lexeme(NamedTuple):
    """A token, with its kind in the table of tokens."""

    kind: str
    start: int
    end: int
    text: str


def scan(text: str) -> list[Lexeme]:
    """Return the tokens of a text, without comments and white space."""
    kinds = _KINDS
    return [
        Lexeme(kind, match.start(), match.end(), match[0])
        for match in _scan(text)
        if (kind := kinds[(match.lastindex or 1) - 1]) not in _LEFT_OUT
    ]


@dataclass(eq=False)
class NamedScope:
    """A region, or the whole text; names of inner scopes are not visible outside."""

    outer: NamedScope | None
    holder: OpText | None
    start: int
    end: int = -1
    names: dict[str, list[Name]] = field(default_factory=dict[str, "list[Name]"])

    def around(self) -> Iterator[NamedScope]:
        """Yield the scope and those around it, the innermost first."""
        scope: NamedScope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


@dataclass(eq=False)
class OpText:
    """The text of an operation, from its results to its end, with its regions."""

    name: str
    start: int
    """The start of the first result, or of the name."""
    name_start: int
    name_end: int
    scope: NamedScope
    end: int = -1
    symbol: Name | None = None
    results: list[Name] = field(default_factory=list["Name"])
    regions: list[NamedScope] = field(default_factory=list[NamedScope])


Role = Literal["result", "argument", "block", "symbol", "use"]


@dataclass(eq=False)
class Name:
    """A name at a place: of a value, a block or a symbol, with its sigil; of results that share a
    name, `%x:2`, `%x` is the name."""

    text: str
    start: int
    end: int
    role: Role
    scope: NamedScope
    op: OpText | None
    index: int = 0
    """Of a result, its number; of a use `%x#1`, the number after the sign."""


@dataclass
class NameIndex:
    """The operations, scopes and names of a text, each in the order of the text."""

    tokens: Sequence[Lexeme]
    top: NamedScope
    scopes: list[NamedScope] = field(default_factory=list[NamedScope])
    ops: list[OpText] = field(default_factory=list[OpText])
    names: list[Name] = field(default_factory=list[Name])

    def name_at(self, offset: int) -> Name | None:
        """Return the name at an offset, or that ends there."""
        found = [name for name in self.names if name.start <= offset <= name.end]
        return found[-1] if found else None

    def op_at(self, offset: int) -> OpText | None:
        """Return the innermost operation whose text is around an offset."""
        found = [op for op in self.ops if op.start <= offset <= op.end]
        return found[-1] if found else None

    def op_named_at(self, offset: int) -> OpText | None:
        """Return the operation whose name is at an offset."""
        return next((op for op in self.ops if op.name_start <= offset <= op.name_end), None)

    def scope_at(self, offset: int) -> NamedScope:
        """Return the innermost scope around an offset."""
        found = [scope for scope in self.scopes if scope.start <= offset <= scope.end]
        return found[-1] if found else self.top

    def definition(self, name: Name) -> Name | None:
        """Return the definition of a value or a block that `name` refers to, or None."""
        if name.role not in ("use", "symbol"):
            return name
        for scope in name.scope.around():
            if known := scope.names.get(name.text):
                before = [each for each in known if each.start <= name.start]
                return before[-1] if before else known[0]
        return None

    def visible(self, offset: int) -> list[Name]:
        """Return the values that are defined before an offset in the scopes around it, the nearest
        first."""
        found: dict[str, Name] = {}
        for scope in self.scope_at(offset).around():
            names = [n for known in scope.names.values() for n in known if n.end < offset]
            for name in sorted(names, key=lambda name: -name.start):
                if name.role in ("result", "argument"):
                    found.setdefault(name.text, name)
        return [*found.values()]


def index_of(text: str, defines_symbol: Callable[[str], bool]) -> NameIndex:
    """Return the index of a text; `defines_symbol` tells of the name of an operation whether the
    first symbol in its text is its own name."""
    return _Indexer(text, defines_symbol).run()


@dataclass
class _Bracket:
    """An open bracket: the region that it opens, if it does, and the values in it so far."""

    kind: str
    region: NamedScope | None
    names: list[Name] = field(default_factory=list[Name])
    of_symbol: bool = False
    """Whether it is the list of parameters after the name of a symbol."""


class _Indexer:
    """The making of an index, in one walk over the tokens."""

    def __init__(self, text: str, defines_symbol: Callable[[str], bool]) -> None:
        self._text = text
        self._tokens = scan(text)
        self._defines_symbol = defines_symbol
        top = NamedScope(None, None, 0, len(text))
        self._index = NameIndex(self._tokens, top, [top])
        self._scope = top
        self._op: OpText | None = None
        self._brackets: list[_Bracket] = []
        self._pending: list[Name] = []  # arguments of the next region of the operation
        self._at = 0

    def run(self) -> NameIndex:
        """Return the index of the text."""
        tokens = self._tokens
        while self._at < len(tokens):
            token = tokens[self._at]
            if self._is_first(self._at) and self._starts_op(token):
                continue
            self._at += 1
            self._take(token)
        end = tokens[-1].end if tokens else 0
        self._end_op(end)
        while self._brackets:
            self._close(self._brackets.pop(), len(self._text))
        self._index.names.sort(key=lambda name: name.start)
        return self._index

    def _peek(self, distance: int = 0) -> str:
        """Return the text of a later token, empty at the end."""
        at = self._at + distance
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _is_first(self, at: int) -> bool:
        """Return whether a token may begin an operation: the first of a line or of a region."""
        if at == 0:
            return True
        before, token = self._tokens[at - 1], self._tokens[at]
        if self._text.find("\n", before.end, token.start) >= 0:
            return True
        bracket = self._brackets[-1] if self._brackets else None
        return bool(bracket and bracket.region and bracket.region.start == before.start)

    # Operations and blocks

    def _starts_op(self, token: Lexeme) -> bool:
        """Take the start of an operation or a block, up to and with its name; False if there is
        none here."""
        if token.kind == VALUE:
            return self._starts_with_results()
        if token.kind == BLOCK and self._in_region() and self._peek(1) in ("(", ":"):
            self._take_label(token)
            return True
        if self._is_op_name(self._at):
            following = self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else None
            is_sure = following is None or following.kind in (VALUE, SYMBOL) or token.kind == STRING
            if not self._in_region() and not is_sure:
                return False
            self._begin_op(token, self._at, [])
            return True
        return False

    def _in_region(self) -> bool:
        return not self._brackets or self._brackets[-1].region is not None

    def _is_op_name(self, at: int) -> bool:
        if at >= len(self._tokens):
            return False
        token = self._tokens[at]
        following = self._tokens[at + 1].text if at + 1 < len(self._tokens) else ""
        if token.kind == OP:
            return following not in ("=", ",")
        if token.kind == STRING:
            return following == "("
        return token.kind == WORD and token.text in _BARE_OPS and following not in ("=", ",")

    def _starts_with_results(self) -> bool:
        """Take `%a, %b:2 = "name"`; False if that is not here."""
        at, results = self._at, list[Lexeme]()
        while at < len(self._tokens) and self._tokens[at].kind == VALUE:
            results.append(self._tokens[at])
            at += 1
            if at < len(self._tokens) and self._tokens[at].text == ",":
                at += 1
                continue
            break
        if at >= len(self._tokens) or self._tokens[at].text != "=":
            return False
        if not self._is_op_name(at + 1) and not self._is_word(at + 1):
            return False  # as `%i = %lb to %ub`, a clause of an operation
        named = at + 1
        self._begin_op(self._tokens[named], named, results)
        return True

    def _is_word(self, at: int) -> bool:
        return at < len(self._tokens) and self._tokens[at].kind in (WORD, OP)

    def _begin_op(self, token: Lexeme, at: int, results: Sequence[Lexeme]) -> None:
        start = results[0].start if results else token.start
        while not self._in_region():  # a bracket that was never closed: an operation begins a line
            self._brackets.pop()
        self._end_op(self._tokens[self._at - 1].end if self._at else 0)
        quoted = token.kind == STRING
        name = token.text[1:-1] if quoted else token.text
        op = OpText(name, start, token.start, token.end, self._scope)
        self._index.ops.append(op)
        self._op, number = op, 0
        for result in results:
            plain, count = _split(result.text)
            text = result.text[: len(plain)]
            end = result.start + len(plain)
            made = Name(text, result.start, end, "result", self._scope, op, number)
            op.results.append(made)
            self._define(made)
            number += count or 1
        self._at = at + 1
        if not quoted and self._defines_symbol(name):
            self._take_symbol(op)

    def _take_symbol(self, op: OpText) -> None:
        """Take the symbol that an operation defines, after words as `private`."""
        at = self._at
        while at < len(self._tokens) and self._tokens[at].kind in (WORD, STRING):
            at += 1
        if at < len(self._tokens) and (token := self._tokens[at]).kind == SYMBOL:
            op.symbol = self._name(token, "symbol")
            self._index.names.append(op.symbol)
            self._at = at + 1

    def _take_label(self, token: Lexeme) -> None:
        """Take `^bb0(%a : i32, %b : i32):`, a block with its arguments."""
        self._end_op(self._tokens[self._at - 1].end if self._at else 0)
        self._op = None
        self._define(Name(token.text, token.start, token.end, "block", self._scope, None))
        self._at += 1
        if self._peek() == "(":
            depth = 0
            while self._at < len(self._tokens):
                inner = self._tokens[self._at]
                depth += (inner.text == "(") - (inner.text == ")")
                self._at += 1
                if inner.kind == VALUE and self._peek() == ":":
                    self._define(
                        Name(inner.text, inner.start, inner.end, "argument", self._scope, None)
                    )
                if depth == 0 or inner.text == "{":
                    break
        if self._peek() == ":":
            self._at += 1
            if self._at < len(self._tokens) and not self._starts_op(self._tokens[self._at]):
                return

    def _end_op(self, end: int) -> None:
        """End the operation in whose text the walk is, if it began in this scope."""
        op = self._op
        while op is not None and op.scope is not self._scope:
            op = None
        if op is not None:
            op.end = max(end, op.name_end)
        self._pending.clear()

    # Tokens within an operation

    def _take(self, token: Lexeme) -> None:
        kind, text = token.kind, token.text
        if kind == VALUE:
            self._take_value(token)
        elif kind in (BLOCK, SYMBOL):
            self._index.names.append(self._name(token, "use"))
        elif text in ("(", "["):
            bracket = _Bracket(text, None)
            before = self._tokens[self._at - 2] if self._at > 1 else None
            symbol = self._op.symbol if self._op is not None else None
            bracket.of_symbol = (
                before is not None and symbol is not None and before.end == symbol.end
            )
            self._brackets.append(bracket)
        elif text == "{":
            self._open_brace(token)
        elif text in (")", "]"):
            self._close_bracket(text)
        elif text == "}":
            self._close_brace(token)
        elif kind == WORD and text in NAME_OF_SYMBOL and self._peek() == "=":
            self._take_generic_symbol()

    def _take_generic_symbol(self) -> None:
        """Take `sym_name = "f"` in the properties of an operation."""
        if self._op is None or self._op.symbol is not None or self._at + 1 >= len(self._tokens):
            return
        token = self._tokens[self._at + 1]
        if token.kind == STRING:
            name = "@" + token.text[1:-1]
            symbol = Name(name, token.start + 1, token.end - 1, "symbol", self._scope, self._op)
            self._op.symbol = symbol
            self._index.names.append(symbol)

    def _take_value(self, token: Lexeme) -> None:
        following = self._peek()
        if self._op is not None:
            is_bound = following == "=" and self._peek(1) != "="
            bracket = self._brackets[-1] if self._brackets else _Bracket("", None)
            is_typed = following == ":" and (
                bracket.region is not None or bracket.kind in ("", "(")
            )
            if is_typed and not bracket.of_symbol:
                plain = _split(token.text)[0]
                is_typed = not any(plain in scope.names for scope in self._scope.around())
            if is_bound or is_typed:
                self._pending.append(self._name(token, "argument"))
                self._index.names.append(self._pending[-1])
                return
        name = self._name(token, "use")
        self._index.names.append(name)
        if self._brackets:
            self._brackets[-1].names.append(name)

    def _name(self, token: Lexeme, role: Role) -> Name:
        text, end, index = token.text, token.end, 0
        if token.kind == VALUE:
            text, index = _split(token.text)
            end = token.start + len(text)
        return Name(text, token.start, end, role, self._scope, self._op, index)

    def _define(self, name: Name) -> None:
        name.scope.names.setdefault(name.text, []).append(name)
        self._index.names.append(name)

    # Brackets

    def _open_brace(self, token: Lexeme) -> None:
        if not self._is_region():
            self._brackets.append(_Bracket("{", None))
            return
        region = NamedScope(self._scope, self._op, token.start)
        self._index.scopes.append(region)
        if self._op is not None:
            self._op.regions.append(region)
        for name in self._pending:
            name.scope = region
            region.names.setdefault(name.text, []).append(name)
        self._pending.clear()
        self._brackets.append(_Bracket("{", region))
        self._scope, self._op = region, None

    def _is_region(self) -> bool:
        """Return whether a brace, the last token, opens a region, and not a dictionary."""
        before = self._tokens[self._at - 2].text if self._at > 1 else ""
        is_in_list = before == "," and not (self._brackets and self._brackets[-1].kind == "(")
        if self._at < len(self._tokens) and self._tokens[self._at].kind == BLOCK:
            return True
        if before in ("attributes", "<", "=", "[") or is_in_list:
            return False
        if self._at >= len(self._tokens):
            return True
        following = self._tokens[self._at]
        if following.kind not in (OP, WORD, STRING):
            return True
        after = self._peek(1)
        if after == "}":
            on_new_line = "\n" in self._text[self._tokens[self._at - 1].end : following.start]
            return on_new_line and following.kind != STRING
        return after not in ("=", ",", ":")

    def _close_bracket(self, text: str) -> None:
        opening = "(" if text == ")" else "["
        if not self._brackets or self._brackets[-1].kind != opening:
            return
        bracket = self._brackets.pop()
        if self._peek() in ("=", "in") and self._op is not None:
            for name in bracket.names:  # `(%i, %j) = (...)`, and of scf.forall `(%i, %j) in (...)`
                name.role = "argument"
                self._pending.append(name)
        elif self._brackets and self._brackets[-1].region is None:
            self._brackets[-1].names += bracket.names

    def _close_brace(self, token: Lexeme) -> None:
        while self._brackets and self._brackets[-1].kind != "{":
            self._brackets.pop()
        if self._brackets:
            self._close(self._brackets.pop(), token.end)

    def _close(self, bracket: _Bracket, end: int) -> None:
        if (region := bracket.region) is None:
            return
        self._end_op(self._tokens[self._at - 2].end if self._at > 1 else 0)
        region.end = end
        assert region.outer is not None
        self._scope, self._op = region.outer, region.holder
        if self._op is not None:
            self._op.end = end


def _split(text: str) -> tuple[str, int]:
    """Return `%x` and 2 for `%x:2` or `%x#2`; the number is 0 without one."""
    for i in range(len(text) - 1, 0, -1):
        if not text[i].isdigit():
            return (text[:i], int(text[i + 1 :])) if text[i] in ":#" else (text, 0)
    return text, 0
