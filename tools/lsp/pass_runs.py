"""Runs of passes on an open file: the text that goes to the tool, and the edits that come of it.

The tool is a process of its own: a pass that fails, does not end, or was edited since the server
began, does the server no harm.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from lsprotocol.types import TextEdit
from xdsl.dialects.func import FuncOp
from xdsl.ir import IRNode, Operation, SSAValue

from ...passmanager.errors import PasslineError
from .document import Piece, SourceText, split_pieces
from .names import scan
from .open_file import OpenFile, Placed
from .piece_facts import PieceFacts

SECONDS = 120
"""The time after which a run is ended."""


@dataclass(frozen=True)
class Finished:
    """What a process wrote, and its exit status."""

    status: int
    output: str
    errors: str

    @property
    def says(self) -> str:
        """What to tell a person of a run that failed: the first line, or the status."""
        text = self.errors.strip() or self.output.strip()
        found = re.search(r"\berror: (.*)$", text, re.MULTILINE)
        first = found[1] if found is not None else text.partition("\n")[0]
        return first or f"exit status {self.status}"


async def run_process(
    command: Sequence[str], text: str, directory: str | None = None, seconds: float = SECONDS
) -> Finished:
    """Run a command on a text; it is ended after some time, or if the request is cancelled.

    Errors: PasslineError if it cannot be started, or does not end.
    """
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=directory,
            env={**os.environ, "NO_COLOR": "1"},
            start_new_session=True,
        )
    except OSError as error:
        raise PasslineError(f"'{command[0]}' cannot be run: {error.strerror}") from None
    try:
        streams = process.communicate(text.encode("utf-8", "surrogateescape"))
        output, errors = await asyncio.wait_for(streams, seconds)
    except TimeoutError:
        raise PasslineError(f"'{command[0]}' was ended after {seconds:g} s") from None
    finally:
        if process.returncode is None:
            _kill(process.pid)
            await process.wait()
    return Finished(
        process.returncode or 0, output.decode(errors="replace"), errors.decode(errors="replace")
    )


def _kill(process: int) -> None:
    """End a process with those that it started: it is the first of its session."""
    import signal

    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


@dataclass(frozen=True)
class RunTarget:
    """What of a file passes run on: the part around a line, or one of its symbols."""

    file: OpenFile
    group: Sequence[Placed]
    symbol: str = ""

    @property
    def placed(self) -> Placed:
        """The piece that defines the symbol.

        Errors: PasslineError if there is none, or several.
        """
        found = [p for p in self.group if self.symbol in {name for name, _, _ in p.facts.symbols}]
        if len(found) != 1 or found[0].piece.is_rest:
            raise PasslineError(f"there is no function @{self.symbol} here that stands alone")
        return found[0]

    def text(self) -> str:
        """Return the text that the tool reads; its lines have the numbers that they have in the
        file."""
        file = self.file
        split = next(s for s, g in zip(file.splits, file.groups) if g is self.group)
        if not self.symbol:
            before = file.source.line_of(split.start)
            return "\n" * before + file.text[split.start : split.end]
        placed = self.placed
        before = placed.piece.prefix + "".join(self._declarations(placed))
        lines = file.source.line_of(placed.piece.start) - before.count("\n")
        return "\n" * max(lines, 0) + before + placed.piece.text + "\n"

    def _declarations(self, placed: Placed) -> Iterator[str]:
        """Yield what a function needs of the other ones: the declarations of those that it calls,
        and all of other symbols."""
        used = {n.text[1:] for n in placed.facts.index.names if n.text[0] == "@"} - {self.symbol}
        for other in self.group:
            for op in other.facts.ops:
                name = _symbol(op)
                if name not in used:
                    continue
                if isinstance(op, FuncOp):
                    yield f"func.func private @{name}{_signature(op)}\n"
                elif not other.piece.is_rest:
                    yield f"{other.piece.prefix}{' '.join(other.piece.text.split(chr(10)))}\n"


def _symbol(op: Operation) -> str:
    from ...passmanager.ir.walk import symbol_of

    return symbol_of(op) or ""


def _signature(op: FuncOp) -> str:
    """Return the parameters and results of a function as its custom form has them."""
    inputs = ", ".join(map(str, op.function_type.inputs.data))
    outputs = ", ".join(map(str, op.function_type.outputs.data))
    return f"({inputs})" + (f" -> ({outputs})" if outputs else "")


def target_at(file: OpenFile, line: int, symbol: str = "") -> RunTarget:
    """Return what passes run on: the part of the file around a line, or a symbol in it."""
    offset = file.source.line_start(line)
    for split, group in zip(file.splits, file.groups):
        if offset <= split.end or split is file.splits[-1]:
            return RunTarget(file, group, symbol)
    raise AssertionError("a file has a part")


# The edits that turn the text of a file into the result


def edits_of(target: RunTarget, result: str) -> list[TextEdit]:
    """Return the edits of the file by which what passes ran on becomes the result.

    Only operations that changed are replaced, so that comments between them, as RUN lines, stay. If
    more than these changed, all code of the part is replaced.
    """
    file = target.file
    new = split_pieces(result, file.known.is_isolated)[0].pieces
    by_symbol = {facts.symbols[0][0]: (p, facts) for p, facts in _facts(file, new) if facts.symbols}
    if target.symbol:
        placed = target.placed
        if (found := by_symbol.get(target.symbol)) is None:
            raise PasslineError(f"the result has no @{target.symbol}")
        return [] if _is_same(placed.facts, found[1]) else [_replaced(file, placed, found[0])]
    old = [placed for placed in target.group if not placed.piece.is_rest]
    names = [placed.facts.symbols[0][0] for placed in old if len(placed.facts.symbols) == 1]
    rest = target.group[-1].piece
    is_by_symbol = (
        len({*names}) == len(old)
        and len(by_symbol) == len(new) - 1
        and _code(rest.text) == _code(new[-1].text)
    )
    if not is_by_symbol:
        return [_all_replaced(file, rest, result)]
    edits: list[TextEdit] = []
    for placed, name in zip(old, names):
        found = by_symbol.pop(name, None)
        if found is None:
            edits.append(_removed(file, placed))
        elif not _is_same(placed.facts, found[1]):
            edits.append(_replaced(file, placed, found[0]))
    if by_symbol and old:  # new functions come after the last one
        end = old[-1].piece.start + len(old[-1].piece.text)
        indent = _indent(old[-1].piece.text)
        added = "".join(f"\n{_indented(piece.text, indent)}" for piece, _ in by_symbol.values())
        edits.append(TextEdit(file.source.range(end, end), added))
    elif by_symbol:
        return [_all_replaced(file, rest, result)]
    return edits


def _facts(file: OpenFile, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, PieceFacts]]:
    for piece in pieces:
        if not piece.is_rest:
            ctx = file.known.context(True)
            yield piece, PieceFacts(piece, ctx, file.known.defines_symbol)


def _is_same(old: PieceFacts, new: PieceFacts) -> bool:
    """Return whether two pieces have the same operations; False if one was not read as a whole."""
    if not (old.is_whole and new.is_whole and len(old.ops) == len(new.ops)):
        return False
    try:
        return all(map(_is_same_op, old.ops, new.ops))
    except RecursionError:  # of xDSL's comparison, on IR that is nested deeply
        return False


def _is_same_op(old: Operation, new: Operation) -> bool:
    blocks: dict[IRNode | SSAValue, IRNode | SSAValue] = {}
    if old.parent is not None and new.parent is not None:
        blocks[old.parent] = new.parent
    return old.is_structurally_equivalent(new, blocks)


def _code(text: str) -> list[str]:
    """Return the tokens of a text, without those of a module without attributes around it."""
    tokens = [token.text for token in scan(text)]
    names = ("module", "builtin.module")
    if len(tokens) > 2 and tokens[0] in names and tokens[1] == "{" and tokens[-1] == "}":
        tokens = tokens[2:-1]
    return tokens


def _replaced(file: OpenFile, placed: Placed, new: Piece) -> TextEdit:
    start, old = placed.piece.start, placed.piece.text
    place = file.source.range(start, start + len(old))
    return TextEdit(place, _indented(new.text, _indent(old)))


def _removed(file: OpenFile, placed: Placed) -> TextEdit:
    """Return the edit that removes a piece and the end of its last line."""
    end = placed.piece.start + len(placed.piece.text)
    if file.text.startswith("\n", end):
        end += 1
    return TextEdit(file.source.range(placed.piece.start, end), "")


def _all_replaced(file: OpenFile, rest: Piece, result: str) -> TextEdit:
    """Return the edit that replaces all code of a part; the comments before it stay."""
    split = next(split for split in file.splits if split.rest is rest)
    text = file.text[split.start : split.end]
    before = re.match(r"(?:[ \t]*(?://[^\n]*)?\n)*", text)
    start = split.start + (before.end() if before is not None else 0)
    return TextEdit(file.source.range(start, split.end), result.strip("\n") + "\n")


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip(" \t"))]


def _indented(text: str, indent: str) -> str:
    """Return a text with another indentation; that of its first line is taken off all lines."""
    old = _indent(text)
    return "\n".join(
        indent + line.removeprefix(old) if line.strip() else line for line in text.split("\n")
    )


def edited(source: SourceText, edits: Sequence[TextEdit]) -> str:
    """Return a text after edits that do not overlap."""
    text = source.text
    places = [(source.offset(e.range.start), source.offset(e.range.end), e.new_text) for e in edits]
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def diff(name: str, old: str, new: str, title: str) -> str:
    """Return the difference of two texts as a unified diff; empty text if there is none."""
    lines = [text.splitlines(keepends=True) for text in (old, new)]
    found = difflib.unified_diff(lines[0], lines[1], name, f"{name} after {title}")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in found)
