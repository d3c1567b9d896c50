"""What is known of a piece of a file: its operations, its names, and the errors in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError

from ...passmanager.errors import InvalidIRError
from ...passmanager.ir.all_errors import all_errors
from ...passmanager.ir.text.parser import parse_module
from ...passmanager.ir.text.syntax_errors import parse_errors
from ...passmanager.ir.verifier import OpVerifier
from ...passmanager.ir.walk import ancestors, symbol_of, walk
from .document import Piece
from .names import Name, NameIndex, OpText, index_of

MAX_REREAD = 30_000
"""The number of characters that are read again in all to find further errors of a piece: the time
is that of reading a thousand lines."""
MAX_PROBLEMS = 100
"""The number of errors of a piece that are reported at most."""

_numbers = count()


@dataclass
class TextProblem:
    """An error at offsets of a text, with related places: an offset and what is there."""

    message: str
    start: int
    end: int
    related: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])


class PieceFacts:
    """The facts about one piece, whose offsets are those of its text."""

    def __init__(self, piece: Piece, ctx: Context, defines_symbol: Callable[[str], bool]) -> None:
        self.text, self.prefix, self.is_rest = piece.text, piece.prefix, piece.is_rest
        self._defines_symbol = defines_symbol
        self.name = f"<piece {next(_numbers)}>"
        """The name of the file in the locations of its operations."""
        self.module: ModuleOp | None = None
        """The module that was read; None if nothing could be."""
        self.syntax: list[TextProblem] = []
        self.is_whole = True
        """Whether all of the text was read."""
        self._read(ctx)
        self.ops: Sequence[Operation] = () if self.module is None else self._ops(self.module)
        """The operations that the piece adds to the module of the file."""

    def _ops(self, module: ModuleOp) -> list[Operation]:
        is_module = not self.is_rest and _MODULE.match(self.text) is not None
        if is_module:
            return [module]
        blocks = (block for region in module.regions for block in region.blocks)
        return [op for block in blocks for op in block.ops]

    @property
    def symbols(self) -> list[tuple[str, int, int]]:
        """The symbols that operations directly in the module define, with their places."""
        if self.module is None:
            found = [op.symbol for op in self.index.ops if op.scope is self.index.top]
            return [(name.text[1:], name.start, name.end) for name in found if name is not None]
        places: list[tuple[str, int, int]] = []
        for op in self.ops:
            if name := symbol_of(op):
                start, end = self.name_of(op)
                if (at := self.text.find(f"@{name}", start)) >= 0:
                    start, end = at, at + 1 + len(name)
                places.append((name, start, end))
        return places

    @cached_property
    def index(self) -> NameIndex:
        """The names in the text."""
        return index_of(self.text, self._defines_symbol)

    # Reading

    def _read(self, ctx: Context) -> None:
        """Read the text; where operations have errors, read it again without them and those that
        use their results."""
        text = self.text
        found: dict[tuple[int, str], TextProblem] = {}
        errors = self._parse(ctx, text)
        budget = MAX_REREAD
        while errors:
            self.is_whole = False
            failed: list[OpText] = []
            lines: list[tuple[int, int]] = []
            for problem in map(self._problem, errors):
                self._move_back(problem)
                found.setdefault((problem.start, problem.message), problem)
                op = self._op_of_error(problem, text)
                if (line := self._stray_line(op, problem, text)) is not None:
                    lines.append(line)
                elif op is not None and op.scope is not self.index.top:
                    failed.append(op)
                else:
                    budget = 0
            budget -= max(len(text), 1)
            if budget < 0:
                break
            for start, end in (*lines, *((op.start, op.end) for op in self._with_users(failed))):
                text = _blanked(text, start, end)
            errors = self._parse(ctx, text)
        self.syntax = [problem for problem in found.values() if problem.start >= 0]

    def _stray_line(
        self, op: OpText | None, problem: TextProblem, text: str
    ) -> tuple[int, int] | None:
        """Return the line of an error in a region that is in no operation of the region, if that
        is all that is on the line."""
        if op is None or not any(r.start < problem.start < r.end for r in op.regions):
            return None
        start = text.rfind("\n", 0, problem.start) + 1
        end = text.find("\n", start)
        is_alone = end >= 0 and text[start:end].strip() and not {*text[start:end]} & {*"{}"}
        return (start, end) if is_alone else None

    def _with_users(self, failed: Sequence[OpText]) -> list[OpText]:
        """Return operations and those that use their results, directly or by others."""
        index, found = self.index, dict.fromkeys(failed)
        removed = {result for op in failed for result in op.results}
        users: dict[Name, list[OpText]] = {}
        for name in index.names:
            if name.role == "use" and name.op is not None and name.text[0] == "%":
                if (definition := index.definition(name)) is not None:
                    users.setdefault(definition, []).append(name.op)
        pending = [*removed]
        while pending:
            for op in users.get(pending.pop(), ()):
                if op not in found and op.scope is not index.top:
                    found[op] = None
                    pending += op.results
        return [*found]

    def _parse(self, ctx: Context, text: str) -> Sequence[ParseError]:
        """Read a text and set the module; return the errors."""
        lines = -self.prefix.count("\n")
        try:
            self.module = parse_module(ctx, self.prefix + text, self.name, line_offset=lines)
            return ()
        except RecursionError:
            return [self._whole_error("the operations are nested too deeply")]
        except Exception as error:
            found = parse_errors(error)
            return found or [self._whole_error(f"{type(error).__name__}: {error}")]

    def _whole_error(self, message: str) -> ParseError:
        from xdsl.utils.lexer import Input, Span

        start = len(self.prefix)
        return ParseError(Span(start, start, Input(self.prefix + self.text, self.name)), message)

    def _problem(self, error: ParseError) -> TextProblem:
        prefix = len(self.prefix)
        span = error.span
        start, end = span.start - prefix, span.end - prefix
        related: list[tuple[int, int, str]] = []
        for place, said in error.refs if isinstance(error, MultipleSpansParseError) else ():
            if place.start >= prefix:
                related.append((place.start - prefix, place.end - prefix, said or "here"))
        return TextProblem(error.msg, start, max(start, end), related)

    def _move_back(self, problem: TextProblem) -> None:
        """Move an error at the results of an operation, where the one before it ought to go on, to
        the end of that one."""
        for number, op in enumerate(self.index.ops):
            if op.start <= problem.start < op.name_start and "defined" not in problem.message:
                before = self.index.ops[number - 1] if number else op
                if before.scope is op.scope and not before.regions and before is not op:
                    problem.start = problem.end = before.end

    def _op_of_error(self, problem: TextProblem, text: str) -> OpText | None:
        """Return the operation in whose text an error is, that was not removed before."""
        start = min(max(problem.start, 0), len(text))
        around = [
            op
            for op in self.index.ops
            if op.start <= start <= op.end and not text[op.name_start].isspace()
        ]
        return around[-1] if around else None

    # Verification

    def verified(self) -> list[TextProblem]:
        """Return what the verifiers say, with the operations in the module of the file."""
        if self.module is None:
            return []
        errors: list[InvalidIRError] = []
        if self.is_rest:
            try:
                OpVerifier().verify_op(self.module)
            except InvalidIRError as error:
                if "redefinition of symbol" not in str(error):  # which the file reports
                    errors.append(error)
        for op in self.ops:
            try:
                errors += all_errors(op, is_whole=self.is_whole)
            except Exception as error:  # of a verifier that assumes what it should check
                errors.append(InvalidIRError(f"cannot be verified: {error}", op))
        return [self._invalid(error) for error in errors[:MAX_PROBLEMS]]

    def _invalid(self, error: InvalidIRError) -> TextProblem:
        """Return the problem that an error of a verifier is; the places in its message become
        related places."""
        start, end = self.name_of(error.op)
        related: list[tuple[int, int, str]] = []
        for match in _PLACE.finditer(str(error)):
            if match[2] == self.name:
                place = self.offset(int(match[3]), int(match[4]))
                related.append((place, self._end_of_word(place), "defined here"))
        return TextProblem(_PLACE.sub("", str(error)), start, end, related)

    def name_of(self, op: Operation) -> tuple[int, int]:
        """Return the place of the name of an operation, or of the nearest one around it that is in
        the text."""
        for around in ancestors(op):
            if (start := self._start_of(around)) is not None:
                return start, self._end_of_word(start)
        return 0, self._end_of_word(0)

    def _start_of(self, op: Operation) -> int | None:
        if (place := self._place(op)) is not None:
            return place
        return next((start for start, found in self.op_at.items() if found is op), None)

    def _end_of_word(self, start: int) -> int:
        match = _WORD.match(self.text, start)
        return start if match is None else match.end()

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and a column of a location."""
        if not 0 < line <= len(self._starts):
            return 0
        return min(self._starts[line - 1] + column - 1, len(self.text))

    def _place(self, where: Operation | BlockArgument) -> int | None:
        """Return the offset of the location of an operation or an argument; None if it is not a
        place of this text."""
        location: object = getattr(where, "location", None)  # arguments of older xDSL have none
        if not isinstance(location, FileLineColLoc) or location.filename.data != self.name:
            return None
        line, column = location.line.data, location.column.data
        return self.offset(line, column) if line > 0 else None

    # The IR at a place

    @cached_property
    def op_at(self) -> dict[int, Operation]:
        """The operations, by the offsets of their names."""
        if self.module is None:
            return {}
        found: dict[int, Operation] = {}
        texts = self.index.ops
        at = 0
        roots = [self.module, *self.ops] if self.is_rest else self.ops
        for root in roots:
            for op in [root] if root is self.module and self.is_rest else walk(root):
                if (place := self._place(op)) is not None:
                    found[place] = op
                    continue
                # The text gives a location: the next operation of its name is meant.
                following = (i for i in range(at, len(texts)) if _is_name(texts[i].name, op.name))
                if (index := next(following, None)) is not None:
                    at = index + 1
                    found.setdefault(texts[index].name_start, op)
        return found

    @cached_property
    def _argument_at(self) -> dict[int, BlockArgument]:
        found: dict[int, BlockArgument] = {}
        for op in self.op_at.values():
            for region in op.regions:
                for block in region.blocks:
                    for argument in block.args:
                        if (place := self._place(argument)) is not None:
                            found[place] = argument
        return found

    def op_of(self, op: OpText) -> Operation | None:
        """Return the operation that was read from a text, or None."""
        return self.op_at.get(op.name_start)

    def value_of(self, name: Name) -> SSAValue | None:
        """Return the value that a name of one is defined as, or refers to; None if the text was not
        read there."""
        definition = self.index.definition(name)
        if definition is None or definition.role == "block":
            return None
        if definition.role == "argument":
            return self._argument(definition)
        op = self.op_of(definition.op) if definition.op is not None else None
        index = definition.index + (name.index if name is not definition else 0)
        return op.results[index] if op is not None and index < len(op.results) else None

    def _argument(self, name: Name) -> BlockArgument | None:
        """Return the argument that a name defines."""
        if (found := self._argument_at.get(name.start)) is not None:
            return found
        op = self.op_of(name.op) if name.op is not None else None
        for region in () if op is None else op.regions:
            for argument in region.block.args if len(region.blocks) == 1 else ():
                if f"%{argument.name_hint}" == name.text:
                    return argument
        return None


_MODULE = re.compile(r'\s*"?(?:builtin\.)?module\b')
_WORD = re.compile(r'"?[%@^]?[\w$.-]*"?')
_PLACE = re.compile(r"(,? first defined|,)? at (<piece \d+>):(-?\d+):(\d+)")


def _is_name(written: str, name: str) -> bool:
    return written == name or name.endswith(f".{written}")


def _blanked(text: str, start: int, end: int) -> str:
    """Return a text with spaces in the place of all but the ends of lines between two offsets."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
