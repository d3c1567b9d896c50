"""A file that is open in an editor: its pieces, the module that they make, and all problems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block

from ...passmanager.ir.walk import symbol_of
from .document import Piece, SourceText, Split, split_pieces
from .known_dialects import KnownDialects
from .names import Name
from .piece_facts import PieceFacts, TextProblem


class Placed(NamedTuple):
    """A piece at its place, with what is known of it."""

    piece: Piece
    facts: PieceFacts

    def range_of(self, start: int, end: int) -> tuple[int, int]:
        """Return offsets in the file for two in the text of the piece."""
        return self.piece.in_file(start), self.piece.in_file(end)


@dataclass
class FileProblem:
    """An error at offsets of the file, with related places."""

    message: str
    start: int
    end: int
    related: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])


Symbols = dict[str, tuple[str, Attribute | None]]
"""The symbols of a module: the operation that defines one, and its type."""

_ALLOWS = re.compile(r"^\s*//\s*RUN:.*--?allow-unregistered", re.MULTILINE)


class OpenFile:
    """The facts about an open file, kept from one text to the next."""

    def __init__(self, uri: str, source: SourceText, known: KnownDialects) -> None:
        self.uri = uri
        self.known = known
        self.source = SourceText("")
        self.splits: list[Split] = []
        self._placed: list[list[Placed]] = []
        self.allows_unregistered: bool = known.allow_unregistered
        """Whether the RUN lines of the file, or the options of the server, allow other dialects."""
        self._verified: dict[PieceFacts, tuple[Symbols, list[TextProblem]]] = {}
        self.update(source)

    @property
    def text(self) -> str:
        """The text of the file."""
        return self.source.text

    def update(self, source: SourceText) -> None:
        """Take a new text; what did not change is not read again."""
        allows = self.known.allow_unregistered or _ALLOWS.search(source.text) is not None
        pool: dict[object, list[PieceFacts]] = {}
        for placed in self.placed if allows == self.allows_unregistered else ():
            pool.setdefault(placed.piece.key, []).append(placed.facts)
        self.source, self.allows_unregistered = source, allows
        self.splits = split_pieces(source.text, self.known.is_isolated)
        self._placed = []
        for split in self.splits:
            self._placed.append([])
            for piece in split.pieces:
                kept = pool.get(piece.key)
                facts = kept.pop() if kept else self._read(piece)
                self._placed[-1].append(Placed(piece, facts))
        current = {placed.facts for placed in self.placed}
        self._verified = {f: known for f, known in self._verified.items() if f in current}
        for group in self._placed:
            _assemble(group)

    def _read(self, piece: Piece) -> PieceFacts:
        return PieceFacts(
            piece, self.known.context(self.allows_unregistered), self.known.defines_symbol
        )

    @property
    def groups(self) -> list[list[Placed]]:
        """The pieces of each part of the file, in the order of `splits`."""
        return self._placed

    @property
    def placed(self) -> Iterator[Placed]:
        """The pieces of the file, by parts, in each the rest last."""
        return (placed for group in self._placed for placed in group)

    def at(self, offset: int) -> tuple[Placed, int] | None:
        """Return the piece around an offset, and the offset in its text."""
        found: tuple[Placed, int] | None = None
        for placed in self.placed:
            if (inside := placed.piece.in_text(offset)) is not None:
                if not placed.piece.is_rest:
                    return placed, inside
                found = found or (placed, inside)
        return found

    def part_of(self, placed: Placed) -> list[Placed]:
        """Return the pieces between the same lines `// -----`."""
        return next(group for group in self._placed if placed in group)

    def name_at(self, offset: int) -> tuple[Placed, Name] | None:
        """Return the name at an offset."""
        if (found := self.at(offset)) is None:
            return None
        placed, inside = found
        name = placed.facts.index.name_at(inside)
        return None if name is None else (placed, name)

    # Problems

    def problems(self) -> list[FileProblem]:
        """Return the errors of all pieces, in the order of the file."""
        found: list[FileProblem] = []
        for split, group in zip(self.splits, self._placed):
            symbols = _symbols(group)
            unread = {
                name
                for placed in group
                if placed.facts.module is None
                for name, _, _ in placed.facts.symbols
            }
            for placed in group:
                problems = [*placed.facts.syntax, *self._verify(placed.facts, symbols)]
                if split.dump:  # a dump of one function has not those that it calls
                    problems = [p for p in problems if "in symbol table" not in p.message]
                found += [
                    _in_file(placed.piece, problem)
                    for problem in problems
                    if not unread & {*re.findall(r"@([\w$.-]+)", problem.message)}
                ]
            found += _redefinitions(group)
        return sorted(found, key=lambda problem: problem.start)

    def _verify(self, facts: PieceFacts, symbols: Symbols) -> list[TextProblem]:
        """Return what verifiers say; asked again if a symbol changed that the piece may use."""
        if (known := self._verified.get(facts)) is not None:
            if known[0] == symbols or facts.text.count("@") < 2:
                return known[1]
        found = facts.verified()
        self._verified[facts] = symbols, found
        return found


def _assemble(group: list[Placed]) -> None:
    """Put the operations of the pieces of a part into the module of the rest, so that verifiers
    find the symbols of the others."""
    module = group[-1].facts.module
    if module is None or not module.regions:
        module = ModuleOp([])
    if (block := module.body.first_block) is None:
        module.body.add_block(block := Block())
    wanted = {op for placed in group for op in placed.facts.ops}
    for op in [*block.ops]:
        if op not in wanted:
            op.detach()
    for placed in group:
        for op in placed.facts.ops:
            if op is module or op.parent is block:
                continue
            if op.parent is not None:
                op.detach()
            if block.first_op is None:
                block.add_op(op)
            else:  # the last operation of the rest may be a terminator
                block.insert_op_before(op, block.first_op)


def _symbols(group: list[Placed]) -> Symbols:
    found: Symbols = {}
    for placed in group:
        for op in placed.facts.ops:
            if name := symbol_of(op):
                found[name] = op.name, op.properties.get("function_type")
    return found


def _redefinitions(group: list[Placed]) -> Iterator[FileProblem]:
    """Yield an error for each symbol that another operation of the module defines before."""
    places = sorted(
        (*placed.range_of(start, end), name)
        for placed in group
        for name, start, end in placed.facts.symbols
    )
    first: dict[str, tuple[int, int]] = {}
    for start, end, name in places:
        if (known := first.setdefault(name, (start, end))) != (start, end):
            message = f"redefinition of symbol '{name}'"
            yield FileProblem(message, start, end, [(*known, "first defined here")])


def _in_file(piece: Piece, problem: TextProblem) -> FileProblem:
    start = piece.in_file(problem.start)
    end = max(start, piece.in_file(max(problem.end - 1, 0)) + 1 if problem.end else start)
    related = [(piece.in_file(a), piece.in_file(b), said) for a, b, said in problem.related]
    return FileProblem(problem.message, start, end, related)
